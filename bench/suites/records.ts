/**
 * The records of many traders: the cost of rankings, pages of them, and a trader's own page, their
 * memory, and the age of boards.
 */
import path from 'node:path';
import v8 from 'node:v8';
import vm from 'node:vm';
import type { Metric } from '../../engine/records/maths/statistics.ts';
import { Closings } from '../../engine/records/projection/closings.ts';
import { Instruments } from '../../engine/records/projection/instruments.ts';
import { connected, recordsFile } from '../../engine/records/store/database.ts';
import { Profiles } from '../../engine/records/store/profiles.ts';
import { Traders } from '../../engine/records/store/traders.ts';
import { Bids, Worth } from '../../engine/records/store/worth.ts';
import { RecordsReader } from '../../engine/records/thread/reader.ts';
import { NOW_MS, prepareRecords, type RecordsSizes, traderIds } from '../lib/prepared-records.ts';
import { freshness } from '../lib/records-freshness.ts';
import { count, type Figures, ms, type Report, type Suite } from '../lib/report.ts';
import { percentile } from '../lib/stats.ts';
import { dropDir, tempDir } from '../lib/temp.ts';

const PAGES = 200;
const MINUTE_MS = 60_000;
const MIB = 2 ** 20;

export const records: Suite<RecordsSizes> = {
  name: 'records',
  about: 'rankings of many traders, their pages, their memory, and how old they are',
  full: {
    ...{ traders: 1_000_000, picks: 10_000_000, openTrades: 1_000_000 },
    ...{ instruments: 20_000, spareInstruments: 60 },
  },
  quick: {
    ...{ traders: 20_000, picks: 200_000, openTrades: 20_000 },
    ...{ instruments: 2000, spareInstruments: 5 },
  },
  run,
};

async function run(sizes: RecordsSizes, progress: (line: string) => void): Promise<Report> {
  const directory = tempDir();
  progress(`records: ${count(sizes.picks)} picks`);
  prepareRecords(path.join(directory, 'records'), sizes);
  progress('records: rankings');
  const steps = new Steps();
  measure(path.join(directory, 'records'), sizes, steps);
  progress('records: how old boards are');
  const database = connected(recordsFile(path.join(directory, 'records')));
  const ids = traderIds(database);
  database.close();
  const { leaderboardMs, evalMs } = await freshness(directory, ids, sizes);
  dropDir(directory);
  const { figures, rows, memory } = steps;
  const ages = [ageRow('leaderboard', leaderboardMs, figures), ageRow('eval', evalMs, figures)];
  const { traders, picks, openTrades } = sizes;
  const size = `${count(traders)} traders, ${count(picks)} picks, ${count(openTrades)} open trades`;
  return {
    tables: [
      { title: `records of ${size}, CPU milliseconds`, columns: ['step', 'ms'], rows },
      { title: 'memory of the records', columns: ['after', 'MiB', 'bytes a trader'], rows: memory },
      {
        title: 'from a settled trade on disk to the board that shows it, milliseconds',
        columns: ['board', 'p50', 'p99', 'max'],
        rows: ages,
        notes: [
          `${leaderboardMs.length} trades, one after the other; both boards asked for all the time`,
        ],
      },
    ],
    figures,
  };
}

/** The measurements so far. */
class Steps {
  readonly figures: Figures = {};
  readonly rows: string[][] = [];
  readonly memory: string[][] = [];

  /** Measures the CPU time of one of several equal steps. */
  add(name: string, work: () => void, times = 1): void {
    const before = process.cpuUsage();
    for (let time = 0; time < times; time++) work();
    const { user, system } = process.cpuUsage(before);
    const value = (user + system) / 1000 / times;
    this.figures[name] = { unit: 'ms', value };
    this.rows.push([name, ms(value)]);
  }

  addMemory(name: string, bytes: number, traders: number): void {
    this.figures[`memory/${name}`] = { unit: 'bytes', value: bytes };
    this.memory.push([name, (bytes / MIB).toFixed(0), (bytes / traders).toFixed(0)]);
  }
}

