/** A whole server with a further listener. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import test from 'ava';
import { newOrganization, type Organization } from '../../../api/identity/organizations.ts';
import { shardOfAccount } from '../../../engine/shard/callers/shard-of.ts';
import { NOON_MS, quoteTick } from '../../engine/fixtures.ts';
import { shareOf, variantsOfRun } from '../../model/seeds.ts';
import { openStream } from '../stream-client.ts';
import { startWhole } from '../whole-server.ts';
import {
  type Answered,
  bothOf,
  type Connection,
  isServedThere,
  sharedTwo,
} from './two-listeners.ts';

const FAILING = new URL('./failing-listener.ts', import.meta.url).href;

const DIRECTORY = mkdtempSync(path.join(tmpdir(), 'paperbook-fail-'));
/** Once it is there, the further listener of a server that began with `failing` fails. */
const FAIL = path.join(DIRECTORY, 'fail');
test.after.always(() => rmSync(DIRECTORY, { recursive: true }));

/** The last test but one makes a listener of it fail. */
const shared = sharedTwo({}, failing);
/** It refuses what is over the limits of requests, and its last test ends it. */
const limited = sharedTwo({ PAPERBOOK_LIMITS_ENFORCED: 'on' });

const buy = (instrumentId: string, key: string, more: object = {}) => ({
  ...{ action: 'buy', type: 'market', idempotencyKey: key, instrumentId, side: 'yes', count: 1 },
  ...more,
});

/** Threads that begin meanwhile fail as `FAIL` says. */
async function failing<T>(start: () => Promise<T>): Promise<T> {
  const { NODE_OPTIONS = '' } = process.env;
  process.env.TEST_FAIL_LISTENER = FAIL;
  process.env.NODE_OPTIONS = `${NODE_OPTIONS} --import=${FAILING}`;
  try {
    return await start();
  } finally {
    process.env.NODE_OPTIONS = NODE_OPTIONS;
    delete process.env.TEST_FAIL_LISTENER;
  }
}

