/** Rows of answers, for tests of the page's functions on them. */
import type { Order, Position, Trade } from '../../../api/client/client.js';
import { ORDER, PORTFOLIO, TRADE } from '../../../api/schemas/examples.ts';

const AT = '2026-11-24T10:00:00.000Z';
const SUBJECT = {
  instrumentId: 'ins_7Q2M4XK9WDRT',
  instrumentLabel: 'Otters to beat Herons',
} as const;
/** Ten contracts of yes, bought at 43 cents. */
const BOUGHT = {
  ...SUBJECT,
  tradeId: 'trade-1',
  costDollars: 4.3,
  entryCents: 43,
  openedAt: AT,
} as const;

export function positionOf(change: Partial<Position> = {}): Position {
  const worth = { markCents: 45, valueDollars: 4.5, unrealizedPnlDollars: 0.2 };
  return { ...PORTFOLIO.positions[0]!, ...BOUGHT, ...worth, ...change };
}

export function tradeOf(change: Partial<Trade> = {}): Trade {
  return { ...TRADE, ...BOUGHT, ...change };
}

export function orderOf(change: Partial<Order> = {}): Order {
  return { ...ORDER, ...SUBJECT, orderId: 'order-1', createdAt: AT, updatedAt: AT, ...change };
}
