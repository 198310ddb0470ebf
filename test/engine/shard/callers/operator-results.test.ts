/** A result that an operator gives, or gives in place of another, in real shards on disk. */
import { cpSync, rmSync } from 'node:fs';
import path from 'node:path';
import test from 'ava';
import type { Reply, ResultTick } from '../../../../engine/rules/messages.ts';
import type { Shards } from '../../../../engine/shard/callers/shards.ts';
import { Unavailable } from '../../../../engine/threads/unavailable.ts';
import { longTest } from '../../../long-test.ts';
import { NOON_MS, placeOrder, quoteTick, uuidOf } from '../../fixtures.ts';
import {
  breakShard,
  crashedCopy,
  hashOnDisk,
  openShards,
  tempDir,
  untilReady,
} from '../engine-process.ts';

const YES: ResultTick = {
  ...{ kind: 'result', atMs: NOON_MS, source: 9, market: 0, outcome: 'yes' },
  ...{ yesPayoutCents: 100, noPayoutCents: 0 },
};
const NO: ResultTick = { ...YES, outcome: 'no', yesPayoutCents: 0, noPayoutCents: 100 };
const CORRECT = { isCorrection: true };

const read = (reply: Reply) => (reply.ok ? JSON.parse(reply.body) : reply.code);

/** An account of each shard has bought. */
async function trade(engine: Shards): Promise<void> {
  engine.tick(quoteTick());
  for (let account = 1; account <= 8; account++) {
    const order = placeOrder({ account: uuidOf(account), orderId: uuidOf(100 + account) });
    must(await engine.call(order.account, order));
  }
}

function must(reply: Reply): void {
  if (!reply.ok) throw new Error(reply.message);
}

test('A45, T140, S20, S22: a result and a correction are on disk in every shard once they are answered', async (t) => {
  const dir = tempDir(t);
  const first = await openShards(dir, { shards: 2 });
  first.tick(quoteTick());
  const bits = async (numbers: number[] | null) =>
    Buffer.from(read(await first.priced(numbers, NOON_MS)).priced, 'base64')[0];
  // AWAY and HOME are of the market that is quoted, ROUTED and NOWHERE are not.
  t.is(await bits(null), 0b0011);
  t.is(await bits([3, 1, 2, 0, 99]), 0b01010);

  await trade(first);
  t.is(read(await first.settle(NO, CORRECT)), 'invalid_request', 'nothing to correct');
  const none = { settledTrades: 0, correctedTrades: 0, canceledOrders: 0 };
  t.deepEqual(read(await first.settle(YES)), { ...none, isNew: true, settledTrades: 8 });
  t.is(await hashOnDisk(crashedCopy(t, dir)), await first.stateHash(), 'a result');
  t.deepEqual(read(await first.settle(YES)), { ...none, isNew: false });
  t.is(read(await first.settle(NO)), 'market_resolved');
  t.is((await first.audit()).openPositions, 0);

  const corrected = async (engine: Shards) =>
    (await engine.corrected()).map((answer) => JSON.parse(answer!).corrected);
  t.deepEqual(await corrected(first), [[], []]);
  t.like(read(await first.settle(NO, CORRECT)), { isNew: true, correctedTrades: 8 });
  const listed = await corrected(first);
  for (const [one] of listed) {
    t.like(one, { market: 'venue_a/T1', resolvedAtMs: NOON_MS });
    t.like(one.result, { outcome: 'no' });
  }
  const hash = await first.stateHash();
  t.is(await hashOnDisk(crashedCopy(t, dir)), hash, 'a correction');
  t.like(read(await first.settle(NO, CORRECT)), { isNew: false, correctedTrades: 0 });
  t.is(read(await first.settle(YES)), 'market_resolved');
  await first.close();
  const second = await openShards(dir, { shards: 2 });
  t.is(await second.stateHash(), hash);
  t.deepEqual((await second.audit()).problems, []);
  t.deepEqual(await corrected(second), listed);
  t.is(read(await second.settle(YES)), 'market_resolved');
  t.like(read(await second.settle(YES, CORRECT)), { isNew: true, correctedTrades: 8 });
  await second.close();
});

/** A market without a number: a fault of ours, in the batch that has the next result too. */
function breakWithNext(engine: Shards): void {
  const fault = { kind: 'trade', yesPriceCents: 40, contracts: 1, side: 'yes' } as const;
  engine.tick({ ...fault, atMs: NOON_MS, source: 0, market: 999 });
}

test('T140, S25: a shard that is down refuses a result for all; one that fails at a result or a correction is given it, and keeps it', async (t) => {
  const engine = await openShards(tempDir(t), { shards: 2 });
  await trade(engine);
  await breakShard(engine, uuidOf(1));
  await t.throwsAsync(engine.settle(YES), { instanceOf: Unavailable });
  await untilReady(engine);
  t.is((await engine.audit()).openPositions, 8, 'nobody has it');

  breakWithNext(engine);
  await t.throwsAsync(engine.settle(YES), { instanceOf: Unavailable });
  await untilReady(engine);
  t.like(read(await engine.settle(YES)), { isNew: false }, 'given at the start');
  t.is(read(await engine.settle(NO)), 'market_resolved');
  t.is((await engine.audit()).openPositions, 0);

  breakWithNext(engine);
  await t.throwsAsync(engine.settle(NO, CORRECT), { instanceOf: Unavailable });
  await untilReady(engine);
  t.like(read(await engine.settle(NO, CORRECT)), { isNew: false }, 'given at the start');
  // What a shard that starts again later is sent keeps both.
  await breakShard(engine, uuidOf(1));
  await untilReady(engine);
  t.like(read(await engine.settle(NO, CORRECT)), { isNew: false });
  t.is(read(await engine.settle(YES)), 'market_resolved');
  t.deepEqual((await engine.audit()).problems, []);
  await engine.close();
});

longTest(
  'S25: a shard that a crash kept a correction from is given it at the next start',
  async (t) => {
    const dir = tempDir(t);
    const first = await openShards(dir, { shards: 2 });
    await trade(first);
    must(await first.settle(YES));
    const before = crashedCopy(t, dir);
    t.like(read(await first.settle(NO, CORRECT)), { correctedTrades: 8 });
    const hash = await first.stateHash();
    await first.close();
    const shard = path.join(dir, 'shard-1');
    rmSync(shard, { recursive: true });
    cpSync(path.join(before, 'shard-1'), shard, { recursive: true });
    const second = await openShards(dir, { shards: 2 });
    t.is(await second.stateHash(), hash);
    t.like(read(await second.settle(NO, CORRECT)), { isNew: false });
    await second.close();
  },
);
