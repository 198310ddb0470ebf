/** What people read: tables, money, and text that came from elsewhere. */

export type Column<Row> = readonly [heading: string, cell: (row: Row) => string | number | null];

/** How long a line of output may be. */
export function outputColumns(): number {
  return process.stdout.isTTY ? process.stdout.columns : 80;
}

/** Lines of columns; numbers end at the same place. Nothing but the headings where no row is. */
export function tableOf<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): string {
  const isNumber = columns.map(([, cell]) => rows.some((row) => typeof cell(row) === 'number'));
  const lines = [
    columns.map(([heading]) => heading.toUpperCase()),
    ...rows.map((row) => columns.map(([, cell]) => plain(String(cell(row) ?? '-')))),
  ];
  const widths = columns.map((_, at) => Math.max(...lines.map((line) => line[at]!.length)));
  const pad = (text: string, at: number) =>
    isNumber[at] ? text.padStart(widths[at]!) : text.padEnd(widths[at]!);
  return lines.map((line) => `${line.map(pad).join('  ').trimEnd()}\n`).join('');
}

const DOLLARS = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' });

export function money(dollars: number | null): string {
  return dollars === null ? '-' : DOLLARS.format(dollars);
}

/** Text without what a terminal would act on. */
export function plain(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, '\ufffd');
}

/** The answer as it came, for scripts; else as people read it. */
export function show<T>({ json }: { json?: true }, answer: T, forPeople: (answer: T) => string) {
  process.stdout.write(json === true ? `${JSON.stringify(answer)}\n` : forPeople(answer));
}
