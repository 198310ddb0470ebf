/**
 * Hard trade limits: how often a key, and an account over all its keys, may trade. SPEC.md
 * section 8; CONTRACT.md section 5. Windows are the UTC minute and the UTC day.
 *
 * Whatever reaches the rules counts, refused or not; a replay of an idempotency key does not.
 */
import { type Decision, preceded, type Rejection } from './decision.ts';
import type { TradeCounted } from './events.ts';
import type { TradeCounting, TradeLimits } from './messages.ts';
import type { ShardState } from './state.ts';
import type { EpochMs, Uuid } from './units.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** SPEC.md section 8, Hard trade limits. */
export const KEY_LIMITS: TradeLimits = { newPerMinute: 10, newPerDay: 50, closingPerMinute: 20 };
export const ACCOUNT_LIMITS: TradeLimits = {
  newPerMinute: 20,
  newPerDay: 100,
  closingPerMinute: 40,
};

/** What one key or account did in the minute and the day of its last trade. */
export type TradeCount = {
  minute: number;
  newInMinute: number;
  closingInMinute: number;
  newInDay: number;
};

type Attempt = { atMs: EpochMs; account: Uuid; counting: TradeCounting | null };

/**
 * The decision, counted, when the attempt is within its limits; else the refusal of the first one
 * it is over. `closing`: a sell or a cancel, which do not count as new orders.
 */
export function withinLimits(
  state: ShardState,
  { atMs, account, counting }: Attempt,
  closing: boolean,
  decide: () => Decision,
): Decision {
  if (counting === null) return decide();
  const { keyId, keyLimits, accountLimits } = counting;
  const over =
    overOne(state, keyId, 'key', keyLimits, closing) ??
    overOne(state, account, 'account', accountLimits, closing);
  if (over !== null) return { kind: 'reject', rejection: over, events: [] };
  return preceded(decide(), { kind: 'trade_counted', atMs, account, keyId, closing });
}

function overOne(
  { tradeCounts, nowMs }: ShardState,
  id: Uuid,
  who: string,
  limits: TradeLimits,
  closing: boolean,
): Rejection | null {
  const count = tradeCounts.of(id, nowMs);
  if (count === undefined) return null;
  const thisMinute = count.minute === Math.floor(nowMs / MINUTE_MS);
  if (closing) {
    return thisMinute && count.closingInMinute >= limits.closingPerMinute
      ? limited(who, `${limits.closingPerMinute} sells and cancels a minute`, nowMs, MINUTE_MS)
      : null;
  }
  if (count.newInDay >= limits.newPerDay) {
    return limited(who, `${limits.newPerDay} new orders a day`, nowMs, DAY_MS);
  }
  return thisMinute && count.newInMinute >= limits.newPerMinute
    ? limited(who, `${limits.newPerMinute} new orders a minute`, nowMs, MINUTE_MS)
    : null;
}

function limited(who: string, what: string, nowMs: EpochMs, windowMs: number): Rejection {
  const endsInMs = windowMs - (nowMs % windowMs);
  return {
    code: 'rate_limited',
    message: `The ${who} is at its limit of ${what}.`,
    retryAfterSeconds: Math.ceil(endsInMs / 1000),
  };
}

/** Counters of one UTC day; the first count of the next day drops them all. */
export class TradeCounts {
  #day = 0;
  readonly #counts = new Map<Uuid, TradeCount>();

  of(id: Uuid, nowMs: EpochMs): TradeCount | undefined {
    return this.#day === Math.floor(nowMs / DAY_MS) ? this.#counts.get(id) : undefined;
  }

  add({ atMs, account, keyId, closing }: TradeCounted): void {
    const day = Math.floor(atMs / DAY_MS);
    if (day !== this.#day) {
      this.#counts.clear();
      this.#day = day;
    }
    const minute = Math.floor(atMs / MINUTE_MS);
    this.#addOne(keyId, minute, closing);
    this.#addOne(account, minute, closing);
  }

  /** For a checkpoint: the day and its counters, as they are now however late they are written. */
  save(): { day: number; counts: [Uuid, TradeCount][] } {
    return { day: this.#day, counts: [...this.#counts].map(([id, count]) => [id, { ...count }]) };
  }

  load({ day, counts }: ReturnType<TradeCounts['save']>): void {
    this.#day = day;
    for (const [id, count] of counts) this.#counts.set(id, count);
  }

  #addOne(id: Uuid, minute: number, closing: boolean): void {
    let count = this.#counts.get(id);
    if (count === undefined) {
      count = { minute, newInMinute: 0, closingInMinute: 0, newInDay: 0 };
      this.#counts.set(id, count);
    }
    if (count.minute !== minute) {
      count.minute = minute;
      count.newInMinute = 0;
      count.closingInMinute = 0;
    }
    if (closing) {
      count.closingInMinute++;
    } else {
      count.newInMinute++;
      count.newInDay++;
    }
  }
}
