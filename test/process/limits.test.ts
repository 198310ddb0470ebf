/** Limits of a server that is stopped, killed and started again. */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { uuidWord } from '../../engine/memory/uuid-words.ts';
import { longTest } from '../long-test.ts';
import { catalogOf, game, instrument } from './catalogs.ts';
import { ask, type Json } from './client.ts';
import { serveHere } from './run-here.ts';
import { type Env, type Place, startFor, tempDir } from './server.ts';

const SCOPES = ['portfolio:read', 'markets:read', 'trade:write'];
const UNKNOWN_ORDER = '0195d3a0-0000-7000-8000-0000000000ff';

test.serial(
  'Q13, L9, L10, hard trade limits: by key and account, of a minute, a day and an enterprise`s own, kill -9 or not, and the counts of requests',
  async (t) => {
    const { dataDir, env } = stillDir(t);
    const server = await startFor(t, 'serve', { dataDir, env });
    const [one, two, three] = (await addKeys(server, { plan: 'basic' }, 3)) as [
      string,
      string,
      string,
    ];
    const wide = { newPerMinute: 100, closingPerMinute: 100 };
    const tradeLimits = { key: { ...wide, newPerDay: 3 }, account: { ...wide, newPerDay: 5 } };
    const enterprise = { plan: 'enterprise', tradeLimits, email: 'enterprise@b.c' };
    const [first, second] = (await addKeys(server, enterprise, 2)) as [string, string];
    for (const key of [one, two]) {
      for (let i = 0; i < 10; i++) t.is((await place(server, key)).code, 'no_liquidity');
      for (let i = 0; i < 20; i++) t.is((await cancel(server, key)).code, 'order_not_found');
    }
    for (const key of [first, first, first, second, second]) {
      t.is((await place(server, key)).code, 'no_liquidity');
    }
    const check = async (running: Place) => {
      for (const [answered, who, limit, seconds] of [
        [await place(running, one), 'key', '10 new orders a minute', 60],
        [await place(running, three), 'account', '20 new orders a minute', 60],
        [await cancel(running, two), 'key', '20 sells and cancels a minute', 60],
        [await cancel(running, three), 'account', '40 sells and cancels a minute', 60],
        [await place(running, first), 'key', '3 new orders a day', 86_400],
        [await place(running, second), 'account', '5 new orders a day', 86_400],
      ] as const) {
        t.deepEqual(answered, limited(who, limit, seconds));
      }
      t.is((await cancel(running, second)).code, 'order_not_found', 'a cancel is no new order');
    };
    await check(server);
    await server.command.end('SIGKILL');
    const killed = await serveHere(t, { dataDir, env });
    await check(killed);
    const asking = await useRequests(t, killed);
    await killed.stop();
    const last = await serveHere(t, { dataDir, env });
    await check(last);
    await asking.goOn(last);
  },
);

/** Requests of two keys of somebody, and what their counts say at a later server. */
async function useRequests(t: ExecutionContext, server: Place) {
  const usage = ({ baseUrl }: Place, key: string) => ask(key, 'GET', `${baseUrl}/usage`);
  const [one, two] = (await addKeys(server, { plan: 'basic', email: 'asks@b.c' }, 2)) as [
    string,
    string,
  ];
  for (let i = 0; i < 3; i++) await ask(one, 'GET', `${server.baseUrl}/me`);
  await ask(two, 'GET', `${server.baseUrl}/games`);
  const counted = { month: { used: 4 }, key: { requestsThisMonth: 3 } };
  t.like(await usage(server, one), counted);
  return {
    goOn: async (later: Place) => {
      t.like(await usage(later, one), counted);
      t.like(await usage(later, two), { ...counted, key: { requestsThisMonth: 1 } });
    },
  };
}

longTest.serial(
  'L7: a key has one count over all accounts and shards, after a crash, too',
  async (t) => {
    const { dataDir, env } = stillDir(t, { PAPERBOOK_SHARDS: '3' });
    const server = await serveHere(t, { dataDir, env });
    const { userId, tokens } = await addUser(server, { plan: 'basic' }, 2);
    const [one, two] = tokens as [string, string];
    const accounts = [null, ...(await addOrganizations(server, userId))];
    const codes = async (running: Place, count: number) => {
      const all: string[] = [];
      for (let n = 0; n < count; n++) {
        all.push((await place(running, one, accounts[n % accounts.length]!)).code);
      }
      return all;
    };
    const some = (count: number) => Array(count).fill('no_liquidity');
    const none = (count: number) => Array(count).fill('rate_limited');
    t.deepEqual(await codes(server, 7), some(7));
    const crashed = await serveHere(t, { dataDir: server.crashed(), env });
    t.deepEqual(await codes(crashed, 23), [...some(3), ...none(20)]);
    for (const organization of accounts) {
      const refused = await place(crashed, one, organization!);
      t.deepEqual(refused, limited('key', '10 new orders a minute', 60));
      t.is((await cancel(crashed, two, organization!)).code, 'order_not_found', 'another key');
    }
  },
);

