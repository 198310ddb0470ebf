import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'ava';
import type { Log } from '../../../api/base/logger.ts';
import type { Paperbook } from '../../../api/main.ts';
import { eventually } from '../../../bench/lib/etcd.ts';
import { NOON_MS, quoteTick } from '../../engine/fixtures.ts';
import { EtcdDouble } from '../../engine/replication/etcd-double.ts';
import { catalogOf, game, instrument } from '../../process/catalogs.ts';
import { type Ending, startOnFeedClock } from '../on-feed-clock.ts';
import type { Json } from '../support.ts';

const SILENT: Log = { info() {}, warn() {}, error() {} };
const INSTRUMENTS = [1, 2, 3].map((n) => instrument(`i${n}`, 'g1'));

type Node = { paperbook: Paperbook; catalogFile: string; dataDir: string };

/** Nodes of one cluster in this process, each with its own directory and catalog file. */
class Cluster {
  readonly etcd: EtcdDouble;
  readonly directory = mkdtempSync(path.join(tmpdir(), 'paperbook-cluster-'));
  readonly secretFile: string;
  readonly #t: Ending;

  static async start(t: Ending): Promise<Cluster> {
    const cluster = new Cluster(t, await EtcdDouble.start());
    const first = await cluster.node('one', false);
    await first.paperbook.close();
    cpSync(path.join(cluster.directory, 'one'), path.join(cluster.directory, 'two'), {
      recursive: true,
    });
    return cluster;
  }

  private constructor(t: Ending, etcd: EtcdDouble) {
    this.#t = t;
    this.etcd = etcd;
    this.secretFile = path.join(this.directory, 'secret');
    writeFileSync(this.secretFile, 'a secret of the cluster\n');
    t.teardown(() => rmSync(this.directory, { recursive: true }));
    t.teardown(() => etcd.stop());
  }

  async node(name: string, isInCluster = true): Promise<Node> {
    const catalogFile = path.join(this.directory, `${name}.json`);
    list({ catalogFile }, 1);
    const settings = {
      ...{ name: 'test', node: name, etcd: [this.etcd.url], address: `https://${name}.example` },
      ...{ secretFile: this.secretFile, leaseSeconds: 20 },
    };
    const env: Record<string, string> = { PAPERBOOK_DEFAULT_PLAN: 'basic' };
    if (isInCluster) env.PAPERBOOK_CLUSTER = JSON.stringify(settings);
    const place = { directory: path.join(this.directory, name), catalogFile, log: SILENT, env };
    return { catalogFile, ...(await startOnFeedClock(this.#t, place)) };
  }
}

/** The first so many instruments are listed. */
function list({ catalogFile }: Pick<Node, 'catalogFile'>, count: number): void {
  writeFileSync(catalogFile, catalogOf([game('g1')], INSTRUMENTS.slice(0, count)));
}

async function ask(
  { paperbook: { baseUrl } }: Node,
  route: string,
  { token, body, method }: { token?: string; body?: object; method?: string } = {},
): Promise<{ status: number; json: Json }> {
  const answer = await fetch(new URL(route, baseUrl), {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  return { status: answer.status, json: text === '' ? {} : JSON.parse(text) };
}

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
    const set = async (node: Node, on: boolean) => {
      const admin = readFileSync(path.join(node.dataDir, 'admin.token'), 'utf8').trim();
      const answer = await fetch(`${node.paperbook.adminUrl}/admin/trading`, {
        method: 'PUT',
        headers: { authorization: `Bearer ${admin}`, 'content-type': 'application/json' },
        body: JSON.stringify({ on }),
      });
      return { status: answer.status, json: (await answer.json()) as Json };
    };
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
