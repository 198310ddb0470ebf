import test, { type ExecutionContext } from 'ava';
import { etcdProgram, RealEtcd } from '../../../bench/lib/etcd.ts';
import { joinCluster, shardsOf } from '../../../engine/replication/cluster.ts';
import { ClusterWatch } from '../../../engine/replication/cluster-watch.ts';
import { EtcdClient, EtcdFailure } from '../../../engine/replication/etcd-client.ts';
import { addMember } from '../../../engine/replication/members.ts';
import { headText } from '../../../engine/replication/replicated-record.ts';
import { shardKeys } from '../../../engine/replication/shard-replica.ts';
import { makeRoom, spaceOf } from '../../../engine/replication/space.ts';
import { longTest } from '../../long-test.ts';
import { EtcdDouble } from './etcd-double.ts';

const IDENTITY = { directory: 'of-one', shards: 1, formatVersion: 1, segmentBytes: 4096 };
const SAYS_NOTHING = { info() {}, error() {} };

async function clusterIn(urls: readonly string[]): Promise<EtcdClient> {
  const etcd = new EtcdClient(urls);
  await joinCluster(etcd, 'test', IDENTITY, 'of the cluster');
  for (const node of ['one', 'two']) {
    await addMember(etcd, 'test', { node, address: '' }, { isEmpty: false, shards: 1 });
  }
  return etcd;
}

const present = (etcd: EtcdClient, node: string) => {
  const value = JSON.stringify({ node, address: '', applied: 0 });
  return etcd.transact([], [{ put: `paperbook/test/node/${node}`, value }]);
};

test('O41: a problem names a member of etcd that is silent, and a node that is not there', async (t) => {
  const [down, server] = [await EtcdDouble.start(), await EtcdDouble.start()];
  const etcd = await clusterIn([server.url]);
  down.isCut = true;
  const urls = [down.url, server.url];
  const settings = { name: 'test', node: 'one', address: '', etcd: urls, leaseSeconds: 3 };
  const watch = new ClusterWatch(settings, SAYS_NOTHING);
  await watch.look();
  const [silent, missing, ...more] = watch.problems();
  t.true(
    silent?.startsWith(`a member of etcd does not answer: etcd at ${new URL(down.url).host}: `),
    silent,
  );
  t.is(missing, 'node two is not there: start it, or run paperbook cluster leave two');
  t.deepEqual(more, []);
  t.is(watch.space?.silent.length, 1);
  settings.etcd.shift();
  await present(etcd, 'two');
  await watch.look();
  t.deepEqual([watch.problems(), watch.space?.silent], [[], []]);
  await watch.close();
  etcd.close();
  for (const one of [down, server]) one.stop();
});

test('O42: a command asks a member that answers, and makes room in the others', async (t) => {
  const [down, server] = [await EtcdDouble.start(), await EtcdDouble.start()];
  down.isCut = true;
  const urls = [down.url, server.url];
  (await clusterIn([server.url])).close();
  const etcd = new EtcdClient(urls);
  await etcd.reach();
  t.is(await shardsOf(etcd, 'test'), 1);
  server.isOutOfSpace = true;
  const { silent, defragmented } = await makeRoom(urls, 'test', 1);
  t.is(defragmented, 1);
  t.regex(silent.join(), new RegExp(`^etcd at ${new URL(down.url).host}: `));
  t.false(server.isOutOfSpace);
  server.isCut = true;
  const error = await t.throwsAsync(etcd.reach(), { instanceOf: EtcdFailure });
  for (const url of urls) t.true(error.message.includes(new URL(url).host), error.message);
  etcd.close();
  for (const one of [down, server]) one.stop();
});

test('N164: the space is that of the fullest member that answers', async (t) => {
  const servers = await Promise.all([EtcdDouble.start(), EtcdDouble.start()]);
  const urls = servers.map(({ url }) => url);
  Object.assign(servers[0]!, { fileBytes: 500, usedBytes: 100, quotaBytes: 1000 });
  Object.assign(servers[1]!, { fileBytes: 600, usedBytes: 50, quotaBytes: 2000 });
  const fullest = { fileBytes: 500, usedBytes: 100, quotaBytes: 1000, isRefusing: false };
  t.deepEqual(await spaceOf(urls), { ...fullest, silent: [] });
  servers[0]!.isCut = true;
  t.is((await spaceOf(urls)).fileBytes, 600);
  servers[1]!.isCut = true;
  await t.throwsAsync(spaceOf(urls), { instanceOf: EtcdFailure });
  for (const server of servers) server.stop();
});

