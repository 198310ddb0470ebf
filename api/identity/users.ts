/** People. A user's personal paper account has the user's own id. SPEC.md section 1. */
import { type Static, Type } from '@sinclair/typebox';
import type { TradeLimits } from '../../engine/core/messages.ts';
import type { EpochMs, Uuid } from '../../engine/core/units.ts';
import { nullable, strict } from '../schemas/common.ts';
import { PlanSchema, TradeLimitsSchema } from '../schemas/identity.ts';
import { newUuid } from '../uuid.ts';

export type Plan = 'none' | 'basic' | 'builder' | 'desk' | 'enterprise';

/** One key's and the whole account's. CONTRACT.md section 5, Hard trade limits. */
export type OwnTradeLimits = { key: TradeLimits; account: TradeLimits };

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
});
export type UserInput = Static<typeof UserInputSchema>;

/** What an operator can change of a user. */
export const UserChangeSchema = strict({
  displayName: Type.Optional(DisplayName),
  plan: Type.Optional(PlanSchema),
  private: Type.Optional(Type.Boolean()),
  tradeLimits: Type.Optional(nullable(TradeLimitsSchema)),
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
    createdAtMs: nowMs,
  };
}
