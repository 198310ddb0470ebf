/** The portfolio and its trades. Rules A40, A41 (api/RULES.md). */

import { NoQuery } from '../../base/common-schemas.ts';
import type { Engine } from '../../base/engine.ts';
import type { Caller } from '../../dispatch/access.ts';
import { ofAccount, type Route } from '../../dispatch/route.ts';
import { PORTFOLIO, TRADE } from '../../schemas/examples.ts';
import { PortfolioAnswer, TradesAnswer, TradesQuery } from '../../schemas/trading.ts';
import { filterOf, pageOf, placeIn } from './orders.ts';

type Context = { engine: Pick<Engine, 'nowMs' | 'ask'> };

export function portfolioRoutes({ engine }: Context): Route<Caller>[] {
  return [
    ofAccount({
      method: 'GET',
      path: '/portfolio',
      about: {
        operationId: 'getPortfolio',
        tag: 'Portfolio',
        summary: 'The paper account, its open positions and its resting orders',
        example: PORTFOLIO,
      },
      scope: 'portfolio:read',
      mayBeUnavailable: true,
      query: NoQuery,
      response: PortfolioAnswer,
      run: ({ account }, waiter) =>
        engine.ask(
          account.id,
          {
            kind: 'portfolio',
            atMs: engine.nowMs(),
            account: account.id,
            organizationSlug: account.organizationSlug,
          },
          waiter,
        ),
    }),
    ofAccount({
      method: 'GET',
      path: '/portfolio/trades',
      about: {
        operationId: 'listTrades',
        tag: 'Portfolio',
        summary: 'Trades in any status, newest opened first',
        example: { trades: [TRADE], nextCursor: null, venueData: true, mode: 'paper' },
      },
      scope: 'portfolio:read',
      mayBeUnavailable: true,
      query: TradesQuery,
      response: TradesAnswer,
      prepare: (query) => ({ ...query, ...placeIn('trades', query), only: filterOf(query) }),
      run: ({ account, query }, waiter) =>
        engine.ask(
          account.id,
          {
            kind: 'trades',
            atMs: engine.nowMs(),
            status: query.status ?? null,
            ...pageOf(account, query),
          },
          waiter,
        ),
    }),
  ];
}
