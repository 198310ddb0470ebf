/**
 * What an order keeps of its account's realism, for unfinished orders that have anything else than
 * the preset `simple`: a row for each. So an order under `simple` takes no bytes here. An order under
 * latency is pending until it meets the book. Rules T158, T159 (engine/RULES.md).
 */

import { invariant } from '../base/invariant.ts';
import {
  type EpochMs,
  type Liquidity,
  NO_ROW,
  type OrderRow,
  PLAIN,
  type PlacedUnder,
  type PriceCents,
} from '../base/units.ts';
import { SparseRows } from './sparse-rows.ts';
import { Table } from './table.ts';

export const REALISM_COLUMNS = {
  /** When it meets the book; 0: it has. */
  arrivesAtMs: 'f64',
  /** When its cancel meets the book; 0: nobody has canceled it. */
  cancelsAtMs: 'f64',
  /** Its place in the order of arrivals, among sequences of placements; 0: it has not arrived. */
  arrival: 'f64',
  order: 'i32',
  latencyMs: 'u32',
  bits: 'u8',
  /** Of a market order; 0: none. Other orders never rest with a bound. */
  boundPriceCents: 'u8',
  /** The index of its time in force and one more; 0: a market order. */
  timeInForce: 'u8',
} as const;

const BITS = { feesOn: 1, market: 2, realistic: 4 } as const;

type RealismRow = number & { readonly __unit: 'RealismRow' };
type Units = {
  order: OrderRow;
  arrivesAtMs: EpochMs;
  cancelsAtMs: EpochMs;
  boundPriceCents: PriceCents;
};

/** The terms that an order has only while it is pending. */
export type PendingTerms = {
  arrivesAtMs: EpochMs;
  boundPriceCents: PriceCents | null;
  timeInForce: number;
};

export class OrderRealism {
  readonly table: Table<typeof REALISM_COLUMNS, Record<never, never>, RealismRow, Units> =
    new Table('realism', REALISM_COLUMNS, {}, 'order');
  readonly #rows = new SparseRows<OrderRow, RealismRow>();

  of(order: OrderRow): PlacedUnder {
    const row = this.#rows.of(order);
    if (row === NO_ROW) return PLAIN;
    const { latencyMs, bits } = this.table.col;
    const flags = bits.get(row);
    return {
      latencyMs: latencyMs.get(row),
      feesOn: (flags & BITS.feesOn) !== 0,
      liquidity: (flags & BITS.market) === 0 ? 'account' : 'market',
      realistic: (flags & BITS.realistic) !== 0,
    };
  }

  /** Whether the fills of an unfinished order cost the venue's fees. */
  feesOn(order: OrderRow): boolean {
    return this.#has(order, BITS.feesOn);
  }

  /** Who shares displayed sizes with it. */
  liquidity(order: OrderRow): Liquidity {
    return this.#has(order, BITS.market) ? 'market' : 'account';
  }

  isRealistic(order: OrderRow): boolean {
    return this.#has(order, BITS.realistic);
  }

  /** 0: it met the book when it was placed. */
  latencyMs(order: OrderRow): number {
    const row = this.#rows.of(order);
    return row === NO_ROW ? 0 : this.table.col.latencyMs.get(row);
  }

  /** When a pending order meets the book; 0: it is not pending. */
  arrivesAtMs(order: OrderRow): EpochMs {
    const row = this.#rows.of(order);
    return row === NO_ROW ? 0 : this.table.col.arrivesAtMs.get(row);
  }

  /** When its cancel meets the book; 0: it has none. */
  cancelsAtMs(order: OrderRow): EpochMs {
    const row = this.#rows.of(order);
    return row === NO_ROW ? 0 : this.table.col.cancelsAtMs.get(row);
  }

  boundPriceCents(order: OrderRow): PriceCents | null {
    const row = this.#rows.of(order);
    return row === NO_ROW ? null : this.table.col.boundPriceCents.get(row) || null;
  }

