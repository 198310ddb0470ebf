/**
 * Resting orders and the quotes that pass over them, generated together. A naive count decides in
 * advance which quotes fill, and which orders.
 */
import { PAYOUT_CENTS } from '../../engine/base/units.ts';
import type { Random } from './random.ts';

/** One order per index, in the order of placing. */
export type RestingPlan = { markets: number; ladders: Uint16Array; priceLevels: Uint8Array };

/**
 * One quote per index: both asks of one market, 100 if there is none. A side's bid is 100 minus the
 * other side's ask.
 */
export type TickPlan = {
  markets: Uint16Array;
  yesAsks: Uint8Array;
  noAsks: Uint8Array;
  /** Quotes that fill something, and orders that they fill. */
  filling: number;
  fills: number;
};

/** Orders rest at 1..49, so that asks from 51 on reach none of them. */
const RANKS = 49;
const LEVELS = 100;

export function planResting(random: Random, orders: number, markets: number): RestingPlan {
  const ladders = new Uint16Array(orders);
  const priceLevels = new Uint8Array(orders);
  for (let order = 0; order < orders; order++) {
    ladders[order] = random.below(markets * 2);
    priceLevels[order] = 1 + random.below(RANKS);
  }
  return { markets, ladders, priceLevels };
}

/**
 * So many quotes, of which `share` reach the best price level of one ladder. Ends early when a
 * quote would raise the filled orders above half of all.
 */
export function planTicks(
  random: Random,
  { markets, ladders, priceLevels }: RestingPlan,
  { ticksMax, share }: { ticksMax: number; share: number },
): TickPlan {
  const counts = new Uint32Array(markets * 2 * LEVELS);
  for (let order = 0; order < ladders.length; order++) {
    counts[ladders[order]! * LEVELS + priceLevels[order]!]!++;
  }
  const bestOf = (ladder: number) => {
    let priceLevel = RANKS;
    while (priceLevel > 0 && counts[ladder * LEVELS + priceLevel] === 0) priceLevel--;
    return priceLevel;
  };
  const plan = {
    markets: new Uint16Array(ticksMax),
    yesAsks: new Uint8Array(ticksMax),
    noAsks: new Uint8Array(ticksMax),
    filling: 0,
    fills: 0,
  };
  let at = 0;
  for (; at < ticksMax && plan.fills < ladders.length / 2; at++) {
    const market = random.below(markets);
    plan.markets[at] = market;
    const asks = [plan.yesAsks, plan.noAsks] as const;
    for (const side of asks) side[at] = RANKS + 2 + random.below(RANKS);
    if (random.word() / 2 ** 32 >= share) continue;
    const side = random.below(2) as 0 | 1;
    const ladder = market * 2 + side;
    const best = bestOf(ladder);
    if (best === 0) continue;
    asks[side][at] = best;
    // Above 100 together, or the book would be crossed.
    asks[1 - side]![at] = PAYOUT_CENTS - random.below(best);
    plan.filling++;
    plan.fills += counts[ladder * LEVELS + best]!;
    counts[ladder * LEVELS + best] = 0;
  }
  const { filling, fills } = plan;
  return {
    markets: plan.markets.subarray(0, at),
    yesAsks: plan.yesAsks.subarray(0, at),
    noAsks: plan.noAsks.subarray(0, at),
    filling,
    fills,
  };
}
