import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'ava';
import type { Log } from '../../../api/base/logger.ts';
import { newUser } from '../../../api/identity/users.ts';
import { backUp } from '../../../api/ops/backup.ts';
import { beginWith } from '../../../api/ops/begin-cluster.ts';
import { bringIntoCluster } from '../../../api/ops/bring-into-cluster.ts';
import { eventually } from '../../../bench/lib/eventually.ts';
import { clusterStatus } from '../../../engine/replication/cluster.ts';
import { EtcdClient } from '../../../engine/replication/etcd-client.ts';
import { removeMember } from '../../../engine/replication/members.ts';
import { makeRoom } from '../../../engine/replication/space.ts';
import { NOON_MS, placeOrder, quoteTick, uuidOf } from '../../engine/fixtures.ts';
import { EtcdDouble } from '../../engine/replication/etcd-double.ts';
import { openLog } from '../../engine/shard/logged-facts.ts';
import { shareOf } from '../../model/seeds.ts';
import { catalogOf, game, instrument } from '../../process/catalogs.ts';
import { cheapenHashes } from '../cheap-hashes.ts';
import { startOnFeedClock } from '../on-feed-clock.ts';

cheapenHashes();

const SILENT: Log = { info() {}, warn() {}, error() {} };
const ONE_SHARD = { PAPERBOOK_SHARDS: '1' };

test('N110, N167, N168, O44, O45: a copy brings a new node in, and one that was away too long; once etcd has lost its data no node leads, and one begins again', async (t) => {
  const server = await EtcdDouble.start();
  const etcd = new EtcdClient([server.url]);
  t.teardown(() => {
    etcd.close();
    server.stop();
  });
  const directory = mkdtempSync(path.join(tmpdir(), 'paperbook-join-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  const at = (name: string) => path.join(directory, name);
  const catalogFile = at('catalog.json');
  writeFileSync(catalogFile, catalogOf([game('g1')], [instrument('i1', 'g1')]));
  const secretFile = at('secret');
  writeFileSync(secretFile, 'a secret of the cluster\n');
  const nodeIn = async (place: string, cluster: object | null) => {
    const env = cluster === null ? {} : { PAPERBOOK_CLUSTER: JSON.stringify(cluster) };
    const start = { directory, catalogFile, log: SILENT };
    return (
      await startOnFeedClock(t, {
        ...start,
        env: { ...env, ...ONE_SHARD, PAPERBOOK_DATA_DIR: at(place) },
      })
    ).paperbook;
  };
  const settings = (node: string) => ({
    ...{ name: 'test', node, etcd: [server.url], address: `https://${node}.example` },
    ...{ secretFile, leaseSeconds: 20 },
  });
  const join = (node: string, from: string) => bringIntoCluster(settings(node), at(node), at(from));

  await (await nodeIn('one', null)).close();
  await backUp(at('one'), at('first'));
  await t.throwsAsync(join('two', 'first'), { message: /knows no cluster test: start its first/ });
  let one = await nodeIn('one', settings('one'));
  let orders = 0;
  const trade = async (count: number) => {
    for (let more = 0; more < count; more++) {
      const atMs = NOON_MS + ++orders * 100;
      one.engine.tick(quoteTick({ market: 0, atMs }));
      const placed = placeOrder({
        ...{ atMs, account: uuidOf(1), instrumentId: one.identity.numbers()!.instrumentIds[0]! },
        ...{ orderId: uuidOf(100 + orders, atMs), idempotencyKey: `${orders}` },
      });
      const reply = await one.engine.call(uuidOf(1), placed);
      t.true(reply.ok, JSON.stringify(reply));
    }
  };
  await trade(10);
  await one.identity.addUser(newUser({ email: 'ann@example.com' }, NOON_MS));
  const trimAll = () =>
    eventually('etcd keeps no record', async () => {
      await makeRoom([server.url], 'test', 1);
      return !server.keys.some((key) => key.includes('/record/'));
    });
  await trimAll();
  const nodes = async () =>
    (await clusterStatus(etcd, 'test')).members.map(({ node }) => node).sort();

  // What is not of the cluster changes nothing.
  cpSync(at('first'), at('other'), { recursive: true });
  rmSync(at('other/shard-0/log'), { recursive: true });
  openLog(at('other'), 0, 4096).close();
  await t.throwsAsync(join('two', 'other'), {
    message: /segments of so many bytes: .* node 4096$/,
  });
  t.deepEqual(await nodes(), ['one']);
  t.false(existsSync(at('two')));

  // A copy from before the trim; the second try has what the first has kept.
  const old = await t.throwsAsync(join('two', 'first'), { message: /etcd no longer has the next/ });
  t.regex(old!.message, /keeps all records for this node from now on/);
  t.deepEqual(await nodes(), ['one', 'two']);
  await trade(5);
  await backUp(at('one'), at('second'));
  await trade(5);
  await t.notThrowsAsync(makeRoom([server.url], 'test', 1));
  await join('two', 'second');
  const two = await nodeIn('two', settings('two'));
  const has = (node: typeof two) => node.engine.statuses()[0]!.progress?.lastNumber;
  await eventually('the new node has all', () => has(two) === has(one));
  await two.close();

  // It is away, and has left: etcd forgets what it lacks.
  await removeMember(etcd, 'test', 'two', 1);
  await trade(10);
  await trimAll();
  const segment = 'shard-0/log/00000000.log';
  const before = readFileSync(path.join(at('two'), segment)).subarray(0, has(one)!);
  await t.throwsAsync(join('two', 'second'), { message: /no earlier state of the log/ });
  await backUp(at('one'), at('second'));
  await join('two', 'second');
  const after = readFileSync(path.join(at('two'), segment)).subarray(0, before.length);
  t.true(after.equals(before), 'its own log is longer now, and the same');
  const back = await nodeIn('two', settings('two'));
  await trade(1);
  await eventually('it has all again', () => has(back) === has(one));
  if (shareOf(100) >= 100) await refusesOthers();
  await back.close();

  // etcd loses its data while the node runs.
  server.expire();
  for (const key of server.keys) server.forget(key);
  const last = has(one);
  await eventually('the node takes no order', async () => {
    await one.engine.audit().catch(() => null);
    return one.engine.problems().some((line) => /etcd has lost the data of the cluster/.test(line));
  });
  await one.close();
  const led = () => server.keys.filter((key) => /(leader|head|identity)$/.test(key));
  t.deepEqual(led(), []);
  const unknown = /etcd knows no cluster test: .* see paperbook cluster begin/;
  await t.throwsAsync(nodeIn('one', settings('one')), { message: unknown });
  t.deepEqual(led(), []);
  const ends = await beginWith(settings('one'), at('one'));
  t.deepEqual(ends[0], ['shard/0', last]);
  await t.throwsAsync(beginWith(settings('two'), at('two')), { message: /etcd knows the cluster/ });
  one = await nodeIn('one', settings('one'));
  t.true(has(one)! >= last!);
  await trade(1);
  await one.close();

  async function refusesOthers(): Promise<void> {
    // Its control data are from before the trim.
    await backUp(at('one'), at('third'));
    rmSync(at('third/control'), { recursive: true });
    cpSync(at('first/control'), at('third/control'), { recursive: true });
    await t.throwsAsync(join('three', 'third'), {
      message: /: the control log ends with record 0, and etcd no longer has the next one\. Make/,
    });
    writeFileSync(secretFile, 'another secret of a cluster');
    await t.throwsAsync(join('three', 'second'), { message: /another secret/ });
  }
});
