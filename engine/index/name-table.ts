/**
 * Finds entries by a hash: open addressing over their numbers. It is split into parts that grow one
 * at a time, so no addition waits for a copy of the whole table. A slot stores an entry's number
 * and eight bits of its hash. So a search reads almost no entry but the right one. Nearly every
 * slot is a cache miss, so new entries are collected, and their slots are then prefetched together.
 */

import { invariant } from '../base/invariant.ts';
import { prefetched } from '../memory/prefetch.ts';
import type { EntryKey } from './entry.ts';

const PARTS = 1024;
const PART_SHIFT = 32 - Math.log2(PARTS);
/** The whole table then takes 256 KiB. Smaller parts would grow many times at their start. */
const FIRST_SLOTS = 64;
/** Of 4: how full a part may be. */
const FULL_QUARTERS = 3;
const TAG_SHIFT = 24;
const ENTRY_MASK = 2 ** TAG_SHIFT - 1;
const EMPTY = -1;
/** Entries inserted together: a few times the number of memory reads in flight at a time. */
const TOGETHER = 32;

/** Reads an entry by its number. */
export type NamedEntries = {
  hashOf(entry: number): number;
  hasKey(entry: number, key: EntryKey): boolean;
};

export class NameTable {
  readonly #entries: NamedEntries;
  readonly #firstSlots: number;
  /** Allocated with their first entry. */
  readonly #parts: (Int32Array | undefined)[] = new Array(PARTS).fill(undefined);
  /** The hashes of the last entries, which are in no part yet. */
  readonly #waiting = new Int32Array(TOGETHER);
  #next = 0;
  readonly #counts = new Uint32Array(PARTS);

  constructor(entries: NamedEntries, expected: number) {
    this.#entries = entries;
    const slots = (expected / PARTS) * (4 / FULL_QUARTERS);
    this.#firstSlots = Math.max(FIRST_SLOTS, 2 ** Math.ceil(Math.log2(slots + 1)));
  }

  /** Adds the next entry. Entries are added in the order of their numbers, from 0. */
  add(hash: number): void {
    invariant(this.#next < ENTRY_MASK, 'an entry has no such number');
    this.#waiting[this.#next++ % TOGETHER] = hash;
    if (this.#next % TOGETHER === 0) this.#insertWaiting();
  }

  /** Adds each entry of this key to `found`. */
  find(hash: number, key: EntryKey, found: number[]): void {
    const waiting = this.#next % TOGETHER;
    for (let at = 0; at < waiting; at++) {
      if (this.#waiting[at] === (hash | 0)) this.#check(this.#next - waiting + at, key, found);
    }
    const slots = this.#parts[hash >>> PART_SHIFT];
    if (slots === undefined) return;
    const mask = slots.length - 1;
    const tag = tagOf(hash);
    for (let at = hash & mask; slots[at] !== EMPTY; at = (at + 1) & mask) {
      const slot = slots[at]!;
      if (slot >>> TAG_SHIFT === tag) this.#check(slot & ENTRY_MASK, key, found);
    }
  }

  #check(entry: number, key: EntryKey, found: number[]): void {
    if (this.#entries.hasKey(entry, key)) found.push(entry);
  }

  #insertWaiting(): void {
    const waiting = this.#waiting;
    let read = 0;
    for (let at = 0; at < TOGETHER; at++) {
      const hash = waiting[at]!;
      const slots = this.#partOf(hash);
      read ^= slots[hash & (slots.length - 1)]!;
    }
    prefetched(read);
    for (let at = 0; at < TOGETHER; at++) {
      this.#insert(this.#next - TOGETHER + at, waiting[at]!);
    }
  }

  #partOf(hash: number): Int32Array {
    const part = hash >>> PART_SHIFT;
    const slots = this.#parts[part];
    if (slots !== undefined) return slots;
    const made = newSlots(this.#firstSlots);
    this.#parts[part] = made;
    return made;
  }

  #insert(entry: number, hash: number): void {
    const part = hash >>> PART_SHIFT;
    const count = ++this.#counts[part]!;
    const isFull = count * 4 > this.#partOf(hash).length * FULL_QUARTERS;
    if (isFull) this.#parts[part] = this.#grown(this.#partOf(hash));
    insert(this.#partOf(hash), entry, hash);
  }

  #grown(old: Int32Array): Int32Array {
    const slots = newSlots(old.length * 2);
    for (const slot of old) {
      if (slot === EMPTY) continue;
      const entry = slot & ENTRY_MASK;
      insert(slots, entry, this.#entries.hashOf(entry));
    }
    return slots;
  }
}

function newSlots(count: number): Int32Array {
  return new Int32Array(count).fill(EMPTY);
}

function insert(slots: Int32Array, entry: number, hash: number): void {
  const mask = slots.length - 1;
  let at = hash & mask;
  while (slots[at] !== EMPTY) at = (at + 1) & mask;
  slots[at] = (tagOf(hash) << TAG_SHIFT) | entry;
}

/** Bits that choose neither the part nor, in a part of usual size, the slot. */
function tagOf(hash: number): number {
  return (hash >>> 14) & 255;
}
