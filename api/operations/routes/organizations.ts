/** GET /organizations: the organizations of a key. Rule A59 (api/RULES.md). */

import { NoQuery } from '../../base/common-schemas.ts';
import type { Caller } from '../../dispatch/access.ts';
import { keyed, type Route } from '../../dispatch/route.ts';
import type { OwnOrganization } from '../../identity/organization-access.ts';
import { ORGANIZATION } from '../../schemas/examples.ts';
import { OrganizationsAnswer } from '../../schemas/identity.ts';
import type { ServerContext } from '../server-context.ts';

type Context = Pick<ServerContext, 'organizations'>;

export function organizationRoutes({ organizations }: Context): Route<Caller>[] {
  return [
    keyed({
      method: 'GET',
      path: '/organizations',
      about: {
        operationId: 'listOrganizations',
        tag: 'Service',
        summary: 'List the organizations that the key can use, by slug',
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