  /** One more than the index of its time in force; 0: a market order. */
  timeInForce(order: OrderRow): number {
    const row = this.#rows.of(order);
    invariant(row !== NO_ROW, 'the time in force of an order is read that keeps none');
    return this.table.col.timeInForce.get(row);
  }

  /** Keeps what an order was placed under; `pending` null: it has met the book. */
  keep(order: OrderRow, under: PlacedUnder, pending: PendingTerms | null): void {
    invariant(this.#rows.of(order) === NO_ROW, 'an order was placed twice');
    invariant(under.latencyMs > 0 === (pending !== null), 'an order waits without latency');
    const row = this.table.claim();
    const to = this.table.change(row);
    to.order.set(row, order);
    to.latencyMs.set(row, under.latencyMs);
    to.bits.set(
      row,
      (under.feesOn ? BITS.feesOn : 0) |
        (under.liquidity === 'market' ? BITS.market : 0) |
        (under.realistic ? BITS.realistic : 0),
    );
    to.arrivesAtMs.set(row, pending?.arrivesAtMs ?? 0);
    to.cancelsAtMs.set(row, 0);
    to.arrival.set(row, 0);
    to.boundPriceCents.set(row, pending?.boundPriceCents ?? 0);
    to.timeInForce.set(row, pending?.timeInForce ?? 0);
    this.#show(row);
  }

  /** Its place among orders that met the book when they were placed; 0: it is as it was placed. */
  arrival(order: OrderRow): number {
    const row = this.#rows.of(order);
    return row === NO_ROW ? 0 : this.table.col.arrival.get(row);
  }

  /** It has met the book. */
  arrived(order: OrderRow, arrival: number): void {
    const row = this.#rows.of(order);
    invariant(row !== NO_ROW, 'an order meets the book that was not pending');
    const to = this.table.change(row);
    to.arrivesAtMs.set(row, 0);
    to.arrival.set(row, arrival);
  }

  /** It was amended, and meets the book again then. */
  arrivesAgain(order: OrderRow, arrivesAtMs: EpochMs): void {
    const row = this.#rows.of(order);
    invariant(row !== NO_ROW, 'an amended order waits that has no latency');
    this.table.change(row).arrivesAtMs.set(row, arrivesAtMs);
  }

  /** Its owner has canceled it, and the cancel meets the book then. */
  cancelAt(order: OrderRow, cancelsAtMs: EpochMs): void {
    const row = this.#rows.of(order);
    invariant(row !== NO_ROW, 'a cancel waits whose order has no latency');
    this.table.change(row).cancelsAtMs.set(row, cancelsAtMs);
  }

  /** Nothing of it falls due later than its latency from now. */
  waitAtMost(order: OrderRow, nowMs: EpochMs): void {
    const row = this.#rows.of(order);
    invariant(row !== NO_ROW, 'an order waits that has no latency');
    const { arrivesAtMs, cancelsAtMs, latencyMs } = this.table.change(row);
    const mostMs = nowMs + latencyMs.get(row);
    if (arrivesAtMs.get(row) > mostMs) arrivesAtMs.set(row, mostMs);
    if (cancelsAtMs.get(row) > mostMs) cancelsAtMs.set(row, mostMs);
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

  /** Every order that was placed under latency, read from the rows alone. */
  *delayedOrders(): Generator<OrderRow> {
    const { latencyMs, order } = this.table.col;
    for (const row of this.table.rows()) if (latencyMs.get(row) > 0) yield order.get(row);
  }

  /** After a load. */
  rebuild(): void {
    for (const row of this.table.rows()) this.#show(row);
  }

  #has(order: OrderRow, bit: number): boolean {
    const row = this.#rows.of(order);
    return row !== NO_ROW && (this.table.col.bits.get(row) & bit) !== 0;
  }

  #show(row: RealismRow): void {
    this.#rows.set(this.table.col.order.get(row), row);
  }
}
