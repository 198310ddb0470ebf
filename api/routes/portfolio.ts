/** The portfolio and its trades. SPEC.md section 4, Portfolio. */
import type { Caller } from '../access.ts';
import type { Deps } from '../deps.ts';
import { keyed, type Route } from '../route.ts';
import { NoQuery } from '../schemas/common.ts';
import { PortfolioAnswer, TradesAnswer, TradesQuery } from '../schemas/trading.ts';
import { beforeOf } from './orders.ts';

export function portfolioRoutes({ engine }: Deps): Route<Caller>[] {
  return [
    keyed({
      method: 'GET',
      path: '/portfolio',
      scope: 'portfolio:read',
      takesOrganization: true,
      query: NoQuery,
      response: PortfolioAnswer,
      run: ({ caller: { user } }) =>
        engine.call(user.id, {
          kind: 'portfolio',
          atMs: engine.nowMs(),
          account: user.id,
          organizationSlug: null,
        }),
    }),
    keyed({
      method: 'GET',
      path: '/portfolio/trades',
      scope: 'portfolio:read',
      takesOrganization: true,
      query: TradesQuery,
      response: TradesAnswer,
      prepare: (query) => ({ ...query, before: beforeOf('trades', query.cursor) }),
      run: ({ caller: { user }, query }) =>
        engine.call(user.id, {
          kind: 'trades',
          atMs: engine.nowMs(),
          account: user.id,
          organizationSlug: null,
          status: query.status ?? null,
          limit: query.limit,
          before: query.before,
        }),
    }),
  ];
}
