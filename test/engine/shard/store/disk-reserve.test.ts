import { fork } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import path from 'node:path';
import test from 'ava';
import { open } from 'lmdb';
import { checkLmdbFile } from '../../../../engine/lmdb/lmdb-file.ts';
import { DiskFull } from '../../../../engine/log/disk-full.ts';
import type { Shards } from '../../../../engine/shard/callers/shards.ts';
import { DiskReserve } from '../../../../engine/shard/store/disk-reserve.ts';
import { Unavailable } from '../../../../engine/threads/unavailable.ts';
import { verifyShard } from '../../../../engine/verify/verify.ts';
import { AWAY, CATALOG, NOON_MS, placeOrder, quoteTick, uuidOf } from '../../fixtures.ts';
import { openShards, tempDir } from '../engine-process.ts';
import { openShard } from '../environment.ts';
import { limitFiles, mayLimitFiles, unlimitFiles } from '../limited-files.ts';

// Where files cannot be limited these are shown as skipped.
const limited = mayLimitFiles() ? test.serial : test.serial.skip;

const CONNECTION = 7;
const fileIn = (dir: string) => path.join(dir, 'data.mdb');
const sizeOf = (dir: string) => statSync(fileIn(dir)).size;

limited('D8: room is made before it is needed, or refused with nothing changed', async (t) => {
  const dir = tempDir(t);
  const root = open({ path: dir, noSync: true });
  root.putSync('key', 'value');
  const room = new DiskReserve(dir, root);
  room.ensure(100_000);
  const size = sizeOf(dir);
  t.true(size > 3_000_000);
  // A part of what it asks for.
  limitFiles(t, size + 1_000_000);
  const refused = t.throws(() => room.ensure(2_000_000), { instanceOf: DiskFull });
  t.is(refused.message, 'the data directory cannot be written: file too large');
  t.true(refused instanceof Unavailable);
  t.is(sizeOf(dir), size);
  unlimitFiles();
  room.ensure(2_000_000);
  t.true(sizeOf(dir) > size);
  root.putSync('key', 'x'.repeat(1_000_000));
  room.close();
  await root.close();
  t.deepEqual(checkLmdbFile(dir), { entries: 1 });
});

const limitBuy = (over: object) => placeOrder({ limitPriceCents: 20, ...over });
const asked = { kind: 'instrument_quote', atMs: NOON_MS, instrumentId: AWAY } as const;
/** More than a log may grow to, where no file may be larger than the environment is now. */
const burst = () => Array.from({ length: 10_000 }, () => limitBuy({ account: uuidOf(9) }));

limited(
  'D8: a shard without room shows quotes, and takes nothing, be it little, much or of markets that it does not know; then it goes on',
  async (t) => {
    const dir = tempDir(t);
    const shard = await openShard(dir, 100);
    shard.run([{ kind: 'catalog', atMs: NOON_MS, catalog: CATALOG }, quoteTick()]);
    shard.run([{ kind: 'switches', atMs: NOON_MS, venueData: true, selfReset: false }]);
    const expiring = { account: uuidOf(1), expiresAtMs: NOON_MS + 1000 };
    shard.run([limitBuy({ account: uuidOf(1) }), limitBuy(expiring)]);
    limitFiles(t, sizeOf(dir));

    t.deepEqual(new Set(shard.take(burst())), new Set([null]));
    const reaching = quoteTick({ atMs: NOON_MS + 2000, yesBidCents: 15, yesAskCents: 18 });
    const [refused, quote] = shard.take([reaching, placeOrder(), asked]);
    t.is(refused, null);
    t.like(JSON.parse(quote?.ok ? quote.body : '{}').venues[0], { yesAskCents: 18 });
    t.is(shard.state.orders.live, 2, 'nothing fills and nothing expires');
    t.throws(() => shard.run([placeOrder()]), { instanceOf: DiskFull });
    const checkpoint = shard.checkpoint();

    const market = CATALOG.marketNames.length;
    const marketNames = [...CATALOG.marketNames, 'venue_a/NEW'];
    const at = { atMs: NOON_MS, source: 0, market };
    const [unknown, again] = shard.take([
      { kind: 'catalog', atMs: NOON_MS, catalog: { ...CATALOG, marketNames } },
      quoteTick({ market }),
      { kind: 'status', ...at, status: 'paused' },
      { kind: 'trade', ...at, yesPriceCents: 40, contracts: 1, side: 'yes' },
      asked,
    ]);
    t.is(unknown, null);
    t.true(again?.ok);

    // Longer than until it looks again.
    await new Promise((resolve) => setTimeout(resolve, 1100));
    t.deepEqual(shard.take([limitBuy({})]), [null], 'no room for much is none for little');
    t.is(shard.state.orders.live, 2);
    unlimitFiles();
    await until(() => shard.take([placeOrder({ account: uuidOf(2) })])[0] !== null);
    shard.run([reaching]);
    t.is(shard.state.orders.live, 0, 'the quote fills one, the other has expired');
    await checkpoint;
    await shard.close();
    t.like(await verifyShard(dir, 0, 1), { accounts: 2, problems: [] });
  },
);

