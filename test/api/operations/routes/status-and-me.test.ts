import test from 'ava';
import { Unavailable } from '../../../../engine/threads/unavailable.ts';
import { IDS, NOW_MS } from '../../samples.ts';
import { startApi } from '../../support.ts';

test('A56, status: answers without a key and may be cached for 5 s', async (t) => {
  const api = await startApi(t);
  const answer = await api.call('GET', '/status', { token: null });
  t.is(answer.status, 200);
  t.like(answer.json, { ok: true, version: 'v1', mode: 'paper' });
  t.is(answer.headers.get('cache-control'), 'max-age=5');
});

test('A57: any valid key reads whose it is', async (t) => {
  const api = await startApi(t);
  const token = await api.addKey({ scopes: ['records:read'] });
  const answer = await api.call('GET', '/me', { token });
  t.is(answer.status, 200);
  t.deepEqual(answer.json.key, { prefix: token.slice(0, 16), scopes: ['records:read'] });
  t.deepEqual(answer.json.user, {
    id: [...api.store.users.values()].at(-1)!.id,
    displayName: null,
    private: true,
    showEarlierTrades: false,
  });
  t.like(answer.json, { mode: 'paper', paperOnly: true });
  t.is(answer.headers.get('cache-control'), 'no-store');
});

test('C10: trading is at the time of the engine, keys and limits at the time of the machine', async (t) => {
  const startMs = Date.now();
  const api = await startApi(t);
  const at = (passedMs: number) => new Date(NOW_MS + passedMs).toISOString();
  const pass = (ms: number) => {
    api.engine.nowMs = () => NOW_MS + ms;
  };
  const place = (idempotencyKey: string, order: object) =>
    api.call('POST', '/portfolio/orders', { body: { idempotencyKey, ...order } });
  const buy = { action: 'buy', type: 'market', instrumentId: IDS.lions, side: 'yes', count: 1 };
  const { trade } = (await place('a', buy)).json;
  t.is(trade.openedAt, at(0));
  const limit = { ...buy, type: 'limit', limitPriceCents: 1, expiresAt: at(500) };
  const { order } = (await place('b', limit)).json;
  t.like(order, { status: 'resting', createdAt: at(0) });

  pass(1000);
  const sell = { action: 'sell', type: 'market', tradeId: trade.tradeId };
  t.is((await place('c', sell)).json.trade.closedAt, at(1000));
  const orders = (await api.call('GET', '/portfolio/orders')).json.orders;
  const placed = orders.find(({ orderId }: { orderId: string }) => orderId === order.orderId);
  t.is(placed.status, 'expired');
  t.is((await api.call('GET', '/portfolio')).json.asOf, at(1000));
  pass(16_000);
  t.is((await place('d', buy)).json.error.code, 'no_liquidity', 'a price that was fresh');

  const session = await api.signIn();
  const key = (await api.call('POST', '/api_keys', { token: session, body: {} })).json;
  const usage = (await api.call('GET', '/usage', { token: key.token })).json;
  const { keys } = (await api.call('GET', '/api_keys', { token: session })).json;
  const used = keys.find(({ id }: { id: string }) => id === key.key.id);
  const { time } = (await api.call('GET', '/status', { token: null })).json;
  const endMs = Date.now();
  for (const said of [used.createdAt, used.lastUsedAt, time]) {
    t.true(Date.parse(said) >= startMs && Date.parse(said) <= endMs, said);
  }
  const minuteEndsSeconds = Math.floor(endMs / 1000) + usage.minute.resetSeconds;
  t.true(
    minuteEndsSeconds % 60 <= Math.ceil((endMs - startMs) / 1000),
    'the minute of the machine',
  );
});

test('A83: usage shows what is left of the hard trade limits', async (t) => {
  const api = await startApi(t);
  const buy = { action: 'buy', type: 'market', instrumentId: IDS.lions, side: 'yes', count: 1 };
  const body = { ...buy, idempotencyKey: 'a' };
  for (let n = 0; n < 2; n++) await api.call('POST', '/portfolio/orders', { body });
  await api.call('DELETE', '/portfolio/orders');
  const minute = { resetSeconds: 60 };
  const day = { resetSeconds: 19 * 3600 };
  t.deepEqual((await api.call('GET', '/usage')).json.trading, {
    key: {
      newPerMinute: { limit: 10, remaining: 9, ...minute },
      newPerDay: { limit: 50, remaining: 49, ...day },
      closingPerMinute: { limit: 20, remaining: 19, ...minute },
    },
    account: {
      newPerMinute: { limit: 20, remaining: 19, ...minute },
      newPerDay: { limit: 100, remaining: 99, ...day },
      closingPerMinute: { limit: 40, remaining: 39, ...minute },
    },
  });
  await api.store.changeUser(api.user.id, {
    plan: 'enterprise',
    tradeLimits: {
      key: { newPerMinute: 0, newPerDay: 5, closingPerMinute: 6 },
      account: { newPerMinute: 7, newPerDay: 8, closingPerMinute: 9 },
    },
  });
  const { key, account } = (await api.call('GET', '/usage')).json.trading;
  t.like(key, { newPerMinute: { limit: 0, remaining: 0 }, newPerDay: { remaining: 4 } });
  t.like(account, { closingPerMinute: { limit: 9, remaining: 8 } });
  api.engine.busy = new Unavailable('the engine is opening');
  const answer = await api.call('GET', '/usage');
  t.is(answer.status, 200);
  t.is(answer.json.trading, null);
});
