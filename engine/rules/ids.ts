/** The ids of trades, and cursors of lists. Rules T7, P3 (engine/RULES.md, api/RULES.md). */
import type { Ids, WritableIds } from '../memory/columns.ts';
import { invariant } from './invariant.ts';
import { type EpochMs, type OrderRow, type PositionRow, UUID_LENGTH, type Uuid } from './units.ts';

/** A uuid of version 7 has 48 bits of time. */
const ID_TIME_END_MS = 2 ** 48;

/** True for the canonical text of any uuid. */
export function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(text);
}

/** Writes the `tradeIdOf` of an order row that opens a trade at a moment into a row. */
export function writeTradeId(
  to: WritableIds<PositionRow>,
  row: PositionRow,
  from: Ids<OrderRow>,
  order: OrderRow,
  openedAtMs: EpochMs,
): void {
  invariant(openedAtMs >= 0 && openedAtMs < ID_TIME_END_MS, 'the time of an id is out of range');
  const w0 = Math.floor(openedAtMs / 0x10000);
  // `%` is far slower on numbers beyond 31 bits.
  const w1 = ((openedAtMs - w0 * 0x10000) * 0x10000) | (from.word(order, 1) & 0xffff);
  to.set(row, w0, w1, from.word(order, 2), from.word(order, 3) ^ 1);
}

/**
 * The id of the trade that an order opens at a moment: the order's own random bits, the last one
 * flipped, under the time of opening. Equal input gives equal ids, and trades sort by opening.
 */
export function tradeIdOf(orderId: Uuid, openedAtMs: EpochMs): Uuid {
  const time = openedAtMs.toString(16).padStart(12, '0');
  const last = (Number.parseInt(orderId.at(-1)!, 16) ^ 1).toString(16);
  return `${time.slice(0, 8)}-${time.slice(8)}${orderId.slice(13, UUID_LENGTH - 1)}${last}`;
}

/** Lists that are paged by the id of their last row. */
export type PagedList = 'orders' | 'trades';
const CURSOR_MARKS = { orders: 'o', trades: 't' } as const;

/** An opaque cursor that continues after `id`. Rules P1 to P5 (api/RULES.md). */
export function cursorOf(list: PagedList, id: Uuid): string {
  invariant(id.length === UUID_LENGTH, 'a cursor is made of an id that is no uuid');
  const bytes = id.replaceAll('-', '').replace(/../g, (pair) => {
    return String.fromCharCode(Number.parseInt(pair, 16));
  });
  return btoa(CURSOR_MARKS[list] + bytes)
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
}

/** The id inside a cursor of that list, or null when it is malformed. */
export function idOfCursor(list: PagedList, cursor: string): Uuid | null {
  if (!/^[\w-]{23}$/.test(cursor)) return null;
  const bytes = atob(cursor.replaceAll('-', '+').replaceAll('_', '/'));
  if (bytes.length !== 17 || bytes[0] !== CURSOR_MARKS[list]) return null;
  const hex = Array.from(bytes.slice(1), hexOf).join('');
  const id = hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  return cursorOf(list, id) === cursor ? id : null;
}

const hexOf = (char: string) => char.charCodeAt(0).toString(16).padStart(2, '0');
