/**
 * A shard's facts for any thread or process, in their order, and only once they are on disk. Each
 * reader keeps its own place. Rules D22, D30, D31 (engine/RULES.md).
 */
import path from 'node:path';
import { invariant } from '../base/invariant.ts';
import type { InstrumentNumber, MarketNumber, Venue } from '../base/units.ts';
import { ByteReader } from '../format/bytes.ts';
import { readFact } from '../format/fact-layouts.ts';
import { isOfCatalog } from '../format/facts.ts';
import type { LogRecord } from '../log/log-format.ts';
import { LogReader } from '../log/log-reader.ts';
import type { Fact } from '../rules/facts.ts';
import { identityOf } from '../shard/store/data-format.ts';
import { logIn } from '../shard/store/shard-log.ts';

/** A whole catalog, or a change of one. */
type NumberedCatalog = {
  number: number;
  fact: Extract<Fact, { kind: 'catalog_replaced' | 'catalog_changed' }>;
};

/** Where the facts of a shard are. A shard that does not exist yet has none. */
export type FactSource = { dataDir: string; shard: number };

export type LoggedFact = {
  shard: number;
  /** Counts from 1 in each shard, without holes. */
  number: number;
  fact: Fact;
  /** Names the markets and instruments of this fact, until the next one is read. */
  names: CatalogNames;
};

/**
 * The facts after a number, at most `limit` of them, up to the last fact on disk. Throws
 * `LogDamage`, `LogMismatch`.
 */
export function* readFacts(
  source: FactSource,
  after: number,
  limit = Number.POSITIVE_INFINITY,
): Generator<LoggedFact> {
  const facts = new FactReader(source, after);
  try {
    let left = limit;
    for (const record of facts.log.records(after)) {
      for (const fact of facts.factsOf(record)) {
        if (left-- <= 0) return;
        yield fact;
      }
    }
  } finally {
    facts.log.close();
  }
}

/** The facts after a number, and then new ones, until `signal`. Throws as `readFacts`. */
export async function* followFacts(
  source: FactSource,
  after: number,
  { signal }: { signal: AbortSignal },
): AsyncGenerator<LoggedFact> {
  const facts = new FactReader(source, after);
  try {
    for await (const record of facts.log.follow(after, { signal })) {
      for (const fact of facts.factsOf(record)) {
        if (signal.aborted) return;
        yield fact;
      }
    }
  } finally {
    facts.log.close();
  }
}

/**
 * The meaning of market and instrument numbers. Catalogs only append to them, so the newest catalog
 * before a fact has all of its names.
 */
export class CatalogNames {
  readonly #marketNames: string[] = [];
  readonly #instrumentIds: string[] = [];

  learn(fact: Fact): void {
    if (fact.kind === 'catalog_replaced') {
      const { marketNames, instrumentIds } = fact.catalog;
      append(this.#marketNames, marketNames, 0);
      append(this.#instrumentIds, instrumentIds, 0);
    }
    if (fact.kind === 'catalog_changed') {
      const { marketNames, marketsBefore, instrumentIds, instrumentsBefore } = fact.change;
      append(this.#marketNames, marketNames, marketsBefore);
      append(this.#instrumentIds, instrumentIds, instrumentsBefore);
    }
  }

  /** A market's venue and the venue's ticker of it. */
  market(number: MarketNumber): { venue: Venue; ticker: string } {
    const name = this.#marketNames[number];
    if (name === undefined) throw new Error(`no catalog before names market ${number}`);
    const slash = name.indexOf('/');
    return { venue: name.slice(0, slash) as Venue, ticker: name.slice(slash + 1) };
  }

  instrument(number: InstrumentNumber): string {
    const id = this.#instrumentIds[number];
    if (id === undefined) throw new Error(`no catalog before names instrument ${number}`);
    return id;
  }
}

/** Appends the names that a list does not have yet. They begin at a place in it. */
function append(names: string[], more: readonly string[], place: number): void {
  invariant(place <= names.length, 'a change of a catalog was left out');
  for (let at = names.length - place; at < more.length; at++) names.push(more[at]!);
}

/**
 * The facts of the newest catalog up to a number: the last whole one, and the changes since, first
 * to last. Each change names the record before it. Rule K60 (feeds/FORMATS.md).
 */
function catalogUpTo(log: LogReader, number: number): NumberedCatalog[] {
  return [...catalogsBack(log, log.landmarkUpTo(number))].reverse();
}

/** The same, last to first, from a record that has at least one of them; null: there is none. */
export function* catalogsBack(
  log: LogReader,
  newest: LogRecord | null,
): Generator<NumberedCatalog> {
  for (let record = newest; record !== null; ) {
    const facts = catalogsIn(record);
    const [first] = facts;
    invariant(first !== undefined, 'a landmark of a log has no catalog');
    for (const one of facts.toReversed()) {
      yield one;
      if (one.fact.kind === 'catalog_replaced') return;
    }
    record = first.fact.kind === 'catalog_replaced' ? null : log.record(first.fact.before);
  }
}

/** The catalogs and changes in a record. */
export function catalogsIn(record: LogRecord): NumberedCatalog[] {
  return [...factsIn(record)].flatMap(({ number, fact }) => {
    return isOfCatalog(fact) ? [{ number, fact }] : [];
  });
}

/** A reader of the shard's log, which its caller closes. */
export function openLog({ dataDir, shard }: FactSource): LogReader {
  return LogReader.open(logIn(path.join(dataDir, `shard-${shard}`)), identityOf(shard));
}

class FactReader {
  readonly log: LogReader;
  readonly #shard: number;
  readonly #after: number;
  /** The number of the next fact; 0: none was read yet. */
  #next = 0;
  /** Null: nothing was read yet. */
  #names: CatalogNames | null = null;

  constructor(source: FactSource, after: number) {
    invariant(Number.isSafeInteger(after) && after >= 0, 'a reader begins after a number');
    this.log = openLog(source);
    this.#shard = source.shard;
    this.#after = after;
  }

  *factsOf(record: LogRecord): Generator<LoggedFact> {
    const isNext = this.#next === 0 || this.#next === record.firstNumber;
    invariant(isNext, 'a reader left out a record');
    this.#next = record.firstNumber + record.count;
    this.#names ??= this.#namesBefore(record);
    for (const { number, fact } of factsIn(record)) {
      this.#names.learn(fact);
      if (number <= this.#after) continue;
      yield { shard: this.#shard, number, fact, names: this.#names };
    }
  }

  #namesBefore({ firstNumber }: LogRecord): CatalogNames {
    const names = new CatalogNames();
    for (const { fact } of catalogUpTo(this.log, firstNumber - 1)) names.learn(fact);
    return names;
  }
}

/** The facts of a record, with their numbers. */
export function* factsIn({ firstNumber, count, payload }: LogRecord) {
  const from = new ByteReader(payload);
  let number = firstNumber;
  for (; !from.isAtEnd; number++) yield { number, fact: readFact(from) };
  invariant(number === firstNumber + count, 'a record has as many facts as its header says');
}
