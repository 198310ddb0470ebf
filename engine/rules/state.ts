/**
 * Everything one shard knows. Accounts, orders that are not done and open positions are tables;
 * markets and instruments are objects, since there are few (reference-data.ts). Only `evolve`
 * writes state that facts record, only `applyTick` writes live quotes, and the fill model owns its
 * own state.
 */

import type {
  AccountRow,
  Cents,
  Contracts,
  EpochMs,
  GameStatus,
  InstrumentNumber,
  MarketNumber,
  OrderRow,
  PositionRow,
  PriceCents,
  Uuid,
} from '../base/units.ts';
import type { ExpiryQueue } from '../memory/expiry-queue.ts';
import type { FeeRows } from '../memory/fee-rows.ts';
import type { HashedCounts } from '../memory/hashed-counts.ts';
import type { Ladders } from '../memory/ladder.ts';
import type { MarketLiquidity } from '../memory/market-liquidity.ts';
import type { NetOrders } from '../memory/net-orders.ts';
import type { OrderGroups } from '../memory/order-groups.ts';
import type { OrderMarks } from '../memory/order-marks.ts';
import type { OrderRealism } from '../memory/order-realism.ts';
import type { OwnerIndex } from '../memory/owner-index.ts';
import type { QueuePlaces } from '../memory/queue-places.ts';
import type { Schema } from '../memory/row-places.ts';
import type { Table } from '../memory/table.ts';
import type { TakenLevels } from '../memory/taken-levels.ts';
import type { TradeCounts } from '../memory/trade-counts.ts';
import type { UuidIndex } from '../memory/uuid-index.ts';
import type { AppliedChange } from './applied-change.ts';
import type { Catalog, CatalogGame } from './catalog-entries.ts';
import type { TradeTag } from './events.ts';
import type { FeeTable } from './fee-table.ts';
import type { FillModel } from './fill-model.ts';
import type { FinishedRecords } from './finished-records.ts';
import type { Flags } from './flags.ts';
import type { PastInstruments, PastMarkets } from './past-reference.ts';
import type { PendingSettlements } from './pending-settlements.ts';
import type {
  Book,
  CatalogNaming,
  CoreConfig,
  Instrument,
  Market,
  PastClose,
  Source,
  Switches,
} from './reference-data.ts';
import type {
  ACCOUNT_COLUMNS,
  ACCOUNT_DERIVED,
  ORDER_COLUMNS,
  ORDER_DERIVED,
  POSITION_COLUMNS,
  POSITION_DERIVED,
} from './table-columns.ts';

/** The unit of a column, by its name or the ending of its name. */
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
  /** Open trades by account, market and side (`hashOfHeld`). */
  readonly heldSides: HashedCounts<PositionRow>;
  readonly ladders: Ladders<OrderRow>;
  readonly expiries: ExpiryQueue<OrderRow>;
  /** Orders, and cancels of orders, that have not met the book. Rule T160 (engine/RULES.md). */
  readonly arrivals: ExpiryQueue<OrderRow>;
  readonly cancels: ExpiryQueue<OrderRow>;
  /** The fees of orders that are not done, and of open trades; only of those that pay any. */
  readonly orderFees: FeeRows<OrderRow>;
  readonly tradeFees: FeeRows<PositionRow>;
  /** The places of orders under the `queue` model. */
  readonly queue: QueuePlaces;
  /** What orders were placed under, if it is not the preset `simple`. */
  readonly realism: OrderRealism;
  /** What orders close of the other side, for those that net. */
  readonly nets: NetOrders;
  /** Which orders are post-only, of a group, or amended. */
  readonly orderMarks: OrderMarks;
  readonly orderGroups: OrderGroups;
  /** Displayed sizes that accounts share over all shards: what all have taken of them. */
  readonly liquidity: MarketLiquidity;
  /** What the facts of this shard have taken of these. */
  readonly taken: TakenLevels;
  readonly records: FinishedRecords;
  readonly applied: AppliedChange;
  readonly tradeCounts: TradeCounts;
  /** Counts placements and openings: time order that does not depend on clocks. */
  sequence: number;
  /** The newest time seen. It goes back only when an operator sets it. */
  nowMs: EpochMs;
  /**
   * The newest time from which the clock was ever set back. Earlier events may carry times up to
   * it.
   */
  setBackFromMs: EpochMs;
  /** The time of the last fact that a start has read; before that nothing is known of venues. */
  recoveredAtMs: EpochMs;
  catalog: Catalog;
  /**
   * The record of the newest catalog or change; the bytes of the newest whole catalog in the log,
   * and of the changes since. Null: not known. Rule K60 (feeds/FORMATS.md).
   */
  catalogPlace: { record: number; wholeBytes: number; changedBytes: number } | null;
  readonly markets: Market[];
  /** Without past markets, as `marketNamed` finds them. */
  readonly marketsByName: Map<string, Market>;
  readonly pastMarkets: PastMarkets;
  readonly instruments: Instrument[];
  /** Without past instruments, as `instrumentOf` finds them. */
  readonly instrumentsById: Map<string, Instrument>;
  readonly pastInstruments: PastInstruments;
  /** Of instruments of the past: when their markets without a result close. */
  readonly pastCloses: Map<InstrumentNumber, PastClose>;
  readonly names: CatalogNaming;
  /**
   * Every game that a catalog has listed, by slug, with its last description. Null: a checkpoint of
   * an earlier program has no description of a game that the catalog no longer lists.
   */
  readonly listedGames: Map<string, CatalogGame | null>;
  readonly games: Map<string, { status: GameStatus; atMs: EpochMs }>;
  /** Counts changes of the data that `referenceDataOf` returns. */
  referenceDataVersion: number;
  /** Instruments that catalogs have listed, each time that one came. A replay does that work again. */
  catalogEntries: number;
  readonly booksByKey: Map<string | number, Book>;
  /** Numbers below the number of books that no book has any more. */
  readonly freeBooks: number[];
  readonly sources: (Source | undefined)[];
  switches: Switches;
  /** The fees of venues. It is in no log, and is sent at every start. */
  fees: FeeTable;
  /** The tags of trades, open or not. They are few, because an operator sets each. */
  readonly tradeTags: Map<Uuid, TradeTag>;
  readonly pendingSettlements: PendingSettlements;
  /** When a postponed game's window ends next, as of a `referenceDataVersion`. */
  readonly nextVoid: { version: number; atMs: EpochMs };
};

/** The tables that a checkpoint writes page by page. */
export function tablesOf(state: ShardState) {
  const { accounts, positions, orders, tradeCounts, queue, realism, taken } = state;
  const { orderFees, tradeFees, orderMarks, orderGroups, nets } = state;
  const ofOrders = [queue.table, realism.table, orderFees.table, tradeFees.table] as const;
  const { groups, fills, latches } = orderGroups;
  const later = [taken.table, orderMarks.table, groups, fills, nets.table, latches] as const;
  return [accounts, positions, orders, tradeCounts.table, ...ofOrders, ...later] as const;
}
