/**
 * What a netting order keeps while it is not done: how much of it closes what the other side holds,
 * and what it has traded. Other orders read that from their position, and a netting order may have
 * traded in many. A row for each, so any other order takes no bytes here. Rules T190 to T193
 * (engine/RULES.md).
 */

import { invariant } from '../base/invariant.ts';
import {
  type Cents,
  type Contracts,
  NO_ROW,
  type OrderRow,
  type PlacedNetting,
  type PositionRow,
} from '../base/units.ts';
import { SparseRows } from './sparse-rows.ts';
import { Table } from './table.ts';

export const NET_COLUMNS = {
  /** What its fills have cost so far, in terms of the side that it buys. */
  filledCents: 'f64',
  /** Of the trade that it has opened last; the row of that may be another trade's by now. */
  openedSequence: 'f64',
  order: 'i32',
  opened: 'i32',
  /** Of what is left: how much closes. No other order closes these contracts. */
  closes: 'u32',
  filled: 'u32',
  asked: 'u32',
  opens: 'u8',
  /** Of its first fill. */
  venue: 'u8',
} as const;

type NetRow = number & { readonly __unit: 'NetRow' };
type Units = {
  filledCents: Cents;
  order: OrderRow;
  opened: PositionRow;
  closes: Contracts;
  filled: Contracts;
  asked: Contracts;
};

export class NetOrders {
  readonly table: Table<typeof NET_COLUMNS, Record<never, never>, NetRow, Units> = new Table(
    'nets',
    NET_COLUMNS,
    {},
    'order',
  );
  readonly #rows = new SparseRows<OrderRow, NetRow>();
  /** What the next fill of an order does: it closes contracts of a trade, or opens one. */
  #next: { order: OrderRow; closes: PositionRow | null; contracts: Contracts } | null = null;

  /** Whether any order has ever netted. */
  get isUsed(): boolean {
    return this.table.size > 0;
  }

  has(order: OrderRow): boolean {
    return this.#rows.has(order);
  }

  /** As it was placed, with what still closes; null: it nets nothing. */
  of(order: OrderRow): PlacedNetting | null {
    if (!this.has(order)) return null;
    const row = this.#rowOf(order);
    const { opens, closes, asked } = this.table.col;
    return { opens: opens.get(row) === 1, closes: closes.get(row), asked: asked.get(row) };
  }

  opens(order: OrderRow): boolean {
    return this.table.col.opens.get(this.#rowOf(order)) === 1;
  }

  /** How much of what is left closes; 0 for an order that nets nothing. */
  closes(order: OrderRow): Contracts {
    return this.has(order) ? this.table.col.closes.get(this.#rowOf(order)) : 0;
  }

  filled(order: OrderRow): { contracts: Contracts; cents: Cents; venue: number } {
    const row = this.#rowOf(order);
    const { filled, filledCents, venue } = this.table.col;
    return { contracts: filled.get(row), cents: filledCents.get(row), venue: venue.get(row) };
  }

  /** The trade that it has opened last, if `sequence` is still that of its row. */
  opened(order: OrderRow): { position: PositionRow; sequence: number } {
    const row = this.#rowOf(order);
    const { opened, openedSequence } = this.table.col;
    return { position: opened.get(row), sequence: openedSequence.get(row) };
  }

  begin(order: OrderRow, { opens, closes, asked }: PlacedNetting): void {
    invariant(!this.has(order), 'an order nets twice');
    const row = this.table.claim();
    const to = this.table.change(row);
    to.filledCents.set(row, 0);
    to.openedSequence.set(row, 0);
    to.order.set(row, order);
    to.opened.set(row, NO_ROW as PositionRow);
    to.closes.set(row, closes);
    to.filled.set(row, 0);
    to.asked.set(row, asked);
    to.opens.set(row, opens ? 1 : 0);
    to.venue.set(row, 0);
    this.#show(row);
  }

  /** The next fill of the order closes contracts of this trade; null: it opens one. */
  expect(order: OrderRow, closes: PositionRow | null, contracts: Contracts): void {
    invariant(this.has(order), 'an order is told what it nets, and nets nothing');
    invariant(this.#next === null, 'two fills are told before the first');
    this.#next = { order, closes, contracts };
  }

  /** Takes a fill that was told before. @returns the trade that it closes; null: it opens one. */
  fill(order: OrderRow, contracts: Contracts, cents: Cents, venue: number): PositionRow | null {
    const next = this.#next;
    this.#next = null;
    const isTold = next !== null && next.order === order && next.contracts === contracts;
    invariant(isTold, 'a fill of a netting order was not told before');
    const row = this.#rowOf(order);
    const to = this.table.change(row);
    if (to.filled.get(row) === 0) to.venue.set(row, venue);
    to.filled.add(row, contracts);
    to.filledCents.add(row, cents);
    if (next.closes !== null) to.closes.set(row, Math.max(0, to.closes.get(row) - contracts));
    else invariant(to.closes.get(row) === 0, 'an order opens before it has closed all');
    return next.closes;
  }

  noteOpened(order: OrderRow, position: PositionRow, sequence: number): void {
    const row = this.#rowOf(order);
    const to = this.table.change(row);
    to.opened.set(row, position);
    to.openedSequence.set(row, sequence);
  }

  /** So many contracts are left: what opens goes first. */
  lessen(order: OrderRow, left: Contracts): void {
    if (!this.has(order)) return;
    const row = this.#rowOf(order);
    const { closes } = this.table.change(row);
    closes.set(row, Math.min(closes.get(row), left));
  }

  /** The order is done. */
  end(order: OrderRow): void {
    if (!this.has(order)) return;
    this.table.release(this.#rowOf(order));
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

  #rowOf(order: OrderRow): NetRow {
    const row = this.#rows.of(order);
    invariant(row !== NO_ROW, 'what an order nets is read, and it nets nothing');
    return row;
  }

  #show(row: NetRow): void {
    this.#rows.set(this.table.col.order.get(row), row);
  }
}
