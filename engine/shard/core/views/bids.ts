/** The present worth of open positions, by market. Rule M21 (engine/RULES.md). */

import { type EpochMs, type MarketNumber, NO_PRICE } from '../../../base/units.ts';
import { bidOf, priceBook } from '../../../rules/pricing.ts';
import type { ShardState } from '../../../rules/state.ts';

/** The answer to `BidsQuery`. */
export function liveBids(
  state: ShardState,
  numbers: readonly MarketNumber[] | null,
  atMs: EpochMs,
): string {
  const count = numbers?.length ?? state.markets.length;
  const bids = Buffer.alloc(2 * count);
  for (let at = 0; at < count; at++) {
    const market = state.markets[numbers === null ? at : numbers[at]!];
    if (market === undefined) continue;
    const price = priceBook(state, { market, routed: null }, atMs);
    bids[2 * at] = bidOf(price, 'yes')?.priceCents ?? NO_PRICE;
    bids[2 * at + 1] = bidOf(price, 'no')?.priceCents ?? NO_PRICE;
  }
  return bids.toString('base64');
}
