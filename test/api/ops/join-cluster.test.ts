import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import test from 'ava';
import { openInTime } from '../../../api/ops/join-cluster.ts';
import { eventually } from '../../../bench/lib/eventually.ts';
import { NOON_MS, quoteTick } from '../../engine/fixtures.ts';
import { longTest } from '../../long-test.ts';
import { ask, askAdmin, Cluster, list, type Node } from '../cluster-nodes.ts';
import type { Json } from '../support.ts';

/** A session of Ann, who signs up; a leader without an answer of etcd is asked again. */
async function sessionOfAnn(leader: Node): Promise<string> {
  let session = '';
  await eventually('the leader takes a sign-up', async () => {
    const answers = [
      await ask(leader, '/auth/v1/signup', { body: ANN }),
      await ask(leader, '/auth/v1/token?grant_type=password', { body: ANN }),
    ];
    session = answers.find(({ status }) => status === 200)?.json.access_token ?? '';
    return session !== '';
  });
  return session;
}

const ANN = { email: 'ann@example.com', password: 'a long password' };
const LISTED = '/v1/instruments';

/** The leader and another node, which the tests share. They play one after another. */
const ends: (() => unknown)[] = [];
let cluster: Cluster;
let one: Node;
let two: Node;
let session: string;
test.before(async () => {
  cluster = await Cluster.start({ teardown: (end) => ends.push(end) });
  one = await cluster.node('one');
  two = await cluster.node('two');
  session = await sessionOfAnn(one);
});
test.after.always(async () => {
  for (const end of ends.reverse()) await end();
});

test.serial(
  'N132, N134: who signs up at the leader is let in by every node, until the key ends there',
  async (t) => {
    const refused = await ask(two, '/auth/v1/signup', { body: ANN });
    t.is(refused.status, 503);
    t.is(refused.json.error_code ?? refused.json.error?.code, 'not_leader');

    await eventually('the session is known everywhere', async () => {
      return (await ask(two, '/v1/me', { token: session })).status === 200;
    });
    const made = await ask(one, '/v1/api_keys', { token: session, body: { label: 'bot' } });
    t.is(made.status, 201, JSON.stringify(made.json));
    const { token } = made.json;
    await eventually('the key is known everywhere', async () => {
      return (await ask(two, LISTED, { token })).status === 200;
    });
    const atTwo = await ask(two, '/v1/api_keys', { token: session, body: { label: 'bot' } });
    t.is(atTwo.status, 503);
    t.like(atTwo.json.error, { code: 'not_leader', leader: 'https://one.example' });
    const ended = await ask(one, `/v1/api_keys/${made.json.key.id}`, {
      token: session,
      method: 'DELETE',
    });
    t.is(ended.status, 200, JSON.stringify(ended.json));
    t.is((await ask(two, LISTED, { token })).status, 401);
  },
);

test.serial(
  'N137, N138: switches and numbers of the catalog are those of the leader on every node',
  async (t) => {
    const set = (node: Node, on: boolean) => askAdmin(node, 'PUT', '/admin/trading', { on });
    const isTrading = async (node: Node) =>
      (await ask(node, '/v1/api_keys', { token: session })).json.tradeWriteAvailable;
    await eventually('the session is known', async () => (await isTrading(two)) === true);
    t.is((await set(one, false)).status, 200);
    t.false(await isTrading(two));
    t.like((await set(two, true)).json.error, { code: 'not_leader' });
    t.is((await set(one, true)).status, 200);
    t.true(await isTrading(two));

    list(two, 3);
    list(one, 2);
    await eventually('both list what the leader has numbered', async () => {
      return [await listed(one), await listed(two)].every((slugs) => slugs.length === 2);
    });
    t.deepEqual(await listed(two), ['i1', 'i2'], 'the third has no number');
    t.deepEqual(names(one), names(two));
  },
);

const ORDER = { action: 'buy', type: 'market', idempotencyKey: 'the-first', side: 'yes', count: 1 };
const ORDERS = '/v1/portfolio/orders';
/** The order at the first leader, and a key that asks for it. */
let placed: Json;
let token: string;

