/**
 * The paper account that a call acts on: the key owner's own, or an organization's sandbox. A
 * sandbox has its organization's id, as a personal account has its user's. Rules L8, L9, I53,
 * I60, T27 (engine/RULES.md, api/RULES.md).
 */
import type { Static } from '@sinclair/typebox';
import type { Uuid } from '../../engine/base/units.ts';
import type { TradeCounting, TradeLimits } from '../../engine/rules/messages.ts';
import type { Realism } from '../../engine/rules/realism.ts';
import { ACCOUNT_LIMITS, KEY_LIMITS } from '../../engine/rules/trade-limits.ts';
import type { SandboxLimitsChangeSchema, TradeLimitsChangeSchema } from '../schemas/identity.ts';
import type { SandboxLimits } from './organizations.ts';
import type { OwnTradeLimits, User } from './users.ts';

export type PaperAccount = {
  id: Uuid;
  /** Null: a personal account. */
  organizationSlug: string | null;
  /** Whether orders are placed privately now. Rule T27 (engine/RULES.md). */
  isPrivate: boolean;
  /** Its hard trade limits over all keys. */
  accountLimits: TradeLimits;
  /** What its owner has chosen for its orders; null: the preset `simple`. */
  realism: Realism | null;
};

export function personalAccount(user: User, realism: Realism | null): PaperAccount {
  const { id, private: isPrivate } = user;
  const accountLimits = ownTradeLimits(user)?.account ?? ACCOUNT_LIMITS;
  return { id, organizationSlug: null, isPrivate, accountLimits, realism };
}

/** An account of plan enterprise may carry its own limits. Rule L9 (engine/RULES.md). */
function ownTradeLimits({ plan, tradeLimits }: User): OwnTradeLimits | null {
  return plan === 'enterprise' ? tradeLimits : null;
}

/** Always private: an organization has no public profile that could show its trades. */
export function organizationAccount(
  { id, slug }: { id: Uuid; slug: string },
  tradeLimits: SandboxLimits | null,
  realism: Realism | null,
): PaperAccount {
  const accountLimits = tradeLimits?.account ?? ACCOUNT_LIMITS;
  return { id, organizationSlug: slug, isPrivate: true, accountLimits, realism };
}

/** An account's own limits after a change; without own limits it starts from the default ones. */
export function changedTradeLimits(
  own: OwnTradeLimits | null,
  change: Static<typeof TradeLimitsChangeSchema> | null,
): OwnTradeLimits | null {
  if (change === null) return null;
  return {
    key: { ...(own?.key ?? KEY_LIMITS), ...change.key },
    account: { ...(own?.account ?? ACCOUNT_LIMITS), ...change.account },
  };
}

/** An organization's own limits after a change; without any it starts from the default ones. */
export function changedSandboxLimits(
  own: SandboxLimits | null,
  change: Static<typeof SandboxLimitsChangeSchema> | null,
): SandboxLimits | null {
  if (change === null) return null;
  return { account: { ...(own?.account ?? ACCOUNT_LIMITS), ...change.account } };
}

/**
 * Whose trading a command counts towards, and which limits apply. A key, or a session in its place,
 * has its owner's limits, whichever account it trades on. Rules L7, L8, I27 (engine/RULES.md,
 * api/RULES.md).
 */
export function countingOf(
  owner: User,
  credentialId: Uuid,
  { accountLimits }: PaperAccount,
): TradeCounting {
  const keyLimits = ownTradeLimits(owner)?.key ?? KEY_LIMITS;
  return { keyId: credentialId, keyLimits, accountLimits, elsewhere: null };
}
