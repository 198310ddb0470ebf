/**
 * Finished orders and closed trades as the rules see them. After they have left the tables they are
 * found in the log, by id, by idempotency key and by account. Rules T90, T91, A42 (engine/RULES.md,
 * api/RULES.md).
 */

import type { Ids } from '../memory/columns.ts';
import type { ClosedTrade, OrderOutcome, OrderPlaced } from './events.ts';
import type { FactPlace } from './facts.ts';
import type { MarketOutcome } from './messages.ts';
import type { AccountRow, OrderRow, PositionRow, Uuid } from './units.ts';

/** An order as it was placed, without rows that may be others' now. */
export type PlacedOrder = Omit<OrderPlaced, 'kind' | 'order' | 'position'> & { place: FactPlace };

export type EndedOrder = { placed: PlacedOrder; outcome: OrderOutcome };

export interface FinishedRecords {
  /** A fact that lies there has used the key. */
  noteKey(account: AccountRow, key: string, record: number, offset: number): void;
  /** A limit order ended with the fact that lies there; the id is in that row. */
  noteOrder(
    account: AccountRow,
    status: OrderOutcome['status'],
    ids: Ids<OrderRow>,
    order: OrderRow,
    record: number,
    offset: number,
  ): void;
  /** A trade ended with the fact that lies there; `outcome` null: it was sold. */
  noteTrade(
    account: AccountRow,
    outcome: MarketOutcome | null,
    ids: Ids<PositionRow>,
    position: PositionRow,
    record: number,
    offset: number,
  ): void;
  /** The order, market orders among them, that has used the key. */
  orderByKey(account: AccountRow, idempotencyKey: string): PlacedOrder | undefined;
  /** The order of the account whose `order_placed` lies there. */
  orderAt(account: AccountRow, place: FactPlace): PlacedOrder;
  /** How an order that is done ended. */
  outcome(placed: PlacedOrder): OrderOutcome;
  /** A limit order of the account that has ended; market orders are fills, not orders. */
  endedOrder(account: AccountRow, orderId: Uuid): EndedOrder | undefined;
  closedTrade(account: AccountRow, tradeId: Uuid): ClosedTrade | undefined;
  /** Ended limit orders of the account with these statuses, newest first, below `before`. */
  endedOrders(
    account: AccountRow,
    statuses: readonly OrderOutcome['status'][],
    before: Uuid | null,
  ): Iterable<EndedOrder>;
  /** Closed trades of the account with these statuses, newest opened first, below `before`. */
  closedTrades(
    account: AccountRow,
    statuses: readonly ClosedTrade['status'][],
    before: Uuid | null,
  ): Iterable<ClosedTrade>;
}

export const ORDER_ENDS: readonly OrderOutcome['status'][] = ['executed', 'canceled', 'expired'];
export const TRADE_ENDS: readonly ClosedTrade['status'][] = ['closed', 'settled', 'void', 'reset'];
