/**
 * People. A user's personal paper account has the user's own id. Rules I50 to I53 (api/RULES.md).
 */
import { type Static, Type } from '@sinclair/typebox';
import type { EpochMs, Uuid } from '../../engine/base/units.ts';
import type { TradeLimits } from '../../engine/rules/messages.ts';
import { nullable, strict } from '../base/common-schemas.ts';
import type { PLANS } from '../base/plan-names.ts';
import { isShownText, PERSON_NAME, SHOWN_TEXT } from '../base/shown-text.ts';
import { newUuid } from '../base/uuid.ts';
import {
  PlanSchema,
  RequestLimitsChangeSchema,
  RequestLimitsSchema,
  TradeLimitsChangeSchema,
  TradeLimitsSchema,
} from '../schemas/identity.ts';
import { PasswordSchema } from './passwords.ts';

export type Plan = (typeof PLANS)[number];

/** The limits of one key and of the whole account. Rules L1 to L10 (engine/RULES.md). */
export type OwnTradeLimits = { key: TradeLimits; account: TradeLimits };

/** How many requests an account may make over all its keys. Rule Q1 (api/RULES.md). */
export type RequestLimits = Static<typeof RequestLimitsSchema>;

export type User = {
  id: Uuid;
  displayName: string | null;
  /** Lower case and unique. Null if an outside auth server gives no verified address. */
  email: string | null;
  /** Private until its owner makes it public. Rule I52 (api/RULES.md). */
  private: boolean;
  /** Whether trades placed while private are shown once public. Rule T27 (engine/RULES.md). */
  showEarlierTrades: boolean;
  plan: Plan;
  /**
   * Its own hard trade limits; null: the default ones. Only the plan enterprise may have them. They
   * are kept without effect while the user is on another plan.
   */
  tradeLimits: OwnTradeLimits | null;
  /** Its own request limits, under the same conditions; null: the limits of its plan. */
  requestLimits: RequestLimits | null;
  createdAtMs: EpochMs;
};

const DisplayName = Type.String({
  minLength: 2,
  maxLength: 64,
  // The part of the format that every language of regular expressions can express.
  pattern: '^[^\\x00-\\x20\\x7f]([^\\x00-\\x1f\\x7f]*[^\\x00-\\x20\\x7f])?$',
  format: PERSON_NAME,
  description:
    'a name without control, bidi or zero-width characters or blanks around it, no id, not ..',
});

const EMAIL = '^[^\\s@]{1,64}@[^\\s@]{1,189}$';
const EMAIL_PATTERN = new RegExp(EMAIL, 'u');

/** Whether the text has the form of an email address. */
export function isEmail(text: string): boolean {
  return EMAIL_PATTERN.test(text) && isShownText(text);
}

/** The fields of a new user, from an operator. */
export const UserInputSchema = strict({
  email: Type.String({ pattern: EMAIL, format: SHOWN_TEXT, description: 'an email address' }),
  displayName: Type.Optional(DisplayName),
  plan: Type.Optional(PlanSchema),
  tradeLimits: Type.Optional(nullable(TradeLimitsSchema)),
  requestLimits: Type.Optional(nullable(RequestLimitsSchema)),
  password: Type.Optional(PasswordSchema),
});
type UserInput = Omit<Static<typeof UserInputSchema>, 'email' | 'password'> & Pick<User, 'email'>;

/** The fields of a user that an operator can change. */
export const UserChangeSchema = strict({
  displayName: Type.Optional(DisplayName),
  plan: Type.Optional(PlanSchema),
  private: Type.Optional(Type.Boolean()),
  tradeLimits: Type.Optional(nullable(TradeLimitsChangeSchema)),
  requestLimits: Type.Optional(nullable(RequestLimitsChangeSchema)),
  password: Type.Optional(PasswordSchema),
});
export type UserChange = Static<typeof UserChangeSchema>;

/** The fields that people can change of themselves. Rule I51 (api/RULES.md). */
export const ProfileChangeSchema = strict(
  {
    displayName: Type.Optional(nullable(DisplayName)),
    private: Type.Optional(Type.Boolean()),
    showEarlierTrades: Type.Optional(
      Type.Boolean({ description: 'Whether trades placed while private are shown once public.' }),
    ),
  },
  { title: 'ProfileChange' },
);

/** A user who is private, and by default on no plan. */
export function newUser(input: UserInput, nowMs: EpochMs): User {
  return {
    id: newUuid(nowMs),
    displayName: input.displayName ?? null,
    email: input.email?.toLowerCase() ?? null,
    private: true,
    showEarlierTrades: false,
    plan: input.plan ?? 'none',
    tradeLimits: input.tradeLimits ?? null,
    requestLimits: input.requestLimits ?? null,
    createdAtMs: nowMs,
  };
}
