import { execFileSync } from 'node:child_process';
import { cpSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { eventually } from '../../../../bench/lib/eventually.ts';
import { LogReader } from '../../../../engine/log/log-reader.ts';
import { EtcdClient } from '../../../../engine/replication/etcd-client.ts';
import { addMember } from '../../../../engine/replication/members.ts';
import { moveLead } from '../../../../engine/replication/move-lead.ts';
import { Replicator } from '../../../../engine/replication/replicator.ts';
import type { Reply } from '../../../../engine/rules/messages.ts';
import { refusalOf } from '../../../../engine/shard/callers/shard-health.ts';
import type { Shards, ShardsOptions } from '../../../../engine/shard/callers/shards.ts';
import { identityOf } from '../../../../engine/shard/store/data-format.ts';
import { logIn } from '../../../../engine/shard/store/shard-log.ts';
import { NotLeader, Unavailable } from '../../../../engine/threads/unavailable.ts';
import { verifyShard } from '../../../../engine/verify/verify.ts';
import { longTest } from '../../../long-test.ts';
import { NOON_MS, placeOrder, quoteTick, uuidOf } from '../../fixtures.ts';
import { EtcdDouble } from '../../replication/etcd-double.ts';
import { hashOnDisk, openShards, tempDir } from '../engine-process.ts';
import { mayMount, mountAt } from '../limited-files.ts';
import { openLog } from '../logged-facts.ts';

const SILENT = { info() {}, error() {} };
/** On a busy machine a short lease ends by itself. */
const LEASE_SECONDS = 6;

function openNode(
  dataDir: string,
  etcd: EtcdDouble,
  node: string,
  options: Partial<ShardsOptions> = {},
): Promise<Shards> {
  const settings = {
    ...{ name: 'test', node, address: `http://${node}`, etcd: [etcd.url] },
    leaseSeconds: LEASE_SECONDS,
  };
  return openShards(dataDir, {
    replicator: (shard, changed) => new Replicator(settings, shard, SILENT, changed),
    durability: 'commit',
    ...options,
  });
}

/**
 * Orders `from` to before `to`, each by its own key, sent again while the node does not lead or does
 * not answer.
 */
async function trade(engine: Shards, from: number, to: number): Promise<Reply[]> {
  const replies: Reply[] = [];
  for (let step = from; step < to; step++) {
    await eventually('an order is answered', async () => {
      const reply = await order(engine, step).catch((error: unknown) => {
        if (!(error instanceof Unavailable)) throw error;
      });
      // Quotes are in memory only: a shard that starts again may have none yet.
      if (!reply?.ok) return false;
      replies.push(reply);
      return true;
    });
  }
  return replies;
}

async function order(engine: Shards, step: number): Promise<Reply> {
  const atMs = NOON_MS + step * 100;
  engine.tick(quoteTick({ atMs, yesBidCents: 40 + (step % 5), yesAskCents: 43 + (step % 5) }));
  const account = uuidOf(1 + (step % 3));
  const orderId = uuidOf(100 + step, atMs);
  const placed = placeOrder({ atMs, account, orderId, idempotencyKey: `${step}` });
  return await engine.call(account, placed);
}

const PORTFOLIO = {
  kind: 'portfolio',
  atMs: NOON_MS,
  account: uuidOf(1),
  organizationSlug: null,
} as const;

/** The trades that answered orders, whether placed now or found again. */
const tradesIn = (replies: readonly Reply[]) =>
  replies.map((reply) => (reply.ok ? JSON.parse(reply.body).trade.tradeId : reply.code));

const isLeading = (engine: Shards) => () =>
  engine.statuses().every(({ state }) => state === 'open');
const isFollowing = (engine: Shards) => () =>
  engine.statuses().every(({ state }) => state === 'following');

function recordsIn(dataDir: string) {
  const log = LogReader.open(logIn(path.join(dataDir, 'shard-0')), identityOf(0));
  const records = [...log.records(0)].map((record) => structuredClone(record));
  log.close();
  return records;
}

/** The same records at the same positions, the same state, and nothing wrong with either. */
async function checkEqual(t: ExecutionContext, one: string, two: string): Promise<void> {
  t.deepEqual(recordsIn(one), recordsIn(two));
  for (const dir of [one, two]) {
    t.deepEqual((await verifyShard(path.join(dir, 'shard-0'), 0, 1))?.problems, []);
  }
  t.is(await hashOnDisk(one), await hashOnDisk(two));
}

test("N108, N111, N113, N114, N115, N150, O46: a node follows, says who leads, checks what it has, and leads once the other stops; a follower that stops has a checkpoint of all that it has, and its log is the leader's; a log with segments of another size follows nothing", async (t) => {
  const etcd = await EtcdDouble.start();
  const [first, second, third] = [tempDir(t), tempDir(t), tempDir(t)];
  const one = await openNode(first, etcd, 'one');
  const before = await trade(one, 0, 60);
  const two = await openNode(second, etcd, 'two');
  await eventually('the second node has all', isFollowing(two));
  t.is(two.state(), 'ready');
  const refused = await t.throwsAsync(two.call(uuidOf(1), PORTFOLIO), { instanceOf: NotLeader });
  t.is(refused?.leader, 'http://one');
  await t.throwsAsync(two.settle({} as never), { instanceOf: NotLeader });
  const { following: atOne, ...audited } = await one.audit();
  t.like(audited, { openPositions: 60, problems: [] });
  t.deepEqual(atOne, []);
  await eventually('the second node has applied all', async () => {
    return (await two.audit()).openPositions === 60;
  });
  t.deepEqual(await two.audit(), { ...audited, following: [0] });
  await one.close();
  await eventually('the second node leads', isLeading(two));
  await two.drained();
  // A retry finds the order that the other node has taken.
  t.deepEqual(tradesIn(await trade(two, 0, 60)), tradesIn(before));
  await trade(two, 60, 100);
  const again = await openNode(first, etcd, 'one', { checkpointEveryFacts: 100_000 });
  const { lastNumber } = two.statuses()[0]!.progress!;
  t.true(lastNumber > 100);
  const isBehind = () => again.statuses()[0]!.progress!.lastNumber < lastNumber;
  await eventually('the first node has all again', () => isFollowing(again)() && !isBehind());
  await again.close();
  t.deepEqual(recordsIn(first), recordsIn(second));
  const verified = await verifyShard(path.join(first, 'shard-0'), 0, 1);
  t.like(verified, { checkpointFacts: lastNumber, recordsBehind: 0, problems: [] });

  openLog(third, 0, 4096).close();
  const other = await openNode(third, etcd, 'three').catch((error: Error) => error.message);
  await eventually('the third node says why', () => {
    const said = typeof other === 'string' ? other : other.statuses()[0]!.lastFailure?.reason;
    return said?.includes('of the cluster is at') ?? false;
  });
  t.true(recordsIn(third).length > 0);
  if (typeof other !== 'string') await other.close();
  await two.close();
  await openNode(first, etcd, 'one').then((node) => node.close());
  await checkEqual(t, first, second);
  etcd.stop();
});

test('O47: shards that different nodes lead refuse for themselves, since one refusal for all would name a wrong node', (t) => {
  const of = (...refusals: (Unavailable | null)[]) =>
    refusalOf(refusals.map((refusal) => ({ refusal: () => refusal })));
  const [atOne, atTwo, full] = [
    new NotLeader('http://one'),
    new NotLeader('http://two'),
    new Unavailable('full'),
  ];
  t.is(of(atOne, atTwo), null);
  t.is(of(atOne, full), null);
  t.is(of(full, atOne), null);
  t.is(of(atOne, atOne), atOne);
  t.is(of(full, full), full);
  t.is(of(atOne, null), null);
});

longTest(
  'N105, N112: a leader whose lease has ended answers nothing more, and follows',
  async (t) => {
    const etcd = await EtcdDouble.start();
    const [first, second] = [tempDir(t), tempDir(t)];
    const one = await openNode(first, etcd, 'one');
    const before = await trade(one, 0, 20);
    const two = await openNode(second, etcd, 'two');
    await eventually('the second node has all', isFollowing(two));
    etcd.expire();
    await eventually('the second node leads', isLeading(two));
    // Nobody asks it for anything.
    await eventually('the first node follows', isFollowing(one));
    t.deepEqual(tradesIn(await trade(two, 0, 20)), tradesIn(before));
    etcd.expire();
    await eventually('the first node leads again', isLeading(one));
    await t.throwsAsync(order(two, 20), { instanceOf: Unavailable });
    await trade(one, 20, 21);
    await eventually('the second node follows again', isFollowing(two));
    await eventually('and has all', () => recordsIn(second).length === recordsIn(first).length);
    await two.close();
    await one.close();
    await openNode(second, etcd, 'two').then((node) => node.close());
    await openNode(first, etcd, 'one').then((node) => node.close());
    t.deepEqual(recordsIn(first).slice(0, recordsIn(second).length), recordsIn(second));
    etcd.stop();
  },
);

test('N101, N102, N106, N112, O47: without the cluster a leader answers no order, and no read after its lease; what it answered is kept, and a copy starts alone; it names nobody as the leader then, least of all itself', async (t) => {
  const etcd = await EtcdDouble.start();
  const [dir, copy] = [tempDir(t), tempDir(t)];
  const one = await openNode(dir, etcd, 'one');
  await trade(one, 0, 10);
  const named = new Set<string | null>();
  const noteNamed = () => {
    const refusal = one.refusal();
    if (refusal instanceof NotLeader) named.add(refusal.leader);
  };
  etcd.isCut = true;
  const unknown = await t.throwsAsync(order(one, 10), { instanceOf: NotLeader });
  t.is(unknown?.leader, null, 'it may have been done');
  t.not(one.state(), 'ready');
  etcd.isCut = false;
  await eventually('the node leads again', () => {
    noteNamed();
    return isLeading(one)();
  });
  t.deepEqual([...named], [null]);
  const trades = tradesIn(await trade(one, 0, 11));
  t.is(new Set(trades).size, 11);

  // Without an order, which would keep reads after it waiting.
  const read = () => one.call(uuidOf(1), PORTFOLIO);
  t.true((await read()).ok);
  etcd.isCut = true;
  const cutMs = performance.now();
  let lastMs = cutMs;
  await eventually('reads end', async () => {
    const sentMs = performance.now();
    const reply = await read().catch((error: unknown) => {
      if (!(error instanceof Unavailable)) throw error;
    });
    if (reply !== undefined) lastMs = sentMs;
    return reply === undefined;
  });
  t.true(lastMs - cutMs < LEASE_SECONDS * 1000);
  t.not(one.state(), 'ready');
  // Another node may lead and answer now.
  etcd.isCut = false;
  await eventually('the node leads again', isLeading(one));
  t.true((await read()).ok);
  await one.close();
  etcd.stop();
  cpSync(dir, copy, { recursive: true });
  const alone = await openShards(copy);
  t.deepEqual((await alone.audit()).problems, []);
  t.deepEqual(tradesIn(await trade(alone, 0, 11)), trades);
  await alone.close();
});

longTest('N166, N169: the lead moves amid orders, and each of them exists once', async (t) => {
  const etcd = await EtcdDouble.start();
  const [first, second] = [tempDir(t), tempDir(t)];
  const client = new EtcdClient([etcd.url]);
  for (const node of ['one', 'two']) {
    await addMember(client, 'test', { node, address: '' }, { isEmpty: false, shards: 1 });
  }
  const one = await openNode(first, etcd, 'one');
  await trade(one, 0, 20);
  const two = await openNode(second, etcd, 'two');
  await eventually('the second node has all', isFollowing(two));
  let isMoved = false;
  const moved = moveLead(client, 'test', 'shard/0', 'two', 60).then(() => {
    isMoved = true;
  });
  const answered: string[] = [];
  for (let step = 20; !isMoved; step++) {
    const reply = await order(one, step).catch((error: unknown) => {
      // It is refused, and so not taken: no answer of an order is lost.
      if (!(error instanceof NotLeader)) throw error;
    });
    if (reply?.ok) answered.push(JSON.parse(reply.body).trade.tradeId);
    await turn();
  }
  await moved;
  t.true(answered.length > 0);
  await eventually('the second node leads', isLeading(two));
  await eventually('the first follows', isFollowing(one));
  const replies = tradesIn(await trade(two, 20, 20 + answered.length));
  t.deepEqual(replies, answered);
  await two.close();
  await eventually('the first leads after it', isLeading(one));
  await one.close();
  client.close();
  etcd.stop();
});

// Mounting takes a right, which a container may not have.
(mayMount() ? longTest : test.skip)(
  'N120, O3: a follower whose disk is full says so, and leads nothing until it has room',
  async (t: ExecutionContext) => {
    const etcd = await EtcdDouble.start();
    const [first, second] = [tempDir(t), tempDir(t)];
    mountAt(second, 64);
    t.teardown(() => execFileSync('umount', [second]));
    // It soon needs room for another piece of its log.
    for (const dir of [first, second]) openLog(dir, 0, 65_536).close();
    const one = await openNode(first, etcd, 'one');
    await trade(one, 0, 10);
    const two = await openNode(second, etcd, 'two');
    await eventually('the second node has all', isFollowing(two));
    const filler = path.join(second, 'filler');
    t.throws(() => writeFileSync(filler, Buffer.alloc(2 ** 26)), { code: 'ENOSPC' });
    const problem = () => two.statuses()[0]!.problem;
    let step = 10;
    await eventually('its disk is full', async () => {
      await trade(one, step, step + 20);
      step += 20;
      return problem() !== null;
    });
    t.regex(problem()!, /^the data directory cannot be written: no space left/);
    t.is(two.state(), 'degraded');
    await one.close();
    await sleep(1000);
    t.false(etcd.keys.some((key) => key.endsWith('/leader')));
    rmSync(filler);
    await eventually('the second node leads', isLeading(two));
    t.is(problem(), null);
    t.is(new Set(tradesIn(await trade(two, 0, step))).size, step);
    await two.close();
    etcd.stop();
  },
);

longTest('N109: a node whose log is another one does not follow, and loses nothing', async (t) => {
  const etcd = await EtcdDouble.start();
  const [first, second] = [tempDir(t), tempDir(t)];
  const one = await openNode(first, etcd, 'one');
  await trade(one, 0, 10);
  const alone = await openShards(second);
  await trade(alone, 5, 40);
  await alone.close();
  const before = recordsIn(second);
  await t.throwsAsync(openNode(second, etcd, 'two'), { message: /log does not continue/ });
  t.deepEqual(recordsIn(second), before);
  await one.close();
  etcd.stop();
});
