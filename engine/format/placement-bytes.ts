/**
 * The beginning of a placement's bytes (event-layouts.ts), read where they lie. A checkpoint sorts
 * and names thousands of placements by it, and needs nothing else of them.
 *
 *     atMs 8, order 4, account 4, orderId 16, bytes of the key 4, key, action 1, type 1
 */
const ACCOUNT_AT = 12;
const ID_AT = 16;
const KEY_LENGTH_AT = 32;
const KEY_AT = 36;
const LIMIT = 1;

export type PlacedBytes = Uint8Array;

export function isLimit(placed: PlacedBytes): boolean {
  return placed[keyEnd(placed) + 1] === LIMIT;
}

/** Its id as 16 bytes. */
export function orderIdBytes(placed: PlacedBytes): Uint8Array {
  return placed.subarray(ID_AT, KEY_LENGTH_AT);
}

/** A word of its id. */
export function orderIdWord(placed: PlacedBytes, word: 0 | 1 | 2 | 3): number {
  return u32At(placed, ID_AT + 4 * word);
}

/** Its account row and its id, as an archive names a row: big-endian, one behind the other. */
export function accountAndId(placed: PlacedBytes): Buffer {
  return accountAnd(placed, ID_AT, KEY_LENGTH_AT);
}

/** Its account row and its key, likewise. */
export function accountAndKey(placed: PlacedBytes): Buffer {
  return accountAnd(placed, KEY_AT, keyEnd(placed));
}

function accountAnd(placed: PlacedBytes, from: number, end: number): Buffer {
  const name = Buffer.allocUnsafe(ID_AT - ACCOUNT_AT + end - from);
  let to = 0;
  for (let at = ACCOUNT_AT; at < ID_AT; at++) name[to++] = placed[at]!;
  for (let at = from; at < end; at++) name[to++] = placed[at]!;
  return name;
}

export function compareIds(a: PlacedBytes, b: PlacedBytes): number {
  for (let at = ID_AT; at < KEY_LENGTH_AT; at++) {
    const difference = a[at]! - b[at]!;
    if (difference !== 0) return difference;
  }
  return 0;
}

/** The order of their keys as bytes. */
export function compareKeys(a: PlacedBytes, b: PlacedBytes): number {
  const aEnd = keyEnd(a);
  const bEnd = keyEnd(b);
  for (let at = KEY_AT; at < aEnd && at < bEnd; at++) {
    const difference = a[at]! - b[at]!;
    if (difference !== 0) return difference;
  }
  return aEnd - bEnd;
}

function keyEnd(placed: PlacedBytes): number {
  return KEY_AT + u32At(placed, KEY_LENGTH_AT);
}

function u32At(bytes: Uint8Array, at: number): number {
  const high = (bytes[at]! << 24) | (bytes[at + 1]! << 16);
  return (high | (bytes[at + 2]! << 8) | bytes[at + 3]!) >>> 0;
}
