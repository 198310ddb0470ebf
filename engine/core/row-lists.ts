/**
 * Which rows of a table belong to an owner: an account's orders, a market's positions. Who joins is
 * written at the end of its owner's list. Who leaves is only counted: its place stays until the
 * list is full, and a walk tells it from the others by the row, which is free then, or another's,
 * or younger than it may be at that place. So a fill reads nothing of the rows beside its own.
 *
 * Invariant: rows join in the order of their sequence. Half of a list's places or more are taken by
 * rows that are there, or have been since it was last looked through; an empty list has none.
 */
import { Blocks } from './blocks.ts';
import type { F64Column, I32Column } from './columns.ts';
import { grown } from './table.ts';

/** Places within what is kept of an owner. */
const COUNT = 0;
const USED = 1;
const SIZE = 2;
const AT = 3;
const WORDS = 4;

type Rows = { isLive(row: number): boolean; readonly col: { readonly sequence: F64Column } };

export class RowLists {
  readonly #rows: Rows;
  readonly #sequence: F64Column;
  readonly #owners: I32Column;
  readonly #blocks = new Blocks();
  /** Of each owner: rows, places used, places, and where those begin. */
  #heads = new Int32Array(WORDS * 64);

  /** `owners`: the column that says whose a row is. */
  constructor(rows: Rows, owners: I32Column) {
    this.#rows = rows;
    this.#sequence = rows.col.sequence;
    this.#owners = owners;
  }

  count(owner: number): number {
    return this.#heads[owner * WORDS + COUNT] ?? 0;
  }

  /** A row that is in use, is the owner's, and has a higher sequence than all before it. */
  add(owner: number, row: number): void {
    const head = owner * WORDS;
    if (head >= this.#heads.length) this.#growHeads(head + WORDS);
    if (this.#heads[head + USED] === this.#heads[head + SIZE]) this.#makeRoom(owner, row);
    const heads = this.#heads;
    this.#blocks.places[heads[head + AT]! + heads[head + USED]!] = row;
    heads[head + USED]!++;
    heads[head + COUNT]!++;
  }

  /** One row has left the owner: it was given free, or is about to be. */
  remove(owner: number): void {
    const heads = this.#heads;
    const head = owner * WORDS;
    if (--heads[head + COUNT]! > 0) return;
    this.#blocks.give(heads[head + AT]!, heads[head + SIZE]!);
    heads[head + USED] = 0;
    heads[head + SIZE] = 0;
  }

  /** The owner's rows, newest first. */
  *of(owner: number): Generator<number> {
    yield* this.#below(owner, Infinity);
  }

  /** A word of what `add` is about to write: to be read ahead of time. */
  fetch(owner: number): number {
    const head = owner * WORDS;
    return this.#blocks.places[this.#heads[head + AT]! + this.#heads[head + USED]!] ?? 0;
  }

  *#below(owner: number, sequence: number): Generator<number> {
    if (this.count(owner) === 0) return;
    const head = owner * WORDS;
    const at = this.#heads[head + AT]!;
    const { places } = this.#blocks;
    let youngest = sequence;
    for (let place = at + this.#heads[head + USED]! - 1; place >= at; place--) {
      const row = places[place]!;
      if (!this.#rows.isLive(row) || this.#owners.get(row) !== owner) continue;
      // It was given to the owner anew, and has a later place too.
      if (this.#sequence.get(row) >= youngest) continue;
      youngest = this.#sequence.get(row);
      yield row;
    }
  }

  /** Takes twice the places, or those of rows that have left where they are half of all. */
  #makeRoom(owner: number, joining: number): void {
    const heads = this.#heads;
    const head = owner * WORDS;
    const size = heads[head + SIZE]!;
    if (size === 0) {
      heads[head + AT] = this.#blocks.take(1);
      heads[head + SIZE] = 1;
    } else if (heads[head + COUNT]! * 2 > size) {
      heads[head + AT] = this.#blocks.doubled(heads[head + AT]!, size);
      heads[head + SIZE] = size * 2;
    } else {
      const rows = [...this.#below(owner, this.#sequence.get(joining))].reverse();
      this.#blocks.places.set(rows, heads[head + AT]!);
      heads[head + USED] = rows.length;
    }
  }

  #growHeads(length: number): void {
    this.#heads = grown(this.#heads, new Int32Array(Math.max(length, this.#heads.length * 2)));
  }
}
