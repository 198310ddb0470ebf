/**
 * The book_depth fill model, in the terms of the order's own side. Rules T30 to T32, T60 to T74
 * (engine/RULES.md). engine/rules/README.md tells how much of a level an account may take, and how
 * often.
 */

import type {
  Contracts,
  Liquidity,
  MarketNumber,
  PriceCents,
  Side,
  Uuid,
} from '../../engine/base/units.ts';
import type { Depth, QuoteTick } from '../../engine/rules/messages.ts';
import {
  type Level,
  type ModelMarket,
  type ModelQuote,
  type ModelState,
  marketOf,
  type Taker,
  takerOf,
} from './naive-state.ts';

/** The part of one displayed level that an order takes. */
export type Lot = {
  market: MarketNumber;
  /** Where it is displayed, in yes cents. */
  book: 'bids' | 'asks';
  yesCents: PriceCents;
  /** In the order's own cents. */
  priceCents: PriceCents;
  contracts: Contracts;
};

/**
 * The displayed levels of a quote: its own, or the last ones with its changes. Without either, only
 * its top is known.
 */
export function booksOf(
  tick: QuoteTick,
  last: ModelQuote | null,
): Pick<ModelQuote, 'bids' | 'asks'> {
  const { depth, depthChange: change } = tick;
  const level = (yesCents: PriceCents, contracts: Contracts): Level[] =>
    yesCents === 0 || contracts === 0 ? [] : [{ yesCents, contracts, takenBy: [] }];
  const levels = (shown: Depth['yesBids']) =>
    shown.flatMap(([cents, contracts]) => level(cents, contracts));
  if (change !== undefined) {
    return {
      bids: changed(last?.bids ?? [], change.yesBids, levels(change.yesBids)).reverse(),
      asks: changed(last?.asks ?? [], change.yesAsks, levels(change.yesAsks)),
    };
  }
  if (depth !== undefined) return { bids: levels(depth.yesBids), asks: levels(depth.yesAsks) };
  return {
    bids: level(tick.yesBidCents, tick.yesBidContracts),
    asks: level(tick.yesAskCents, tick.yesAskContracts),
  };
}

/** From the lowest price on. */
function changed(last: readonly Level[], changes: Depth['yesBids'], shown: Level[]): Level[] {
  const isKept = ({ yesCents }: Level) => changes.every(([cents]) => cents !== yesCents);
  const kept = last.filter(isKept).map((level) => ({ ...level }));
  return [...kept, ...shown].sort((a, b) => a.yesCents - b.yesCents);
}

/** A level that is displayed again, price and size the same, is the same level. */
export function rememberTaken(
  quote: ModelQuote,
  last: Pick<ModelQuote, 'bids' | 'asks'> | null,
): void {
  if (last === null) return;
  for (const book of ['bids', 'asks'] as const) {
    for (const level of quote[book]) {
      const before = last[book].find(({ yesCents }) => yesCents === level.yesCents);
      if (before?.contracts === level.contracts) level.takenBy = before.takenBy;
    }
  }
}

/**
 * The remaining sizes for an account on the side of a market that an order trades against, best
 * price first. Buying yes and selling no take asks, selling yes and buying no take bids.
 */
export function lotsFor(
  state: ModelState,
  order: { account: Uuid; liquidity: Liquidity; action: 'buy' | 'sell' },
  number: MarketNumber,
  side: Side,
): Lot[] {
  const quote = marketOf(state, number).quote!;
  const book = (order.action === 'buy') === (side === 'yes') ? 'asks' : 'bids';
  const lots = quote[book].map((level) => ({
    market: number,
    book,
    yesCents: level.yesCents,
    priceCents: side === 'yes' ? level.yesCents : 100 - level.yesCents,
    contracts: level.contracts - takenBy(level, takerOf(order)),
  }));
  const sign = order.action === 'buy' ? 1 : -1;
  return lots
    .filter((lot) => lot.contracts > 0)
    .sort((a, b) => sign * (a.priceCents - b.priceCents)) as Lot[];
}

/** The first of the lots, as far as so many contracts are wanted. */
export function firstOf(lots: Lot[], wanted: Contracts): Lot[] {
  const taken: Lot[] = [];
  let left = wanted;
  for (const lot of lots) {
    const contracts = Math.min(left, lot.contracts);
    if (contracts > 0) taken.push({ ...lot, contracts });
    left -= contracts;
  }
  return taken;
}

/** Notes that an order has traded these. */
export function take(
  state: ModelState,
  order: { account: Uuid; liquidity: Liquidity },
  lots: Lot[],
): void {
  for (const { market, book, yesCents, contracts } of lots) {
    const level = marketOf(state, market).quote![book].find((one) => one.yesCents === yesCents)!;
    level.takenBy.push({ taker: takerOf(order), contracts });
    if (order.liquidity === 'account') continue;
    const taken = takenBy(level, takerOf(order));
    const { shared } = marketOf(state, market);
    shared.set(`${book} ${yesCents}`, { contracts: level.contracts, taken });
  }
}

function takenBy(level: Level, taker: Taker): Contracts {
  return level.takenBy
    .filter((entry) => entry.taker === taker)
    .reduce((total, entry) => total + entry.contracts, 0);
}

/** T233: after a start a level of the same size is the same, for all that share sizes. */
export function rememberShared({ shared }: ModelMarket, quote: ModelQuote): void {
  for (const book of ['bids', 'asks'] as const) {
    for (const level of quote[book]) {
      const last = shared.get(`${book} ${level.yesCents}`);
      if (last?.contracts !== level.contracts) continue;
      level.takenBy = [{ taker: 'all that share', contracts: last.taken }];
    }
  }
}
