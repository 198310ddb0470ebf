/**
 * Everything one shard knows. Accounts, orders that are not done and open positions are tables;
 * markets and instruments are objects, since there are few. `evolve` is the only writer of what
 * the journal keeps, `observe` the only writer of live quotes.
 */
import { bookDepth, type Levels } from './depth.ts';
import { ExpiryQueue } from './expiry.ts';
import { type FillModel, topOfBook } from './fill-model.ts';
import { Ladders } from './ladder.ts';
import { TradeCounts } from './limits.ts';
import type {
  Catalog,
  CatalogGame,
  CatalogInstrument,
  CatalogListing,
  MarketOutcome,
  Payouts,
} from './messages.ts';
import { type Archive, Records } from './recent.ts';
import { RowLists } from './row-lists.ts';
import { Table } from './table.ts';
import type {
  EpochMs,
  FillModelName,
  GameStatus,
  InstrumentNumber,
  MarketNumber,
  MarketStatus,
  PriceCents,
  Side,
  SourceNumber,
  Venue,
} from './units.ts';
import { UuidIndex } from './uuid-index.ts';

/** What an operator chooses once for a shard. Rule G4 (api/RULES.md). */
export type CoreConfig = {
  quoteMaxAgeMs: number;
  routingBandCents: number;
  /** `top_of_book` unless told. */
  fillModel?: FillModelName;
};

/** A venue market: what is known of it, and what its venue last said. */
export type Market = {
  number: MarketNumber;
  venue: Venue;
  ticker: string;
  /** Durable: its result, once. */
  outcome: MarketOutcome | null;
  /** Of a scalar outcome. */
  payouts: Payouts | null;
  /** Live: gone with a restart. */
  status: MarketStatus;
  quote: Quote | null;
  /** In yes cents. */
  lastTrade: LastTrade | null;
  /** By the side that was bought, in that side's cents. */
  lastTradeOf: Record<Side, LastTrade | null>;
  /** Its plain book; null while nothing has needed one. */
  book: Book | null;
  /** The routed books whose price depends on it. */
  routedBooks: readonly Book[];
  /** The instrument that an order by ticker is shown as: polarity 1 first, catalog order. */
  shownBy: { instrument: Instrument; polarity: 1 | -1 } | null;
};

export type LastTrade = { priceCents: PriceCents; atMs: EpochMs };

export type Quote = {
  source: SourceNumber;
  /** The source's epoch when it arrived: it dies with a lost connection. */
  epoch: number;
  atMs: EpochMs;
  yesBidCents: PriceCents;
  yesBidContracts: number;
  yesAskCents: PriceCents;
  yesAskContracts: number;
  crossed: boolean;
  /** What the fill model keeps of it beside its top. */
  levels: Levels | null;
};

/** A venue connection. */
export type Source = { lastHeardMs: EpochMs; epoch: number };

/**
 * Where orders rest. The plain book of a venue_a market follows that market's quote; the routed
 * book of an instrument follows the best price of its listings. Rules T80 to T85 (engine/RULES.md).
 */
export type Book = { number: number; market: Market; routed: Instrument | null };

export type Instrument = {
  number: InstrumentNumber;
  id: string;
  /** As a catalog last described it; null when none of this shard's catalogs has. */
  entry: CatalogInstrument | null;
  /** In the catalog now. A dropped one keeps its label, prices its positions, and settles. */
  listed: boolean;
  game: CatalogGame | null;
  /** Its listings' markets, home venue first. */
  listings: InstrumentListing[];
  /** The one venue_a listing; null when there is none, or more than one. */
  home: { market: Market; polarity: 1 | -1 } | null;
  /** When its markets open; 0 where the catalog names no time. */
  opensAtMs: EpochMs;
};

export type InstrumentListing = {
  listing: CatalogListing;
  market: Market;
  polarity: 1 | -1;
  /** May price a fill with routing best. Rule T80 (engine/RULES.md). */
  eligible: boolean;
};

export type Switches = { venueData: boolean; selfReset: boolean };

