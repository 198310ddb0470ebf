/**
 * What orders or trades pay in fees, for those that pay any: a row each, found by the row of its
 * order or trade. Checkpoints write it. Rules M14 to M16 (engine/RULES.md).
 */

import { invariant } from '../base/invariant.ts';
import { type Cents, NO_ROW } from '../base/units.ts';
import { SparseRows } from './sparse-rows.ts';
import { Table } from './table.ts';

export const FEE_COLUMNS = {
  /** Charged so far; below zero: rebates. */
  feesCents: 'f64',
  /** Of a resting buy: held for each contract that is left. */
  eachMicros: 'f64',
  /** Charged beyond the venue's own fees, below a cent. */
  carryMicros: 'u32',
  /** The row of the order or trade. */
  of: 'i32',
} as const;

type FeeRow = number & { readonly __unit: 'FeeRow' };
type Units = { feesCents: Cents };

export class FeeRows<Row extends number> {
  readonly table: Table<typeof FEE_COLUMNS, Record<never, never>, FeeRow, Units>;
  readonly #rows = new SparseRows<Row, FeeRow>();

  constructor(name: string) {
    this.table = new Table(name, FEE_COLUMNS, {}, 'of');
  }

  has(of: Row): boolean {
    return this.#rows.has(of);
  }

  /** Null: it pays no fees. */
  feesCents(of: Row): Cents | null {
    return this.has(of) ? this.table.col.feesCents.get(this.#rowOf(of)) : null;
  }

  eachMicros(of: Row): number {
    return this.has(of) ? this.table.col.eachMicros.get(this.#rowOf(of)) : 0;
  }

  carryMicros(of: Row): number {
    return this.has(of) ? this.table.col.carryMicros.get(this.#rowOf(of)) : 0;
  }

  /** It pays fees from now on. */
  begin(of: Row, eachMicros: number): void {
    invariant(!this.has(of), 'fees begin twice');
    const row = this.table.claim();
    const to = this.table.change(row);
    to.of.set(row, of);
    to.feesCents.set(row, 0);
    to.eachMicros.set(row, eachMicros);
    to.carryMicros.set(row, 0);
    this.#note(of, row);
  }

  /** A fill was charged. */
  charge(of: Row, feeCents: Cents, carryMicros: number): void {
    const row = this.#rowOf(of);
    const to = this.table.change(row);
    to.feesCents.add(row, feeCents);
    to.carryMicros.set(row, carryMicros);
  }

  /** An amended buy holds so much for each contract that is left. */
  holdEach(of: Row, eachMicros: number): void {
    const row = this.#rowOf(of);
    this.table.change(row).eachMicros.set(row, eachMicros);
  }

  /** The order or trade is over. */
  end(of: Row): void {
    if (!this.has(of)) return;
    this.table.release(this.#rowOf(of));
    this.#rows.remove(of);
  }

  /** The orders or trades that pay fees. */
  *rows(): Generator<Row> {
    for (const row of this.table.rows()) yield this.table.col.of.get(row) as Row;
  }

  /** After a load. */
  rebuild(): void {
    for (const row of this.table.rows()) this.#note(this.table.col.of.get(row) as Row, row);
  }

  #rowOf(of: Row): FeeRow {
    const row = this.#rows.of(of);
    invariant(row !== NO_ROW, 'fees are read of what pays none');
    return row;
  }

  #note(of: Row, row: FeeRow): void {
    invariant((of as number) !== NO_ROW, 'fees belong to nothing');
    this.#rows.set(of, row);
  }
}
