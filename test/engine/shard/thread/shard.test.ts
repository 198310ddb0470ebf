import test from 'ava';
import type { FillModelName } from '../../../../engine/base/units.ts';
import { showQuotes } from '../../../../engine/rules/apply-tick.ts';
import type { PlaceOrder, Tick } from '../../../../engine/rules/messages.ts';
import { Shard } from '../../../../engine/shard/thread/shard.ts';
import { ShardGauges } from '../../../../engine/shard/thread/shard-gauges.ts';
import { verifyShard } from '../../../../engine/verify/verify.ts';
import { CATALOG, NOON_MS, placeOrder, quoteTick, uuidOf } from '../../fixtures.ts';
import { tempDir } from '../engine-process.ts';

async function openShard(
  path: string,
  checkpointEveryFacts: number,
  { fillModel, ticks }: { fillModel: FillModelName; ticks: Tick[] } = {
    fillModel: 'top_of_book',
    ticks: [quoteTick()],
  },
): Promise<Shard> {
  const shard = await Shard.open({
    shard: 0,
    fillModel,
    path,
    durability: 'commit',
    checkpointEveryFacts,
    quoteMaxAgeMs: 15_000,
    routingBandCents: 10,
  });
  shard.run([{ kind: 'catalog', atMs: NOON_MS, catalog: CATALOG }, ...ticks]);
  return shard;
}

/** Lets a checkpoint go on. */
const turn = () => new Promise((resolve) => setImmediate(resolve));

const ioc = (account: number) =>
  placeOrder({
    account: uuidOf(account),
    timeInForce: 'ioc',
    limitPriceCents: 1,
  });

test('D3: checkpoints keep up with a shard that never rests', async (t) => {
  const dir = tempDir(t);
  const shard = await openShard(dir, 1000);
  let most = 0;
  for (let batch = 0; batch < 120; batch++) {
    shard.run(Array.from({ length: 128 }, (_, n) => ioc(n % 7)));
    most = Math.max(most, shard.state.records.index.unsealed);
    // Other batches come while a checkpoint is being written.
    await turn();
  }
  t.true(most > 0 && most < 120 * 128, `${most} entries of the index in memory`);
  await shard.close();
  t.like(await verifyShard(dir, 0, 1), { recordsBehind: 0, problems: [] });
});

test('N169: a leader notes places, then gives its lease up, and then writes its checkpoint', async (t) => {
  const dir = tempDir(t);
  const gauges = new ShardGauges();
  const shard = await Shard.open(
    {
      ...{ shard: 0, fillModel: 'queue', path: dir, durability: 'commit' },
      ...{ checkpointEveryFacts: 1_000_000, quoteMaxAgeMs: 15_000, routingBandCents: 10 },
    },
    { gauges },
  );
  const stored: number[] = [];
  const released: unknown[] = [];
  shard.lead({
    append: ({ firstNumber, count }) => stored.push(firstNumber + count - 1),
    confirm() {},
    notePlace() {},
    release: () => {
      released.push([stored.at(-1), shard.lastNumber, gauges.read()?.checkpointNumber]);
    },
  });
  shard.run([{ kind: 'catalog', atMs: NOON_MS, catalog: CATALOG }, quoteTick(), hundredBid]);
  shard.run([ioc(1), placeOrder({ limitPriceCents: 20, contracts: 5 }), printed(3_000)]);
  const lastNumber = shard.lastNumber + 1;
  await shard.close();
  t.deepEqual(released, [[lastNumber, lastNumber, 0]]);
  t.is(gauges.read()?.checkpointNumber, lastNumber);
});

test('T90: what is in memory, sealed or on disk is found all the same', async (t) => {
  const shard = await openShard(tempDir(t), 200);
  const placed: PlaceOrder[] = [];
  for (let batch = 0; batch < 60; batch++) {
    const orders = Array.from({ length: 10 }, (_, n) => ioc(n % 7));
    shard.run(orders);
    placed.push(...orders);
    if (batch % 3 === 0) await turn();
    const again = placed[(batch * 7) % placed.length]!;
    const [reply] = shard.run([{ ...again, orderId: uuidOf(1) }]);
    t.like(JSON.parse(reply?.ok ? reply.body : '{}'), { replayed: true, status: 'canceled' });
  }
  await shard.close();
});

