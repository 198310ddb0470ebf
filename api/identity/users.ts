/** People. A user's personal paper account has the user's own id. SPEC.md section 1. */
import { type Static, Type } from '@sinclair/typebox';
import { ACCOUNT_LIMITS, KEY_LIMITS } from '../../engine/core/limits.ts';
import type { TradeCounting, TradeLimits } from '../../engine/core/messages.ts';
import type { EpochMs, Uuid } from '../../engine/core/units.ts';
import { nullable, strict } from '../schemas/common.ts';
import { PlanSchema, RequestLimitsSchema, TradeLimitsSchema } from '../schemas/identity.ts';
import { newUuid } from '../uuid.ts';

export type Plan = 'none' | 'basic' | 'builder' | 'desk' | 'enterprise';

/** One key's and the whole account's. CONTRACT.md section 5, Hard trade limits. */
export type OwnTradeLimits = { key: TradeLimits; account: TradeLimits };

/** How many requests an account may make over all its keys. SPEC.md section 8. */
export type RequestLimits = Static<typeof RequestLimitsSchema>;

export type User = {
  id: Uuid;
  displayName: string | null;
  /** Lower case; one user an address. */
  email: string;
  /** Private until its owner makes it public. SPEC.md section 1. */
  private: boolean;
  /** Whether trades placed while private are shown once public. CONTRACT.md section 5, Privacy. */
  showEarlierTrades: boolean;
  plan: Plan;
  /** Its own hard trade limits, which only the plan enterprise has; null: those of everybody. */
  tradeLimits: OwnTradeLimits | null;
  /** Its own request limits, which only the plan enterprise has; null: those of its plan. */
  requestLimits: RequestLimits | null;
  createdAtMs: EpochMs;
};

// Traders are looked up by display name, from two characters on (SPEC.md section 4, Records).
const DisplayName = Type.String({ minLength: 2, maxLength: 64 });

/** What an operator says of a new user. */
export const UserInputSchema = strict({
  email: Type.String({
    pattern: '^[^\\s@]{1,64}@[^\\s@]{1,189}$',
    description: 'an email address',
  }),
  displayName: Type.Optional(DisplayName),
  plan: Type.Optional(PlanSchema),
  tradeLimits: Type.Optional(nullable(TradeLimitsSchema)),
  requestLimits: Type.Optional(nullable(RequestLimitsSchema)),
});
export type UserInput = Static<typeof UserInputSchema>;

/** What an operator can change of a user. */
export const UserChangeSchema = strict({
  displayName: Type.Optional(DisplayName),
  plan: Type.Optional(PlanSchema),
  private: Type.Optional(Type.Boolean()),
  tradeLimits: Type.Optional(nullable(TradeLimitsSchema)),
  requestLimits: Type.Optional(nullable(RequestLimitsSchema)),
});

/** A user who is private, on no plan unless told otherwise. */
export function newUser(input: UserInput, nowMs: EpochMs): User {
  return {
    id: newUuid(nowMs),
    displayName: input.displayName ?? null,
    email: input.email.toLowerCase(),
    private: true,
    showEarlierTrades: false,
    plan: input.plan ?? 'none',
    tradeLimits: input.tradeLimits ?? null,
    requestLimits: input.requestLimits ?? null,
    createdAtMs: nowMs,
  };
}

/** Whose trading a command of this key counts as, and within which limits. SPEC.md section 8. */
export function countingOf({ plan, tradeLimits }: User, keyId: Uuid): TradeCounting {
  const own = plan === 'enterprise' ? tradeLimits : null;
  return {
    keyId,
    keyLimits: own?.key ?? KEY_LIMITS,
    accountLimits: own?.account ?? ACCOUNT_LIMITS,
  };
}
