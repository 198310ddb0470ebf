/**
 * The records of an unfinished block, in memory. All but the newest are packed a piece at a time,
 * as a block's records are. So thousands of unfinished blocks take little memory, even when nearly
 * full.
 */
import type { EpochMs } from '../base/units.ts';
import { type Columns, packRecords, unpackColumns, unpackInto } from './record-columns.ts';

/** How many of the newest records are kept as numbers, about equal in each kind of series. */
const LOOSE_VALUES = 320;

/** Consecutive records of one block; `first` counts from its start. */
export type TailPart = {
  first: number;
  records: number;
  firstMs: EpochMs;
  lastMs: EpochMs;
  columns(): Columns;
};

/** Records as `packRecords` makes them. */
type Piece = Omit<TailPart, 'columns'> & { bytes: Uint8Array };

export class Tail {
  readonly #width: number;
  #pieces: Piece[] = [];
  #packed = 0;
  /** The newest records, value after value: as many as `#length` says. */
  #loose: number[] = [];
  #length = 0;
  /** The time of the newest record; a number throughout, which is written in place. */
  #lastMs: EpochMs = 0;

  /** `width`: the numbers of a record, the first of which is its time. */
  constructor(width: number) {
    this.#width = width;
  }

  get length(): number {
    return this.#packed + this.#length;
  }

  /** The time of the first record; undefined without one. */
  get firstMs(): EpochMs | undefined {
    return this.#pieces[0]?.firstMs ?? (this.#length > 0 ? this.#loose[0] : undefined);
  }

  get lastMs(): EpochMs | undefined {
    return this.length > 0 ? this.#lastMs : undefined;
  }

  /** The newest records, value after value; `looseRecords` of them. */
  get loose(): readonly number[] {
    return this.#loose;
  }

  get looseRecords(): number {
    return this.#length;
  }

  /** @returns whether the newest records must be packed before the next one. */
  push(values: readonly number[]): boolean {
    const loose = this.#loose;
    const width = this.#width;
    let at = this.#length * width;
    for (let column = 0; column < width; column++) loose[at++] = values[column]!;
    this.#length++;
    this.#lastMs = values[0]!;
    return at + width > LOOSE_VALUES;
  }

  /** The newest records go to the others. */
  pack(): void {
    if (this.#length === 0) return;
    const bytes = Uint8Array.from(packRecords(this.#loose, this.#width, this.#length));
    this.#pieces.push({ ...this.#newest(), bytes });
    this.#packed += this.#length;
    this.#length = 0;
  }

  /** Gives back the room of records that may never come. */
  rest(): void {
    this.#loose = this.#loose.slice(0, this.#length * this.#width);
  }

  /** Forgets all records. Copies that were taken remain unchanged. */
  clear(): void {
    this.#pieces = [];
    this.#packed = 0;
    this.#length = 0;
  }

  /** All records, in order; later records do not change them. */
  parts(): TailPart[] {
    const parts = this.#pieces.map(({ bytes, ...place }) => {
      return { ...place, columns: () => unpackColumns(bytes, this.#width, place.records) };
    });
    if (this.#length === 0) return parts;
    const columns = this.#newColumns(this.#length);
    this.#copyLoose(columns, 0);
    return [...parts, { ...this.#newest(), columns: () => columns }];
  }

  /** All records. */
  columns(): Columns {
    const all = this.#newColumns(this.length);
    for (const { first, records, bytes } of this.#pieces) unpackInto(all, first, bytes, records);
    this.#copyLoose(all, this.#packed);
    return all;
  }

  #newColumns(records: number): Float64Array[] {
    return Array.from({ length: this.#width }, () => new Float64Array(records));
  }

  #copyLoose(columns: readonly Float64Array[], first: number): void {
    const loose = this.#loose;
    const width = this.#width;
    for (const [column, values] of columns.entries()) {
      for (let at = 0; at < this.#length; at++) values[first + at] = loose[at * width + column]!;
    }
  }

  #newest(): Omit<TailPart, 'columns'> {
    const times = { firstMs: this.#loose[0]!, lastMs: this.#lastMs };
    return { first: this.#packed, records: this.#length, ...times };
  }
}
