/**
 * Counts of requests that several threads add to, in shared memory. Each count has two words: the
 * month with its requests, the minute with its requests. A word changes in one step, so no request
 * of any thread is lost or counted twice. Rule Q28 (api/RULES.md).
 */
import { invariant } from '../../engine/base/invariant.ts';
import type { Uuid } from '../../engine/base/units.ts';
import type { RequestCount } from '../identity/control-format.ts';
import type { Count } from './count.ts';

/** Where a count is in the memory. */
export type Slot = number;

const WORDS = 2;
const SLOT_BYTES = WORDS * BigInt64Array.BYTES_PER_ELEMENT;
const FIRST_SLOTS = 1024;
/** More accounts and keys than this are counted by one thread alone. */
const SLOTS_MAX = 2 ** 21;

const MONTH_BITS = 48n;
const MINUTE_BITS = 32n;

export function countsMemory(slotsMax = SLOTS_MAX): SharedArrayBuffer {
  const slots = Math.min(FIRST_SLOTS, slotsMax);
  return new SharedArrayBuffer(slots * SLOT_BYTES, { maxByteLength: slotsMax * SLOT_BYTES });
}

/** For the one thread that gives counts their slots. A slot is never given twice. */
export class CountSlots {
  readonly memory: SharedArrayBuffer;
  readonly #words: BigInt64Array;
  readonly #slots = new Map<Uuid, Slot>();

  constructor(memory: SharedArrayBuffer) {
    this.memory = memory;
    this.#words = new BigInt64Array(memory);
  }

  /** Null: there are no more slots. */
  of(id: Uuid): Slot | null {
    const known = this.#slots.get(id);
    if (known !== undefined) return known;
    const slot = this.#slots.size;
    const bytes = (slot + 1) * SLOT_BYTES;
    if (bytes > this.memory.maxByteLength) return null;
    const { byteLength } = this.memory;
    if (bytes > byteLength) {
      this.memory.grow(Math.min(byteLength * 2, this.memory.maxByteLength));
    }
    this.#slots.set(id, slot);
    return slot;
  }

  /** The count of this month, which begins with what is stored of it. */
  count(id: Uuid, month: string, slot: Slot, stored: RequestCount | undefined): SharedCount {
    const count = new SharedCount(id, month, this.#words, slot);
    if (stored !== undefined) count.begin(stored);
    return count;
  }
}

export class SharedCount implements Count {
  readonly id: Uuid;
  readonly month: string;
  isChanged = false;
  monthAfter = 0;
  minuteAfter = 0;
  readonly #words: BigInt64Array;
  readonly #month: number;
  readonly #minute: number;
  readonly #monthTag: bigint;

  /** @param words of `countsMemory` */
  constructor(id: Uuid, month: string, words: BigInt64Array, slot: Slot) {
    invariant(slot >= 0 && slot * WORDS < words.length, 'a count has no place in its memory');
    this.id = id;
    this.month = month;
    this.#words = words;
    this.#month = slot * WORDS;
    this.#minute = slot * WORDS + 1;
    this.#monthTag = BigInt(monthsSince2000(month));
  }

  /** Takes over a stored count, unless requests of the month were counted already. */
  begin({ inMonth, minute, inMinute }: RequestCount): void {
    const before = Atomics.load(this.#words, this.#month);
    if (before >> MONTH_BITS === this.#monthTag) return;
    const word = (this.#monthTag << MONTH_BITS) + BigInt(inMonth);
    const found = Atomics.compareExchange(this.#words, this.#month, before, word);
    if (found === before) this.#add(this.#minute, MINUTE_BITS, BigInt(minute), inMinute);
  }

  get inMonth(): number {
    return countIn(Atomics.load(this.#words, this.#month), MONTH_BITS, this.#monthTag);
  }

  /** The minute of the last request. */
  get minute(): number {
    return Number(Atomics.load(this.#words, this.#minute) >> MINUTE_BITS);
  }

  get inMinute(): number {
    const word = Atomics.load(this.#words, this.#minute);
    return countIn(word, MINUTE_BITS, word >> MINUTE_BITS);
  }

  within(minute: number): number {
    return countIn(Atomics.load(this.#words, this.#minute), MINUTE_BITS, BigInt(minute));
  }

  add(requests: number, minute: number): void {
    this.minuteAfter = this.#add(this.#minute, MINUTE_BITS, BigInt(minute), requests);
    this.monthAfter = this.#add(this.#month, MONTH_BITS, this.#monthTag, requests);
  }

  takeBack(requests: number, minute: number): void {
    this.#takeBack(this.#minute, MINUTE_BITS, BigInt(minute), requests);
    this.#takeBack(this.#month, MONTH_BITS, this.#monthTag, requests);
  }

  /** @returns the count after it */
  #add(at: number, bits: bigint, tag: bigint, requests: number): number {
    for (;;) {
      const before = Atomics.load(this.#words, at);
      const count = countIn(before, bits, tag) + requests;
      const after = (tag << bits) + BigInt(count);
      // A thread whose clock is a moment late counts in the later window.
      if (before >> bits > tag) return this.#add(at, bits, before >> bits, requests);
      if (Atomics.compareExchange(this.#words, at, before, after) === before) return count;
    }
  }

  #takeBack(at: number, bits: bigint, tag: bigint, requests: number): void {
    for (;;) {
      const before = Atomics.load(this.#words, at);
      if (before >> bits !== tag) return;
      const after = before - BigInt(requests);
      if (Atomics.compareExchange(this.#words, at, before, after) === before) return;
    }
  }
}

/** @param month `2026-11` */
function monthsSince2000(month: string): number {
  const [year, number] = month.split('-').map(Number) as [number, number];
  return (year - 2000) * 12 + number;
}

/** 0 if the word is of another window. */
function countIn(word: bigint, bits: bigint, tag: bigint): number {
  return word >> bits === tag ? Number(BigInt.asUintN(Number(bits), word)) : 0;
}
