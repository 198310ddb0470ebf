/**
 * The records of many traders: what a ranking costs, a page of it, and a trader's own page. The rows
 * are written as the fold would write them; picks spread evenly over a year.
 */
import path from 'node:path';
import { connected, createTables, type Database } from '../../engine/records/database.ts';
import { Leaderboard } from '../../engine/records/leaderboard.ts';
import { Profiles } from '../../engine/records/profiles.ts';
import { Traders } from '../../engine/records/traders.ts';
import { Bids, Worth } from '../../engine/records/worth.ts';
import { type Random, seededRandom } from '../lib/random.ts';
import { count, type Figures, ms, type Report, type Suite } from '../lib/report.ts';
import { dropDir, tempDir } from '../lib/temp.ts';

export type RecordsSizes = { traders: number; picks: number };

const DAY_MS = 86_400_000;
const NOW_MS = Date.UTC(2026, 10, 21);
const YEAR_MS = 365 * DAY_MS;
const PAGES = 200;

export const records: Suite<RecordsSizes> = {
  name: 'records',
  about: 'rankings of many traders, their pages, and the memory that they take',
  full: { traders: 1_000_000, picks: 10_000_000 },
  quick: { traders: 20_000, picks: 200_000 },
  run,
};

async function run(
  { traders: traderCount, picks }: RecordsSizes,
  progress: (line: string) => void,
): Promise<Report> {
  const figures: Figures = {};
  const rows: string[][] = [];
  const add = (name: string, value: number) => {
    figures[name] = { unit: 'ms', value };
    rows.push([name, ms(value)]);
  };
  progress(`records: ${count(picks)} picks`);
  const directory = tempDir();
  const database = connected(path.join(directory, 'records.db'));
  createTables(database);
  fill(database, { traders: traderCount, picks });
  const bytes = measured(database, traderCount, add);
  figures['memory/bytes a trader'] = { unit: 'bytes', value: bytes / traderCount };
  database.close();
  dropDir(directory);
  const perTrader = Math.round(bytes / traderCount);
  const size = `${count(traderCount)} traders and ${count(picks)} picks`;
  return {
    tables: [
      {
        title: `records of ${size}, CPU milliseconds`,
        columns: ['step', 'ms'],
        rows,
        notes: [`${perTrader} bytes of memory a trader, with two windows`],
      },
    ],
    figures,
  };
}

/** The bytes that it has taken. */
function measured(
  database: Database,
  traderCount: number,
  add: (name: string, value: number) => void,
): number {
  const before = process.memoryUsage();
  let traders: Traders | null = null;
  add(
    'start',
    cpuMs(() => {
      traders = new Traders(database);
    }),
  );
  const profiles = new Profiles(traders!);
  for (let trader = 0; trader < traderCount; trader++) {
    profiles.set({ id: traders!.idOf(trader), isPublic: true, showsEarlier: true });
  }
  const worth = new Worth(database, traders!, new Bids());
  let clockMs = 0;
  const clock = () => clockMs;
  const board = new Leaderboard({ database, traders: traders!, profiles, worth, clock });
  const page = (days: number | null, nowMs: number) =>
    board.page({ board: 'pnl', days, limit: 100, after: null, nowMs });
  add(
    '30 days, first ranking',
    cpuMs(() => page(30, NOW_MS)),
  );
  clockMs += 60_000;
  add(
    '30 days, ranked again after a minute',
    cpuMs(() => page(30, NOW_MS + 60_000)),
  );
  add(
    'all of time',
    cpuMs(() => page(null, NOW_MS)),
  );
  const pages = cpuMs(() => {
    for (let at = 0; at < PAGES; at++) page(30, NOW_MS + 60_000);
  });
  add('a page of 100 rows', pages / PAGES);
  add(
    "a trader's rank",
    cpuMs(() => board.rankOf(Math.floor(traderCount / 2))),
  );
  const after = process.memoryUsage();
  return after.heapUsed + after.external - before.heapUsed - before.external;
}

function fill(database: Database, { traders, picks }: RecordsSizes): void {
  const random = seededRandom(7);
  const trader = database.prepare(`INSERT INTO traders VALUES (${places(15)})`);
  const trade = database.prepare(`INSERT INTO trades VALUES (${places(21)})`);
  database.exec('BEGIN');
  for (let at = 0; at < traders; at++) {
    const [pnl, cost] = [random.below(2_000_000) - 1_000_000, 5_000_000];
    const closed = Math.floor(picks / traders);
    trader.run(
      ...[at, idOf(at, random), 10_000_000 + pnl, 1, 0, 0, 0, 0, 0],
      ...[closed, pnl, cost, closed, 0, 0],
    );
  }
  for (let at = 0; at < picks; at++) {
    const closedAtMs = NOW_MS - YEAR_MS + Math.floor((at / picks) * YEAR_MS);
    const hasWon = random.below(2);
    trade.run(
      ...[at, idOf(at, random), random.below(traders), at % 1000, at % 1000, 1, 1, 10, 500, 50],
      ...[null, 0, closedAtMs - DAY_MS, 0, 2 - hasWon, hasWon === 1 ? 0 : 1, closedAtMs],
      ...[hasWon === 1 ? 500 : -500, null, 0, 0],
    );
  }
  database.exec('COMMIT');
}

const places = (columns: number) => new Array(columns).fill('?').join(', ');

/** In the order of time, as version 7 ids are. */
function idOf(at: number, random: Random): Buffer {
  const id = Buffer.alloc(16);
  id.writeUInt32BE(at);
  for (let place = 4; place < 16; place += 4) id.writeUInt32BE(random.word(), place);
  return id;
}

function cpuMs(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
