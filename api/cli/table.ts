/** Output for people: tables, money, and text of others. Rule U12 (api/RULES.md). */
import cliui from 'cliui';
import stringWidth from 'string-width';
import { jsonText, plain } from '../base/shown-text.ts';
import { outputColumns, TERMINAL_COLUMNS } from './screen.ts';

/**
 * A heading, and its cells. An `apart` cell must stay in one piece, such as an id to copy. In a
 * table that is too wide it gets its own line below its row.
 */
export type Column<Row> = readonly [
  heading: string,
  cell: (row: Row) => string | number | null,
  apart?: 'apart',
];

type Align = 'left' | 'right';
type Line = readonly string[];

const GAP = 2;

/** The longest line of a table. Without a limit in a pipe: scripts need whole lines. */
export function columnsOfOutput(): number {
  const { isTTY, columns } = process.stdout;
  return isTTY ? Math.max(columns, TERMINAL_COLUMNS) : Number.POSITIVE_INFINITY;
}

/**
 * Lines of columns; numbers are aligned on the right. A cell that exceeds `columnsMax` wraps,
 * between words where possible.
 */
export function tableOf<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  columnsMax = columnsOfOutput(),
): string {
  const whole = linesOf(rows, columns);
  const widths = widthsOf(whole);
  if (total(widths) <= columnsMax) return padded(whole, alignsOf(rows, columns), widths);
  const beside = columns.filter(([, , apart]) => apart === undefined);
  const apart = columns.filter(([, , isApart]) => isApart === 'apart');
  const below = rows.map((row) => apart.map(([name, cell]) => `${name} ${shown(cell(row))}`));
  const lines = linesOf(rows, beside).map((line) => line.map(withShortTimes));
  return wrappedLines(lines, alignsOf(rows, beside), columnsMax, below);
}

/** Lines of a name and a value each. */
export function listOf(
  pairs: readonly (readonly [name: string, value: string | number])[],
  align: Align = 'left',
  columnsMax = columnsOfOutput(),
): string {
  const lines = pairs.map(([name, value]) => [name, shown(value)]);
  return fitted(lines, ['left', align], columnsMax);
}

/** Lines of text; long ones wrap. */
export function wrapped(text: string, columnsMax = columnsOfOutput()): string {
  const lines = text.split('\n').map((line) => [line]);
  return fitted(lines, ['left'], columnsMax);
}

/** Sentences below the options of `--help`. */
export function helpNotes(text: string): () => string {
  return () => `\n${wrapped(text, outputColumns()).trimEnd()}`;
}

function fitted(lines: readonly Line[], aligns: readonly Align[], columnsMax: number): string {
  const widths = widthsOf(lines);
  if (total(widths) <= columnsMax) return padded(lines, aligns, widths);
  return wrappedLines(lines, aligns, columnsMax, []);
}

function linesOf<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): Line[] {
  return [
    columns.map(([heading]) => heading.toUpperCase()),
    ...rows.map((row) => columns.map(([, cell]) => shown(cell(row)))),
  ];
}

function alignsOf<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): Align[] {
  return columns.map(([, cell]) => {
    return rows.some((row) => typeof cell(row) === 'number') ? 'right' : 'left';
  });
}

const shown = (value: string | number | null) => plain(String(value ?? '-'));

/** Date-times to the minute. */
const withShortTimes = (text: string) =>
  text.replaceAll(/(\d{4}-\d\d-\d\d)T(\d\d:\d\d):[\d.]+Z/g, '$1 $2Z');

/** As wide as the widest cell of each column. */
function widthsOf(lines: readonly Line[], widthOf = stringWidth): number[] {
  return lines[0]!.map((_, at) => {
    return lines.reduce((widest, line) => Math.max(widest, widthOf(line[at]!)), 0);
  });
}

const widestWord = (text: string) =>
  Math.max(...text.split(/\s+/).map((word) => stringWidth(word)));

const total = (widths: readonly number[]) => widths.reduce((sum, width) => sum + width + GAP, -GAP);

/**
 * Widths that fit: the widest column shrinks, first among the columns that need not split words.
 */
function narrowed(lines: readonly Line[], columnsMax: number): number[] {
  const widths = widthsOf(lines);
  const words = widthsOf(lines, widestWord);
  for (let over = total(widths) - columnsMax; over > 0; over--) {
    const spare = widths.map((width, at) => (width > words[at]! ? width : 0));
    const from = spare.some((width) => width > 0) ? spare : widths;
    widths[from.indexOf(Math.max(...from))]!--;
  }
  return widths;
}

/** Lines whose cells all fit. The library would take a second for 500 of them. */
function padded(lines: readonly Line[], aligns: readonly Align[], widths: readonly number[]) {
  const pad = (text: string, at: number) => {
    const blanks = ' '.repeat(widths[at]! - stringWidth(text));
    return aligns[at] === 'right' ? blanks + text : text + blanks;
  };
  return lines.map((line) => `${line.map(pad).join(' '.repeat(GAP)).trimEnd()}\n`).join('');
}

/** `below` has the texts under each row; the rows follow the heading line. */
function wrappedLines(
  lines: readonly Line[],
  aligns: readonly Align[],
  columnsMax: number,
  below: readonly Line[],
): string {
  const widths = narrowed(lines, columnsMax);
  const ui = cliui({ width: columnsMax });
  for (const [number, line] of lines.entries()) {
    ui.div(
      ...line.map((text, at) => {
        const gap = at === line.length - 1 ? 0 : GAP;
        return { text, width: widths[at]! + gap, align: aligns[at]!, padding: [0, gap, 0, 0] };
      }),
    );
    for (const text of below[number - 1] ?? []) {
      ui.div({ text, width: columnsMax, padding: [0, 0, 0, GAP] });
    }
  }
  return `${ui.toString()}\n`;
}

const DOLLARS = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' });

export function money(dollars: number | null): string {
  return dollars === null ? '-' : DOLLARS.format(dollars);
}

/** The unchanged answer for scripts; else text for people. */
export function show<T>({ json }: { json?: true }, answer: T, forPeople: (answer: T) => string) {
  process.stdout.write(json === true ? `${jsonText(answer)}\n` : forPeople(answer));
}

/**
 * A list: the unchanged answer for scripts; else a table. Without rows a line on standard error
 * says so. `name` is of several rows. Rule U79 (api/RULES.md).
 */
export function showRows<Row>(
  options: { json?: true },
  answer: object,
  name: string,
  rows: readonly Row[],
  columns: readonly Column<Row>[],
): void {
  if (options.json === true || rows.length > 0) {
    return show(options, answer, () => tableOf(rows, columns));
  }
  process.stderr.write(noneOf(name));
}

/**
 * Things that were asked for by name: the unchanged answer for scripts; else the text of those found,
 * if there are any. A line on standard error names the others after `missing`; exit code 1.
 */
export function showNamed(
  options: { json?: true },
  answer: { notFound: readonly string[] },
  found: readonly unknown[],
  forPeople: () => string,
  missing: string,
): void {
  if (options.json === true || found.length > 0) show(options, answer, forPeople);
  if (answer.notFound.length === 0) return;
  process.stderr.write(`${missing}: ${answer.notFound.join(' ')}\n`);
  process.exitCode = 1;
}

/** In place of a list without rows. */
export function noneOf(name: string): string {
  return `No ${name} found.\n`;
}

/** The limit of an order; null: a market order. */
export function limitText(limitCents: number | null): string {
  return limitCents === null ? 'at market' : `at ${limitCents}¢`;
}
