/**
 * Finished orders and closed trades as the rules see them. Once they are out of the tables, they
 * are found in the log: by id, by idempotency key, by account. Rules T90, T91, A42
 * (engine/RULES.md, api/RULES.md).
 */

import type { AccountRow, OrderRow, PositionRow, Uuid } from '../base/units.ts';
import type { Ids } from '../memory/columns.ts';
import type { ClosedTrade, OrderOutcome, OrderPlaced } from './events.ts';
import type { FactPlace } from './facts.ts';

/** An order as it was placed, without row numbers, which may be reused by now. */
export type PlacedOrder = Omit<OrderPlaced, 'kind' | 'order' | 'position'> & { place: FactPlace };

export type EndedOrder = { placed: PlacedOrder; outcome: OrderOutcome };

export interface FinishedRecords {
  /** The fact at this place has used the key. */
  noteKey(account: AccountRow, key: string, record: number, offset: number): void;
  /** The fact at this place ended a limit order; the row still has the order's id. */
  noteOrder(
    account: AccountRow,
    status: OrderOutcome['status'],
    ids: Ids<OrderRow>,
    order: OrderRow,
    record: number,
    offset: number,
  ): void;
  /** The fact at this place ended a trade. */
  noteTrade(
    account: AccountRow,
    status: ClosedTrade['status'],
    ids: Ids<PositionRow>,
    position: PositionRow,
    record: number,
    offset: number,
  ): void;
  /** The order that has used the key, market orders included. */
  orderByKey(account: AccountRow, idempotencyKey: string): PlacedOrder | undefined;
  /** The order of the account whose `order_placed` is at this place. */
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
