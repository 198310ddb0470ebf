/**
 * One series of a market: full blocks on disk, and after them the records of the unfinished block,
 * in memory. Records have numbers, which count on from block to block. Dropped or lost records
 * leave a hole.
 */
import { invariant } from '../base/invariant.ts';
import { firstIndex, lowerBound } from '../base/sorted.ts';
import type { EpochMs, MarketNumber } from '../base/units.ts';
import type { Journaled } from './journal.ts';
import { BLOCK_RECORDS, widthOf } from './kinds.ts';
import type { Columns } from './record-columns.ts';
import type { StoredBlock } from './segments.ts';
import { Tail, type TailPart } from './tail.ts';

/** Consecutive records: from `from` to before `end` of these columns. */
export type Part = { columns: Columns; from: number; end: number; first: number };

/** The place of some records in their series. */
type Records = Pick<StoredBlock, 'first' | 'records' | 'firstMs' | 'lastMs'>;

/**
 * Missing records: their numbers, from `first` to before `end`, and the times of their neighbours.
 */
export type Hole = { first: number; end: number; fromMs: EpochMs; toMs: EpochMs };

export type ReadBlock = (block: StoredBlock) => Float64Array[];

export class Series implements Journaled {
  readonly kind: number;
  readonly market: MarketNumber;
  journal: object | null = null;
  readonly last: number[];
  /** How many of the newest records the journal does not have yet. They are not packed either. */
  unwritten = 0;
  readonly #blocks: StoredBlock[] = [];
  readonly #read: ReadBlock;
  readonly #tail: Tail;
  /** The number of the first record of the tail. */
  #tailFirst = 0;

  constructor(kind: number, market: MarketNumber, read: ReadBlock) {
    this.kind = kind;
    this.market = market;
    this.last = new Array(widthOf(kind)).fill(0);
    this.#read = read;
    this.#tail = new Tail(widthOf(kind));
  }

  /** Of records in the unfinished block. */
  get tailLength(): number {
    return this.#tail.length;
  }

  get tailFirst(): number {
    return this.#tailFirst;
  }

  /** The number that the next record gets. */
  get next(): number {
    return this.#tailFirst + this.tailLength;
  }

  get isEmpty(): boolean {
    return this.#blocks.length === 0 && this.tailLength === 0;
  }

  /** Whether it ended with a block that has room left. A lost record is no such end. */
  get isAtRest(): boolean {
    const last = this.#blocks.at(-1);
    if (last === undefined || this.tailLength > 0) return false;
    return last.records < BLOCK_RECORDS && endOf(last) === this.#tailFirst;
  }

  get lastMs(): EpochMs {
    return this.#tail.lastMs ?? this.#blocks.at(-1)?.lastMs ?? 0;
  }

  /** The time of the first record that is kept; null without one. */
  get firstMs(): EpochMs | null {
    return this.#blocks[0]?.firstMs ?? this.#tail.firstMs ?? null;
  }

  /** The number of the first record that is kept. */
  get first(): number {
    return this.#blocks[0]?.first ?? this.#tailFirst;
  }

  /**
   * Blocks that are on disk already, in any order. @returns blocks whose records other blocks have
   * too
   */
  restore(blocks: readonly StoredBlock[]): StoredBlock[] {
    invariant(this.isEmpty, 'blocks are restored after others');
    const twice: StoredBlock[] = [];
    for (const block of [...blocks].sort((a, b) => a.first - b.first || b.records - a.records)) {
      const before = this.#blocks.at(-1);
      if (before !== undefined && endOf(before) > block.first) twice.push(block);
      else this.addBlock(block);
    }
    return twice;
  }

  /** Where blocks have no records between them, with the blocks around. */
  holes(): Hole[] {
    const holes: Hole[] = [];
    for (const [at, next] of this.#blocks.entries()) {
      const before = this.#blocks[at - 1];
      if (before === undefined || endOf(before) === next.first) continue;
      holes.push({
        first: endOf(before),
        end: next.first,
        fromMs: before.lastMs,
        toMs: next.firstMs,
      });
    }
    return holes;
  }

