/** What a mistake would do to batches, answers, checkpoints and readers stops it instead. */
import test, { type ExecutionContext } from 'ava';
import { ByteWriter } from '../../../../engine/format/bytes.ts';
import { writeFact } from '../../../../engine/format/fact-layouts.ts';
import { FactBuffer } from '../../../../engine/format/facts.ts';
import { channelMemory, Endpoint } from '../../../../engine/ring/endpoint.ts';
import { ShardEnds } from '../../../../engine/ring/shard-ends.ts';
import type { Catalog } from '../../../../engine/rules/catalog-entries.ts';
import type { Command } from '../../../../engine/rules/messages.ts';
import { wallClock } from '../../../../engine/shard/callers/clock.ts';
import { hashOfDigests } from '../../../../engine/shard/callers/merge-reports.ts';
import { QueueBound } from '../../../../engine/shard/callers/queue-bound.ts';
import { SendQueue } from '../../../../engine/shard/callers/send-queue.ts';
import { ShardLink } from '../../../../engine/shard/callers/shard-link.ts';
import { shardOfAccount } from '../../../../engine/shard/callers/shard-of.ts';
import { StartupState } from '../../../../engine/shard/callers/startup-state.ts';
import { createState, type StoredState } from '../../../../engine/shard/core/create-state.ts';
import type { ReplyEncoder } from '../../../../engine/shard/core/reply-encoder.ts';
import { nextPage } from '../../../../engine/shard/store/checkpoint-values.ts';
import { Checkpoints } from '../../../../engine/shard/store/checkpoints.ts';
import { identityOf } from '../../../../engine/shard/store/data-format.ts';
import { DiskStatus } from '../../../../engine/shard/store/disk-reserve.ts';
import { replayFacts } from '../../../../engine/shard/store/replay.ts';
import { serve } from '../../../../engine/shard/thread/serve.ts';
import { Shard } from '../../../../engine/shard/thread/shard.ts';
import { auditFacts } from '../../../../engine/verify/audit-facts.ts';
import { CATALOG, NOON_MS, placeOrder, quoteTick, uuidOf } from '../../fixtures.ts';
import { tempDir } from '../engine-process.ts';

const CONFIG = { quoteMaxAgeMs: 15_000, routingBandCents: 10 };
const waiter = { resolve() {}, reject() {} };
const table = { name: 'orders', takeRows: (_: Uint32Array, at: number) => at + 1 };
const emptyState = () => createState(CONFIG, {} as StoredState['records']);

function answeredTwice(): void {
  const bound = new QueueBound(10);
  bound.came();
  bound.answered();
  bound.answered();
}

function lostTwice(): void {
  const bound = new QueueBound(10);
  bound.came();
  bound.lost(2);
}

function clockGoesBack(): void {
  const times = [100, 50];
  const bound = new QueueBound(10, () => times.shift()!);
  bound.came();
  bound.measure();
}

function steadyGoesBack(): void {
  let steadyMs = 1000;
  let wallMs = NOON_MS;
  const clock = wallClock({ machine: { wallMs: () => wallMs, steadyMs: () => steadyMs } });
  wallMs -= 10;
  steadyMs -= 20;
  clock.nowMs();
}

function endedTwice(): void {
  const link = new ShardLink(new Endpoint(channelMemory(), 'caller'), () => undefined);
  link.end(() => undefined);
  link.end(() => undefined);
}

function sentToTheDead(): void {
  const link = new ShardLink(new Endpoint(channelMemory(), 'caller'), () => undefined);
  link.end(() => undefined);
  link.send([{ kind: 'barrier' }], [waiter]);
}

function forgetful(): void {
  const startup = new StartupState();
  startup.setCatalog(CATALOG);
  startup.setCatalog({ ...CATALOG, marketNames: [] } as Catalog);
}

function playedBehind(): void {
  const facts = new FactBuffer();
  const state = emptyState();
  facts.begin(64, 1);
  facts.add(state, { kind: 'game_changed', atMs: NOON_MS, game: 'a', status: 'final' });
  replayFacts(state, facts, new Uint8Array());
}

const line = { account: uuidOf(1), line: 'a' };
const twoHomes = () => {
  const digest = JSON.stringify({ accounts: [line], referenceData: [] });
  return hashOfDigests([digest, digest]);
};
const to = new ByteWriter();
writeFact(to, { kind: 'game_changed', atMs: 0, game: 'awy-hom', status: 'final' });
const gap = { position: 64, firstNumber: 2, payload: to.copy() };

