/**
 * The markets with ticks since they were last taken: a hint which quotes to look at first. Rule J11
 * (api/RULES.md).
 */

import type { MarketNumber } from '../../engine/base/units.ts';
import { MARKET_TICK_KINDS, type MarketBus } from '../catalog/market-bus.ts';

/** It holds each market once, so the catalogs bound it even if nobody takes from it. */
export class ChangedMarkets {
  #markets = new Set<MarketNumber>();

  /** @returns the function that ends it */
  follow(bus: MarketBus): () => void {
    return bus.subscribe(MARKET_TICK_KINDS, (tick) => this.note(tick));
  }

  note({ market }: { market: MarketNumber }): void {
    this.#markets.add(market);
  }

  take(): ReadonlySet<MarketNumber> {
    const taken = this.#markets;
    if (taken.size > 0) this.#markets = new Set();
    return taken;
  }
}
