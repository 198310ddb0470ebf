/**
 * The paper account that a call acts on: the key owner's own, or an organization's sandbox. An
 * organization's has the organization's id, as a personal one has its user's. SPEC.md sections 1
 * (rule 8) and 4 (Organization header).
 */
import { createHash } from 'node:crypto';
import type { Static } from '@sinclair/typebox';
import { uuidOfWords } from '../../engine/core/ids.ts';
import { ACCOUNT_LIMITS, KEY_LIMITS } from '../../engine/core/limits.ts';
import type { TradeCounting } from '../../engine/core/messages.ts';
import type { Uuid } from '../../engine/core/units.ts';
import type { TradeLimitsChangeSchema } from '../schemas/identity.ts';
import type { OwnTradeLimits, User } from './users.ts';

export type PaperAccount = {
  id: Uuid;
  /** Null: a personal account. */
  organizationSlug: string | null;
  /** Whether what is placed now is placed privately. CONTRACT.md section 5, Privacy. */
  isPrivate: boolean;
  /** Its own hard trade limits; null: those of everybody. */
  tradeLimits: OwnTradeLimits | null;
};

/** An account of plan enterprise may carry its own limits. CONTRACT.md section 5. */
export function personalAccount({ id, private: isPrivate, plan, tradeLimits }: User): PaperAccount {
  const ownLimits = plan === 'enterprise' ? tradeLimits : null;
  return { id, organizationSlug: null, isPrivate, tradeLimits: ownLimits };
}

/** Always private: an organization has no public profile that could show its trades. */
export function organizationAccount(
  { id, slug }: { id: Uuid; slug: string },
  tradeLimits: OwnTradeLimits | null,
): PaperAccount {
  return { id, organizationSlug: slug, isPrivate: true, tradeLimits };
}

/** An account's own limits after a change; who had none starts from those of everybody. */
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

/** Whose trading a command of this key counts as, and within which limits. SPEC.md section 8. */
export function countingOf(account: PaperAccount, keyId: Uuid): TradeCounting {
  const { id, organizationSlug, tradeLimits } = account;
  return {
    keyId: organizationSlug === null ? keyId : keyIdWithin(id, keyId),
    keyLimits: tradeLimits?.key ?? KEY_LIMITS,
    accountLimits: tradeLimits?.account ?? ACCOUNT_LIMITS,
  };
}

/**
 * What a key is counted as within an organization. Accounts live in different shards, so one count
 * over two accounts would depend on where they happen to live: each has its own. The uuid is of
 * version 8, made of a hash; keys are of version 7.
 */
function keyIdWithin(account: Uuid, keyId: Uuid): Uuid {
  const digest = createHash('sha256').update(`${account}/${keyId}`).digest();
  const [w0, w1, w2, w3] = [0, 4, 8, 12].map((at) => digest.readUInt32BE(at)) as Words;
  const version = (w1 & 0xffff0fff) | 0x8000;
  const variant = (w2 & 0x3fffffff) | 0x80000000;
  return uuidOfWords(w0, version >>> 0, variant >>> 0, w3);
}

type Words = [number, number, number, number];
