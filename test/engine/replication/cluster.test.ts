import test from 'ava';
import {
  type ClusterIdentity,
  clusterStatus,
  joinCluster,
} from '../../../engine/replication/cluster.ts';
import { EtcdClient } from '../../../engine/replication/etcd-client.ts';
import { shardKeys } from '../../../engine/replication/shard-replica.ts';
import { EtcdDouble } from './etcd.ts';

const IDENTITY: ClusterIdentity = { directory: 'of-one', shards: 2, formatVersion: 1 };

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
  const error = await t.throwsAsync(join({}, 'another'), { message: /has another secret/ });
  t.false(error?.message.includes('of the cluster'));
  await joinCluster(etcd, 'other', { ...IDENTITY, shards: 1 }, 'another');
  etcd.close();
  server.stop();
});

test('N117: the status of a cluster names who leads each shard, and how far it is', async (t) => {
  const server = await EtcdDouble.start();
  const etcd = new EtcdClient([server.url]);
  t.is(await clusterStatus(etcd, 'test'), null);
  await joinCluster(etcd, 'test', IDENTITY, 'of the cluster');
  const { head, leader } = shardKeys('test', 1);
  const one = { node: 'one', address: 'https://one' };
  await etcd.transact(
    [],
    [
      { put: head, value: '7.120.99' },
      { put: leader, value: JSON.stringify(one) },
    ],
  );
  t.deepEqual(await clusterStatus(etcd, 'test'), [
    { shard: 0, leader: null, epoch: null, lastFact: null },
    { shard: 1, leader: one, epoch: 7, lastFact: 120 },
  ]);
  etcd.close();
  server.stop();
});
