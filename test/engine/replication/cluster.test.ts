import { setTimeout as sleep } from 'node:timers/promises';
import test from 'ava';
import { eventually } from '../../../bench/lib/eventually.ts';
import {
  type ClusterIdentity,
  clusterStatus,
  joinCluster,
} from '../../../engine/replication/cluster.ts';
import { EtcdClient, EtcdFailure } from '../../../engine/replication/etcd-client.ts';
import { steadyMs } from '../../../engine/replication/lease.ts';
import { addMember } from '../../../engine/replication/members.ts';
import { NodePresence, presentNodes } from '../../../engine/replication/node-presence.ts';
import { logKeys } from '../../../engine/replication/shard-replica.ts';
import { EtcdDouble } from './etcd-double.ts';

const IDENTITY: ClusterIdentity = {
  ...{ directory: 'of-one', shards: 2, formatVersion: 1 },
  segmentBytes: 2 ** 26,
};

test('N110: a node of other data, of another number of shards or another secret is refused', async (t) => {
  const server = await EtcdDouble.start();
  const etcd = new EtcdClient([server.url]);
  const join = (over: Partial<ClusterIdentity> = {}, secret = 'of the cluster') =>
    joinCluster(etcd, 'test', { ...IDENTITY, ...over }, secret);
  await join();
  await join();
  await t.throwsAsync(join({ directory: 'of-two' }), {
    message: 'the cluster test has the data directory of-one, and this node of-two',
  });
  await t.throwsAsync(join({ shards: 1 }), { message: /number of shards: 2, and this node 1/ });
  await t.throwsAsync(join({ segmentBytes: 4096 }), {
    message: 'the cluster test has segments of so many bytes: 67108864, and this node 4096',
  });
  const error = await t.throwsAsync(join({}, 'another'), { message: /has another secret/ });
  t.false(error?.message.includes('of the cluster'));
  await joinCluster(etcd, 'other', { ...IDENTITY, shards: 1 }, 'another');
  etcd.close();
  server.stop();
});

test('N117, N136: the status of a cluster names who leads each log, how far it is, and what members have', async (t) => {
  const server = await EtcdDouble.start();
  const etcd = new EtcdClient([server.url]);
  await t.throwsAsync(clusterStatus(etcd, 'test'), { message: 'etcd knows no cluster test' });
  await joinCluster(etcd, 'test', IDENTITY, 'of the cluster');
  const { head, leader } = logKeys('test', 'shard/1');
  const one = { node: 'one', address: 'https://one' };
  await etcd.transact(
    [],
    [
      { put: head, value: '7.120.99' },
      { put: leader, value: JSON.stringify(one) },
    ],
  );
  await etcd.transact(
    [],
    [
      { put: logKeys('test', 'control').head, value: '5.3.77' },
      { put: 'paperbook/test/node/one', value: JSON.stringify({ ...one, applied: 2 }) },
    ],
  );
  const joining = { isEmpty: false, shards: 2 };
  await addMember(etcd, 'test', one, joining);
  await addMember(etcd, 'test', { node: 'two', address: 'https://old' }, joining);
  await addMember(etcd, 'test', { node: 'two', address: 'https://two' }, joining);
  await etcd.transact([], [{ put: logKeys('test', 'shard/1').has('two'), value: '118' }]);
  t.deepEqual(await clusterStatus(etcd, 'test'), {
    shards: [
      { shard: 0, leader: null, epoch: null, lastFact: null },
      { shard: 1, leader: one, epoch: 7, lastFact: 120 },
    ],
    control: { leader: null, epoch: 5, lastFact: 3 },
    nodes: [{ ...one, applied: 2 }],
    members: [
      { ...one, facts: [null, null] },
      { node: 'two', address: 'https://two', facts: [null, 118] },
    ],
  });
  etcd.close();
  server.stop();
});

test('O43, O48: a second server with the name of a node is refused, and one that was killed is followed; a start gives up once etcd is silent for long', async (t) => {
  const server = await EtcdDouble.start();
  const etcd = new EtcdClient([server.url]);
  let aheadMs = 0;
  const presence = (node: string, address: string, leaseSeconds = 20, givesUpAfterMs = 20_000) => {
    const self = { node, address };
    const of = { etcd, cluster: 'test', self, leaseSeconds, givesUpAfterMs };
    return new NodePresence({ ...of, steadyMs: () => steadyMs() + aheadMs }, 0);
  };
  const first = presence('one', 'https://first');
  await first.entered;
  const second = presence('one', 'https://second');
  const refused = t.throwsAsync(second.entered, {
    message:
      'another server runs as the node one of the cluster test, at https://first: stop it, or give ' +
      'this one a name of its own',
  });
  // It waits as long as a server that was killed may have the name.
  t.is(await Promise.race([refused, sleep(300, 'waits')]), 'waits');
  aheadMs = 61_000;
  await refused;
  aheadMs = 0;
  t.true(first.isCurrent);
  t.deepEqual(await presentNodes(etcd, 'test'), [
    { node: 'one', address: 'https://first', applied: 0 },
  ]);
  await second.end();
  t.true(first.isCurrent);
  await first.end();

  const lease = await etcd.grant(1);
  const value = JSON.stringify({ node: 'two', address: 'https://killed', applied: 3 });
  await etcd.transact([], [{ put: 'paperbook/test/node/two', value, lease }]);
  const next = presence('two', 'https://next', 1);
  await next.entered;
  t.like((await presentNodes(etcd, 'test'))[0], { address: 'https://next' });
  // The answer to a try is lost.
  const third = presence('three', 'https://three');
  server.loseAnswers('kv/txn', 1);
  await third.entered;
  // Without etcd a server that has its name goes on, and one that has none yet does not.
  server.isCut = true;
  const fourth = presence('four', 'https://four');
  let given: Error | null = null;
  const entered = fourth.entered.catch((error: Error) => {
    given = error;
  });
  t.is(await Promise.race([entered, sleep(300, 'waits')]), 'waits');
  await eventually('it gives up', () => {
    // Its first call may have failed just now.
    aheadMs += 11_000;
    return given !== null;
  });
  t.true(given! instanceof EtcdFailure);
  aheadMs = 0;
  await fourth.end();
  server.isCut = false;
  await eventually('the other goes on', () => third.isCurrent);
  await Promise.all([next.end(), third.end()]);
  t.deepEqual(await presentNodes(etcd, 'test'), []);
  etcd.close();
  server.stop();
});
