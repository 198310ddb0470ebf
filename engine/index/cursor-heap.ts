/** Merges sorted sequences of entries: the first cursor is always at the smallest entry of all. */

import { invariant } from '../base/invariant.ts';

/** A position in a sorted sequence of entries. */
export type EntryCursor = {
  /** The current entry begins at the word `at`. */
  readonly words: Uint32Array;
  readonly at: number;
  /** Moves to the next entry; false: there is none. */
  next(): boolean;
};

/**
 * The order of entries: by rank, a number that is fast to compare. Among equal ranks by `compare`,
 * which is negative if the first entry precedes the second.
 */
export type EntryOrder = {
  rank(words: Uint32Array, at: number): number;
  compare(words: Uint32Array, at: number, other: Uint32Array, otherAt: number): number;
};

export class CursorHeap {
  readonly #heap: EntryCursor[];
  /** The rank of each entry, negated where the order descends. */
  readonly #ranks: Float64Array;
  readonly #order: EntryOrder;
  readonly #sign: 1 | -1;

  /** @param cursors each at an entry; the heap moves them */
  constructor(cursors: Iterable<EntryCursor>, order: EntryOrder, direction: 'up' | 'down') {
    this.#heap = [...cursors];
    this.#order = order;
    this.#sign = direction === 'up' ? 1 : -1;
    this.#ranks = Float64Array.from(this.#heap, (cursor) => this.#rankOf(cursor));
    for (let node = (this.#heap.length >> 1) - 1; node >= 0; node--) {
      this.#sink(node, this.#heap[node]!, this.#ranks[node]!);
    }
  }

  /** The cursor at the first entry; undefined: all cursors are at their end. */
  get first(): EntryCursor | undefined {
    return this.#heap[0];
  }

  /** Moves on to the next entry. */
  advance(): void {
    const heap = this.#heap;
    const first = heap[0];
    invariant(first !== undefined, 'a merge goes on after its end');
    if (first.next()) return this.#sink(0, first, this.#rankOf(first));
    const last = heap.pop()!;
    if (heap.length > 0) this.#sink(0, last, this.#ranks[heap.length]!);
  }

  #rankOf({ words, at }: EntryCursor): number {
    return this.#order.rank(words, at) * this.#sign;
  }

  /** Puts a cursor at a node, or below it until no child precedes it. */
  #sink(from: number, cursor: EntryCursor, rank: number): void {
    const heap = this.#heap;
    const ranks = this.#ranks;
    let node = from;
    for (let child = 2 * node + 1; child < heap.length; child = 2 * node + 1) {
      const other = child + 1;
      const isOther = other < heap.length && this.#isBefore(heap[other]!, ranks[other]!, child);
      if (isOther) child = other;
      if (rank < ranks[child]! || this.#isBefore(cursor, rank, child)) break;
      heap[node] = heap[child]!;
      ranks[node] = ranks[child]!;
      node = child;
    }
    heap[node] = cursor;
    ranks[node] = rank;
  }

  /** Whether the cursor precedes the one at a node. */
  #isBefore(cursor: EntryCursor, rank: number, node: number): boolean {
    if (rank !== this.#ranks[node]!) return rank < this.#ranks[node]!;
    const { words, at } = this.#heap[node]!;
    return this.#order.compare(cursor.words, cursor.at, words, at) * this.#sign < 0;
  }
}
