/**
 * Entries in memory: the entries since the last seal, or the entries being sealed. They lie in
 * slabs of `SLAB_ENTRIES`. A full slab is sorted, which takes well under a millisecond. So a seal
 * only merges slabs, and a list only reads the slabs that know its account. An entry takes 32
 * bytes, four for its hash, three for the order and the accounts of its slab. Its place in the hash
 * table takes 5 to 11 more.
 */
import { invariant } from '../base/invariant.ts';
import type { EntryCursor } from './cursor-heap.ts';
import {
  compareEntries,
  compareToKey,
  ENTRY_WORDS,
  type EntryKey,
  type FactPlace,
  INDEX_CLASS,
  isOf,
  type ListBound,
  placeAt,
  RUN_ORDER,
  writeEntry,
} from './entry.ts';
import { NameTable } from './name-table.ts';

export const SLAB_ENTRIES = 4096;
const ENTRIES_MAX = 2 ** 24;
/** Bits that mark a slab's accounts and classes: eight per entry. An account's are in one word. */
const OWNER_WORDS = SLAB_ENTRIES / 4;
const OWNER_SHIFT = 32 - Math.log2(OWNER_WORDS);

export class MemoryPart {
  readonly #slabs: Slab[] = [];
  #last: Slab | null = null;
  readonly #names: NameTable;
  #count = 0;
  #keys = 0;

