import test from 'ava';
import { tagOf } from '../../../../api/base/cursors.ts';
import { cursorOf, ROW_ID } from '../../../../engine/base/cursors.ts';
import { ok } from '../../fake-engine.ts';
import { IDS, NOW_MS, sampleOrders, samplePortfolio, sampleTrades } from '../../samples.ts';
import { startApi } from '../../support.ts';

const ID = '0195d3a0-0000-7000-8000-000000000001';

test('A40: the engine`s text is the answer, untouched', async (t) => {
  const api = await startApi(t);
  const texts = {
    '/portfolio': JSON.stringify(samplePortfolio, null, 1),
    '/portfolio/trades': JSON.stringify(sampleTrades, null, 1),
    '/portfolio/orders': JSON.stringify(sampleOrders, null, 1),
  };
  for (const [path, body] of Object.entries(texts)) {
    api.engine.reply = async () => ({ ok: true, body });
    const answer = await api.call('GET', path);
    t.is(answer.text, body);
    t.is(answer.headers.get('content-type'), 'application/json');
    t.is(answer.headers.get('cache-control'), 'no-store');
  }
});

test('P2: limits, statuses and cursors reach the engine', async (t) => {
  const api = await startApi(t);
  const ofVoid = tagOf('trades', { status: 'void' });
  const ofResting = tagOf('orders', { status: 'resting' });
  await api.call('GET', '/portfolio');
  await api.call('GET', '/portfolio/trades');
  await api.call(
    'GET',
    `/portfolio/trades?limit=200&status=void&cursor=${cursorOf(ofVoid, ID, ROW_ID)}`,
  );
  await api.call('GET', '/portfolio/orders');
  await api.call(
    'GET',
    `/portfolio/orders?limit=1&status=resting&cursor=${cursorOf(ofResting, ID, ROW_ID)}`,
  );
  const common = { atMs: NOW_MS, account: api.user.id, organizationSlug: null };
  const first = { ...common, status: null, limit: 50, before: null };
  t.deepEqual(api.engine.requests, [
    { kind: 'portfolio', ...common },
    { kind: 'trades', ...first, tag: tagOf('trades', {}) },
    { kind: 'trades', ...common, status: 'void', limit: 200, before: ID, tag: ofVoid },
    { kind: 'orders', ...first, tag: tagOf('orders', {}) },
    { kind: 'orders', ...common, status: 'resting', limit: 1, before: ID, tag: ofResting },
  ]);
  t.deepEqual(api.engine.accounts, Array(5).fill(api.user.id));
});

test('A79: filters reach the engine, and bad ones are 400', async (t) => {
  const api = await startApi(t);
  const from = '2026-11-20';
  const to = '2026-11-21T04:00:00Z';
  const common = `from=${from}&to=${encodeURIComponent(to)}`;
  await api.call('GET', `/portfolio/orders?instrumentId=${IDS.lions}&idempotencyKey=a/b&${common}`);
  await api.call('GET', `/portfolio/trades?${common}`);
  const fromMs = Date.parse('2026-11-20T00:00:00Z');
  const times = { fromMs, toMs: Date.parse(to) };
  const only = { instrumentId: IDS.lions, idempotencyKey: 'a/b', ...times };
  t.like(api.engine.requests, [
    { kind: 'orders', only },
    { kind: 'trades', only: { instrumentId: null, idempotencyKey: null, ...times } },
  ]);
  const bad: [query: string, message: string][] = [
    ['instrumentId=lions', 'instrumentId must be ins_ and 12 characters of 0-9A-HJKMNP-TV-Z'],
    ['from=yesterday', 'from must be a date or a date-time with a zone'],
    ['to=2026-02-30', 'to must be a date or a date-time with a zone'],
  ];
  for (const list of ['orders', 'trades']) {
    for (const [query, message] of bad) {
      const answer = await api.call('GET', `/portfolio/${list}?${query}`);
      t.deepEqual(answer.json.error, { code: 'invalid_request', message });
    }
  }
  const unknown = await api.call('GET', '/portfolio/trades?idempotencyKey=a');
  t.is(unknown.json.error.message, 'unknown query parameter "idempotencyKey"');
});

test('P2, P3: bad cursors and limits are 400', async (t) => {
  const api = await startApi(t);
  const bad: [query: string, message: string][] = [
    ['limit=0', 'limit must be at least 1'],
    ['limit=201', 'limit must be at most 200'],
    ['limit=ten', 'limit must be an integer'],
    ['cursor=', 'cursor must not be empty'],
    ['cursor=nonsense', 'cursor is malformed, or of another query'],
    [`cursor=${'A'.repeat(23)}`, 'cursor is malformed, or of another query'],
    [`cursor=${'A'.repeat(300)}`, 'cursor must have at most 256 characters'],
  ];
  for (const path of ['/portfolio/trades', '/portfolio/orders']) {
    for (const [query, message] of bad) {
      const answer = await api.call('GET', `${path}?${query}`);
      t.is(answer.status, 400, query);
      t.is(answer.json.error.message, message);
    }
  }
  const orders = cursorOf(tagOf('orders', {}), ID, ROW_ID);
  const mixed = await api.call('GET', `/portfolio/trades?cursor=${orders}`);
  t.is(
    mixed.json.error.message,
    'cursor is malformed, or of another query',
    'a cursor of the other list',
  );
  t.deepEqual(api.engine.requests, []);
});

test('A41, A42, S8, T24: statuses of trades and of orders', async (t) => {
  const api = await startApi(t);
  for (const status of ['open', 'closed', 'settled', 'void']) {
    t.is((await api.call('GET', `/portfolio/trades?status=${status}`)).status, 200);
  }
  for (const status of ['resting', 'executed', 'canceled', 'expired']) {
    t.is((await api.call('GET', `/portfolio/orders?status=${status}`)).status, 200);
  }
  t.is((await api.call('GET', '/portfolio/trades?status=resting')).status, 400);
  t.is((await api.call('GET', '/portfolio/orders?status=open')).status, 400);
});

test('A40: one account`s key reads that account only', async (t) => {
  const api = await startApi(t);
  api.engine.reply = async () => ok(samplePortfolio);
  const token = await api.addKey({ scopes: ['portfolio:read'] });
  await api.call('GET', '/portfolio', { token });
  await api.call('GET', '/portfolio');
  const other = [...api.store.users.values()].at(-1)!;
  t.not(other.id, api.user.id);
  t.deepEqual(api.engine.accounts, [other.id, api.user.id]);
});
