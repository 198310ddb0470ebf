/**
 * The facts of single accounts in their shard's log, for readers outside of its thread. A log has
 * no index by account. So records are searched for the account's bytes, which is many times faster
 * than reading their facts. Rule D60 (engine/RULES.md).
 */

import { invariant } from '../base/invariant.ts';
import type { EpochMs, InstrumentNumber, Uuid } from '../base/units.ts';
import { factAt } from '../format/fact-layouts.ts';
import type { LogPosition, LogRecord } from '../log/log-format.ts';
import type { LogReader, PlacedRecord } from '../log/log-reader.ts';
import { uuidTimeMs } from '../memory/uuid-words.ts';
import { changed, newIn } from '../rules/catalog-change.ts';
import type { Catalog, CatalogInstrument } from '../rules/catalog-entries.ts';
import type {
  Fact,
  FactPlace,
  FillNetsFact,
  OrderPartFilledFact,
  OrderPlacedFact,
} from '../rules/facts.ts';
import { amendedOrder } from '../shard/core/shard-records.ts';
import type { Naming } from '../shard/core/views/subject.ts';
import { catalogsBack, catalogsIn, type FactSource, factsIn, openLog } from './read-facts.ts';

/** A fact that belongs to one account. */
export type AccountFact = { number: number; fact: Extract<Fact, { account: Uuid }> };

/** An instrument as a catalog described it, for facts from one number to another. */
type Described = { entry: CatalogInstrument; from: number; upTo: number };

/** Descriptions of earlier catalogs that are kept: a few megabytes. */
const EARLIER_MAX = 2000;

