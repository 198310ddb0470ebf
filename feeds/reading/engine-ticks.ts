/**
 * A venue's data of a market, as the engine's ticks: whole cents rounded against the trader, whole
 * contracts. Rules B2 to B8 (feeds/FORMATS.md).
 */

import {
  askCentsOf,
  bidCentsOf,
  type ContractsE2,
  type EpochMs,
  type MarketNumber,
  NO_PRICE,
  PAYOUT_CENTS,
  type PriceCents,
  type PriceE4,
  type SourceNumber,
} from '../../engine/base/units.ts';
import type {
  Depth,
  DepthLevel,
  QuoteTick,
  ResultTick,
  TradeTick,
} from '../../engine/rules/messages.ts';
import type { BookLevels, BookTick, Level, VenueTick } from './venue.ts';

export type TickOrigin = { atMs: EpochMs; source: SourceNumber; market: MarketNumber };

/** Whether the venue's own book is crossed or locked. Rounding would widen it. */
export function isCrossed({ yesBid, yesAsk }: BookTick): boolean {
  return yesBid !== null && yesAsk !== null && yesBid >= yesAsk;
}

/** The top of a book. */
export function quoteOf(tick: BookTick, { atMs, source, market }: TickOrigin): QuoteTick {
  const yesBidCents = tick.yesBid === null ? NO_PRICE : bidCentsOf(tick.yesBid);
  const yesAskCents = tick.yesAsk === null ? NO_PRICE : askCentsOf(tick.yesAsk);
  return {
    kind: 'quote',
    atMs,
    source,
    market,
    yesBidCents,
    yesBidContracts: yesBidCents === NO_PRICE ? 0 : wholeContracts(tick.yesBidSize),
    yesAskCents,
    yesAskContracts: yesAskCents === NO_PRICE ? 0 : wholeContracts(tick.yesAskSize),
    crossed: isCrossed(tick),
    ...(tick.unknown && { unknown: true }),
  };
}

/** Deeper levels are dropped: ticks stay small, and no order fills twenty levels away. */
export const DEPTH_LEVELS_MAX = 20;

/** The shown levels of a book. Rules B4, B5 (feeds/FORMATS.md). */
export function depthOf(levels: BookLevels): Depth {
  const { shown } = levels;
  if (shown !== undefined) return shown;
  return {
    yesBids: centLevels(levels.yesBids, bidCentsOf, 99),
    yesAsks: centLevels(levels.yesAsks, askCentsOf, 1),
  };
}

/** By whole cent, while one side is added up. */
const sizesByCent = new Float64Array(100);

/**
 * Levels by whole cent from the best, `fromCents`, on, each with its whole contracts. Less than one
 * contract is no level.
 */
function centLevels(
  levels: readonly Level[],
  centsOf: (price: PriceE4) => PriceCents,
  fromCents: 1 | 99,
): DepthLevel[] {
  sizesByCent.fill(0);
  for (const { price, size } of levels) sizesByCent[centsOf(price)]! += size;
  const shown: DepthLevel[] = [];
  const step = fromCents === 1 ? 1 : -1;
  for (let cents = fromCents as number; cents > 0 && cents < 100; cents += step) {
    const contracts = wholeContracts(sizesByCent[cents]!);
    if (contracts > 0 && shown.push([cents, contracts]) === DEPTH_LEVELS_MAX) break;
  }
  return shown;
}

/** Rounded against the taker; null when no price of 1..99 is left. */
export function tradeOf(
  { yesPrice, size, takerSide }: Extract<VenueTick, { kind: 'trade' }>,
  { atMs, source, market }: TickOrigin,
): TradeTick | null {
  const yesPriceCents = takerSide === 'yes' ? askCentsOf(yesPrice) : bidCentsOf(yesPrice);
  if (yesPriceCents === NO_PRICE) return null;
  const contracts = wholeContracts(size);
  return { kind: 'trade', atMs, source, market, yesPriceCents, contracts, side: takerSide };
}

/** Rules B8, M40 (feeds/FORMATS.md, engine/RULES.md). */
export function resultOf(
  { outcome, yesValue }: Extract<VenueTick, { kind: 'result' }>,
  { atMs, source, market }: TickOrigin,
): ResultTick {
  const tick: ResultTick = {
    kind: 'result',
    atMs,
    source,
    market,
    outcome,
    yesPayoutCents: 0,
    noPayoutCents: 0,
  };
  if (outcome === 'yes') tick.yesPayoutCents = PAYOUT_CENTS;
  if (outcome === 'no') tick.noPayoutCents = PAYOUT_CENTS;
  if (outcome === 'scalar') {
    tick.yesPayoutCents = Math.floor(yesValue! / 100);
    tick.noPayoutCents = PAYOUT_CENTS - Math.ceil(yesValue! / 100);
  }
  return tick;
}

export function wholeContracts(size: ContractsE2): number {
  return Math.floor(size / 100);
}
