/**
 * The records that a history keeps of a market: series, each a list of records of whole numbers,
 * whose first is the time. Kinds and columns are part of the format on disk: append, never reorder.
 * Rule D50 (engine/RULES.md).
 */
import { invariant } from '../base/invariant.ts';
import type { MarketNumber } from '../base/units.ts';

/** Rule D51 (engine/RULES.md). */
export const HISTORY_VERSION = 2;
/** How many records a full block has. */
export const BLOCK_RECORDS = 512;

export const INTERVALS = ['1m', '5m', '15m', '1h', '1d'] as const;
export type Interval = (typeof INTERVALS)[number];

const MINUTE_MS = 60_000;
/** Each is a whole number of the one before. */
export const INTERVAL_MS: Readonly<Record<Interval, number>> = {
  '1m': MINUTE_MS,
  '5m': 5 * MINUTE_MS,
  '15m': 15 * MINUTE_MS,
  '1h': 60 * MINUTE_MS,
  '1d': 24 * 60 * MINUTE_MS,
};

/** The top of the book in cents and contracts; no price: 0. A row without a price is not live. */
const ROW = ['atMs', 'yesBidCents', 'yesAskCents', 'yesBidContracts', 'yesAskContracts'] as const;
/** `side`: 1 yes, 0 no. */
const TRADE = ['atMs', 'yesPriceCents', 'contracts', 'side'] as const;
/** `mark`: `MARKS`. */
const MARK = ['atMs', 'mark'] as const;
const OHLC = ['open', 'high', 'low', 'close'] as const;
/** Prices of 0: none. `mid` is twice the mid. `end`: the prices at its end. */
const CANDLE = [
  ...['startMs', 'quotes', 'liveMs', 'endBid', 'endAsk'],
  ...OHLC.map((word) => `bid ${word}`),
  ...OHLC.map((word) => `ask ${word}`),
  ...OHLC.map((word) => `mid ${word}`),
  ...['trades', 'contracts', 'priceSum'],
  ...OHLC.map((word) => `trade ${word}`),
];

/**
 * A stretch whose records of a kind are lost, some or all: numbers from `first` to before `end`.
 * `kind`: one more than its number; 0: any. Rule H24 (api/RULES.md).
 */
const LOSS = ['foundMs', 'fromMs', 'toMs', 'kind', 'first', 'end'] as const;

/** The columns of each kind, by its number. */
export const KINDS: readonly { name: string; columns: readonly string[] }[] = [
  { name: 'rows', columns: ROW },
  { name: 'trades', columns: TRADE },
  { name: 'marks', columns: MARK },
  ...INTERVALS.map((interval) => ({ name: interval, columns: CANDLE })),
  { name: 'losses', columns: LOSS },
];
export const ROWS = 0;
export const TRADES = 1;
export const GAP_MARKS = 2;

export const LOSSES = KINDS.length - 1;
/** In place of a market: losses of markets that are not known yet. */
export const UNKNOWN_MARKETS: MarketNumber = 2 ** 32 - 1;

export const kindOf = (interval: Interval): number => GAP_MARKS + 1 + INTERVALS.indexOf(interval);

export function widthOf(kind: number): number {
  const found = KINDS[kind];
  invariant(found !== undefined, 'a record is of no known kind');
  return found.columns.length;
}

/** Why prices stopped being live. Rule H5 (api/RULES.md). */
const MARKED_REASONS = ['connection_lost', 'sequence_gap', 'stale', 'server_down'] as const;
export type MarkedReason = (typeof MARKED_REASONS)[number];
/** Why there is no known live price (H24). */
export const GAP_REASONS = [...MARKED_REASONS, 'damaged'] as const;
export type GapReason = (typeof GAP_REASONS)[number];
/**
 * The meaning of a mark: prices are live again, why they stopped being live, or that none will
 * follow.
 */
export const MARKS = ['live', ...MARKED_REASONS, 'resolved'] as const;
export type Mark = (typeof MARKS)[number];

export const markNumber = (mark: Mark): number => MARKS.indexOf(mark);
