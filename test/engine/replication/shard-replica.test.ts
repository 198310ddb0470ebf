import { setTimeout as sleep } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { etcdProgram, RealEtcd } from '../../../bench/lib/etcd.ts';
import { eventually } from '../../../bench/lib/eventually.ts';
import { EtcdClient } from '../../../engine/replication/etcd-client.ts';
import { addMember } from '../../../engine/replication/members.ts';
import { moveLead } from '../../../engine/replication/move-lead.ts';
import {
  lastNumberOf,
  readHead,
  type StoredRecord,
} from '../../../engine/replication/replicated-record.ts';
import {
  PART_BYTES,
  type ReplicaState,
  ShardReplica,
  shardKeys,
} from '../../../engine/replication/shard-replica.ts';
import { Deposed } from '../../../engine/threads/unavailable.ts';
import { longTest } from '../../long-test.ts';
import { EtcdDouble } from './etcd-double.ts';

/** A node with its copy of the log, which here is a list of texts. */
class Node {
  readonly replica: ShardReplica;
  readonly log: string[] = [];
  readonly following: Promise<boolean>;
  readonly etcd: EtcdClient;
  state: ReplicaState | null = null;
  leadsUntilMs = 0;
  leads = false;
  /** Its disk takes nothing after this record. */
  fullAfter = Number.POSITIVE_INFINITY;

  constructor(
    urls: readonly string[],
    node: string,
    { cluster = 'test', leaseSeconds = 20, waitMs = 20_000 } = {},
  ) {
    this.etcd = new EtcdClient(urls);
    this.replica = new ShardReplica(
      {
        ...{ etcd: this.etcd, cluster, log: 'shard/0', leaseSeconds, waitMs },
        self: { node, address: `http://${node}` },
        steadyMs: () => performance.now(),
        applied: () => Math.min(this.log.length, this.fullAfter),
        renewed: (untilMs) => {
          this.leadsUntilMs = untilMs;
        },
        changed: (state) => {
          this.state = state;
        },
      },
      { number: 0, checksum: 0 },
    );
    this.following = this.replica.follow((record) => this.#take(record));
    this.following.then(
      (leads) => {
        this.leads = leads;
      },
      () => undefined,
    );
  }

  async append(text: string): Promise<void> {
    await this.replica.append(recordOf(this.log.length + 1, text));
    this.log.push(text);
  }

  async end(): Promise<void> {
    await this.replica.end();
    await this.following.catch(() => undefined);
    this.etcd.close();
  }

  async #take(record: StoredRecord): Promise<void> {
    if (record.firstNumber !== this.log.length + 1) throw new Error('a record is not the next');
    if (lastNumberOf(record) !== record.firstNumber) throw new Error('a record has another count');
    this.log.push(Buffer.from(record.payload).toString());
  }
}

const recordOf = (firstNumber: number, text: string) => ({
  ...{ firstNumber, count: 1, atMs: 1000 + firstNumber, position: firstNumber * 100 },
  payload: Buffer.from(text),
});

const leads = (node: Node) => eventually('a node leads', () => node.leads);

