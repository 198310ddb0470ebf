import test from 'ava';
import { match } from '../../bench/suites/match.ts';
import { shard } from '../../bench/suites/shard.ts';
import { tick } from '../../bench/suites/tick.ts';

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

test('bench shard: every order of the flow is accepted and journaled', async (t) => {
  // Throws when the shard refuses one.
  const flow = { seed: 1, accounts: 10, markets: 5, restingMax: 100, positionsMax: 100 };
  const { tables, figures } = await shard.run(
    { batches: [1, 16], slices: 1, sliceMs: 20, sizeMsMax: 0, checkpointEveryFacts: 200, flow },
    quiet,
  );
  t.is(tables[0]!.rows.length, 2);
  t.true(Number(figures['batch 16/orders']!.value) > 0);
});
