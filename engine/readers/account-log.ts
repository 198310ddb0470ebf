/**
 * The facts of single accounts in their shard's log, for readers outside of its thread. A log has
 * no index by account. So records are searched for the account's bytes, which is many times faster
 * than reading their facts. Rule D60 (engine/RULES.md).
 */

import { invariant } from '../base/invariant.ts';
import type { EpochMs, Uuid } from '../base/units.ts';
import { factAt } from '../format/fact-layouts.ts';
import type { LogPosition, LogRecord } from '../log/log-format.ts';
import type { LogReader } from '../log/log-reader.ts';
import { uuidTimeMs } from '../memory/uuid-words.ts';
import type { CatalogInstrument } from '../rules/catalog-entries.ts';
import type { Fact, FactPlace, OrderPartFilledFact, OrderPlacedFact } from '../rules/facts.ts';
import type { Naming } from '../shard/core/views/subject.ts';
import { type FactSource, factsIn, openLog } from './read-facts.ts';

/** A fact that belongs to one account. */
export type AccountFact = { number: number; fact: Extract<Fact, { account: Uuid }> };

export class AccountLog {
  /** The meaning of the numbers in its facts. It is found by number, as in the state of a shard. */
  names: Pick<Naming, 'instruments' | 'markets'> = { instruments: [], markets: [] };
  /** The newest entries, also of instruments that a later catalog has dropped. */
  readonly #entries = new Map<string, CatalogInstrument>();
  /** The first facts of earlier catalogs that were read for instruments that are dropped by now. */
  readonly #earlier = new Set<number>();
  readonly #log: LogReader;

  /** Opens the log, which `close` closes. Throws `LogDamage`, `LogMismatch`. */
  constructor(source: FactSource) {
    this.#log = openLog(source);
    const newest = this.#log.landmarkUpTo(Number.MAX_SAFE_INTEGER);
    if (newest !== null) this.learn(newest);
  }

