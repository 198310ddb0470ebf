/**
 * A table whose rows lie one after another in one buffer. A row costs only the bytes of its
 * columns, and reading all of a row waits for memory once or twice. Row numbers are small integers
 * and are reused after release. A checkpoint writes the stored columns of changed rows
 * (row-changes.ts). Derived columns are rebuilt from them after a load.
 */

import { invariant } from '../base/invariant.ts';
import { grown } from '../base/typed-arrays.ts';
import { NO_ROW } from '../base/units.ts';
import {
  COLUMNS,
  type ColumnType,
  type I32Column,
  type Ids,
  type Values,
  type WritableIds,
  type WritableValues,
} from './columns.ts';
import { RowChanges } from './row-changes.ts';
import { ROW_WORDS_MAX } from './row-pages.ts';
import { type Places, placesOf, type Schema, WORD_BYTES } from './row-places.ts';

type Column<T extends ColumnType> = InstanceType<(typeof COLUMNS)[T]>;
/** Units of columns, by name; columns without one are plain numbers. */
type Units = object;
type UnitOf<U extends Units, K> = K extends keyof U
  ? U[K] extends number
    ? U[K]
    : number
  : number;
type Readable<S extends Schema, Row extends number, U extends Units> = {
  readonly [K in keyof S]: S[K] extends 'uuid' ? Ids<Row> : Values<Row, UnitOf<U, K>>;
};
type Writable<S extends Schema, Row extends number, U extends Units> = {
  readonly [K in keyof S]: S[K] extends 'uuid'
    ? WritableIds<Row>
    : WritableValues<Row, UnitOf<U, K>>;
};
/** Names of columns that can contain the chain of free rows. */
type ChainOf<S extends Schema> = { [K in keyof S]: S[K] extends 'i32' ? K : never }[keyof S];

const FIRST_CAPACITY = 128;

/** A table's part of a checkpoint head. */
export type TableHead = { size: number; live: number; freeHead: number };

/** `Row`: the type of its row numbers, so that rows of different tables cannot be confused. */
export class Table<
  Stored extends Schema,
  Derived extends Schema,
  Row extends number = number,
  U extends Units = Units,