test('a crash between any two steps of a checkpoint finds every order', async (t) => {
  const dir = tempDir(t);
  const placed = Array.from({ length: 300 }, (_, n) => ioc(n % 3));
  let shard = await openShard(dir, 100);
  for (let n = 0; n < placed.length; n += 20) {
    shard.run(placed.slice(n, n + 20));
    for (let turns = 0; turns < n % 7; turns++) await turn();
    if (n % 60 !== 0) continue;
    await shard.abandon();
    shard = await openShard(dir, 100);
  }
  for (const order of placed) {
    const [reply] = shard.run([{ ...order, orderId: uuidOf(1) }]);
    t.like(JSON.parse(reply?.ok ? reply.body : '{}'), { replayed: true, status: 'canceled' });
  }
  await shard.close();
});

test('L10: an order placed while a checkpoint is written counts once after a crash', async (t) => {
  const dir = tempDir(t);
  const limits = { newPerMinute: 3, newPerDay: 100, closingPerMinute: 100 };
  const keyId = uuidOf(9);
  const counting = { keyId, keyLimits: limits, accountLimits: limits, elsewhere: null };
  const place = (shard: Shard) => shard.run([placeOrder({ counting })])[0]?.ok;
  // The first order makes a checkpoint due; the second is placed while it is being written.
  let shard = await openShard(dir, 3);
  t.true(place(shard));
  t.true(place(shard));
  await shard.abandon();
  shard = await openShard(dir, 3);
  t.true(place(shard), 'the third of three');
  t.false(place(shard), 'the fourth of three');
  await shard.close();
});

test('D3, book_depth: what filled in part is the same after a crash', async (t) => {
  const dir = tempDir(t);
  const open = () => openShard(dir, 1_000_000, { fillModel: 'book_depth', ticks: [] });
  const account = uuidOf(1);
  const limit = (limitPriceCents: number, over: object) =>
    placeOrder({ account, limitPriceCents, contracts: 150, ...over });
  const depth = { yesBids: [[40, 1]] as const, yesAsks: [[43, 100]] as const };
  let shard = await open();
  const orders = [
    limit(43, { timeInForce: 'ioc' }),
    limit(50, { timeInForce: 'gtc' }),
    limit(50, { timeInForce: 'gtc' }),
  ];
  shard.run([quoteTick({ depth }), orders[0]!, orders[1]!, orders[2]!]);
  shard.run([quoteTick({ depth: { ...depth, yesAsks: [[45, 170]] } })]);
  const query = { kind: 'orders', atMs: NOON_MS, account, limit: 9, before: null } as const;
  const reported = () =>
    shard.run([
      { ...query, status: null, organizationSlug: null },
      { kind: 'audit', atMs: NOON_MS },
    ]);
  const before = reported();
  const [page] = before;
  const filled = JSON.parse(page?.ok ? page.body : '').orders;
  t.like(filled[2], { status: 'executed', filledContracts: 100, remainingContracts: 50 });
  t.like(filled[1], { status: 'executed', filledContracts: 150 });
  t.like(filled[0], { status: 'resting', filledContracts: 20, holdDollars: 65 });

  await shard.abandon();
  shard = await open();
  t.deepEqual(reported(), before, 'from the log');
  await shard.checkpoint();
  await shard.abandon();
  shard = await open();
  t.deepEqual(reported(), before, 'from a checkpoint');
  await shard.close();
});

test('a start after a whole checkpoint replays nothing', async (t) => {
  const dir = tempDir(t);
  const shard = await openShard(dir, 1_000_000);
  for (let batch = 0; batch < 600; batch++) shard.run([ioc(batch % 3)]);
  await shard.close();
  t.like(await verifyShard(dir, 0, 1), { recordsBehind: 0, limitOrders: 600, problems: [] });
});

