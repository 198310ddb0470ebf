/** Finds rows by the hash of a key: open addressing, each row beside its hash. */
import { NO_ROW } from '../rules/units.ts';

const FIRST_SLOTS = 256;

export class KeyIndex {
  /** Row and hash, slot by slot. */
  #slots = new Int32Array(FIRST_SLOTS * 2).fill(NO_ROW);
  #count = 0;

  add(row: number, hash: number): void {
    if ((this.#count + 1) * 8 > this.#slots.length * 3) this.#grow();
    this.#count++;
    this.#insert(row, hash);
  }

  /** The row that `isIts` confirms, among those that the hash suggests; or `NO_ROW`. */
  find(hash: number, isIts: (row: number) => boolean): number {
    const slots = this.#slots;
    const mask = slots.length - 2;
    for (let at = (hash << 1) & mask; ; at = (at + 2) & mask) {
      const row = slots[at]!;
      if (row === NO_ROW || (slots[at + 1] === hash && isIts(row))) return row;
    }
  }

  /** The hash of every row, in no order. */
  hashes(): Int32Array {
    const hashes = new Int32Array(this.#count);
    let count = 0;
    for (let at = 0; at < this.#slots.length; at += 2) {
      if (this.#slots[at] !== NO_ROW) hashes[count++] = this.#slots[at + 1]!;
    }
    return hashes;
  }

  #insert(row: number, hash: number): void {
    const slots = this.#slots;
    const mask = slots.length - 2;
    let at = (hash << 1) & mask;
    while (slots[at] !== NO_ROW) at = (at + 2) & mask;
    slots[at] = row;
    slots[at + 1] = hash;
  }

  #grow(): void {
    const old = this.#slots;
    this.#slots = new Int32Array(old.length * 2).fill(NO_ROW);
    for (let at = 0; at < old.length; at += 2) {
      if (old[at] !== NO_ROW) this.#insert(old[at]!, old[at + 1]!);
    }
  }
}