test.serial('N114, N115: one node takes orders, and another says where to go', async (t) => {
  const scopes = ['portfolio:read', 'trade:write'];
  const made = await ask(one, '/v1/api_keys', { token: session, body: { scopes } });
  token = made.json.token;
  one.paperbook.engine.tick(quoteTick({ market: 0, atMs: NOON_MS }));
  const body = orderAt(one);
  const answer = await ask(one, ORDERS, { token, body });
  t.is(answer.status, 200, JSON.stringify(answer.json));
  placed = answer.json;
  await eventually('the key is known everywhere', async () => {
    return (await ask(two, '/v1/me', { token })).status === 200;
  });
  const isReady = async () => (await fetch(`${two.paperbook.adminUrl}/readyz`)).ok;
  await eventually('the second node is ready', isReady);
  for (const refused of [
    await ask(two, ORDERS, { token, body }),
    await ask(two, '/v1/portfolio', { token }),
  ]) {
    t.is(refused.status, 503);
    t.like(refused.json.error, { code: 'not_leader', leader: 'https://one.example' });
  }
});

const orderAt = ({ paperbook }: Node) => {
  return { ...ORDER, instrumentId: paperbook.identity.numbers()!.instrumentIds[0] };
};

test.serial('N132, N137: the next leader takes sign-ups, and numbers what it has', async (t) => {
  await one.paperbook.close();
  await eventually('the other node takes sign-ups', async () => {
    const body = { email: 'bob@example.com', password: 'a long password' };
    return (await ask(two, '/auth/v1/signup', { body })).status === 200;
  });
  t.is((await ask(two, '/auth/v1/signup', { body: ANN })).status, 422);
  await eventually('the next leader numbers what it has', async () => {
    return (await listed(two)).length === 3;
  });
  t.deepEqual(names(two), ['venue_a/I1', 'venue_a/I2', 'venue_a/I3']);
});

test.serial('N114, N115, N116: the next leader has the orders, and takes them', async (t) => {
  await eventually('the second node leads', async () => {
    two.paperbook.engine.tick(quoteTick({ market: 0, atMs: NOON_MS }));
    return (await ask(two, '/v1/portfolio', { token })).status === 200;
  });
  const again = await ask(two, ORDERS, { token, body: orderAt(two) });
  t.is(again.json.replayed, true);
  t.is(again.json.trade.tradeId, placed.trade.tradeId);
  t.is((await ask(two, '/v1/portfolio', { token })).json.positionsCount, 1);
});

test.serial(
  'O48: a start ends with one line if etcd is silent for long while the shards open, and not before',
  async (t) => {
    const statuses = [
      { state: 'open', problem: 'a disk' },
      { state: 'opening', problem: null as string | null },
    ] as const;
    const opening = statuses[1] as { problem: string | null };
    let nowMs = 0;
    const never = openInTime(
      new Promise(() => {}),
      () => statuses,
      () => nowMs,
    );
    const refused = t.throwsAsync(never, { message: 'PAPERBOOK_CLUSTER: shard 1: no etcd' });
    const after = async (ms: number) => {
      nowMs += ms;
      return await Promise.race([refused, sleep(250, 'waits')]);
    };
    t.is(await after(30_000), 'waits', 'a log may be long');
    opening.problem = 'no etcd';
    t.is(await after(0), 'waits');
    opening.problem = null;
    t.is(await after(15_000), 'waits');
    opening.problem = 'no etcd';
    t.is(await after(15_000), 'waits', 'etcd has answered meanwhile');
    await after(21_000);
    t.is(await openInTime(Promise.resolve(7), () => statuses), 7);
  },
);

longTest(
  'O48: a node whose etcd falls silent after its first answers does not start',
  async (t) => {
    const other = await Cluster.start(t);
    const cut = setInterval(() => {
      other.etcd.isCut ||= other.etcd.keys.some((key) => key.endsWith('/control/head'));
    }, 1);
    await t.throwsAsync(other.node('one'), { message: /^PAPERBOOK_CLUSTER: .*etcd at / });
    clearInterval(cut);
    t.true(other.etcd.isCut);
  },
);

test.serial('N116: a node of another secret, or of a short one, does not start', async (t) => {
  writeFileSync(cluster.secretFile, 'another secret of a cluster');
  await t.throwsAsync(cluster.node('one'), { message: /CLUSTER.* another secret/ });
  writeFileSync(cluster.secretFile, 'short');
  await t.throwsAsync(cluster.node('one'), { message: /fewer than 16 characters/ });
});

const names = ({ paperbook }: Node) => paperbook.identity.numbers()?.marketNames;

async function listed(node: Node): Promise<string[]> {
  const { json } = await ask(node, LISTED, { token: session });
  return json.instruments.map(({ slug }: Json) => slug).sort();
}
