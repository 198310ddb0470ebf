/**
 * What an order or a position is, as bits of one byte. Only this file knows which bit says what; the
 * bits are on disk (D3, engine/RULES.md), so a new one comes at the end and none changes.
 */

import type { OrderPlaced } from './events.ts';
import type { Action, OrderType, PriceCents, Side } from './units.ts';

const FLAG = { sell: 1, no: 2, instrumentNo: 4, routed: 8, private: 16, limit: 32 } as const;

/** The `flags` of an order or a position. */
export type Flags = number & { readonly __unit: 'Flags' };

export function flagsOf(placed: OrderPlaced): Flags {
  const flags =
    (placed.action === 'sell' ? FLAG.sell : 0) |
    (placed.side === 'no' ? FLAG.no : 0) |
    (placed.instrumentSide === 'no' ? FLAG.instrumentNo : 0) |
    (placed.routing === 'best' ? FLAG.routed : 0) |
    (placed.placedPrivate ? FLAG.private : 0) |
    (isLimit(placed) ? FLAG.limit : 0);
  return flags as Flags;
}

/** Those of the position that an order opens. */
export function positionFlagsOf(order: Flags): Flags {
  return (order & (FLAG.no | FLAG.instrumentNo | FLAG.private)) as Flags;
}

/** A limit order; any other is a market order, which is a fill and no order (T26). */
export function isLimit(order: { limitPriceCents: PriceCents | null }): boolean {
  return order.limitPriceCents !== null;
}

export function typeOf(flags: Flags): OrderType {
  return (flags & FLAG.limit) === 0 ? 'market' : 'limit';
}

export function isSell(flags: Flags): boolean {
  return (flags & FLAG.sell) !== 0;
}

export function isBuy(flags: Flags): boolean {
  return (flags & FLAG.sell) === 0;
}

export function actionOf(flags: Flags): Action {
  return isSell(flags) ? 'sell' : 'buy';
}

/** In the market's terms. */
export function sideOf(flags: Flags): Side {
  return (flags & FLAG.no) === 0 ? 'yes' : 'no';
}

export function instrumentSideOf(flags: Flags): Side {
  return (flags & FLAG.instrumentNo) === 0 ? 'yes' : 'no';
}

/** Of an order: it has routing best. */
export function isRouted(flags: Flags): boolean {
  return (flags & FLAG.routed) !== 0;
}

export function isPlacedPrivate(flags: Flags): boolean {
  return (flags & FLAG.private) !== 0;
}
