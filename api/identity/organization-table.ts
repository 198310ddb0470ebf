/** Organizations and memberships of the control store: in memory, and on disk before an answer. */
import type { Uuid } from '../../engine/base/units.ts';
import { ApiError, invalidRequest } from '../base/errors.ts';
import type { ControlTables } from './control-tables.ts';
import type { Membership, Organization } from './organizations.ts';

export class OrganizationTable {
  readonly all = new Map<Uuid, Organization>();
  /** Memberships by user, then by organization. */
  readonly #byUser = new Map<Uuid, Map<Uuid, Membership>>();
  readonly #organizations: ControlTables['organizations'];
  readonly #memberships: ControlTables['memberships'];

  constructor(tables: Pick<ControlTables, 'organizations' | 'memberships'>) {
    this.#organizations = tables.organizations;
    this.#memberships = tables.memberships;
    for (const { value } of this.#organizations.entries()) this.all.set(value.id, value);
    for (const { value } of this.#memberships.entries()) this.#keep(value);
  }

  /** Adds an organization. Throws `invalid_request` when the slug is taken. */
  async add(organization: Organization): Promise<void> {
    this.#refuseTakenSlug(organization.id, organization.slug);
    await this.#write(organization);
  }

  /** Changes one. Throws `organization_not_found`, or `invalid_request` when the slug is taken. */
  async change(id: Uuid, change: Partial<Organization>): Promise<Organization> {
    const organization = this.#existing(id);
    if (change.slug !== undefined) this.#refuseTakenSlug(id, change.slug);
    const changed = { ...organization, ...change, id };
    await this.#write(changed);
    return changed;
  }

  /** Adds a membership, or gives it another role. Throws `organization_not_found`. */
  async putMember(membership: Membership): Promise<void> {
    this.#existing(membership.organizationId);
    const written = this.#memberships.put(diskKey(membership), membership);
    this.#keep(membership);
    await written;
    await this.#memberships.flushed;
  }

  /** Ends a membership at once. Throws `organization_not_found`, or `account_not_found`. */
  async removeMember(organizationId: Uuid, userId: Uuid): Promise<Membership> {
    this.#existing(organizationId);
    const membership = this.membership(organizationId, userId);
    if (membership === undefined) {
      throw new ApiError('account_not_found', { message: 'No such member.' });
    }
    this.#byUser.get(userId)!.delete(organizationId);
    await this.#memberships.remove(diskKey(membership));
    await this.#memberships.flushed;
    return membership;
  }

  membership(organizationId: Uuid, userId: Uuid): Membership | undefined {
    return this.#byUser.get(userId)?.get(organizationId);
  }

  membershipsOf(userId: Uuid): Membership[] {
    return [...(this.#byUser.get(userId)?.values() ?? [])];
  }

  membersOf(organizationId: Uuid): Membership[] {
    return [...this.#byUser.values()].flatMap((own) => own.get(organizationId) ?? []);
  }

  async #write(organization: Organization): Promise<void> {
    // Throws at once when the disk is full, before the organization is added.
    const written = this.#organizations.put(organization.id, organization);
    this.all.set(organization.id, organization);
    await written;
    await this.#organizations.flushed;
  }

  #keep(membership: Membership): void {
    const { organizationId, userId } = membership;
    const own = this.#byUser.get(userId) ?? new Map<Uuid, Membership>();
    this.#byUser.set(userId, own.set(organizationId, membership));
  }

  #existing(id: Uuid): Organization {
    const organization = this.all.get(id);
    if (organization === undefined) throw new ApiError('organization_not_found');
    return organization;
  }

  #refuseTakenSlug(id: Uuid, slug: string): void {
    for (const organization of this.all.values()) {
      if (organization.id !== id && organization.slug === slug) {
        throw invalidRequest('slug is used by another organization');
      }
    }
  }
}

const diskKey = ({ organizationId, userId }: Membership) => `${organizationId}/${userId}`;
