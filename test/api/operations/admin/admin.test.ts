import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { ensureAdminToken } from '../../../../api/identity/admin-token.ts';
import { ACCOUNT_LIMITS, KEY_LIMITS } from '../../../../engine/rules/trade-limits.ts';
import { feed } from '../../feed-status.ts';
import { NOW_MS } from '../../samples.ts';
import { type Api, startApi } from '../../support.ts';

const ADMIN_ROUTES: [method: string, path: string, body?: object][] = [
  ['GET', '/admin/users'],
  ['POST', '/admin/users', { email: 'a@example.com' }],
  ['PATCH', '/admin/users/0195d3a0-0000-7000-8000-000000000001', { plan: 'desk' }],
  ['GET', '/admin/keys'],
  ['POST', '/admin/keys', { userId: '0195d3a0-0000-7000-8000-000000000001' }],
  ['DELETE', '/admin/keys/0195d3a0-0000-7000-8000-000000000001'],
  ['GET', '/admin/organizations'],
  ['POST', '/admin/organizations', { slug: 'acme', name: 'Acme' }],
  ['PATCH', '/admin/organizations/0195d3a0-0000-7000-8000-000000000001', { name: 'Acme' }],
  ['PUT', '/admin/organizations/0195d3a0-0000-7000-8000-000000000001/members', {}],
  ['DELETE', '/admin/organizations/0195d3a0-0000-7000-8000-000000000001/members'],
  ['GET', '/admin/venue-keys'],
  ['PUT', '/admin/venue-keys', {}],
  ['DELETE', '/admin/venue-keys'],
  ['GET', '/admin/venue-data'],
  ['PUT', '/admin/venue-data', { on: true }],
  ['GET', '/admin/trading'],
  ['PUT', '/admin/trading', { on: false }],
  ['GET', '/admin/clock'],
  ['PUT', '/admin/clock', { acceptMachine: true }],
  ['POST', '/admin/settlements', { market: 'T-LIONS', result: 'yes' }],
  ['POST', '/admin/adjustments', { userId: '0195d3a0-0000-7000-8000-000000000001', dollars: 1 }],
  ['GET', '/admin/audit'],
  ['GET', '/admin/feeds'],
  ['GET', '/admin/discovery'],
  ['POST', '/admin/discovery'],
  ['GET', '/admin/shards'],
  ['GET', '/admin/problems'],
];

test('O1, admin port: every /admin route needs the admin token', async (t) => {
  const api = await startApi(t);
  for (const token of [null, 'nonsense', api.token, api.adminToken.slice(1)]) {
    for (const [method, path, body] of ADMIN_ROUTES) {
      const answer = await api.admin(method, path, { token, body });
      t.is(answer.status, 401, `${method} ${path}`);
      t.is(answer.json.error.code, 'unauthorized');
    }
  }
  t.is([...api.store.users.values()].length, 1);
  t.true(api.switches.trading);
});

test('O1: the admin routes are not on the public listener', async (t) => {
  const api = await startApi(t);
  const origin = new URL(api.baseUrl).origin;
  for (const path of ['/admin/users', '/v1/admin/users', '/healthz', '/metrics']) {
    const headers = { authorization: `Bearer ${api.adminToken}` };
    t.is((await fetch(origin + path, { headers })).status, 404, path);
  }
  t.is(new URL(api.adminUrl).hostname, '127.0.0.1');
});

test('O11: the token file is made once, for its owner only', async (t) => {
  const api = await startApi(t);
  t.is(ensureAdminToken(api.dataDir), api.adminToken);
  t.is(statSync(join(api.dataDir, 'admin.token')).mode & 0o777, 0o600);
});

test('a first start that crashed while it wrote the admin token does not stop the next one', async (t) => {
  const api = await startApi(t);
  const file = join(api.dataDir, 'admin.token');
  writeFileSync(file, '');
  const made = ensureAdminToken(api.dataDir);
  t.true(made.length >= 32);
  t.is(ensureAdminToken(api.dataDir), made);
  writeFileSync(file, 'short');
  t.throws(() => ensureAdminToken(api.dataDir), { message: /does not hold an admin token/ });
});

