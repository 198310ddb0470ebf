/**
 * Bids of one side of one market, kept by increments, and what of them is shown: whole cents, whole
 * contracts, the best twenty. What is shown is made anew only when it changes. Rules B4, B5
 * (feeds/FORMATS.md).
 */
import type { DepthLevel } from '../engine/rules/messages.ts';
import {
  bidCentsOf,
  type ContractsE2,
  PAYOUT_CENTS,
  type PriceCents,
  type PriceE4,
} from '../engine/rules/units.ts';
import { CONTRACTS_E2_MAX } from './decimal.ts';
import { DEPTH_LEVELS_MAX, wholeContracts } from './engine-ticks.ts';
import type { Level } from './venue.ts';

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
  /** Null: it has changed. */
  #shown: readonly DepthLevel[] | null = null;
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
   * Adds `delta` (negative takes away) at `price`.
   * @returns false when more is taken than there is, or more stands there than a venue can show.
   * The level is then removed.
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

  /** What is shown of it, best first: the same array until that changes. */
  shown(): readonly DepthLevel[] {
    this.#shown ??= this.#newlyShown();
    return this.#shown;
  }

  #set(price: PriceE4, before: ContractsE2, after: ContractsE2): void {
    if (after === before) return;
    const cents = bidCentsOf(price);
    const contractsBefore = wholeContracts(this.#byCent[cents]!);
    if (price % FINER === 0) this.#atCents[cents] = after;
    else this.#setFiner(price, after);
    if (this.#finer !== null) this.#byCent[cents] = this.#byCent[cents]! + after - before;
    if (before === 0) this.#length++;
    if (after === 0) this.#length--;
    if (after === 0 && price === this.#bestPrice) this.#bestPrice = this.#highestFrom(cents);
    else if (after > 0 && price > (this.#bestPrice ?? 0)) this.#bestPrice = price;
    this.#changeShown(cents, contractsBefore, wholeContracts(this.#byCent[cents]!));
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

  /** Another size takes the place of the one before; a level that comes or goes moves the others. */
  #changeShown(cents: number, before: number, after: number): void {
    const shown = this.#shown;
    if (shown === null || before === after || cents === 0) return;
    const last = shown[DEPTH_LEVELS_MAX - 1];
    if (last !== undefined && cents < this.#shownCents(last[0])) return;
    if (before === 0 || after === 0) {
      this.#shown = null;
      return;
    }
    const changed = this.#shownCents(cents);
    const copy = shown.slice();
    let at = 0;
    while (copy[at]![0] !== changed) at++;
    copy[at] = [changed, after];
    this.#shown = copy;
  }

  /** The price that a bid is shown at, and the other way round. */
  #shownCents(cents: PriceCents): PriceCents {
    return this.#asAsks ? PAYOUT_CENTS - cents : cents;
  }

  #newlyShown(): DepthLevel[] {
    const shown: DepthLevel[] = [];
    const best = this.#bestPrice;
    if (best === null) return shown;
    for (let cents = bidCentsOf(best); cents > 0; cents--) {
      const contracts = wholeContracts(this.#byCent[cents]!);
      if (contracts === 0) continue;
      if (shown.push([this.#shownCents(cents), contracts]) === DEPTH_LEVELS_MAX) break;
    }
    return shown;
  }
}
