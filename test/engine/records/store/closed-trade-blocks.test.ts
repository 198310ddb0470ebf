/** Blocks of trades that are over: written in parts, marked later, read by time. */
import test from 'ava';
import Sqlite from 'better-sqlite3-multiple-ciphers';
import {
  type ClosedTradeBlock,
  ClosedTradeBlocks,
  ClosedTradeReader,
  type ClosedTradeRow,
} from '../../../../engine/records/store/closed-trade-blocks.ts';
import { createTables } from '../../../../engine/records/store/database.ts';
import { createRandomSource, type RandomSource } from '../../../model/random-source.ts';
import { seedsOfRun } from '../../../model/seeds.ts';

const SHARDS = 2;
const TRADES = 1500;

function randomTrade(random: RandomSource, trade: number): ClosedTradeRow {
  // Times go up, and now and then back, as where an operator sets the clock.
  const closedAtMs = 1_000_000 + trade * 10 - (random.oneIn(50) ? 3000 : 0);
  return {
    ...{ trade, closedAtMs, openedAtMs: closedAtMs - random.int(1, 1000) },
    ...{ pnlCents: random.int(-1e9, 1e9), costCents: random.int(1, 1e12) },
    ...{ contracts: random.int(1, 1e9), trader: random.int(0, 1e6) },
    ...{ instrument: random.int(0, 1e5), market: random.int(0, 1e5) },
    ...{ entryCents: random.int(1, 99), statedPct: random.int(0, 99), state: random.int(1, 5) },
    ...{ instrumentYes: random.int(0, 1), isListed: 1, isRealistic: random.int(0, 1) },
    isCharged: random.int(0, 1),
  };
}

function rowsOf(block: ClosedTradeBlock): ClosedTradeRow[] {
  return Array.from({ length: block.count }, (_, at) => {
    const { count: _count, ...columns } = block;
    const row = Object.entries(columns).map(([name, column]) => [name, column[at]]);
    return Object.fromEntries(row) as ClosedTradeRow;
  });
}

test('Y2, Y9: blocks have every trade as it was written and marked, over any stops', (t) => {
  for (const seed of seedsOfRun(3)) {
    const random = createRandomSource(seed);
    const database = new Sqlite(':memory:');
    createTables(database);
    const expected: ClosedTradeRow[][] = [[], []];
    const counts = () => expected.map(({ length }) => length);
    let blocks = new ClosedTradeBlocks(database, counts());
    for (let trade = 0; trade < TRADES; trade++) {
      const shard = random.int(0, SHARDS - 1);
      const own = expected[shard]!;
      const row = randomTrade(random, trade * SHARDS + shard);
      t.is(blocks.add(shard, row), own.length);
      own.push(row);
      if (random.oneIn(4)) blocks.write();
      if (random.oneIn(5)) {
        const place = random.int(random.oneIn(2) ? own.length - 1 : 0, own.length - 1);
        const isListed = random.oneIn(2) ? 1 : 0;
        blocks.change(shard, place, { isListed });
        own[place] = { ...own[place]!, isListed };
      }
      if (random.oneIn(8)) {
        blocks.write();
        blocks = new ClosedTradeBlocks(database, counts());
      }
    }
    blocks.write();
    const reader = new ClosedTradeReader(database);
    const all = [...reader.blocks(0, 1e15)].flatMap(rowsOf);
    const byTrade = (a: ClosedTradeRow, b: ClosedTradeRow) => a.trade - b.trade;
    t.deepEqual(all.sort(byTrade), expected.flat().sort(byTrade), String(seed));
    const blockCounts = counts().map((count) => Math.ceil(count / 256));
    t.is(reader.count(0, 1e15), 256 * (blockCounts[0]! + blockCounts[1]!));
    for (const [afterMs, upToMs] of [
      [1_004_000, 1_006_000],
      [1_007_777, 1e15],
      [0, 1_000_500],
    ] as const) {
      const within = ({ closedAtMs }: ClosedTradeRow) =>
        closedAtMs > afterMs && closedAtMs <= upToMs;
      const found = [...reader.blocks(afterMs, upToMs)].flatMap(rowsOf).filter(within);
      t.deepEqual(found.sort(byTrade), expected.flat().filter(within).sort(byTrade));
    }
    t.is([...reader.blocks(2e6, 1e15)].length, 0);
    database.close();
  }
});

test('Y9: what no block can have is a fault', (t) => {
  const database = new Sqlite(':memory:');
  createTables(database);
  const blocks = new ClosedTradeBlocks(database, [0]);
  const trade = randomTrade(createRandomSource(1), 1);
  t.throws(() => blocks.add(0, { ...trade, trade: 2 ** 32 }), { message: /more trades than/ });
  t.throws(() => blocks.change(0, 0, { isListed: 1 }), { message: /is not over/ });
  t.throws(() => new ClosedTradeBlocks(database, [300]), { message: /block of trades is missing/ });
  database.close();
});
