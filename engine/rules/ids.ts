/** The ids of trades. Rule T7 (engine/RULES.md). */

import { invariant } from '../base/invariant.ts';
import {
  type EpochMs,
  type OrderRow,
  type PositionRow,
  UUID_LENGTH,
  type Uuid,
} from '../base/units.ts';
import type { Ids, WritableIds } from '../memory/columns.ts';

/** A uuid of version 7 has 48 bits of time. */
const ID_TIME_END_MS = 2 ** 48;

/** True for the canonical text of any uuid. */
export function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(text);
}

/**
 * The first 26 bits after the time of an id, without the bits of its version and variant. Ids of
 * one moment are in the order of these bits.
 */
const PLACE_MAX = 2 ** 26 - 1;

/**
 * The place of a trade among the trades of its account that open at one moment. It is its order's
 * own place, but always after the last trade's. Rule T7 (engine/RULES.md).
 *
 * @param last the place of the last trade that opened at this moment; null: it is the first
 */
export function placeOfTrade(from: Ids<OrderRow>, order: OrderRow, last: number | null): number {
  const own = ((from.word(order, 1) & 0xfff) << 14) | ((from.word(order, 2) >>> 16) & 0x3fff);
  // Even after the highest place was taken, ids differ by the bits of their orders.
  return last === null || own > last ? own : Math.min(last + 1, PLACE_MAX);
}

/** Writes the id of the trade that an order opens into a row: `tradeIdOf`, at a place. */
export function writeTradeId(
  to: WritableIds<PositionRow>,
  row: PositionRow,
  from: Ids<OrderRow>,
  order: OrderRow,
  { openedAtMs, place }: { openedAtMs: EpochMs; place: number },
): void {
  invariant(openedAtMs >= 0 && openedAtMs < ID_TIME_END_MS, 'the time of an id is out of range');
  invariant(place >= 0 && place <= PLACE_MAX, 'the place of an id is out of range');
  const w0 = Math.floor(openedAtMs / 0x10000);
  // `%` is far slower on numbers beyond 31 bits.
  const w1 = ((openedAtMs - w0 * 0x10000) * 0x10000) | 0x7000 | (place >>> 14);
  const w2 = (0x8000 | (place & 0x3fff)) * 0x10000 + (from.word(order, 2) & 0xffff);
  to.set(row, w0, w1, w2, from.word(order, 3) ^ 1);
}

/**
 * The id of the first trade of an account at a moment: the order's own random bits, the last one
 * flipped, under the time of opening. Equal input gives equal ids, and trades sort by opening.
 */
export function tradeIdOf(orderId: Uuid, openedAtMs: EpochMs): Uuid {
  const time = openedAtMs.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}${orderId.slice(13, UUID_LENGTH - 1)}${flipped(orderId)}`;
}

/** Whether a trade has the last 48 bits of an order, the last one flipped: the order opened it. */
export function isTradeOf(tradeId: Uuid, orderId: Uuid): boolean {
  return tradeId.slice(-12) === orderId.slice(-12, -1) + flipped(orderId);
}

/** The same by the last two words of both ids. */
export function isTradeOfWords(
  trade2: number,
  trade3: number,
  order2: number,
  order3: number,
): boolean {
  return (trade2 & 0xffff) === (order2 & 0xffff) && trade3 === (order3 ^ 1) >>> 0;
}

/** The last digit of an order's id with its last bit flipped. */
function flipped(orderId: Uuid): string {
  return (Number.parseInt(orderId.at(-1)!, 16) ^ 1).toString(16);
}
