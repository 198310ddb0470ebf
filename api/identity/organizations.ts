/** Organizations and their members. Rules I61, I64 (api/RULES.md). */
import { type Static, Type } from '@sinclair/typebox';
import type { EpochMs, Uuid as UuidText } from '../../engine/base/units.ts';
import { nullable, strict, Uuid } from '../base/common-schemas.ts';
import { SHOWN_TEXT } from '../base/shown-text.ts';
import { newUuid } from '../base/uuid.ts';
import {
  RoleSchema,
  SandboxLimitsChangeSchema,
  type SandboxLimitsSchema,
} from '../schemas/identity.ts';

/** An organization's own hard trade limits: the limits of its account over all keys. */
export type SandboxLimits = Static<typeof SandboxLimitsSchema>;

export type Organization = {
  /** Also the id of its paper account. */
  id: UuidText;
  /** Unique. */
  slug: string;
  name: string;
  /** Null: the default limits. */
  tradeLimits: SandboxLimits | null;
  createdAtMs: EpochMs;
};

/** Owners and members alike may use the sandbox. */
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
  format: SHOWN_TEXT,
  description: 'one line of 1 to 128 characters, none of them control, bidi or zero-width',
});

/** The fields of a new organization, from an operator. */
export const OrganizationInputSchema = strict({ slug: Slug, name: Name });

/** The fields of an organization that an operator can change. */
export const OrganizationChangeSchema = strict({
  slug: Type.Optional(Slug),
  name: Type.Optional(Name),
  tradeLimits: Type.Optional(nullable(SandboxLimitsChangeSchema)),
});

/** The new member and their role. */
export const MembershipInputSchema = strict({ userId: Uuid, role: RoleSchema });

export function newOrganization(
  { slug, name }: Static<typeof OrganizationInputSchema>,
  nowMs: EpochMs,
): Organization {
  return { id: newUuid(nowMs), slug, name, tradeLimits: null, createdAtMs: nowMs };
}
