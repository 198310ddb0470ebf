/** Resting orders against live prices. Rules T40 to T49 (engine/RULES.md). */

import type { MarketNumber } from '../../engine/base/units.ts';
import { endReached } from './naive-groups.ts';
import { fill, remainingOf } from './naive-ledger.ts';
import { offerFor } from './naive-prices.ts';
import {
  byShard,
  instrumentOf,
  type ModelOrder,
  type ModelState,
  marketNumberOfListing,
  sharesSizes,
} from './naive-state.ts';

/**
 * Fills all possible orders, as far as possible, among the orders that watch one of `numbers`. An
 * order watches its venue_a market, and with routing best each market that lists its instrument.
 */
export function matchResting(state: ModelState, numbers: MarketNumber[]): void {
  const watching = state.resting.filter(
    (order) =>
      order.arrivesAtMs === null &&
      order.fillModel !== 'queue' &&
      numbers.some((number) => isWatching(state, order, number)),
  );
  for (const order of watching.sort((a, b) => inMatchingOrder(state, a, b))) {
    // T220: an order before it may have been the last that its group traded.
    if (order.status !== 'resting') continue;
    const offer = offerFor(state, order, remainingOf(order), order.limitPriceCents);
    if (offer === null) continue;
    fill(state, order, offer, 'maker');
    endReached(state, order);
  }
}

/**
 * One market after the other. In a market orders that wait for the yes ask to fall are first,
 * highest level first. Then orders that wait for the yes bid to rise follow, lowest level first.
 * Within a level, first placed is first.
 */
function inMatchingOrder(state: ModelState, a: ModelOrder, b: ModelOrder): number {
  const ofShard = byShard(state, a, b);
  if (ofShard !== 0) return ofShard;
  if (a.market !== b.market) return a.market - b.market;
  // With top_of_book no fill takes anything from another, and plain orders are first.
  if (!sharesSizes(state) && a.routing !== b.routing) return a.routing === 'best' ? 1 : -1;
  const aWaitsForAsk = waitsForAsk(a);
  if (aWaitsForAsk !== waitsForAsk(b)) return aWaitsForAsk ? -1 : 1;
  const byLevel = levelOf(a) - levelOf(b);
  if (byLevel !== 0) return aWaitsForAsk ? -byLevel : byLevel;
  return a.priority - b.priority;
}

function waitsForAsk(order: ModelOrder): boolean {
  return (order.action === 'buy') === (order.marketSide === 'yes');
}

/** The limit as a price of the market's yes. */
function levelOf(order: ModelOrder): number {
  return order.marketSide === 'yes' ? order.limitPriceCents! : 100 - order.limitPriceCents!;
}

function isWatching(state: ModelState, order: ModelOrder, number: MarketNumber): boolean {
  if (order.market === number) return true;
  if (order.routing !== 'best') return false;
  const listings = instrumentOf(state, order.instrumentId).listings;
  return listings.some((listing) => marketNumberOfListing(state, listing) === number);
}
