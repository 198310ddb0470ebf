/** What happens where a checkpoint takes longer than it takes the next one to be due. */
import test, { type ExecutionContext } from 'ava';
import { DiskFull } from '../../../../engine/log/disk-full.ts';
import { openStore } from '../../../../engine/shard/store/shard-store.ts';
import { Shard } from '../../../../engine/shard/thread/shard.ts';
import { verifyShard } from '../../../../engine/verify/verify.ts';
import { CATALOG, NOON_MS, placeOrder, quoteTick } from '../../fixtures.ts';
import { tempDir } from '../engine-process.ts';

const EVERY_FACTS = 100;
/** Orders that come to more facts than may wait. */
const ENOUGH = 3 * EVERY_FACTS;
const ENOSPC = 28;
const SETTLED_AT_ONCE = 5;

/** A shard whose checkpoints do as `beforeSlice` does. */
async function gatedShard(t: ExecutionContext, beforeSlice: () => Promise<void>) {
  const path = tempDir(t);
  const config = {
    path,
    shard: 0,
    fillModel: 'top_of_book',
    durability: 'commit',
    checkpointEveryFacts: EVERY_FACTS,
    settledAtOnce: SETTLED_AT_ONCE,
    quoteMaxAgeMs: 15_000,
    routingBandCents: 10,
  } as const;
  const shard = new Shard(config, await openStore(config, { beforeSlice }));
  shard.run([{ kind: 'catalog', atMs: NOON_MS, catalog: CATALOG }, quoteTick()]);
  return { path, shard };
}

const orders = (count: number) => Array.from({ length: count }, () => placeOrder());
const until = async (isSo: () => boolean) => {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 5));
};

test('D43: a shard is late while a checkpoint is due and another one is being written', async (t) => {
  let open = () => {};
  let gate: Promise<void> | null = new Promise((resolve) => {
    open = resolve;
  });
  const { path, shard } = await gatedShard(t, async () => void (await gate));
  shard.run(orders(EVERY_FACTS));
  t.deepEqual([shard.isWriting, shard.isBehind], [true, false]);
  await shard.caughtUp();
  for (let batch = 0; batch < EVERY_FACTS; batch++) if (!shard.isBehind) shard.run(orders(5));
  t.true(shard.isBehind);
  let isBack = false;
  const caughtUp = shard.caughtUp().then(() => {
    isBack = true;
  });
  for (let turns = 0; turns < 20; turns++) await new Promise((resolve) => setTimeout(resolve, 2));
  t.false(isBack);
  gate = null;
  open();
  await caughtUp;
  t.false(shard.isBehind);
  shard.run(orders(5));
  await shard.close();
  t.like(await verifyShard(path, 0, 1), { recordsBehind: 0, problems: [] });
});

test('D102: a catalog counts as many facts as it lists instruments', async (t) => {
  let checkpoints = 0;
  const { shard } = await gatedShard(t, () => {
    checkpoints++;
    return Promise.resolve();
  });
  const { instruments } = CATALOG;
  const reviewed = (note: string) => ({
    ...CATALOG,
    instruments: instruments.map((one) => ({
      ...one,
      listings: one.listings.map((listing) => ({ ...listing, note })),
    })),
  });
  // A change is one fact, too. The first catalog and its quote have come.
  const most = Math.floor(EVERY_FACTS / (instruments.length + 1));
  t.true(instruments.length > 1 && most > 4);
  const take = (round: number) =>
    shard.run([{ kind: 'catalog', atMs: NOON_MS, catalog: reviewed(`round ${round}`) }]);
  for (let round = 0; round < most - 2; round++) take(round);
  t.deepEqual([checkpoints, shard.isWriting], [0, false]);
  for (let round = most - 2; round <= most; round++) take(round);
  await shard.caughtUp();
  await until(() => !shard.isWriting);
  t.true(checkpoints > 0);
  await shard.close();
});

test('D8, D43: where a late checkpoint waits for space, nothing is placed until it has it', async (t) => {
  let isFull = true;
  const { path, shard } = await gatedShard(t, () =>
    isFull ? Promise.reject(new DiskFull(ENOSPC, 4096)) : Promise.resolve(),
  );
  let placed = 0;
  const place = () => {
    const [reply] = shard.take(orders(1));
    if (reply != null) placed++;
    return reply ?? null;
  };
  t.true(place()?.ok);
  while (placed < ENOUGH && place() !== null) {
    await new Promise((resolve) => setImmediate(resolve));
  }
  t.true(placed > EVERY_FACTS / 4 && placed < ENOUGH, `${placed} orders`);
  t.deepEqual([shard.isBehind, shard.diskErrno], [false, ENOSPC]);
  t.true(shard.take([{ kind: 'audit', atMs: NOON_MS }])[0]?.ok);
  isFull = false;
  await until(() => !shard.isWriting);
  await until(() => place() !== null);
  t.is(shard.diskErrno, 0);
  await shard.close();
  t.like(await verifyShard(path, 0, 1), { recordsBehind: 0, problems: [], marketOrders: placed });
});

test('S15, D43: a settlement waits for a checkpoint before batches have to', async (t) => {
  let open = () => {};
  let gate: Promise<void> | null = null;
  const { path, shard } = await gatedShard(t, async () => void (await gate));
  for (let batch = 0; batch < EVERY_FACTS; batch++) {
    await shard.caughtUp();
    shard.run(orders(2));
  }
  await shard.checkpoint();
  gate = new Promise((resolve) => {
    open = resolve;
  });
  const pays = { outcome: 'yes', yesPayoutCents: 100, noPayoutCents: 0 } as const;
  shard.run([{ kind: 'result', atMs: NOON_MS, source: 0, market: 0, ...pays }]);
  for (let slice = 0; slice < EVERY_FACTS && shard.settleSlice(); slice++);
  t.deepEqual([shard.isWriting, shard.isSettlingPaused, shard.isBehind], [true, true, false]);
  t.true(shard.state.positions.live > 0);
  t.true(shard.run(orders(1))[0] !== undefined, 'a batch is taken');
  gate = null;
  open();
  await until(() => !shard.isWriting);
  for (let slice = 0; slice < EVERY_FACTS && shard.state.positions.live > 0; slice++) {
    await until(() => shard.settleSlice());
  }
  t.is(shard.state.positions.live, 0);
  await shard.close();
  t.like(await verifyShard(path, 0, 1), { problems: [] });
});
