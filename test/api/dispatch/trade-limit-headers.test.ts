import test from 'ava';
import { AWAY, CATALOG, NOON_MS, quoteTick } from '../../engine/fixtures.ts';
import { CoreEngine } from '../core-engine.ts';
import { type Answer, type Api, startApi, TRADER_SCOPES } from '../support.ts';

const ORDERS = '/portfolio/orders';
const ID = '0195d3a0-0000-7000-8000-000000000001';

const buy = (idempotencyKey: string, over: object = {}) => ({
  ...{ action: 'buy', type: 'market', instrumentId: AWAY, side: 'yes', count: 1 },
  ...{ idempotencyKey, ...over },
});

/** The entries of a field that are not of the request limits. */
function entriesOf({ headers }: Answer, field: string): string {
  const entries = (headers.get(field) ?? '').split(', ');
  return entries.filter((entry) => !/^"(minute|month)"/.test(entry)).join(', ');
}

/** What is left, by policy. */
function leftOf(answer: Answer): Record<string, number> {
  const entries = entriesOf(answer, 'ratelimit').matchAll(/"([\w-]+)";r=(\d+);t=\d+/g);
  return Object.fromEntries(Array.from(entries, ([, name, left]) => [name!, Number(left)]));
}

const leftOfNew = (key: number, account = key + 10, day = key + 40) => ({
  ...{ 'key-minute': key, 'key-day': day },
  ...{ 'account-minute': account, 'account-day': account + 80 },
});
const leftOfClosing = (key: number) => ({
  'key-closing-minute': key,
  'account-closing-minute': key + 20,
});

async function start(t: Parameters<typeof startApi>[0]) {
  const engine = new CoreEngine();
  const api = await startApi(t, { engine, catalog: CATALOG });
  const place = (body: object, call: object = {}) => api.call('POST', ORDERS, { ...call, body });
  return { api, engine, place };
}

/** What the headers say is what GET /usage says. */
async function isInUsage(t: Parameters<typeof startApi>[0], api: Api, answer: Answer) {
  const { key, account } = (await api.call('GET', '/usage')).json.trading;
  t.deepEqual(leftOf(answer), {
    'key-minute': key.newPerMinute.remaining,
    'key-day': key.newPerDay.remaining,
    'account-minute': account.newPerMinute.remaining,
    'account-day': account.newPerDay.remaining,
  });
}

test('Q14, L13: an answer to an order has what is left of its trade limits', async (t) => {
  const { api, place } = await start(t);
  const first = await place(buy('k-1'));
  t.is(first.status, 200);
  t.is(
    entriesOf(first, 'ratelimit-policy'),
    '"key-minute";q=10;w=60, "key-day";q=50;w=86400, ' +
      '"account-minute";q=20;w=60, "account-day";q=100;w=86400',
  );
  t.is(
    entriesOf(first, 'ratelimit'),
    '"key-minute";r=9;t=60, "key-day";r=49;t=43200, ' +
      '"account-minute";r=19;t=60, "account-day";r=99;t=43200',
  );
  t.regex(first.headers.get('ratelimit-policy')!, /, "minute";q=60;w=60, "month";/);
  await isInUsage(t, api, first);
  const replayed = await place(buy('k-1'));
  t.true(replayed.json.replayed);
  t.deepEqual(leftOf(replayed), leftOfNew(9), 'a replay does not count');
  const moved = await place(buy('k-2', { maxPriceCents: 1 }));
  t.is(moved.json.error.code, 'price_moved');
  t.deepEqual(leftOf(moved), leftOfNew(8), 'a refusal counts');
  const reused = await place(buy('k-1', { count: 2 }));
  t.is(reused.json.error.code, 'idempotency_key_reused');
  t.deepEqual(leftOf(reused), leftOfNew(7));
  for (let left = 6; left >= 0; left--) {
    t.deepEqual(leftOf(await place(buy(`k-${10 + left}`))), leftOfNew(left));
  }
  const over = await place(buy('k-20'));
  t.is(over.status, 429);
  t.deepEqual(leftOf(over), leftOfNew(0), 'a 429 does not count');
  await isInUsage(t, api, over);
  await api.switches.set('trading', false);
  const off = await place(buy('k-21'));
  t.is(off.json.error.code, 'trading_off');
  t.deepEqual(leftOf(off), leftOfNew(0));
});

