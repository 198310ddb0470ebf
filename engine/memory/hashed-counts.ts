/**
 * How many rows of a table have a key, at most. A hash of the key chooses a place, which rows of other
 * keys may share. So 0 is certain, and spares a walk over an owner's rows.
 *
 * Rows are counted from the first question on: a table that nobody asks about costs nothing.
 *
 * Invariant: a place has the number of rows that are in use and whose keys lead to it.
 */
import { invariant } from '../base/invariant.ts';

const PLACE_BITS = 18;

type Rows<Row extends number> = { rows(): Iterable<Row> };

export class HashedCounts<Row extends number> {
  readonly #table: Rows<Row>;
  readonly #hashOf: (row: Row) => number;
  #counts: Uint32Array | null = null;

  /** `hashOf`: 32 bits of the key of a row, the upper ones the best. The key of a row never changes. */
  constructor(table: Rows<Row>, hashOf: (row: Row) => number) {
    this.#table = table;
    this.#hashOf = hashOf;
  }

  atMost(hash: number): number {
    this.#counts ??= this.#count();
    return this.#counts[hash >>> (32 - PLACE_BITS)]!;
  }

  /** Counts a row that has come into use, with its key. */
  add(row: Row): void {
    if (this.#counts !== null) this.#counts[this.#placeOf(row)]!++;
  }

  /** Counts a row out that is about to be released. */
  remove(row: Row): void {
    if (this.#counts === null) return;
    const place = this.#placeOf(row);
    invariant(this.#counts[place]! > 0, 'a row leaves that was never counted');
    this.#counts[place]!--;
  }

  #count(): Uint32Array {
    const counts = new Uint32Array(2 ** PLACE_BITS);
    for (const row of this.#table.rows()) counts[this.#placeOf(row)]!++;
    return counts;
  }

  #placeOf(row: Row): number {
    return this.#hashOf(row) >>> (32 - PLACE_BITS);
  }
}
