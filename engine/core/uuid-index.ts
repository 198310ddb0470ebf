/**
 * Finds the row of a uuid: open addressing over row numbers, the ids themselves staying in the
 * column `id` of the table. Each row number lies beside the hash of its id, so that no row
 * is read but the one that is looked for. Eight bytes a slot, at most three quarters full.
 *
 * Nearly every slot that a change needs is far away in memory. So changes wait until there are some
 * or until somebody looks for an id, and their slots are fetched at the same time.
 */
import type { UuidColumn } from './columns.ts';
import { fetched } from './fetch.ts';
import { uuidAt, uuidWord } from './ids.ts';
import { NO_ROW } from './table.ts';
import type { Uuid } from './units.ts';

const FIRST_SLOTS = 256;
/** Changes made together: as many as the machine fetches at a time, a few times over. */
const TOGETHER = 64;

export class UuidIndex {
  readonly #ids: UuidColumn;
  /** Row and hash, slot by slot. */
  #slots = new Int32Array(FIRST_SLOTS * 2).fill(NO_ROW);
  /** Of the place of a slot's row: slots are a power of two, and rows are at even places. */
  #mask = FIRST_SLOTS * 2 - 2;
  /** Rows in slots. */
  #held = 0;
  /** Rows in slots once no change waits. */
  #count = 0;
  /** A row to add, or `~row` to remove, and the hash of its id; change by change, in order. */
  readonly #waiting = new Int32Array(TOGETHER * 2);
  #waitingEnd = 0;

  constructor({ col }: { readonly col: { readonly id: UuidColumn } }) {
    this.#ids = col.id;
  }

  /** Rows that can be found. */
  get size(): number {
    return this.#count;
  }

  /** The row of an id, or `NO_ROW`. */
  find(id: Uuid): number {
    if (this.#waitingEnd !== 0) this.#makeChanges();
    const w0 = uuidWord(id, 0);
    const w1 = uuidWord(id, 1);
    const w2 = uuidWord(id, 2);
    const w3 = uuidWord(id, 3);
    const slots = this.#slots;
    const mask = this.#mask;
    const hash = mix(w0, w1, w2, w3);
    for (let at = homeOf(hash, mask); ; at = (at + 2) & mask) {
      const row = slots[at]!;
      if (row === NO_ROW) return NO_ROW;
      if (slots[at + 1] !== hash) continue;
      const isTail = this.#ids.word(row, 2) === w2 && this.#ids.word(row, 3) === w3;
      if (isTail && this.#ids.word(row, 0) === w0 && this.#ids.word(row, 1) === w1) return row;
    }
  }

  /** Writes the id into the row and makes it findable. */
  set(row: number, id: Uuid): void {
    this.#ids.set(row, uuidWord(id, 0), uuidWord(id, 1), uuidWord(id, 2), uuidWord(id, 3));
    this.add(row);
  }

  /** Makes a row that has its id findable. */
  add(row: number): void {
    this.#count++;
    this.#change(row, this.#hashOf(row));
  }

  /** Forgets a row, which must still have its id. */
  remove(row: number): void {
    this.#count--;
    this.#change(~row, this.#hashOf(row));
  }

  /** The id in a row. */
  idOf(row: number): Uuid {
    return uuidAt(this.#ids, row);
  }

  #hashOf(row: number): number {
    const ids = this.#ids;
    return mix(ids.word(row, 0), ids.word(row, 1), ids.word(row, 2), ids.word(row, 3));
  }

  #change(change: number, hash: number): void {
    const waiting = this.#waiting;
    waiting[this.#waitingEnd++] = change;
    waiting[this.#waitingEnd++] = hash;
    if (this.#waitingEnd === waiting.length) this.#makeChanges();
  }

  #makeChanges(): void {
    const waiting = this.#waiting;
    const end = this.#waitingEnd;
    const slots = this.#slots;
    let read = 0;
    for (let at = 1; at < end; at += 2) read ^= slots[homeOf(waiting[at]!, this.#mask)]!;
    fetched(read);
    for (let at = 0; at < end; at += 2) {
      const change = waiting[at]!;
      if (change < 0) this.#delete(~change, waiting[at + 1]!);
      else this.#insert(change, waiting[at + 1]!);
    }
    this.#waitingEnd = 0;
  }

  #insert(row: number, hash: number): void {
    if ((this.#held + 1) * 8 > this.#slots.length * 3) this.#grow();
    this.#held++;
    place(this.#slots, this.#mask, row, hash);
  }

  #delete(row: number, hash: number): void {
    const slots = this.#slots;
    const mask = this.#mask;
    let hole = homeOf(hash, mask);
    while (slots[hole] !== row) hole = (hole + 2) & mask;
    this.#held--;
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

  #grow(): void {
    const old = this.#slots;
    this.#slots = new Int32Array(old.length * 2).fill(NO_ROW);
    this.#mask = this.#slots.length - 2;
    for (let at = 0; at < old.length; at += 2) {
      if (old[at] !== NO_ROW) place(this.#slots, this.#mask, old[at]!, old[at + 1]!);
    }
  }
}

function place(slots: Int32Array, mask: number, row: number, hash: number): void {
  let at = homeOf(hash, mask);
  while (slots[at] !== NO_ROW) at = (at + 2) & mask;
  slots[at] = row;
  slots[at + 1] = hash;
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
