/**
 * Finds the row of a uuid: open addressing over row numbers. The ids stay in the column `id` of the
 * table. A slot holds a row number and the hash of its id, so that a search reads only the row that
 * it finds. A slot takes eight bytes, and at most three quarters are full.
 *
 * Nearly every slot that a change needs is far away in memory. So changes wait until there are
 * several, or until a search. Their slots are then prefetched together. The tables of orders and
 * positions share their slots: the position of a filled order reuses the order's slot.
 */

import { invariant } from '../base/invariant.ts';
import type { Uuid } from '../base/units.ts';
import { NO_ROW } from '../base/units.ts';
import type { Ids, WritableIds } from './columns.ts';
import { prefetched } from './prefetch.ts';
import { uuidAt, uuidWords } from './uuid-words.ts';

const FIRST_SLOTS = 256;
/** Changes made together: a few times as many as the memory reads that the machine overlaps. */
const TOGETHER = 64;

/** The rows that fit: an entry is twice a row (or one more, or the complement) in 32 bits. */
const ROWS_MAX = 2 ** 30;

type WithIds<Row extends number> = {
  readonly col: { readonly id: Ids<Row> };
  change(row: Row): { readonly id: WritableIds<Row> };
};

export class UuidIndex<Row extends number = number> {
  readonly #rows: WithIds<Row>;
  readonly #ids: Ids<Row>;
  readonly #slots: Slots;
  /** 0 or 1: which of the tables that share the slots. */
  readonly #table: number;
  #size = 0;

  constructor(rows: WithIds<Row>, slots = new Slots(), table = 0) {
    this.#rows = rows;
    this.#ids = rows.col.id;
    this.#slots = slots;
    this.#table = table;
  }

  /**
   * For two tables: when a row of one is removed, a row of the other with the same hash is often
   * added.
   */
  static pair<One extends number, Other extends number>(
    one: WithIds<One>,
    other: WithIds<Other>,
  ): [UuidIndex<One>, UuidIndex<Other>] {
    const slots = new Slots();
    return [new UuidIndex(one, slots, 0), new UuidIndex(other, slots, 1)];
  }

  /** Rows that can be found. */
  get size(): number {
    return this.#size;
  }

  /** The row of an id, or `NO_ROW`. */
  find(id: Uuid): Row {
    const words = uuidWords(id);
    return this.findWords(words[0]!, words[1]!, words[2]!, words[3]!);
  }

