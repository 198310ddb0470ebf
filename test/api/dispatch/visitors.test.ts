/** Calls without a credential, while visitors may read what is public. */
import test from 'ava';
import { CATALOG } from '../../engine/fixtures.ts';
import { CoreEngine } from '../core-engine.ts';
import { openStream } from '../stream-client.ts';
import { type Api, type Json, startApi } from '../support.ts';

const PUBLIC = { PAPERBOOK_PUBLIC_PAGE: 'on', PAPERBOOK_VENUE_DATA: 'on' };
const NOBODY = { token: null } as const;
/** Every call for keys that visitors may make. */
const PUBLIC_ROUTES = [
  ...['/eval', '/games', '/games/{ref}', '/history', '/history/candles', '/instruments'],
  ...['/instruments/search', '/instruments/{ref}', '/instruments/{ref}/book'],
  ...['/instruments/{ref}/quote', '/leaderboard', '/quotes', '/stream', '/traders/{traderId}'],
  ...['/traders/{traderId}/picks', '/traders/{traderId}/track-record'],
];

/** The description is of callers with a credential, so answers are not held against it. */
async function ask({ baseUrl }: Api, method: string, path: string, headers = {}) {
  const response = await fetch(baseUrl + path, { method, headers });
  const text = await response.text();
  const json: Json = text === '' ? null : JSON.parse(text);
  return { status: response.status, headers: response.headers, json };
}

test('A161: a visitor reads what is public and nothing else, and nothing where the variable is off', async (t) => {
  const open = await startApi(t, { env: PUBLIC, catalog: CATALOG, engine: new CoreEngine() });
  const shut = await startApi(t, { catalog: CATALOG, engine: new CoreEngine() });
  const read: string[] = [];
  for (const { method, path, access } of open.routes) {
    if (access === 'open') continue;
    const place = path.replace(/\{\w+\}/, 'otters');
    const { status } = await ask(open, method, place);
    if (status !== 401) read.push(path);
    t.is((await ask(shut, method, place)).status, 401, `${method} ${path}`);
  }
  t.deepEqual(read.sort(), [...PUBLIC_ROUTES].sort());
  t.is((await ask(open, 'GET', '/games')).status, 200);
  const wrong = await ask(open, 'GET', '/games', { 'x-service-key': 'svc_sk_wrong' });
  t.is(wrong.status, 401, 'a wrong credential is no visitor');
});

test('A161: the switch holds for visitors too', async (t) => {
  const env = { ...PUBLIC, PAPERBOOK_VENUE_DATA: 'off' };
  const api = await startApi(t, { env, catalog: CATALOG, engine: new CoreEngine() });
  const { id } = CATALOG.instruments[0]!;
  const { status, json } = await ask(api, 'GET', `/quotes?ids=${id}`);
  t.is(status, 403);
  t.is(json.error.code, 'venue_data_off');
});

test('A161: the stream has quotes and games for a visitor, of its own origin, and no account', async (t) => {
  const api = await startApi(t, { env: PUBLIC, catalog: CATALOG, engine: new CoreEngine() });
  const stream = await openStream(t, api.port, NOBODY);
  const { id } = CATALOG.instruments[0]!;
  const channels = [`quotes:${id}`, 'games'];
  t.like(await stream.ask({ op: 'subscribe', channels }), { status: 200 });
  const first = [(await stream.next()).channel, (await stream.next()).channel];
  t.deepEqual(first.sort(), [...channels].sort());
  t.like(await stream.ask({ op: 'cancel_all' }), { status: 401 });
  stream.send({ op: 'subscribe', channels: ['orders'] });
  t.like(await stream.closed, { code: 4401 });
  const headers = { origin: 'https://elsewhere.example' };
  await t.throwsAsync(openStream(t, api.port, { ...NOBODY, headers }), {
    message: 'the handshake was refused',
  });
});

test('A162: requests of visitors count by network, and over 60 a minute are refused if limits are enforced', async (t) => {
  const env = { ...PUBLIC, PAPERBOOK_LIMITS_ENFORCED: 'on', PAPERBOOK_BEHIND_TLS_PROXY: 'on' };
  const nowMs = Date.now();
  const api = await startApi(t, { env, catalog: CATALOG, nowMs: () => nowMs });
  const askFrom = (address: string) => ask(api, 'GET', '/games', { 'x-forwarded-for': address });
  for (let left = 59; left >= 0; left--) {
    const { status, headers } = await askFrom('192.0.2.7');
    t.is(status, 200);
    t.is(headers.get('ratelimit-remaining'), String(left));
  }
  const refused = await askFrom('192.0.2.7');
  t.is(refused.status, 429);
  t.is(refused.json.error.code, 'rate_limited');
  t.is((await askFrom('192.0.2.8')).status, 200, 'another network has its own');
  t.is((await api.call('GET', '/games')).status, 200, 'and so has an account');
});
