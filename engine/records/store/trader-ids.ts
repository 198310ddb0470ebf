/**
 * The ids of all traders by number, and the numbers by id: a table of places by hash, half empty.
 * Some 28 bytes per trader.
 */
import { invariant } from '../../base/invariant.ts';
import type { Uuid } from '../../base/units.ts';
import { uuidBytes, uuidText } from './uuid-bytes.ts';

export type TraderNumber = number;

const ID_BYTES = 16;
const FIRST_SLOTS = 2048;
const FIRST_TRADERS = 1024;

export class TraderIds {
  #ids = new Uint8Array(0);
  #isThere = new Uint8Array(0);
  /** One more than a number; 0: empty. */
  #slots = new Uint32Array(FIRST_SLOTS);
  #count = 0;
  #end = 0;

  /** One more than the highest number; some numbers below it may be missing. */
  get end(): TraderNumber {
    return this.#end;
  }

  get count(): number {
    return this.#count;
  }

  has(trader: TraderNumber): boolean {
    return this.#isThere[trader] === 1;
  }

  find(id: Uuid): TraderNumber | undefined {
    const bytes = uuidBytes(id);
    for (let slot = this.#slotOf(bytes, 0); ; slot = this.#next(slot)) {
      const trader = this.#slots[slot]! - 1;
      if (trader < 0) return undefined;
      if (this.compareToBytes(trader, bytes) === 0) return trader;
    }
  }

  add(trader: TraderNumber, id: Uint8Array): void {
    this.#grow(trader);
    invariant(!this.has(trader), 'a number has two traders');
    this.#ids.set(id, trader * ID_BYTES);
    this.#isThere[trader] = 1;
    this.#count++;
    this.#end = Math.max(this.#end, trader + 1);
    if (2 * this.#count > this.#slots.length) this.#makeSlots(2 * this.#slots.length);
    else this.#put(trader);
  }

  idOf(trader: TraderNumber): Uuid {
    invariant(this.has(trader), 'the id of no trader is asked for');
    return uuidText(this.bytesOf(trader));
  }

  bytesOf(trader: TraderNumber): Uint8Array {
    return this.#ids.subarray(trader * ID_BYTES, (trader + 1) * ID_BYTES);
  }

  /** Below 0: the id of `a` precedes the other. */
  compare(a: TraderNumber, b: TraderNumber): number {
    for (let at = 0; at < ID_BYTES; at++) {
      const difference = this.#ids[a * ID_BYTES + at]! - this.#ids[b * ID_BYTES + at]!;
      if (difference !== 0) return difference;
    }
    return 0;
  }

  /** Below 0: the trader's id precedes the other. */
  compareToBytes(trader: TraderNumber, id: Uint8Array): number {
    for (let at = 0; at < ID_BYTES; at++) {
      const difference = this.#ids[trader * ID_BYTES + at]! - id[at]!;
      if (difference !== 0) return difference;
    }
    return 0;
  }

  /** The first half of an id as a key of two words, the lower one first. */
  putKey(trader: TraderNumber, keys: Uint32Array, at: number): void {
    keys[2 * at] = wordAt(this.#ids, trader * ID_BYTES + 4);
    keys[2 * at + 1] = wordAt(this.#ids, trader * ID_BYTES);
  }

  #put(trader: TraderNumber): void {
    let slot = this.#slotOf(this.#ids, trader * ID_BYTES);
    while (this.#slots[slot] !== 0) slot = this.#next(slot);
    this.#slots[slot] = trader + 1;
  }

  #makeSlots(length: number): void {
    this.#slots = new Uint32Array(length);
    for (let trader = 0; trader < this.#end; trader++) if (this.has(trader)) this.#put(trader);
  }

  #slotOf(bytes: Uint8Array, from: number): number {
    let hash = 0;
    for (let at = from; at < from + ID_BYTES; at += 4) {
      hash = Math.imul(hash ^ wordAt(bytes, at), 0x9e3779b1);
      hash ^= hash >>> 15;
    }
    return (hash >>> 0) & (this.#slots.length - 1);
  }

  #next(slot: number): number {
    return (slot + 1) & (this.#slots.length - 1);
  }

  #grow(trader: TraderNumber): void {
    const { length } = this.#isThere;
    if (trader < length) return;
    const to = Math.max(FIRST_TRADERS, 2 * length, trader + 1);
    const ids = new Uint8Array(to * ID_BYTES);
    ids.set(this.#ids);
    this.#ids = ids;
    const isThere = new Uint8Array(to);
    isThere.set(this.#isThere);
    this.#isThere = isThere;
  }
}

function wordAt(bytes: Uint8Array, at: number): number {
  return (bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!;
}
