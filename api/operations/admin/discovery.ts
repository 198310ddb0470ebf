/**
 * The results of discovery, and a run at once, on the operator's listener. Rules O27, O28
 * (api/RULES.md).
 */
import { NoQuery } from '../../base/common-schemas.ts';
import { keyed, type Route } from '../../dispatch/route.ts';
import type { Operator } from '../../identity/admin-token.ts';
import { DiscoveryAnswer } from '../../schemas/admin.ts';
import type { ServerContext } from '../server-context.ts';

export function discoveryAdminRoutes({
  discovery,
}: Pick<ServerContext, 'discovery'>): Route<Operator>[] {
  const answer = () => JSON.stringify({ ...discovery.counts(), entries: discovery.statuses() });
  const described = { path: '/admin/discovery', query: NoQuery, response: DiscoveryAnswer };
  return [
    keyed({ method: 'GET', ...described, run: answer }),
    keyed({
      method: 'POST',
      ...described,
      run: async () => {
        await discovery.runNow();
        return answer();
      },
    }),
  ];
}
