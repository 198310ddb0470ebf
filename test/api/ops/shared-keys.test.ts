/** The keys that sign, of nodes of a cluster that have directories of their own. */
import { readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { openDataDir } from '../../../api/data-dir/data-dir.ts';
import { SharedKeys } from '../../../api/ops/shared-keys.ts';
import { TrackRecordKeys } from '../../../api/read-side/track-record-keys.ts';
import { EtcdClient } from '../../../engine/replication/etcd-client.ts';
import { ClusterSecrets } from '../../../engine/replication/secrets.ts';
import { Unavailable } from '../../../engine/threads/unavailable.ts';
import { EtcdDouble } from '../../engine/replication/etcd-double.ts';
import { tempDir } from '../../engine/shard/engine-process.ts';

const SECRET = 'a secret of the cluster';
const AUTH = 'auth-key.json';
const RECORDS = 'track-record-key.json';

async function world(t: ExecutionContext) {
  const server = await EtcdDouble.start();
  const etcd = new EtcdClient([server.url], 10_000);
  t.teardown(() => {
    etcd.close();
    server.stop();
  });
  const keysOf = (dataDir: string, signsTokens = true) => {
    const secrets = new ClusterSecrets(etcd, 'test', SECRET);
    return new SharedKeys({ secrets, dataDir, signsTokens, log: { warn() {} } });
  };
  const node = async (signsTokens = true) => {
    const dataDir = path.join(tempDir(t), 'data');
    const opened = await openDataDir(dataDir, { wanted: 1, byDefault: 1 });
    t.teardown(() => opened.release());
    const shared = keysOf(dataDir, signsTokens);
    const read = (name: string) => JSON.parse(readFileSync(path.join(dataDir, name), 'utf8'));
    return { dataDir, shared, read, remove: (name: string) => rmSync(path.join(dataDir, name)) };
  };
  return { server, etcd, node, join: (dataDir: string) => keysOf(dataDir).join() };
}

test('N118: a node without keys takes those of the cluster, and one with others is refused', async (t) => {
  const { etcd, node } = await world(t);
  const [one, two, three] = [await node(), await node(), await node()];
  await one.shared.join();
  await two.shared.join();
  for (const name of [AUTH, RECORDS]) t.is(two.read(name).d, one.read(name).d, name);
  // Again, after it is there.
  await two.shared.join();
  const [found] = await etcd.read([
    { range: 'paperbook/test/secret/', end: 'paperbook/test/secret~' },
  ]);
  t.is(found!.length, 2);
  for (const { value } of found!) t.false(value.includes(one.read(AUTH).x));
  const wrong = new ClusterSecrets(etcd, 'test', 'another secret of it');
  await t.throwsAsync(wrong.get('auth'), { message: /secret\/auth of etcd is not encrypted by/ });

  // It has made keys in a cluster of its own.
  await (await world(t)).join(three.dataDir);
  await t.throwsAsync(three.shared.join(), { message: /^auth-key\.json of this node has another/ });
  three.remove(AUTH);
  await t.throwsAsync(three.shared.join(), {
    message: /^track-record-key\.json of this node has /,
  });
  three.remove(RECORDS);
  await three.shared.join();
  for (const name of [AUTH, RECORDS]) t.is(three.read(name).d, one.read(name).d, name);
});

test('N119: a new key of track records is on every node, whichever made it', async (t) => {
  const { node, server } = await world(t);
  const [one, two] = [await node(false), await node(false)];
  await one.shared.join();
  await two.shared.join();
  const [ofOne, ofTwo] = [one, two].map(({ dataDir }) => new TrackRecordKeys(dataDir));
  ofOne!.shareBy(one.shared.follow(ofOne!));
  const look = two.shared.follow(ofTwo!);
  const before = ofTwo!.current.keyId;
  const made = await ofOne!.rotate();
  await look();
  t.is(ofTwo!.current.keyId, made.keyId);
  t.not(made.keyId, before);
  t.is(ofTwo!.jwks().keys.length, 2);
  t.is(two.read(RECORDS).d, one.read(RECORDS).d);
  // One that was away starts with the key before.
  ofTwo!.shareBy(look);
  await ofTwo!.rotate();
  await one.shared.join();
  t.is(new TrackRecordKeys(one.dataDir).current.keyId, ofTwo!.current.keyId);
  server.stop();
  await t.throwsAsync(ofTwo!.rotate(), { instanceOf: Unavailable });
  for (const each of [one, two]) each.shared.close();
});
