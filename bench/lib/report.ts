/** The results of a suite: tables for people, figures for machines. */
import type { Spread } from './stats.ts';

export type Table = {
  title: string;
  columns: readonly string[];
  /** The first cell of a row is its name; the others are aligned right. */
  rows: readonly (readonly string[])[];
  /** Lines under the table. */
  notes?: readonly string[];
};

/** A figure's name states the measurement and its subject: `match/1 market/paperbook`. */
export type Figures = Record<string, Figure>;
export type Figure = { unit: string; value: number | Spread };

export type Report = { tables: Table[]; figures: Figures };

/** A benchmark suite with its sizes. `quick` sizes are for a first look, not for publication. */
export type Suite<Sizes> = {
  name: string;
  about: string;
  full: Sizes;
  quick: Sizes;
  /** `progress` receives a line about the current step. */
  run(sizes: Sizes, progress: (line: string) => void): Promise<Report>;
};

/** The table as lines of text, its columns aligned. */
export function tableText({ title, columns, rows, notes = [] }: Table): string {
  const lines = [columns, ...rows];
  const widths = columns.map((_, at) => Math.max(...lines.map((line) => (line[at] ?? '').length)));
  const lineOf = (cells: readonly string[]) =>
    widths
      .map((width, at) =>
        at === 0 ? (cells[at] ?? '').padEnd(width) : (cells[at] ?? '').padStart(width),
      )
      .join('  ')
      .trimEnd();
  const rule = widths.map((width) => '-'.repeat(width)).join('  ');
  return [
    title,
    '',
    lineOf(columns),
    rule,
    ...rows.map(lineOf),
    ...notes.map((note) => `  ${note}`),
  ].join('\n');
}

/** `14.2 M`, `59.1 k`, `812`. */
export function count(value: number): string {
  if (value >= 1e6) return `${(value / 1e6).toFixed(value >= 1e8 ? 0 : 2)} M`;
  if (value >= 1e3) return `${(value / 1e3).toFixed(1)} k`;
  return value.toFixed(0);
}

/** `13.9..14.6 M`. */
export function range({ min, max }: Spread, show: (value: number) => string = count): string {
  return `${show(min)} .. ${show(max)}`;
}

/** `2.31x`. */
export function ratio(value: number): string {
  return `${value.toFixed(value < 10 ? 2 : 1)}x`;
}

export function percent(share: number): string {
  return `${(share * 100).toFixed(1)}%`;
}

/** Milliseconds with the digits that matter. */
export function ms(value: number): string {
  return value < 10 ? value.toFixed(2) : value.toFixed(1);
}

export function mib(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MiB`;
}