function measure(directory: string, sizes: RecordsSizes, steps: Steps): void {
  const database = connected(recordsFile(directory));
  const closings = new Closings(path.dirname(directory));
  const before = memoryNow();
  const memory = (name: string) => steps.addMemory(name, memoryNow() - before, sizes.traders);
  let clockMs = 0;
  let traders: Traders | null = null;
  let profiles: Profiles | null = null;
  let reader: RecordsReader | null = null;
  steps.add('start', () => {
    traders = new Traders(database);
    profiles = new Profiles(traders);
    const worth = new Worth(database, traders, new Bids());
    const instruments = new Instruments(database, closings);
    const parts = { database, traders, profiles, worth, instruments };
    reader = new RecordsReader({ ...parts, clock: () => clockMs });
  });
  steps.add('taking everyone as public', () => takeEveryone(traders!, profiles!));
  memory('start');
  const later = () => {
    clockMs += MINUTE_MS;
  };
  measureLeaderboard(reader!, steps, later);
  memory('rankings of 30 days and of all time');
  measureEval(reader!, steps, later);
  memory('four boards of eval');
  steps.addMemory(
    'most at once, with the files',
    process.resourceUsage().maxRSS * 1024,
    sizes.traders,
  );
  closings.close();
  database.close();
}

function takeEveryone(traders: Traders, profiles: Profiles): void {
  for (let trader = 0; trader < traders.end; trader++) {
    profiles.set({ id: traders.ids.idOf(trader), isPublic: true, showsEarlier: true });
  }
}

function measureLeaderboard(reader: RecordsReader, steps: Steps, later: () => void): void {
  const page = (days: number | null, board: 'pnl' | 'net_worth' = 'pnl', nowMs = NOW_MS) =>
    reader.answer('leaderboard', { board, days, limit: 100, after: null, nowMs });
  steps.add('leaderboard of 30 days, first ranking', () => page(30));
  later();
  steps.add('the same, a minute later', () => page(30, 'pnl', NOW_MS + MINUTE_MS));
  steps.add('leaderboard of all time', () => page(null));
  steps.add('net worth', () => page(null, 'net_worth'));
  steps.add('a page of 100 rows', () => page(30), PAGES);
  const { trader } = page(30).rows[50]!;
  const asked = { trader, showsEarlier: true, markets: [], bids: null };
  const own = () => reader.answer('trader', asked);
  steps.add('the first page of a trader, for which all are ranked', own);
  steps.add("a trader's page, with its rank", own, PAGES);
}

function measureEval(reader: RecordsReader, steps: Steps, later: () => void): void {
  const page = (metric: Metric, days: number | null, nowMs = NOW_MS + MINUTE_MS) =>
    reader.answer('eval', { metric, days, limit: 100, after: null, nowMs, fees: [] });
  steps.add('eval of 90 days by brier, first ranking', () => page('brier', 90));
  later();
  steps.add('the same, a minute later', () => page('brier', 90, NOW_MS + 2 * MINUTE_MS));
  steps.add('eval of 90 days by clv, first ranking', () => page('clv', 90));
  steps.add('eval of 90 days by pnl, first ranking', () => page('pnl', 90));
  steps.add('eval of all time by brier, first ranking', () => page('brier', null));
  later();
  steps.add('the same, a minute later', () => page('brier', null));
  page('clv', 90);
  steps.add('a page of 100 rows of eval', () => page('clv', 90), PAGES);
}

function ageRow(board: string, agesMs: readonly number[], figures: Figures): string[] {
  const sorted = agesMs.toSorted((a, b) => a - b);
  const shown = [percentile(sorted, 50), percentile(sorted, 99), sorted.at(-1)!];
  for (const [at, name] of ['p50', 'p99', 'max'].entries()) {
    figures[`age of ${board}/${name}`] = { unit: 'ms', value: shown[at]! };
  }
  return [board, ...shown.map(ms)];
}

/** After a collection of garbage. */
function memoryNow(): number {
  v8.setFlagsFromString('--expose-gc');
  const collect = vm.runInNewContext('gc') as () => void;
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
