/**
 * Hard trade limits: how often a key, over all accounts that it trades, and an account, over all
 * its keys, may trade. Windows are the UTC minute and the UTC day. A command carries the counts of
 * its key in other shards. Rules L1 to L10 (engine/RULES.md).
 *
 * L3 lists what counts.
 */

import { type Decision, preceded, type Rejection } from './decision.ts';
import type { TradeCounting, TradeLimits } from './messages.ts';
import type { ShardState } from './state.ts';
import { type EpochMs, type TradeUse, type Uuid, utcDayOf, utcMinuteOf } from './units.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** Rules L1 to L10 (engine/RULES.md). */
export const KEY_LIMITS: TradeLimits = { newPerMinute: 10, newPerDay: 50, closingPerMinute: 20 };
export const ACCOUNT_LIMITS: TradeLimits = {
  newPerMinute: 20,
  newPerDay: 100,
  closingPerMinute: 40,
};

/** `counting` null: no limits, as in the replay of a feed file. Rule R3 (feeds/FORMATS.md). */
type Attempt = { atMs: EpochMs; account: Uuid; counting: TradeCounting | null };

/**
 * The decision with its attempt counted, if the attempt is within its limits; else the refusal of
 * the first limit that it exceeds. `sellOrCancel`: a sell or a cancel, which do not count as new
 * orders.
 */
export function withinLimits(
  state: ShardState,
  attempt: Attempt,
  sellOrCancel: boolean,
  decide: () => Decision,
): Decision {
  const over = overLimit(state, attempt, sellOrCancel);
  if (over !== null) return { kind: 'reject', rejection: over, events: [] };
  return counted(attempt, sellOrCancel, decide());
}

/**
 * A refusal that is given even when a limit is exceeded. It counts only while no limit is exceeded.
 */
export function countedRefusal(
  state: ShardState,
  attempt: Attempt,
  sellOrCancel: boolean,
  refusal: Decision,
): Decision {
  return overLimit(state, attempt, sellOrCancel) === null
    ? counted(attempt, sellOrCancel, refusal)
    : refusal;
}

function counted({ atMs, account, counting }: Attempt, sellOrCancel: boolean, decision: Decision) {
  if (counting === null) return decision;
  const { keyId } = counting;
  return preceded(decision, { kind: 'trade_counted', atMs, account, keyId, closing: sellOrCancel });
}

function overLimit(
  { tradeCounts, nowMs }: ShardState,
  { account, counting }: Attempt,
  sellOrCancel: boolean,
): Rejection | null {
  if (counting === null) return null;
  const { keyId, keyLimits, accountLimits, elsewhere } = counting;
  const here = tradeCounts.use(keyId, nowMs);
  const ofKey = elsewhere === null ? here : sumOfUse([here, elsewhere]);
  return (
    overOne(ofKey, 'key', keyLimits, sellOrCancel) ??
    overOne(tradeCounts.use(account, nowMs), 'account', accountLimits, sellOrCancel)
  );
}

function overOne(
  use: TradeUse,
  who: string,
  limits: TradeLimits,
  sellOrCancel: boolean,
): Rejection | null {
  if (sellOrCancel) {
    return use.closingInMinute >= limits.closingPerMinute
      ? limited(who, `${limits.closingPerMinute} sells and cancels a minute`, use.atMs, MINUTE_MS)
      : null;
  }
  if (use.newInDay >= limits.newPerDay) {
    return limited(who, `${limits.newPerDay} new orders a day`, use.atMs, DAY_MS);
  }
  return use.newInMinute >= limits.newPerMinute
    ? limited(who, `${limits.newPerMinute} new orders a minute`, use.atMs, MINUTE_MS)
    : null;
}

/**
 * The sum of counts of several shards at the latest of their times. Counts of windows that have
 * ended by then are left out.
 */
export function sumOfUse(uses: readonly TradeUse[]): TradeUse {
  const atMs = Math.max(0, ...uses.map((use) => use.atMs));
  const sum = { atMs, newInMinute: 0, newInDay: 0, closingInMinute: 0 };
  for (const use of uses) {
    if (utcDayOf(use.atMs) !== utcDayOf(atMs)) continue;
    sum.newInDay += use.newInDay;
    if (utcMinuteOf(use.atMs) !== utcMinuteOf(atMs)) continue;
    sum.newInMinute += use.newInMinute;
    sum.closingInMinute += use.closingInMinute;
  }
  return sum;
}

function limited(who: string, what: string, nowMs: EpochMs, windowMs: number): Rejection {
  const endsInMs = windowMs - (nowMs % windowMs);
  return {
    code: 'rate_limited',
    message: `The ${who} is at its limit of ${what}.`,
    retryAfterSeconds: Math.ceil(endsInMs / 1000),
  };
}
