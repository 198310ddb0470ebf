/**
 * Everything one shard knows. Accounts, orders that are not done and open positions are tables;
 * markets and instruments are objects, since there are few (reference-data.ts). `evolve` is the only
 * writer of what the journal keeps, `observe` the only writer of live quotes, and the fill model owns
 * what it remembers.
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
import type { Table } from '../memory/table.ts';
import type { TradeCounts } from '../memory/trade-counts.ts';
import type { UuidIndex } from '../memory/uuid-index.ts';
import type { FillModel } from './fill-model.ts';
import type { FinishedRecords } from './finished-records.ts';
import type { Catalog } from './messages.ts';
import type { Book, CoreConfig, Instrument, Market, Source, Switches } from './reference-data.ts';
import type { EpochMs, GameStatus } from './units.ts';

/** Bits of the `flags` columns. */
export const FLAG = {
  sell: 1,
  no: 2,
  instrumentNo: 4,
  routed: 8,
  private: 16,
  limit: 32,
} as const;

export type AccountTable = Table<typeof ACCOUNT_COLUMNS, typeof ACCOUNT_DERIVED>;
export type OrderTable = Table<typeof ORDER_COLUMNS, typeof ORDER_DERIVED>;
export type PositionTable = Table<typeof POSITION_COLUMNS, typeof POSITION_DERIVED>;

export type ShardState = {
  readonly config: CoreConfig;
  readonly fillModel: FillModel;
  readonly accounts: AccountTable;
  readonly orders: OrderTable;
  readonly positions: PositionTable;
  readonly accountIds: UuidIndex;
  readonly orderIds: UuidIndex;
  readonly positionIds: UuidIndex;
  /** Resting orders, and open positions. */
  readonly ordersOfAccount: OwnerIndex;
  readonly positionsOfAccount: OwnerIndex;
  readonly positionsOfMarket: OwnerIndex;
  readonly ladders: Ladders;
  readonly expiries: ExpiryQueue;
  readonly records: FinishedRecords;
  readonly tradeCounts: TradeCounts;
  /** Counts placements and openings: time order that does not depend on clocks. */
  sequence: number;
  /** The newest time seen. It goes back only where an operator sets it. */
  nowMs: EpochMs;
  /**
   * The newest time that it was ever set back from. What happened before that may carry a later
   * time.
   */
  setBackFromMs: EpochMs;
  catalog: Catalog;
  readonly markets: Market[];
  readonly marketsByName: Map<string, Market>;
  readonly instruments: Instrument[];
  readonly instrumentsById: Map<string, Instrument>;
  /** Slugs of every game that a catalog has listed. */
  readonly listedGames: Set<string>;
  readonly games: Map<string, { status: GameStatus; atMs: EpochMs }>;
  /** Counts changes of what `referenceDataOf` takes. */
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
