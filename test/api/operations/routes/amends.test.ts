/** Post-only orders, changes of orders and order groups over HTTP, on the rules themselves. */
import test from 'ava';
import { IDS } from '../../samples.ts';
import { startApi } from '../../support.ts';

type Api = Awaited<ReturnType<typeof startApi>>;

const LIMIT_BUY = {
  action: 'buy',
  type: 'limit',
  instrumentId: IDS.lions,
  side: 'yes',
  count: 10,
  limitPriceCents: 30,
};
let keys = 0;

/** Every market is quoted 40 to 43. */
async function placed(api: Api, over: object = {}) {
  const body = { ...LIMIT_BUY, idempotencyKey: `placed-${keys++}`, ...over };
  const { status, json } = await api.call('POST', '/portfolio/orders', { body });
  return { status, json, code: json.error?.code, path: `/portfolio/orders/${json.order?.orderId}` };
}

async function changed(api: Api, path: string, change: object) {
  const body = { idempotencyKey: `change-${keys++}`, ...change };
  const { status, json } = await api.call('PATCH', path, { body });
  return { status, code: json.error?.code, order: json.order, message: json.error?.message };
}

test('A186, T205: postOnly is of a gtc order, and refused where it takes', async (t) => {
  const api = await startApi(t);
  const rests = await placed(api, { postOnly: true });
  t.like(rests.json.order, { status: 'resting', postOnly: true, orderGroupId: null });
  const takes = await placed(api, { postOnly: true, limitPriceCents: 50 });
  t.deepEqual([takes.status, takes.code], [409, 'would_take']);
  for (const over of [{ timeInForce: 'ioc' }, { timeInForce: 'fok' }]) {
    const refused = await placed(api, { ...over, postOnly: true });
    t.is(refused.status, 400);
    t.regex(refused.json.error.message, /^postOnly /);
  }
  const { limitPriceCents: _, ...market } = { ...LIMIT_BUY, type: 'market' };
  const body = { ...market, idempotencyKey: 'market', postOnly: true };
  const refused = await api.call('POST', '/portfolio/orders', { body });
  t.is(refused.status, 400);
  t.regex(refused.json.error.message, /^postOnly does not belong to a market buy/);
});

test('A186: reduceOnly is of sells', async (t) => {
  const api = await startApi(t);
  const refused = await placed(api, { reduceOnly: true });
  t.is(refused.status, 400);
  t.regex(refused.json.error.message, /^reduceOnly /);
  t.is((await placed(api, { reduceOnly: false })).status, 200);
  const { json } = await placed(api, { limitPriceCents: 43 });
  const sell = { action: 'sell', type: 'market', tradeId: json.trade.tradeId, reduceOnly: true };
  const body = { ...sell, idempotencyKey: 'sell' };
  const sold = await api.call('POST', '/portfolio/orders', { body });
  t.like(sold.json, { status: 'executed', action: 'sell' });
});

test('A186: a batch, a preview and the stream of orders know both', async (t) => {
  const api = await startApi(t);
  const takes = { ...LIMIT_BUY, limitPriceCents: 50, postOnly: true };
  const body = {
    orders: [
      { ...takes, idempotencyKey: 'a' },
      { ...LIMIT_BUY, idempotencyKey: 'b' },
    ],
  };
  const { json } = await api.call('POST', '/portfolio/orders/batch', { body });
  t.deepEqual(
    json.results.map(({ status }: { status: number }) => status),
    [409, 200],
  );
  const preview = await api.call('POST', '/portfolio/orders/preview', { body: takes });
  t.like(preview.json, { would: 'refuse', code: 'would_take' });
});

test('A184, A187: a change answers the order as it is then', async (t) => {
  const api = await startApi(t);
  const { path } = await placed(api);
  const fewer = await changed(api, path, { contracts: 4 });
  t.is(fewer.status, 200);
  t.like(fewer.order, { status: 'resting', contracts: 4, holdDollars: 1.2, postOnly: false });
  t.like((await changed(api, path, { limitPriceCents: 43 })).order, { status: 'executed' });
  t.like((await api.call('GET', path)).json.order, { contracts: 4, limitCents: 43 });
  t.is((await changed(api, path, { contracts: 3 })).code, 'already_closed');
});

test('A184: one key is one change', async (t) => {
  const api = await startApi(t);
  const { path } = await placed(api);
  const once = { idempotencyKey: 'once', contracts: 4 };
  t.is((await changed(api, path, once)).status, 200);
  t.is((await changed(api, path, { contracts: 2 })).status, 200);
  t.like((await changed(api, path, once)).order, { contracts: 2 });
  const reused = await changed(api, path, { ...once, contracts: 5 });
  t.deepEqual([reused.status, reused.code], [409, 'idempotency_key_reused']);
});

