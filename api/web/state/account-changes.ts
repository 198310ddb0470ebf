/**
 * The changes of an account between two answers with its newest orders and trades, as events of the
 * stream. It is for the sandbox of an organization, whose stream a browser cannot open: it sends no
 * header with a WebSocket.
 */
import type { Order, Trade } from '../../client/generated.js';
import type { ShownEvent } from './event-words.ts';

/** The newest of each, as the API lists them. */
export type AccountLook = { orders: readonly Order[]; trades: readonly Trade[] };

/** The newest first. Ids of events are of this page alone. @param at of the second look */
export function changesBetween(before: AccountLook, after: AccountLook, at: string): ShownEvent[] {
  const orders = new Map(before.orders.map((order) => [order.orderId, order]));
  const trades = new Map(before.trades.map((trade) => [trade.tradeId, trade]));
  const events = [
    ...after.orders.flatMap((order) => orderEvents(orders.get(order.orderId), order, at)),
    ...after.trades.flatMap((trade) => tradeEvents(trades.get(trade.tradeId), trade, at)),
  ];
  return events.sort((a, b) => Date.parse(b.at) - Date.parse(a.at));
}

function orderEvents(before: Order | undefined, order: Order, at: string): ShownEvent[] {
  const { orderId, createdAt, updatedAt, status, filledContracts, contracts, limitCents } = order;
  const events: ShownEvent[] = [];
  const add = (type: OrderEventType, when: string) => {
    const eventId = `${orderId} ${type} ${filledContracts} of ${contracts} at ${limitCents}`;
    events.push({ eventId, type, at: when, order });
  };
  const ended = ORDER_ENDS[status];
  // In their order, the latest first.
  if (ended !== null && before?.status !== status) add(ended, updatedAt);
  else if (filledContracts > (before?.filledContracts ?? 0)) add('order_part_filled', at);
  else if (before?.pendingUntil != null && order.pendingUntil === null) {
    add('order_arrived', before.pendingUntil);
  }
  const isAmended = before?.limitCents !== limitCents || before?.contracts !== contracts;
  if (before !== undefined && isAmended) add('order_amended', at);
  if (before === undefined) add('order_placed', createdAt);
  return events;
}

/** Of a trade that was over, and has another result now. Rule J44 (api/RULES.md). */
function correctionOf(before: Trade | undefined, trade: Trade, at: string): ShownEvent | null {
  if (before?.closedAt == null || before.pnlDollars === null || trade.pnlDollars === null) {
    return null;
  }
  const [from, to] = [resultOf(before), resultOf(trade)];
  const cents = Math.round(100 * trade.pnlDollars) - Math.round(100 * before.pnlDollars);
  if (from === to && cents === 0) return null;
  const { tradeId } = trade;
  const eventId = `${tradeId} corrected ${at}`;
  // The sandbox of an organization is never reset.
  const change = { from, to, cashDollars: cents / 100 };
  return { eventId, type: 'trade_corrected', at, tradeId, ...change, trade };
}

function resultOf({ status, resolvedOutcome }: Trade): 'yes' | 'no' | 'void' | 'scalar' {
  return status === 'void' ? 'void' : (resolvedOutcome ?? 'scalar');
}

function tradeEvents(before: Trade | undefined, trade: Trade, at: string): ShownEvent[] {
  const { tradeId, openedAt, closedAt, closeReason } = trade;
  const events: ShownEvent[] = [];
  const corrected = correctionOf(before, trade, at);
  if (corrected !== null) events.push(corrected);
  if (closedAt !== null && (before?.closedAt ?? null) === null) {
    const isSettled = closeReason === 'settled' || closeReason === 'voided';
    const type = isSettled ? 'trade_settled' : 'trade_closed';
    events.push({ eventId: `${tradeId} ${type}`, type, at: closedAt, trade });
  }
  if (before === undefined) {
    events.push({ eventId: `${tradeId} opened`, type: 'trade_opened', at: openedAt, trade });
  }
  return events;
}

type OrderEventType = Extract<ShownEvent['type'], `order_${string}`>;
const ORDER_ENDS = {
  resting: null,
  executed: 'order_filled',
  canceled: 'order_canceled',
  expired: 'order_expired',
} as const satisfies Record<Order['status'], OrderEventType | null>;