/** An answer without what is of one request alone. */
function comparable({ status, headers, text }: Answered) {
  const rest = Object.fromEntries(
    Object.entries(headers).filter(
      ([name]) => !/^(date|x-request-id|.*ratelimit.*|service-quota-.*)$/.test(name),
    ),
  );
  return { status, headers: rest, text: text.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME') };
}

test.serial('A130: a further listener answers every request as the main one does', async (t) => {
  const server = await shared();
  const { main, further } = await server.newcomer();
  const { instrumentIds } = server;
  const [id] = instrumentIds as [string];
  const long = 'x'.repeat(70_000);
  const asked: [string, string, object?][] = [
    ['GET', '/v1/portfolio'],
    ['HEAD', '/v1/portfolio'],
    ['OPTIONS', '/v1/portfolio'],
    ['PUT', '/v1/portfolio'],
    ['GET', '/v1/portfolio?no=1'],
    ['GET', '/v1/portfolio/trades?limit=0'],
    ['GET', '/v1/portfolio/orders?status=open'],
    ['GET', '/v1/portfolio/orders/no-uuid'],
    ['GET', '/v1/portfolio/orders/batch'],
    ['DELETE', '/v1/portfolio/orders/0192c1de-0000-7000-8000-000000000000'],
    ['GET', `/v1/quotes?ids=${id}`],
    ['GET', `/v1/instruments/${id}/quote`],
    [
      'GET',
      `/v1/history/export?instrumentId=${id}&from=2026-11-20T00:00:00Z&to=2026-11-22T00:00:00Z`,
    ],
    ['GET', '/v1/instruments?limit=2'],
    ['GET', '/v1/api_keys'],
    ['GET', '/v1/openapi.json'],
    ['GET', '/docs'],
    ['GET', '/nowhere'],
    ['GET', '/v1/stream'],
    ['GET', '/auth/v1/.well-known/jwks.json'],
    ['POST', '/v1/portfolio/orders', { body: 'no json' }],
    ['POST', '/v1/portfolio/orders', { body: {} }],
    ['POST', '/v1/portfolio/orders', { body: long }],
    ['POST', '/v1/portfolio/orders/preview', { body: buy(id, 'seen') }],
    ['POST', '/v1/portfolio/orders/batch', { body: { orders: [] } }],
    ['POST', '/v1/portfolio/orders', { body: buy(id, 'x', { execution: 'venue_a' }) }],
    ['GET', '/v1/portfolio', { token: null }],
    ['GET', '/v1/portfolio', { token: 'svc_sk_unknown' }],
    ['POST', '/auth/v1/token?grant_type=password', { body: { email: 'a@b.c', password: 'x' } }],
    ['GET', '/v1/portfolio', { headers: { 'x-service-org': 'none' } }],
    ['GET', '/v1/portfolio', { headers: { 'x-service-key': 'another' } }],
    ['GET', '/', { token: null, headers: { accept: 'text/html' } }],
  ];
  for (const [method, where, options] of asked) {
    const here = await main.ask(method, where, options);
    const there = await further.ask(method, where, options);
    t.deepEqual(comparable(there), comparable(here), `${method} ${where}`);
    t.deepEqual(
      Object.keys(there.headers).sort(),
      Object.keys(here.headers).sort(),
      `the headers of ${method} ${where}`,
    );
  }
  t.deepEqual(server.errors, []);
});

test.serial(
  'A130: a long body reaches its reader, and a long answer its caller, whole',
  async (t) => {
    const server = await shared();
    const { further } = await server.newcomer();
    const [id] = server.instrumentIds as [string];
    const description = await further.ask('GET', '/v1/openapi.json');
    const bytes = Buffer.byteLength(description.text);
    t.is(bytes, Number(description.headers['content-length']));
    t.is(JSON.parse(description.text).openapi.slice(0, 3), '3.1');
    const days = 'from=2026-11-20T00:00:00Z&to=2026-11-22T00:00:00Z';
    const exported = await further.ask('GET', `/v1/history/export?instrumentId=${id}&${days}`);
    t.is(exported.status, 200, 'a body in pieces');
    t.regex(exported.text, /^at,/);
    const order = buy(id, 'none', { action: 'none' });
    const orders = Array.from({ length: 100 }, () => ({ ...order, note: 'x'.repeat(400) }));
    const batch = { body: { orders }, headers: { 'x-service-org': 'none' } };
    const here = await further.ask('POST', '/v1/portfolio/orders/batch', { body: { orders } });
    t.is(JSON.parse(here.text).results.length, 100, 'read by the listener');
    const there = await further.ask('POST', '/v1/portfolio/orders/batch', batch);
    t.is(JSON.parse(there.text).results?.length ?? there.status, 400, 'read by the main thread');
  },
);

test.serial('A130, D73: orders over both listeners are of one account', async (t) => {
  const server = await shared();
  const { instrumentIds } = server;
  const caller = await server.newcomer();
  const { main, further } = caller;
  const [id] = instrumentIds as [string];
  t.true(await isServedThere(caller));
  for (let n = 0; n < 4; n++) {
    const [first, second] = n % 2 === 0 ? [main, further] : [further, main];
    const order = { body: buy(id, `order-${n}`) };
    const made = JSON.parse((await first.ask('POST', '/v1/portfolio/orders', order)).text);
    t.is(made.status, 'executed');
    const again = JSON.parse((await second.ask('POST', '/v1/portfolio/orders', order)).text);
    t.true(again.replayed);
    t.is(again.trade.tradeId, made.trade.tradeId);
    const { trades } = JSON.parse((await second.ask('GET', '/v1/portfolio/trades')).text);
    t.is(trades.length, n + 1);
  }
  const limit = { type: 'limit', limitPriceCents: 1 };
  const body = {
    orders: [buy(id, 'rests', limit), buy(id, 'rests-too', limit), { action: 'none' }],
  };
  const batch = await further.ask('POST', '/v1/portfolio/orders/batch', { body });
  const { results } = JSON.parse(batch.text);
  t.deepEqual(
    results.map(({ status }: { status: number }) => status),
    [200, 200, 400],
  );
  const [{ orderId }] = results.map((result: { body: { order: object } }) => result.body.order);
  const canceled = await further.ask('DELETE', `/v1/portfolio/orders/${orderId}`);
  t.is(JSON.parse(canceled.text).order.status, 'canceled');
  t.is(JSON.parse((await main.ask('DELETE', '/v1/portfolio/orders')).text).count, 1);
  t.deepEqual((await server.audit()).problems, []);
});

test.serial(
  'A131, A19: a key that ends, or whose owner changes, is known to all listeners at once',
  async (t) => {
    const server = await shared();
    const { paperbook, instrumentIds } = server;
    const [id] = instrumentIds as [string];
    const { identity } = paperbook;
    for (let n = 0; n < Math.max(3, shareOf(10)); n++) {
      const caller = await server.newcomer();
      t.true(await isServedThere(caller));
      const key = identity.keys.get(caller.keyId)!;
      const written = identity.putKey({ ...key, revokedAtMs: Date.now() });
      const asked = caller.further.ask('GET', '/v1/portfolio');
      await written;
      t.is((await asked).status, 401, 'as soon as the change is effective');
    }
    const caller = await server.newcomer();
    const { user, further } = caller;
    t.true(await isServedThere(caller));
    await identity.changeUser(user.id, { plan: 'none' });
    const order = { body: buy(id, 'one') };
    const refused = await further.ask('POST', '/v1/portfolio/orders', order);
    t.is(JSON.parse(refused.text).error.code, 'membership_required');
    await identity.changeUser(user.id, { plan: 'basic' });
    t.is((await further.ask('POST', '/v1/portfolio/orders', order)).status, 200);
  },
);

test.serial('A131: a key that changes while a body arrives is read again', async (t) => {
  const server = await shared();
  const { identity } = server.paperbook;
  const [id] = server.instrumentIds as [string];
  const caller = await server.newcomer('none');
  const { further, user, keyId } = caller;
  t.true(await isServedThere(caller));
  const planned = await further.ask('POST', '/v1/portfolio/orders', {
    body: buy(id, 'planned'),
    meanwhile: () => identity.changeUser(user.id, { plan: 'basic' }),
  });
  t.is(planned.status, 200, planned.text);
  t.true(await isServedThere(caller));
  const key = identity.keys.get(keyId)!;
  const revoked = await further.ask('POST', '/v1/portfolio/orders', {
    body: buy(id, 'revoked'),
    meanwhile: () => identity.putKey({ ...key, revokedAtMs: Date.now() }),
  });
  t.is(revoked.status, 401, revoked.text);
});

test.serial(
  'D75, L7, hard trade limits: of a key that trades for an organization too',
  async (t) => {
    const server = await shared();
    const { identity } = server.paperbook;
    const [id] = server.instrumentIds as [string];
    const caller = await server.newcomer('basic');
    const { main, further, user } = caller;
    // Its account is in the other shard.
    let organization: Organization;
    let number = 0;
    do {
      organization = newOrganization({ slug: `acme-${user.id}-${number++}`, name: 'Acme' }, 1);
    } while (shardOfAccount(organization.id, 2) === shardOfAccount(user.id, 2));
    await identity.organizations.add(organization);
    const membership = { organizationId: organization.id, userId: user.id, createdAtMs: 1 };
    await identity.organizations.putMember({ ...membership, role: 'member' });
    t.true(await isServedThere(caller));
    const place = async (by: Connection, key: string, headers = {}) => {
      const { status } = await by.ask('POST', '/v1/portfolio/orders', {
        body: buy(id, key),
        headers,
      });
      return status;
    };
    const theirs = { 'x-service-org': organization.id };
    const statuses: number[] = [];
    for (let n = 0; n < 3; n++) statuses.push(await place(further, `own-${n}`));
    statuses.push(await place(main, 'theirs', theirs));
    const more = Array.from({ length: 12 }, (_, n) =>
      n % 2 === 0 ? place(further, `more-${n}`) : place(main, `more-${n}`, theirs),
    );
    statuses.push(...(await Promise.all(more)));
    t.is(statuses.filter((status) => status === 200).length, 10, statuses.join());
    t.is(statuses.filter((status) => status === 429).length, 6);
    t.deepEqual((await server.audit()).problems, []);
  },
);

test.serial('Q28, Q5: request limits are exact over all listeners', async (t) => {
  const server = await limited();
  const { paperbook } = server;
  const { user, main, further } = await server.newcomer('none');
  const leftMs = 60_000 - (Date.now() % 60_000);
  if (leftMs < 20_000) await sleep(leftMs + 100);
  const asked = Array.from({ length: 60 }, (_, n) =>
    (n % 2 === 0 ? main : further).ask('GET', '/v1/portfolio'),
  );
  const answers = await Promise.all(asked);
  const taken = answers.filter(({ status }) => status === 200);
  t.is(taken.length, 30);
  t.is(answers.filter(({ status }) => status === 429).length, 30);
  const remaining = taken.map(({ headers }) => Number(headers['ratelimit-remaining']));
  t.is(Math.min(...remaining), 0);
  t.is((await further.ask('GET', '/v1/portfolio')).headers['ratelimit-remaining'], '0');
  await paperbook.identity.changeUser(user.id, { plan: 'desk' });
  t.is((await further.ask('GET', '/v1/portfolio')).status, 200, 'the plan of now');
});

test.serial('V11: switches are off for all listeners at once', async (t) => {
  const server = await shared();
  const { instrumentIds, paperbook, adminToken } = server;
  const [id] = instrumentIds as [string];
  const caller = await server.newcomer();
  const { further } = caller;
  t.true(await isServedThere(caller));
  t.is((await further.ask('GET', `/v1/quotes?ids=${id}`)).status, 200);
  const set = async (name: string, on: boolean) => {
    const response = await fetch(`${paperbook.adminUrl}/admin/${name}`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' },
      body: JSON.stringify({ on }),
    });
    t.is(response.status, 200, await response.text());
  };
  await set('venue-data', false);
  const quotes = await further.ask('GET', `/v1/quotes?ids=${id}`);
  t.is(JSON.parse(quotes.text).error.code, 'venue_data_off');
  await set('venue-data', true);
  t.is((await further.ask('GET', `/v1/quotes?ids=${id}`)).status, 200);
  await set('trading', false);
  const order = await further.ask('POST', '/v1/portfolio/orders', { body: buy(id, 'off') });
  t.is(JSON.parse(order.text).error.code, 'trading_off');
  await set('trading', true);
});

