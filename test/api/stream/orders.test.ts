/** Orders over the stream, and several in one request. */
import test from 'ava';
import { newOrganization, type Organization } from '../../../api/identity/organizations.ts';
import { AT_ITS_LIMIT } from '../../../engine/threads/unavailable.ts';
import { AWAY, CATALOG, HOME } from '../../engine/fixtures.ts';
import { CLIENTS, openStream } from '../stream-client.ts';
import { type Api, type Json, startApi } from '../support.ts';

const BUY = { action: 'buy', type: 'limit', instrumentId: AWAY, side: 'yes', count: 1 };
const order = (idempotencyKey: string) => ({ ...BUY, limitPriceCents: 5, idempotencyKey });

/** An organization of the user. */
async function addDesk(api: Api): Promise<Organization> {
  const organization = newOrganization({ slug: 'desk', name: 'Desk' }, Date.now());
  await api.store.organizations.add(organization);
  await api.store.organizations.putMember({
    organizationId: organization.id,
    userId: api.user.id,
    role: 'owner',
    createdAtMs: Date.now(),
  });
  return organization;
}

for (const { kind, protocol } of CLIENTS) {
  test(`J20: ${kind}, ${protocol}: orders are placed and canceled as over HTTP`, async (t) => {
    const api = await startApi(t, { catalog: CATALOG });
    const client = await openStream(t, api.port, { token: api.token, kind, protocol });
    const placed = await client.ask({ op: 'place', order: order('k') });
    t.is(placed.status, 200);
    const again = await api.call('POST', '/portfolio/orders', { body: order('k') });
    t.deepEqual(
      { ...again.json, replayed: false, originalCreatedAt: null },
      placed.body,
      'the same order, answered again',
    );
    const wrong = { ...order('k-2'), count: 'one' };
    const refused = await api.call('POST', '/portfolio/orders', { body: wrong });
    const { status, body } = await client.ask({ op: 'place', order: wrong });
    t.deepEqual({ status, body }, { status: 400, body: refused.json });
    const { orderId } = placed.body.order;
    const canceled = await client.ask({ op: 'cancel', orderId });
    t.deepEqual([canceled.status, canceled.body.order.status], [200, 'canceled']);
    const gone = await client.ask({ op: 'cancel', orderId });
    t.deepEqual([gone.status, gone.body.error.code], [409, 'already_closed']);
  });
}

for (const { kind, protocol } of CLIENTS) {
  test(`J20, A74: ${kind}, ${protocol}: cancel_all cancels what rests, or on one instrument`, async (t) => {
    const api = await startApi(t, { catalog: CATALOG });
    const client = await openStream(t, api.port, { token: api.token, kind, protocol });
    const placed = [
      await client.ask({ op: 'place', order: order('a') }),
      await client.ask({ op: 'place', order: { ...order('b'), instrumentId: HOME } }),
      await client.ask({ op: 'place', order: order('c') }),
    ];
    const [a, b, c] = placed.map(({ body }) => body.order.orderId);
    const some = await client.ask({ op: 'cancel_all', instrumentId: AWAY });
    t.deepEqual(some.body, { canceled: [a, c], count: 2, mode: 'paper' });
    const rest = await client.ask({ op: 'cancel_all' });
    t.deepEqual([rest.status, rest.body.canceled], [200, [b]]);
    const unknown = await client.ask({ op: 'cancel_all', instrumentId: 'ins_&' });
    t.deepEqual([unknown.status, unknown.body.error.code], [400, 'invalid_request']);
    const typo = await client.ask({ op: 'cancel_all', instrument: AWAY });
    t.is(typo.status, 400, 'a typo cancels nothing');
  });
}

test('J20: messages of orders count as requests, and have the scope of the route', async (t) => {
  const api = await startApi(t, { catalog: CATALOG });
  const token = await api.addKey({ scopes: ['markets:read'] });
  const reader = await openStream(t, api.port, { token });
  const { status, body } = await reader.ask({ op: 'place', order: order('k') });
  t.deepEqual([status, body.error.code], [403, 'insufficient_scope']);
  const client = await openStream(t, api.port, { token: api.token });
  const before = api.meter.usage(api.user).month.used;
  await client.ask({ op: 'place', order: order('k') });
  await client.ask({ op: 'place', order: {} });
  await client.ask({ op: 'ping' });
  t.is(api.meter.usage(api.user).month.used, before + 3);
});

test('J20, I60: orders are of the organization that a message or the handshake names', async (t) => {
  const api = await startApi(t, { catalog: CATALOG });
  const organization = await addDesk(api);
  const own = await openStream(t, api.port, { token: api.token });
  await own.ask({ op: 'place', order: order('a') });
  await own.ask({ op: 'place', order: order('b'), organization: organization.id });
  const headers = { 'x-service-org': organization.id };
  const ofDesk = await openStream(t, api.port, { token: api.token, headers });
  await ofDesk.ask({ op: 'place', order: order('c') });
  t.deepEqual(api.engine.accounts, [api.user.id, organization.id, organization.id]);
  const unknown = await own.ask({ op: 'place', order: order('d'), organization: api.user.id });
  t.deepEqual([unknown.status, unknown.body.error.code], [404, 'organization_not_found']);
  for (const organizationOf of ['desk', '']) {
    const { status, body } = await own.ask({ op: 'cancel_all', organization: organizationOf });
    t.deepEqual([status, body.error.message], [400, 'organization must be a uuid']);
  }
});

