/**
 * The `book_depth` fill model: an order walks the displayed levels of one venue, best first. It
 * pays each level's price; the price that is shown is their average. Rules T62 to T68, T74 (engine/RULES.md).
 *
 * A displayed size counts once for an account. The part of a level that its fills consumed stays
 * consumed until a quote shows that price with another size, or without any. Accounts do not
 * consume from each other: they live in different shards, and an equal input must give an equal
 * state. Accounts that have chosen so share all sizes, over all shards (T164, T230 to T234).
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
import type { LevelTaken, MarketLiquidity } from '../memory/market-liquidity.ts';
import { type ChangedAt, DisplayedSide } from './displayed-side.ts';
import { type Consumption, type Fill, isShared, type Want } from './fill-model.ts';
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

/** Both sides of a market as asks, and the time of its last quote. */
type Displayed = Readonly<Record<Side, DisplayedSide>> & {
  lastQuote: ChangedAt;
  /** Nothing was displayed yet, since the shard began. */
  isNew: boolean;
};

const NOTHING_TAKEN: readonly LevelTaken[] = [];

/** It also serves the `queue` model, whose orders take displayed levels as they arrive. */
export class BookDepth {
  /** By market number: the levels of its last quote. */
  readonly #displayed: (Displayed | undefined)[] = [];
  /** What accounts have taken that share all sizes. */
  readonly #shared: MarketLiquidity;

  constructor(shared: MarketLiquidity) {
    this.#shared = shared;
  }

  quoteSeen(tick: QuoteTick): void {
    let sides = this.#displayed[tick.market];
    if (sides === undefined) {
      const lastQuote = { lowMs: 0, highMs: 0 };
      sides = { yes: new DisplayedSide(), no: new DisplayedSide(), lastQuote, isNew: true };
      this.#displayed[tick.market] = sides;
    }
    const { depthChange } = tick;
    const at = sides.lastQuote;
    // From the first that anybody takes on, every shard notes when a level changes.
    const isNoted = this.#shared.isUsed;
    if (isNoted && this.#shared.isTaken(tick.market)) {
      sides.yes.noteChanges(at);
      sides.no.noteChanges(at);
    }
    if (tick.atMs > at.highMs) at.highMs = tick.atMs;
    // What a start finds may have been displayed before it.
    if (isNoted) at.lowMs = sides.isNew ? 0 : Math.min(tick.sinceMs ?? at.highMs, at.highMs);
    if (depthChange === undefined) {
      sides.yes.setAll(asksOf(tick, 'yes'), at);
      sides.no.setAll(asksOf(tick, 'no'), at);
    } else {
      for (const [cents, contracts] of depthChange.yesAsks) sides.yes.set(cents, contracts, at);
      for (const [cents, contracts] of depthChange.yesBids) {
        sides.no.set(complement(cents), contracts, at);
      }
    }
    if (sides.isNew) sides.isNew = sides.yes.isEmpty && sides.no.isEmpty;
  }

  forget(market: MarketNumber): void {
    if (this.#displayed[market] !== undefined) this.#displayed[market] = undefined;
  }

  /** An operator has set the clock back. */
  timeWasSet(): void {
    this.#shared.timeWasSet((market, side, askCents) => {
      const sides = this.#displayed[market];
      return sides === undefined ? null : asksIn(sides, side).view(askCents, sides.lastQuote);
    });
    for (const sides of this.#displayed) {
      if (sides === undefined) continue;
      sides.lastQuote.highMs = 0;
      sides.yes.timeWasSet();
      sides.no.timeWasSet();
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

  /** Null: another shard has taken some of it since. */
  consume(
    { taker, market, side, contracts, levels }: Consumption,
    nowMs: EpochMs,
  ): readonly LevelTaken[] | null {
    invariant(contracts > 0, 'a fill consumes no contracts');
    if (isShared(taker)) return this.#take({ market, side, levels }, nowMs);
    const asks = this.#asksOf(market, side);
    let left = contracts;
    for (let cents = asks.nextAfter(0); left > 0; cents = asks.nextAfter(cents)) {
      invariant(cents < PAYOUT_CENTS, 'a fill consumed more than is displayed');
      const part = Math.min(left, asks.freeFor(taker, cents));
      if (part > 0) asks.consume(taker, cents, part);
      left -= part;
    }
    return NOTHING_TAKEN;
  }

  #take(
    { market, side, levels }: Pick<Consumption, 'market' | 'side' | 'levels'>,
    nowMs: EpochMs,
  ): readonly LevelTaken[] | null {
    const displayed = this.#displayedOf(market);
    const { lastQuote } = displayed;
    const asks = asksIn(displayed, side);
    const wanted = levels.map(([askCents, contracts]) => {
      return { view: asks.view(askCents, lastQuote), contracts };
    });
    return this.#shared.take(market, side, wanted, nowMs);
  }

  /** The contracts of one level that the taker can take. */
  #freeAt({ taker, market, side }: ConsumedOf, askCents: PriceCents): Contracts {
    const displayed = this.#displayedOf(market);
    const asks = asksIn(displayed, side);
    if (!isShared(taker)) return asks.freeFor(taker, askCents);
    return this.#shared.freeAt(market, side, asks.view(askCents, displayed.lastQuote));
  }

  /** Contracts of one level, at most those that are free. */
  consumeAt(
    { taker, market, side, contracts }: ConsumedOf & { contracts: Contracts },
    askCents: PriceCents,
    nowMs: EpochMs,
  ): readonly LevelTaken[] {
    if (this.#displayed[market] === undefined) return NOTHING_TAKEN;
    for (;;) {
      const part = Math.min(contracts, this.#freeAt({ taker, market, side }, askCents));
      if (part === 0) return NOTHING_TAKEN;
      const levels: DepthLevel[] = [[askCents, part]];
      const taken = isShared(taker) ? this.#take({ market, side, levels }, nowMs) : NOTHING_TAKEN;
      if (!isShared(taker)) this.#asksOf(market, side).consume(taker, askCents, part);
      if (taken !== null) return taken;
    }
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
      const free = isShared(taker)
        ? this.#freeAt({ taker, market: market.number, side }, cents)
        : asks.freeFor(taker, cents);
      const part = Math.min(free, want.contracts - contracts);
      if (part > 0) levels.push([cents, part]);
      contracts += part;
      paidCents += part * cents;
      cents = asks.nextAfter(cents);
    }
    if (contracts === 0) return null;
    const consumption = { taker, market: market.number, side, contracts, levels };
    // Rounding up is against the trader on both sides: a seller gets 100 minus the ask. Rules T64,
    // M40 (engine/RULES.md).
    const askCents = Math.ceil(paidCents / contracts);
    return { contracts, askCents, paidCents, levels, market, consumption };
  }

  #asksOf(market: MarketNumber, side: Side): DisplayedSide {
    return asksIn(this.#displayedOf(market), side);
  }

  #displayedOf(market: MarketNumber): Displayed {
    const sides = this.#displayed[market];
    invariant(sides !== undefined, 'a market has a live price but no quote');
    return sides;
  }
}

function asksIn({ yes, no }: Displayed, side: Side): DisplayedSide {
  return side === 'yes' ? yes : no;
}

/** Whose levels, and of which side. */
type ConsumedOf = Pick<Consumption, 'taker' | 'market' | 'side'>;

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
