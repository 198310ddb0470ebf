import path from 'node:path';
import test from 'ava';
import { openShard } from '../../bench/lib/bench-shard.ts';
import { prepareOrders } from '../../bench/lib/prepared-orders.ts';
import { startPrepared } from '../../bench/lib/prepared-server.ts';
import { history } from '../../bench/suites/history.ts';
import { match } from '../../bench/suites/match.ts';
import { replayed } from '../../bench/suites/replay.ts';
import { search } from '../../bench/suites/search.ts';
import { shard } from '../../bench/suites/shard.ts';
import { tick } from '../../bench/suites/tick.ts';
import { tempDir } from '../process/server.ts';

const quiet = () => {};

test('bench match: our books and the peer fill what the naive book fills', async (t) => {
  // Throws when fills, cancels or their order differ.
  const { tables, figures } = await match.run(
    { operations: 4000, peerOperations: 1000, markets: [1, 7], rounds: 1 },
    quiet,
  );
  t.is(tables[0]!.rows.length, 10);
  for (const [name, { value }] of Object.entries(figures)) {
    t.true(typeof value === 'object' && value.median > 0, name);
  }
});

test('bench tick: quotes fill what was planned, in the book and with ledger and events', async (t) => {
  const sizes = { orders: 5000, markets: 10, accounts: 50, shares: [0, 0.1], ticksMax: 2000 };
  const { tables } = await tick.run(
    { ...sizes, depths: [10, 100], bookRounds: 1, coreRounds: 1 },
    quiet,
  );
  t.deepEqual(
    tables.map(({ rows }) => rows.length),
    [4, 2],
  );
});

test('bench shard: every order of the flow is accepted and logged', async (t) => {
  // Throws when the shard refuses one.
  const { tables, figures } = await shard.run(
    {
      batches: [1, 16],
      accounts: [10, 30],
      slices: 1,
      sliceMs: 20,
      sizeMsMax: 0,
      checkpointEveryFacts: 200,
      flow: { seed: 1, markets: 5, restingMax: 100, positionsMax: 100 },
      long: { orders: 1024, parts: 2 },
    },
    quiet,
  );
  t.deepEqual(
    tables.map(({ rows }) => rows.length),
    [4, 2],
  );
  for (const name of ['orders', 'orders/written']) {
    t.true(Number(figures[`30 accounts, batch 16/${name}`]!.value) > 0, name);
  }
});

test('bench history: bytes, questions, and the cost of frames and orders', async (t) => {
  // Throws when an order is refused, or candles are missing.
  const { tables, figures } = await history.run(
    { days: 1, questions: 3, frames: 2000, orders: 600, markets: 10, rounds: 1 },
    quiet,
  );
  t.deepEqual(
    tables.map(({ rows }) => rows.length),
    [3, 5, 4],
  );
  t.true(Number(figures['steady: one a second/bytes']!.value) > 0);
});

test('bench search: each kind of query is timed in each catalog', async (t) => {
  const { tables } = await search.run({ instruments: [40, 400], queriesOfAKind: 3 }, quiet);
  t.deepEqual(
    tables.map(({ rows }) => rows.length),
    [8, 8],
  );
});

test('bench replay: the file that it makes is read whole, with both fill models', async (t) => {
  const { tables, figures } = await replayed.run({ frames: 2000, markets: 10 }, quiet);
  t.is(tables[0]!.rows.length, 2);
  t.true(Object.values(figures).every(({ value }) => typeof value === 'number' && value > 0));
});

test.serial(
  'bench: prepared orders begin after the time of their shard, at a live price',
  async (t) => {
    const dataDir = path.join(tempDir(t), 'data');
    const { server, instruments } = await startPrepared(dataDir, 10);
    await server.stop();
    const { now } = Date;
    t.teardown(() => Object.assign(Date, { now }));
    Date.now = () => now() + 3_600_000;
    await prepareOrders(dataDir, { instruments, orders: 1000, seed: 1 });
    Date.now = now;
    // Throws when an order is refused.
    await prepareOrders(dataDir, { instruments, orders: 1000, seed: 2 });
    const shard = await openShard(path.join(dataDir, 'shard-0'));
    t.true(shard.state.nowMs >= now() + 3_000_000);
    await shard.close();
  },
);
