/** GET /me and GET /usage: whose key this is, and how much it was used. SPEC.md section 2. */
import type { Caller } from '../access.ts';
import type { Deps } from '../deps.ts';
import { keyed, type Route } from '../route.ts';
import { NoQuery } from '../schemas/common.ts';
import { MeAnswer, UsageAnswer } from '../schemas/identity.ts';

export function meRoutes({ meter }: Deps): Route<Caller>[] {
  return [
    keyed({
      method: 'GET',
      path: '/me',
      query: NoQuery,
      response: MeAnswer,
      run: ({ caller: { user, key } }) => {
        const { minute, month } = meter.usage(user);
        return JSON.stringify({
          user: { id: user.id, displayName: user.displayName, private: user.private },
          key: { prefix: key.tokenPrefix, scopes: key.scopes },
          mode: 'paper',
          paperOnly: true,
          limits: {
            minute: { limit: minute.limit, remaining: minute.remaining },
            month: { limit: month.limit, used: month.used },
            enforced: meter.enforced,
          },
        });
      },
    }),
    keyed({
      method: 'GET',
      path: '/usage',
      query: NoQuery,
      isCounted: false,
      response: UsageAnswer,
      run: ({ caller: { user, key } }) =>
        JSON.stringify({
          plan: user.plan,
          ...meter.usage(user),
          key: {
            prefix: key.tokenPrefix,
            requestsThisMonth: meter.requestsThisMonth(key.id),
          },
          enforced: meter.enforced,
          mode: 'paper',
        }),
    }),
  ];
}