test('J20, A66: refusals of an engine at its limit share their pace with those over HTTP', async (t) => {
  const api = await startApi(t, { catalog: CATALOG });
  const client = await openStream(t, api.port, { token: api.token });
  api.engine.busy = AT_ITS_LIMIT;
  let refused = 0;
  const ask = async () => {
    const { status, body } = await client.ask({ op: 'place', order: order('k') });
    t.deepEqual([status, body.error.retryAfterSeconds], [503, 1]);
    refused++;
  };
  // So many are given at once.
  await Promise.all(Array.from({ length: 64 }, ask));
  const late = ask();
  const overHttp = api.call('POST', '/portfolio/orders', { body: order('k') });
  await client.ask({ op: 'ping' });
  t.is(refused, 64, 'the next one waits for its turn');
  await Promise.all([late, overHttp]);
});

test('J30, J31: orders of a batch stand alone, in their order', async (t) => {
  const api = await startApi(t, { catalog: CATALOG });
  const market = { action: 'buy', type: 'market', instrumentId: AWAY, side: 'yes', count: 1 };
  const orders = [
    order('a'),
    { ...order('b'), count: 0 },
    'no order',
    { ...market, idempotencyKey: 'c', count: 1_000_000_000 },
    order('a'),
    { ...market, idempotencyKey: 'd' },
  ];
  const answer = await api.call('POST', '/portfolio/orders/batch', { body: { orders } });
  t.is(answer.status, 200);
  t.is(answer.json.mode, 'paper');
  const { results } = answer.json;
  t.deepEqual(
    results.map(({ status, body }: Json) => [status, body.error?.code ?? body.status]),
    [
      [200, 'resting'],
      [400, 'invalid_request'],
      [400, 'invalid_request'],
      [409, 'insufficient_balance'],
      [200, 'resting'],
      [200, 'executed'],
    ],
  );
  t.is(results[4].body.replayed, true);
  const alone = await api.call('POST', '/portfolio/orders', { body: orders[1] });
  t.deepEqual(results[1].body, alone.json);
});

test('P7: orders and trades of one batch are listed in its order, newest first', async (t) => {
  const api = await startApi(t, { catalog: CATALOG });
  const counts = Array.from({ length: 5 }, (_, at) => at + 1);
  const newest = counts.toReversed();
  const list = async (name: 'orders' | 'trades') => {
    const { json } = await api.call('GET', `/portfolio/${name}`);
    return json[name].map(({ contracts }: Json) => contracts);
  };
  const buys = counts.map((count) => ({ ...order(`limit-${count}`), count }));
  await api.call('POST', '/portfolio/orders/batch', { body: { orders: buys } });
  t.deepEqual(await list('orders'), newest);
  const { limitPriceCents: _, ...market } = { ...order(''), type: 'market' };
  const bought = counts.map((count) => ({ ...market, count, idempotencyKey: `market-${count}` }));
  await api.call('POST', '/portfolio/orders/batch', { body: { orders: bought } });
  t.deepEqual(await list('trades'), newest);
});

test('J32: each order of a batch counts as a request', async (t) => {
  const api = await startApi(t, { catalog: CATALOG });
  const used = () => api.meter.usage(api.user).month.used;
  const batch = (orders: unknown) =>
    api.call('POST', '/portfolio/orders/batch', { body: { orders } });
  await batch([order('a'), order('b'), {}]);
  t.is(used(), 3);
  const wrong = {
    'orders must not be empty': [],
    'orders must have at most 100 entries': Array.from({ length: 101 }, () => ({})),
    'orders must be an array': 'none',
  };
  for (const [message, orders] of Object.entries(wrong)) {
    const { status, json } = await batch(orders);
    t.deepEqual([status, json.error.message], [400, message]);
  }
  t.is(used(), 6, 'a batch that is refused as a whole counts as one');
});

test('J32: orders beyond the limits are refused, and those before them are not', async (t) => {
  const env = { PAPERBOOK_LIMITS_ENFORCED: 'on' };
  const api = await startApi(t, { catalog: CATALOG, env, nowMs: () => Date.UTC(2026, 0, 1) });
  const minute = api.meter.usage(api.user).minute.remaining;
  const count = minute + 2;
  const orders = Array.from({ length: count }, () => ({}));
  const { json } = await api.call('POST', '/portfolio/orders/batch', { body: { orders } });
  const statuses = json.results.map(({ status }: Json) => status);
  t.deepEqual(statuses, [...Array.from({ length: minute }, () => 400), 429, 429]);
});

test('J30: a batch is of the organization of its header', async (t) => {
  const api = await startApi(t, { catalog: CATALOG });
  const organization = await addDesk(api);
  const headers = { 'x-service-org': organization.id };
  const body = { orders: [order('a'), order('b')] };
  await api.call('POST', '/portfolio/orders/batch', { body, headers });
  t.deepEqual(api.engine.accounts, [organization.id, organization.id]);
});
