/** Organizations and memberships of the control store: in memory, and on disk before an answer. */
import type { Uuid } from '../../engine/base/units.ts';
import { ApiError, invalidRequest } from '../base/errors.ts';
import type { ControlTables } from './control-tables.ts';
import { type Change, type ControlWriter, ending } from './control-writer.ts';
import type { Membership, Organization } from './organizations.ts';

export class OrganizationTable {
  readonly all = new Map<Uuid, Organization>();
  /** Memberships by user, then by organization. */
  readonly #byUser = new Map<Uuid, Map<Uuid, Membership>>();
  readonly #organizations: ControlTables['organizations'];
  readonly #memberships: ControlTables['memberships'];

  readonly #writer: ControlWriter;

  constructor(tables: Pick<ControlTables, 'organizations' | 'memberships'>, writer: ControlWriter) {
    this.#organizations = tables.organizations;
    this.#memberships = tables.memberships;
    this.#writer = writer;
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
    const putting: Change = {
      ...{ table: this.#memberships, key: diskKey(membership), value: membership },
      keep: () => this.#keep(membership),
    };
    // It may take rights from a member.
    await this.#writer.write([putting], true);
  }

  /** Ends a membership at once. Throws `organization_not_found`, or `account_not_found`. */
  async removeMember(organizationId: Uuid, userId: Uuid): Promise<Membership> {
    this.#existing(organizationId);
    const membership = this.membership(organizationId, userId);
    if (membership === undefined) {
      throw new ApiError('account_not_found', { message: 'No such member.' });
    }
    const removing: Change = {
      ...{ table: this.#memberships, key: diskKey(membership), value: undefined },
      keep: () => void this.#byUser.get(userId)!.delete(organizationId),
    };
    await this.#writer.write(ending([removing]));
    return membership;
  }

  membership(organizationId: Uuid, userId: Uuid): Membership | undefined {
    this.#writer.requireCurrent();
    return this.#byUser.get(userId)?.get(organizationId);
  }

  membershipsOf(userId: Uuid): Membership[] {
    return [...(this.#byUser.get(userId)?.values() ?? [])];
  }

  membersOf(organizationId: Uuid): Membership[] {
    return [...this.#byUser.values()].flatMap((own) => own.get(organizationId) ?? []);
  }

  /** A row is as the disk has it: another node has changed it, or a change came to nothing. */
  forget(id: Uuid): void {
    const row = this.#organizations.get(id);
    if (row === undefined) this.all.delete(id);
    else this.all.set(id, row);
  }

  /** The same of a membership, by `organizationId/userId`. */
  forgetMember(key: string): void {
    const [organizationId, userId] = key.split('/') as [Uuid, Uuid];
    const row = this.#memberships.get(key);
    if (row === undefined) this.#byUser.get(userId)?.delete(organizationId);
    else this.#keep(row);
  }

  async #write(organization: Organization): Promise<void> {
    await this.#writer.write([
      {
        ...{ table: this.#organizations, key: organization.id, value: organization },
        keep: () => void this.all.set(organization.id, organization),
      },
    ]);
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