  /** Takes the catalog of a later record. */
  learn(record: LogRecord): void {
    for (const { fact } of factsIn(record)) {
      if (fact.kind !== 'catalog_replaced') continue;
      const { instruments, instrumentIds, marketNames } = fact.catalog;
      for (const entry of instruments) this.#entries.set(entry.id, entry);
      this.names = {
        instruments: instrumentIds.map((id) => ({ id, entry: this.#entries.get(id) ?? null })),
        markets: marketNames.map((name) => ({ ticker: name.slice(name.indexOf('/') + 1) })),
      };
    }
  }

  /** If the instrument of a fact was dropped since, the catalog of its time still describes it. */
  #learnOfItsTime({ fact }: AccountFact, { firstNumber, count }: LogRecord): void {
    if (!('instrument' in fact) || this.names.instruments[fact.instrument]?.entry !== null) return;
    // A catalog may be in the same record.
    const record = this.#log.landmarkUpTo(firstNumber + count - 1);
    if (record === null || this.#earlier.has(record.firstNumber)) return;
    this.#earlier.add(record.firstNumber);
    for (const { fact: of } of factsIn(record)) {
      if (of.kind !== 'catalog_replaced') continue;
      for (const entry of of.catalog.instruments) {
        if (!this.#entries.has(entry.id)) this.#entries.set(entry.id, entry);
      }
    }
    const instruments = this.names.instruments.map(({ id, entry }) => {
      return { id, entry: entry ?? this.#entries.get(id) ?? null };
    });
    this.names = { ...this.names, instruments };
  }

  /**
   * Passes the account's facts after a number to `take`, up to and including another number: at
   * most `limit`, from at most so many bytes of the log. `last`: every fact up to it was read.
   */
  page<T>(
    account: Uuid,
    { after, upTo, limit, bytesMax }: PageBounds,
    take: (fact: AccountFact) => T | null,
  ): { taken: T[]; last: number } {
    const taken: T[] = [];
    const bytes = uuidBytes(account);
    let last = after;
    let read = 0;
    for (const record of this.#log.records(after)) {
      for (const fact of factsOf(record, account, bytes)) {
        if (fact.number <= after) continue;
        if (fact.number <= upTo) this.#learnOfItsTime(fact, record);
        const one = fact.number > upTo ? null : take(fact);
        if (one === null) continue;
        if (taken.length === limit) return { taken, last: fact.number - 1 };
        taken.push(one);
      }
      last = Math.min(upTo, record.firstNumber + record.count - 1);
      read += record.payload.length;
      if (last === upTo || read >= bytesMax) break;
    }
    return { taken, last };
  }

  /** Whether the log reaches so far. */
  has(number: number): boolean {
    return number === 0 || this.#log.records(number - 1).next().done !== true;
  }

  /** The records after a number, and then new ones, until `signal`. */
  follow(after: number, signal: AbortSignal) {
    return this.#log.follow(after, { signal });
  }

  orderPlaced({ record, offset }: FactPlace): OrderPlacedFact {
    const fact = factAt(this.#log.record(record as LogPosition).payload, offset);
    invariant(fact.kind === 'order_placed', 'an order was placed by another fact');
    return fact;
  }

  /** The records from a time on; nothing that happened at it or later is left out. */
  recordsFrom(atMs: EpochMs): Generator<LogRecord> {
    return this.#log.records(this.#numberAt(atMs, Number.MAX_SAFE_INTEGER));
  }

  /** All records. */
  allRecords(): Generator<LogRecord> {
    return this.#log.records(0);
  }

  /** How an order was placed, and its fills before a fact. */
  orderBefore(order: Uuid, number: number): OrderHistory {
    const start = this.#numberAt(uuidTimeMs(order), number);
    // If the clock was set back since, the order is earlier in the log.
    const found = this.#historyOf(order, start, number) ?? this.#historyOf(order, 0, number);
    invariant(found !== null, 'an order was filled that was not placed');
    return found;
  }

  #historyOf(order: Uuid, after: number, before: number): OrderHistory | null {
    const bytes = uuidBytes(order);
    let placed: OrderPlacedFact | null = null;
    const fills: OrderPartFilledFact[] = [];
    for (const record of this.#log.records(after)) {
      if (record.firstNumber >= before) break;
      if (!has(record, bytes)) continue;
      for (const { number, fact } of factsIn(record)) {
        if (number >= before) break;
        if (fact.kind === 'order_placed' && fact.order === order) placed = fact;
        if (fact.kind === 'order_part_filled' && fact.order === order) fills.push(fact);
      }
    }
    return placed === null ? null : { placed, fills };
  }

  close(): void {
    this.#log.close();
  }

  /** A number before all facts of this time and later. Times only go back at a `clock_set`. */
  #numberAt(atMs: EpochMs, before: number): number {
    let low = 0;
    for (let high = before - 1; low < high; ) {
      const middle = Math.ceil((low + high) / 2);
      const record = this.#log.records(middle).next().value as LogRecord | undefined;
      if (record !== undefined && record.atMs < atMs) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}

type OrderHistory = { placed: OrderPlacedFact; fills: OrderPartFilledFact[] };
export type PageBounds = { after: number; upTo: number; limit: number; bytesMax: number };

/** The facts of an account in a record. */
export function* factsOf(
  record: LogRecord,
  account: Uuid,
  bytes = uuidBytes(account),
): Generator<AccountFact> {
  if (!has(record, bytes)) return;
  for (const { number, fact } of factsIn(record)) {
    if ('account' in fact && fact.account === account) yield { number, fact };
  }
}

/** A uuid as it is in a fact. */
export function uuidBytes(id: Uuid): Buffer {
  return Buffer.from(id.replaceAll('-', ''), 'hex');
}

/** Whether a record has these bytes, so maybe a fact of theirs. */
export function has({ payload }: LogRecord, bytes: Buffer): boolean {
  return Buffer.from(payload.buffer, payload.byteOffset, payload.length).includes(bytes);
}
