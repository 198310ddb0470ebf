/** Limits of a server that is stopped, killed and started again. */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { catalogOf, game, instrument } from './catalogs.ts';
import { ask, type Json } from './client.ts';
import { type Env, type Server, startFor, tempDir } from './server.ts';

const SCOPES = ['portfolio:read', 'markets:read', 'trade:write'];
const UNKNOWN_ORDER = '0195d3a0-0000-7000-8000-0000000000ff';

test.serial(
  'SPEC.md section 8: request counts outlive a restart, by account and key',
  async (t) => {
    const dataDir = path.join(tempDir(t), 'data');
    const first = await startFor(t, 'serve', { dataDir });
    const [one, two] = await addKeys(first, { plan: 'basic' }, 2);
    for (let i = 0; i < 3; i++) await ask(one!, 'GET', `${first.baseUrl}/me`);
    await ask(two!, 'GET', `${first.baseUrl}/games`);
    const before = await ask(one!, 'GET', `${first.baseUrl}/usage`);
    t.like(before, { month: { used: 4 }, key: { requestsThisMonth: 3 }, enforced: false });
    t.is((await first.command.end('SIGTERM')).code, 0);

    const enforced = { PAPERBOOK_LIMITS_ENFORCED: 'on' };
    const second = await startFor(t, 'serve', { dataDir, env: enforced });
    const after = await ask(one!, 'GET', `${second.baseUrl}/usage`);
    t.like(after, { month: { used: 4 }, key: { requestsThisMonth: 3 }, enforced: true });
    const other = await ask(two!, 'GET', `${second.baseUrl}/usage`);
    t.like(other, { month: { used: 4 }, key: { requestsThisMonth: 1 } });
  },
);

test.serial(
  'SPEC.md section 8, Hard trade limits: by key and account, kill -9 or not',
  async (t) => {
    const { server, restart } = await startStill(t);
    const [one, two, three] = await addKeys(server, { plan: 'basic' }, 3);
    const callers = { one: one!, two: two!, three: three! };
    for (const key of [callers.one, callers.two]) {
      for (let i = 0; i < 10; i++) t.is((await place(server, key)).code, 'no_liquidity');
      for (let i = 0; i < 20; i++) t.is((await cancel(server, key)).code, 'order_not_found');
    }
    const check = async (running: Server) => {
      t.deepEqual(await place(running, callers.one), limited('key', '10 new orders a minute', 60));
      t.deepEqual(
        await place(running, callers.three),
        limited('account', '20 new orders a minute', 60),
      );
      t.deepEqual(
        await cancel(running, callers.two),
        limited('key', '20 sells and cancels a minute', 60),
      );
      t.deepEqual(
        await cancel(running, callers.three),
        limited('account', '40 sells and cancels a minute', 60),
      );
    };
    await check(server);
    const killed = await restart('SIGKILL');
    await check(killed);
    await check(await restart('SIGTERM'));
  },
);

test.serial(
  'CONTRACT.md section 5, Hard trade limits: the day, and an enterprise`s own',
  async (t) => {
    const { server, restart } = await startStill(t);
    const wide = { newPerMinute: 100, closingPerMinute: 100 };
    const tradeLimits = { key: { ...wide, newPerDay: 3 }, account: { ...wide, newPerDay: 5 } };
    const [one, two] = await addKeys(server, { plan: 'enterprise', tradeLimits }, 2);
    for (const key of [one!, one!, one!, two!, two!]) {
      t.is((await place(server, key)).code, 'no_liquidity');
    }
    const check = async (running: Server) => {
      t.deepEqual(await place(running, one!), limited('key', '3 new orders a day', 86_400));
      t.deepEqual(await place(running, two!), limited('account', '5 new orders a day', 86_400));
      t.is((await cancel(running, two!)).code, 'order_not_found', 'a cancel is no new order');
    };
    await check(server);
    await check(await restart('SIGKILL'));
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

/** A server on a feed's clock that nothing is fed to: its minute and its day do not end. */
async function startStill(t: ExecutionContext) {
  const directory = tempDir(t);
  const catalog = path.join(directory, 'catalog.json');
  writeFileSync(catalog, catalogOf([game('g1')], [instrument('i1', 'g1')]));
  const env: Env = { PAPERBOOK_CLOCK: 'feed', PAPERBOOK_CATALOG: catalog };
  const dataDir = path.join(directory, 'data');
  let server = await startFor(t, 'serve', { dataDir, env });
  return {
    server,
    restart: async (signal: NodeJS.Signals) => {
      await server.command.end(signal);
      server = await startFor(t, 'serve', { dataDir, env });
      return server;
    },
  };
}

async function addKeys(server: Server, user: object, count: number): Promise<string[]> {
  const { adminUrl, dataDir } = server;
  const admin = readFileSync(path.join(dataDir, 'admin.token'), 'utf8').trim();
  const made = await ask(admin, 'POST', `${adminUrl}/admin/users`, { email: 'a@b.c', ...user });
  const keys: string[] = [];
  for (let i = 0; i < count; i++) {
    const key = { userId: made.user.id, scopes: SCOPES };
    keys.push((await ask(admin, 'POST', `${adminUrl}/admin/keys`, key)).token);
  }
  return keys;
}

let orders = 0;

async function place({ baseUrl }: Server, key: string): Promise<Refusal> {
  return await refusalOf(key, 'POST', `${baseUrl}/portfolio/orders`, {
    action: 'buy',
    type: 'market',
    idempotencyKey: `k-${++orders}`,
    ticker: 'I1',
    side: 'yes',
    count: 1,
  });
}

async function cancel({ baseUrl }: Server, key: string): Promise<Refusal> {
  return await refusalOf(key, 'DELETE', `${baseUrl}/portfolio/orders/${UNKNOWN_ORDER}`);
}

async function refusalOf(
  key: string,
  method: string,
  url: string,
  body?: object,
): Promise<Refusal> {
  const response = await fetch(url, {
    method,
    headers: { authorization: `Bearer ${key}` },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const { error } = (await response.json()) as Json;
  const retryAfter = response.headers.get('retry-after');
  if (String(error.retryAfterSeconds ?? null) !== String(retryAfter)) {
    throw new Error(`Retry-After is ${retryAfter}, the body says ${error.retryAfterSeconds}`);
  }
  return { status: response.status, code: error.code, message: error.message, retryAfter };
}
