/**
 * The `book_depth` fill model: an order walks the displayed levels of one venue, best first, and
 * its price is their average, rounded against the trader. Rules T62 to T68, T74 (engine/RULES.md).
 *
 * A displayed size counts once for an account: what its fills consumed of a level stays consumed
 * until a quote shows that price with another size, or without any. Accounts do not consume from
 * each other, since they live in different shards and an equal input must give an equal state.
 */
import type { Consumption, Fill, FillModel, Want } from './fill-model.ts';
import { invariant } from './invariant.ts';
import type { Depth, DepthLevel, QuoteTick } from './messages.ts';
import {
  askOf,
  type BookPrice,
  complement,
  type PricedBook,
  type PricingContext,
  rivalsOf,
} from './pricing.ts';
import type { Market } from './reference-data.ts';
import {
  type AccountRow,
  type Contracts,
  type EpochMs,
  type MarketNumber,
  NO_PRICE,
  type PriceCents,
  type Side,
} from './units.ts';

/** One ask with its displayed size, and what accounts (by row) have consumed of it. */
type DisplayedLevel = {
  readonly askCents: PriceCents;
  readonly contracts: Contracts;
  consumed: Map<AccountRow, Contracts> | null;
};

/** Both sides of a market as asks, best first. */
type DisplayedLevels = Readonly<Record<Side, DisplayedLevel[]>>;

const NOTHING_DISPLAYED: DisplayedLevels = { yes: [], no: [] };

export function bookDepth(): FillModel {
  return new BookDepth();
}

class BookDepth implements FillModel {
  readonly name = 'book_depth';
  readonly sharesSizes = true;
  readonly noLiquidity =
    'There is no live price on that side now, or too little is displayed for all of it.';
  /** By market number: the levels of its last quote. */
  readonly #levels = new Map<MarketNumber, DisplayedLevels>();

  quoteSeen(tick: QuoteTick): void {
    if (tick.depthChange !== undefined) return this.#change(tick.market, tick.depthChange);
    const last = this.#levels.get(tick.market) ?? NOTHING_DISPLAYED;
    this.#levels.set(tick.market, {
      yes: levelsOf(asksOf(tick, 'yes'), last.yes),
      no: levelsOf(asksOf(tick, 'no'), last.no),
    });
  }

  #change(market: MarketNumber, { yesBids, yesAsks }: Depth): void {
    let levels = this.#levels.get(market);
    if (levels === undefined) {
      levels = { yes: [], no: [] };
      this.#levels.set(market, levels);
    }
    for (const [cents, contracts] of yesAsks) changeLevel(levels.yes, cents, contracts);
    for (const [cents, contracts] of yesBids) changeLevel(levels.no, complement(cents), contracts);
  }

  /** Sizes are what a venue displays after its trades. */
  tradePrinted(): void {}

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
    const { yes, no } = this.#levels.get(market) ?? NOTHING_DISPLAYED;
    return { yes: yes.map(asShown), no: no.map(asShown) };
  }

  consume({ account, market, side, contracts }: Consumption): void {
    invariant(contracts > 0, 'a fill consumes no contracts');
    let left = contracts;
    for (const level of this.#levelsOf(market, side)) {
      if (left === 0) return;
      const free = freeFor(account, level);
      invariant(free >= 0, 'an account has consumed more of a level than it displays');
      const part = Math.min(left, free);
      if (part === 0) continue;
      level.consumed ??= new Map();
      level.consumed.set(account, (level.consumed.get(account) ?? 0) + part);
      left -= part;
    }
    invariant(left === 0, 'a fill consumed more than is displayed');
  }

  /** The part of a market's asks that the account has not consumed, up to the wanted contracts. */
  #walk(market: Market, side: Side, want: Want, upToCents: PriceCents): Fill | null {
    const { account } = want;
    let contracts = 0;
    let cents = 0;
    for (const level of this.#levelsOf(market.number, side)) {
      if (level.askCents > upToCents || contracts === want.contracts) break;
      const part = Math.min(freeFor(account, level), want.contracts - contracts);
      contracts += part;
      cents += part * level.askCents;
    }
    if (contracts === 0) return null;
    const consumption = { account, market: market.number, side, contracts };
    // Rounding up is against the trader on both sides: a seller gets 100 minus the ask. Rules T64,
    // M40 (engine/RULES.md).
    return { contracts, askCents: Math.ceil(cents / contracts), venue: market.venue, consumption };
  }

  #levelsOf(market: MarketNumber, side: Side): readonly DisplayedLevel[] {
    const levels = this.#levels.get(market);
    invariant(levels !== undefined, 'a market has a live price but no quote');
    return levels[side];
  }
}

/** More contracts first, then the better price; the earlier venue where both are equal. */
function isBetter(a: Fill, b: Fill): boolean {
  return a.contracts !== b.contracts ? a.contracts > b.contracts : a.askCents < b.askCents;
}

function freeFor(account: AccountRow, level: DisplayedLevel): Contracts {
  return level.contracts - (level.consumed?.get(account) ?? 0);
}

/** The asks of a side. An ask of no is a bid of yes, at 100 minus its price. */
function asksOf(tick: QuoteTick, side: Side): readonly DepthLevel[] {
  const { depth, yesBidCents, yesBidContracts, yesAskCents, yesAskContracts } = tick;
  if (side === 'yes') return depth?.yesAsks ?? top(yesAskCents, yesAskContracts);
  const bids = depth?.yesBids ?? top(yesBidCents, yesBidContracts);
  return bids.map(([bidCents, contracts]) => [complement(bidCents), contracts]);
}

function asShown({ askCents, contracts }: DisplayedLevel): DepthLevel {
  return [askCents, contracts];
}

function top(priceCents: PriceCents, contracts: Contracts): readonly DepthLevel[] {
  return priceCents === NO_PRICE || contracts === 0 ? [] : [[priceCents, contracts]];
}

/**
 * A level that is shown again unchanged keeps its consumption. Both lists are best first, so one
 * walk finds what stands in both.
 */
function levelsOf(asks: readonly DepthLevel[], last: readonly DisplayedLevel[]): DisplayedLevel[] {
  let at = 0;
  return asks.map(([askCents, contracts]) => {
    while (at < last.length && last[at]!.askCents < askCents) at++;
    const before = last[at];
    const isSame = before?.askCents === askCents && before.contracts === contracts;
    return isSame ? before : { askCents, contracts, consumed: null };
  });
}

/** Shows an ask with another size, or no more. Levels are best first. */
function changeLevel(levels: DisplayedLevel[], askCents: PriceCents, contracts: Contracts): void {
  let at = 0;
  while (at < levels.length && levels[at]!.askCents < askCents) at++;
  const isShown = levels[at]?.askCents === askCents;
  if (contracts === 0) {
    if (isShown) levels.splice(at, 1);
  } else if (!isShown) {
    levels.splice(at, 0, { askCents, contracts, consumed: null });
  } else if (levels[at]!.contracts !== contracts) {
    levels[at] = { askCents, contracts, consumed: null };
  }
}
