/** Resting orders against live prices. Rules T40 to T49 (engine/RULES.md). */

import type { MarketNumber } from '../../engine/rules/units.ts';
import { fill, remainingOf } from './naive-ledger.ts';
import { offerFor } from './naive-prices.ts';
import {
  instrumentOf,
  type ModelOrder,
  type ModelState,
  marketNumberOfListing,
} from './naive-state.ts';

/**
 * Fills whatever can be filled, and as far as it can, among the orders that watch one of `numbers`: those of that venue_a
 * market, and with routing best those whose instrument lists there.
 */
export function matchResting(state: ModelState, numbers: MarketNumber[]): void {
  const watching = state.resting.filter((order) =>
    numbers.some((number) => isWatching(state, order, number)),
  );
  for (const order of watching.sort(inMatchingOrder)) {
    const offer = offerFor(state, order, remainingOf(order), order.limitPriceCents);
    if (offer !== null) fill(state, order, offer);
  }
}

/**
 * One market after the other; in a market first the orders that wait for the yes ask to fall,
 * highest level first, then those that wait for the yes bid to rise, lowest level first; first
 * placed first within a level.
 */
function inMatchingOrder(a: ModelOrder, b: ModelOrder): number {
  if (a.market !== b.market) return a.market - b.market;
  const aWaitsForAsk = waitsForAsk(a);
  if (aWaitsForAsk !== waitsForAsk(b)) return aWaitsForAsk ? -1 : 1;
  const byLevel = levelOf(a) - levelOf(b);
  if (byLevel !== 0) return aWaitsForAsk ? -byLevel : byLevel;
  return a.sequence - b.sequence;
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