test.serial('A132, I5: a use of a key at a further listener is recorded', async (t) => {
  const server = await shared();
  const { identity } = server.paperbook;
  const caller = await server.newcomer();
  t.true(await isServedThere(caller));
  const key = identity.keys.get(caller.keyId)!;
  await identity.putKey({ ...key, lastUsedAtMs: Date.now() - 2 * 3_600_000 });
  await caller.further.ask('GET', '/v1/portfolio');
  t.true(Date.now() - identity.keys.get(caller.keyId)!.lastUsedAtMs! < 60_000);
  t.true(await isServedThere(caller), 'and served there from then on');
});

test.serial("A134, C1: a further listener has the engine's time", async (t) => {
  const server = await shared();
  const { engine } = server.paperbook;
  const caller = await server.newcomer();
  t.true(await isServedThere(caller));
  const [id] = server.instrumentIds as [string];
  for (let n = 1; n <= 5; n++) {
    const atMs = engine.nowMs() + 777;
    engine.tick({ kind: 'heartbeat', atMs, source: 0 });
    const { text } = await caller.further.ask('GET', `/v1/quotes?ids=${id}`);
    t.is(JSON.parse(text).asOf, new Date(atMs).toISOString());
  }
});

test.serial('A133: metrics count the requests of all listeners', async (t) => {
  const server = await shared();
  const { paperbook, adminToken } = server;
  const caller = await server.newcomer();
  const { main, further } = caller;
  t.true(await isServedThere(caller));
  const count = async () => {
    const headers = { authorization: `Bearer ${adminToken}` };
    const text = await (await fetch(`${paperbook.adminUrl}/metrics`, { headers })).text();
    const line = /requests_total\{method="GET",route="\/portfolio",status="200"\} (\d+)/;
    return Number(line.exec(text)?.[1]);
  };
  let before = await count();
  // Once it stays, all earlier requests are counted.
  for (let now = -1; now !== before; ) {
    now = before;
    await sleep(500);
    before = await count();
  }
  for (let n = 0; n < 10; n++) {
    await main.ask('GET', '/v1/portfolio');
    await further.ask('GET', '/v1/portfolio');
  }
  for (let waits = 0; waits < 100 && (await count()) < before + 20; waits++) await sleep(100);
  t.is(await count(), before + 20);
});

