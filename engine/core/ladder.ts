/**
 * Where resting orders wait. An order waits for the ask of one side of a market to fall to its
 * rank: a buy of a side at p for that side's ask at rank p, a sell of a side at p for the other
 * side's ask at rank 100 - p (its bid is 100 minus that ask). So every order is one number on one
 * of two ladders a book, and a quote fills every order whose rank is at or above the ask.
 *
 * Invariants: within a rank, first placed is first; `best` is the highest rank with an order.
 * A quote that reaches nothing costs one comparison a ladder; a fill costs a bounded number of
 * steps at any depth. Not promised: order among books.
 */
import { invariant } from './invariant.ts';
import { grown, NO_ROW } from './table.ts';

/** Ranks 1..99; 0 stays empty, so that a rank is its own offset. */
const RANKS = 100;
const WORDS = 4;

export class Ladders {
  #head = new Int32Array(0);
  #tail = new Int32Array(0);
  #bits = new Uint32Array(0);
  #best = new Uint8Array(0);
  #next = new Int32Array(0);
  #prev = new Int32Array(0);
  /** Which level an order waits at: ladder * RANKS + rank, or `NO_ROW`. */
  #level = new Int32Array(0);
  #ladders = 0;

  /** Makes room for ladder numbers below `count`. */
  ensureLadders(count: number): void {
    if (count <= this.#ladders) return;
    const capacity = Math.max(count, this.#ladders * 2, 16);
    this.#head = grown(this.#head, new Int32Array(capacity * RANKS).fill(NO_ROW));
    this.#tail = grown(this.#tail, new Int32Array(capacity * RANKS).fill(NO_ROW));
    this.#bits = grown(this.#bits, new Uint32Array(capacity * WORDS));
    this.#best = grown(this.#best, new Uint8Array(capacity));
    this.#ladders = capacity;
  }

  /** The highest rank at which an order waits; 0 when none does. */
  best(ladder: number): number {
    return this.#best[ladder]!;
  }

  /** The first order in time at a rank, or `NO_ROW`. */
  first(ladder: number, rank: number): number {
    return this.#head[ladder * RANKS + rank]!;
  }

  /** The next order in time at the same rank, or `NO_ROW`. */
  after(order: number): number {
    return this.#next[order]!;
  }

  isWaiting(order: number): boolean {
    return order < this.#level.length && this.#level[order] !== NO_ROW;
  }

  /** The highest rank below `rank` at which an order waits; 0 when none does. */
  rankBelow(ladder: number, rank: number): number {
    const base = ladder * WORDS;
    let word = rank >>> 5;
    let bits = this.#bits[base + word]! & ((1 << (rank & 31)) - 1);
    while (bits === 0) {
      if (word === 0) return 0;
      bits = this.#bits[base + --word]!;
    }
    return (word << 5) + 31 - Math.clz32(bits);
  }

  /** Puts an order last in time at a rank. */
  add(ladder: number, rank: number, order: number): void {
    if (order >= this.#level.length) this.#growOrders(order + 1);
    const level = ladder * RANKS + rank;
    const tail = this.#tail[level]!;
    this.#next[order] = NO_ROW;
    this.#prev[order] = tail;
    this.#level[order] = level;
    this.#tail[level] = order;
    if (tail !== NO_ROW) {
      this.#next[tail] = order;
      return;
    }
    this.#head[level] = order;
    this.#bits[ladder * WORDS + (rank >>> 5)]! |= 1 << (rank & 31);
    if (rank > this.#best[ladder]!) this.#best[ladder] = rank;
  }

  /** Takes an order away, wherever it waits. */
  remove(order: number): void {
    const level = this.#level[order]!;
    invariant(level !== NO_ROW, 'removed an order that waits nowhere');
    const next = this.#next[order]!;
    const prev = this.#prev[order]!;
    this.#level[order] = NO_ROW;
    if (prev === NO_ROW) this.#head[level] = next;
    else this.#next[prev] = next;
    if (next !== NO_ROW) {
      this.#prev[next] = prev;
      return;
    }
    this.#tail[level] = prev;
    if (prev === NO_ROW) this.#emptied(level);
  }

  #emptied(level: number): void {
    const ladder = (level / RANKS) | 0;
    const rank = level - ladder * RANKS;
    this.#bits[ladder * WORDS + (rank >>> 5)]! &= ~(1 << (rank & 31));
    if (this.#best[ladder] === rank) this.#best[ladder] = this.rankBelow(ladder, rank);
  }

  #growOrders(count: number): void {
    const capacity = Math.max(count, this.#level.length * 2, 128);
    this.#next = grown(this.#next, new Int32Array(capacity));
    this.#prev = grown(this.#prev, new Int32Array(capacity));
    this.#level = grown(this.#level, new Int32Array(capacity).fill(NO_ROW));
  }
}
