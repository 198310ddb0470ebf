/**
 * Finds the row of a uuid: open addressing over row numbers, the ids themselves staying in the
 * columns `id0`..`id3` of the table. Each row number lies beside the hash of its id, so that no row
 * is read but the one that is looked for. Eight bytes a slot, at most three quarters full.
 */
import { type IdColumns, uuidAt, uuidWord } from './ids.ts';
import { NO_ROW } from './table.ts';
import type { Uuid } from './units.ts';

const FIRST_SLOTS = 256;

export class UuidIndex {
  readonly #ids: IdColumns;
  /** Row and hash, slot by slot. */
  #slots = new Int32Array(FIRST_SLOTS * 2).fill(NO_ROW);
  /** Of the place of a slot's row: slots are a power of two, and rows are at even places. */
  #mask = FIRST_SLOTS * 2 - 2;
  #count = 0;

  constructor(table: { readonly col: IdColumns }) {
    this.#ids = table.col;
  }

  /** Rows that can be found. */
  get size(): number {
    return this.#count;
  }

  /** The row of an id, or `NO_ROW`. */
  find(id: Uuid): number {
    const w0 = uuidWord(id, 0);
    const w1 = uuidWord(id, 1);
    const w2 = uuidWord(id, 2);
    const w3 = uuidWord(id, 3);
    const { id0, id1, id2, id3 } = this.#ids;
    const slots = this.#slots;
    const mask = this.#mask;
    const hash = mix(w0, w1, w2, w3);
    for (let at = homeOf(hash, mask); ; at = (at + 2) & mask) {
      const row = slots[at]!;
      if (row === NO_ROW) return NO_ROW;
      if (slots[at + 1] !== hash) continue;
      const isIt = id3.get(row) === w3 && id2.get(row) === w2 && id1.get(row) === w1;
      if (isIt && id0.get(row) === w0) return row;
    }
  }

  /** Writes the id into the row's columns and makes it findable. */
  set(row: number, id: Uuid): void {
    const { id0, id1, id2, id3 } = this.#ids;
    id0.set(row, uuidWord(id, 0));
    id1.set(row, uuidWord(id, 1));
    id2.set(row, uuidWord(id, 2));
    id3.set(row, uuidWord(id, 3));
    this.add(row);
  }

  /** Makes a row whose id columns are set findable. */
  add(row: number): void {
    if ((this.#count + 1) * 8 > this.#slots.length * 3) this.#grow();
    this.#count++;
    this.#insert(row, this.#hashOf(row));
  }

  /** Forgets a row, whose id columns must still be set. */
  remove(row: number): void {
    const slots = this.#slots;
    const mask = this.#mask;
    let hole = homeOf(this.#hashOf(row), mask);
    while (slots[hole] !== row) hole = (hole + 2) & mask;
    this.#count--;
    // Close the hole with every later row of the run that may move back into it.
    for (let at = (hole + 2) & mask; slots[at] !== NO_ROW; at = (at + 2) & mask) {
      const distance = (at - homeOf(slots[at + 1]!, mask)) & mask;
      if (distance < ((at - hole) & mask)) continue;
      slots[hole] = slots[at]!;
      slots[hole + 1] = slots[at + 1]!;
      hole = at;
    }
    slots[hole] = NO_ROW;
  }

  /** The id in a row's columns. */
  idOf(row: number): Uuid {
    return uuidAt(this.#ids, row);
  }

  #hashOf(row: number): number {
    const { id0, id1, id2, id3 } = this.#ids;
    return mix(id0.get(row), id1.get(row), id2.get(row), id3.get(row));
  }

  #insert(row: number, hash: number): void {
    const slots = this.#slots;
    const mask = this.#mask;
    let at = homeOf(hash, mask);
    while (slots[at] !== NO_ROW) at = (at + 2) & mask;
    slots[at] = row;
    slots[at + 1] = hash;
  }

  #grow(): void {
    const old = this.#slots;
    this.#slots = new Int32Array(old.length * 2).fill(NO_ROW);
    this.#mask = this.#slots.length - 2;
    for (let at = 0; at < old.length; at += 2) {
      if (old[at] !== NO_ROW) this.#insert(old[at]!, old[at + 1]!);
    }
  }
}

/** Where a row with that hash would lie if all slots were free. */
function homeOf(hash: number, mask: number): number {
  return (hash << 1) & mask;
}

function mix(w0: number, w1: number, w2: number, w3: number): number {
  let hash = Math.imul(w3 ^ (w2 >>> 7), 0x9e3779b1) ^ Math.imul(w1 ^ w0, 0x85ebca6b);
  hash ^= hash >>> 15;
  hash = Math.imul(hash, 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}
