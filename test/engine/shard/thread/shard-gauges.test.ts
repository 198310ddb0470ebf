import test from 'ava';
import type { Shards } from '../../../../engine/shard/callers/shards.ts';
import { ShardGauges } from '../../../../engine/shard/thread/shard-gauges.ts';
import { NOON_MS, placeOrder, quoteTick, uuidOf } from '../../fixtures.ts';
import { breakShard, openShards, tempDir, untilReady } from '../engine-process.ts';

const ACCOUNT = uuidOf(1);

async function place(engine: Shards, count: number, from = 0): Promise<void> {
  engine.tick(quoteTick());
  for (let at = from; at < from + count; at++) {
    const orderId = uuidOf(1000 + at, NOON_MS);
    const order = placeOrder({ account: ACCOUNT, orderId, idempotencyKey: `k${at}` });
    const reply = await engine.call(ACCOUNT, order);
    if (!reply.ok) throw new Error(reply.message);
  }
}

test('O34: a shard counts its orders by outcome and its fills by model, whoever sent them', async (t) => {
  const engine = await openShards(tempDir(t), { checkpointEveryFacts: 1_000_000 });
  await place(engine, 3);
  const later = (at: number, terms: object) =>
    engine.call(
      ACCOUNT,
      placeOrder({
        ...{ account: ACCOUNT, orderId: uuidOf(2000 + at, NOON_MS), idempotencyKey: `l${at}` },
        ...{ type: 'limit', limitPriceCents: 1, maxPriceCents: null, ...terms },
      } as never),
    );
  t.true((await later(1, { timeInForce: 'gtc' })).ok, 'it rests');
  t.true((await later(2, { timeInForce: 'ioc' })).ok, 'it ends unfilled');
  const refused = await later(3, { timeInForce: 'gtc', contracts: 100_000_000 });
  t.false(refused.ok);
  t.true((await later(1, { timeInForce: 'gtc' })).ok, 'a repeated one is placed once');
  const { orders } = engine.statuses()[0]!;
  t.deepEqual(orders.outcomes, { placed: 5, executed: 3, canceled: 1, expired: 0, refused: 1 });
  t.is(orders.fills.top_of_book.fills, 3);
  t.true(orders.fills.top_of_book.contracts >= 3);
  t.is(orders.fills.queue.fills + orders.fills.book_depth.fills, 0);
  await engine.close();
});

test('O18: a shard shows its log, its batches and its queue', async (t) => {
  const dir = tempDir(t);
  const engine = await openShards(dir, { checkpointEveryFacts: 1_000_000 });
  const before = engine.statuses()[0]!;
  t.like(before, {
    state: 'open',
    problem: null,
    restartProblem: null,
    lastFailure: null,
    queued: 0,
  });
  await place(engine, 5);
  const { progress, batches, queuedMax } = engine.statuses()[0]!;
  t.true(progress!.lastNumber >= before.progress!.lastNumber + 10, 'a placement and a fill each');
  t.true(progress!.logBytes > before.progress!.logBytes);
  t.like(progress, { checkpointNumber: 0, checkpointAtMs: 0 });
  t.is(batches.batches, before.batches.batches + 5);
  t.true(batches.p50Ms! > 0 && batches.p99Ms! >= batches.p50Ms!);
  t.is(queuedMax, 1000);
  await engine.close();
  t.is(engine.statuses()[0]!.state, 'closed');
});

test('O18: the checkpoint that a start would begin with, and how it moves on', async (t) => {
  const dir = tempDir(t);
  const first = await openShards(dir, { checkpointEveryFacts: 40 });
  await place(first, 30);
  while (first.statuses()[0]!.progress!.checkpointNumber === 0) await first.drained();
  const { progress } = first.statuses()[0]!;
  t.true(progress!.checkpointNumber >= 40);
  t.is(progress!.checkpointAtMs, NOON_MS);
  await first.close();
  const closed = first.statuses()[0]!.progress!;
  t.is(closed.checkpointNumber, closed.lastNumber, 'it ends with a checkpoint');

  const second = await openShards(dir, { checkpointEveryFacts: 1_000_000 });
  const opened = second.statuses()[0]!.progress!;
  t.is(opened.checkpointNumber, closed.checkpointNumber);
  t.is(opened.checkpointAtMs, NOON_MS);
  t.true(opened.lastNumber >= closed.lastNumber);
  await second.close();
});

test('O18: a shard that failed says when and why, and still shows where it stood', async (t) => {
  const engine = await openShards(tempDir(t));
  await place(engine, 2);
  const { progress } = engine.statuses()[0]!;
  const sinceMs = Date.now();
  await breakShard(engine, ACCOUNT);
  const failed = engine.statuses()[0]!;
  t.is(failed.state, 'restarting');
  t.deepEqual(failed.progress, progress);
  t.true(failed.lastFailure!.atMs >= sinceMs);
  t.regex(failed.lastFailure!.reason, /a tick names a market that does not exist/);
  await untilReady(engine);
  t.like(engine.statuses()[0], { state: 'open', lastFailure: failed.lastFailure });
  await engine.close();
});

test('numbers are read whole: an end that is written into shows none', (t) => {
  const gauges = new ShardGauges();
  t.is(gauges.read(), null, 'never open');
  gauges.opened({ lastNumber: 7, bytes: 100 }, { facts: 5, nowMs: NOON_MS });
  const shown = { lastNumber: 7, logBytes: 100, checkpointNumber: 5, checkpointAtMs: NOON_MS };
  t.deepEqual(new ShardGauges(gauges.memory).read(), shown);
  const version = new Int32Array(gauges.memory, 0, 1);
  version[0]! += 1;
  t.is(gauges.read(), null, 'its thread ended while it wrote');
  gauges.committed({ lastNumber: 8, bytes: 110 }, 0.5);
  t.deepEqual(gauges.read(), { ...shown, lastNumber: 8, logBytes: 110 });
  version[0] = -2;
  gauges.checkpointed({ lastNumber: 8, bytes: 110 }, { facts: 8, nowMs: NOON_MS });
  t.deepEqual(gauges.read(), { ...shown, lastNumber: 8, logBytes: 110, checkpointNumber: 8 });
  t.true(version[0] > 0, 'it does not read as never');
  t.throws(() => gauges.opened({ lastNumber: 3, bytes: 1 }, { facts: 4, nowMs: 0 }), {
    message: /covers facts that are not in the log/,
  });
});
