/**
 * Hard trade limits: how often a key, over all accounts that it trades, and an account, over all
 * its keys, may trade. Windows are the UTC minute and the UTC day. A command carries the counts of
 * its key in other shards. Rules L1 to L10, L13 (engine/RULES.md).
 *
 * L3 lists the attempts that count.
 */

import { type EpochMs, type TradeUse, type Uuid, utcDayOf, utcMinuteOf } from '../base/units.ts';
import { type Decision, type LimitUsage, preceded, type Rejection } from './decision.ts';
import type { TradeLimitsLeft } from './limits-left.ts';
import type { PlaceOrder, TradeCounting, TradeLimits, TradingCommand } from './messages.ts';
import type { ShardState } from './state.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** Rules L1 to L10 (engine/RULES.md). */
export const KEY_LIMITS: TradeLimits = { newPerMinute: 10, newPerDay: 50, closingPerMinute: 20 };
export const ACCOUNT_LIMITS: TradeLimits = {
  newPerMinute: 20,
  newPerDay: 100,
  closingPerMinute: 40,
};

/** Whether an order counts as a sell: it opens nothing. Rules L3, T191 (engine/RULES.md). */
export function countsAsSell({ action, netting }: PlaceOrder): boolean {
  return action === 'sell' || netting === 'close';
}

/** `counting` null: no limits, as in the replay of a feed file. Rule R3 (feeds/FORMATS.md). */
type Attempt = { atMs: EpochMs; account: Uuid; counting: TradeCounting | null };

/**
 * The decision with its attempt counted, if the attempt is within its limits, else the refusal of
 * the first limit that it exceeds. `sellOrCancel`: a sell or a cancel, which do not count as new
 * orders.
 */
export function withinLimits(
  state: ShardState,
  attempt: Attempt,
  sellOrCancel: boolean,
  decide: () => Decision,
): Decision {
  const use = usageOf(state, attempt, sellOrCancel);
  return refusalByLimits(attempt, use) ?? countedWith(attempt, use, decide());
}

/**
 * The counts before an attempt; null: nothing limits it. `refusalByLimits` and `countedWith` are
 * the two halves of `withinLimits`, for placements: a function made for each would cost them more.
 */
export function usageOf(
  state: ShardState,
  { account, counting }: Attempt,
  sellOrCancel: boolean,
): LimitUsage | null {
  return counting === null ? null : useOf(state, account, counting, sellOrCancel);
}

/** The refusal of the first limit that an attempt exceeds; null: none. */
export function refusalByLimits({ counting }: Attempt, use: LimitUsage | null): Decision | null {
  if (counting === null || use === null) return null;
  const over = overLimit(use, counting, use.closing);
  return over === null ? null : { kind: 'reject', rejection: over, events: [], use };
}

/** The decision on an attempt within its limits, with the attempt counted. */
export function countedWith(
  attempt: Attempt,
  use: LimitUsage | null,
  decision: Decision,
): Decision {
  const { counting } = attempt;
  if (counting === null || use === null) return decision;
  return counted(attempt, counting, use.closing, decision, use);
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
  const { counting } = attempt;
  if (counting === null) return refusal;
  const use = useOf(state, attempt.account, counting, sellOrCancel);
  return overLimit(use, counting, sellOrCancel) === null
    ? counted(attempt, counting, sellOrCancel, refusal, use)
    : { ...refusal, use };
}

/** A decision that does not count, with what its limits leave. */
export function uncounted(
  state: ShardState,
  { account, counting }: Attempt,
  sellOrCancel: boolean,
  decision: Decision,
): Decision {
  if (counting === null) return decision;
  return { ...decision, use: useOf(state, account, counting, sellOrCancel) };
}

/**
 * The remaining limits of a command after its decision; null: it has none. Rule L13
 * (engine/RULES.md).
 */
export function limitsLeft(
  state: ShardState,
  command: TradingCommand,
  decision: Decision,
): TradeLimitsLeft | null {
  const { counting, account } = command;
  if (counting === null) return null;
  const { keyLimits, accountLimits } = counting;
  // A placement that is not counted has no such counts.
  const isSellOrCancel = command.kind !== 'place' || countsAsSell(command);
  const use = decision.use ?? useOf(state, account, counting, isSellOrCancel);
  const { key, account: ofAccount, closing } = use;
  const { atMs } = ofAccount;
  if (closing) {
    return {
      atMs,
      closing: true,
      keyPerMinute: keyLimits.closingPerMinute,
      keyLeftInMinute: left(keyLimits.closingPerMinute, key.closingInMinute),
      keyPerDay: 0,
      keyLeftInDay: 0,
      accountPerMinute: accountLimits.closingPerMinute,
      accountLeftInMinute: left(accountLimits.closingPerMinute, ofAccount.closingInMinute),
      accountPerDay: 0,
      accountLeftInDay: 0,
    };
  }
  return {
    atMs,
    closing: false,
    keyPerMinute: keyLimits.newPerMinute,
    keyLeftInMinute: left(keyLimits.newPerMinute, key.newInMinute),
    keyPerDay: keyLimits.newPerDay,
    keyLeftInDay: left(keyLimits.newPerDay, key.newInDay),
    accountPerMinute: accountLimits.newPerMinute,
    accountLeftInMinute: left(accountLimits.newPerMinute, ofAccount.newInMinute),
    accountPerDay: accountLimits.newPerDay,
    accountLeftInDay: left(accountLimits.newPerDay, ofAccount.newInDay),
  };
}

const left = (limit: number, used: number) => Math.max(0, limit - used);

/** @param use the counts before the attempt; afterwards they contain it, if it is counted. */
function counted(
  { atMs, account }: Attempt,
  { keyId }: TradeCounting,
  sellOrCancel: boolean,
  decision: Decision,
  use: LimitUsage,
): Decision {
  if (decision.kind === 'replay') return decision;
  for (const each of [use.key, use.account]) {
    if (sellOrCancel) each.closingInMinute++;
    else {
      each.newInMinute++;
      each.newInDay++;
    }
  }
  const event = { kind: 'trade_counted', atMs, account, keyId, closing: sellOrCancel } as const;
  return preceded(decision, event, use);
}

function useOf(
  { tradeCounts, nowMs }: ShardState,
  account: Uuid,
  { keyId, elsewhere }: TradeCounting,
  closing: boolean,
): LimitUsage {
  const here = tradeCounts.use(keyId, nowMs);
  const key = elsewhere === null ? here : sumOfUse([here, elsewhere]);
  return { key, account: tradeCounts.use(account, nowMs), closing };
}

function overLimit(
  use: LimitUsage,
  { keyLimits, accountLimits }: TradeCounting,
  sellOrCancel: boolean,
): Rejection | null {
  return (
    overOne(use.key, 'key', keyLimits, sellOrCancel) ??
    overOne(use.account, 'account', accountLimits, sellOrCancel)
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