/** What holds with any etcd. */
type Run = (t: ExecutionContext, urls: readonly string[], cluster: string) => Promise<void>;
const EACH: [string, Run][] = [
  [
    'N102, N108: a follower takes the records of the leader, in their order',
    async (t, urls, cluster) => {
      const one = new Node(urls, 'one', { cluster });
      await leads(one);
      await one.append('first');
      const two = new Node(urls, 'two', { cluster });
      for (let more = 0; more < 40; more++) await one.append(`more ${more}`);
      await eventually('the follower has all', () => two.log.length === one.log.length);
      t.deepEqual(two.log, one.log);
      t.false(two.leads);
      t.deepEqual(two.state?.leader, { node: 'one', address: 'http://one' });
      await Promise.all([one.end(), two.end()]);
    },
  ],
  [
    'N111, N113: a leader that ends is followed at once, by a node that has every record',
    async (t, urls, cluster) => {
      const one = new Node(urls, 'one', { cluster, leaseSeconds: 60 });
      await leads(one);
      const two = new Node(urls, 'two', { cluster, leaseSeconds: 60 });
      for (const text of ['a', 'b', 'c']) await one.append(text);
      await one.end();
      await leads(two);
      t.deepEqual(two.log, ['a', 'b', 'c']);
      await two.append('d');
      t.deepEqual(two.state, {
        ...{ role: 'leading', leader: { node: 'two', address: 'http://two' } },
        ...{ isCaughtUp: true, problem: null, movingTo: null },
      });
      await two.end();
    },
  ],
  [
    'N103, N105: a deposed leader stores nothing, before and after the next leader has',
    async (t, urls, cluster) => {
      const one = new Node(urls, 'one', { cluster });
      await leads(one);
      await one.append('a');
      const two = new Node(urls, 'two', { cluster });
      // As its time would: the key of the leader is gone.
      await one.replica.end();
      await t.throwsAsync(one.append('of nobody'), { instanceOf: Deposed });
      await leads(two);
      await t.throwsAsync(one.append('of the deposed'), { instanceOf: Deposed });
      await two.append('b');
      await t.throwsAsync(one.append('again'), { instanceOf: Deposed, message: /the head is/ });
      t.deepEqual(two.log, ['a', 'b']);
      await Promise.all([one.end(), two.end()]);
    },
  ],
  [
    'N107: a record of several parts is taken as it was',
    async (t, urls, cluster) => {
      const one = new Node(urls, 'one', { cluster });
      await leads(one);
      const large = `${'x'.repeat(PART_BYTES)}${'y'.repeat(PART_BYTES)}z`;
      await one.append(large);
      await one.append('after it');
      const two = new Node(urls, 'two', { cluster });
      await eventually('the follower has both', () => two.log.length === 2);
      t.true(two.log[0] === large);
      t.is(two.log[1], 'after it');
      await Promise.all([one.end(), two.end()]);
    },
  ],
];

for (const [title, run] of EACH) {
  test(title, async (t) => {
    const etcd = await EtcdDouble.start();
    await run(t, [etcd.url], 'test');
    etcd.stop();
  });
}

const realTest = etcdProgram === null ? test.skip : longTest.serial;
realTest('a real etcd answers as the one of these tests', async (t: ExecutionContext) => {
  const etcd = await RealEtcd.start();
  try {
    for (const [at, [title, run]] of EACH.entries()) {
      await run(t, etcd.urls, `test-${at}`);
      t.log(title);
    }
  } finally {
    await etcd.stop();
  }
});

test('N104: a record whose answer was lost is stored once', async (t) => {
  const etcd = await EtcdDouble.start();
  const one = new Node([etcd.url], 'one');
  await leads(one);
  await one.append('a');
  const { writes } = etcd;
  etcd.loseAnswers('kv/txn', 3);
  await one.append('b');
  t.is(etcd.writes, writes + 1);
  await one.append('c');
  const two = new Node([etcd.url], 'two');
  await eventually('the follower has all', () => two.log.length === 3);
  t.deepEqual(two.log, ['a', 'b', 'c']);
  await Promise.all([one.end(), two.end()]);
  etcd.stop();
});

test('N111: a lead whose answers were lost is taken once', async (t) => {
  const etcd = await EtcdDouble.start();
  etcd.loseAnswers('kv/txn', 4);
  const one = new Node([etcd.url], 'one');
  await leads(one);
  await one.append('a');
  t.is(one.state?.role, 'leading');
  await one.end();
  etcd.stop();
});

test('N106: a leader that hears nothing gives up, and what it knows is in the log of the next', async (t) => {
  const etcd = await EtcdDouble.start();
  const one = new Node([etcd.url], 'one', { waitMs: 300 });
  await leads(one);
  await one.append('a');
  etcd.isCut = true;
  await t.throwsAsync(one.append('nobody knows'), { instanceOf: Deposed, message: /nobody knows/ });
  await t.throwsAsync(one.replica.confirm(), { instanceOf: Deposed });
  etcd.isCut = false;
  etcd.expire();
  const two = new Node([etcd.url], 'two');
  await leads(two);
  t.deepEqual(two.log, ['a']);
  await Promise.all([one.end(), two.end()]);
  etcd.stop();
});