test('A184, A185: a bad change names its field', async (t) => {
  const api = await startApi(t);
  const { path } = await placed(api);
  const bad: [object, RegExp][] = [
    [{}, /^contracts or limitPriceCents must be sent/],
    [{ contracts: 0 }, /^contracts /],
    [{ contracts: 1.5 }, /^contracts /],
    [{ limitPriceCents: 100 }, /^limitPriceCents /],
    [{ contracts: 1, count: 1 }, /count/],
    [{ contracts: 1, idempotencyKey: '' }, /^idempotencyKey /],
  ];
  for (const [change, message] of bad) {
    const answer = await changed(api, path, change);
    t.is(answer.status, 400, JSON.stringify(change));
    t.regex(answer.message, message);
  }
  const missing = await api.call('PATCH', path, { body: { contracts: 1 } });
  t.regex(missing.json.error.message, /^idempotencyKey /);
  t.is((await changed(api, '/portfolio/orders/none', { contracts: 1 })).code, 'order_not_found');
  const dear = await changed(api, path, { contracts: 900_000_000 });
  t.deepEqual([dear.status, dear.code], [409, 'insufficient_balance']);
  t.like((await api.call('GET', path)).json.order, { contracts: 10, holdDollars: 3 });
});

test('A190, A191, A192: a group is made, listed and removed', async (t) => {
  const api = await startApi(t);
  const made = await makeGroup(api, { contractsLimit: 10, windowSeconds: 15 });
  const { orderGroupId } = made.orderGroup;
  t.like(made, { mode: 'paper', orderGroup: { contractsLimit: 10, isReached: false } });
  const waits = await placed(api, { orderGroupId: orderGroupId.toUpperCase() });
  t.like(waits.json.order, { orderGroupId, status: 'resting' });
  t.is((await placed(api, { orderGroupId, limitPriceCents: 43 })).json.status, 'executed');
  const { order } = (await api.call('GET', waits.path)).json;
  t.like(order, { status: 'canceled', cancelReason: 'order_group_limit' });
  const refused = await placed(api, { orderGroupId });
  t.deepEqual([refused.status, refused.code], [409, 'order_group_limit']);
  const { orderGroups } = (await api.call('GET', '/portfolio/order_groups')).json;
  t.like(orderGroups[0], { orderGroupId, tradedContracts: 10, isReached: true });
  const path = `/portfolio/order_groups/${orderGroupId}`;
  t.deepEqual((await api.call('DELETE', path)).json, { canceled: [], count: 0, mode: 'paper' });
  t.deepEqual((await api.call('GET', '/portfolio/order_groups')).json.orderGroups, []);
  for (const gone of [path, '/portfolio/order_groups/none']) {
    const again = await api.call('DELETE', gone);
    t.deepEqual([again.status, again.json.error.code], [404, 'order_group_not_found']);
  }
});

test('A190: the bounds of a group are checked', async (t) => {
  const api = await startApi(t);
  const good = { contractsLimit: 10, windowSeconds: 15 };
  const bad = [
    { contractsLimit: 0 },
    { contractsLimit: 1_000_001 },
    { windowSeconds: 0 },
    { windowSeconds: 3601 },
  ];
  for (const over of bad) {
    const body = { ...good, ...over };
    const { status, json } = await api.call('POST', '/portfolio/order_groups', { body });
    t.is(status, 400);
    t.true(json.error.message.startsWith(Object.keys(over)[0]));
  }
});

test('A184, A190: a key that may not trade changes nothing', async (t) => {
  const api = await startApi(t);
  const token = await api.addKey({ scopes: ['portfolio:read'] });
  const body = { contractsLimit: 10, windowSeconds: 15 };
  const id = '0195d3a0-0000-7000-8000-000000000001';
  const calls: [string, string, object?][] = [
    ['PATCH', `/portfolio/orders/${id}`, { idempotencyKey: 'a', contracts: 1 }],
    ['POST', '/portfolio/order_groups', body],
    ['DELETE', `/portfolio/order_groups/${id}`],
  ];
  for (const [method, path, sent] of calls) {
    const answer = await api.call(method, path, { token, body: sent });
    t.deepEqual([answer.status, answer.json.error.code], [403, 'insufficient_scope'], path);
  }
  t.is((await api.call('GET', '/portfolio/order_groups', { token })).status, 200);
});

test('A184, V6: while trading is off an order only gets smaller', async (t) => {
  const api = await startApi(t);
  const { path } = await placed(api);
  await api.switches.set('trading', false);
  t.is((await changed(api, path, { limitPriceCents: 31 })).code, 'trading_off');
  t.like((await changed(api, path, { contracts: 4 })).order, { contracts: 4 });
});

async function makeGroup(api: Api, body: object) {
  return (await api.call('POST', '/portfolio/order_groups', { body })).json;
}