function createTables() {
  return {
    accounts: new Table(
      'accounts',
      {
        id: 'uuid',
        balanceCents: 'f64',
        heldCents: 'f64',
        openStakeCents: 'f64',
        realizedCents: 'f64',
        adjustedCents: 'f64',
        lifetimeRealizedCents: 'f64',
        runStartedAtMs: 'f64',
        lastResetAtMs: 'f64',
        run: 'u32',
        busts: 'u32',
        /** The last run that was counted as a bust. */
        bustedRun: 'u32',
      },
      {
        /** Contracts that may still be paid out: of open positions, and what is left of buys. */
        payableContracts: 'f64',
      },
    ),
    orders: new Table(
      'orders',
      {
        id: 'uuid',
        sequence: 'f64',
        expiresAtMs: 'f64',
        account: 'i32',
        market: 'i32',
        instrument: 'i32',
        /** What a sell sells, and what the filled part of a buy has opened. */
        position: 'i32',
        contracts: 'u32',
        limitPriceCents: 'u8',
        statedProbPct: 'u8',
        flags: 'u8',
        placedVia: 'u8',
      },
      {},
      'account',
    ),
    positions: new Table(
      'positions',
      {
        id: 'uuid',
        sequence: 'f64',
        /** Of the contracts still held, as `contracts` is. */
        costCents: 'f64',
        /** Of the contracts that were sold while others stayed: their cost, and what they brought. */
        soldCostCents: 'f64',
        soldCents: 'f64',
        /** `soldCents` before the first fill of the newest sell: what came since, it brought. */
        soldBeforeCents: 'f64',
        account: 'i32',
        market: 'i32',
        instrument: 'i32',
        contracts: 'u32',
        soldContracts: 'u32',
        /** The average of what all its contracts cost, rounded up. */
        entryPriceCents: 'u8',
        statedProbPct: 'u8',
        flags: 'u8',
        placedVia: 'u8',
        venue: 'u8',
        /** Where the first fill of the newest sell was priced. */
        soldVenue: 'u8',
      },
      {
        /** Its one resting order: the sell of it, or the rest of the buy that opened it. */
        resting: 'i32',
      },
      'account',
    ),
  };
}

/** Bits of the `flags` columns. */
export const FLAG = {
  sell: 1,
  no: 2,
  instrumentNo: 4,
  routed: 8,
  private: 16,
  limit: 32,
} as const;

export type ShardState = ReturnType<typeof createState>;

/** A shard that has seen nothing. */
export function createState(config: CoreConfig, archive: Archive) {
  const tables = createTables();
  const [orderIds, positionIds] = UuidIndex.pair(tables.orders, tables.positions);
  return {
    config,
    fillModel: (config.fillModel === 'book_depth' ? bookDepth : topOfBook) as FillModel,
    ...tables,
    accountIds: new UuidIndex(tables.accounts),
    orderIds,
    positionIds,
    /** Resting orders, and open positions. */
    ordersOfAccount: new RowLists(tables.orders, tables.orders.col.account),
    positionsOfAccount: new RowLists(tables.positions, tables.positions.col.account),
    positionsOfMarket: new RowLists(tables.positions, tables.positions.col.market),
    ladders: new Ladders(),
    expiries: new ExpiryQueue(tables.orders),
    records: new Records(archive),
    tradeCounts: new TradeCounts(),
    /** Counts placements and openings: time order that does not depend on clocks. */
    sequence: 0,
    /** The newest time seen; never goes back, but where an operator sets it. */
    nowMs: 0 as EpochMs,
    /** The newest time that it was ever set back from: what is from before may seem to come later. */
    setBackFromMs: 0 as EpochMs,
    catalog: { games: [], instruments: [], marketNames: [], instrumentIds: [] } as Catalog,
    markets: [] as Market[],
    marketsByName: new Map<string, Market>(),
    instruments: [] as Instrument[],
    instrumentsById: new Map<string, Instrument>(),
    /** Slugs of every game that a catalog has listed. */
    listedGames: new Set<string>(),
    games: new Map<string, { status: GameStatus; atMs: EpochMs }>(),
    /** Counts changes of what `worldOf` takes. */
    worldVersion: 0,
    books: [] as Book[],
    booksByKey: new Map<string | number, Book>(),
    sources: [] as (Source | undefined)[],
    switches: { venueData: false, selfReset: false } as Switches,
  };
}
