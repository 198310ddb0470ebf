/**
 * Properties of an order or a position, as bits of one byte. Only this file knows what each bit
 * means. The bits are on disk (D3, engine/RULES.md), so a new bit is added at the end and none
 * changes.
 */

import type { Action, PriceCents, Routing, Side } from '../base/units.ts';
import type { OrderPlaced } from './events.ts';

const FLAG = { sell: 1, no: 2, instrumentNo: 4, routed: 8, private: 16, limit: 32 } as const;

/** The `flags` of an order or a position. */
export type Flags = number & { readonly __unit: 'Flags' };

export function flagsOf({ side, instrumentSide, terms }: OrderPlaced): Flags {
  const flags =
    (terms.action === 'sell' ? FLAG.sell : 0) |
    (side === 'no' ? FLAG.no : 0) |
    (instrumentSide === 'no' ? FLAG.instrumentNo : 0) |
    (terms.routing === 'best' ? FLAG.routed : 0) |
    (terms.placedPrivate ? FLAG.private : 0) |
    (isLimit(terms) ? FLAG.limit : 0);
  return flags as Flags;
}

/** The flags of the position that an order opens. */
export function positionFlagsOf(order: Flags): Flags {
  return (order & (FLAG.no | FLAG.instrumentNo | FLAG.private)) as Flags;
}

/** A limit order. Any other is a market order, which is a fill and no order (T26). */
export function isLimit(order: { limitPriceCents: PriceCents | null }): boolean {
  return order.limitPriceCents !== null;
}

/** The same from a stored row. Market orders never rest, so a position has no limit to look at. */
export function hasLimit(flags: Flags): boolean {
  return (flags & FLAG.limit) !== 0;
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

/** The order has routing best. */
export function isRouted(flags: Flags): boolean {
  return (flags & FLAG.routed) !== 0;
}

export function routingOf(flags: Flags): Routing {
  return isRouted(flags) ? 'best' : 'venue_a';
}

export function isPlacedPrivate(flags: Flags): boolean {
  return (flags & FLAG.private) !== 0;
}
