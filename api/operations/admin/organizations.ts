/** The operator's organizations, on the admin listener. Rule O7 (api/RULES.md). */
import { isoOf, type Uuid as UuidText } from '../../../engine/base/units.ts';
import { NoQuery, strict, Uuid } from '../../base/common-schemas.ts';
import { ApiError, invalidRequest } from '../../base/errors.ts';
import { bodyReader } from '../../base/validation.ts';
import { keyed, type Route } from '../../dispatch/route.ts';
import { changedSandboxLimits } from '../../identity/accounts.ts';
import type { Operator } from '../../identity/admin-token.ts';
import {
  type Membership,
  MembershipInputSchema,
  newOrganization,
  type Organization,
  OrganizationChangeSchema,
  OrganizationInputSchema,
} from '../../identity/organizations.ts';
import {
  AdminMembershipAnswer,
  AdminOrganizationAnswer,
  AdminOrganizationsAnswer,
} from '../../schemas/admin.ts';
import type { ServerContext } from '../server-context.ts';

type Context = Pick<ServerContext, 'log' | 'config' | 'identity'>;

const readOrganizationInput = bodyReader(OrganizationInputSchema);
const readOrganizationChange = bodyReader(OrganizationChangeSchema);
const readMembershipInput = bodyReader(MembershipInputSchema);

export function organizationAdminRoutes(context: Context): Route<Operator>[] {
  return [...organizationRoutes(context), ...memberRoutes(context)];
}

function organizationRoutes({ identity, config, log }: Context): Route<Operator>[] {
  const { organizations } = identity;
  return [
    keyed({
      method: 'GET',
      path: '/admin/organizations',
      query: NoQuery,
      response: AdminOrganizationsAnswer,
      run: () => {
        refuseOutside(config);
        const all = [...organizations.all.values()].map((organization) => ({
          ...organizationView(organization),
          members: organizations.membersOf(organization.id).map(memberView),
        }));
        return JSON.stringify({ organizations: all });
      },
    }),
    keyed({
      method: 'POST',
      path: '/admin/organizations',
      writesControl: true,
      query: NoQuery,
      response: AdminOrganizationAnswer,
      readBody: readOrganizationInput,
      run: async ({ body }) => {
        refuseOutside(config);
        const organization = newOrganization(body, Date.now());
        await organizations.add(organization);
        log.info({ organizationId: organization.id, slug: body.slug }, 'organization created');
        return JSON.stringify({ organization: organizationView(organization) });
      },
    }),
    keyed({
      method: 'PATCH',
      path: '/admin/organizations/{organizationId}',
      writesControl: true,
      query: NoQuery,
      response: AdminOrganizationAnswer,
      readBody: readOrganizationChange,
      run: async ({ param, body }) => {
        refuseOutside(config);
        const id = param.toLowerCase();
        const { tradeLimits, ...rest } = body;
        const own = organizations.all.get(id)?.tradeLimits ?? null;
        const change =
          tradeLimits === undefined
            ? rest
            : { ...rest, tradeLimits: changedSandboxLimits(own, tradeLimits) };
        const organization = await organizations.change(id, change);
        log.info({ organizationId: organization.id, ...change }, 'organization changed');
        return JSON.stringify({ organization: organizationView(organization) });
      },
    }),
  ];
}

function memberRoutes({ identity, config, log }: Context): Route<Operator>[] {
  const { organizations, users } = identity;
  return [
    keyed({
      method: 'PUT',
      path: '/admin/organizations/{organizationId}/members',
      writesControl: true,
      query: NoQuery,
      response: AdminMembershipAnswer,
      readBody: readMembershipInput,
      run: async ({ param, body }) => {
        refuseOutside(config);
        const [organizationId, userId] = [param.toLowerCase(), body.userId.toLowerCase()];
        if (!users.has(userId)) throw noSuchUser();
        const known = organizations.membership(organizationId, userId);
        const createdAtMs = known?.createdAtMs ?? Date.now();
        const member = { organizationId, userId, role: body.role, createdAtMs };
        await organizations.putMember(member);
        log.info({ organizationId, userId, role: body.role }, 'organization member added');
        return membershipAnswer(organizationId, member);
      },
    }),
    keyed({
      method: 'DELETE',
      path: '/admin/organizations/{organizationId}/members',
      writesControl: true,
      query: strict({ userId: Uuid }),
      response: AdminMembershipAnswer,
      run: async ({ param, query }) => {
        refuseOutside(config);
        const [organizationId, userId] = [param.toLowerCase(), query.userId.toLowerCase()];
        const member = await organizations.removeMember(organizationId, userId);
        log.info({ organizationId, userId }, 'organization member removed');
        return membershipAnswer(organizationId, member);
      },
    }),
  ];
}

/** A change here would have no effect, so it is refused rather than seem to work. */
function refuseOutside({ organizationsUrl }: Context['config']): void {
  if (organizationsUrl === null) return;
  throw invalidRequest(
    'Organizations live in the service of PAPERBOOK_ORGANIZATIONS_URL, not in this server.',
  );
}

function noSuchUser(): ApiError {
  return new ApiError('account_not_found', { message: 'No such user.' });
}

function organizationView(organization: Organization) {
  const { createdAtMs, tradeLimits, ...shown } = organization;
  // A sandbox stored when sandboxes had key limits may still have some.
  const own = tradeLimits && { account: tradeLimits.account };
  return { ...shown, tradeLimits: own, createdAt: isoOf(createdAtMs) };
}

function memberView({ userId, role, createdAtMs }: Membership) {
  return { userId, role, createdAt: isoOf(createdAtMs) };
}

function membershipAnswer(organizationId: UuidText, member: Membership): string {
  return JSON.stringify({ organizationId, member: memberView(member) });
}
