/**
 * Properties of an order or a position, as bits of one byte. Only this file knows what each bit
 * means. The bits are on disk (D3, engine/RULES.md), so a new bit is added at the end and none
 * changes.
 */

import {
  type Action,
  FILL_MODELS,
  type FillModelName,
  type PlacedNetting,
  type PriceCents,
  type Routing,
  type Side,
} from '../base/units.ts';
import type { OrderPlaced } from './events.ts';

const FLAG = { sell: 1, no: 2, instrumentNo: 4, routed: 8, private: 16, limit: 32 } as const;

/** Two bits: the model's index in `FILL_MODELS` and one more; 0: an earlier program did not note it. */
const FILL_MODEL_SHIFT = 6;
const FILL_MODEL_MASK = 3 << FILL_MODEL_SHIFT;

/**
 * Of a position alone, which has no limit: the order that opened it was placed under the preset
 * `realistic`.
 */
const POSITION_REALISTIC = FLAG.limit;

/** The `flags` of an order or a position. */
export type Flags = number & { readonly __unit: 'Flags' };

export function flagsOf({ side, instrumentSide, terms, fillModel }: OrderPlaced): Flags {
  const flags =
    (terms.action === 'sell' ? FLAG.sell : 0) |
    (side === 'no' ? FLAG.no : 0) |
    (instrumentSide === 'no' ? FLAG.instrumentNo : 0) |
    (terms.routing === 'best' ? FLAG.routed : 0) |
    (terms.placedPrivate ? FLAG.private : 0) |
    (isLimit(terms) ? FLAG.limit : 0) |
    (fillModel === null ? 0 : (FILL_MODELS.indexOf(fillModel) + 1) << FILL_MODEL_SHIFT);
  return flags as Flags;
}

/** The flags of the position that an order opens. */
export function positionFlagsOf(order: Flags, realistic: boolean): Flags {
  const same = order & (FLAG.no | FLAG.instrumentNo | FLAG.private | FILL_MODEL_MASK);
  return (same | (realistic ? POSITION_REALISTIC : 0)) as Flags;
}

/** Whether the order that opened a position was placed under the preset `realistic`. Rule T159. */
export function isRealistic(position: Flags): boolean {
  return (position & POSITION_REALISTIC) !== 0;
}

/** A limit order. Any other is a market order, which is a fill and no order (T26). */
export function isLimit(order: { limitPriceCents: PriceCents | null }): boolean {
  return order.limitPriceCents !== null;
}

/**
 * Whether it is an order that can be asked for. A market order that met the book at once is a fill,
 * unless it nets. Rules T26, T161, T190.
 */
export function isShownOrder(placed: {
  terms: { limitPriceCents: PriceCents | null };
  latencyMs: number;
  netting: PlacedNetting | null;
}): boolean {
  return isLimit(placed.terms) || placed.latencyMs > 0 || placed.netting !== null;
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

/**
 * The fill model that the order was placed under. Null: it was placed before orders noted it. Rule
 * T157 (engine/RULES.md).
 */
export function fillModelOf(flags: Flags): FillModelName | null {
  return FILL_MODELS[((flags & FILL_MODEL_MASK) >> FILL_MODEL_SHIFT) - 1] ?? null;
}
