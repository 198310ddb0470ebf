import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'ava';
import type { Log } from '../../../api/base/logger.ts';
import { newKey } from '../../../api/identity/keys.ts';
import { newUser } from '../../../api/identity/users.ts';
import type { Paperbook } from '../../../api/main.ts';
import { eventually } from '../../../bench/lib/etcd.ts';
import { NOON_MS, quoteTick } from '../../engine/fixtures.ts';
import { EtcdDouble } from '../../engine/replication/etcd-double.ts';
import { catalogOf, game, instrument } from '../../process/catalogs.ts';
import { startOnFeedClock } from '../on-feed-clock.ts';
import type { Json } from '../support.ts';

const SILENT: Log = { info() {}, warn() {}, error() {} };

test('N114, N115, N116: one node takes orders, another says where to go, and takes them after it', async (t) => {
  const etcd = await EtcdDouble.start();
  const directory = mkdtempSync(path.join(tmpdir(), 'paperbook-cluster-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  const catalogFile = path.join(directory, 'catalog.json');
  writeFileSync(catalogFile, catalogOf([game('g1')], [instrument('i1', 'g1')]));
  const secretFile = path.join(directory, 'secret');
  writeFileSync(secretFile, 'a secret of the cluster\n');
  const nodeIn = async (place: string, cluster: object | null) => {
    const env = cluster === null ? {} : { PAPERBOOK_CLUSTER: JSON.stringify(cluster) };
    const at = { directory: path.join(directory, place), catalogFile, log: SILENT };
    return (await startOnFeedClock(t, { ...at, env })).paperbook;
  };
  const settings = (node: string) => ({
    ...{ name: 'test', node, etcd: [etcd.url], address: `https://${node}.example` },
    ...{ secretFile, leaseSeconds: 20 },
  });
  const alone = await nodeIn('one', null);
  const user = newUser({ email: 'ann@b.c', plan: 'desk' }, NOON_MS);
  await alone.identity.addUser(user);
  const scopes = ['portfolio:read', 'trade:write'] as const;
  const { key, token } = newKey(user.id, { scopes: [...scopes] }, 'cli', NOON_MS);
  await alone.identity.putKey(key);
  const [instrumentId] = alone.identity.numbers()!.instrumentIds;
  await alone.close();
  cpSync(path.join(directory, 'one'), path.join(directory, 'two'), { recursive: true });

  const ask = async ({ baseUrl }: Paperbook, route: string, body?: object) => {
    const answer = await fetch(`${baseUrl}${route}`, {
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
    });
    return { status: answer.status, json: (await answer.json()) as Json };
  };
  const order = {
    ...{ action: 'buy', type: 'market', idempotencyKey: 'the-first', instrumentId },
    ...{ side: 'yes', count: 1 },
  };
  const one = await nodeIn('one', settings('one'));
  one.engine.tick(quoteTick({ market: 0, atMs: NOON_MS }));
  const placed = await ask(one, '/portfolio/orders', order);
  t.is(placed.status, 200, JSON.stringify(placed.json));
  const two = await nodeIn('two', settings('two'));
  const isReady = async () => (await fetch(`${two.adminUrl}/readyz`)).ok;
  await eventually('the second node is ready', isReady);
  for (const refused of [
    await ask(two, '/portfolio/orders', order),
    await ask(two, '/portfolio'),
  ]) {
    t.is(refused.status, 503);
    t.like(refused.json.error, { code: 'not_leader', leader: 'https://one.example' });
  }

  await one.close();
  await eventually('the second node leads', async () => {
    two.engine.tick(quoteTick({ market: 0, atMs: NOON_MS }));
    return (await ask(two, '/portfolio')).status === 200;
  });
  const again = await ask(two, '/portfolio/orders', order);
  t.is(again.json.replayed, true);
  t.is(again.json.trade.tradeId, placed.json.trade.tradeId);
  t.is((await ask(two, '/portfolio')).json.positionsCount, 1);

  // A node of another secret is no part of it.
  writeFileSync(secretFile, 'another secret of a cluster');
  await t.throwsAsync(nodeIn('one', settings('one')), { message: /CLUSTER.* another secret/ });
  writeFileSync(secretFile, 'short');
  await t.throwsAsync(nodeIn('one', settings('one')), { message: /fewer than 16 characters/ });
  etcd.stop();
});
