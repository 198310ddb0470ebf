/**
 * What unfinished orders keep beyond their rows, if it is anything: post-only, their order group, and
 * of an amended order where it was placed. Most orders have none of it and take no bytes here.
 * Checkpoints write it. Rules T205, T209, T217 (engine/RULES.md).
 */

import { invariant } from '../base/invariant.ts';
import { NO_ROW, type OrderRow } from '../base/units.ts';
import type { GroupRow } from './order-groups.ts';
import { SparseRows } from './sparse-rows.ts';
import { Table } from './table.ts';

export const MARK_COLUMNS = {
  /** The place in the log at which an amended order was placed; below 0: it was not amended. */
  placedRecord: 'f64',
  /** Its place in the order of arrivals, once an amend moved it; 0: none has. */
  arrival: 'f64',
  order: 'i32',
  /** `NO_ROW`: it is of no group. */
  group: 'i32',
  placedOffset: 'u32',
  postOnly: 'u8',
} as const;

type MarkRow = number & { readonly __unit: 'MarkRow' };
type Units = { order: OrderRow; group: GroupRow };
type Place = { record: number; offset: number };

const NO_GROUP = NO_ROW as GroupRow;
const NOT_AMENDED = -1;

export class OrderMarks {
  readonly table: Table<typeof MARK_COLUMNS, Record<never, never>, MarkRow, Units> = new Table(
    'order_marks',
    MARK_COLUMNS,
    {},
    'order',
  );
  readonly #rows = new SparseRows<OrderRow, MarkRow>();

  /** Whether it may only rest, and not take. */
  postOnly(order: OrderRow): boolean {
    const row = this.#rows.of(order);
    return row !== NO_ROW && this.table.col.postOnly.get(row) === 1;
  }

  /** `NO_ROW`: it is of none. */
  group(order: OrderRow): GroupRow {
    const row = this.#rows.of(order);
    return row === NO_ROW ? NO_GROUP : this.table.col.group.get(row);
  }

  /** Where an amended order was placed; null: it was not amended. */
  placedAt(order: OrderRow): Place | null {
    const row = this.#rows.of(order);
    if (row === NO_ROW) return null;
    const { placedRecord, placedOffset } = this.table.col;
    const record = placedRecord.get(row);
    return record === NOT_AMENDED ? null : { record, offset: placedOffset.get(row) };
  }

  /** Its place among orders that met the book when they were placed; 0: no amend has moved it. */
  arrival(order: OrderRow): number {
    const row = this.#rows.of(order);
    return row === NO_ROW ? 0 : this.table.col.arrival.get(row);
  }

  /** An order is placed that has any of both. */
  keep(order: OrderRow, { postOnly, group }: { postOnly: boolean; group: GroupRow }): void {
    invariant(this.#rows.of(order) === NO_ROW, 'an order was placed twice');
    const row = this.#claim(order);
    const to = this.table.change(row);
    to.postOnly.set(row, postOnly ? 1 : 0);
    to.group.set(row, group);
  }

  /** An order that was placed there is amended. `arrival` null: it keeps its place on its book. */
  amended(order: OrderRow, { record, offset }: Place, arrival: number | null): void {
    let row = this.#rows.of(order);
    if (row === NO_ROW) row = this.#claim(order);
    const to = this.table.change(row);
    to.placedRecord.set(row, record);
    to.placedOffset.set(row, offset);
    if (arrival !== null) to.arrival.set(row, arrival);
  }

  /** Its group is gone. */
  leaveGroup(order: OrderRow): void {
    const row = this.#rows.of(order);
    invariant(row !== NO_ROW, 'an order leaves a group that is of none');
    this.table.change(row).group.set(row, NO_GROUP);
  }

  /** The order is done. */
  remove(order: OrderRow): void {
    const row = this.#rows.of(order);
    if (row === NO_ROW) return;
    this.table.release(row);
    this.#rows.remove(order);
  }

  /** Every order that has a row. */
  *orders(): Generator<OrderRow> {
    for (const row of this.table.rows()) yield this.table.col.order.get(row);
  }

  /** After a load. */
  rebuild(): void {
    for (const row of this.table.rows()) this.#show(row);
  }

  #claim(order: OrderRow): MarkRow {
    const row = this.table.claim();
    const to = this.table.change(row);
    to.placedRecord.set(row, NOT_AMENDED);
    to.arrival.set(row, 0);
    to.order.set(row, order);
    to.group.set(row, NO_GROUP);
    to.placedOffset.set(row, 0);
    to.postOnly.set(row, 0);
    this.#show(row);
    return row;
  }

  #show(row: MarkRow): void {
    this.#rows.set(this.table.col.order.get(row), row);
  }
}
