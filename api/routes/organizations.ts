/** GET /organizations: those that the key can use. SPEC.md section 4; CONTRACT.md section 3. */
import type { Caller } from '../access.ts';
import type { Deps } from '../deps.ts';
import type { OwnOrganization } from '../organizations.ts';
import { keyed, type Route } from '../route.ts';
import { NoQuery } from '../schemas/common.ts';
import { OrganizationsAnswer } from '../schemas/identity.ts';

export function organizationRoutes({ organizations }: Deps): Route<Caller>[] {
  return [
    keyed({
      method: 'GET',
      path: '/organizations',
      query: NoQuery,
      response: OrganizationsAnswer,
      run: ({ caller }) => {
        const own = organizations.of(caller);
        return own instanceof Promise ? own.then(answerOf) : answerOf(own);
      },
    }),
  ];
}

function answerOf(organizations: OwnOrganization[]): string {
  return JSON.stringify({ organizations, count: organizations.length, mode: 'paper' });
}
