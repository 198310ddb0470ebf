/** The texts of the operator's views. */

import type { Adjustment, Feed, Plan, Settlement, Shard, User } from '../../schemas/admin-types.ts';
import { cents, counted, money, signedMoney, whole } from '../state/format.ts';

export const PLAN_WORDS: Readonly<Record<Plan, string>> = {
  none: 'none: no new position',
  basic: 'basic',
  builder: 'builder',
  desk: 'desk',
  enterprise: 'enterprise: limits of its own',
};

export const SHARD_WORDS: Readonly<Record<Shard['state'], string>> = {
  opening: 'Opening',
  catching_up: 'Catching up',
  following: 'Following another node',
  open: 'Open',
  restarting: 'Restarting',
  closed: 'Closed',
};

export function feedWords({ state, hasConnected }: Pick<Feed, 'state' | 'hasConnected'>): string {
  if (state === 'open') return 'Connected';
  if (state === 'closed') return 'Closed';
  const words = state === 'connecting' ? 'Connecting' : 'Waiting to connect';
  return hasConnected ? `${words} again` : `${words}; never connected so far`;
}

/** Read aloud when it changes. Rule A246 (api/RULES.md). */
export function connectedWords(feeds: readonly Pick<Feed, 'state'>[]): string {
  const down = feeds.filter(({ state }) => state !== 'open').length;
  if (down === 0) return 'All feeds are connected.';
  return `${whole(down)} of ${counted(feeds.length, 'feed')} ${down === 1 ? 'is' : 'are'} not connected.`;
}

/**
 * Read aloud when it changes. Rule A246 (api/RULES.md).
 *
 * @param notReady why the server accepts no requests; null: it accepts them
 */
export function healthWords(problems: readonly string[], notReady: string | null): string {
  const health = [
    problems.length === 0 ? 'Healthy.' : `${counted(problems.length, 'problem')} now:`,
    ...problems,
  ].join(' ');
  return notReady === null ? health : `${health} Not ready: ${notReady}`;
}

/** `crossed 3, late 1`, the most frequent first. */
export function rejectedWords(rejected: Readonly<Record<string, number>>): string {
  const reasons = Object.entries(rejected).filter(([, count]) => count > 0);
  if (reasons.length === 0) return 'none';
  reasons.sort(([, a], [, b]) => b - a);
  return reasons.map(([reason, count]) => `${reason} ${whole(count)}`).join(', ');
}

/** `340 B`, `1.2 MB` */
export function bytes(count: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let [amount, at] = [count, 0];
  while (amount >= 999.95 && at < units.length - 1) {
    amount /= 1000;
    at++;
  }
  return `${at === 0 ? amount : amount.toFixed(1)} ${units[at]}`;
}

/** `1.3 ms` */
export function milliseconds(ms: number): string {
  return `${ms < 10 ? Number(ms.toFixed(1)) : whole(ms)} ms`;
}

/** Limits of the account itself, one line each; none: the limits of its plan apply. */
export function limitLines({ tradeLimits, requestLimits }: User): string[] {
  const lines: string[] = [];
  const trade = (of: string, limits: NonNullable<User['tradeLimits']>['account']) => {
    const { newPerMinute, newPerDay, closingPerMinute } = limits;
    lines.push(
      `${of}: ${whole(newPerMinute)} new orders a minute, ${whole(newPerDay)} a day, ` +
        `${whole(closingPerMinute)} closing orders a minute`,
    );
  };
  if (tradeLimits !== null) {
    trade('A key', tradeLimits.key);
    trade('The account', tradeLimits.account);
  }
  if (requestLimits !== null) {
    const { perMinute, perMonth } = requestLimits;
    lines.push(`Requests: ${whole(perMinute)} a minute, ${whole(perMonth)} a month`);
  }
  return lines;
}

/** The effect of a result in place of another. Rule O26 (api/RULES.md). */
export function correctionPlan(market: string, result: string): string {
  return (
    `${market} gets the result ${result} instead of its present result. Every trade that the ` +
    'market settled takes it: as a pick, on boards and in track records. Each balance changes by ' +
    'the difference, below zero if the money was spent. Sold trades and earlier runs keep their cash.'
  );
}

/** The effect of a result. @param result `yes`, `no`, `void`, or the worth of yes */
export function settlementPlan(market: string, result: string): string {
  const paid =
    result === 'void'
      ? 'Each open position gets its cost back.'
      : result === 'yes' || result === 'no'
        ? `A ${result} contract pays ${cents(100)}. The other side pays nothing.`
        : `A yes contract is worth $${result}, a no contract the rest of $1. Each pays whole cents, rounded down.`;
  const named = result === 'void' ? 'void' : `the result ${result}`;
  return (
    `${market} gets ${named}. ${paid} Its resting orders are canceled. ` +
    'This affects every account. A market settles once: only a correction replaces the result.'
  );
}

export function settlementWords(answer: Settlement): string {
  const { market, outcome, yesPayoutCents, noPayoutCents, isNew } = answer;
  const paid =
    yesPayoutCents === null || noPayoutCents === null
      ? 'costs are paid back'
      : `yes pays ${cents(yesPayoutCents)} and no ${cents(noPayoutCents)}`;
  if (!isNew)
    return `${market} had this result already (${outcome}: ${paid}). Nothing has changed.`;
  if (answer.correctedTrades > 0) {
    const trades = counted(answer.correctedTrades, 'trade');
    return `${market} is corrected (${outcome}: ${paid}). It changed ${trades}.`;
  }
  return (
    `${market} is settled (${outcome}: ${paid}). ` +
    `It settled ${counted(answer.settledTrades, 'trade')} and canceled ` +
    `${counted(answer.canceledOrders, 'order')}.`
  );
}

export function adjustmentPlan(userId: string, dollars: number): string {
  const what = dollars < 0 ? `${money(-dollars)} are taken from` : `${money(dollars)} are added to`;
  return `${what} the personal account of ${userId}. Done twice, it counts twice.`;
}

export function adjustmentWords({
  dollars,
  balanceDollars,
  adjustmentsInRunDollars,
}: Adjustment): string {
  return (
    `${signedMoney(dollars)}: the balance is now ${money(balanceDollars)}. ` +
    `All adjustments of this run come to ${signedMoney(adjustmentsInRunDollars)}.`
  );
}

/** Undefined: it is no amount of dollars with whole cents. */
export function dollarsOf(text: string): number | undefined {
  const trimmed = text.trim().replace('−', '-');
  if (!/^[+-]?\d{1,12}(\.\d{1,2})?$/.test(trimmed)) return undefined;
  const dollars = Number(trimmed);
  return dollars === 0 ? undefined : dollars;
}

/** Whether it is a worth of yes: 0 to 1 with at most four decimals. */
export function isWorth(text: string): boolean {
  return /^(0(\.\d{1,4})?|1(\.0{1,4})?)$/.test(text);
}
