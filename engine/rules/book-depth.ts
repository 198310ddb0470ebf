/**
 * The `book_depth` fill model: an order walks the displayed levels of one venue, best first, and
 * its price is their average, rounded against the trader. Rules T62 to T68 (engine/RULES.md).
 *
 * A displayed size counts once for an account: what its fills took of a level stays taken until a
 * quote shows that price with another size, or without any. Accounts do not take from each other,
 * since they live in different shards and an equal input must give an equal state.
 */
import type { Fill, FillModel, Want } from './fill-model.ts';
import type { DepthLevel, QuoteTick } from './messages.ts';
import { askOf, complement, rivalsOf } from './pricing.ts';
import type { Market } from './state.ts';
import { type AccountRow, type Contracts, NO_PRICE, type PriceCents, type Side } from './units.ts';

/** One ask with its displayed size, and what accounts (by row) have taken of it. */
export type Level = {
  readonly askCents: PriceCents;
  readonly contracts: Contracts;
  taken: Map<number, Contracts> | null;
};

/** Both sides of a market as asks, best first. */
export type Levels = Readonly<Record<Side, readonly Level[]>>;

/** What a fill takes: an account's contracts, from the first levels of one side on. */
export type Taken = { levels: readonly Level[]; account: AccountRow; contracts: Contracts };

export const bookDepth: FillModel = {
  name: 'book_depth',
  sharesSizes: true,
  noLiquidity: 'There is no live price on that side now, or too little is displayed for all of it.',
  fill(state, book, price, want, nowMs) {
    // Without a live price of venue_a nothing trades, whoever else has one.
    if (askOf(price, want.side) === null) return null;
    const { market } = book;
    let best = walk(market, want.side, want, want.upToCents);
    for (const rival of rivalsOf(state, book, want.side, nowMs)) {
      const upToCents = Math.min(want.upToCents, rival.upToCents);
      const other = walk(rival.market, rival.side, want, upToCents);
      if (other !== null && (best === null || isBetter(other, best))) best = other;
    }
    return best;
  },
  levelsOf(tick, last) {
    return {
      yes: levelsOf(asksOf(tick, 'yes'), last?.levels?.yes ?? []),
      no: levelsOf(asksOf(tick, 'no'), last?.levels?.no ?? []),
    };
  },
};

/** Notes what a fill took, once it has happened. */
export function takeLevels({ levels, account, contracts }: Taken): void {
  let left = contracts;
  for (const level of levels) {
    if (left === 0) return;
    const part = Math.min(left, freeFor(account, level));
    if (part === 0) continue;
    level.taken ??= new Map();
    level.taken.set(account, (level.taken.get(account) ?? 0) + part);
    left -= part;
  }
}

/** More contracts first, then the better price; the earlier venue where both are equal. */
function isBetter(a: Fill, b: Fill): boolean {
  return a.contracts !== b.contracts ? a.contracts > b.contracts : a.askCents < b.askCents;
}

/** What is left for the account of a market's asks, as far as it is wanted. */
function walk(market: Market, side: Side, want: Want, upToCents: PriceCents): Fill | null {
  const levels = market.quote!.levels![side];
  let contracts = 0;
  let cents = 0;
  for (const level of levels) {
    if (level.askCents > upToCents || contracts === want.contracts) break;
    const part = Math.min(freeFor(want.account, level), want.contracts - contracts);
    contracts += part;
    cents += part * level.askCents;
  }
  if (contracts === 0) return null;
  const taken = { levels, account: want.account, contracts };
  // Up is against the trader on either side: a seller gets 100 minus the ask.
  return { contracts, askCents: Math.ceil(cents / contracts), venue: market.venue, taken };
}

function freeFor(account: AccountRow, level: Level): Contracts {
  return level.contracts - (level.taken?.get(account) ?? 0);
}

/** The asks of a side: those of no are the bids of yes, seen from the other end. */
function asksOf(tick: QuoteTick, side: Side): readonly DepthLevel[] {
  const { depth, yesBidCents, yesBidContracts, yesAskCents, yesAskContracts } = tick;
  if (side === 'yes') return depth?.yesAsks ?? top(yesAskCents, yesAskContracts);
  const bids = depth?.yesBids ?? top(yesBidCents, yesBidContracts);
  return bids.map(([bidCents, contracts]) => [complement(bidCents), contracts]);
}

function top(priceCents: PriceCents, contracts: Contracts): readonly DepthLevel[] {
  return priceCents === NO_PRICE || contracts === 0 ? [] : [[priceCents, contracts]];
}

/** A level that is shown again as it was keeps what was taken of it. */
function levelsOf(asks: readonly DepthLevel[], last: readonly Level[]): Level[] {
  return asks.map(([askCents, contracts]) => {
    const before = last.find((level) => level.askCents === askCents);
    return { askCents, contracts, taken: before?.contracts === contracts ? before.taken : null };
  });
}
