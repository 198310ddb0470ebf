/**
 * The records of an unfinished block, in memory: packed as a block's are, a piece at a time, but for
 * the newest. So thousands of unfinished blocks take little, and not ever more until each is full.
 */
import type { EpochMs } from '../rules/units.ts';
import { type Columns, packColumns, unpackColumns } from './record-columns.ts';

/** Numbers of the newest records, about as many in each kind of series. */
const LOOSE_VALUES = 320;

/** Records that lie behind each other in one block; `first` counts from its start. */
export type TailPart = {
  first: number;
  records: number;
  firstMs: EpochMs;
  lastMs: EpochMs;
  columns(): Columns;
};

export class Tail {
  readonly #width: number;
  readonly #pieces: TailPart[] = [];
  #packed = 0;
  /** The newest records, value behind value. */
  #loose: number[] = [];

  /** `width`: the numbers of a record, the first of which is its time. */
  constructor(width: number) {
    this.#width = width;
  }

  get length(): number {
    return this.#packed + this.#looseRecords;
  }

  /** The time of the first record; undefined without one. */
  get firstMs(): EpochMs | undefined {
    return this.#pieces[0]?.firstMs ?? this.#loose[0];
  }

  get lastMs(): EpochMs | undefined {
    const loose = this.#loose;
    return loose.length > 0 ? loose[loose.length - this.#width] : this.#pieces.at(-1)?.lastMs;
  }

  push(values: readonly number[]): void {
    for (const value of values) this.#loose.push(value);
    if (this.#loose.length + this.#width > LOOSE_VALUES) this.#pack();
  }

  /** All records, in order; what comes later does not change them. */
  parts(): TailPart[] {
    return this.#loose.length === 0 ? [...this.#pieces] : [...this.#pieces, this.#newest()];
  }

  /** All records. */
  columns(): Columns {
    const all = Array.from({ length: this.#width }, () => new Float64Array(this.length));
    for (const { first, columns } of this.parts()) {
      for (const [column, values] of columns().entries()) all[column]!.set(values, first);
    }
    return all;
  }

  get #looseRecords(): number {
    return this.#loose.length / this.#width;
  }

  #newest(): TailPart {
    const loose = this.#loose;
    const width = this.#width;
    const columns = Array.from({ length: width }, (_, column) => {
      const values = new Float64Array(this.#looseRecords);
      for (let at = 0; at < values.length; at++) values[at] = loose[at * width + column]!;
      return values;
    });
    const times = { firstMs: loose[0]!, lastMs: loose[loose.length - width]! };
    const records = this.#looseRecords;
    return { first: this.#packed, records, ...times, columns: () => columns };
  }

  #pack(): void {
    const { first, records, firstMs, lastMs, columns } = this.#newest();
    const bytes = Uint8Array.from(packColumns(columns()));
    const unpack = () => unpackColumns(bytes, this.#width, records);
    this.#pieces.push({ first, records, firstMs, lastMs, columns: unpack });
    this.#packed += records;
    this.#loose = [];
  }
}