test('a start reports what feeds said of games, and over which status of the catalog', async (t) => {
  const dir = tempDir(t);
  const [game] = CATALOG.games;
  const { slug, status } = game!;
  let shard = await openShard(dir, 1000);
  shard.run([{ kind: 'game', atMs: NOON_MS, source: 0, game: slug, status: 'inprogress' }]);
  await shard.abandon();
  shard = await openShard(dir, 1000);
  t.deepEqual(shard.report.games, [{ slug, status: 'inprogress', over: status }]);
  await shard.close();
});

/** A hundred contracts are bid for at 20 cents. */
const hundredBid: Tick = {
  ...{ kind: 'levels', atMs: NOON_MS, source: 0, market: 0, repeats: false },
  levels: { yes: [[2000, 10_000]], no: [] },
};

/** A shard with a bid of five contracts at 20 cents, after a hundred. */
async function queuedShard(path: string): Promise<Shard> {
  const ticks = [quoteTick(), hundredBid];
  const shard = await openShard(path, 1000, { fillModel: 'queue', ticks });
  shard.run([placeOrder({ limitPriceCents: 20, contracts: 5 })]);
  return shard;
}

const printed = (contracts: number): Tick => ({
  ...{ kind: 'print', atMs: NOON_MS, source: 0, market: 0, side: 'yes', price: 2000 },
  ...{ contracts, decrease: 0 },
});

const placesIn = ({ state: { queue } }: Shard) =>
  Array.from(queue.orders(), (order) => [queue.aheadE2(order), queue.partE2(order)]);

test('T154: a shard that ends notes the places in queues, so its next start has them', async (t) => {
  const dir = tempDir(t);
  const shard = await queuedShard(dir);
  shard.run([printed(3_000), printed(7_051)]);
  t.deepEqual(placesIn(shard), [[0, 51]]);
  await shard.close();
  const next = await openShard(dir, 1000, { fillModel: 'queue', ticks: [] });
  t.deepEqual(placesIn(next), [[0, 51]]);
  const { lastNumber } = next;
  await next.close();
  t.deepEqual((await verifyShard(dir, 0, 1))!.problems, []);
  const third = await openShard(dir, 1000, { fillModel: 'queue', ticks: [] });
  t.is(third.lastNumber, lastNumber, 'a place that has not moved is not noted again');
  await third.abandon();
});

test('T154: a shard that crashes goes on from the places in its log and its checkpoint', async (t) => {
  for (const withCheckpoint of [false, true]) {
    const dir = tempDir(t);
    const shard = await queuedShard(dir);
    shard.run([printed(5_001), printed(1_000)]);
    if (withCheckpoint) await shard.checkpoint();
    await shard.abandon();
    const next = await openShard(dir, 1000, { fillModel: 'queue', ticks: [] });
    t.deepEqual(placesIn(next), [[4_999, 0]]);
    await next.abandon();
  }
});

test('T154, D8: levels are shown without facts while the disk has no room', async (t) => {
  const dir = tempDir(t);
  const shard = await queuedShard(dir);
  const on = { atMs: NOON_MS, source: 0, market: 0 };
  const { queues } = shard.state.fillModel;
  const gone: Tick = {
    ...{ kind: 'level', ...on, change: 'cancel', side: 'yes', price: 2000 },
    ...{ contracts: 9_000, size: 1_000, decrease: 1 },
  };
  showQuotes(shard.state, gone);
  showQuotes(shard.state, printed(90_000));
  t.is(queues!.levels.of(0)!.sizeAt('yes', 20), 1_000);
  t.deepEqual(placesIn(shard), [[10_000, 0]]);
  const levels = { yes: [[2000, 700] as const], no: [] };
  shard.run([{ kind: 'levels', ...on, levels, repeats: false }]);
  t.deepEqual(placesIn(shard), [[700, 0]], 'the book that is sent again bounds the place');
  await shard.abandon();
});