test('N109: a log that the cluster has not, or has otherwise, follows nothing', async (t) => {
  const etcd = await EtcdDouble.start();
  const one = new Node([etcd.url], 'one');
  await leads(one);
  for (const text of ['a', 'b', 'c']) await one.append(text);
  const from = (number: number, checksum: number) => {
    const client = new EtcdClient([etcd.url], 20_000);
    const replica = new ShardReplica(
      {
        ...{
          etcd: client,
          cluster: 'test',
          log: 'shard/0' as const,
          leaseSeconds: 20,
          waitMs: 1000,
        },
        self: { node: 'other', address: '' },
        steadyMs: () => performance.now(),
        renewed() {},
        changed() {},
      },
      { number, checksum },
    );
    return replica.follow(async () => undefined).finally(() => client.close());
  };
  await t.throwsAsync(from(4, 0), { message: /ends with fact 4, and the head there is 3/ });
  await t.throwsAsync(from(3, 7), { message: /fact 3 is another one there/ });
  await t.throwsAsync(from(2, 7), { message: /fact 2 and those of its record are others/ });
  await one.end();
  etcd.stop();
});

test('N112: a lease is good from the moment when it was asked for, and is over with it', async (t) => {
  const etcd = await EtcdDouble.start();
  const askedMs = performance.now();
  const one = new Node([etcd.url], 'one', { leaseSeconds: 60 });
  await leads(one);
  // A tenth less, since clocks differ.
  t.true(one.leadsUntilMs <= performance.now() + 54_000);
  t.true(one.leadsUntilMs >= askedMs + 50_000);
  const { leadsUntilMs } = one;
  await one.replica.confirm();
  t.true(one.leadsUntilMs > leadsUntilMs);
  etcd.expire();
  await t.throwsAsync(one.replica.confirm(), { instanceOf: Deposed, message: /lease has ended/ });
  await one.end();
  etcd.stop();
});

test('N112: a lease is renewed without being asked for', async (t) => {
  const etcd = await EtcdDouble.start();
  t.teardown(() => etcd.stop());
  const one = new Node([etcd.url], 'one', { leaseSeconds: 6 });
  await leads(one);
  const { leadsUntilMs } = one;
  await eventually('it is renewed', () => one.leadsUntilMs > leadsUntilMs + 1000);
  t.is(etcd.leases, 1);
  await one.end();
  t.is(etcd.leases, 0);
});

test('N111: of two nodes that take the lead at once one has it, and the lease of the other ends', async (t) => {
  const etcd = await EtcdDouble.start();
  t.teardown(() => etcd.stop());
  // Both have found no leader, and have a lease, before one of them puts its key.
  etcd.holdBack('lease/grant', 2);
  const long = { leaseSeconds: 3600 };
  const [one, two] = [new Node([etcd.url], 'one', long), new Node([etcd.url], 'two', long)];
  const both = [one, two];
  t.teardown(() => Promise.all(both.map((node) => node.end())));
  const transact = two.etcd.transact.bind(two.etcd);
  two.etcd.transact = async (...args) => {
    const [, ifSo] = args;
    if (ifSo.some((each) => 'put' in each && each.put.endsWith('/leader'))) {
      await eventually('the first leads', () => one.leads);
    }
    return await transact(...args);
  };
  await eventually('the first leads', () => one.leads);
  await eventually('one lease is left', () => etcd.leases === 1);
  await one.append('a');
  await eventually('the other one follows', () => two.log.length === 1);
  t.false(two.leads);
});

