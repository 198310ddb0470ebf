/** The questions to a history. Rules H6 to H16, H22, H23 (api/RULES.md). */
import type { QueryTag } from '../base/cursors.ts';
import type { EpochMs, MarketNumber, PriceCents, Venue } from '../base/units.ts';
import type { Interval } from './kinds.ts';
import type { StoredBlock } from './segments.ts';

/** A series, in the terms of an instrument of polarity 1 or -1, or of a ticker. */
export type NamedSeries = {
  market: MarketNumber;
  polarity: 1 | -1;
  instrumentId: string | null;
  venue: Venue;
  /** Inclusive. */
  fromMs: EpochMs;
  /** Exclusive. */
  toMs: EpochMs;
  nowMs: EpochMs;
};

export type QuotesQuestion = NamedSeries & {
  kind: 'quotes';
  order: 'asc' | 'desc';
  limit: number;
  /** The number of the first row of the page; null: the first page. */
  cursor: number | null;
  /** The tag of this query's cursors. */
  tag: QueryTag;
};

export type CandlesQuestion = NamedSeries & {
  kind: 'candles';
  interval: Interval;
  limit: number;
  /** The start of the first candle of the page. */
  cursor: EpochMs | null;
  /** The tag of this query's cursors. */
  tag: QueryTag;
};

/**
 * Trades, newest first. Trades of one moment are on one page, which may so be longer than `limit`.
 * `next` of the answer is the cursor of the next page.
 */
export type TradesQuestion = NamedSeries & {
  kind: 'trades';
  limit: number;
  /** The number of the newest trade of the page; null: the first page. */
  cursor: number | null;
};

export type AsOfQuestion = {
  kind: 'as_of';
  venue: Venue;
  atMs: EpochMs;
  nowMs: EpochMs;
  instruments: readonly { instrumentId: string; market: MarketNumber; polarity: 1 | -1 }[];
  /** Ids that are no instruments of that venue. */
  notFound: readonly string[];
};

/** Answers with the last live two-sided row before a moment, or null. Rule Y6 (engine/RULES.md). */
export type ClosingQuestion = {
  kind: 'closing';
  market: MarketNumber;
  beforeMs: EpochMs;
  nowMs: EpochMs;
};

export const DATASETS = ['quotes', 'trades', 'candles'] as const;
export type Dataset = (typeof DATASETS)[number];
export const EXPORT_FORMATS = ['csv', 'ndjson'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

export type ExportQuestion = NamedSeries & {
  kind: 'export';
  dataset: Dataset;
  format: ExportFormat;
  interval: Interval;
  /** The `next` of the piece before; null: the first piece. */
  cursor: number | null;
};

export type Question =
  | QuotesQuestion
  | CandlesQuestion
  | TradesQuestion
  | AsOfQuestion
  | ClosingQuestion
  | ExportQuestion;

/** Where the rows of markets lie, for a reader in another thread. Rule H22 (api/RULES.md). */
export type StoredQuestion = {
  nowMs: EpochMs;
  markets: readonly { market: MarketNumber; fromMs: EpochMs; toMs: EpochMs }[];
};

/**
 * The rows that are in no block yet, column after column. Many markets share this memory, and
 * messages pass it on without a copy.
 */
export type StoredTail = { memory: SharedArrayBuffer; firstValue: number; records: number };

export type StoredRows = {
  /** Oldest first. The row before `fromMs` is in the first of them, or in the tail. */
  blocks: StoredBlock[];
  tail: StoredTail;
  /** When the history took the result; null: it took none, or no row preceded it. */
  resolvedAtMs: EpochMs | null;
  /**
   * How long between `fromMs` and `toMs` no price was live although one should have been. Rule H5
   * (api/RULES.md).
   */
  gapMs: number;
};

/** `next`: the cursor of the next piece of an export; null: there is no further piece. */
export type HistoryAnswer = { text: string; next: number | null };

/** The tops of markets at some moments. Rule H23 (api/RULES.md). */
export type TopsQuestion = {
  nowMs: EpochMs;
  markets: readonly { market: MarketNumber; atMs: readonly EpochMs[] }[];
};
/** For each moment the yes prices of its newest row; `NO_PRICE`: none, or no row. */
export type MarketTops = { yesBidCents: PriceCents[]; yesAskCents: PriceCents[] };