> {
  readonly name: string;
  /** Every column, read-only. */
  readonly col: Readable<Stored, Row, U> & Readable<Derived, Row, U>;
  /** Derived columns, writable: checkpoints do not need to know. */
  readonly derived: Writable<Derived, Row, U>;
  readonly #stored: Writable<Stored, Row, U>;
  /** Rows ever used; every row number is below it. */
  size = 0;
  /** Rows in use now. */
  live = 0;
  capacity = 0;
  #freeHead: number = NO_ROW;
  /** 0 or more: the row is in use. Otherwise it is `linkTo` the next free row. */
  readonly #chain: I32Column;
  readonly #columns: ReadonlyMap<string, Column<ColumnType>>;
  readonly #places: Places;
  #words = new Uint32Array(0);
  readonly #changes: RowChanges;

  /**
   * `chain`: a stored column that is never negative in a row in use, and so can contain the chain
   * of free rows. A table without such a column has an extra column for the chain.
   */
  constructor(name: string, stored: Stored, derived: Derived, chain?: ChainOf<Stored>) {
    this.name = name;
    this.#places = placesOf(chain === undefined ? { ...stored, chain: 'i32' } : stored, derived);
    const { storedWords } = this.#places;
    invariant(storedWords <= ROW_WORDS_MAX, 'a row has more words than a page can say');
    this.#changes = new RowChanges(storedWords);
    const columns = new Map<string, Column<ColumnType>>();
    for (const { key, type, offset } of this.#places.columns) {
      columns.set(key, new COLUMNS[type]({ offset, rowBytes: this.#places.rowBytes }));
    }
    // One object with three types.
    const all: unknown = Object.fromEntries(columns);
    this.#columns = columns;
    this.col = all as typeof this.col;
    this.derived = all as typeof this.derived;
    this.#stored = all as Writable<Stored, Row, U>;
    this.#chain = columns.get((chain ?? 'chain') as string) as I32Column;
    this.#grow(FIRST_CAPACITY);
  }

  /** The row that the next `claim` returns. */
  get nextRow(): Row {
    return (this.#freeHead === NO_ROW ? this.size : this.#freeHead) as Row;
  }

  /** Starts to use a row. Its columns still have the values of its last use. */
  claim(): Row {
    const row = this.nextRow;
    if (this.#freeHead !== NO_ROW) {
      const link = this.#chain.get(row);
      invariant(link < 0, 'the chain of free rows leads to a row in use');
      this.#freeHead = linkedTo(link);
    } else {
      if (row === this.capacity) this.#grow(this.capacity * 2);
      this.size++;
    }
    this.#mark(row);
    this.#chain.set(row, 0);
    this.live++;
    return row;
  }

  release(row: Row): void {
    invariant(this.isLive(row), 'released a free row');
    this.#mark(row);
    this.#chain.set(row, linkTo(this.#freeHead));
    this.#freeHead = row;
    this.live--;
  }

  isLive(row: number): row is Row {
    return row >= 0 && row < this.size && this.#chain.get(row) >= 0;
  }

  /** A word from each end of a row, to prefetch it (prefetch.ts). */
  prefetch(row: Row): number {
    const words = this.#words;
    const { rowWords } = this.#places;
    return words[row * rowWords]! ^ words[(row + 1) * rowWords - 1]!;
  }

  /**
   * The stored columns, writable in this row, which the next checkpoint then writes. There is
   * no other way to write them. It checks one byte; when each column checked it, a
   * fill took a tenth longer.
   */
  change(row: Row): Writable<Stored, Row, U> {
    invariant(this.isLive(row), 'changed a free row');
    this.#mark(row);
    return this.#stored;
  }

  #mark(row: number): void {
    this.#changes.mark(row, this.#words, this.#places.rowWords);
  }

  /** Every row in use, in row order. */
  *rows(): Generator<Row> {
    for (let row = 0; row < this.size; row++) if (this.#chain.get(row) >= 0) yield row as Row;
  }

  head(): TableHead {
    return { size: this.size, live: this.live, freeHead: this.#freeHead };
  }

  /** Each violated invariant of the rows in use and the chain of free rows. */
  *problems(): Generator<string> {
    let live = 0;
    for (const _ of this.rows()) live++;
    if (live !== this.live) yield `${this.name}: ${live} rows are in use, not ${this.live}`;
    const chained = new Uint8Array(this.size);
    let free = 0;
    for (let row = this.#freeHead; row !== NO_ROW; row = linkedTo(this.#chain.get(row))) {
      if (row < 0 || row >= this.size || this.#chain.get(row) >= 0 || chained[row] === 1) {
        yield `${this.name} row ${row}: is no free row, and the chain of free rows leads to it`;
        return;
      }
      chained[row] = 1;
      free++;
    }
    const lost = this.size - live - free;
    if (lost !== 0) yield `${this.name}: ${lost} free rows are not in the chain of free rows`;
  }

  /** Begins the checkpoint with this number, which writes the rows as they are now. */
  beginCheckpoint(checkpoint: number): void {
    this.#changes.begin(checkpoint, this.size);
  }

  /** Puts rows of the checkpoint into a page from `at` on; returns their end: `at` when done. */
  takeRows(page: Uint32Array, at: number): number {
    return this.#changes.take(page, at, this.#rows);
  }

  /** Loads rows of a page, after `loadHead`. The caller rebuilds the derived columns. */
  loadRows(page: Uint32Array): void {
    this.#changes.load(page, this.#rows, this.size);
  }

  /** Call this when all pages are loaded. Throws if a row was in no page. */
  endLoad(): void {
    const row = this.#changes.endLoad(this.size);
    invariant(row === this.size, `${this.name}: row ${row} is in no page`);
  }

  loadHead(head: TableHead): void {
    invariant(this.size === 0, 'a table is loaded over rows that it has');
    while (this.capacity < head.size) this.#grow(this.capacity * 2);
    this.size = head.size;
    this.live = head.live;
    this.#freeHead = head.freeHead;
  }

  /** Bytes of the buffer, free rows included. */
  get bytes(): number {
    return this.#words.byteLength;
  }

  /**
   * `account@24:i32,…`: the places of stored columns. A data directory can only be read with the
   * columns that wrote it.
   */
  get layout(): string {
    const { columns, storedWords } = this.#places;
    const stored = columns.filter(({ isStored }) => isStored);
    const places = stored.map(({ key, type, offset }) => `${key}@${offset}:${type}`);
    return [...places, `${storedWords * WORD_BYTES} bytes`].join(',');
  }

  get #rows() {
    return { words: this.#words, rowWords: this.#places.rowWords };
  }

  #grow(capacity: number): void {
    this.#words = grown(this.#words, new Uint32Array(capacity * this.#places.rowWords));
    for (const column of this.#columns.values()) column.moveTo(this.#words.buffer);
    this.#changes.grow(capacity);
    this.capacity = capacity;
  }
}

/** The chain column of a free row. It is its own inverse, and negative for every row. */
function linkTo(nextFree: number): number {
  return NO_ROW - 1 - nextFree;
}
const linkedTo = linkTo;
