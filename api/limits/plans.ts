/** How many requests a plan allows. Rules Q1, Q2, Q12 (api/RULES.md). */
import type { Static } from '@sinclair/typebox';
import type { Plan, RequestLimits, User } from '../identity/users.ts';
import type { RequestLimitsChangeSchema } from '../schemas/identity.ts';

const BY_PLAN: Record<Exclude<Plan, 'enterprise'>, RequestLimits> = {
  none: { perMonth: 1_000, perMinute: 30 },
  basic: { perMonth: 10_000, perMinute: 60 },
  builder: { perMonth: 100_000, perMinute: 120 },
  desk: { perMonth: 1_000_000, perMinute: 600 },
};

/** An enterprise account without its own limits has the limits of desk, the highest plan listed. */
export function requestLimitsOf({ plan, requestLimits }: User): RequestLimits {
  return plan === 'enterprise' ? (requestLimits ?? BY_PLAN.desk) : BY_PLAN[plan];
}

/** An enterprise account's own limits after a change. If it has none, it starts from desk's. */
export function changedRequestLimits(
  own: RequestLimits | null,
  change: Static<typeof RequestLimitsChangeSchema> | null,
): RequestLimits | null {
  return change === null ? null : { ...(own ?? BY_PLAN.desk), ...change };
}