test('O3, O4: /healthz always answers, /readyz says whether the engine takes requests', async (t) => {
  const api = await startApi(t);
  t.is((await api.admin('GET', '/readyz', { token: null })).status, 200);
  for (const state of ['starting', 'stopping'] as const) {
    api.engine.currentState = state;
    t.is((await api.admin('GET', '/healthz', { token: null })).status, 200);
    const ready = await api.admin('GET', '/readyz', { token: null });
    t.is(ready.status, 503);
    t.is(ready.json.error.message, `The engine is ${state}.`);
    t.is(ready.headers.get('retry-after'), '1');
  }
  const well = await api.admin('GET', '/healthz', { token: null });
  t.deepEqual(well.json, { ok: true, problems: [] });
  api.engine.currentState = 'degraded';
  api.engine.currentProblems = ['shard 0: no space left'];
  const { json } = await api.admin('GET', '/readyz', { token: null });
  t.is(json.error.message, 'The engine is degraded. shard 0: no space left');
  const health = await api.admin('GET', '/healthz', { token: null });
  t.is(health.status, 200);
  t.deepEqual(health.json, { ok: false, problems: ['shard 0: no space left'] });
});

test('O4: /readyz stays 200 while feeds are down, and lists them', async (t) => {
  const api = await startApi(t);
  const ready = async () => (await api.admin('GET', '/readyz', { token: null })).json;
  const unquoted = { count: 0, markets: [] };
  t.deepEqual(await ready(), { ok: true, state: 'ready', problems: [], feeds: [], unquoted });
  const open = feed('ws://127.0.0.1:1/secret');
  const counts = { ...open.counts, opens: 0 };
  const state = { state: 'waiting', downSinceMs: open.sinceMs } as const;
  const down = { ...open, ...state, lastProblem: 'ECONNREFUSED', counts };
  api.setFeeds([open, down]);
  t.deepEqual(await ready(), {
    ok: true,
    state: 'ready',
    problems: [],
    feeds: [
      {
        venue: 'venue_a',
        adapter: 'native',
        host: '127.0.0.1:1',
        state: 'waiting',
        since: '2026-11-21T05:00:00.000Z',
        hasConnected: false,
        lastProblem: 'ECONNREFUSED',
      },
    ],
    unquoted: { count: 2, markets: ['venue_a/T', 'venue_a/T'] },
  });
});

test('O4: /readyz names the first twenty markets without a quote, and counts all', async (t) => {
  const api = await startApi(t);
  const markets = (from: number) =>
    new Map(Array.from({ length: 15 }, (_, at) => [`T${from + at}`, NOW_MS] as const));
  api.setFeeds([
    { ...feed('ws://a/'), unquoted: markets(0) },
    { ...feed('ws://b/'), venue: 'venue_b', unquoted: markets(15) },
  ]);
  const { unquoted } = (await api.admin('GET', '/readyz', { token: null })).json;
  t.is(unquoted.count, 30);
  t.is(unquoted.markets.length, 20);
  t.deepEqual(unquoted.markets.slice(14, 16), ['venue_a/T14', 'venue_b/T15']);
  const { feeds } = (await api.admin('GET', '/admin/feeds')).json;
  t.deepEqual([feeds[0].unquoted, feeds[0].unquotedMarkets.length], [15, 15]);
});

test('O4: /readyz stays 200 with problems and lists them', async (t) => {
  const api = await startApi(t);
  api.engine.currentProblems = ['feed 0: not open'];
  const ready = await api.admin('GET', '/readyz', { token: null });
  t.is(ready.status, 200);
  t.like(ready.json, { ok: true, state: 'ready', problems: ['feed 0: not open'], feeds: [] });
  api.engine.currentProblems = [];
  const health = await api.admin('GET', '/healthz', { token: null });
  t.deepEqual(health.json, { ok: true, problems: [] });
});

