/** CSV as RFC 4180 has it, which a spreadsheet opens without running anything of it. */

export type CsvValue = string | number | boolean | null | undefined;

/** What a spreadsheet would take for a formula, also after blanks. */
const FORMULA = /^\s*[=+\-@]|^[\t\r\n]/;
const QUOTED = /[",\r\n]/;

/** A record with its end; what is null or undefined is an empty field. */
export function csvLine(values: readonly CsvValue[]): string {
  return `${values.map(field).join(',')}\r\n`;
}

function field(value: CsvValue): string {
  if (value === null || value === undefined) return '';
  // A number of ours begins with a minus where it is negative, and is no formula.
  if (typeof value !== 'string') return String(value);
  const text = FORMULA.test(value) ? `'${value}` : value;
  return QUOTED.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
