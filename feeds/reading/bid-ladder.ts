/**
 * Bids of one side of one market, kept by increments, and their shown part: whole cents, whole
 * contracts, the best twenty. The shown part is updated only where it changes. Rules B4, B5
 * (feeds/FORMATS.md).
 */

import {
  bidCentsOf,
  type ContractsE2,
  PAYOUT_CENTS,
  type PriceCents,
  type PriceE4,
} from '../../engine/base/units.ts';
import type { DepthLevel } from '../../engine/rules/messages.ts';
import { CONTRACTS_E2_MAX } from './decimal.ts';
import { DEPTH_LEVELS_MAX, wholeContracts } from './engine-ticks.ts';
import type { Level } from './venue.ts';

const NONE: readonly DepthLevel[] = [];
/** Prices in a cent. */
const FINER = 100;

export class BidLadder {
  /** Sizes at the whole cents. */
  readonly #atCents = new Float64Array(PAYOUT_CENTS);
  /** Sizes at prices between them; null until there is one. */
  #finer: Map<PriceE4, ContractsE2> | null = null;
  /** The sizes of all prices of a cent: the first array until a price is finer. */
  #byCent = this.#atCents;
  #length = 0;
  #bestPrice: PriceE4 | null = null;
  /** The cent of the last level that is shown; 0 with fewer than twenty: all are. */
  #floorCents = 0;
  /** Cents whose shown level may have changed since the last time. */
  readonly #changed: number[] = [];
  /** These are bids of no, shown as the asks of yes that they are. */
  readonly #asAsks: boolean;

  constructor(shownAs: 'bids' | 'asks') {
    this.#asAsks = shownAs === 'asks';
  }

  /** Levels with a size. */
  get length(): number {
    return this.#length;
  }

  /**
   * Adds `delta` (negative takes away) at `price`. @returns false when more is taken than there is,
   * or more is there than a venue can show. The level is then removed.
   */
  add(price: PriceE4, delta: ContractsE2): boolean {
    const before = this.sizeAt(price);
    const size = before + delta;
    const isKept = size > 0 && size <= CONTRACTS_E2_MAX;
    this.#set(price, before, isKept ? size : 0);
    return isKept || size === 0;
  }

  sizeAt(price: PriceE4): ContractsE2 {
    return price % FINER === 0 ? this.#atCents[price / FINER]! : (this.#finer?.get(price) ?? 0);
  }

  best(): Level | null {
    const price = this.#bestPrice;
    return price === null ? null : { price, size: this.sizeAt(price) };
  }

  /** All levels, in any order. */
  levels(): Level[] {
    const levels: Level[] = [];
    for (const [cents, size] of this.#atCents.entries()) {
      if (size > 0) levels.push({ price: cents * FINER, size });
    }
    for (const [price, size] of this.#finer ?? []) levels.push({ price, size });
    return levels;
  }

  /** The shown levels, best first. */
  shown(): DepthLevel[] {
    const shown: DepthLevel[] = [];
    for (let cents = PAYOUT_CENTS - 1; cents >= Math.max(1, this.#floorCents); cents--) {
      const contracts = this.#contractsAt(cents);
      if (contracts > 0) shown.push([this.#shownCents(cents), contracts]);
    }
    return shown;
  }

  /**
   * The changes of the shown levels since the last time, with 0 contracts for a level that is gone.
   */
  takeChanges(): readonly DepthLevel[] {
    if (this.#changed.length === 0) return NONE;
    const changes = this.#changed.map((cents): DepthLevel => {
      const contracts = cents < this.#floorCents ? 0 : this.#contractsAt(cents);
      return [this.#shownCents(cents), contracts];
    });
    this.#changed.length = 0;
    return changes;
  }

  #set(price: PriceE4, before: ContractsE2, after: ContractsE2): void {
    if (after === before) return;
    const cents = bidCentsOf(price);
    const contractsBefore = this.#contractsAt(cents);
    if (price % FINER === 0) this.#atCents[cents] = after;
    else this.#setFiner(price, after);
    if (this.#finer !== null) this.#byCent[cents] = this.#byCent[cents]! + after - before;
    if (before === 0) this.#length++;
    if (after === 0) this.#length--;
    if (after === 0 && price === this.#bestPrice) this.#bestPrice = this.#highestFrom(cents);
    else if (after > 0 && price > (this.#bestPrice ?? 0)) this.#bestPrice = price;
    this.#noteChange(cents, contractsBefore, this.#contractsAt(cents));
  }

  #setFiner(price: PriceE4, size: ContractsE2): void {
    if (this.#finer === null) {
      this.#finer = new Map();
      this.#byCent = Float64Array.from(this.#atCents);
    }
    if (size === 0) this.#finer.delete(price);
    else this.#finer.set(price, size);
  }

  /** The highest price with a size, at `fromCents` or below. */
  #highestFrom(fromCents: number): PriceE4 | null {
    for (let cents = fromCents; cents >= 0; cents--) {
      if (this.#byCent[cents] === 0) continue;
      const whole = cents * FINER;
      if (this.#finer !== null) {
        for (let price = whole + FINER - 1; price > whole; price--) {
          if (this.#finer.has(price)) return price;
        }
      }
      if (this.#atCents[cents]! > 0) return whole;
    }
    return null;
  }

  #noteChange(cents: number, before: number, after: number): void {
    if (before === after || cents === 0 || cents < this.#floorCents) return;
    this.#mark(cents);
    if (before > 0 && after > 0) return;
    // A new or removed level may move one at the end out of sight, or into it.
    const floor = this.#floorCents;
    this.#floorCents = this.#newFloor();
    const higher = Math.max(floor, this.#floorCents);
    for (let at = Math.max(1, Math.min(floor, this.#floorCents)); at <= higher; at++) {
      if (this.#contractsAt(at) > 0) this.#mark(at);
    }
  }

  #mark(cents: number): void {
    if (!this.#changed.includes(cents)) this.#changed.push(cents);
  }

  #newFloor(): number {
    let levels = 0;
    for (let cents = PAYOUT_CENTS - 1; cents > 0; cents--) {
      if (this.#contractsAt(cents) > 0 && ++levels === DEPTH_LEVELS_MAX) return cents;
    }
    return 0;
  }

  #contractsAt(cents: number): number {
    return wholeContracts(this.#byCent[cents]!);
  }

  /** The price that a bid is shown at, and the other way round. */
  #shownCents(cents: PriceCents): PriceCents {
    return this.#asAsks ? PAYOUT_CENTS - cents : cents;
  }
}