test('O5: /metrics counts requests by route and status in the Prometheus text format', async (t) => {
  const api = await startApi(t);
  await api.call('GET', '/status');
  await api.call('GET', '/status');
  await api.call('GET', '/portfolio', { token: null });
  await api.call('GET', '/nowhere');
  api.setFeeds([feed('ws://127.0.0.1:1/')]);
  const { text, headers } = await api.admin('GET', '/metrics', { token: null });
  t.is(headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8');
  const lines = text.split('\n');
  const total = 'paperbook_http_requests_total';
  t.true(lines.includes(`${total}{method="GET",route="/status",status="200"} 2`));
  t.true(lines.includes(`${total}{method="GET",route="/portfolio",status="401"} 1`));
  t.true(lines.includes(`${total}{method="",route="",status="404"} 1`));
  t.true(lines.includes('paperbook_engine_ready 1'));
  t.true(/^paperbook_feed_books\{.*\} 3$/m.test(text));
  for (const line of lines.slice(0, -1)) {
    t.regex(line, /^(# (HELP|TYPE) \w+ .+|\w+(\{.*\})? [\d.e+-]+)$/);
  }
});

test('O6, admin user: created, changed, listed', async (t) => {
  const api = await startApi(t);
  const input = { email: 'New@Example.com', displayName: 'Newcomer', plan: 'desk' };
  const { user } = (await api.admin('POST', '/admin/users', { body: input })).json;
  t.like(user, { email: 'new@example.com', displayName: 'Newcomer', plan: 'desk', private: true });
  const changed = await api.admin('PATCH', `/admin/users/${user.id}`, { body: { plan: 'none' } });
  t.deepEqual(changed.json.user, { ...user, plan: 'none' });
  const { users } = (await api.admin('GET', '/admin/users')).json;
  t.deepEqual(users[0], changed.json.user);

  const refusals: [body: object, message: string][] = [
    [{}, 'email is required'],
    [{ email: 'nonsense' }, 'email must be an email address'],
    [{ email: 'NEW@example.com' }, 'email is used by another user'],
    [
      { email: 'x@example.com', displayName: 'newcomer' },
      'displayName is used by another user, or looks like a used name',
    ],
    [{ email: 'x@example.com', displayName: 'x' }, 'displayName must have at least 2 characters'],
    [
      { email: 'x@example.com', plan: 'gold' },
      'plan must be one of none, basic, builder, desk, enterprise',
    ],
    [{ email: 'x@example.com', admin: true }, 'unknown field "admin"'],
  ];
  for (const [body, message] of refusals) {
    const answer = await api.admin('POST', '/admin/users', { body });
    t.is(answer.status, 400, message);
    t.is(answer.json.error.message, message);
  }
  const nobody = '/admin/users/0195d3a0-0000-7000-8000-000000000001';
  t.is((await api.admin('PATCH', nobody, { body: { plan: 'desk' } })).status, 404);
  const taken = await api.admin('PATCH', `/admin/users/${user.id}`, {
    body: { displayName: 'OWNER' },
  });
  t.is(taken.json.error.message, 'displayName is used by another user, or looks like a used name');
});

test('Q12: only an account of plan enterprise is given limits of its own', async (t) => {
  const api = await startApi(t);
  const email = 'new@example.com';
  const wide = { newPerMinute: 9, newPerDay: 9, closingPerMinute: 9 };
  const own = {
    tradeLimits: { key: wide, account: wide },
    requestLimits: { perMinute: 9, perMonth: 9 },
  };
  const change = (id: string, body: object) => api.admin('PATCH', `/admin/users/${id}`, { body });
  for (const [field, value] of Object.entries(own)) {
    const message = (plan: string) =>
      `${field} are for accounts of plan enterprise, not of plan ${plan}`;
    const made = await api.admin('POST', '/admin/users', { body: { email, [field]: value } });
    t.is(made.status, 400);
    t.is(made.json.error.message, message('none'));
    const changed = await change(api.user.id, { [field]: value });
    t.is(changed.status, 400);
    t.is(changed.json.error.message, message('basic'));
    t.is((await change(api.user.id, { [field]: null })).status, 200);
  }
  const body = { email, plan: 'enterprise', ...own };
  const { user } = (await api.admin('POST', '/admin/users', { body })).json;
  t.like(user, own);
  const leaving = await change(user.id, { plan: 'desk', requestLimits: { perMinute: 1 } });
  t.regex(leaving.json.error.message, /^requestLimits are for .* not of plan desk$/);
  t.like((await change(user.id, { plan: 'desk' })).json.user, { plan: 'desk', ...own });
});

test('Q12: PATCH /admin/users changes only the limits that it names', async (t) => {
  const api = await startApi(t);
  const change = async (body: object) => {
    const answer = await api.admin('PATCH', `/admin/users/${api.user.id}`, { body });
    const { tradeLimits, requestLimits } = answer.json.user;
    return { tradeLimits, requestLimits };
  };
  await change({ plan: 'enterprise' });
  const desk = { perMinute: 600, perMonth: 1_000_000 };
  t.deepEqual(await change({ requestLimits: { perMinute: 7 } }), {
    tradeLimits: null,
    requestLimits: { ...desk, perMinute: 7 },
  });
  const tradeLimits = { key: { ...KEY_LIMITS, newPerDay: 70 }, account: ACCOUNT_LIMITS };
  t.deepEqual(await change({ tradeLimits: { key: { newPerDay: 70 } } }), {
    tradeLimits,
    requestLimits: { ...desk, perMinute: 7 },
  });
  t.deepEqual(await change({ requestLimits: { perMonth: 8 }, tradeLimits: {} }), {
    tradeLimits,
    requestLimits: { perMinute: 7, perMonth: 8 },
  });
});

test('O6, admin key: made, used, listed, revoked', async (t) => {
  const api = await startApi(t);
  const userId = api.user.id;
  const body = { userId, label: '  my bot ', scopes: ['markets:read'], expiresInDays: 30 };
  const made = (await api.admin('POST', '/admin/keys', { body })).json;
  t.regex(made.token, /^svc_sk_[A-Za-z0-9_-]{43}$/);
  t.like(made.key, {
    userId,
    label: 'my bot',
    tokenPrefix: made.token.slice(0, 16),
    scopes: ['markets:read'],
    status: 'active',
    createdVia: 'cli',
  });
  const days = (Date.parse(made.key.expiresAt) - Date.parse(made.key.createdAt)) / 86_400_000;
  t.is(days, 30);
  t.is((await api.call('GET', '/me', { token: made.token })).status, 200);

  const { keys } = (await api.admin('GET', `/admin/keys?userId=${userId.toUpperCase()}`)).json;
  t.is(keys.length, 2);
  const other = '0195d3a0-0000-7000-8000-000000000001';
  t.deepEqual((await api.admin('GET', `/admin/keys?userId=${other}`)).json.keys, []);
  t.false(JSON.stringify(keys).includes(made.token), 'the token is shown once');

  const revoked = await api.admin('DELETE', `/admin/keys/${made.key.id}`);
  t.is(revoked.json.key.status, 'revoked');
  t.is((await api.call('GET', '/me', { token: made.token })).status, 401);
  t.is((await api.admin('DELETE', `/admin/keys/${made.key.id}`)).status, 404);
  t.is((await api.admin('POST', '/admin/keys', { body: { userId: other } })).status, 404);
  t.false(JSON.stringify(api.log).includes(made.token), 'no secret is logged');
});

test('I9: 10 active keys, whoever makes them', async (t) => {
  const api = await startApi(t);
  const body = { userId: api.user.id };
  const held = (await api.admin('GET', `/admin/keys?userId=${api.user.id}`)).json.keys.length;
  for (let count = held; count < 10; count++) {
    t.is((await api.admin('POST', '/admin/keys', { body })).status, 200);
  }
  const refused = await api.admin('POST', '/admin/keys', { body });
  t.is(refused.status, 409);
  t.is(refused.json.error.code, 'key_limit_reached');
});

test('I10: no trade:write while trading is off, of the operator either', async (t) => {
  const api = await startApi(t);
  await turn(api, '/admin/trading', false);
  const body = { userId: api.user.id, scopes: ['trade:write'] };
  const refused = await api.admin('POST', '/admin/keys', { body });
  t.is(refused.status, 403);
  t.is(refused.json.error.code, 'scope_not_available');
});

test('I9: default label, default scopes, bad input', async (t) => {
  const api = await startApi(t);
  const userId = api.user.id;
  const { key } = (await api.admin('POST', '/admin/keys', { body: { userId, label: '  ' } })).json;
  t.is(key.label, 'Untitled key');
  t.deepEqual(key.scopes, ['records:read', 'portfolio:read', 'markets:read']);
  t.is(key.expiresAt, null);
  const refusals: [body: object, message: RegExp][] = [
    [{ userId: 'x' }, /^userId must be a uuid$/],
    [{ userId, scopes: [] }, /^scopes must not be empty$/],
    [{ userId, scopes: ['markets:read', 'all'] }, /^scopes\[1\] must be one of records:read, /],
    [{ userId, expiresInDays: 366 }, /^expiresInDays must be at most 365$/],
    [{ userId, label: 'x'.repeat(65) }, /^label must have at most 64 characters$/],
  ];
  for (const [body, message] of refusals) {
    const answer = await api.admin('POST', '/admin/keys', { body });
    t.is(answer.status, 400);
    t.regex(answer.json.error.message, message);
  }
});

async function turn(api: Api, path: string, on: unknown) {
  return api.admin('PUT', path, { body: { on } });
}

test('O9, V1, PAPERBOOK_VENUE_DATA: the switch is turned live', async (t) => {
  const api = await startApi(t);
  t.deepEqual((await api.admin('GET', '/admin/venue-data')).json, { on: true });
  t.deepEqual((await turn(api, '/admin/venue-data', false)).json, { on: false });
  t.is((await api.call('GET', '/quotes?ids=x')).json.error.code, 'venue_data_off');
  t.deepEqual((await turn(api, '/admin/venue-data', true)).json, { on: true });
  t.is((await api.call('GET', '/quotes?ids=x')).status, 200);
  const switched = api.engine.broadcasts.map(({ venueData }) => venueData);
  t.deepEqual(switched, [true, false, true], 'the shards got it at the start and at each turn');
  t.like(api.engine.broadcasts[0], { kind: 'switches', atMs: NOW_MS, selfReset: false });
  t.is((await turn(api, '/admin/venue-data', 'on')).json.error.message, 'on must be a boolean');
});

test('O9, V6, PAPERBOOK_TRADING: the switch is turned live', async (t) => {
  const api = await startApi(t);
  t.deepEqual((await turn(api, '/admin/trading', false)).json, { on: false });
  t.false(api.switches.trading);
  t.deepEqual(api.store.switches(), { trading: false });
  t.deepEqual((await api.admin('GET', '/admin/trading')).json, { on: false });
});

test('O10: /admin/audit answers the engine`s report', async (t) => {
  const api = await startApi(t);
  api.engine.report = {
    accounts: 1,
    restingOrders: 0,
    openPositions: 0,
    following: [],
    problems: ['a hold'],
  };
  t.deepEqual((await api.admin('GET', '/admin/audit')).json, api.engine.report);
});

test('O27, O28, O29: what discovery found is shown, asked for, and counted', async (t) => {
  // Nothing listens there.
  const url = 'http://127.0.0.1:1/trade-api/v2?token=hushhush';
  const entry = { venue: 'venue_a', adapter: 'kalshi', url, series: ['KXA'] };
  const api = await startApi(t, { env: { PAPERBOOK_DISCOVER: JSON.stringify([entry]) } });
  const ran = (await api.admin('POST', '/admin/discovery')).json;
  t.like(ran, { discovered: 0, retired: 0 });
  const [shown] = (await api.admin('GET', '/admin/discovery')).json.entries;
  const { lastRunAt, runs, problem, ...rest } = shown;
  t.deepEqual(rest, {
    entry: 0,
    venue: 'venue_a',
    adapter: 'kalshi',
    url: 'http://127.0.0.1:1/trade-api/v2',
    series: ['KXA'],
    leagues: null,
    combos: false,
    everySeconds: 60,
    horizonHours: 168,
    isRunning: false,
    lastCompleteAt: null,
    found: 0,
    added: 0,
    changed: 0,
    joined: 0,
    apart: 0,
    apartGames: [],
    leftOut: {},
    incomplete: null,
  });
  t.true(runs >= 1 && Date.parse(lastRunAt) > 0);
  const problems = (await api.admin('GET', '/admin/problems')).json;
  t.true(problems.problems.includes(`discovery 0 of venue_a: ${problem}`));
  const { text } = await api.admin('GET', '/metrics');
  t.regex(text, /paperbook_discovery_failing\{entry="0",venue="venue_a"\} 1/);
  t.regex(text, /paperbook_discovered_instruments 0/);
  t.false(JSON.stringify([ran, problems, text]).includes('hushhush'));
});

test('O10: /admin/feeds shows every venue connection', async (t) => {
  const api = await startApi(t);
  t.deepEqual((await api.admin('GET', '/admin/feeds')).json, { feeds: [] });
  api.setFeeds([feed('ws://127.0.0.1:1/')]);
  t.deepEqual((await api.admin('GET', '/admin/feeds')).json.feeds, [
    {
      entry: 0,
      venue: 'venue_a',
      adapter: 'native',
      url: 'ws://127.0.0.1:1/',
      state: 'open',
      since: '2026-11-21T05:00:00.000Z',
      hasConnected: true,
      reconnects: 2,
      attempts: 0,
      frames: 7,
      gaps: 4,
      rejected: { 'not JSON': 5 },
      lagMs: 12,
      books: 3,
      subscribed: 9,
      unquoted: 1,
      unquotedMarkets: ['venue_a/T'],
      lastHeardAt: null,
      lastProblem: null,
      lastProblemAt: null,
      missedStatesProblem: null,
    },
  ]);
});

test('O22: the last problem of a feed has its time', async (t) => {
  const api = await startApi(t);
  const lastProblemMs = Date.UTC(2026, 10, 21, 4, 59);
  const over = { lastProblem: 'closed by the venue (1006)', lastProblemMs };
  api.setFeeds([feed('ws://127.0.0.1:1/', over)]);
  t.like((await api.admin('GET', '/admin/feeds')).json.feeds[0], {
    state: 'open',
    lastProblem: 'closed by the venue (1006)',
    lastProblemAt: '2026-11-21T04:59:00.000Z',
  });
});
