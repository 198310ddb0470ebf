/**
 * One value of each row of a table, where rows lie one after another in one buffer. The value of
 * the next row is `stride` values further. Each type of value has its own class, because V8's code
 * for a method is fast only while the method has seen one kind of array. With four classes from one
 * function a tick with fills, ledger and facts took twice the CPU (bench tick, five pairs: 0.50
 * million ticks a CPU second where a tenth fills, and 0.98 with these).
 */

/** The layout of rows in one buffer: where a column is in the first row, and how long a row is. */
export type ColumnOffset = { offset: number; rowBytes: number };

export class F64Column {
  readonly #offset: number;
  #stride = 0;
  #values = new Float64Array(0);

  constructor({ offset, rowBytes }: ColumnOffset) {
    this.#offset = offset;
    this.#stride = rowBytes / Float64Array.BYTES_PER_ELEMENT;
  }

  get(row: number): number {
    return this.#values[row * this.#stride]!;
  }

  set(row: number, value: number): void {
    this.#values[row * this.#stride] = value;
  }

  add(row: number, difference: number): void {
    this.#values[row * this.#stride]! += difference;
  }

  /** Uses this buffer from now on. */
  moveTo(buffer: ArrayBuffer): void {
    this.#values = new Float64Array(buffer, this.#offset);
  }
}

export class U32Column {
  readonly #offset: number;
  #stride = 0;
  #values = new Uint32Array(0);

  constructor({ offset, rowBytes }: ColumnOffset) {
    this.#offset = offset;
    this.#stride = rowBytes / Uint32Array.BYTES_PER_ELEMENT;
  }

  get(row: number): number {
    return this.#values[row * this.#stride]!;
  }

  set(row: number, value: number): void {
    this.#values[row * this.#stride] = value;
  }

  add(row: number, difference: number): void {
    this.#values[row * this.#stride]! += difference;
  }

  moveTo(buffer: ArrayBuffer): void {
    this.#values = new Uint32Array(buffer, this.#offset);
  }
}

export class I32Column {
  readonly #offset: number;
  #stride = 0;
  #values = new Int32Array(0);

  constructor({ offset, rowBytes }: ColumnOffset) {
    this.#offset = offset;
    this.#stride = rowBytes / Int32Array.BYTES_PER_ELEMENT;
  }

  get(row: number): number {
    return this.#values[row * this.#stride]!;
  }

  set(row: number, value: number): void {
    this.#values[row * this.#stride] = value;
  }

  add(row: number, difference: number): void {
    this.#values[row * this.#stride]! += difference;
  }

  moveTo(buffer: ArrayBuffer): void {
    this.#values = new Int32Array(buffer, this.#offset);
  }
}

export class U8Column {
  readonly #offset: number;
  #stride = 0;
  #values = new Uint8Array(0);

  constructor({ offset, rowBytes }: ColumnOffset) {
    this.#offset = offset;
    this.#stride = rowBytes;
  }

  get(row: number): number {
    return this.#values[row * this.#stride]!;
  }

  set(row: number, value: number): void {
    this.#values[row * this.#stride] = value;
  }

  add(row: number, difference: number): void {
    this.#values[row * this.#stride]! += difference;
  }

  moveTo(buffer: ArrayBuffer): void {
    this.#values = new Uint8Array(buffer, this.#offset);
  }
}

/** The four words of a uuid (ids.ts), one after another. */
export class UuidColumn {
  readonly #offset: number;
  #stride = 0;
  #words = new Uint32Array(0);

  constructor({ offset, rowBytes }: ColumnOffset) {
    this.#offset = offset;
    this.#stride = rowBytes / Uint32Array.BYTES_PER_ELEMENT;
  }

  word(row: number, word: 0 | 1 | 2 | 3): number {
    return this.#words[row * this.#stride + word]!;
  }

  set(row: number, w0: number, w1: number, w2: number, w3: number): void {
    const words = this.#words;
    const at = row * this.#stride;
    words[at] = w0;
    words[at + 1] = w1;
    words[at + 2] = w2;
    words[at + 3] = w3;
  }

  moveTo(buffer: ArrayBuffer): void {
    this.#words = new Uint32Array(buffer, this.#offset);
  }
}

/** Reads a column: the value of each row, in the column's unit. */
export interface Values<Row extends number, Unit extends number> {
  get(row: Row): Unit;
}
/** Changes a column. Only `Table.change` returns the stored ones. */
export interface WritableValues<Row extends number, Unit extends number> extends Values<Row, Unit> {
  set(row: Row, value: Unit): void;
  add(row: Row, difference: Unit): void;
}
/** The same for a column of uuids. */
export interface Ids<Row extends number> {
  word(row: Row, word: 0 | 1 | 2 | 3): number;
}
export interface WritableIds<Row extends number> extends Ids<Row> {
  set(row: Row, w0: number, w1: number, w2: number, w3: number): void;
}

/** By the name that a schema and a stored layout use; widest first, so that each is aligned. */
export const COLUMNS = {
  uuid: UuidColumn,
  f64: F64Column,
  u32: U32Column,
  i32: I32Column,
  u8: U8Column,
} as const;
export type ColumnType = keyof typeof COLUMNS;
export const WIDTHS: Readonly<Record<ColumnType, number>> = {
  uuid: 16,
  f64: 8,
  u32: 4,
  i32: 4,
  u8: 1,
};