test('N103, N111: the head has the epoch of the leader, before its first record', async (t) => {
  const etcd = await EtcdDouble.start();
  t.teardown(() => etcd.stop());
  const client = new EtcdClient([etcd.url], 20_000);
  const { head, leader } = shardKeys('test', 0);
  const epochs = async () => {
    const [[headAt] = [], [leaderAt] = []] = await client.read([
      { range: head },
      { range: leader },
    ]);
    return [readHead(headAt!.value.toString()).epoch, leaderAt!.createRevision];
  };
  const one = new Node([etcd.url], 'one');
  await leads(one);
  const [ofHead, ofLeader] = await epochs();
  t.is(ofHead, ofLeader);
  await one.append('a');
  await one.end();
  const two = new Node([etcd.url], 'two');
  await leads(two);
  const [now, ofTwo] = await epochs();
  t.is(now, ofTwo);
  t.true(now! > ofHead!);
  await two.end();
  client.close();
});

test('N115: a follower that etcd does not answer is not caught up, and is again once it does', async (t) => {
  const etcd = await EtcdDouble.start();
  t.teardown(() => etcd.stop());
  const one = new Node([etcd.url], 'one');
  await leads(one);
  const two = new Node([etcd.url], 'two');
  await eventually('it has caught up', () => two.state?.isCaughtUp === true);
  etcd.isCut = true;
  await eventually('it has not', () => two.state?.isCaughtUp === false);
  t.regex(two.state!.problem!, /^etcd at /);
  etcd.isCut = false;
  await eventually('it has again', () => two.state?.isCaughtUp === true);
  t.is(two.state!.problem, null);
  await Promise.all([one.end(), two.end()]);
});

test('N115, N120, N166: a follower that has not applied what it took is not caught up, and no lead moves to it or falls to it', async (t) => {
  const etcd = await EtcdDouble.start();
  t.teardown(() => etcd.stop());
  const client = new EtcdClient([etcd.url]);
  for (const node of ['one', 'two', 'three']) {
    await addMember(client, 'test', { node, address: '' }, { isEmpty: false, shards: 1 });
  }
  // It looks every second whether its lead shall move.
  const one = new Node([etcd.url], 'one', { leaseSeconds: 5 });
  await leads(one);
  await one.append('a');
  const two = new Node([etcd.url], 'two');
  await eventually('it has caught up', () => two.state?.isCaughtUp === true);
  two.fullAfter = 1;
  await one.append('b');
  await eventually('it has taken the next record', () => two.log.length === 2);
  await eventually('it has not applied it', () => two.state?.isCaughtUp === false);
  const { leader } = shardKeys('test', 0);
  await t.throwsAsync(moveLead(client, 'test', 'shard/0', 'two', 3), {
    message: /it must run and have all records/,
  });
  t.is(one.state?.movingTo, null);
  await one.end();
  // A follower looks for a leader some twenty times a second.
  await sleep(500);
  t.false(etcd.keys.includes(leader));
  const three = new Node([etcd.url], 'three');
  await leads(three);
  t.is(two.state?.role, 'following');
  await three.append('c');
  two.fullAfter = Number.POSITIVE_INFINITY;
  await eventually('it has caught up again', () => two.state?.isCaughtUp === true);
  await three.end();
  await leads(two);
  t.deepEqual(two.log, ['a', 'b', 'c']);
  await two.end();
  client.close();
});

test('N107: a record that lacks a part, or has another one, is not taken', async (t) => {
  const etcd = await EtcdDouble.start();
  t.teardown(() => etcd.stop());
  const one = new Node([etcd.url], 'one');
  await leads(one);
  await one.append('x'.repeat(PART_BYTES + 1));
  const client = new EtcdClient([etcd.url], 20_000);
  const { leader, part } = shardKeys('test', 0);
  const [[{ createRevision = 0 } = {}] = []] = await client.read([{ range: leader }]);
  const last = part(createRevision, 1, 1);
  await client.transact([], [{ put: last, value: 'y' }]);
  const two = new Node([etcd.url], 'two');
  await t.throwsAsync(two.following, { message: /record 1 does not have its checksum there/ });
  etcd.forget(last);
  const three = new Node([etcd.url], 'three');
  await t.throwsAsync(three.following, { message: /record 1 lacks a part there/ });
  t.deepEqual([two.log, three.log], [[], []]);
  await Promise.all([one.end(), two.end(), three.end()]);
  client.close();
});
