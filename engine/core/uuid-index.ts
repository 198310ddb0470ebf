/**
 * Finds the row of a uuid: open addressing over row numbers, the ids themselves staying in the
 * columns `id0`..`id3` of the table. Four bytes a slot, at most three quarters full.
 */
import { type IdColumns, uuidAt, uuidWord } from './ids.ts';
import { NO_ROW } from './table.ts';
import type { Uuid } from './units.ts';

export class UuidIndex {
  readonly #ids: { readonly col: IdColumns };
  #slots = new Int32Array(256).fill(NO_ROW);
  #count = 0;

  /** `table.col` is read at every use, since its arrays are replaced when the table grows. */
  constructor(table: { readonly col: IdColumns }) {
    this.#ids = table;
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
    const { id0, id1, id2, id3 } = this.#ids.col;
    const mask = this.#slots.length - 1;
    for (let at = mix(w0, w1, w2, w3) & mask; ; at = (at + 1) & mask) {
      const row = this.#slots[at]!;
      if (row === NO_ROW) return NO_ROW;
      if (id3[row] === w3 && id2[row] === w2 && id1[row] === w1 && id0[row] === w0) return row;
    }
  }

  /** Writes the id into the row's columns and makes it findable. */
  set(row: number, id: Uuid): void {
    const { id0, id1, id2, id3 } = this.#ids.col;
    id0[row] = uuidWord(id, 0);
    id1[row] = uuidWord(id, 1);
    id2[row] = uuidWord(id, 2);
    id3[row] = uuidWord(id, 3);
    this.add(row);
  }

  /** Makes a row whose id columns are set findable. */
  add(row: number): void {
    if ((this.#count + 1) * 4 > this.#slots.length * 3) this.#grow();
    this.#count++;
    this.#insert(row);
  }

  /** Forgets a row, whose id columns must still be set. */
  remove(row: number): void {
    const mask = this.#slots.length - 1;
    let hole = this.#home(row);
    while (this.#slots[hole] !== row) hole = (hole + 1) & mask;
    this.#count--;
    // Close the hole with every later row of the run that may move back into it.
    for (let at = (hole + 1) & mask; this.#slots[at] !== NO_ROW; at = (at + 1) & mask) {
      const distance = (at - this.#home(this.#slots[at]!)) & mask;
      if (distance < ((at - hole) & mask)) continue;
      this.#slots[hole] = this.#slots[at]!;
      hole = at;
    }
    this.#slots[hole] = NO_ROW;
  }

  /** The id in a row's columns. */
  idOf(row: number): Uuid {
    return uuidAt(this.#ids.col, row);
  }

  #home(row: number): number {
    const { id0, id1, id2, id3 } = this.#ids.col;
    return mix(id0[row]!, id1[row]!, id2[row]!, id3[row]!) & (this.#slots.length - 1);
  }

  #insert(row: number): void {
    const mask = this.#slots.length - 1;
    let at = this.#home(row);
    while (this.#slots[at] !== NO_ROW) at = (at + 1) & mask;
    this.#slots[at] = row;
  }

  #grow(): void {
    const rows = this.#slots;
    this.#slots = new Int32Array(rows.length * 2).fill(NO_ROW);
    for (const row of rows) if (row !== NO_ROW) this.#insert(row);
  }
}

function mix(w0: number, w1: number, w2: number, w3: number): number {
  let hash = Math.imul(w3 ^ (w2 >>> 7), 0x9e3779b1) ^ Math.imul(w1 ^ w0, 0x85ebca6b);
  hash ^= hash >>> 15;
  return Math.imul(hash, 0xc2b2ae35) >>> 8;
}
