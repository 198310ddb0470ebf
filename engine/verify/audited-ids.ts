/**
 * What an audit of facts remembers: the ids that it has met, and the orders that still wait for
 * their end or for the end of their trade. All of it is in typed arrays, so that a log of a hundred
 * million facts leaves nothing for the garbage collector. Rule D101 (engine/RULES.md).
 */
import { invariant } from '../base/invariant.ts';
import { type IdPlace, InPlaceReader } from '../format/bytes.ts';
import { type FactInPlace, readFactInPlace } from '../format/fact-layouts.ts';
import { Table } from '../memory/table.ts';

const FIRST_SLOTS = 4096;
/** Four words of the id, and its value. */
const SLOT_WORDS = 5;
/** In every value: the slot is in use. */
const THERE = 1;

/** Ids met so far, each with a small number. A slot of 20 bytes holds both. */
export class IdValues {
  #words = new Uint32Array(FIRST_SLOTS * SLOT_WORDS);
  #mask = FIRST_SLOTS - 1;
  #count = 0;

  /** Where the id is, which was added with the value 0 if it was not there. Valid until the next. */
  place(w0: number, w1: number, w2: number, w3: number): number {
    if (3 * this.#count > 2 * this.#mask) this.#grow();
    const words = this.#words;
    let slot = hashOf(w0, w1, w2, w3) & this.#mask;
    for (; ; slot = (slot + 1) & this.#mask) {
      const at = slot * SLOT_WORDS;
      if (words[at + 4] === 0) {
        words[at] = w0;
        words[at + 1] = w1;
        words[at + 2] = w2;
        words[at + 3] = w3;
        words[at + 4] = THERE;
        this.#count++;
        return at;
      }
      if (words[at + 3] !== w3 || words[at + 2] !== w2) continue;
      if (words[at + 1] === w1 && words[at] === w0) return at;
    }
  }

  get(place: number): number {
    return this.#words[place + 4]! >>> 1;
  }

  set(place: number, value: number): void {
    invariant(value >= 0 && value < 2 ** 31, 'a value of an id is too large');
    this.#words[place + 4] = value * 2 + THERE;
  }

  #grow(): void {
    const old = this.#words;
    this.#words = new Uint32Array(old.length * 2);
    this.#mask = this.#mask * 2 + 1;
    const words = this.#words;
    for (let from = 0; from < old.length; from += SLOT_WORDS) {
      if (old[from + 4] === 0) continue;
      const hash = hashOf(old[from]!, old[from + 1]!, old[from + 2]!, old[from + 3]!);
      let slot = hash & this.#mask;
      while (words[slot * SLOT_WORDS + 4] !== 0) slot = (slot + 1) & this.#mask;
      const at = slot * SLOT_WORDS;
      for (let word = 0; word < SLOT_WORDS; word++) words[at + word] = old[from + word]!;
    }
  }
}

function hashOf(w0: number, w1: number, w2: number, w3: number): number {
  let hash = Math.imul(w3 ^ (w2 >>> 7), 0x9e3779b1) ^ Math.imul(w2 ^ w1, 0x85ebca6b) ^ w0;
  hash ^= hash >>> 15;
  hash = Math.imul(hash, 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

export type Placement = FactInPlace<'order_placed'>;

const ORDER = {
  /** The trade that it waits for. */
  trade: 'uuid',
  /** Where it was placed, or amended last. */
  record: 'f64',
  /** The fact that is at fault if it waits in vain: its placement, then its end. */
  number: 'f64',
  /** As it was amended last; below 0: it pays no fees. */
  feeEachMicros: 'f64',
  endAtMs: 'f64',
  offset: 'u32',
  account: 'u32',
  /** As it was amended last; 0: it was not. */
  contracts: 'u32',
  filledContracts: 'u32',
  /** Bytes of its placement. */
  length: 'u32',
  /** One more than the next order that waits for the trade; 0: there is none. */
  next: 'u32',
  limitPriceCents: 'u8',
  fillPriceCents: 'u8',
  venue: 'u8',
  /** Bits of `WAITS`. */
  waits: 'u8',
} as const;

/** What an order waits for; of one that waits for its trade, how it has ended. */
export const WAITS = { end: 1, trade: 2, filled: 4, executed: 8 } as const;

/** The usual size of a placement; a longer one lies elsewhere. */
const PLACEMENT_BYTES = 256;

/** Orders as they were placed and amended, by rows that are used again. */
export class RememberedOrders {
  readonly #table = new Table('remembered orders', ORDER, {});
  readonly col = this.#table.col;
  readonly from = new InPlaceReader(new Uint8Array(0));
  #bytes = Buffer.alloc(PLACEMENT_BYTES * 128);
  readonly #long = new Map<number, Buffer>();

  /** @param placement the bytes of its fact */
  add(placement: Uint8Array): number {
    const row = this.#table.claim();
    const { length } = placement;
    this.change(row).length.set(row, length);
    this.change(row).contracts.set(row, 0);
    if (length > PLACEMENT_BYTES) this.#long.set(row, Buffer.from(placement));
    else {
      if ((row + 1) * PLACEMENT_BYTES > this.#bytes.length) this.#grow();
      this.#bytes.set(placement, row * PLACEMENT_BYTES);
    }
    return row;
  }

  change(row: number) {
    return this.#table.change(row);
  }

  release(row: number): void {
    if (this.col.length.get(row) > PLACEMENT_BYTES) this.#long.delete(row);
    this.#table.release(row);
  }

  rows(): Iterable<number> {
    return this.#table.rows();
  }

  /** Its placement, with ids at places of `from`, until the next call. */
  placement(row: number): Placement {
    const { from } = this;
    const length = this.col.length.get(row);
    const long = length > PLACEMENT_BYTES ? this.#long.get(row)! : null;
    const at = long === null ? row * PLACEMENT_BYTES : 0;
    from.begin(long ?? this.#bytes, at, at + length);
    return readFactInPlace(from) as Placement;
  }

  #grow(): void {
    const grown = Buffer.alloc(this.#bytes.length * 2);
    grown.set(this.#bytes);
    this.#bytes = grown;
  }
}

/** Whether two ids are the same, each at a place of what its reader reads. */
export function isSameId(
  one: InPlaceReader,
  place: IdPlace,
  other: InPlaceReader,
  otherPlace: IdPlace,
): boolean {
  return (
    one.idWord(place, 3) === other.idWord(otherPlace, 3) &&
    one.idWord(place, 2) === other.idWord(otherPlace, 2) &&
    one.idWord(place, 1) === other.idWord(otherPlace, 1) &&
    one.idWord(place, 0) === other.idWord(otherPlace, 0)
  );
}
