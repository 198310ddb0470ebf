/**
 * Markets of which venues said something since they were last taken: a hint which quotes to look at
 * first. Rule J11 (api/RULES.md).
 */

import type { MarketNumber } from '../../engine/base/units.ts';
import type { Tick } from '../../engine/rules/messages.ts';

/** It holds each market once, so that it is bounded by the catalogs even if nobody takes from it. */
export class ChangedMarkets {
  #markets = new Set<MarketNumber>();

  note(tick: Tick): void {
    if ('market' in tick) this.#markets.add(tick.market);
  }

  take(): ReadonlySet<MarketNumber> {
    const taken = this.#markets;
    if (taken.size > 0) this.#markets = new Set();
    return taken;
  }
}