  /** The row of the id of four words, or `NO_ROW`. */
  findWords(w0: number, w1: number, w2: number, w3: number): Row {
    const { words, mask } = this.#slots.changed();
    const hash = hashOf(w1, w2, w3);
    for (let at = homeOf(hash, mask); ; at = (at + 2) & mask) {
      const entry = words[at]!;
      if (entry === NO_ROW) return NO_ROW as number as Row;
      if (words[at + 1] !== hash || (entry & 1) !== this.#table) continue;
      const row = (entry >> 1) as Row;
      const isTail = this.#ids.word(row, 2) === w2 && this.#ids.word(row, 3) === w3;
      if (isTail && this.#ids.word(row, 0) === w0 && this.#ids.word(row, 1) === w1) return row;
    }
  }

  /** Writes the id into the row and makes it findable. */
  set(row: Row, id: Uuid): void {
    const { id: ids } = this.#rows.change(row);
    const words = uuidWords(id);
    ids.set(row, words[0]!, words[1]!, words[2]!, words[3]!);
    this.add(row);
  }

  /** Makes a row findable that already has its id. */
  add(row: Row): void {
    invariant(row >= 0 && row < ROWS_MAX, 'a row number does not fit into an index');
    this.#size++;
    this.#slots.change((row << 1) | this.#table, this.#hashOf(row));
  }

  /** Removes a row, which must still have its id. */
  remove(row: Row): void {
    this.#size--;
    invariant(this.#size >= 0, 'more ids were removed from an index than it had');
    this.#slots.change(~((row << 1) | this.#table), this.#hashOf(row));
  }

  /** The id in a row. */
  idOf(row: Row): Uuid {
    return uuidAt(this.#ids, row);
  }

  /** Whether a row has this id. */
  isOf(row: Row, id: Uuid): boolean {
    const ids = this.#ids;
    const words = uuidWords(id);
    const isTail = ids.word(row, 3) === words[3] && ids.word(row, 2) === words[2];
    return isTail && ids.word(row, 1) === words[1] && ids.word(row, 0) === words[0];
  }

  #hashOf(row: Row): number {
    const ids = this.#ids;
    return hashOf(ids.word(row, 1), ids.word(row, 2), ids.word(row, 3));
  }
}

/** Entries by hash. An entry is twice a row, and one more for the second of two tables. */
class Slots {
  /** Entry and hash, slot by slot. */
  words = new Int32Array(FIRST_SLOTS * 2).fill(NO_ROW);
  /** Masks the index of an entry: slots are a power of two, and entries are at even indexes. */
  mask = FIRST_SLOTS * 2 - 2;
  #held = 0;
  /**
   * Waiting changes in order, each as two words: an entry to add, or `~entry` to remove; the hash
   * of its id.
   */
  readonly #waiting = new Int32Array(TOGETHER * 2);
  #waitingEnd = 0;

  change(change: number, hash: number): void {
    const waiting = this.#waiting;
    waiting[this.#waitingEnd++] = change;
    waiting[this.#waitingEnd++] = hash;
    if (this.#waitingEnd === waiting.length) this.#makeChanges();
  }

  /** The slots, after every waiting change. */
  changed(): this {
    if (this.#waitingEnd !== 0) this.#makeChanges();
    return this;
  }

  #makeChanges(): void {
    const waiting = this.#waiting;
    const end = this.#waitingEnd;
    const { words } = this;
    let read = 0;
    for (let at = 1; at < end; at += 2) read ^= words[homeOf(waiting[at]!, this.mask)]!;
    prefetched(read);
    for (let at = 0; at < end; at += 2) {
      const change = waiting[at]!;
      const hash = waiting[at + 1]!;
      if (change < 0) this.#delete(~change, hash);
      else if (at + 2 < end && this.#takesSlot(change, hash, waiting[at + 2]!, waiting[at + 3]!)) {
        at += 2;
      } else this.#insert(change, hash);
    }
    this.#waitingEnd = 0;
  }

  /**
   * True: the entry took the slot of another entry, which has the same hash and is removed by the
   * next change.
   */
  #takesSlot(entry: number, hash: number, next: number, nextHash: number): boolean {
    const going = ~next;
    if (next >= 0 || nextHash !== hash || going === entry) return false;
    this.words[this.#placeOf(going, hash)] = entry;
    return true;
  }

  #insert(entry: number, hash: number): void {
    if ((this.#held + 1) * 8 > this.words.length * 3) this.#grow();
    this.#held++;
    place(this.words, this.mask, entry, hash);
  }

  #delete(entry: number, hash: number): void {
    const { words, mask } = this;
    let hole = this.#placeOf(entry, hash);
    this.#held--;
    // Close the hole with every later entry of the run that may move back into it.
    for (let at = (hole + 2) & mask; words[at] !== NO_ROW; at = (at + 2) & mask) {
      const distance = (at - homeOf(words[at + 1]!, mask)) & mask;
      if (distance < ((at - hole) & mask)) continue;
      words[hole] = words[at]!;
      words[hole + 1] = words[at + 1]!;
      hole = at;
    }
    words[hole] = NO_ROW;
  }

  /** The slot of an entry that is there. */
  #placeOf(entry: number, hash: number): number {
    let at = homeOf(hash, this.mask);
    while (this.words[at] !== entry) {
      invariant(this.words[at] !== NO_ROW, 'an id was removed from an index that lacks it');
      at = (at + 2) & this.mask;
    }
    return at;
  }

  #grow(): void {
    const old = this.words;
    this.words = new Int32Array(old.length * 2).fill(NO_ROW);
    this.mask = this.words.length - 2;
    for (let at = 0; at < old.length; at += 2) {
      if (old[at] !== NO_ROW) place(this.words, this.mask, old[at]!, old[at + 1]!);
    }
  }
}

function place(words: Int32Array, mask: number, entry: number, hash: number): void {
  let at = homeOf(hash, mask);
  while (words[at] !== NO_ROW) at = (at + 2) & mask;
  words[at] = entry;
  words[at + 1] = hash;
}

/** Where an entry with that hash would lie if all slots were free. */
function homeOf(hash: number, mask: number): number {
  return (hash << 1) & mask;
}

/**
 * A hash of a uuid's random bits without the last one: an order and the trade that it opens have
 * the same.
 */
function hashOf(w1: number, w2: number, w3: number): number {
  let hash =
    Math.imul((w3 >>> 1) ^ (w2 >>> 7), 0x9e3779b1) ^ Math.imul(w2 ^ (w1 & 0xffff), 0x85ebca6b);
  hash ^= hash >>> 15;
  hash = Math.imul(hash, 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}
