/**
 * For each order or trade that has a row in a table of its own kind: that row. Most have none, and
 * those take four bytes each up to the last that has one.
 */

import { grown } from '../base/typed-arrays.ts';
import { NO_ROW } from '../base/units.ts';

export class SparseRows<Of extends number, Row extends number> {
  /** One more than the row; 0: it has none. */
  #rows = new Int32Array(0);

  has(of: Of): boolean {
    return of < this.#rows.length && this.#rows[of] !== 0;
  }

  of(of: Of): Row | typeof NO_ROW {
    return of < this.#rows.length ? ((this.#rows[of]! - 1) as Row) : NO_ROW;
  }

  set(of: Of, row: Row): void {
    if (of >= this.#rows.length) {
      const capacity = Math.max(of + 1, this.#rows.length * 2, 128);
      this.#rows = grown(this.#rows, new Int32Array(capacity));
    }
    this.#rows[of] = row + 1;
  }

  /** Of one that has a row. */
  remove(of: Of): void {
    this.#rows[of] = 0;
  }
}
