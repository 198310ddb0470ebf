/**
 * The last quote of a market, for a shard that starts again, with the levels of all its quotes. It
 * is kept in place. Rules D44, D48 (engine/RULES.md).
 */
import { invariant } from '../../base/invariant.ts';
import {
  type Contracts,
  NO_PRICE,
  PAYOUT_CENTS,
  type PriceCents,
  type SourceNumber,
} from '../../base/units.ts';
import type { Depth, DepthLevel, QuoteTick } from '../../rules/messages.ts';
import { replaceTop, topOf } from '../../rules/quote-top.ts';

/** In place of the size of a level that no quote has stated. */
const NOT_STATED = -1;

export class LastQuote {
  /** Without levels. */
  readonly #top: QuoteTick;
  /**
   * Contracts by the cents of the bids, and after them of the asks. Null: the last quote has stated
   * no levels, as quotes of most fill models do.
   */
  #levels: Float64Array | null = null;
  /** All levels are known, and not only some changes. */
  #isWhole = true;

  constructor(tick: QuoteTick) {
    this.#top = topOf(tick);
    if (tick.depth !== undefined) this.#setAll(tick.depth);
    else if (tick.depthChange !== undefined) {
      this.#isWhole = false;
      this.#set(this.#cleared(NOT_STATED), tick.depthChange);
    }
  }

  get source(): SourceNumber {
    return this.#top.source;
  }

  /** Takes a later quote of the market. */
  replace(tick: QuoteTick): void {
    invariant(tick.market === this.#top.market, 'a quote replaces that of another market');
    const { depth, depthChange } = tick;
    if (depth !== undefined) this.#setAll(depth);
    else if (depthChange === undefined) this.#levels = null;
    else this.#set(this.#levels ?? this.#topAlone(), depthChange);
    replaceTop(this.#top, tick);
  }

  /** Time was set back by so much. */
  setBack(byMs: number): void {
    this.#top.atMs -= byMs;
  }

  /** One quote with all that is known. */
  tick(): QuoteTick {
    const top = topOf(this.#top);
    if (this.#levels === null) return top;
    const levels = { yesBids: this.#side(0).reverse(), yesAsks: this.#side(PAYOUT_CENTS) };
    return this.#isWhole ? { ...top, depth: levels } : { ...top, depthChange: levels };
  }

  #setAll(depth: Depth): void {
    this.#isWhole = true;
    this.#set(this.#cleared(0), depth);
  }

  /** A quote without levels shows its top as the only one. */
  #topAlone(): Float64Array {
    const { yesBidCents, yesBidContracts, yesAskCents, yesAskContracts } = this.#top;
    this.#isWhole = true;
    const levels = this.#cleared(0);
    if (yesBidCents !== NO_PRICE) levels[yesBidCents] = yesBidContracts;
    if (yesAskCents !== NO_PRICE) levels[PAYOUT_CENTS + yesAskCents] = yesAskContracts;
    return levels;
  }

  #cleared(contracts: Contracts): Float64Array {
    this.#levels ??= new Float64Array(2 * PAYOUT_CENTS);
    return this.#levels.fill(contracts);
  }

  #set(levels: Float64Array, { yesBids, yesAsks }: Depth): void {
    for (const [cents, contracts] of yesBids) levels[cents] = contracts;
    for (const [cents, contracts] of yesAsks) levels[PAYOUT_CENTS + cents] = contracts;
  }

  /** The known levels from a place on, by rising price. */
  #side(from: number): DepthLevel[] {
    const levels: DepthLevel[] = [];
    const least = this.#isWhole ? 1 : 0;
    for (let cents: PriceCents = 1; cents < PAYOUT_CENTS; cents++) {
      const contracts = this.#levels![from + cents]!;
      if (contracts >= least) levels.push([cents, contracts]);
    }
    return levels;
  }
}
