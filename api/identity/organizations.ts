/** Organizations and who belongs to them. Rules I61, I64 (api/RULES.md). */
import { type Static, Type } from '@sinclair/typebox';
import type { EpochMs, Uuid as UuidText } from '../../engine/rules/units.ts';
import { nullable, strict, Uuid } from '../schemas/common.ts';
import {
  RoleSchema,
  SandboxLimitsChangeSchema,
  type SandboxLimitsSchema,
} from '../schemas/identity.ts';
import { newUuid } from '../uuid.ts';

/** An organization's own hard trade limits: those of its account over all keys. */
export type SandboxLimits = Static<typeof SandboxLimitsSchema>;

export type Organization = {
  /** Also the id of its paper account. */
  id: UuidText;
  /** One organization a slug. */
  slug: string;
  name: string;
  /** Null: the limits of everybody. */
  tradeLimits: SandboxLimits | null;
  createdAtMs: EpochMs;
};

/** Owners and members alike use the sandbox. */
export type Role = Static<typeof RoleSchema>;

export type Membership = {
  organizationId: UuidText;
  userId: UuidText;
  role: Role;
  createdAtMs: EpochMs;
};

const Slug = Type.String({
  pattern: '^[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?$',
  description: '1 to 64 small letters, digits and dashes, no dash at an end',
});
const Name = Type.String({
  pattern: '^\\S([^\\r\\n]{0,126}\\S)?$',
  description: 'one line of 1 to 128 characters',
});

/** What an operator says of a new organization. */
export const OrganizationInputSchema = strict({ slug: Slug, name: Name });

/** What an operator can change of one. */
export const OrganizationChangeSchema = strict({
  slug: Type.Optional(Slug),
  name: Type.Optional(Name),
  tradeLimits: Type.Optional(nullable(SandboxLimitsChangeSchema)),
});

/** Who is to belong, and as what. */
export const MembershipInputSchema = strict({ userId: Uuid, role: RoleSchema });

export function newOrganization(
  { slug, name }: Static<typeof OrganizationInputSchema>,
  nowMs: EpochMs,
): Organization {
  return { id: newUuid(nowMs), slug, name, tradeLimits: null, createdAtMs: nowMs };
}