  /** @param expected entries; the table starts with its final size for them */
  constructor(expected = 0) {
    const hashOf = (entry: number) => this.#slabOf(entry).hashes[entry % SLAB_ENTRIES]!;
    const hasKey = (entry: number, key: EntryKey) => {
      return compareToKey(this.#slabOf(entry).words, atOf(entry), key) === 0;
    };
    this.#names = new NameTable({ hashOf, hasKey }, expected);
  }

  get count(): number {
    return this.#count;
  }

  /** The number of entries, and how many of them are keys. */
  get entries(): { entries: number; keys: number } {
    return { entries: this.#count, keys: this.#keys };
  }

  add(
    account: number,
    of: number,
    w0: number,
    w1: number,
    w2: number,
    w3: number,
    record: number,
    offset: number,
  ): void {
    invariant(this.#count < ENTRIES_MAX, 'a seal is long overdue');
    if (this.#count % SLAB_ENTRIES === 0) this.#beginSlab();
    const last = this.#last!;
    const hash = hashOf(account, of, w1 ^ w3, w0 ^ w2);
    const at = last.claim(account, of, hash);
    writeEntry(last.words, at, account, of, w0, w1, w2, w3, record, offset);
    this.#names.add(hash);
    this.#count++;
    if (of === INDEX_CLASS.key) this.#keys++;
  }

  /** No further entries will be added. */
  close(): void {
    if (this.#last?.isSorted === false) this.#last.sort();
  }

  /** Adds the place of each entry with this key to `found`. */
  find(key: EntryKey, found: FactPlace[]): void {
    const entries: number[] = [];
    this.#names.find(hashOfKey(key), key, entries);
    for (const entry of entries) found.push(placeAt(this.#slabOf(entry).words, atOf(entry)));
  }

  /** All entries in order, as sequences to merge. The part must be closed. */
  *ascending(): Generator<EntryCursor> {
    for (const slab of this.#slabs) {
      invariant(slab.isSorted, 'a slab that is not in order cannot be sealed');
      yield new SlabCursor(slab.words, slab.order, { from: 0, end: slab.count, step: 1 });
    }
  }

  /** All entries, in no order. */
  forEach(each: (words: Uint32Array, at: number) => void): void {
    for (const { words, count } of this.#slabs) {
      for (let entry = 0; entry < count; entry++) each(words, entry * ENTRY_WORDS);
    }
  }

  /** The entries of an account in each class, below its bound, as descending sequences. */
  *descending(bounds: readonly ListBound[]): Generator<EntryCursor> {
    for (const slab of this.#slabs) {
      for (const bound of bounds) {
        const row = slab.mayHave(bound) ? slab.below(bound) : null;
        if (row !== null) yield row;
      }
    }
  }

  #beginSlab(): void {
    this.#last?.sort();
    this.#last = new Slab();
    this.#slabs.push(this.#last);
  }

  #slabOf(entry: number): Slab {
    return this.#slabs[Math.floor(entry / SLAB_ENTRIES)]!;
  }
}

const atOf = (entry: number) => (entry % SLAB_ENTRIES) * ENTRY_WORDS;

const hashOfKey = ({ account, class: of, w0, w1, w2, w3 }: EntryKey) =>
  hashOf(account, of, w1 ^ w3, w0 ^ w2);

function hashOf(account: number, of: number, odd: number, even: number): number {
  let hash = Math.imul(odd ^ of, 0x9e3779b1) ^ Math.imul(account + (even >>> 3), 0x85ebca6b);
  hash ^= hash >>> 15;
  hash = Math.imul(hash ^ even, 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}

class Slab {
  readonly words = new Uint32Array(SLAB_ENTRIES * ENTRY_WORDS);
  /**
   * The hashes of the names, by entry. A growing table reads them, because they lie closer than the
   * names.
   */
  readonly hashes = new Int32Array(SLAB_ENTRIES);
  readonly #owners = new Int32Array(OWNER_WORDS);
  /** The entries in order, once the slab is full or the part is closed. */
  #order: Uint16Array | null = null;
  #count = 0;

  get count(): number {
    return this.#count;
  }

  get isSorted(): boolean {
    return this.#order !== null;
  }

  get order(): Uint16Array {
    invariant(this.#order !== null, 'a slab has no order yet');
    return this.#order;
  }

  /** The word for the next entry of an account, a class and a hash. */
  claim(account: number, of: number, hash: number): number {
    invariant(this.#count < SLAB_ENTRIES && !this.isSorted, 'a slab takes no more entries');
    if (of !== INDEX_CLASS.key) {
      const owner = ownerHash(account);
      this.#owners[owner >>> OWNER_SHIFT]! |= ownerBit(owner, of);
    }
    this.hashes[this.#count] = hash;
    return this.#count++ * ENTRY_WORDS;
  }

  /** False: the slab has no entry of the account and the class. */
  mayHave({ account, class: of }: ListBound): boolean {
    const hash = ownerHash(account);
    return (this.#owners[hash >>> OWNER_SHIFT]! & ownerBit(hash, of)) !== 0;
  }

  sort(): void {
    invariant(!this.isSorted, 'a slab is put in order once');
    this.#order = orderOf(this.words, this.#count);
  }

  /** Descends from the last entry of the class before its bound; null: there is none. */
  below(bound: ListBound): EntryCursor | null {
    const { words } = this;
    const order = this.#order ?? this.#newEntriesOf(bound);
    let low = 0;
    for (let high = order.length; low < high; ) {
      const middle = (low + high) >>> 1;
      if (compareToKey(words, order[middle]! * ENTRY_WORDS, bound.below) < 0) low = middle + 1;
      else high = middle;
    }
    if (low === 0 || !isOf(words, order[low - 1]! * ENTRY_WORDS, bound)) return null;
    return new SlabCursor(words, order, { from: low - 1, end: -1, step: -1, bound });
  }

  /** The entries of the class while the slab is not sorted yet. */
  #newEntriesOf(bound: ListBound): Uint16Array {
    const { words } = this;
    const own: number[] = [];
    for (let entry = 0; entry < this.#count; entry++) {
      if (isOf(words, entry * ENTRY_WORDS, bound)) own.push(entry);
    }
    const entries = Uint16Array.from(own);
    sortPart(words, entries, 0, entries.length);
    return entries;
  }
}

const ownerHash = (account: number) => Math.imul(account + 1, 0x9e3779b1);
const ownerBit = (hash: number, of: number) => 1 << ((hash >>> 5) + of * 11);

const ranked = new Float64Array(SLAB_ENTRIES);

/** The first `count` entries in order: sorted by rank first, then within equal rank. */
function orderOf(words: Uint32Array, count: number): Uint16Array {
  const ranks = ranked.subarray(0, count);
  for (let entry = 0; entry < count; entry++) {
    ranks[entry] = RUN_ORDER.rank(words, entry * ENTRY_WORDS) * SLAB_ENTRIES + entry;
  }
  ranks.sort();
  const order = new Uint16Array(count);
  for (let start = 0, end = 0; start < count; start = end) {
    const rank = Math.floor(ranks[start]! / SLAB_ENTRIES);
    for (; end < count && Math.floor(ranks[end]! / SLAB_ENTRIES) === rank; end++) {
      // Not by `%`, which is far slower on numbers beyond 31 bits.
      order[end] = ranks[end]! - rank * SLAB_ENTRIES;
    }
    sortPart(words, order, start, end);
  }
  return order;
}

const scratch = new Uint16Array(SLAB_ENTRIES);

/** Sorts a part of the entries: merges sequences of 1, 2, 4 … entries in turn. */
function sortPart(words: Uint32Array, entries: Uint16Array, from: number, to: number): void {
  for (let width = 1; width < to - from; width *= 2) {
    for (let start = from; start + width < to; start += 2 * width) {
      const middle = start + width;
      mergeRows(words, entries, { start, middle, end: Math.min(middle + width, to) });
    }
  }
}

/** Merges the sequences from `start` to `middle` and from there to `end`. */
function mergeRows(
  words: Uint32Array,
  entries: Uint16Array,
  { start, middle, end }: { start: number; middle: number; end: number },
): void {
  if (compareAt(words, entries[middle - 1]!, entries[middle]!) <= 0) return;
  for (let at = start; at < middle; at++) scratch[at] = entries[at]!;
  let left = start;
  let right = middle;
  for (let at = start; left < middle; at++) {
    const isRight = right < end && compareAt(words, entries[right]!, scratch[left]!) < 0;
    entries[at] = isRight ? entries[right++]! : scratch[left++]!;
  }
}

function compareAt(words: Uint32Array, one: number, other: number): number {
  return compareEntries(words, one * ENTRY_WORDS, words, other * ENTRY_WORDS);
}

type Way = { from: number; end: number; step: 1 | -1; bound?: ListBound };

class SlabCursor implements EntryCursor {
  readonly words: Uint32Array;
  readonly #order: Uint16Array;
  readonly #way: Way;
  #position: number;
  at: number;

  constructor(words: Uint32Array, order: Uint16Array, way: Way) {
    this.words = words;
    this.#order = order;
    this.#way = way;
    this.#position = way.from;
    this.at = order[way.from]! * ENTRY_WORDS;
  }

  next(): boolean {
    const { step, end, bound } = this.#way;
    this.#position += step;
    if (this.#position === end) return false;
    this.at = this.#order[this.#position]! * ENTRY_WORDS;
    return bound === undefined || isOf(this.words, this.at, bound);
  }
}
