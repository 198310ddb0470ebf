/**
 * Hard trade limits: how often a key, over all accounts that it trades, and an account, over all
 * its keys, may trade. Windows are the UTC minute and the UTC day. What a key does in other shards
 * comes along with a command. Rules L1 to L10 (engine/RULES.md).
 *
 * Whatever reaches the rules counts, refused or not; a replay of an idempotency key does not.
 */
import { type Decision, preceded, type Rejection } from './decision.ts';
import type { TradeCounted } from './events.ts';
import { uuidAt } from './ids.ts';
import type { TradeCounting, TradeLimits, TradeUse } from './messages.ts';
import type { ShardState } from './state.ts';
import { NO_ROW, Table } from './table.ts';
import type { EpochMs, Uuid } from './units.ts';
import { UuidIndex } from './uuid-index.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** Rules L1 to L10 (engine/RULES.md). */
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
  attempt: Attempt,
  closing: boolean,
  decide: () => Decision,
): Decision {
  const over = overLimit(state, attempt, closing);
  if (over !== null) return { kind: 'reject', rejection: over, events: [] };
  return counted(attempt, closing, decide());
}

/** A refusal that is the answer over the limits too. It counts as far as they go. */
export function countedRefusal(
  state: ShardState,
  attempt: Attempt,
  closing: boolean,
  refusal: Decision,
): Decision {
  return overLimit(state, attempt, closing) === null ? counted(attempt, closing, refusal) : refusal;
}

function counted({ atMs, account, counting }: Attempt, closing: boolean, decision: Decision) {
  if (counting === null) return decision;
  const { keyId } = counting;
  return preceded(decision, { kind: 'trade_counted', atMs, account, keyId, closing });
}

function overLimit(
  { tradeCounts, nowMs }: ShardState,
  { account, counting }: Attempt,
  closing: boolean,
): Rejection | null {
  if (counting === null) return null;
  const { keyId, keyLimits, accountLimits, elsewhere } = counting;
  const here = tradeCounts.use(keyId, nowMs);
  const ofKey = elsewhere === null ? here : sumOfUse([here, elsewhere]);
  return (
    overOne(ofKey, 'key', keyLimits, closing) ??
    overOne(tradeCounts.use(account, nowMs), 'account', accountLimits, closing)
  );
}

function overOne(
  use: TradeUse,
  who: string,
  limits: TradeLimits,
  closing: boolean,
): Rejection | null {
  if (closing) {
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

/** What is counted in several places, at the latest of their times: an earlier window has ended. */
export function sumOfUse(uses: readonly TradeUse[]): TradeUse {
  const atMs = Math.max(0, ...uses.map((use) => use.atMs));
  const sum = { atMs, newInMinute: 0, newInDay: 0, closingInMinute: 0 };
  for (const use of uses) {
    if (tradeDayOf(use.atMs) !== tradeDayOf(atMs)) continue;
    sum.newInDay += use.newInDay;
    if (minuteOf(use.atMs) !== minuteOf(atMs)) continue;
    sum.newInMinute += use.newInMinute;
    sum.closingInMinute += use.closingInMinute;
  }
  return sum;
}

/** The UTC day in whose limits something counts, in days since 1970. */
export const tradeDayOf = (atMs: EpochMs): number => Math.floor(atMs / DAY_MS);
const minuteOf = (atMs: EpochMs): number => Math.floor(atMs / MINUTE_MS);

/**
 * The id under which a key is counted away from the shard of its owner's account: the key's own,
 * a version 7 uuid, as of version 8. So a shard knows which keys must be looked for elsewhere too.
 */
export function awayIdOf(keyId: Uuid): Uuid {
  return withVersion(keyId, '8');
}

const VERSION_AT = 14;

function withVersion(id: Uuid, version: '7' | '8'): Uuid {
  return id.slice(0, VERSION_AT) + version + id.slice(VERSION_AT + 1);
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

  /** What a key or an account has counted in the minute and the day of `atMs`. */
  use(id: Uuid, atMs: EpochMs): TradeUse {
    const row = this.day === tradeDayOf(atMs) ? this.ids.find(id) : NO_ROW;
    if (row === NO_ROW) return { atMs, newInMinute: 0, newInDay: 0, closingInMinute: 0 };
    const { minute, newInMinute, closingInMinute, newInDay } = this.table.col;
    const isThisMinute = minute.get(row) === minuteOf(atMs);
    return {
      atMs,
      newInMinute: isThisMinute ? newInMinute.get(row) : 0,
      newInDay: newInDay.get(row),
      closingInMinute: isThisMinute ? closingInMinute.get(row) : 0,
    };
  }

  /** Keys that have been counted here on the day of `atMs`, away from their owner's shard. */
  awayKeys(atMs: EpochMs): Uuid[] {
    if (this.day !== tradeDayOf(atMs)) return [];
    const keys: Uuid[] = [];
    const { id } = this.table.col;
    for (const row of this.table.rows()) {
      if ((id.word(row, 1) & 0xf000) === 0x8000) keys.push(withVersion(uuidAt(id, row), '7'));
    }
    return keys;
  }

  add({ atMs, account, keyId, closing }: TradeCounted): void {
    const day = tradeDayOf(atMs);
    if (day !== this.day) {
      this.clear();
      this.day = day;
    }
    const minute = minuteOf(atMs);
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