test.serial('J45, J18: the stream is the same over every listener', async (t) => {
  const server = await shared();
  const { instrumentIds, paperbook, origin } = server;
  const { main, token } = await server.newcomer();
  const [id] = instrumentIds as [string];
  const port = Number(new URL(origin).port);
  const channel = `quotes:${id}`;
  const clients = await Promise.all(
    Array.from({ length: 8 }, (_, n) =>
      openStream(t, port, { token, ...(n % 2 === 0 ? {} : { protocol: 'msgpack' as const }) }),
    ),
  );
  for (const client of clients) {
    t.is((await client.ask({ op: 'subscribe', channels: [channel] })).status, 200);
    t.like(await client.next(), { channel, snapshot: true });
  }
  paperbook.engine.tick(quoteTick({ atMs: NOON_MS + 1, yesBidCents: 20, yesAskCents: 22 }));
  const changes = await Promise.all(clients.map((client) => client.next()));
  for (const change of changes) t.deepEqual(change, changes[0]);
  const limit = { type: 'limit', limitPriceCents: 1 };
  for (const [n, client] of clients.entries()) {
    await client.ask({ op: 'subscribe', channels: [], cancelOnDisconnect: true });
    const order = buy(id, `streamed-${n}`, limit);
    const { status, body } = await client.ask({ op: 'place', order });
    t.is(status, 200, JSON.stringify(body));
  }
  const open = async () => {
    const { text } = await main.ask('GET', '/v1/portfolio');
    return JSON.parse(text).ordersCount;
  };
  t.is(await open(), 8);
  for (const client of clients.slice(0, 7)) client.close();
  while ((await open()) > 1) await sleep(20);
  t.is(await open(), 1, 'the orders of a connection that ended');
});

