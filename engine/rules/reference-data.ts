/**
 * Markets with their live quotes, instruments, books and connections. They are few enough to be
 * objects, and prices depend on nothing else in a shard.
 */

import type {
  EpochMs,
  FillModelName,
  InstrumentNumber,
  MarketNumber,
  MarketStatus,
  PriceCents,
  Side,
  SourceNumber,
  Venue,
} from '../base/units.ts';
import type { CatalogInstrument, CatalogListing } from './catalog-entries.ts';
import type { MarketOutcome, Payouts } from './messages.ts';

/** Settings of a shard that do not change while it runs. Rule G4 (api/RULES.md). */
export type CoreConfig = {
  quoteMaxAgeMs: number;
  routingBandCents: number;
  /** `top_of_book` by default. */
  fillModel?: FillModelName;
  /** Games void no market here: a result of each market comes in its place (N141). */
  voidsByResult?: boolean;
};

/** A venue market: its catalog data, and the last messages of its venue. */
export type Market = {
  number: MarketNumber;
  venue: Venue;
  ticker: string;
  /** Durable: its result, once. */
  outcome: MarketOutcome | null;
  /** Set with a scalar outcome. */
  payouts: Payouts | null;
  /** When the result came; 0 without one. */
  resolvedAtMs: EpochMs;
  /**
   * Where in the log its settlement begins, and how many trades it settles. Null: it has no result,
   * or an earlier version of the program wrote the checkpoint. Rule S22 (engine/RULES.md).
   */
  settlement: { record: number; trades: number } | null;
  /** How often its result was corrected. Rule S20 (engine/RULES.md). */
  corrections: number;
  /** Live, and lost at a restart. */
  status: MarketStatus;
  /**
   * When the catalog closes it; infinite if the catalog has no time. Rule T129 (engine/RULES.md).
   */
  closesAtMs: EpochMs;
  /** Live: when its venue closes it, by `venueClosingMs`; null: the venue has not said. */
  venueClosesAtMs: EpochMs | null;
  /** Changed in place: `quotes` counts. */
  quote: Quote | null;
  /**
   * The count of quotes of this market and of changes of their time. A new count means a new last
   * quote.
   */
  quotes: number;
  /** In yes cents. */
  lastTrade: LastTrade | null;
  /** By the side that was bought, in that side's cents. */
  lastTradeOf: Record<Side, LastTrade | null>;
  /** Its plain book; null until it is first needed. */
  book: Book | null;
  /** The routed books whose price depends on it. */
  routedBooks: readonly Book[];
  /** The instrument that an order by ticker is shown as: polarity 1 first, catalog order. */
  shownBy: { instrument: Instrument; polarity: 1 | -1 } | null;
  /** Its instruments are past. Nothing of its venue is kept. Rule K61 (feeds/FORMATS.md). */
  isPast: boolean;
};

export type LastTrade = { priceCents: PriceCents; atMs: EpochMs };
/** Of a market that has not traded; shared by all, and never changed. */
export const NO_TRADES: Market['lastTradeOf'] = Object.freeze({ yes: null, no: null });

export type Quote = {
  source: SourceNumber;
  /** The source's epoch when the quote arrived: a lost connection ends its epoch. */
  epoch: number;
  atMs: EpochMs;
  yesBidCents: PriceCents;
  yesBidContracts: number;
  yesAskCents: PriceCents;
  yesAskContracts: number;
  crossed: boolean;
};

/** A venue connection. */
export type Source = { lastHeardMs: EpochMs; epoch: number };

/**
 * Where orders rest. The plain book of a venue_a market follows that market's quote. The routed
 * book of an instrument follows the best price of its listings. Rules T80 to T85 (engine/RULES.md).
 */
export type Book = { number: number; market: Market; routed: Instrument | null };
/** All markets without such a book share it, so that a quote reads no array of its own market. */
export const NO_BOOKS: readonly Book[] = [];

export type Instrument = {
  number: InstrumentNumber;
  id: string;
  /** Its last catalog entry; null if no catalog of this shard has listed it. */
  entry: CatalogInstrument | null;
  /**
   * True: in the current catalog. A dropped instrument keeps its label, still prices its positions,
   * and settles.
   */
  listed: boolean;
  /** Its listings' markets, home venue first. */
  listings: InstrumentListing[];
  /** The one venue_a listing; null when there is none, or more than one. */
  home: { market: Market; polarity: 1 | -1 } | null;
  /** When its markets open; 0 if the catalog has no time. */
  opensAtMs: EpochMs;
  /** When its entry closes its markets; infinite if it has no time. */
  closesAtMs: EpochMs;
  /** The record of the log with its last description; null: not known. */
  described: number | null;
  /** It is dropped and settled. Its description is in the log alone. Rule K59 (feeds/FORMATS.md). */
  isPast: boolean;
};

export type PastClose = { atMs: EpochMs; markets: readonly MarketNumber[] };

/** Whether callers may name it: a dropped instrument with a result is over. Rule T121 (engine/RULES.md). */
export function isKnown({ listed, listings, isPast }: Instrument): boolean {
  return listed || isPast || listings.some(({ market }) => market.outcome !== null);
}

export type InstrumentListing = {
  listing: CatalogListing;
  market: Market;
  polarity: 1 | -1;
  /** True: it may price a fill with routing best. Rule T80 (engine/RULES.md). */
  eligible: boolean;
};

/** The meaning of the numbers of markets and instruments. */
export type CatalogNaming = {
  /** Its id and its last description; null: there is none. */
  instrument(number: InstrumentNumber): { id: string; entry: CatalogInstrument | null };
  ticker(number: MarketNumber): string;
};

export type Switches = { venueData: boolean; selfReset: boolean };
