/** Rows of answers, for tests of the page's functions on them. */
import type { Order, Position, Trade } from '../../../api/client/client.js';

const PLACED = {
  instrumentId: 'ins_7Q2M4XK9WDRT',
  instrumentLabel: 'Otters to beat Herons',
  instrumentSide: 'yes',
  statedProbPct: null,
  placedVia: 'web',
  placedPrivate: true,
} as const;

export function positionOf(change: Partial<Position> = {}): Position {
  return {
    ...PLACED,
    tradeId: 'trade-1',
    boughtSide: 'yes',
    contracts: 10,
    costDollars: 4.3,
    parlayId: null,
    fillVenue: 'venue_a',
    openedAt: '2026-11-24T10:00:00.000Z',
    entryCents: 43,
    markCents: 45,
    valueDollars: 4.5,
    unrealizedPnlDollars: 0.2,
    ...change,
  };
}

export function tradeOf(change: Partial<Trade> = {}): Trade {
  const { markCents, valueDollars, unrealizedPnlDollars, ...position } = positionOf();
  return {
    ...position,
    status: 'open',
    closedAt: null,
    closeReason: null,
    pnlDollars: null,
    resolvedOutcome: null,
    exitCents: null,
    ...change,
  };
}

export function orderOf(change: Partial<Order> = {}): Order {
  return {
    ...PLACED,
    orderId: 'order-1',
    action: 'buy',
    orderSide: 'yes',
    contracts: 10,
    filledContracts: 0,
    remainingContracts: 10,
    limitCents: 40,
    holdDollars: 4,
    timeInForce: 'gtc',
    expiresAt: null,
    status: 'resting',
    createdAt: '2026-11-24T10:00:00.000Z',
    executedAt: null,
    canceledAt: null,
    updatedAt: '2026-11-24T10:00:00.000Z',
    type: 'limit',
    cancelReason: null,
    tradeId: null,
    ...change,
  };
}
