/**
 * Uuids as text and as four unsigned 32-bit words, the ids derived from them, and list cursors.
 * Version 7 uuids begin with their time in milliseconds, so that text order is time order. Rules
 * T7, P3 (engine/RULES.md, api/RULES.md).
 */
import type { UuidColumn } from './columns.ts';
import type { EpochMs, Uuid } from './units.ts';

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));
const NIBBLE = new Uint8Array(128).fill(255);
for (let value = 0; value < 16; value++) {
  const digit = value.toString(16);
  NIBBLE[digit.charCodeAt(0)] = value;
  NIBBLE[digit.toUpperCase().charCodeAt(0)] = value;
}

const UUID_LENGTH = 36;
/** Where the eight hex digits of each word begin, as two halves around the dashes. */
const WORD_HALVES = [
  [0, 4],
  [9, 14],
  [19, 24],
  [28, 32],
] as const;

/** The word 0..3 of a uuid's text. */
export function uuidWord(id: Uuid, word: 0 | 1 | 2 | 3): number {
  const [high, low] = WORD_HALVES[word];
  return ((hex4(id, high) << 16) | hex4(id, low)) >>> 0;
}

function hex4(text: string, at: number): number {
  return (
    (NIBBLE[text.charCodeAt(at)]! << 12) |
    (NIBBLE[text.charCodeAt(at + 1)]! << 8) |
    (NIBBLE[text.charCodeAt(at + 2)]! << 4) |
    NIBBLE[text.charCodeAt(at + 3)]!
  );
}

/** The text of four words. */
export function uuidOfWords(w0: number, w1: number, w2: number, w3: number): Uuid {
  return `${hex8(w0)}-${hexHigh(w1)}-${hexLow(w1)}-${hexHigh(w2)}-${hexLow(w2)}${hex8(w3)}`;
}

const hexHigh = (word: number) => HEX[word >>> 24]! + HEX[(word >>> 16) & 255]!;
const hexLow = (word: number) => HEX[(word >>> 8) & 255]! + HEX[word & 255]!;
const hex8 = (word: number) => hexHigh(word) + hexLow(word);

/** True for the canonical text of any uuid. */
export function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(text);
}

/** The time that the first two words of a version 7 uuid carry. */
function timeOfWords(w0: number, w1: number): EpochMs {
  return w0 * 0x10000 + (w1 >>> 16);
}

/** The time that a version 7 uuid carries. */
export function uuidTimeMs(id: Uuid): EpochMs {
  return timeOfWords(uuidWord(id, 0), uuidWord(id, 1));
}

/** The uuids that lie one behind the other, four words each. */
export function* uuidsOf(words: Uint32Array): Generator<Uuid> {
  for (let at = 0; at < words.length; at += 4) {
    yield uuidOfWords(words[at]!, words[at + 1]!, words[at + 2]!, words[at + 3]!);
  }
}

/** The id in a row. */
export function uuidAt(ids: UuidColumn, row: number): Uuid {
  return uuidOfWords(ids.word(row, 0), ids.word(row, 1), ids.word(row, 2), ids.word(row, 3));
}

/** Copies the id of a row. */
export function copyUuid(to: UuidColumn, row: number, from: UuidColumn, fromRow: number): void {
  const w0 = from.word(fromRow, 0);
  to.set(row, w0, from.word(fromRow, 1), from.word(fromRow, 2), from.word(fromRow, 3));
}

/** The time that the version 7 uuid in a row carries. */
export function uuidTimeAt(ids: UuidColumn, row: number): EpochMs {
  return timeOfWords(ids.word(row, 0), ids.word(row, 1));
}

/** Writes into a row the `tradeIdOf` an order row that opens a trade at a moment. */
export function writeTradeId(
  to: UuidColumn,
  row: number,
  from: UuidColumn,
  order: number,
  openedAtMs: EpochMs,
): void {
  const w0 = Math.floor(openedAtMs / 0x10000);
  // Not by `%`, which costs far more on what is no small integer.
  const w1 = ((openedAtMs - w0 * 0x10000) * 0x10000) | (from.word(order, 1) & 0xffff);
  to.set(row, w0, w1, from.word(order, 2), from.word(order, 3) ^ 1);
}

/**
 * The id of the trade that an order opens at a moment: the order's own random bits, the last one
 * flipped, under the time of opening. Equal input gives equal ids, and trades sort by opening.
 */
export function tradeIdOf(orderId: Uuid, openedAtMs: EpochMs): Uuid {
  const time = openedAtMs.toString(16).padStart(12, '0');
  const last = HEX[NIBBLE[orderId.charCodeAt(UUID_LENGTH - 1)]! ^ 1]![1]!;
  return `${time.slice(0, 8)}-${time.slice(8)}${orderId.slice(13, UUID_LENGTH - 1)}${last}`;
}

/** Lists that are paged by the id of their last row. */
export type PagedList = 'orders' | 'trades';
const CURSOR_MARKS = { orders: 'o', trades: 't' } as const;

/** An opaque cursor that continues after `id`. Rules P1 to P5 (api/RULES.md). */
export function cursorOf(list: PagedList, id: Uuid): string {
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
  const hex = Array.from(bytes.slice(1), (char) => HEX[char.charCodeAt(0)]).join('');
  const id = hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  return cursorOf(list, id) === cursor ? id : null;
}
