/** Trades as the lines of a CSV file: the fields of a Trade by their names in the API. */
import type { Trade } from '../../client/generated.js';

// CSV as RFC 4180 has it, which a spreadsheet opens without running any part of it.
type CsvValue = string | number | boolean | null | undefined;

/** Texts that a spreadsheet would take for a formula, also after blanks. */
const FORMULA = /^\s*[=+\-@]|^[\t\r\n]/;
const QUOTED = /[",\r\n]/;

/** A record with its end; null and undefined are an empty field. */
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

const FIELDS = [
  ...(['tradeId', 'openedAt', 'closedAt', 'status', 'closeReason'] as const),
  ...(['instrumentId', 'instrumentLabel', 'instrumentSide', 'boughtSide'] as const),
  ...([
    'contracts',
    'entryCents',
    'exitCents',
    'costDollars',
    'feesDollars',
    'pnlDollars',
  ] as const),
  ...(['resolvedOutcome', 'statedProbPct', 'placedVia', 'placedPrivate'] as const),
  ...(['fillVenue', 'fillModel', 'marketTicker', 'parlayId'] as const),
] satisfies readonly (keyof Trade)[];

export const TRADES_CSV_HEAD = csvLine(FIELDS);

export function tradesCsv(trades: readonly Trade[]): string {
  return trades.map((trade) => csvLine(FIELDS.map((name) => trade[name]))).join('');
}

/** `paperbook-trades-2026-11-24.csv` */
export function tradesFileName(nowMs: number): string {
  return `paperbook-trades-${new Date(nowMs).toISOString().slice(0, 10)}.csv`;
}
