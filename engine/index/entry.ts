/**
 * An entry of the index: 32 bytes, read as eight little-endian words. It maps a name of an account
 * to a place in the log. Entries are sorted by account, class and name. This layout
 * is on disk: Rule D40 (engine/RULES.md).
 *
 *     word  0        1                       2 to 5  6                7
 *           account  class, record's high    name    record's low     offset
 */
import { invariant } from '../base/invariant.ts';

/** The place of a fact: the log position of its record, and its offset in the record's payload. */
export type FactPlace = { record: number; offset: number };

/** An entry as a list shows it: its class, the four words of its name, and its place. */
export type IndexedPlace = FactPlace & {
  class: IndexClass;
  w0: number;
  w1: number;
  w2: number;
  w3: number;
};

/**
 * The class of a name. `key` names are hashes of idempotency keys; the others are uuids. The
 * numbers are on disk: append, never reorder.
 */
export const INDEX_CLASS = {
  key: 0,
  orderExecuted: 1,
  orderCanceled: 2,
  orderExpired: 3,
  tradeClosed: 4,
  tradeSettled: 5,
  tradeVoid: 6,
  tradeReset: 7,
  /** A trade has one for each correction of its result. */
  tradeCorrected: 8,
} as const;
export type IndexClass = (typeof INDEX_CLASS)[keyof typeof INDEX_CLASS];

/** The four words of a uuid, or of the hash of a key. */
export type NameWords = ArrayLike<number>;

export const ENTRY_WORDS = 8;
export const ENTRY_BYTES = ENTRY_WORDS * Uint32Array.BYTES_PER_ELEMENT;
const CLASSES = 9;
const CLASS_SHIFT = 16;
const RECORD_HIGH_MAX = 2 ** CLASS_SHIFT;
const WORD = 2 ** 32;

/** The key of a search: an entry without its place. */
export type EntryKey = {
  account: number;
  class: number;
  w0: number;
  w1: number;
  w2: number;
  w3: number;
};

/** Writes an entry at a word of `words`. Its parts are separate arguments: an object costs more. */
export function writeEntry(
  words: Uint32Array,
  at: number,
  account: number,
  of: number,
  w0: number,
  w1: number,
  w2: number,
  w3: number,
  record: number,
  offset: number,
): void {
  const high = Math.floor(record / WORD);
  invariant(of >= 0 && of < CLASSES, 'the index knows no such class');
  invariant(high >= 0 && high < RECORD_HIGH_MAX, 'a log position has at most 48 bits');
  invariant(account >= 0 && account < WORD, 'an account row is no word');
  invariant(offset >= 0 && offset < WORD, 'an offset in a record is no word');
  words[at] = account;
  words[at + 1] = (of << CLASS_SHIFT) | high;
  words[at + 2] = w0;
  words[at + 3] = w1;
  words[at + 4] = w2;
  words[at + 5] = w3;
  words[at + 6] = record;
  words[at + 7] = offset;
}

export function classAt(words: Uint32Array, at: number): IndexClass {
  return (words[at + 1]! >>> CLASS_SHIFT) as IndexClass;
}

export function placeAt(words: Uint32Array, at: number): FactPlace {
  const high = words[at + 1]! & (RECORD_HIGH_MAX - 1);
  return { record: high * WORD + words[at + 6]!, offset: words[at + 7]! };
}

export function indexedPlaceAt(words: Uint32Array, at: number): IndexedPlace {
  return {
    class: classAt(words, at),
    w0: words[at + 2]!,
    w1: words[at + 3]!,
    w2: words[at + 4]!,
    w3: words[at + 5]!,
    ...placeAt(words, at),
  };
}

/** Negative: the entry at `at` precedes the one at `otherAt`; 0: they have the same key. */
export function compareEntries(
  words: Uint32Array,
  at: number,
  other: Uint32Array,
  otherAt: number,
): number {
  if (words[at] !== other[otherAt]) return words[at]! - other[otherAt]!;
  const byClass = (words[at + 1]! >>> CLASS_SHIFT) - (other[otherAt + 1]! >>> CLASS_SHIFT);
  return byClass !== 0 ? byClass : compareNames(words, at, other, otherAt);
}

/** How many entries there are, and two sums over all of them in any order. */
export class EntrySums {
  entries = 0;
  one = 0;
  two = 0;

  add(words: Uint32Array, at: number): void {
    let one = 0x2545f491;
    let two = 0x9e3779b9;
    for (let word = at; word < at + ENTRY_WORDS; word++) {
      one = Math.imul(one ^ words[word]!, 0x85ebca6b);
      one ^= one >>> 13;
      two = Math.imul(two ^ words[word]!, 0xc2b2ae35);
      two ^= two >>> 15;
    }
    this.entries++;
    this.one = (this.one + one) >>> 0;
    this.two = (this.two + two) >>> 0;
  }
}

/** By name alone, the order of lists over several classes. */
export function compareNames(
  words: Uint32Array,
  at: number,
  other: Uint32Array,
  otherAt: number,
): number {
  if (words[at + 2] !== other[otherAt + 2]) return words[at + 2]! - other[otherAt + 2]!;
  if (words[at + 3] !== other[otherAt + 3]) return words[at + 3]! - other[otherAt + 3]!;
  if (words[at + 4] !== other[otherAt + 4]) return words[at + 4]! - other[otherAt + 4]!;
  return words[at + 5]! - other[otherAt + 5]!;
}

/** The order of entries in a run. The rank combines account and class. */
export const RUN_ORDER = {
  rank: (words: Uint32Array, at: number) => words[at]! * CLASSES + (words[at + 1]! >>> CLASS_SHIFT),
  compare: compareEntries,
} as const;

/** The order of entries in lists: by name. The rank is its first 52 bits. */
export const LIST_ORDER = {
  rank: (words: Uint32Array, at: number) => words[at + 2]! * 2 ** 20 + (words[at + 3]! >>> 12),
  compare: compareNames,
} as const;

/** Negative: the entry precedes the key; 0: it has this key. */
export function compareToKey(words: Uint32Array, at: number, key: EntryKey): number {
  if (words[at] !== key.account) return words[at]! - key.account;
  const byClass = (words[at + 1]! >>> CLASS_SHIFT) - key.class;
  if (byClass !== 0) return byClass;
  if (words[at + 2] !== key.w0) return words[at + 2]! - key.w0;
  if (words[at + 3] !== key.w1) return words[at + 3]! - key.w1;
  if (words[at + 4] !== key.w2) return words[at + 4]! - key.w2;
  return words[at + 5]! - key.w3;
}

/** How many of the first `count` entries precede the key. */
export function lowerBound(words: Uint32Array, count: number, key: EntryKey): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareToKey(words, middle * ENTRY_WORDS, key) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The part of a list that an account has in one class: the entries before the key `below`. */
export type ListBound = { account: number; class: IndexClass; below: EntryKey };

/** `before`: a name, or null for all of the class. */
export function listBound(account: number, of: IndexClass, before: NameWords | null): ListBound {
  if (before === null) {
    const below = { account, class: of + 1, w0: 0, w1: 0, w2: 0, w3: 0 };
    return { account, class: of, below };
  }
  const [w0, w1, w2, w3] = [before[0]!, before[1]!, before[2]!, before[3]!];
  return { account, class: of, below: { account, class: of, w0, w1, w2, w3 } };
}

/** Whether the entry belongs to the account and the class. */
export function isOf(words: Uint32Array, at: number, bound: ListBound): boolean {
  return words[at] === bound.account && words[at + 1]! >>> CLASS_SHIFT === bound.class;
}