export class AccountLog {
  /** The meaning of the numbers in its facts. */
  readonly names: Naming['names'] = {
    instrument: (number) => {
      const id = this.#idOf(number);
      return { id, entry: this.#entries.get(id) ?? this.#earlier.get(id)?.entry ?? null };
    },
    ticker: (number) => {
      if (number >= this.#catalog.marketNames.length) this.#learnNewest();
      const name = this.#catalog.marketNames[number];
      invariant(name !== undefined, 'no catalog of a log names a market');
      return name.slice(name.indexOf('/') + 1);
    },
  };
  #catalog: Catalog = { games: [], instruments: [], marketNames: [], instrumentIds: [] };
  /** The place of its record; null: none was read. */
  #at: LogPosition | null = null;
  /** Its instruments, by their ids. */
  #entries: ReadonlyMap<string, CatalogInstrument> = new Map();
  /** Of instruments that it has dropped, those read last. */
  readonly #earlier = new Map<string, Described>();
  readonly #log: LogReader;

  /** Opens the log, which `close` closes. Throws `LogDamage`, `LogMismatch`. */
  constructor(source: FactSource) {
    this.#log = openLog(source);
  }

  /** Takes the catalog of a later record. */
  learn(record: PlacedRecord): void {
    if (this.#at !== null && record.position <= this.#at) return;
    const facts = catalogsIn(record);
    const [first] = facts;
    const isNext = first?.fact.kind === 'catalog_replaced' || first?.fact.before === this.#at;
    if (isNext) this.#take(facts, record.position);
    else this.#learnNewest();
  }

  /** Nobody may have followed the log for long. */
  #learnNewest(): void {
    const newest = this.#log.landmarkUpTo(Number.MAX_SAFE_INTEGER);
    if (newest === null || newest.position === this.#at) return;
    this.#take([...catalogsBack(this.#log, newest)].reverse(), newest.position);
  }

  #take(facts: ReturnType<typeof catalogsIn>, at: LogPosition): void {
    for (const { fact } of facts) {
      const isWhole = fact.kind === 'catalog_replaced';
      this.#catalog = isWhole ? fact.catalog : changed(this.#catalog, fact.change);
    }
    this.#at = at;
    this.#entries = new Map(this.#catalog.instruments.map((entry) => [entry.id, entry]));
  }

  #idOf(instrument: InstrumentNumber): string {
    if (instrument >= this.#catalog.instrumentIds.length) this.#learnNewest();
    const id = this.#catalog.instrumentIds[instrument];
    invariant(id !== undefined, 'no catalog of a log names an instrument');
    return id;
  }

  /** If the instrument of a fact was dropped since, the catalog of its time still describes it. */
  #learnOfItsTime({ fact }: AccountFact, { firstNumber, count }: LogRecord): void {
    if (!('instrument' in fact)) return;
    // A catalog may be in the same record.
    const number = firstNumber + count - 1;
    const id = this.#idOf(fact.instrument);
    if (this.#entries.has(id)) return;
    const known = this.#earlier.get(id);
    if (known !== undefined && number >= known.from && number <= known.upTo) return;
    this.#walkBack(id, number);
    for (const oldest of this.#earlier.keys()) {
      if (this.#earlier.size <= EARLIER_MAX) break;
      if (oldest !== id) this.#earlier.delete(oldest);
    }
  }

  /**
   * Reads the catalogs before a number, newest first, up to the one that describes an instrument.
   * What they say of others is kept, too: their facts are near.
   */
  #walkBack(id: string, number: number): void {
    const seen = new Set<string>();
    for (const { number: from, fact } of catalogsBack(this.#log, this.#log.landmarkUpTo(number))) {
      const isWhole = fact.kind === 'catalog_replaced';
      for (const entry of isWhole ? fact.catalog.instruments : newIn(fact.change.instruments)) {
        if (seen.has(entry.id)) continue;
        seen.add(entry.id);
        this.#earlier.delete(entry.id);
        this.#earlier.set(entry.id, { entry, from, upTo: number });
      }
      if (seen.has(id)) return;
    }
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

  /** The records after a number, and then new ones, until `signal` or its thread ends. */
  follow(after: number, signal: AbortSignal) {
    return this.#log.follow(after, { signal, isUnref: true });
  }

  /** As it was amended, if it was amended at this place. */
  orderPlaced({ record, offset }: FactPlace): OrderPlacedFact {
    const fact = factAt(this.#log.record(record as LogPosition).payload, offset);
    if (fact.kind === 'order_amended') return amendedOrder(this.orderPlaced(fact.placed), fact);
    invariant(fact.kind === 'order_placed', 'an order was placed by another fact');
    return fact;
  }

  /** The records from a time on; nothing that happened at it or later is left out. */
  recordsFrom(atMs: EpochMs): Generator<LogRecord> {
    return this.#log.records(this.#numberAt(atMs, Number.MAX_SAFE_INTEGER));
  }

  /** The records with facts after a number. */
  recordsAfter(number: number): Generator<PlacedRecord> {
    return this.#log.records(number);
  }

  recordAt(position: LogPosition): LogRecord {
    return this.#log.record(position);
  }

  closedSegment(segment: number) {
    return this.#log.closedSegment(segment);
  }

  /** All records. */
  allRecords(): Generator<LogRecord> {
    return this.#log.records(0);
  }

  /** How an order was placed, and what it came to before a fact. */
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
    const fills: OrderHistory['fills'] = [];
    let arrivesAtMs: EpochMs | null = null;
    let cancelsAtMs: EpochMs | null = null;
    for (const record of this.#log.records(after)) {
      if (record.firstNumber >= before) break;
      if (!has(record, bytes)) continue;
      for (const { number, fact } of factsIn(record)) {
        if (number >= before) break;
        if (!('order' in fact) || fact.order !== order) continue;
        if (fact.kind === 'order_placed') {
          placed = fact;
          arrivesAtMs = dueOf(fact, fact.latencyMs);
        } else if (fact.kind === 'order_part_filled' || fact.kind === 'fill_nets') fills.push(fact);
        else if (fact.kind === 'order_arrived') arrivesAtMs = null;
        else if (fact.kind === 'order_cancel_accepted') cancelsAtMs = fact.cancelsAtMs;
        else if (fact.kind === 'order_amended' && placed !== null) {
          placed = amendedOrder(placed, fact);
          if (!fact.keepsPlace) arrivesAtMs = dueOf(fact, placed.latencyMs);
        }
      }
    }
    return placed === null ? null : { placed, fills, arrivesAtMs, cancelsAtMs };
  }

  close(): void {
    this.#log.close();
  }

  /** A number before all facts of this time and later, unless the clock was set back since. */
  numberAt(atMs: EpochMs): number {
    return this.#numberAt(atMs, Number.MAX_SAFE_INTEGER);
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

/** When an order under this latency meets the book; null: at once. */
function dueOf({ atMs }: { atMs: EpochMs }, latencyMs: number): EpochMs | null {
  return latencyMs === 0 ? null : atMs + latencyMs;
}

type OrderHistory = {
  placed: OrderPlacedFact;
  fills: (OrderPartFilledFact | FillNetsFact)[];
  /** When it meets the book; null: it has. */
  arrivesAtMs: EpochMs | null;
  /** When its cancel meets the book; null: it has none under way. */
  cancelsAtMs: EpochMs | null;
};
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
