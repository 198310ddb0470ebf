/** Trades as the lines of a CSV file: the fields of a Trade by their names in the API. */
import type { Trade } from '../../client/generated.js';
import { csvLine } from './csv.ts';

const FIELDS = [
  ...(['tradeId', 'openedAt', 'closedAt', 'status', 'closeReason'] as const),
  ...(['instrumentId', 'instrumentLabel', 'instrumentSide', 'boughtSide'] as const),
  ...(['contracts', 'entryCents', 'exitCents', 'costDollars', 'pnlDollars'] as const),
  ...(['resolvedOutcome', 'statedProbPct', 'placedVia', 'placedPrivate'] as const),
  ...(['fillVenue', 'marketTicker', 'parlayId'] as const),
] satisfies readonly (keyof Trade)[];

export const TRADES_CSV_HEAD = csvLine(FIELDS);

export function tradesCsv(trades: readonly Trade[]): string {
  return trades.map((trade) => csvLine(FIELDS.map((name) => trade[name]))).join('');
}

/** `paperbook-trades-2026-11-24.csv` */
export function tradesFileName(nowMs: number): string {
  return `paperbook-trades-${new Date(nowMs).toISOString().slice(0, 10)}.csv`;
}
