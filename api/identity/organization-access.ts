/**
 * Organizations as a caller sees them, wherever they live: `GET /organizations` and the X-Service-Org
 * header ask the same place. Rules I60 to I65 (api/RULES.md).
 */
import type { Uuid } from '../../engine/base/units.ts';
import { ApiError } from '../base/errors.ts';
import { organizationAccount, type PaperAccount } from './accounts.ts';
import type { Role } from './organizations.ts';
import type { ControlStore } from './store.ts';
import type { User } from './users.ts';

/** The caller, with the credential as it was sent; an outside service gets it forwarded. */
export type CredentialHolder = { user: User; credentialId: Uuid; token: string };

/** An organization as one of its members sees it. Rule A59 (api/RULES.md). */
export type OwnOrganization = { id: Uuid; slug: string; name: string; role: Role };

export interface Organizations {
  /** The organizations that the caller can use, by slug. */
  of(holder: CredentialHolder): OwnOrganization[] | Promise<OwnOrganization[]>;
  /**
   * The sandbox of one of them. Throws or rejects with `organization_not_found` or
   * `organization_forbidden`.
   *
   * @param id a uuid in lower case
   */
  accountOf(holder: CredentialHolder, id: Uuid): PaperAccount | Promise<PaperAccount>;
}

/** Organizations of the control store. */
export function storedOrganizations({ organizations, realism }: ControlStore): Organizations {
  return {
    of: ({ user }) =>
      organizations
        .membershipsOf(user.id)
        .map(({ organizationId, role }) => {
          const { id, slug, name } = organizations.all.get(organizationId)!;
          return { id, slug, name, role };
        })
        .sort((a, b) => (a.slug < b.slug ? -1 : 1)),
    accountOf: ({ user }, id) => {
      const organization = organizations.all.get(id);
      if (organization === undefined) throw new ApiError('organization_not_found');
      if (organizations.membership(id, user.id) === undefined) {
        throw new ApiError('organization_forbidden');
      }
      return organizationAccount(organization, organization.tradeLimits, realism.of(id));
    },
  };
}