test('N164: before etcd is full a problem says what to do, and who is waited for', async (t) => {
  const server = await EtcdDouble.start();
  const etcd = await clusterIn([server.url]);
  const { head, has } = shardKeys('test', 0);
  await etcd.transact(
    [],
    [
      { put: head, value: headText({ epoch: 1, number: 300_000, checksum: 0 }) },
      { put: has('one'), value: '299000' },
      { put: has('two'), value: '1200' },
    ],
  );
  const settings = { name: 'test', node: 'one', address: '', etcd: [server.url], leaseSeconds: 3 };
  await present(etcd, 'two');
  const watch = new ClusterWatch(settings, SAYS_NOTHING);
  Object.assign(server, { fileBytes: 749, quotaBytes: 1000 });
  await watch.look();
  t.deepEqual(watch.problems(), []);
  server.fileBytes = 760;
  await watch.look();
  t.deepEqual(watch.problems(), [
    'etcd has used 76% of its space, and takes no orders at 100%: run paperbook cluster trim. etcd ' +
      'keeps what two lacks of shard 0 since fact 1200: start two, or run paperbook cluster leave two',
  ]);
  server.isOutOfSpace = true;
  await etcd.transact([], [{ put: has('two'), value: '299000' }]);
  await watch.look();
  t.deepEqual(watch.problems(), [
    'etcd has no space left and takes no orders: run paperbook cluster trim',
  ]);
  server.isCut = true;
  await watch.look();
  t.regex(watch.problems()[0]!, /^the space of etcd is not known: etcd at /);
  t.is(watch.space, null);
  server.isCut = false;
  Object.assign(server, { fileBytes: 100, isOutOfSpace: false });
  await watch.look();
  t.deepEqual(watch.problems(), []);
  t.is(watch.space?.fileBytes, 100);
  await watch.close();
  etcd.close();
  server.stop();
});

test('N165: room is made of what every member has, and of free space in large files', async (t) => {
  const server = await EtcdDouble.start();
  const etcd = await clusterIn([server.url]);
  const { record, has } = shardKeys('test', 0);
  const put = (number: number) => ({ put: record(number), value: '' });
  await etcd.transact([], [put(1), put(2), put(3)]);
  const publish = (node: string) => etcd.transact([], [{ put: has(node), value: '2' }]);
  await publish('one');
  Object.assign(server, { fileBytes: 400, usedBytes: 100, quotaBytes: 1000 });
  t.deepEqual(await makeRoom([server.url], 'test', 1), {
    ...{ deleted: 0, upTo: [0], defragmented: 0 },
    silent: [],
  });
  await publish('two');
  server.fileBytes = 600;
  t.deepEqual(await makeRoom([server.url], 'test', 1), {
    ...{ deleted: 2, upTo: [2], defragmented: 1 },
    silent: [],
  });
  t.is(server.fileBytes, 100);
  t.deepEqual(
    server.keys.filter((key) => key.includes('/record/')),
    [record(3)],
  );
  server.isOutOfSpace = true;
  t.is((await makeRoom([server.url], 'test', 1)).defragmented, 1);
  t.false(server.isOutOfSpace);
  etcd.close();
  server.stop();
});

const realTest = etcdProgram === null ? test.skip : longTest.serial;
realTest(
  'N164, N165: a real etcd that is full takes records again after a trim',
  async (t: ExecutionContext) => {
    const server = await RealEtcd.start(1, { 'quota-backend-bytes': String(2 ** 22) });
    const etcd = await clusterIn(server.urls);
    try {
      const { record, has } = shardKeys('test', 0);
      const value = Buffer.alloc(100_000, 1);
      let last = 0;
      const fill = async () => {
        for (;;) await etcd.transact([], [{ put: record(last + 1), value }]).then(() => last++);
      };
      for (const node of ['one', 'two']) {
        await etcd.transact([], [{ put: has(node), value: '20' }]);
      }
      await t.throwsAsync(fill(), { instanceOf: EtcdFailure, message: /space exceeded/ });
      t.true(last > 20);
      t.true((await spaceOf(server.urls)).isRefusing);
      await t.throwsAsync(etcd.transact([], [{ put: has('one'), value: '1' }]), {
        message: /space exceeded/,
      });
      const { deleted, defragmented } = await makeRoom(server.urls, 'test', 1);
      t.deepEqual([deleted, defragmented], [20, 1]);
      t.false((await spaceOf(server.urls)).isRefusing);
      await etcd.transact([], [{ put: record(last + 1), value }]);
    } finally {
      etcd.close();
      await server.stop();
    }
  },
);
