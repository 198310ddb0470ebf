/**
 * Everything one shard knows. Accounts, orders that are not done and open positions are tables;
 * markets and instruments are objects, since there are few. `evolve` is the only writer of what
 * the journal keeps, `observe` the only writer of live quotes.
 */

import type {
  ACCOUNT_COLUMNS,
  ACCOUNT_DERIVED,
  ORDER_COLUMNS,
  ORDER_DERIVED,
  POSITION_COLUMNS,
  POSITION_DERIVED,
} from '../format/table-columns.ts';
import type { ExpiryQueue } from '../memory/expiry-queue.ts';
import type { Ladders } from '../memory/ladder.ts';
import type { OwnerIndex } from '../memory/owner-index.ts';
import type { Schema, Table } from '../memory/table.ts';
import type { TradeCounts } from '../memory/trade-counts.ts';
import type { UuidIndex } from '../memory/uuid-index.ts';
import type { Levels } from './book-depth.ts';
import type { FillModel } from './fill-model.ts';
import type { FinishedRecords } from './finished-records.ts';
import type { Flags } from './flags.ts';
import type {
  Catalog,
  CatalogGame,
  CatalogInstrument,
  CatalogListing,
  MarketOutcome,
  Payouts,
} from './messages.ts';
import type {
  AccountRow,
  Cents,
  Contracts,
  EpochMs,
  FillModelName,
  GameStatus,
  InstrumentNumber,
  MarketNumber,
  MarketStatus,
  OrderRow,
  PositionRow,
  PriceCents,
  Side,
  SourceNumber,
  Venue,
} from './units.ts';

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

/** The unit of a column, which its name says or ends with. */
type ColumnUnit<Name> = Name extends keyof NamedUnits
  ? NamedUnits[Name]
  : Name extends `${string}PriceCents`
    ? PriceCents
    : Name extends `${string}Cents`
      ? Cents
      : Name extends 'contracts' | `${string}Contracts`
        ? Contracts
        : Name extends `${string}AtMs`
          ? EpochMs
          : number;
type NamedUnits = {
  account: AccountRow;
  position: PositionRow;
  resting: OrderRow;
  market: MarketNumber;
  instrument: InstrumentNumber;
  flags: Flags;
};
type Units<Columns> = { [Name in keyof Columns]: ColumnUnit<Name> };
type TableOf<Row extends number, Stored extends Schema, Derived extends Schema> = Table<
  Stored,
  Derived,
  Row,
  Units<Stored & Derived>
>;

export type AccountTable = TableOf<AccountRow, typeof ACCOUNT_COLUMNS, typeof ACCOUNT_DERIVED>;
export type OrderTable = TableOf<OrderRow, typeof ORDER_COLUMNS, typeof ORDER_DERIVED>;
export type PositionTable = TableOf<PositionRow, typeof POSITION_COLUMNS, typeof POSITION_DERIVED>;

export type ShardState = {
  readonly config: CoreConfig;
  readonly fillModel: FillModel;
  readonly accounts: AccountTable;
  readonly orders: OrderTable;
  readonly positions: PositionTable;
  readonly accountIds: UuidIndex<AccountRow>;
  readonly orderIds: UuidIndex<OrderRow>;
  readonly positionIds: UuidIndex<PositionRow>;
  /** Resting orders, and open positions. */
  readonly ordersOfAccount: OwnerIndex<AccountRow, OrderRow>;
  readonly positionsOfAccount: OwnerIndex<AccountRow, PositionRow>;
  readonly positionsOfMarket: OwnerIndex<MarketNumber, PositionRow>;
  readonly ladders: Ladders<OrderRow>;
  readonly expiries: ExpiryQueue<OrderRow>;
  readonly records: FinishedRecords;
  readonly tradeCounts: TradeCounts;
  /** Counts placements and openings: time order that does not depend on clocks. */
  sequence: number;
  /** The newest time seen; never goes back, but where an operator sets it. */
  nowMs: EpochMs;
  /** The newest time that it was ever set back from: what is from before may seem to come later. */
  setBackFromMs: EpochMs;
  catalog: Catalog;
  readonly markets: Market[];
  readonly marketsByName: Map<string, Market>;
  readonly instruments: Instrument[];
  readonly instrumentsById: Map<string, Instrument>;
  /** Slugs of every game that a catalog has listed. */
  readonly listedGames: Set<string>;
  readonly games: Map<string, { status: GameStatus; atMs: EpochMs }>;
  /** Counts changes of what `worldOf` takes. */
  referenceDataVersion: number;
  readonly books: Book[];
  readonly booksByKey: Map<string | number, Book>;
  readonly sources: (Source | undefined)[];
  switches: Switches;
};

/** What a checkpoint writes page by page. */
export function tablesOf(state: ShardState) {
  return [state.accounts, state.positions, state.orders, state.tradeCounts.table] as const;
}