  /** A block whose place is between others, or before all. */
  insert(block: StoredBlock): void {
    const at = firstIndex(this.#blocks, ({ first }) => first > block.first);
    const [before, next] = [this.#blocks[at - 1], this.#blocks[at]];
    invariant(block.records > 0, 'a block without records is put among others');
    const fits =
      (before === undefined || endOf(before) <= block.first) &&
      endOf(block) <= (next?.first ?? this.#tailFirst);
    invariant(fits, 'a block is put where others have its records');
    this.#blocks.splice(at, 0, block);
  }

  /**
   * Takes out a block that cannot be read. @returns the time of the first record after it; null:
   * none
   */
  remove(block: StoredBlock): EpochMs | null {
    const at = this.#blocks.indexOf(block);
    invariant(at !== -1, 'a block is lost twice');
    this.#blocks.splice(at, 1);
    return this.#blocks[at]?.firstMs ?? this.#tail.firstMs ?? null;
  }

  /** Blocks that were dropped as too old, and came back with their file after a crash. */
  forgetBefore(number: number): void {
    const kept = this.#blocks.findIndex((block) => endOf(block) > number);
    this.#blocks.splice(0, kept === -1 ? this.#blocks.length : kept);
  }

  /** A block that is on disk already. */
  addBlock(block: StoredBlock): void {
    const before = this.#blocks.at(-1);
    const isBehind = before === undefined || endOf(before) <= block.first;
    invariant(isBehind, 'a block has records that an earlier one has too');
    invariant(this.tailLength === 0, 'a block is added after an unfinished one');
    this.#blocks.push(block);
    this.#tailFirst = endOf(block);
  }

  /** The next record gets this number: the records before it were dropped or lost. */
  skipTo(number: number): void {
    invariant(this.tailLength === 0, 'numbers are skipped within a block');
    invariant(number >= this.#tailFirst, 'numbers of a series go back');
    this.#tailFirst = number;
  }

  /** @returns whether the newest records must be packed before the next one. */
  push(values: readonly number[]): boolean {
    invariant(values[0]! >= this.lastMs, 'the time of a series goes back');
    invariant(values.length === this.last.length, 'a series gets a record of another width');
    invariant(!this.isFull, 'a block has too many records');
    return this.#tail.push(values) || this.isFull;
  }

  /** Whether the unfinished block has all its records. */
  get isFull(): boolean {
    return this.tailLength === BLOCK_RECORDS;
  }

  /** The newest records, value after value. */
  get loose(): readonly number[] {
    return this.#tail.loose;
  }

  /** The place in `loose` from which on the journal does not have the records yet. */
  get unwrittenFrom(): number {
    return (this.#tail.looseRecords - this.unwritten) * this.last.length;
  }

  pack(): void {
    invariant(this.unwritten === 0, 'records are packed before the journal has them');
    this.#tail.pack();
  }

  /** Few records follow, or none. */
  rest(): void {
    this.#tail.rest();
  }

  get tail(): Columns {
    return this.#tail.columns();
  }

  /** The unfinished block is on disk now. */
  sealed(block: StoredBlock): void {
    invariant(block.records === this.tailLength, 'another block was written');
    invariant(this.unwritten === 0, 'a block is full before the journal has its records');
    this.#tail.clear();
    this.addBlock(block);
  }

  /** Forgets the blocks that end before a moment, and the unfinished one if it does. */
  dropBefore(beforeMs: EpochMs): void {
    const kept = this.#blocks.findIndex(({ lastMs }) => lastMs >= beforeMs);
    this.#blocks.splice(0, kept === -1 ? this.#blocks.length : kept);
    if (this.#blocks.length > 0 || this.tailLength === 0 || this.lastMs >= beforeMs) return;
    invariant(this.unwritten === 0, 'records are dropped before the journal has them');
    this.#tailFirst = this.next;
    this.#tail.clear();
  }

  /** The blocks with the records of a window and the record before it, and a copy of the tail. */
  stored(fromMs: EpochMs, toMs: EpochMs): { blocks: StoredBlock[]; tail: Columns } {
    const begins = firstIndex(this.#blocks, ({ firstMs }) => firstMs >= fromMs);
    const ends = firstIndex(this.#blocks, ({ firstMs }) => firstMs >= toMs);
    const blocks = this.#blocks.slice(Math.max(0, begins - 1), ends);
    return { blocks, tail: this.#tail.columns() };
  }

  /** The last record before a moment; null without one. */
  before(ms: EpochMs): number[] | null {
    for (const { columns, end } of this.backward(ms)) {
      return columns.map((values) => values[end - 1]!);
    }
    return null;
  }

  /**
   * For each moment the place of its last record, null without one. Consecutive moments in one part
   * cost one reading of it.
   */
  *lastBy(moments: Iterable<EpochMs>): Generator<{ columns: Columns; at: number } | null> {
    let part: Part | undefined;
    for (const ms of moments) {
      if (part === undefined || !this.#hasLastBy(part, ms)) {
        part = this.backward(ms + 1).next().value as Part | undefined;
      }
      if (part === undefined) yield null;
      else yield { columns: part.columns, at: lowerBound(part.columns[0]!, ms + 1) - 1 };
    }
  }

  /**
   * Whether the last record by a moment is in that part. The next part may begin at the part's end
   * time.
   */
  #hasLastBy({ columns, first }: Part, ms: EpochMs): boolean {
    const times = columns[0]!;
    const isNewest = first + times.length === this.next;
    return times[0]! <= ms && (isNewest || ms < times[times.length - 1]!);
  }

  newest(): number[] | null {
    return this.before(Number.POSITIVE_INFINITY);
  }

  /** The records from a moment on, in order. */
  *forward(fromMs: EpochMs): Generator<Part> {
    yield* this.#forward(
      ({ lastMs }) => lastMs >= fromMs,
      ({ columns }) => lowerBound(columns[0]!, fromMs),
    );
  }

  /** The records from a number on, in order. */
  *fromNumber(number: number): Generator<Part> {
    yield* this.#forward(
      ({ first, records }) => first + records > number,
      ({ first }) => Math.max(0, number - first),
    );
  }

  *#forward(
    reaches: (block: Records) => boolean,
    startOf: (part: Omit<Part, 'from'>) => number,
  ): Generator<Part> {
    for (let at = firstIndex(this.#blocks, reaches); at < this.#blocks.length; at++) {
      const block = this.#blocks[at]!;
      const part = { columns: this.#read(block), end: block.records, first: block.first };
      const from = startOf(part);
      if (from < part.end) yield { ...part, from };
    }
    for (const records of this.#tailParts()) {
      if (!reaches(records)) continue;
      const part = { columns: records.columns(), end: records.records, first: records.first };
      const from = startOf(part);
      if (from < part.end) yield { ...part, from };
    }
  }

  /** The records before a moment, the newest part first; each part is in order. */
  *backward(beforeMs: EpochMs): Generator<Part> {
    yield* this.#backward(
      ({ firstMs }) => firstMs >= beforeMs,
      ({ columns }) => lowerBound(columns[0]!, beforeMs),
    );
  }

  /** The records before a number, the newest part first; each part is in order. */
  *beforeNumber(number: number): Generator<Part> {
    yield* this.#backward(
      ({ first }) => first >= number,
      ({ first, end }) => Math.min(end, number - first),
    );
  }

  *#backward(
    isBehind: (block: Records) => boolean,
    endOf: (part: Omit<Part, 'from'>) => number,
  ): Generator<Part> {
    for (const records of this.#tailParts().reverse()) {
      if (isBehind(records)) continue;
      const part = { columns: records.columns(), end: records.records, first: records.first };
      const end = endOf(part);
      if (end > 0) yield { ...part, from: 0, end };
    }
    for (let at = firstIndex(this.#blocks, isBehind) - 1; at >= 0; at--) {
      const block = this.#blocks[at]!;
      const part = { columns: this.#read(block), end: block.records, first: block.first };
      yield { ...part, from: 0, end: endOf(part) };
    }
  }

  /** Of the unfinished block, with their numbers in the series. */
  #tailParts(): TailPart[] {
    const first = this.#tailFirst;
    return this.#tail.parts().map((part) => ({ ...part, first: first + part.first }));
  }
}

const endOf = ({ first, records }: Records): number => first + records;
