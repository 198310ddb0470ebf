import test, { type ExecutionContext } from 'ava';
import { etcdProgram, RealEtcd } from '../../../bench/lib/etcd.ts';
import { EtcdClient } from '../../../engine/replication/etcd-client.ts';
import { LogKeeper, trimLog } from '../../../engine/replication/log-keeper.ts';
import { addMember, removeMember } from '../../../engine/replication/members.ts';
import { PART_BYTES, ShardReplica, shardKeys } from '../../../engine/replication/shard-replica.ts';
import { longTest } from '../../long-test.ts';
import { EtcdDouble } from './etcd-double.ts';

const address = 'http://a';
const START = { isEmpty: false, shards: 1 };

/** A leader of a log of texts, with a node for each further name. */
class Leader {
  readonly replica: ShardReplica;
  readonly etcd: EtcdClient;
  readonly cluster: string;
  number = 0;

  constructor(urls: readonly string[], cluster: string) {
    this.cluster = cluster;
    this.etcd = new EtcdClient(urls);
    this.replica = new ShardReplica(
      {
        ...{ etcd: this.etcd, cluster, log: 'shard/0' as const, leaseSeconds: 20, waitMs: 20_000 },
        self: { node: 'one', address },
        steadyMs: () => performance.now(),
        renewed() {},
        changed() {},
      },
      { number: 0, checksum: 0 },
    );
  }

  async start(): Promise<void> {
    await addMember(this.etcd, this.cluster, { node: 'one', address }, START);
    await this.replica.follow(async () => undefined);
  }

  async append(count: number, bytes = 10): Promise<void> {
    for (let record = 0; record < count; record++) {
      const firstNumber = this.number + 1;
      const payload = Buffer.alloc(bytes, firstNumber);
      await this.replica.append({ firstNumber, count: 2, atMs: 1, position: 100, payload });
      this.number += 2;
    }
  }

  keeper(node: string, onDisk: () => number, leads = node === 'one'): LogKeeper {
    const { etcd, cluster } = this;
    return new LogKeeper({ etcd, cluster, log: 'shard/0', node, onDisk, leads: () => leads });
  }

  /** The first fact of each record in etcd, and the parts beside them. */
  async records(): Promise<number[]> {
    const { record, recordsEnd } = shardKeys(this.cluster, 0);
    const [found = []] = await this.etcd.read([{ range: record(0), end: recordsEnd }]);
    return found.map(({ key }) => Number(key.split('/').at(-1)));
  }

  async parts(): Promise<number> {
    const { parts, partsEnd } = shardKeys(this.cluster, 0);
    const [found = []] = await this.etcd.read([{ range: parts, end: partsEnd, keysOnly: true }]);
    return found.length;
  }

  async end(): Promise<void> {
    await this.replica.end();
    this.etcd.close();
  }
}

