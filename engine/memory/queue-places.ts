/**
 * The places of resting orders in the queues of their prices: how much is ahead of each, and what
 * has traded of its next contract, both in hundredths of a contract. The present place moves with
 * the venue's book, many times a second. A place that was noted (T154, engine/RULES.md) is in a
 * table, which checkpoints write.
 */

import { invariant } from '../base/invariant.ts';
import { type ContractsE2, NO_ROW, type OrderRow } from '../base/units.ts';
import { grown, Table } from './table.ts';

export const QUEUE_COLUMNS = { aheadE2: 'f64', order: 'i32', partE2: 'u8' } as const;

type QueueRow = number & { readonly __unit: 'QueueRow' };
type Units = { order: OrderRow; aheadE2: ContractsE2; partE2: ContractsE2 };

/** The present places lie beside each other by order, so that a change of one reads one line. */
const WORDS = 4;
const AHEAD = 0;
/** If less than this is ahead, the place is noted again. */
const NOTE_BELOW = 1;
const PART = 2;
/** Tells an order from a later one in the same row. */
const TURN = 3;
/** In place of `AHEAD`: the order is in no queue. */
const NOT_QUEUED = -1;

export class QueuePlaces {
  readonly table: Table<typeof QUEUE_COLUMNS, Record<never, never>, QueueRow, Units> = new Table(
    'queue',
    QUEUE_COLUMNS,
    {},
    'order',
  );
  #present = new Float64Array(0);
  /** The row of the noted place, by order. */
  #rows = new Int32Array(0);
  #turns = 0;

  has(order: OrderRow): boolean {
    const at = order * WORDS;
    return at < this.#present.length && this.#present[at + AHEAD]! !== NOT_QUEUED;
  }

  /** Hundredths ahead of it now; below 0: it is in no queue. */
  aheadE2(order: OrderRow): ContractsE2 {
    const at = order * WORDS;
    return at < this.#present.length ? this.#present[at + AHEAD]! : NOT_QUEUED;
  }

  /** Hundredths of its next contract that have traded. */
  partE2(order: OrderRow): ContractsE2 {
    return this.#present[order * WORDS + PART]!;
  }

  /** Differs for each order that was ever in a queue. */
  turnOf(order: OrderRow): number {
    return this.#present[order * WORDS + TURN]!;
  }

  /** Of an order that is in a queue. */
  setAheadE2(order: OrderRow, aheadE2: ContractsE2): void {
    this.#present[order * WORDS + AHEAD] = aheadE2;
  }

  setPartE2(order: OrderRow, partE2: ContractsE2): void {
    this.#present[order * WORDS + PART] = partE2;
  }

  /** Whether the place has more than halved since it was noted. */
  isFarFromNoted(order: OrderRow): boolean {
    const at = order * WORDS;
    return this.#present[at + AHEAD]! < this.#present[at + NOTE_BELOW]!;
  }

  /** Whether the place is the noted one. */
  isNoted(order: OrderRow): boolean {
    const { aheadE2, partE2 } = this.noted(order);
    return aheadE2 === this.aheadE2(order) && partE2 === this.partE2(order);
  }

  /** The noted place. */
  noted(order: OrderRow): { aheadE2: ContractsE2; partE2: ContractsE2 } {
    invariant(this.has(order), 'the place of an order is read that is in no queue');
    const row = this.#rowOf(order);
    return { aheadE2: this.table.col.aheadE2.get(row), partE2: this.table.col.partE2.get(row) };
  }

  /** Notes the present place of an order; the first note puts it into its queue. */
  note(order: OrderRow, aheadE2: ContractsE2, partE2: ContractsE2): void {
    invariant(aheadE2 >= 0 && partE2 >= 0 && partE2 < 100, 'an order has no such place in a queue');
    const isNew = !this.has(order);
    const row = isNew ? this.table.claim() : this.#rowOf(order);
    const to = this.table.change(row);
    to.order.set(row, order);
    to.aheadE2.set(row, aheadE2);
    to.partE2.set(row, partE2);
    this.#show(row);
    if (isNew) this.#present[order * WORDS + TURN] = ++this.#turns;
  }

  /** The order is done, or in no queue. */
  remove(order: OrderRow): void {
    if (!this.has(order)) return;
    this.table.release(this.#rowOf(order));
    this.#present[order * WORDS + AHEAD] = NOT_QUEUED;
  }

  /** Every order in a queue. */
  *orders(): Generator<OrderRow> {
    for (const row of this.table.rows()) yield this.table.col.order.get(row);
  }

  /** After a load, each place is the noted one. */
  rebuild(): void {
    for (const row of this.table.rows()) {
      this.#show(row);
      this.#present[this.table.col.order.get(row) * WORDS + TURN] = ++this.#turns;
    }
  }

  #rowOf(order: OrderRow): QueueRow {
    return this.#rows[order]! as QueueRow;
  }

  #show(row: QueueRow): void {
    const { order: orders, aheadE2, partE2 } = this.table.col;
    const order = orders.get(row);
    invariant(order !== NO_ROW, 'a place in a queue belongs to no order');
    const at = order * WORDS;
    if (at >= this.#present.length) this.#grow(order + 1);
    this.#present[at + AHEAD] = aheadE2.get(row);
    this.#present[at + NOTE_BELOW] = aheadE2.get(row) / 2;
    this.#present[at + PART] = partE2.get(row);
    this.#rows[order] = row;
  }

  #grow(orders: number): void {
    const capacity = Math.max(orders, (this.#present.length / WORDS) * 2, 128);
    const present = new Float64Array(capacity * WORDS).fill(NOT_QUEUED);
    present.set(this.#present);
    this.#present = present;
    this.#rows = grown(this.#rows, new Int32Array(capacity));
  }
}
