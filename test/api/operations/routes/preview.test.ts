import test from 'ava';
import { IDS, NOW_MS } from '../../samples.ts';
import { startApi } from '../../support.ts';

const PATH = '/portfolio/orders/preview';
const BUY = { action: 'buy', type: 'market', instrumentId: IDS.lions, side: 'yes', count: 10 };
const LIMIT = { ...BUY, type: 'limit', limitPriceCents: 30 };
const FILL = { priceCents: 43, contracts: 10, venue: 'venue_a' };

test('A75: what an order would do, and nothing is placed', async (t) => {
  const api = await startApi(t);
  const preview = async (body: object) => (await api.call('POST', PATH, { body })).json;
  const common = { quoteAgeMs: 0, latencyMs: null, mode: 'paper' };
  t.deepEqual(await preview(BUY), {
    would: 'execute',
    fills: [FILL],
    costDollars: 4.3,
    holdDollars: 0,
    feeDollars: 0.18,
    ...common,
  });
  const none = { fills: [], costDollars: 0, holdDollars: 0, feeDollars: 0, ...common };
  t.deepEqual(await preview(LIMIT), { ...none, would: 'rest', holdDollars: 3 });
  t.deepEqual(await preview({ ...LIMIT, timeInForce: 'fill_or_kill' }), {
    ...none,
    would: 'cancel',
  });
  const capped = { ...BUY, maxPriceCents: 42 };
  t.deepEqual(await preview(capped), { ...none, would: 'refuse', code: 'price_moved' });
  t.is((await api.call('GET', '/portfolio')).json.account, null);
  const kinds = api.engine.requests.map(({ kind }) => kind);
  t.deepEqual(kinds, ['preview', 'preview', 'preview', 'preview', 'portfolio']);
});

test('A76: a key that only reads may ask; it counts as a read, and as no order', async (t) => {
  const api = await startApi(t);
  const token = await api.addKey({ scopes: ['portfolio:read'] });
  for (let n = 0; n < 25; n++) {
    t.is((await api.call('POST', PATH, { token, body: BUY })).status, 200);
  }
  const { month, trading } = (await api.call('GET', '/usage', { token })).json;
  t.is(month.used, 25);
  t.is(trading.key.newPerMinute.remaining, trading.key.newPerMinute.limit);
});

test('A76: the key of the order may be left out, and is not looked at', async (t) => {
  const api = await startApi(t);
  const place = { ...BUY, idempotencyKey: 'k' };
  t.is((await api.call('POST', '/portfolio/orders', { body: place })).status, 200);
  for (const key of [{}, { idempotencyKey: 'k' }, { clientOrderId: 'k' }]) {
    const { json } = await api.call('POST', PATH, { body: { ...BUY, count: 20, ...key } });
    t.is(json.would, 'execute');
  }
  const again = await api.call('POST', '/portfolio/orders', { body: place });
  t.true(again.json.replayed);
  const both = { ...BUY, idempotencyKey: 'a', clientOrderId: 'b' };
  const refused = await api.call('POST', PATH, { body: both });
  t.is(refused.json.error.message, 'exactly one of idempotencyKey and clientOrderId must be sent');
});

test('A31, A75: a body that is no order is 400', async (t) => {
  const api = await startApi(t);
  const messageOf = async (body: object) =>
    (await api.call('POST', PATH, { body })).json.error.message;
  t.is(await messageOf({ ...BUY, cout: 1 }), 'unknown field "cout"');
  t.is(await messageOf({ ...BUY, tradeId: IDS.lions }), 'tradeId must be a uuid');
  const { count: _, ...rest } = BUY;
  t.is(await messageOf(rest), 'count is required for a market buy');
  t.is(
    await messageOf({ ...BUY, ticker: 'X' }),
    'exactly one of instrumentId and ticker must be sent',
  );
});

