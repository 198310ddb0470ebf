/** The money of accounts, as a thread beside the shard reads it from the log. */
import test from 'ava';
import type { Uuid } from '../../../engine/base/units.ts';
import { EquitySource } from '../../../engine/equity/equity-source.ts';
import { EquityReader } from '../../../engine/equity/reader.ts';
import type { Shard } from '../../../engine/shard/thread/shard.ts';
import { Unavailable } from '../../../engine/threads/unavailable.ts';
import { until } from '../../feeds/until.ts';
import { CATALOG, NOON_MS, placeOrder, quoteTick, uuidOf } from '../fixtures.ts';
import { tempDir } from '../shard/engine-process.ts';
import { openShard } from '../shard/environment.ts';

const ALICE = uuidOf(1);
const BOB = uuidOf(2);
const NO_LOG = { info() {}, error() {} };
const LATER_MS = NOON_MS + 3_600_000;

async function start(dataDir: string): Promise<Shard> {
  const shard = await openShard(`${dataDir}/shard-0`);
  shard.run([{ kind: 'catalog', atMs: NOON_MS, catalog: CATALOG }, quoteTick()]);
  return shard;
}

/** A buy of 10 contracts at 43 cents, a second after the one before. */
function buy(shard: Shard, account: Uuid, second: number): void {
  const [reply] = shard.run([placeOrder({ account, atMs: NOON_MS + second * 1000 })]);
  if (!reply?.ok) throw new Error(JSON.stringify(reply));
}

const asked = (dataDir: string, account: Uuid) => ({
  ...{ dataDir, shard: 0, account, withinMs: 10_000 },
  ...{ fromMs: 0, nowMs: LATER_MS, isMarked: false },
});

test('A95: each question reads on where the last one of its account ended', async (t) => {
  const dataDir = tempDir(t);
  const shard = await start(dataDir);
  t.teardown(() => shard.abandon());
  const reader = new EquityReader();
  // What is kept of one goes for the other.
  const forgetful = new EquityReader(0);
  for (const second of [1, 2, 3]) {
    buy(shard, ALICE, second);
    buy(shard, BOB, second);
    buy(shard, BOB, second + 0.5);
    for (const each of [reader, forgetful]) {
      const both = [ALICE, ALICE, BOB].map((account) => each.points(asked(dataDir, account)));
      const [alice, again, bob] = await Promise.all(both);
      t.deepEqual(alice!.money.stake, [430, 860, 1290].slice(0, second));
      t.deepEqual(again, alice);
      t.is(bob!.money.stake.at(-1), 860 * second);
    }
  }
  const nobody = await reader.points(asked(dataDir, uuidOf(3)));
  t.deepEqual(nobody!.atMs, []);
});

test('A95: what takes too long is read on by the next question', async (t) => {
  const dataDir = tempDir(t);
  const shard = await start(dataDir);
  t.teardown(() => shard.abandon());
  buy(shard, ALICE, 1);
  const reader = new EquityReader();
  const late = { ...asked(dataDir, ALICE), withinMs: -1 };
  t.is(await reader.points(late), null);
  t.deepEqual((await reader.points(late))!.money.stake, [430], 'all was read by then');
  const source = new EquitySource({ dataDir, shards: 1, log: NO_LOG, withinMs: -1 });
  t.teardown(() => source.close());
  const error = await t.throwsAsync(source.points(ALICE, late), { instanceOf: Unavailable });
  t.regex(error!.message, /still being read/);
  t.deepEqual((await source.points(ALICE, late)).money.stake, [430]);
});

test('A95, Q19: so many questions of an account at once, and no more', async (t) => {
  const dataDir = tempDir(t);
  const source = new EquitySource({ dataDir, shards: 1, log: NO_LOG });
  t.teardown(() => source.close());
  const order: string[] = [];
  const answer = async (asker: string) => order.push(asker);
  const asked = Array.from({ length: 33 }, () => source.inTurn(ALICE, () => answer('alice')));
  const other = source.inTurn(BOB, () => answer('bob'));
  const refused = (await Promise.allSettled(asked)).filter(({ status }) => status === 'rejected');
  await other;
  t.is(refused.length, 1);
  t.true((refused[0] as PromiseRejectedResult).reason instanceof Unavailable);
  t.deepEqual(order.slice(0, 2), ['alice', 'bob'], 'one of each at a time');
});

test('A95, D10: a thread of equity that fails again and again is a problem, and its questions are 503', async (t) => {
  const code = "throw new Error('planted')";
  const module = new URL(`data:text/javascript,${encodeURIComponent(code)}`);
  const source = new EquitySource({ dataDir: tempDir(t), shards: 1, log: NO_LOG, module });
  t.teardown(() => source.close());
  t.is(source.problem, null);
  const window = { fromMs: 0, nowMs: LATER_MS, isMarked: false };
  await t.throwsAsync(source.points(ALICE, window), { instanceOf: Unavailable });
  t.is(source.problem, 'equity: planted');
  await until(() => source.problem === 'equity: failed 2 times in a row: planted', 'a next start');
  await t.throwsAsync(source.points(ALICE, window), { message: /starting again/ });
});
