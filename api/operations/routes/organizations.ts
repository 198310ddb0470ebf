/**
 * GET /organizations and PATCH /organizations/{organizationId}: the organizations of a caller. Rules
 * A59, A141 (api/RULES.md).
 */

import type { Uuid } from '../../../engine/base/units.ts';
import { isUuid } from '../../../engine/rules/ids.ts';
import { PRESETS } from '../../../engine/rules/realism.ts';
import { NoQuery } from '../../base/common-schemas.ts';
import { ApiError } from '../../base/errors.ts';
import type { Caller } from '../../dispatch/access.ts';
import { keyed, type Route, session } from '../../dispatch/route.ts';
import type { OwnOrganization } from '../../identity/organization-access.ts';
import { ORGANIZATION } from '../../schemas/examples.ts';
import { OrganizationAnswer, OrganizationId, OrganizationsAnswer } from '../../schemas/identity.ts';
import { changeRealism, NO_QUEUES, readRealismBody, realismOf } from '../realism.ts';
import type { ServerContext } from '../server-context.ts';

type Context = Pick<
  ServerContext,
  'organizations' | 'config' | 'identity' | 'switches' | 'bookNeeds' | 'log'
>;

export function organizationRoutes(context: Context): Route<Caller>[] {
  return [listOrganizations(context), changeOrganization(context)];
}

function listOrganizations(context: Context): Route<Caller> {
  const answerOf = (own: OwnOrganization[]) => {
    const organizations = own.map((each) => ({ ...each, realism: realismOf(context, each.id) }));
    return JSON.stringify({ organizations, count: organizations.length, mode: 'paper' });
  };
  return keyed({
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
      const own = context.organizations.of(caller);
      return own instanceof Promise ? own.then(answerOf) : answerOf(own);
    },
  });
}

function changeOrganization(context: Context): Route<Caller> {
  return session({
    method: 'PATCH',
    path: '/organizations/{organizationId}',
    about: {
      operationId: 'changeOrganization',
      tag: 'Service',
      summary: "Change the realism of an organization's sandbox",
      description: 'For an owner of the organization.',
      param: OrganizationId,
      bodyExamples: { 'Realistic fills': { realism: 'realistic' } },
      example: { organization: { ...ORGANIZATION, role: 'owner', realism: PRESETS.realistic } },
    },
    errors: ['organization_not_found', 'organization_forbidden', NO_QUEUES],
    mayBeUnavailable: true,
    writesControl: true,
    query: NoQuery,
    response: OrganizationAnswer,
    readBody: readRealismBody,
    run: async ({ caller, param, body }) => {
      const id = organizationIdOf(param);
      // Throws if the caller is no member.
      await context.organizations.accountOf(caller, id);
      const own = (await context.organizations.of(caller)).find((each) => each.id === id);
      if (own?.role !== 'owner') {
        throw new ApiError('organization_forbidden', { message: NO_OWNER });
      }
      const realism = await changeRealism(context, id, body.realism);
      return JSON.stringify({ organization: { ...own, realism } });
    },
  });
}

const NO_OWNER = 'Only an owner of the organization can change it.';

function organizationIdOf(param: string): Uuid {
  if (!isUuid(param)) throw new ApiError('organization_not_found');
  return param.toLowerCase();
}
