/**
 * The search for instruments: how long a catalog takes to index, how long that delays other
 * requests, and the time of each kind of query.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { CatalogView } from '../../api/catalog/catalog-view.ts';
import { InstrumentSearch } from '../../api/catalog/instrument-search.ts';
import type { Catalog } from '../../engine/rules/catalog-entries.ts';
import { type Random, seededRandom } from '../lib/random.ts';
import { count, type Figures, ms, type Report, type Suite, type Table } from '../lib/report.ts';
import { sportsCatalog } from '../lib/sports-catalog.ts';
import { Latencies } from '../lib/stats.ts';

export type SearchSizes = { instruments: readonly number[]; queriesOfAKind: number };

const LIMIT = 25;
const WARM_UP_QUERIES = 50;
const LETTERS = 'abcdefghijklmnopqrstuvwxyz';

export const search: Suite<SearchSizes> = {
  name: 'search',
  about: 'finding instruments by words, and indexing them',
  full: { instruments: [10_000, 100_000], queriesOfAKind: 1000 },
  quick: { instruments: [10_000], queriesOfAKind: 200 },
  run,
};

/** A query from a label of the catalog. */
type Kind = { name: string; queryFrom(words: readonly string[], random: Random): string };

const KINDS: readonly Kind[] = [
  { name: 'a label', queryFrom: (words) => words.join(' ') },
  { name: 'a word', queryFrom: (words) => words[0]! },
  { name: 'two words, the second begun', queryFrom: ([a, b]) => `${a} ${b!.slice(0, 3)}` },
  { name: 'three letters', queryFrom: ([first]) => first!.slice(0, 3) },
  { name: 'one letter', queryFrom: (_, random) => LETTERS[random.below(LETTERS.length)]! },
  { name: 'a word with a typo', queryFrom: ([first], random) => misspelt(first!, random) },
  { name: 'words of most labels', queryFrom: () => 'over points to beat more than' },
  { name: 'many letters', queryFrom: () => [...LETTERS].join(' ') },
];

async function run(sizes: SearchSizes, progress: (line: string) => void): Promise<Report> {
  const figures: Figures = {};
  const tables: Table[] = [];
  for (const instruments of sizes.instruments) {
    progress(`search: ${count(instruments)} instruments`);
    tables.push(await tableFor(sportsCatalog(instruments), sizes.queriesOfAKind, figures));
  }
  return { tables, figures };
}

async function tableFor(catalog: Catalog, queries: number, figures: Figures): Promise<Table> {
  const size = `${count(catalog.instruments.length)} instruments`;
  const { search, indexMs, heldUpMs } = await indexed(catalog);
  figures[`${size}/index`] = { unit: 'ms', value: indexMs };
  figures[`${size}/longest hold-up`] = { unit: 'ms', value: heldUpMs };
  const rows = KINDS.map((kind) => {
    const { wall, cpu } = timeQueries(search, catalog, kind, queries);
    figures[`${size}/${kind.name}/p50`] = { unit: 'ms', value: wall.p50 };
    figures[`${size}/${kind.name}/p99`] = { unit: 'ms', value: wall.p99 };
    figures[`${size}/${kind.name}/p99 of CPU`] = { unit: 'ms', value: cpu.p99 };
    return [kind.name, ms(wall.p50), ms(wall.p99), ms(cpu.p50), ms(cpu.p99)];
  });
  return {
    title: `search: ${size}, milliseconds a query`,
    columns: ['query', 'p50', 'p99', 'CPU p50', 'CPU p99'],
    rows,
    notes: [
      `indexed between requests in ${ms(indexMs)} ms, ${ms(heldUpMs)} ms at most in one piece`,
      'CPU: of the process on any core, with what collects garbage; steadier on a busy machine',
    ],
  };
}

async function indexed(catalog: Catalog) {
  const view = new CatalogView(() => catalog);
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const startedMs = performance.now();
  const search = new InstrumentSearch(view);
  while (!search.isWhole) await nextTurn();
  const indexMs = performance.now() - startedMs;
  delay.disable();
  return { search, indexMs, heldUpMs: delay.max / 1e6 };
}

function timeQueries(search: InstrumentSearch, catalog: Catalog, kind: Kind, queries: number) {
  const random = seededRandom(7);
  const [wall, cpu] = [new Latencies(), new Latencies()];
  for (let number = -WARM_UP_QUERIES; number < queries; number++) {
    const { label } = catalog.instruments[random.below(catalog.instruments.length)]!;
    const query = kind.queryFrom(label.split(' '), random);
    const [startedMs, usedBefore] = [performance.now(), process.cpuUsage()];
    search.find(query, {}, LIMIT, true, 0);
    const { user, system } = process.cpuUsage(usedBefore);
    const tookMs = performance.now() - startedMs;
    if (number < 0) continue;
    wall.add(tookMs);
    cpu.add((user + system) / 1000);
  }
  return { wall: wall.summary(), cpu: cpu.summary() };
}

function misspelt(word: string, random: Random): string {
  const at = random.below(word.length);
  return `${word.slice(0, at)}${LETTERS[random.below(LETTERS.length)]}${word.slice(at + 1)}`;
}
