/** People. A user's personal paper account has the user's own id. SPEC.md section 1. */
import { Type } from '@sinclair/typebox';
import type { EpochMs, Uuid } from '../../engine/core/units.ts';
import { strict } from '../schemas/common.ts';
import { PlanSchema } from '../schemas/identity.ts';
import { newUuid } from '../uuid.ts';

export type Plan = 'none' | 'basic' | 'builder' | 'desk' | 'enterprise';

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
});
export type UserInput = { email: string; displayName?: string; plan?: Plan };

/** What an operator can change of a user. */
export const UserChangeSchema = strict({
  displayName: Type.Optional(DisplayName),
  plan: Type.Optional(PlanSchema),
  private: Type.Optional(Type.Boolean()),
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
    createdAtMs: nowMs,
  };
}