limited('D8: a shard that ends without room loses nothing that it acknowledged', async (t) => {
  const dir = tempDir(t);
  const shard = await openShard(dir, 100);
  shard.run([{ kind: 'catalog', atMs: NOON_MS, catalog: CATALOG }, quoteTick()]);
  // Most of the room of the log.
  const [one] = CATALOG.instruments;
  const instruments = [{ ...one!, yesMeans: '-'.repeat(4_000_000) }];
  shard.run([{ kind: 'catalog', atMs: NOON_MS, catalog: { ...CATALOG, instruments } }]);
  limitFiles(t, sizeOf(dir));
  let placed = 0;
  for (let isFull = false; !isFull && placed < 100_000; ) {
    const orders = Array.from({ length: 20 }, (_, n) => {
      return limitBuy({ idempotencyKey: `${placed}-${n}`.padEnd(128, '-') });
    });
    const replies = shard.take(orders);
    placed += replies.filter((reply) => reply?.ok).length;
    isFull = replies.includes(null);
  }
  t.true(placed > 100 && placed < 100_000, `${placed}`);
  await shard.close();
  t.like(await verifyShard(dir, 0, 1), { restingOrders: placed, problems: [] });
  const again = await openShard(dir, 100);
  t.is(again.state.orders.live, placed);
  await again.abandon();
});

limited('D8, T135: what came while there was no room follows once there is', async (t) => {
  const dir = tempDir(t);
  const engine = await openShards(dir);
  engine.tick(quoteTick());
  const order = placeOrder();
  t.true((await engine.call(order.account, order)).ok);
  engine.connections.opened(CONNECTION);
  const tied = limitBuy({ connection: CONNECTION });
  t.true((await engine.call(tied.account, tied)).ok);
  limitFiles(t, sizeOf(path.join(dir, 'shard-0')));
  let isFull = false;
  for (let rounds = 0; rounds < 50 && !isFull; rounds++) {
    const orders = Array.from({ length: 900 }, (_, n) => {
      const idempotencyKey = `${rounds}-${n}`.padEnd(128, '-');
      return limitBuy({ account: uuidOf(9), idempotencyKey });
    });
    const answers = await Promise.allSettled(orders.map((one) => engine.call(one.account, one)));
    isFull = answers.some(({ status }) => status === 'rejected');
  }
  t.true(isFull);
  t.is(engine.state(), 'degraded');
  t.deepEqual(engine.problems(), ['shard 0: the data directory cannot be written: file too large']);
  await t.throwsAsync(engine.call(order.account, placeOrder()), { instanceOf: DiskFull });

  engine.connections.ended(CONNECTION, [tied.account]);
  const pays = { outcome: 'yes', yesPayoutCents: 100, noPayoutCents: 0 } as const;
  engine.tick({ kind: 'result', atMs: NOON_MS, source: 0, market: 0, ...pays });
  await engine.drained();
  t.is(await openPositions(engine), 1);
  unlimitFiles();
  await until(() => {
    engine.tick({ kind: 'time', atMs: NOON_MS });
    return engine.state() === 'ready';
  });
  // The result came again; its market has more orders than one batch ends.
  await until(async () => (await openPositions(engine)) === 0);
  const { account, orderId } = tied;
  const query = { kind: 'order', atMs: NOON_MS, account, orderId, organizationSlug: null } as const;
  const reply = await engine.call(account, query);
  t.like(JSON.parse(reply.ok ? reply.body : '{}').order, { cancelReason: 'disconnected' });
  await engine.close();
});