test.serial('A135, J18: a listener that fails comes back, while the others serve', async (t) => {
  const server = await shared();
  const { origin, instrumentIds, errors, paperbook } = server;
  t.deepEqual(errors, []);
  paperbook.engine.tick(quoteTick({ atMs: paperbook.engine.nowMs() + 1 }));
  const [id] = instrumentIds as [string];
  const caller = await server.newcomer();
  const { main, further, token } = caller;
  t.true(await isServedThere(caller));
  const port = Number(new URL(origin).port);
  const clients = await Promise.all(
    Array.from({ length: 14 }, () => openStream(t, port, { token })),
  );
  const ended = new Set<number>();
  for (const [n, client] of clients.entries()) void client.closed.then(() => ended.add(n));
  const order = { body: buy(id, 'before') };
  t.is((await further.ask('POST', '/v1/portfolio/orders', order)).status, 200);
  const resting = 8;
  for (const [n, client] of clients.slice(0, resting).entries()) {
    await client.ask({ op: 'subscribe', channels: [], cancelOnDisconnect: true });
    const rests = buy(id, `rests-${n}`, { type: 'limit', limitPriceCents: 1 });
    t.is((await client.ask({ op: 'place', order: rests })).status, 200);
  }
  let isServing = true;
  const served = (async () => {
    for (; isServing; await sleep(5)) {
      const { status } = await main.ask('GET', '/v1/portfolio');
      if (status !== 200) return status;
    }
    return 200;
  })();
  writeFileSync(FAIL, '');
  while (errors.length === 0) await sleep(10);
  t.regex(errors[0]!, /listener 1 failed.*planted/);
  // Some of so many connections are of the listener that has failed.
  await Promise.race(clients.map(({ closed }) => closed));
  await sleep(200);
  const left = Array.from({ length: resting }, (_, n) => n).filter((n) => !ended.has(n)).length;
  const { text } = await main.ask('GET', '/v1/portfolio');
  t.is(JSON.parse(text).ordersCount, left, 'J18: and the orders of its connections end');
  const next = await bothOf(t, origin, token);
  const again = await next.further.ask('POST', '/v1/portfolio/orders', { ...order, token });
  t.true(JSON.parse(again.text).replayed, 'nothing that was answered is lost');
  isServing = false;
  t.is(await served, 200);
  t.deepEqual((await server.audit()).problems, []);
});

test.serial('A65, A136: a stopping server answers what all listeners have under way', async (t) => {
  const server = await limited();
  const { instrumentIds, paperbook } = server;
  const [id] = instrumentIds as [string];
  const caller = await server.newcomer();
  const { main, further } = caller;
  t.true(await isServedThere(caller));
  const another = await server.newcomer();
  t.true(await isServedThere(another));
  let closing: Promise<void> | null = null;
  const meanwhile = async () => {
    closing ??= paperbook.close();
    await sleep(200);
  };
  const here = main.ask('POST', '/v1/portfolio/orders', { body: buy(id, 'here'), meanwhile });
  const there = further.ask('POST', '/v1/portfolio/orders', { body: buy(id, 'there'), meanwhile });
  const preview = { body: buy(id, 'seen'), meanwhile };
  const relayed = another.further.ask('POST', '/v1/portfolio/orders/preview', preview);
  t.is((await here).status, 200);
  t.is((await there).status, 200);
  t.is((await relayed).status, 200);
  await closing;
  await t.throwsAsync(further.ask('GET', '/v1/portfolio'));
});

test.serial('G13, G8: a port that listeners share is of one server', async (t) => {
  const { origin } = await shared();
  const { port } = new URL(origin);
  for (const listeners of variantsOfRun(['2', '1'])) {
    const env = { PAPERBOOK_PORT: port, PAPERBOOK_LISTENERS: listeners };
    await t.throwsAsync(startWhole(t, env), { message: new RegExp(`PORT ${port} is in use`) });
  }
  const bad = { PAPERBOOK_LISTENERS: '0' };
  await t.throwsAsync(startWhole(t, bad), { message: /LISTENERS.* whole number from 1 to 64/ });
});
