/**
 * Finished orders and closed trades as the rules see them. After they have left the tables they are
 * found by id, by idempotency key and by account. Rules T90, T91, A42 (engine/RULES.md,
 * api/RULES.md).
 */

import type { Ids } from '../memory/columns.ts';
import type { ClosedTrade, OrderOutcome, OrderPlaced } from './events.ts';
import type { AccountRow, OrderRow, PositionRow, Uuid } from './units.ts';

/** Where the ids of an order and of the trade that it opened or sold lie. */
export type OutcomeIds = {
  orders: Ids<OrderRow>;
  order: OrderRow;
  positions: Ids<PositionRow>;
  position: PositionRow | null;
};

export interface FinishedRecords {
  addPlacement(placed: OrderPlaced): void;
  addOutcome(account: AccountRow, ids: OutcomeIds, outcome: Omit<OrderOutcome, 'tradeId'>): void;
  addClosedTrade(trade: ClosedTrade): void;
  placementByKey(account: AccountRow, idempotencyKey: string): OrderPlaced | undefined;
  /** An order of that account by its id; market orders are fills, not orders. */
  placement(account: AccountRow, orderId: Uuid): OrderPlaced | undefined;
  /** How an order ended; undefined while it rests. */
  outcome(placed: OrderPlaced): OrderOutcome | undefined;
  /** How an order ended that did so since the last checkpoint began. */
  recentOutcome(orderId: Uuid): OrderOutcome | undefined;
  closedTrade(account: AccountRow, tradeId: Uuid): ClosedTrade | undefined;
  /** Limit orders of the account, newest first, below `before`. */
  placements(account: AccountRow, before: Uuid | null): Iterable<OrderPlaced>;
  /** Closed trades of the account, newest opened first, below `before`. */
  closedTrades(account: AccountRow, before: Uuid | null): Iterable<ClosedTrade>;
}