limited('S15, D8: a settlement waits for room, and shows nothing half settled', async (t) => {
  const dir = tempDir(t);
  const shard = await openShard(dir, 100_000);
  shard.run([{ kind: 'catalog', atMs: NOON_MS, catalog: CATALOG }, quoteTick()]);
  shard.run([{ kind: 'switches', atMs: NOON_MS, venueData: true, selfReset: false }]);
  const accounts = [uuidOf(1), uuidOf(2), uuidOf(3)];
  for (const account of accounts) {
    shard.run(Array.from({ length: 300 }, () => placeOrder({ account })));
  }
  const pays = { outcome: 'yes', yesPayoutCents: 100, noPayoutCents: 0 } as const;
  shard.run([{ kind: 'result', atMs: NOON_MS, source: 0, market: 0, ...pays }]);
  t.is(shard.state.positions.live, 400, 'the newest 500 are settled');
  limitFiles(t, sizeOf(dir));
  t.deepEqual(new Set(shard.take(burst())), new Set([null]));

  t.false(shard.settleSlice());
  const portfolios = accounts.map((account) => {
    return { kind: 'portfolio', atMs: NOON_MS, account, organizationSlug: null } as const;
  });
  const replies = shard.take([...portfolios, asked]);
  t.deepEqual(
    replies.map((reply) => reply?.ok ?? null),
    [null, null, true, true],
    'the third account is settled, and a quote is nobody’s',
  );
  t.is(shard.state.positions.live, 400);

  unlimitFiles();
  await until(() => shard.settleSlice());
  for (let slices = 0; slices < 9 && shard.settleSlice(); slices++);
  t.is(shard.state.positions.live, 0);
  for (const reply of shard.run(portfolios)) {
    const { account } = JSON.parse(reply.ok ? reply.body : '{}');
    t.is(account.balanceDollars, 100_000 + 300 * 5.7, 'each trade once');
  }
  await shard.close();
  t.like(await verifyShard(dir, 0, 1), { openPositions: 0, problems: [] });
});

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    if (await isSo()) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('it did not become so in time');
}

async function openPositions(engine: Shards): Promise<number> {
  return (await engine.audit()).openPositions;
}

test.serial('D16: a reader that was killed does not make the file grow', async (t) => {
  const dir = tempDir(t);
  const shard = await openShard(dir);
  shard.run([{ kind: 'catalog', atMs: NOON_MS, catalog: CATALOG }, quoteTick()]);
  const reader = fork(new URL('../snapshot-process.ts', import.meta.url), [dir]);
  t.teardown(() => reader.kill('SIGKILL'));
  await once(reader, 'message');
  reader.kill('SIGKILL');
  await once(reader, 'exit');
  const size = sizeOf(dir);
  // Each checkpoint frees pages that the reader saw.
  for (let checkpoint = 0; checkpoint < 80; checkpoint++) {
    const orders = Array.from({ length: 40 }, () => placeOrder());
    shard.run([{ kind: 'adjust', atMs: NOON_MS, account: uuidOf(1), amountCents: 1 }, ...orders]);
    await shard.checkpoint();
  }
  t.true(sizeOf(dir) - size < 3_000_000, `it grew by ${sizeOf(dir) - size} bytes`);
  await shard.close();
});
