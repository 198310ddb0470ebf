/** Finds rows by an account and a text: open addressing, each row beside the hash of its key. */
import { NO_ROW } from './table.ts';

const FIRST_SLOTS = 256;
/** Nobody outside can know which keys share a slot. */
const SEED = crypto.getRandomValues(new Uint32Array(1))[0]!;

export class KeyIndex {
  /** Row and hash, slot by slot. */
  #slots = new Int32Array(FIRST_SLOTS * 2).fill(NO_ROW);
  #count = 0;

  add(row: number, account: number, key: string): void {
    if ((this.#count + 1) * 8 > this.#slots.length * 3) this.#grow();
    this.#count++;
    this.#insert(row, hashOf(account, key));
  }

  /** The row that `isIts` confirms, among those that the hash suggests; or `NO_ROW`. */
  find(account: number, key: string, isIts: (row: number) => boolean): number {
    const slots = this.#slots;
    const mask = slots.length - 2;
    const hash = hashOf(account, key);
    for (let at = (hash << 1) & mask; ; at = (at + 2) & mask) {
      const row = slots[at]!;
      if (row === NO_ROW || (slots[at + 1] === hash && isIts(row))) return row;
    }
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

function hashOf(account: number, key: string): number {
  let hash = Math.imul(account ^ SEED, 0x9e3779b1);
  for (let at = 0; at < key.length; at++) {
    hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193);
    hash ^= hash >>> 15;
  }
  return Math.imul(hash ^ (hash >>> 13), 0x85ebca6b) | 0;
}
