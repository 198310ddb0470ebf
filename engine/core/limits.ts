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
import { NO_ROW, Table } from './table.ts';
import type { EpochMs, Uuid } from './units.ts';
import { UuidIndex } from './uuid-index.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** SPEC.md section 8, Hard trade limits. */
export const KEY_LIMITS: TradeLimits = { newPerMinute: 10, newPerDay: 50, closingPerMinute: 20 };
export const ACCOUNT_LIMITS: TradeLimits = {
  newPerMinute: 20,
  newPerDay: 100,
  closingPerMinute: 40,
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
  const row = tradeCounts.find(id, nowMs);
  if (row === NO_ROW) return null;
  const { minute, newInMinute, closingInMinute, newInDay } = tradeCounts.table.col;
  const thisMinute = minute.get(row) === Math.floor(nowMs / MINUTE_MS);
  if (closing) {
    return thisMinute && closingInMinute.get(row) >= limits.closingPerMinute
      ? limited(who, `${limits.closingPerMinute} sells and cancels a minute`, nowMs, MINUTE_MS)
      : null;
  }
  if (newInDay.get(row) >= limits.newPerDay) {
    return limited(who, `${limits.newPerDay} new orders a day`, nowMs, DAY_MS);
  }
  return thisMinute && newInMinute.get(row) >= limits.newPerMinute
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

/**
 * What each key and account did in the minute and the day of its last trade. Counters of one UTC
 * day: the first count of the next day drops them all.
 */
export class TradeCounts {
  readonly table = new Table(
    'tradeCounts',
    {
      id: 'uuid',
      minute: 'u32',
      newInMinute: 'u32',
      closingInMinute: 'u32',
      newInDay: 'i32',
    },
    {},
    'newInDay',
  );
  /** The UTC day that is counted, in days since 1970. */
  day = 0;
  ids = new UuidIndex(this.table);

  /** The row of a key or an account that has traded on the day of `nowMs`, or `NO_ROW`. */
  find(id: Uuid, nowMs: EpochMs): number {
    return this.day === Math.floor(nowMs / DAY_MS) ? this.ids.find(id) : NO_ROW;
  }

  add({ atMs, account, keyId, closing }: TradeCounted): void {
    const day = Math.floor(atMs / DAY_MS);
    if (day !== this.day) {
      this.clear();
      this.day = day;
    }
    const minute = Math.floor(atMs / MINUTE_MS);
    this.#addOne(keyId, minute, closing);
    this.#addOne(account, minute, closing);
  }

  /** Nobody has traded: every window begins anew. */
  clear(): void {
    for (const row of this.table.rows()) this.table.release(row);
    this.ids = new UuidIndex(this.table);
    this.day = 0;
  }

  /** Makes the rows findable that a load has brought back. */
  rebuild(): void {
    for (const row of this.table.rows()) this.ids.add(row);
  }

  #addOne(id: Uuid, atMinute: number, closing: boolean): void {
    const { table } = this;
    const { minute, newInMinute, closingInMinute, newInDay } = table.col;
    const known = this.ids.find(id);
    const row = known === NO_ROW ? table.claim() : known;
    table.touch(row);
    if (known === NO_ROW) {
      this.ids.set(row, id);
      newInDay.set(row, 0);
    }
    if (known === NO_ROW || minute.get(row) !== atMinute) {
      minute.set(row, atMinute);
      newInMinute.set(row, 0);
      closingInMinute.set(row, 0);
    }
    if (closing) {
      closingInMinute.add(row, 1);
    } else {
      newInMinute.add(row, 1);
      newInDay.add(row, 1);
    }
  }
}
