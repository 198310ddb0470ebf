/** How often keys and accounts have traded, in rows that a checkpoint writes. */

import { invariant } from '../base/invariant.ts';
import {
  type EpochMs,
  NO_ROW,
  type TradeUse,
  type Uuid,
  utcDayOf,
  utcMinuteOf,
} from '../base/units.ts';
import { Table } from './table.ts';
import { UuidIndex } from './uuid-index.ts';
import { uuidAt } from './uuid-words.ts';

/** A trade that counts. `closing`: a sell or a cancel. */
type CountedTrade = { atMs: EpochMs; account: Uuid; keyId: Uuid; closing: boolean };

/**
 * The id under which a key is counted outside its owner's shard. It is the key's own id, a version
 * 7 uuid, with the version changed to 8. So a shard knows which keys also have counts elsewhere.
 */
export function awayIdOf(keyId: Uuid): Uuid {
  return withVersion(keyId, '8');
}

const VERSION_AT = 14;

function withVersion(id: Uuid, version: '7' | '8'): Uuid {
  return id.slice(0, VERSION_AT) + version + id.slice(VERSION_AT + 1);
}

/** In their order on disk. */
export const TRADE_COUNT_COLUMNS = {
  id: 'uuid',
  minute: 'u32',
  newInMinute: 'u32',
  closingInMinute: 'u32',
  newInDay: 'i32',
} as const;

/**
 * The counts of each key and account in the minute and the day of its last trade. They are of one
 * UTC day: the first trade of the next day clears them all.
 */
export class TradeCounts {
  readonly table = new Table('tradeCounts', TRADE_COUNT_COLUMNS, {}, 'newInDay');
  /** The UTC day that is counted, in days since 1970. */
  day = 0;
  ids = new UuidIndex(this.table);

  /** The counts of a key or an account in the minute and the day of `atMs`. */
  use(id: Uuid, atMs: EpochMs): TradeUse {
    const row = this.day === utcDayOf(atMs) ? this.ids.find(id) : NO_ROW;
    if (row === NO_ROW) return { atMs, newInMinute: 0, newInDay: 0, closingInMinute: 0 };
    const { minute, newInMinute, closingInMinute, newInDay } = this.table.col;
    const isThisMinute = minute.get(row) === utcMinuteOf(atMs);
    return {
      atMs,
      newInMinute: isThisMinute ? newInMinute.get(row) : 0,
      newInDay: newInDay.get(row),
      closingInMinute: isThisMinute ? closingInMinute.get(row) : 0,
    };
  }

  /** Keys that were counted here on the day of `atMs` and whose owner's shard is another. */
  awayKeys(atMs: EpochMs): Uuid[] {
    if (this.day !== utcDayOf(atMs)) return [];
    const keys: Uuid[] = [];
    const { id } = this.table.col;
    for (const row of this.table.rows()) {
      if ((id.word(row, 1) & 0xf000) === 0x8000) keys.push(withVersion(uuidAt(id, row), '7'));
    }
    return keys;
  }

  add({ atMs, account, keyId, closing }: CountedTrade): void {
    const day = utcDayOf(atMs);
    // A clock that is set back clears all counts first.
    invariant(day >= this.day, 'a trade is counted on a day that has ended');
    if (day !== this.day) {
      this.clear();
      this.day = day;
    }
    const minute = utcMinuteOf(atMs);
    this.#addOne(keyId, minute, closing);
    this.#addOne(account, minute, closing);
  }

  /** Clears all counts: every window starts again. */
  clear(): void {
    for (const row of this.table.rows()) this.table.release(row);
    this.ids = new UuidIndex(this.table);
    this.day = 0;
  }

  /** Indexes the rows after a load. */
  rebuild(): void {
    for (const row of this.table.rows()) this.ids.add(row);
  }

  #addOne(id: Uuid, atMinute: number, closing: boolean): void {
    const { table } = this;
    const known = this.ids.find(id);
    const row = known === NO_ROW ? table.claim() : known;
    const { minute, newInMinute, closingInMinute, newInDay } = table.change(row);
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
