/** Markets by words, for an operator who settles one. Rule A261 (api/RULES.md). */
import type { Static } from '@sinclair/typebox';
import { marketName } from '../../../engine/base/units.ts';
import type { InstrumentEntry } from '../../catalog/catalog-view.ts';
import { keyed, type Route } from '../../dispatch/route.ts';
import type { Operator } from '../../identity/admin-token.ts';
import { AdminMarketsAnswer, MarketsQuery } from '../../schemas/admin.ts';
import type { ServerContext } from '../server-context.ts';

type Context = Pick<ServerContext, 'engine' | 'catalog' | 'search'>;

export function marketAdminRoute({ engine, catalog, search }: Context): Route<Operator> {
  return keyed({
    method: 'GET',
    path: '/admin/markets',
    query: MarketsQuery,
    response: AdminMarketsAnswer,
    run: ({ query: { search: words, limit } }) => {
      const found =
        words === undefined
          ? catalog.instruments().slice(0, limit)
          : search.find(words, {}, limit, true, engine.nowMs());
      return JSON.stringify({ markets: marketsOf(found).slice(0, limit) });
    },
  });
}

/**
 * The markets that instruments list, each once. Two instruments may list one market: the yes of the
 * one is the no of the other.
 */
export function marketsOf(found: readonly InstrumentEntry[]) {
  const markets = new Map<string, Static<typeof AdminMarketsAnswer>['markets'][number]>();
  for (const { instrument, game } of found) {
    const { label, oppositeLabel, league, startsAt, listings } = instrument;
    for (const { venue, venueMarketId, polarity } of listings) {
      const market = marketName(venue, venueMarketId);
      if (polarity === -1 && markets.has(market)) continue;
      const yesLabel = polarity === 1 ? label : (oppositeLabel ?? `not: ${label}`);
      markets.set(market, { market, yesLabel, league, startsAt, gameStatus: game?.status ?? null });
    }
  }
  return [...markets.values()];
}
