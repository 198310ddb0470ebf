/** The facts of a catalog that the history uses. Rule T129 (engine/RULES.md). */

import { invariant } from '../base/invariant.ts';
import { type EpochMs, HOME_VENUE, type MarketNumber, marketName } from '../base/units.ts';
import type { Catalog } from '../rules/catalog-entries.ts';
import type { Closings } from './market-watch.ts';

/** The earliest closing time of the instruments that list a market counts. */
export function closingsOf({ instruments, marketNames }: Catalog): Closings {
  const numbers = new Map(marketNames.map((name, number) => [name, number]));
  const closings = new Map<MarketNumber, EpochMs>();
  const games = new Map<string, MarketNumber[]>();
  for (const { listings, closesAt, gameSlug } of instruments) {
    const closesAtMs = closesAt === undefined ? Number.POSITIVE_INFINITY : Date.parse(closesAt);
    for (const { venue, venueMarketId } of listings) {
      const market = numbers.get(marketName(venue, venueMarketId));
      invariant(market !== undefined, 'a listing names a market without a number');
      closings.set(market, Math.min(closesAtMs, closings.get(market) ?? closesAtMs));
      if (venue !== HOME_VENUE || gameSlug === null) continue;
      games.set(gameSlug, [...(games.get(gameSlug) ?? []), market]);
    }
  }
  return { closings: [...closings], games };
}
