/** Counts of requests. Rules Q3, Q13 (api/RULES.md). */
import { grown } from '../../engine/base/typed-arrays.ts';
import type { Uuid } from '../../engine/base/units.ts';
import { REQUEST_COUNT, type RequestCount } from '../identity/control-format.ts';
import { PackedRows } from '../identity/packed-rows.ts';

/** Requests of one account or key in its month, and in the minute of the last one. */
export interface Count {
  readonly id: Uuid;
  readonly month: string;
  readonly inMonth: number;
  readonly minute: number;
  readonly inMinute: number;
  /** Since it was last written. */
  isChanged: boolean;
  /** What month and minute had after the last `add` here. */
  readonly monthAfter: number;
  readonly minuteAfter: number;
  within(minute: number): number;
  add(requests: number, minute: number): void;
  takeBack(requests: number, minute: number): void;
}

const [IN_MONTH, MINUTE, IN_MINUTE] = [16, 22, 26];

/**
 * The counts of a month of one thread alone, as rows of bytes: a server may have millions, and
 * garbage collection walks none of them. A row has the form of the disk. Rule A242 (api/RULES.md).
 */
export class OwnCounts {
  readonly month: string;
  readonly #rows = new PackedRows(REQUEST_COUNT.rowBytes);
  /** By row: 1 if it was changed since it was last written. */
  #changed = new Uint8Array(64);

  constructor(month: string) {
    this.month = month;
  }

  get(id: Uuid): OwnCount | undefined {
    const row = this.#rows.rowOf(id);
    return row === -1 ? undefined : new OwnCount(this, id, row);
  }

  /** A new count, which begins with what is stored of it. */
  begin(id: Uuid, stored: RequestCount | undefined): OwnCount {
    const row = this.#rows.claim(id);
    if (row >= this.#changed.length) {
      this.#changed = grown(this.#changed, new Uint8Array(this.#changed.length * 2));
    }
    if (stored !== undefined) {
      const { inMonth, minute, inMinute } = stored;
      this.set(row, inMonth, minute, inMinute);
    }
    return new OwnCount(this, id, row);
  }

  inMonth(row: number): number {
    return this.#rows.number(row, IN_MONTH, 6);
  }

  minute(row: number): number {
    return this.#rows.number(row, MINUTE, 4);
  }

  inMinute(row: number): number {
    return this.#rows.number(row, IN_MINUTE, 4);
  }

  set(row: number, inMonth: number, minute: number, inMinute: number): void {
    this.#rows.setNumber(row, IN_MONTH, 6, inMonth);
    this.#rows.setNumber(row, MINUTE, 4, minute);
    this.#rows.setNumber(row, IN_MINUTE, 4, inMinute);
  }

  isChanged(row: number): boolean {
    return this.#changed[row] === 1;
  }

  mark(row: number, isChanged: boolean): void {
    this.#changed[row] = isChanged ? 1 : 0;
  }
}

/** One of them: it has no state of its own. */
class OwnCount implements Count {
  readonly id: Uuid;
  readonly #counts: OwnCounts;
  readonly #row: number;

  constructor(counts: OwnCounts, id: Uuid, row: number) {
    this.id = id;
    this.#counts = counts;
    this.#row = row;
  }

  get month(): string {
    return this.#counts.month;
  }

  get inMonth(): number {
    return this.#counts.inMonth(this.#row);
  }

  get minute(): number {
    return this.#counts.minute(this.#row);
  }

  get inMinute(): number {
    return this.#counts.inMinute(this.#row);
  }

  get isChanged(): boolean {
    return this.#counts.isChanged(this.#row);
  }

  set isChanged(isChanged: boolean) {
    this.#counts.mark(this.#row, isChanged);
  }

  get monthAfter(): number {
    return this.inMonth;
  }

  get minuteAfter(): number {
    return this.inMinute;
  }

  within(minute: number): number {
    return this.minute === minute ? this.inMinute : 0;
  }

  add(requests: number, minute: number): void {
    const inMinute = this.within(minute) + requests;
    this.#counts.set(this.#row, this.inMonth + requests, minute, inMinute);
  }

  takeBack(requests: number, minute: number): void {
    const inMinute = this.inMinute - (this.minute === minute ? requests : 0);
    this.#counts.set(this.#row, this.inMonth - requests, this.minute, inMinute);
  }
}
