/** A log of facts of every kind, with catalogs that add markets, for tests of readers. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { ByteWriter } from '../../../engine/format/bytes.ts';
import { writeFact } from '../../../engine/format/fact-layouts.ts';
import { LogWriter } from '../../../engine/log/log-writer.ts';
import type { Catalog } from '../../../engine/rules/catalog-entries.ts';
import type { Fact } from '../../../engine/rules/facts.ts';
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

/** Appends the facts as one record. */
export function append(log: LogWriter, facts: readonly Fact[]): void {
  const to = new ByteWriter();
  for (const fact of facts) writeFact(to, fact);
  const isLandmark = facts.some(({ kind }) => kind === 'catalog_replaced');
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
  const catalog = { kind: 'catalog_replaced', atMs, catalog: catalogOf(size) } as const;
  const before = at === 0 ? [] : [seenOf(size - 2, first!)];
  return [...before, catalog, ...others.map((fact) => seenOf(size - 1, fact))];
}
