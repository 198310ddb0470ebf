/**
 * Which rows of a table belong to an owner: an account's orders, a market's positions. A row that
 * joins is written at the end of its owner's list. A row that leaves is only counted: its place
 * stays until the list is full. A walk skips such a place, because the row there is free, or has
 * another owner, or has joined again at a later place. So a fill reads no other row of the list.
 *
 * Invariants: rows join in the order of their sequence. A list takes at most four times the places
 * of the most rows that it has had since it was last empty; an empty one takes none.
 */
import { BlockAllocator } from './block-allocator.ts';
import type { F64Column, I32Column } from './columns.ts';
import { grown } from './table.ts';

/** Places within what is kept of an owner. */
const COUNT = 0;
const NEXT = 1;
const END = 2;
const SIZE = 3;
const WORDS = 4;

type Rows = { isLive(row: number): boolean; readonly col: { readonly sequence: F64Column } };

export class OwnerIndex {
  readonly #rows: Rows;
  readonly #sequence: F64Column;
  readonly #owners: I32Column;
  readonly #blocks = new BlockAllocator();
  /** Of each owner: its rows; the place of the next one, and the block's end; the block's size. */
  #heads = new Int32Array(0);

  /** `owners`: the column with the owner of each row. */
  constructor(rows: Rows, owners: I32Column) {
    this.#rows = rows;
    this.#sequence = rows.col.sequence;
    this.#owners = owners;
  }

  /** Grows to hold owners below `count`. */
  ensureOwners(count: number): void {
    if (count * WORDS <= this.#heads.length) return;
    const length = Math.max(count * WORDS, this.#heads.length * 2);
    this.#heads = grown(this.#heads, new Int32Array(length));
  }

  count(owner: number): number {
    return this.#heads[owner * WORDS + COUNT]!;
  }

  /** Adds a row, which is in use, is the owner's, and has a higher sequence than all before it. */
  add(owner: number, row: number): void {
    const head = owner * WORDS;
    const heads = this.#heads;
    if (heads[head + NEXT] === heads[head + END]) this.#makeRoom(owner, row);
    const place = heads[head + NEXT]!;
    this.#blocks.places[place] = row;
    heads[head + NEXT] = place + 1;
    heads[head + COUNT]!++;
  }

  /** One row leaves the owner: it has been released, or is about to be. */
  remove(owner: number): void {
    const heads = this.#heads;
    const head = owner * WORDS;
    if (--heads[head + COUNT]! > 0) return;
    const size = heads[head + SIZE]!;
    this.#blocks.give(heads[head + END]! - size, size);
    this.#setBlock(head, 0, 0, 0);
  }

  /** The owner's rows, newest first. */
  *of(owner: number): Generator<number> {
    yield* this.#below(owner, Infinity);
  }

  /** Reads a word of the place that `add` writes next (prefetch.ts). */
  prefetch(owner: number): number {
    return this.#blocks.places[this.#heads[owner * WORDS + NEXT]!] ?? 0;
  }

  *#below(owner: number, sequence: number): Generator<number> {
    if (this.count(owner) === 0) return;
    const head = owner * WORDS;
    const first = this.#heads[head + END]! - this.#heads[head + SIZE]!;
    const { places } = this.#blocks;
    let youngest = sequence;
    for (let place = this.#heads[head + NEXT]! - 1; place >= first; place--) {
      const row = places[place]!;
      if (!this.#rows.isLive(row) || this.#owners.get(row) !== owner) continue;
      // The row has joined the same owner again, and has a later place too.
      if (this.#sequence.get(row) >= youngest) continue;
      youngest = this.#sequence.get(row);
      yield row;
    }
  }

  /**
   * Makes space: drops the places of rows that have left where they are half of all, else doubles
   * the block.
   */
  #makeRoom(owner: number, joining: number): void {
    const heads = this.#heads;
    const head = owner * WORDS;
    const size = heads[head + SIZE]!;
    const at = heads[head + END]! - size;
    if (size === 0) {
      this.#setBlock(head, this.#blocks.take(1), 1, 0);
    } else if (heads[head + COUNT]! * 2 > size) {
      this.#setBlock(head, this.#blocks.doubled(at, size), size * 2, size);
    } else {
      const rows = [...this.#below(owner, this.#sequence.get(joining))].reverse();
      this.#blocks.places.set(rows, at);
      this.#setBlock(head, at, size, rows.length);
    }
  }

  #setBlock(head: number, at: number, size: number, used: number): void {
    this.#heads[head + NEXT] = at + used;
    this.#heads[head + END] = at + size;
    this.#heads[head + SIZE] = size;
  }
}