const MISTAKES: [what: string, make: () => unknown, message: RegExp][] = [
  ['a request answered twice', answeredTwice, /more requests were answered than arrived/],
  ['more lost than came', lostTwice, /more requests were lost than arrived/],
  ['a steady clock that goes back', clockGoesBack, /never goes back has gone back/],
  ['time that goes back', steadyGoesBack, /time goes back/],
  ['nothing taken of what waits', () => new SendQueue(5).take(0), /no waiting message is taken/],
  ['a thread that ends twice', endedTwice, /a thread ends twice/],
  ['a message to a thread that ended', sentToTheDead, /to a thread that has ended/],
  ['a page of no checkpoint', () => nextPage(table, 0, 1), /belongs to no checkpoint/],
  [
    'a state of a disk that is none',
    () => new DiskStatus().set(0.5),
    /the state of a disk is not valid/,
  ],
  ['an account of no shard', () => shardOfAccount(uuidOf(1), 0), /an account belongs to no shard/],
  ['a shard below zero', () => identityOf(-1), /a shard number is not valid/],
  ['an account in two shards', twoHomes, /two shards have one account/],
  ['a hash of nothing', () => hashOfDigests([]), /asked for of no shard/],
  ['time set back by nothing', () => new StartupState().setBack(0), /time was not set back/],
  ['a catalog that forgets markets', forgetful, /a catalog removes markets/],
  ['facts played after others', playedBehind, /after the facts of another record/],
  ['a fact left out of an audit', () => auditFacts(emptyState(), [gap]), /an audit skipped a fact/],
];

for (const [what, make, message] of MISTAKES) {
  test(`D15: a shard is not used wrongly: ${what}`, (t) => {
    t.throws(make, { name: 'InvariantError', message });
  });
}

const openShard = (t: ExecutionContext) =>
  Shard.open({
    ...CONFIG,
    path: tempDir(t),
    shard: 0,
    durability: 'commit',
    checkpointEveryFacts: 1000,
  });

test('D15: a batch is taken when the one before is done, and none after one that failed', async (t) => {
  const shard = await openShard(t);
  shard.run([{ kind: 'catalog', atMs: NOON_MS, catalog: CATALOG }, quoteTick()]);
  const nested = {
    length: 1,
    *[Symbol.iterator](): Generator<Command> {
      shard.run([]);
      yield placeOrder();
    },
  };
  t.throws(() => shard.take(nested), { message: /a batch is taken while another is/ });
  t.throws(() => shard.run([placeOrder()]), { message: /or after one has failed/ });
  t.is(shard.lastNumber, 1, 'nothing of it is in the log');
  await shard.abandon();
});

test('D15: a state that is ahead of its log gets no checkpoint', async (t) => {
  const shard = await openShard(t);
  shard.run([{ kind: 'catalog', atMs: NOON_MS, catalog: CATALOG }]);
  t.throws(() => shard.run([quoteTick({ market: 99 })]), { message: /market that does not/ });
  await t.throwsAsync(shard.checkpoint(), { message: /facts that are not in the log/ });
  await shard.abandon();
});

test('D15: checkpoints are written one at a time, and none covers less than the last', async (t) => {
  const identity = identityOf(0);
  const checkpoints = new Checkpoints(tempDir(t), { durability: 'commit', identity });
  const write = (facts: number) =>
    checkpoints.write({
      head: { facts } as never,
      referenceData: {},
      tables: [],
      seal: { write: (function* () {})(), head: {}, steps: 0 } as never,
    });
  const first = write(10);
  await t.throwsAsync(write(11), { message: /written while another one is/ });
  t.true(await first);
  await t.throwsAsync(write(9), { message: /covers fewer facts than the last one/ });
  await checkpoints.close();
});

test('D15: a batch with an answer too many answers nobody', async (t) => {
  const channel = channelMemory();
  const link = new ShardLink(new Endpoint(channel, 'caller'), () => undefined);
  link.send([{ kind: 'audit', atMs: 1 }], [waiter]);
  const shard = {
    isWriting: true,
    diskErrno: 0,
    answer(messages: Iterable<unknown>, answers: ReplyEncoder) {
      for (const _ of [...messages, 0]) answers.reply({ ok: true, body: 'a' });
    },
  };
  const served = serve(shard as never, new ShardEnds([channel]));
  await t.throwsAsync(served, { message: /more answers than questions/ });
  t.deepEqual(
    link.end(() => t.fail('somebody got an answer')),
    [waiter],
  );
});
