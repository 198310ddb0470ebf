/** Orders as messages of a connection are answered as those over HTTP. */
import test, { type ExecutionContext } from 'ava';
import { type KeyCaller, keyCallerOf } from '../../../api/identity/key-access.ts';
import { newKey } from '../../../api/identity/keys.ts';
import { newUser } from '../../../api/identity/users.ts';
import { Unavailable } from '../../../engine/threads/unavailable.ts';
import { AWAY, CATALOG } from '../../engine/fixtures.ts';
import { connectTo } from '../connected.ts';
import { type Api, startApi, TRADER_SCOPES } from '../support.ts';

const PATH = '/portfolio/orders';
const BUY = { action: 'buy', type: 'limit', instrumentId: AWAY, side: 'yes', count: 1 };
const order = (idempotencyKey: string) => ({ ...BUY, limitPriceCents: 5, idempotencyKey });

async function newCaller(api: Api, perMinute = 100): Promise<KeyCaller> {
  const user = newUser(
    {
      email: 'connected@example.org',
      plan: 'enterprise',
      requestLimits: { perMinute, perMonth: 1000 },
    },
    Date.now(),
  );
  await api.store.addUser(user);
  const { key, token } = newKey(user.id, { scopes: TRADER_SCOPES! }, 'cli', Date.now());
  await api.store.putKey(key);
  return keyCallerOf(user, key, token);
}

async function open(t: ExecutionContext, env: Record<string, string> = {}, perMinute?: number) {
  const api = await startApi(t, { env, catalog: CATALOG });
  const caller = await newCaller(api, perMinute);
  const place = await connectTo(api, 'POST', PATH);
  const cancel = await connectTo(api, 'DELETE', `${PATH}/{orderId}`);
  const overHttp = (body: unknown) => api.call('POST', PATH, { token: caller.token, body });
  return { api, caller, place, cancel, overHttp };
}

test('an order that came as a message is found again over HTTP, and canceled by a message', async (t) => {
  const { caller, place, cancel, overHttp } = await open(t);
  const placed = await place(caller, { body: order('k-1') });
  t.is(placed.status, 200);
  const again = await overHttp(order('k-1'));
  t.true(again.json.replayed);
  t.deepEqual(again.json.order, placed.json.order);
  const canceled = await cancel(caller, { param: placed.json.order.orderId });
  t.is(canceled.status, 200);
  t.is(canceled.json.order.status, 'canceled');
});

test('whatever is wrong with an order, a message gets the status and body of HTTP', async (t) => {
  const { api, caller, place, overHttp } = await open(t);
  const wrong = [
    { ...order('k'), count: 'one' },
    { ...order('k'), tradeId: caller.user.id },
    { ...order('k'), execution: 'venue_a' },
    { ...order('k'), instrumentId: 'ins_000000000000' },
    [],
  ];
  for (const body of wrong) {
    const { status, json } = await overHttp(body);
    t.true(status >= 400, JSON.stringify(body));
    t.deepEqual(await place(caller, { body }), { status, json });
  }
  api.engine.busy = new Unavailable('the engine is opening');
  const { status, json } = await overHttp(order('k'));
  t.is(status, 503);
  t.deepEqual(await place(caller, { body: order('k') }), { status, json });
});

test('Q4: messages count as requests do, except messages over the limit', async (t) => {
  const { api, caller, place } = await open(t, { PAPERBOOK_LIMITS_ENFORCED: 'on' }, 2);
  const statuses = [];
  for (const key of ['a', 'b', 'c', 'd']) {
    statuses.push((await place(caller, { body: order(key) })).status);
  }
  t.deepEqual(statuses, [200, 200, 429, 429]);
  t.is(api.meter.usage(caller.user).month.used, 2);
});

test('I13: a key that was revoked takes no further message', async (t) => {
  const { api, caller, place, cancel } = await open(t);
  const { json } = await place(caller, { body: order('k-1') });
  await api.store.putKey({ ...caller.key, revokedAtMs: Date.now() });
  for (const answer of [
    await place(caller, { body: order('k-2') }),
    await cancel(caller, { param: json.order.orderId }),
  ]) {
    t.is(answer.status, 401);
    t.is(answer.json.error.code, 'invalid_token');
  }
});

test('E6: a fault of ours is logged with the route, and answered as one', async (t) => {
  const { api, caller, place } = await open(t);
  api.engine.reply = () => Promise.reject(new Error('a fault'));
  const { status, json } = await place(caller, { body: order('k-1') });
  t.is(status, 500);
  t.is(json.error.code, 'internal_error');
  const { fields } = api.log.find(({ message }) => message === 'request failed')!;
  t.like(fields, { method: 'POST', path: PATH });
});
