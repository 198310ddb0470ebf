/**
 * The order book rebuilt order by order. A venue shows the size of a level, and not whose it is; an
 * addition is one order, so most cancels say which order they were. Rule X11 (feeds/FORMATS.md).
 */
import type { ContractsE2 } from '../../engine/base/units.ts';

/** How a cancel is read that may have been several orders, or parts of some. */
export type Reading = 'from_the_back' | 'from_the_front';

type Standing = { place: number; contracts: ContractsE2 };

/** The orders that rest at one price, the first in turn first. */
export class OrderQueue {
  readonly #reading: Reading;
  readonly #orders: Standing[] = [];

  constructor(reading: Reading) {
    this.#reading = reading;
  }

  /** `place`: later orders have a higher one. */
  add(place: number, contracts: ContractsE2): void {
    this.#orders.push({ place, contracts });
  }

  /** A trade takes the first in turn. */
  trade(contracts: ContractsE2): void {
    this.#take(contracts, 'from_the_front');
  }

  /**
   * An order of this size is gone. If several have it, or none, the reading decides.
   * @returns how many had it
   */
  cancel(contracts: ContractsE2): number {
    const same = this.#orders.filter((order) => order.contracts === contracts);
    const gone = this.#reading === 'from_the_back' ? same.at(-1) : same[0];
    if (gone === undefined) this.#take(contracts, this.#reading);
    else this.#orders.splice(this.#orders.indexOf(gone), 1);
    return same.length;
  }

  /** Contracts of orders with a lower place. */
  ahead(place: number): ContractsE2 {
    let sum = 0;
    for (const order of this.#orders) {
      if (order.place >= place) break;
      sum += order.contracts;
    }
    return sum;
  }

  #take(contracts: ContractsE2, from: Reading): void {
    let left = contracts;
    while (left > 0 && this.#orders.length > 0) {
      const order = from === 'from_the_back' ? this.#orders.at(-1)! : this.#orders[0]!;
      const taken = Math.min(left, order.contracts);
      left -= taken;
      order.contracts -= taken;
      if (order.contracts > 0) continue;
      if (from === 'from_the_back') this.#orders.pop();
      else this.#orders.shift();
    }
  }
}
