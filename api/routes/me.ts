/** GET /me: whose key this is. SPEC.md section 2, Me. */
import type { Caller } from '../access.ts';
import { keyed, type Route } from '../route.ts';
import { NoQuery } from '../schemas/common.ts';
import { MeAnswer } from '../schemas/identity.ts';

export function meRoutes(): Route<Caller>[] {
  return [
    keyed({
      method: 'GET',
      path: '/me',
      query: NoQuery,
      response: MeAnswer,
      run: ({ caller: { user, key } }) =>
        JSON.stringify({
          user: { id: user.id, displayName: user.displayName, private: user.private },
          key: { prefix: key.tokenPrefix, scopes: key.scopes },
          mode: 'paper',
          paperOnly: true,
          limits: null,
        }),
    }),
  ];
}