type Run = (t: ExecutionContext, urls: readonly string[], cluster: string) => Promise<void>;
const EACH: [string, Run][] = [
  [
    'N161: the leader deletes what the disks of all members have, and nothing that one lacks',
    async (t, urls, cluster) => {
      const one = new Leader(urls, cluster);
      await one.start();
      await one.append(5);
      const first = one.keeper('one', () => one.number);
      await addMember(one.etcd, cluster, { node: 'two', address }, START);
      await first.run();
      t.deepEqual(await one.records(), [1, 3, 5, 7, 9], 'the second has said nothing yet');
      let onDisk = 6;
      const second = one.keeper('two', () => onDisk);
      await second.run();
      t.deepEqual(await one.records(), [1, 3, 5, 7, 9], 'a follower deletes nothing');
      await first.run();
      t.deepEqual(await one.records(), [7, 9]);
      onDisk = 10;
      await second.run();
      await first.run();
      t.deepEqual(await one.records(), []);
      await one.append(1);
      await first.run();
      t.deepEqual(await one.records(), [11]);
      await removeMember(one.etcd, cluster, 'two', 1);
      await first.run();
      t.deepEqual(await one.records(), [], 'the member that lacked it has left');
      await one.end();
    },
  ],
  [
    'N161: parts of large records go with them, those of any epoch too',
    async (t, urls, cluster) => {
      const one = new Leader(urls, cluster);
      await one.start();
      await one.append(1, 2 * PART_BYTES + 1);
      const { part } = shardKeys(cluster, 0);
      await one.etcd.transact([], [{ put: part(1, 1, 0), value: 'of a deposed leader' }]);
      await one.append(1, PART_BYTES + 1);
      t.is(await one.parts(), 6);
      let onDisk = 0;
      const keeper = one.keeper('one', () => onDisk);
      await keeper.run();
      t.is(await one.parts(), 6);
      onDisk = 2;
      await keeper.run();
      t.is(await one.parts(), 2);
      t.deepEqual(await one.records(), [3]);
      await one.end();
    },
  ],
  [
    'N160, N161: a member that begins again with nothing keeps all that there still is',
    async (t, urls, cluster) => {
      const one = new Leader(urls, cluster);
      await one.start();
      await addMember(one.etcd, cluster, { node: 'two', address }, START);
      await one.append(3);
      await one.keeper('two', () => one.number).run();
      await addMember(one.etcd, cluster, { node: 'two', address }, { isEmpty: true, shards: 1 });
      await one.keeper('one', () => one.number).run();
      t.deepEqual(await one.records(), [1, 3, 5]);
      await one.end();
    },
  ],
  [
    'N161: many records are deleted in pieces',
    async (t, urls, cluster) => {
      const one = new Leader(urls, cluster);
      await one.start();
      const { record } = shardKeys(cluster, 0);
      for (let first = 0; first < 2300; first += 100) {
        const put = (at: number) => ({ put: record(first + at), value: '' });
        await one.etcd.transact(
          [],
          Array.from({ length: 100 }, (_, at) => put(at + 1)),
        );
      }
      await one.keeper('one', () => 2250, false).run();
      t.is((await trimLog(one.etcd, cluster, 'shard/0')).deleted, 2250);
      const left = await one.records();
      t.deepEqual([left.length, left[0]], [50, 2251]);
      await one.end();
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

test('N161: a member that comes while the leader looks keeps its records', async (t) => {
  const etcd = await EtcdDouble.start();
  const one = new Leader([etcd.url], 'test');
  await one.start();
  await one.append(2);
  await one.keeper('one', () => one.number, false).run();
  const transact = one.etcd.transact.bind(one.etcd);
  let calls = 0;
  one.etcd.transact = async (...args) => {
    // After the look at the members, and before the removal.
    if (++calls === 2) {
      one.etcd.transact = transact;
      await addMember(one.etcd, 'test', { node: 'two', address }, START);
    }
    return await transact(...args);
  };
  t.is((await trimLog(one.etcd, 'test', 'shard/0')).deleted, 0);
  t.deepEqual(await one.records(), [1, 3]);
  await one.end();
  etcd.stop();
});

test('N162: etcd forgets what was replaced, once it is worth it', async (t) => {
  const etcd = await EtcdDouble.start();
  const one = new Leader([etcd.url], 'test');
  await one.start();
  const keeper = one.keeper('one', () => one.number);
  await one.append(10);
  await keeper.run();
  t.is(etcd.compactedTo, 0);
  await one.append(100);
  await keeper.run();
  t.true(etcd.compactedTo > 100);
  const { compactedTo } = etcd;
  await keeper.run();
  t.is(etcd.compactedTo, compactedTo);
  await one.end();
  etcd.stop();
});

const realTest = etcdProgram === null ? test.skip : longTest.serial;
realTest(
  'N161, N162: a real etcd stays at its size over a long run',
  async (t: ExecutionContext) => {
    const etcd = await RealEtcd.start();
    try {
      for (const [at, [title, run]] of EACH.entries()) {
        await run(t, etcd.urls, `test-${at}`);
        t.log(title);
      }
      const one = new Leader(etcd.urls, 'long');
      await one.start();
      const keeper = one.keeper('one', () => one.number);
      const sizes: number[] = [];
      for (let round = 0; round < 8; round++) {
        await one.append(120, 10_000);
        await keeper.run();
        sizes.push((await one.etcd.size()).fileBytes);
      }
      t.log(sizes);
      // 1.2 MB a round: 8.4 MB after the first.
      t.true(sizes.at(-1)! - sizes[0]! < 3_000_000, `${sizes}`);
      t.true((await one.etcd.quotaBytes()) >= 2 ** 31);
      t.false(await one.etcd.isOutOfSpace());
      await one.end();
    } finally {
      await etcd.stop();
    }
  },
);