test('A35, A75: why the switch or an execution would refuse it', async (t) => {
  const api = await startApi(t);
  const unscoped = await api.call('POST', PATH, { body: { ...BUY, execution: 'venue_a' } });
  t.is(unscoped.status, 403);
  t.is(unscoped.json.error.code, 'insufficient_scope');
  const scopes = ['portfolio:read', 'trade:write:venue_a'] as const;
  const token = await api.addKey({ scopes: [...scopes] });
  const codeOf = async (over: object) =>
    (await api.call('POST', PATH, { token, body: { ...BUY, ...over } })).json;
  t.like(await codeOf({ execution: 'venue_c' }), { would: 'refuse', code: 'us_not_eligible' });
  t.like(await codeOf({ execution: 'venue_a' }), { code: 'venue_a_key_missing', quoteAgeMs: null });
  t.like(await codeOf({ execution: 'paper' }), { would: 'execute' });
  await api.switches.set('trading', false);
  t.like(await codeOf({}), { would: 'refuse', code: 'trading_off', quoteAgeMs: 0 });
  t.like(await codeOf({ execution: 'venue_c' }), { would: 'refuse', code: 'trading_off' });
});

test('A77: the fee is from the fee table, for the market and the time', async (t) => {
  const line = {
    venue: 'venue_a' as const,
    series: null,
    from: '2026-01-01T00:00:00.000Z',
    schedule: 'kalshi' as const,
    taker: '0.07',
    maker: '0',
    multiplier: '1',
    exponent: 1,
  };
  const later = { ...line, from: new Date(NOW_MS + 1).toISOString(), taker: '0.5' };
  const lions = { ...line, series: 'T-LIONS', multiplier: '2' };
  const api = await startApi(t, { fees: [line, later, lions] });
  const feeOf = async (instrumentId: string) =>
    (await api.call('POST', PATH, { body: { ...BUY, instrumentId } })).json.feeDollars;
  // 0.07 x 10 x 0.43 x 0.57 is 0.17157.
  t.is(await feeOf(IDS.bears), 0.18);
  t.is(await feeOf(IDS.lions), 0.35);
});

test('V10: while venue data is off a preview says what follows without a price, and no more', async (t) => {
  const api = await startApi(t);
  await api.switches.set('venueData', false);
  const preview = async (body: object) => (await api.call('POST', PATH, { body })).json;
  const priced = {
    would: null,
    fills: null,
    costDollars: null,
    feeDollars: null,
    quoteAgeMs: null,
  };
  const hidden = { ...priced, holdDollars: 0, latencyMs: null, mode: 'paper' };
  t.deepEqual(await preview(BUY), hidden);
  t.deepEqual(await preview(LIMIT), { ...hidden, holdDollars: 3 });
  t.deepEqual(await preview({ ...LIMIT, timeInForce: 'ioc' }), hidden);
  const seen = new Set<string>();
  for (let cents = 1; cents < 100; cents++) {
    for (const timeInForce of ['gtc', 'ioc', 'fok']) {
      const limit = { ...LIMIT, limitPriceCents: cents, timeInForce };
      seen.add(JSON.stringify({ ...(await preview(limit)), holdDollars: 0 }));
    }
    seen.add(JSON.stringify(await preview({ ...BUY, maxPriceCents: cents })));
  }
  t.deepEqual([...seen], [JSON.stringify({ ...(await preview(BUY)) })], 'no body finds the price');
  const refused = async (body: object, code: string) =>
    t.deepEqual(await preview(body), { ...hidden, code });
  await refused({ ...BUY, execution: 'venue_c' }, 'us_not_eligible');
  await refused({ ...LIMIT, count: 1_000_000 }, 'insufficient_balance');
  await refused({ ...BUY, instrumentId: 'ins_ZZZZZZZZZZZZ' }, 'instrument_not_found');
  await api.store.changeUser(api.user.id, { plan: 'none' });
  await refused(BUY, 'membership_required');
});
