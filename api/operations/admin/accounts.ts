/** A user's personal account on the operator's listener. Rule A260 (api/RULES.md). */
import type { Uuid } from '../../../engine/base/units.ts';
import { NoQuery } from '../../base/common-schemas.ts';
import { ApiError } from '../../base/errors.ts';
import { keyed, type Route } from '../../dispatch/route.ts';
import type { Operator } from '../../identity/admin-token.ts';
import { PortfolioAnswer, TradesAnswer, TradesQuery } from '../../schemas/trading.ts';
import { filterOf, pageOf, placeIn } from '../routes/orders.ts';
import type { ServerContext } from '../server-context.ts';

type Context = Pick<ServerContext, 'engine' | 'identity'>;

export function accountAdminRoutes({ engine, identity }: Context): Route<Operator>[] {
  /** Throws 404. */
  const accountOf = (param: string): { id: Uuid; organizationSlug: null } => {
    const id = param.toLowerCase();
    if (identity.users.has(id)) return { id, organizationSlug: null };
    throw new ApiError('account_not_found', { message: 'No such user.' });
  };
  return [
    keyed({
      method: 'GET',
      path: '/admin/users/{userId}/portfolio',
      query: NoQuery,
      response: PortfolioAnswer,
      mayBeUnavailable: true,
      run: ({ param }, waiter) => {
        const { id: account, organizationSlug } = accountOf(param);
        const query = {
          kind: 'portfolio',
          atMs: engine.nowMs(),
          account,
          organizationSlug,
        } as const;
        return engine.ask(account, query, waiter);
      },
    }),
    keyed({
      method: 'GET',
      path: '/admin/users/{userId}/trades',
      query: TradesQuery,
      response: TradesAnswer,
      mayBeUnavailable: true,
      prepare: (query) => ({ ...query, ...placeIn('userTrades', query), only: filterOf(query) }),
      run: ({ param, query }, waiter) => {
        const account = accountOf(param);
        const status = query.status ?? null;
        const page = { atMs: engine.nowMs(), status, ...pageOf(account, query) };
        return engine.ask(account.id, { kind: 'trades', ...page }, waiter);
      },
    }),
  ];
}
