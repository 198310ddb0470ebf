/** GET /organizations: the organizations of a key. Rule A59 (api/RULES.md). */
import type { Caller } from '../access.ts';
import type { Deps } from '../deps.ts';
import type { OwnOrganization } from '../organizations.ts';
import { keyed, type Route } from '../route.ts';
import { NoQuery } from '../schemas/common.ts';
import { ORGANIZATION } from '../schemas/examples.ts';
import { OrganizationsAnswer } from '../schemas/identity.ts';

export function organizationRoutes({ organizations }: Deps): Route<Caller>[] {
  return [
    keyed({
      method: 'GET',
      path: '/organizations',
      about: {
        operationId: 'listOrganizations',
        tag: 'Service',
        summary: 'The organizations that the key can use, by slug',
        example: { organizations: [ORGANIZATION], count: 1, mode: 'paper' },
      },
      mayBeUnavailable: true,
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