type Refusal = { status: number; code: string; message: string; retryAfter: string | null };

function limited(who: string, limit: string, retryAfterSeconds: number): Refusal {
  return {
    status: 429,
    code: 'rate_limited',
    message: `The ${who} is at its limit of ${limit}.`,
    retryAfter: String(retryAfterSeconds),
  };
}

/** For a server on a feed's clock that nothing is fed to: its minute and its day do not end. */
function stillDir(t: ExecutionContext, more: Env = {}): { dataDir: string; env: Env } {
  const directory = tempDir(t);
  const catalog = path.join(directory, 'catalog.json');
  writeFileSync(catalog, catalogOf([game('g1')], [instrument('i1', 'g1')]));
  const env: Env = { PAPERBOOK_CLOCK: 'feed', PAPERBOOK_CATALOG: catalog, ...more };
  return { dataDir: path.join(directory, 'data'), env };
}

async function addKeys(server: Place, user: object, count: number): Promise<string[]> {
  return (await addUser(server, user, count)).tokens;
}

async function addUser(server: Place, user: object, keys: number) {
  const made = await asAdmin(server, 'POST', '/users', { email: 'a@b.c', ...user });
  const userId = made.user.id as string;
  const tokens: string[] = [];
  for (let i = 0; i < keys; i++) {
    tokens.push((await asAdmin(server, 'POST', '/keys', { userId, scopes: SCOPES })).token);
  }
  return { userId, tokens };
}

/** Two organizations of a user, in the shards of three where the user's own account is not. */
async function addOrganizations(server: Place, userId: string): Promise<string[]> {
  const found = new Map([[shardOf(userId), userId]]);
  for (let n = 0; found.size < 3; n++) {
    const made = await asAdmin(server, 'POST', '/organizations', { slug: `org-${n}`, name: 'Org' });
    const { id } = made.organization;
    await asAdmin(server, 'PUT', `/organizations/${id}/members`, { userId, role: 'member' });
    if (!found.has(shardOf(id))) found.set(shardOf(id), id);
  }
  return [...found.values()].slice(1);
}

const shardOf = (account: string) => uuidWord(account, 3) % 3;

async function asAdmin({ adminUrl, dataDir }: Place, method: string, where: string, body: object) {
  const admin = readFileSync(path.join(dataDir, 'admin.token'), 'utf8').trim();
  return await ask(admin, method, `${adminUrl}/admin${where}`, body);
}

let orders = 0;

/** `organization`: whose sandbox; null: the personal account. */
async function place({ baseUrl }: Place, key: string, organization: string | null = null) {
  const order = { action: 'buy', type: 'market', ticker: 'I1', side: 'yes', count: 1 };
  const body = { ...order, idempotencyKey: `k-${++orders}` };
  const url = `${baseUrl}/portfolio/orders`;
  return await refusalOf({ key, organization, method: 'POST', url, body });
}

async function cancel({ baseUrl }: Place, key: string, organization: string | null = null) {
  const url = `${baseUrl}/portfolio/orders/${UNKNOWN_ORDER}`;
  return await refusalOf({ key, organization, method: 'DELETE', url });
}

type Request = {
  key: string;
  organization: string | null;
  method: string;
  url: string;
  body?: object;
};

async function refusalOf({ key, organization, method, url, body }: Request): Promise<Refusal> {
  const response = await fetch(url, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      ...(organization === null ? {} : { 'x-service-org': organization }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const { error } = (await response.json()) as Json;
  const retryAfter = response.headers.get('retry-after');
  if (String(error.retryAfterSeconds ?? null) !== String(retryAfter)) {
    throw new Error(`Retry-After is ${retryAfter}, the body says ${error.retryAfterSeconds}`);
  }
  return { status: response.status, code: error.code, message: error.message, retryAfter };
}