test('Q14: t runs to the end of the window at the time of the engine', async (t) => {
  const { engine, place } = await start(t);
  engine.tick(quoteTick({ atMs: NOON_MS + 12_400 }));
  const answer = await place(buy('k-1'));
  t.regex(entriesOf(answer, 'ratelimit'), /^"key-minute";r=9;t=48, "key-day";r=49;t=43188, /);
});

test('Q14, L2: sells and cancels have the limits of sells and cancels', async (t) => {
  const { api, place } = await start(t);
  const { tradeId } = (await place(buy('k-1'))).json.trade;
  const sold = await place({ action: 'sell', type: 'market', tradeId, idempotencyKey: 'k-2' });
  t.is(sold.status, 200);
  t.is(
    entriesOf(sold, 'ratelimit-policy'),
    '"key-closing-minute";q=20;w=60, "account-closing-minute";q=40;w=60',
  );
  t.deepEqual(leftOf(sold), leftOfClosing(19));
  const unknown = await api.call('DELETE', `${ORDERS}/${ID}`);
  t.is(unknown.status, 404);
  t.deepEqual(leftOf(unknown), leftOfClosing(18));
  const resting = await place(buy('k-3', { type: 'limit', limitPriceCents: 2 }));
  t.deepEqual(leftOf(resting), leftOfNew(8), 'they are apart from those of new orders');
  const all = await api.call('DELETE', ORDERS);
  t.is(all.json.count, 1);
  t.deepEqual(leftOf(all), leftOfClosing(17));
  const none = await api.call('DELETE', `${ORDERS}?instrumentId=ins_000000000000`);
  t.is(none.json.error.code, 'instrument_not_found');
  t.deepEqual(leftOf(none), leftOfClosing(16));
});

test('Q14: a batch has the headers of its last order that the engine has answered', async (t) => {
  const { api } = await start(t);
  const orders = [buy('k-1'), buy('k-2'), buy('k-3', { count: 0 })];
  const answer = await api.call('POST', `${ORDERS}/batch`, { body: { orders } });
  t.deepEqual(leftOf(answer), leftOfNew(8));
  const bad = await api.call('POST', `${ORDERS}/batch`, { body: { orders: [{}] } });
  t.is(bad.json.results[0].status, 400);
  t.deepEqual(leftOf(bad), {});
});

test('Q14: what the engine is not asked, and reads, have none', async (t) => {
  const { api, place } = await start(t);
  const key = await api.addKey({ scopes: TRADER_SCOPES!.slice(0, 3) });
  for (const answer of [
    await place({}),
    await place(buy('k-1'), { token: key }),
    await place(buy('k-1', { execution: 'venue_c' })),
    await api.call('GET', ORDERS),
    await api.call('POST', `${ORDERS}/preview`, { body: buy('k-1') }),
  ]) {
    t.deepEqual(leftOf(answer), {}, answer.text);
    t.is(entriesOf(answer, 'ratelimit-policy'), '');
  }
});

test('Q14, L9: accounts with limits of their own have their own numbers', async (t) => {
  const { api, place } = await start(t);
  const own = await api.addKey({ scopes: TRADER_SCOPES! }, 'enterprise');
  const user = [...api.store.users.values()].at(-1)!;
  const key = { newPerMinute: 1, newPerDay: 0, closingPerMinute: 2 };
  const account = { newPerMinute: 300, newPerDay: 1_000_000_000, closingPerMinute: 4 };
  await api.store.changeUser(user.id, { tradeLimits: { key, account } });
  for (const round of [1, 2]) {
    const refused = await place(buy(`k-${round}`), { token: own });
    t.is(refused.status, 429);
    t.is(
      entriesOf(refused, 'ratelimit-policy'),
      '"key-minute";q=1;w=60, "key-day";q=0;w=86400, ' +
        '"account-minute";q=300;w=60, "account-day";q=1000000000;w=86400',
    );
    t.deepEqual(leftOf(await place(buy(`k-${round}`))), leftOfNew(10 - round));
  }
});
