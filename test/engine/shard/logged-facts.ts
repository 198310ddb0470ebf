/** A log of facts of every kind, with catalogs that add markets, for tests of readers. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Uuid } from '../../../engine/base/units.ts';
import { ByteWriter } from '../../../engine/format/bytes.ts';
import { writeFact } from '../../../engine/format/fact-layouts.ts';
import { isOfCatalog } from '../../../engine/format/facts.ts';
import { LogWriter } from '../../../engine/log/log-writer.ts';
import { changeOf } from '../../../engine/rules/catalog-change.ts';
import type { Catalog } from '../../../engine/rules/catalog-entries.ts';
import type { Fact, FactPlace } from '../../../engine/rules/facts.ts';
import { identityOf } from '../../../engine/shard/store/data-format.ts';
import { logIn } from '../../../engine/shard/store/shard-log.ts';

const GOLDEN = new URL('../../golden/format/facts.json', import.meta.url);
const golden = JSON.parse(readFileSync(GOLDEN, 'utf8')) as { facts: { fact: Fact }[] };
/** Of the kinds that name an account. */
const OTHERS = golden.facts.map(({ fact }) => fact).filter((fact) => 'account' in fact);
const AT_MS = Date.UTC(2026, 10, 22);

export function openLog(dataDir: string, shard: number, segmentBytes?: number): LogWriter {
  const directory = logIn(path.join(dataDir, `shard-${shard}`));
  const options = { ...identityOf(shard), durability: 'sync' } as const;
  return LogWriter.open(
    directory,
    segmentBytes === undefined ? options : { ...options, segmentBytes },
  );
}

/** Where each log has its newest catalog. */
const catalogs = new WeakMap<LogWriter, number>();

/**
 * Appends the facts as one record. A change of a catalog follows the newest one. @param placed where orders were placed, which the ends of orders
 * say
 */
export function append(
  log: LogWriter,
  facts: readonly Fact[],
  placed: Map<Uuid, FactPlace> = new Map(),
): void {
  const to = new ByteWriter();
  const position = log.tail;
  for (const fact of facts) {
    if (fact.kind === 'order_placed')
      placed.set(fact.order, { record: position, offset: to.length });
    const isEnd = fact.kind === 'order_ended' || fact.kind === 'order_filled';
    const place = isEnd ? placed.get(fact.order) : undefined;
    const more = place === undefined ? {} : { placed: place };
    const before = fact.kind === 'catalog_changed' ? { before: catalogs.get(log)! } : {};
    writeFact(to, { ...fact, ...more, ...before } as Fact);
    if (isOfCatalog(fact)) catalogs.set(log, position);
  }
  const isLandmark = facts.some(isOfCatalog);
  const { nextNumber: firstNumber } = log;
  const record = { firstNumber, count: facts.length, atMs: AT_MS, payload: to.copy() };
  log.append(record, isLandmark);
  log.sync();
}

/** The catalog that names so many markets and instruments. */
function catalogOf(size: number): Catalog {
  const numbers = [...Array(size).keys()];
  return {
    games: [],
    instruments: [],
    marketNames: numbers.map((number) => `venue_${number % 2 === 0 ? 'a' : 'b'}/M/${number}`),
    instrumentIds: numbers.map((number) => `instrument-${number}`),
  };
}

/** Record `at`: facts of the newest market and, now and then among them, a new catalog. */
export function recordAt(at: number): Fact[] {
  const size = 1 + Math.floor(at / 10);
  const atMs = AT_MS + at;
  const seenOf = (number: number, fact: Fact): Fact =>
    ({
      ...fact,
      atMs,
      ...('market' in fact ? { market: number, instrument: number } : {}),
    }) as Fact;
  const [first, ...others] = [0, 1, 2].map((other) => OTHERS[(at + other) % OTHERS.length]!);
  if (at % 10 !== 0) return [first!, ...others].map((fact) => seenOf(size - 1, fact));
  const now = catalogOf(size);
  // Every third one is whole.
  const catalog: Fact =
    size % 3 === 1
      ? { kind: 'catalog_replaced', atMs, catalog: now }
      : {
          ...{ kind: 'catalog_changed', atMs, before: 0 },
          change: changeOf(catalogOf(size - 1), now)!,
        };
  const before = at === 0 ? [] : [seenOf(size - 2, first!)];
  return [...before, catalog, ...others.map((fact) => seenOf(size - 1, fact))];
}
