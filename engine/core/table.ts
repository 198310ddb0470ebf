/**
 * A table held as one typed array a column, so that a row costs the bytes of its columns and
 * nothing else. Rows are small integers and are used again after release. Stored columns are what
 * a checkpoint writes, page by page; derived columns are rebuilt from them after a load.
 */
import { invariant } from './invariant.ts';

const ARRAYS = {
  u8: Uint8Array,
  u32: Uint32Array,
  i32: Int32Array,
  f64: Float64Array,
} as const;
type ColumnType = keyof typeof ARRAYS;
type Schema = Record<string, ColumnType>;
type Column<T extends ColumnType> = InstanceType<(typeof ARRAYS)[T]>;
type Columns<S extends Schema> = { [K in keyof S]: Column<S[K]> };

/** Rows of one page: the unit that a checkpoint writes. */
export const PAGE_ROWS = 128;
const FIRST_CAPACITY = PAGE_ROWS;
/** In the `link` column: the row is in use. Otherwise it is the next free row, or `NO_ROW`. */
const IN_USE = -2;
export const NO_ROW = -1;

/** What a checkpoint keeps of a table beside its pages. */
export type TableHead = { size: number; live: number; freeHead: number };

export class Table<Stored extends Schema, Derived extends Schema> {
  readonly name: string;
  readonly col: Columns<Stored> & Columns<Derived>;
  /** Rows ever used; every row number is below it. */
  size = 0;
  /** Rows in use now. */
  live = 0;
  capacity = FIRST_CAPACITY;
  #freeHead = NO_ROW;
  #link = new Int32Array(FIRST_CAPACITY);
  #dirty = new Uint8Array(1);
  readonly #stored: Stored;
  readonly #schema: Stored & Derived;

  constructor(name: string, stored: Stored, derived: Derived) {
    this.name = name;
    this.#stored = stored;
    this.#schema = { ...stored, ...derived };
    const columns: Record<string, unknown> = {};
    for (const [key, type] of Object.entries(this.#schema)) {
      columns[key] = new ARRAYS[type as ColumnType](FIRST_CAPACITY);
    }
    this.col = columns as Columns<Stored> & Columns<Derived>;
  }

  /** The row that the next `claim` returns. */
  get nextRow(): number {
    return this.#freeHead === NO_ROW ? this.size : this.#freeHead;
  }

  /** Takes a row into use. Its columns hold whatever the last user left. */
  claim(): number {
    const row = this.nextRow;
    if (this.#freeHead !== NO_ROW) {
      this.#freeHead = this.#link[row]!;
    } else {
      if (row === this.capacity) this.#grow(this.capacity * 2);
      this.size++;
    }
    this.#link[row] = IN_USE;
    this.live++;
    this.touch(row);
    return row;
  }

  release(row: number): void {
    invariant(this.isLive(row), `${this.name}: released a free row`);
    this.#link[row] = this.#freeHead;
    this.#freeHead = row;
    this.live--;
    this.touch(row);
  }

  isLive(row: number): boolean {
    return row >= 0 && row < this.size && this.#link[row] === IN_USE;
  }

  /** Notes that a stored column of the row has changed. */
  touch(row: number): void {
    this.#dirty[(row / PAGE_ROWS) | 0] = 1;
  }

  /** Every row in use, in row order. */
  *rows(): Generator<number> {
    for (let row = 0; row < this.size; row++) if (this.#link[row] === IN_USE) yield row;
  }

  head(): TableHead {
    return { size: this.size, live: this.live, freeHead: this.#freeHead };
  }

  /** What does not hold of the rows in use and the chain of free ones. */
  *problems(): Generator<string> {
    let live = 0;
    for (const _ of this.rows()) live++;
    if (live !== this.live) yield `${this.name}: ${live} rows are in use, not ${this.live}`;
    const chained = new Uint8Array(this.size);
    let free = 0;
    for (let row = this.#freeHead; row !== NO_ROW; row = this.#link[row]!) {
      if (row < 0 || row >= this.size || this.#link[row] === IN_USE || chained[row] === 1) {
        yield `${this.name} row ${row}: is no free row, and the chain of free rows leads to it`;
        return;
      }
      chained[row] = 1;
      free++;
    }
    const lost = this.size - live - free;
    if (lost !== 0) yield `${this.name}: ${lost} free rows are not in the chain of free rows`;
  }

  /** Copies of the pages that changed since the last call, which are then clean. */
  takeDirtyPages(): { page: number; bytes: Uint8Array }[] {
    const pages: { page: number; bytes: Uint8Array }[] = [];
    for (let page = 0; page < this.#dirty.length; page++) {
      if (this.#dirty[page] === 0) continue;
      this.#dirty[page] = 0;
      pages.push({ page, bytes: this.#pageBytes(page) });
    }
    return pages;
  }

  /** Brings a stored page back. Derived columns are the caller's to rebuild. */
  loadPage(page: number, bytes: Uint8Array): void {
    const first = page * PAGE_ROWS;
    while (this.capacity < first + PAGE_ROWS) this.#grow(this.capacity * 2);
    invariant(bytes.length === this.pageBytes, `${this.name}: page ${page} has a wrong length`);
    let at = 0;
    for (const column of this.#storedColumns()) {
      const length = PAGE_ROWS * column.BYTES_PER_ELEMENT;
      const target = new Uint8Array(column.buffer, first * column.BYTES_PER_ELEMENT, length);
      target.set(bytes.subarray(at, at + length));
      at += length;
    }
  }

  loadHead(head: TableHead): void {
    while (this.capacity < head.size) this.#grow(this.capacity * 2);
    this.size = head.size;
    this.live = head.live;
    this.#freeHead = head.freeHead;
  }

  /** Stored pages that hold every row ever used. */
  get pages(): number {
    return Math.ceil(this.size / PAGE_ROWS);
  }

  /** Bytes of one stored page. */
  get pageBytes(): number {
    return this.#storedColumns().reduce((sum, c) => sum + PAGE_ROWS * c.BYTES_PER_ELEMENT, 0);
  }

  /** `link:i32,id0:u32,…`: what a data directory must have been written with. */
  get layout(): string {
    const columns = Object.entries(this.#stored).map(([key, type]) => `${key}:${type}`);
    return ['link:i32', ...columns].join(',');
  }

  #storedColumns() {
    const columns = Object.keys(this.#stored).map((key) => this.col[key as keyof Stored]);
    return [this.#link, ...columns] as Column<ColumnType>[];
  }

  #pageBytes(page: number): Uint8Array {
    const bytes = new Uint8Array(this.pageBytes);
    const first = page * PAGE_ROWS;
    let at = 0;
    for (const column of this.#storedColumns()) {
      const length = PAGE_ROWS * column.BYTES_PER_ELEMENT;
      bytes.set(new Uint8Array(column.buffer, first * column.BYTES_PER_ELEMENT, length), at);
      at += length;
    }
    return bytes;
  }

  #grow(capacity: number): void {
    const columns = this.col as Record<string, Column<ColumnType>>;
    for (const [key, type] of Object.entries(this.#schema)) {
      columns[key] = grown(columns[key]!, new ARRAYS[type as ColumnType](capacity));
    }
    this.#link = grown(this.#link, new Int32Array(capacity));
    this.#dirty = grown(this.#dirty, new Uint8Array(capacity / PAGE_ROWS));
    this.capacity = capacity;
  }
}

/** The larger array with the smaller one's content at its start. */
export function grown<T extends Column<ColumnType>>(from: Column<ColumnType>, to: T): T {
  to.set(from);
  return to;
}
