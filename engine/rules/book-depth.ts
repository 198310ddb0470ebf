/**
 * The `book_depth` fill model: an order walks the displayed levels of one venue, best first. It
 * pays each level's price; the price that is shown is their average. Rules T62 to T68, T74 (engine/RULES.md).
 *
 * A displayed size counts once for an account. The part of a level that its fills consumed stays
 * consumed until a quote shows that price with another size, or without any. Accounts do not
 * consume from each other: they live in different shards, and an equal input must give an equal
 * state.
 */

import { invariant } from '../base/invariant.ts';
import {
  type Contracts,
  type EpochMs,
  type MarketNumber,
  NO_PRICE,
  PAYOUT_CENTS,
  type PriceCents,
  type Side,
} from '../base/units.ts';
import { DisplayedSide } from './displayed-side.ts';
import type { Consumption, Fill, Want } from './fill-model.ts';
import type { DepthLevel, QuoteTick } from './messages.ts';
import {
  askOf,
  type BookPrice,
  complement,
  type PricedBook,
  type PricingContext,
  rivalsOf,
} from './pricing.ts';
import type { Market } from './reference-data.ts';

/** Both sides of a market as asks. */
type Displayed = Readonly<Record<Side, DisplayedSide>>;

/** It also serves the `queue` model, whose orders take displayed levels as they arrive. */
export class BookDepth {
  /** By market number: the levels of its last quote. */
  readonly #displayed: (Displayed | undefined)[] = [];

  quoteSeen(tick: QuoteTick): void {
    let sides = this.#displayed[tick.market];
    if (sides === undefined) {
      sides = { yes: new DisplayedSide(), no: new DisplayedSide() };
      this.#displayed[tick.market] = sides;
    }
    const { depthChange } = tick;
    if (depthChange === undefined) {
      sides.yes.setAll(asksOf(tick, 'yes'));
      sides.no.setAll(asksOf(tick, 'no'));
      return;
    }
    for (const [cents, contracts] of depthChange.yesAsks) sides.yes.set(cents, contracts);
    for (const [cents, contracts] of depthChange.yesBids) {
      sides.no.set(complement(cents), contracts);
    }
  }

  orderArrives(
    context: PricingContext,
    book: PricedBook,
    price: BookPrice,
    want: Want,
    nowMs: EpochMs,
  ): Fill | null {
    // Without a live price of venue_a nothing trades, even if another venue has one.
    if (askOf(price, want.side) === null) return null;
    let best = this.#walk(book.market, want.side, want, want.upToCents);
    for (const rival of rivalsOf(context, book, want.side, nowMs)) {
      const upToCents = Math.min(want.upToCents, rival.upToCents);
      const other = this.#walk(rival.market, rival.side, want, upToCents);
      if (other !== null && (best === null || isBetter(other, best))) best = other;
    }
    return best;
  }

  displayed(market: MarketNumber): Record<Side, DepthLevel[]> {
    const sides = this.#displayed[market];
    return { yes: sides?.yes.levels() ?? [], no: sides?.no.levels() ?? [] };
  }

  consume({ taker, market, side, contracts }: Consumption): void {
    invariant(contracts > 0, 'a fill consumes no contracts');
    const asks = this.#asksOf(market, side);
    let left = contracts;
    for (let cents = asks.nextAfter(0); left > 0; cents = asks.nextAfter(cents)) {
      invariant(cents < PAYOUT_CENTS, 'a fill consumed more than is displayed');
      const part = Math.min(left, asks.freeFor(taker, cents));
      if (part > 0) asks.consume(taker, cents, part);
      left -= part;
    }
  }

  /** The contracts of one level that the account has not consumed. */
  freeAt({ taker, market, side }: Omit<Consumption, 'contracts'>, askCents: PriceCents) {
    return this.#displayed[market]?.[side].freeFor(taker, askCents) ?? 0;
  }

  /** Contracts of one level, at most those that are free. */
  consumeAt({ taker, market, side, contracts }: Consumption, askCents: PriceCents): void {
    const part = Math.min(contracts, this.freeAt({ taker, market, side }, askCents));
    if (part > 0) this.#asksOf(market, side).consume(taker, askCents, part);
  }

  /** The contracts up to a price that the account has not consumed, at most those that it wants. */
  crossing(market: Market, want: Want): Fill | null {
    if (this.#displayed[market.number] === undefined) return null;
    return this.#walk(market, want.side, want, want.upToCents);
  }

  /** The part of a market's asks that the account has not consumed, up to the wanted contracts. */
  #walk(market: Market, side: Side, want: Want, upToCents: PriceCents): Fill | null {
    const { taker } = want;
    const asks = this.#asksOf(market.number, side);
    let contracts = 0;
    let paidCents = 0;
    const levels: DepthLevel[] = [];
    let cents = asks.nextAfter(0);
    while (cents <= upToCents && cents < PAYOUT_CENTS && contracts < want.contracts) {
      const part = Math.min(asks.freeFor(taker, cents), want.contracts - contracts);
      if (part > 0) levels.push([cents, part]);
      contracts += part;
      paidCents += part * cents;
      cents = asks.nextAfter(cents);
    }
    if (contracts === 0) return null;
    const consumption = { taker, market: market.number, side, contracts };
    // Rounding up is against the trader on both sides: a seller gets 100 minus the ask. Rules T64,
    // M40 (engine/RULES.md).
    const askCents = Math.ceil(paidCents / contracts);
    return { contracts, askCents, paidCents, levels, market, consumption };
  }

  #asksOf(market: MarketNumber, side: Side): DisplayedSide {
    const sides = this.#displayed[market];
    invariant(sides !== undefined, 'a market has a live price but no quote');
    return sides[side];
  }
}

/** More contracts first, then the lower cost. If both are equal, the earlier venue. Rule T67. */
function isBetter(a: Fill, b: Fill): boolean {
  return a.contracts !== b.contracts ? a.contracts > b.contracts : a.paidCents < b.paidCents;
}

/** The asks of a side. An ask of no is a bid of yes, at 100 minus its price. */
function asksOf(tick: QuoteTick, side: Side): readonly DepthLevel[] {
  const { depth, yesBidCents, yesBidContracts, yesAskCents, yesAskContracts } = tick;
  if (side === 'yes') return depth?.yesAsks ?? top(yesAskCents, yesAskContracts);
  const bids = depth?.yesBids ?? top(yesBidCents, yesBidContracts);
  return bids.map(([bidCents, contracts]) => [complement(bidCents), contracts]);
}

function top(priceCents: PriceCents, contracts: Contracts): readonly DepthLevel[] {
  return priceCents === NO_PRICE || contracts === 0 ? [] : [[priceCents, contracts]];
}
