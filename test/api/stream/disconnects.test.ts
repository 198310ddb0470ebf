/** Orders that end with their connection. */
import test from 'ava';
import { WebSocket } from 'ws';
import { newOrganization } from '../../../api/identity/organizations.ts';
import { CancelOnDisconnect } from '../../../api/stream/cancel-on-disconnect.ts';
import { AWAY, CATALOG } from '../../engine/fixtures.ts';
import { CLIENTS, openStream, type StreamClient } from '../stream-client.ts';
import { type Api, type Json, startApi } from '../support.ts';

const BUY = { action: 'buy', type: 'limit', instrumentId: AWAY, side: 'yes', count: 1 };
const order = (idempotencyKey: string) => ({ ...BUY, limitPriceCents: 5, idempotencyKey });
const ASK = { op: 'subscribe', channels: [], cancelOnDisconnect: true };

async function place(client: StreamClient, key: string, more: object = {}): Promise<string> {
  const { status, body } = await client.ask({ op: 'place', order: order(key), ...more });
  if (status !== 200) throw new Error(JSON.stringify(body));
  return body.order.orderId;
}

/** Why an order was canceled; null while it rests. Asked until it is what is wanted. */
async function reasonOf(api: Api, orderId: string, headers = {}): Promise<string | null> {
  const { json } = await api.call('GET', `/portfolio/orders/${orderId}`, { headers });
  return json.order.cancelReason;
}

/** The server has noticed that no connection is left. */
async function untilClosed(api: Api): Promise<void> {
  while (api.engine.openConnections.size > 0) await new Promise((go) => setTimeout(go, 5));
}

for (const { kind, protocol } of CLIENTS) {
  test(`J18: ${kind}, ${protocol}: orders end with the connection that asked for it`, async (t) => {
    const api = await startApi(t, { catalog: CATALOG });
    const client = await openStream(t, api.port, { token: api.token, kind, protocol });
    const before = await place(client, 'before');
    const asked = await client.ask({ ...ASK, channels: ['games'] });
    t.deepEqual(asked.body, { channels: ['games'], cancelOnDisconnect: true, mode: 'paper' });
    const ends = [await place(client, 'a'), await place(client, 'b')];
    const overHttp = await api.call('POST', '/portfolio/orders', { body: order('http') });
    t.is(await reasonOf(api, ends[0]!), null);
    client.close();
    await untilClosed(api);
    for (const id of ends) t.is(await reasonOf(api, id), 'disconnected');
    t.is(await reasonOf(api, before), null, 'it was placed before that was asked for');
    t.is(await reasonOf(api, overHttp.json.order.orderId), null);
  });
}

test('J18: what cannot be meant is refused, and asks for nothing', async (t) => {
  const api = await startApi(t, { catalog: CATALOG });
  const client = await openStream(t, api.port, { token: api.token });
  const off = await client.ask({ ...ASK, channels: ['games'], cancelOnDisconnect: false });
  t.is(off.status, 400);
  t.regex(off.body.error.message, /^cancelOnDisconnect must be true/);
  t.is((await client.ask({ ...ASK, channels: ['trades'] })).status, 400);
  t.is((await client.ask({ op: 'subscribe', channels: [] })).status, 400);
  t.is(api.engine.openConnections.size, 0);
  await client.ask(ASK);
  await client.ask(ASK);
  t.is(api.engine.openConnections.size, 1, 'asked for twice it is asked for once');
});

test('J18, I60: orders of every account that the connection placed in end', async (t) => {
  const api = await startApi(t, { catalog: CATALOG });
  const organization = newOrganization({ slug: 'desk', name: 'Desk' }, Date.now());
  await api.store.organizations.add(organization);
  const member = { organizationId: organization.id, userId: api.user.id, role: 'owner' } as const;
  await api.store.organizations.putMember({ ...member, createdAtMs: Date.now() });
  const client = await openStream(t, api.port, { token: api.token });
  await client.ask(ASK);
  const own = await place(client, 'a');
  const ofDesk = await place(client, 'b', { organization: organization.id });
  client.close();
  await untilClosed(api);
  t.is(await reasonOf(api, own), 'disconnected');
  const headers = { 'x-service-org': organization.id };
  t.is(await reasonOf(api, ofDesk, headers), 'disconnected');
});

test('J18, J17: a key that ends ends the orders of its connection', async (t) => {
  const api = await startApi(t, { catalog: CATALOG });
  const [key] = [...api.store.keys.values()];
  const client = await openStream(t, api.port, { token: api.token });
  await client.ask(ASK);
  const id = await place(client, 'a');
  await api.store.putKey({ ...key!, revokedAtMs: Date.now() });
  t.is((await client.closed).code, 4401);
  await api.store.putKey(key!);
  t.is(await reasonOf(api, id), 'disconnected');
});

test('J18, J16: so does a client that reads no answers', async (t) => {
  const api = await startApi(t, { catalog: CATALOG });
  const client = await openStream(t, api.port, { token: api.token });
  await client.ask(ASK);
  const id = await place(client, 'a');
  client.pause();
  const ping = JSON.stringify({ id: 'x'.repeat(128), op: 'ping' });
  for (let sent = 0; sent < 100_000; sent++) client.sendRaw(ping);
  await untilClosed(api);
  t.is(await reasonOf(api, id), 'disconnected');
});

test('J18, V2, V6: it ends them while trading and venue data are off', async (t) => {
  const api = await startApi(t, { catalog: CATALOG });
  const client = await openStream(t, api.port, { token: api.token });
  await client.ask(ASK);
  const id = await place(client, 'a');
  await api.switches.set('trading', false);
  await api.switches.set('venueData', false);
  client.close();
  await untilClosed(api);
  t.is(await reasonOf(api, id), 'disconnected');
});

test('J18: an order that is under way when the connection ends is canceled once it rests', async (t) => {
  const api = await startApi(t, { catalog: CATALOG });
  const client = await openStream(t, api.port, { token: api.token });
  await client.ask(ASK);
  const { reply } = api.engine;
  const { promise: waits, resolve: goOn } = Promise.withResolvers<void>();
  const { promise: came, resolve: comes } = Promise.withResolvers<void>();
  let answered = Promise.resolve<Json>(null);
  api.engine.reply = (request) => {
    comes();
    answered = waits.then(() => reply(request));
    return answered;
  };
  client.send({ op: 'place', order: order('late') });
  await came;
  client.close();
  await untilClosed(api);
  goOn();
  const { orderId } = JSON.parse((await answered).body).order;
  api.engine.reply = reply;
  t.is(await reasonOf(api, orderId), 'disconnected');
});

test('J18, A65: a server that stops cancels them first', async (t) => {
  const api = await startApi(t, { catalog: CATALOG });
  const client = await openStream(t, api.port, { token: api.token });
  await client.ask(ASK);
  const id = await place(client, 'a');
  await api.close();
  const query = { kind: 'order', atMs: 0, organizationSlug: null, orderId: id } as const;
  const reply = await api.engine.reply({ ...query, account: api.user.id });
  t.is(reply.ok && JSON.parse(reply.body).order.cancelReason, 'disconnected');
});

test('J19: a client that answers no heartbeat is closed with 4408, one that answers pings is not', async (t) => {
  const api = await startApi(t, { catalog: CATALOG });
  const there = await openStream(t, api.port, { token: api.token });
  await there.ask(ASK);
  const kept = await place(there, 'kept');
  const headers = { authorization: `Bearer ${api.token}` };
  const url = `ws://127.0.0.1:${api.port}/v1/stream`;
  const silent = new WebSocket(url, { headers, autoPong: false });
  t.teardown(() => silent.terminate());
  const closed = new Promise<number>((resolve) => silent.on('close', resolve));
  const answers: Json[] = [];
  silent.on('message', (data) => answers.push(JSON.parse(String(data))));
  await new Promise((resolve) => silent.on('open', resolve));
  silent.send(JSON.stringify(ASK));
  silent.send(JSON.stringify({ id: 'place', op: 'place', order: order('silent') }));
  t.is(await closed, 4408);
  const { orderId } = answers.find(({ id }) => id === 'place').body.order;
  t.true(answers.filter((message) => 'heartbeat' in message).length >= 2);
  t.is(await reasonOf(api, orderId), 'disconnected');
  t.is(await reasonOf(api, kept), null, 'it sent nothing but pongs');
});

test('J18, J19: a client is gone at the second heartbeat after the one that began its silence', (t) => {
  const told: string[] = [];
  const connection = new CancelOnDisconnect(7, {
    opened: (number) => void told.push(`opened ${number}`),
    ended: (number, accounts) => void told.push(`ended ${number} ${[...accounts]}`),
  });
  const heartbeats = () => [0, 1, 2].map(() => connection.isSilent());
  t.deepEqual(heartbeats(), [false, false, true]);
  connection.alive();
  t.deepEqual(heartbeats(), [false, false, true]);
  for (const account of ['a', 'b']) {
    connection.begun();
    connection.placing(account);
  }
  connection.answered();
  connection.closed();
  t.deepEqual(told, ['opened 7', 'ended 7 a,b']);
  connection.answered();
  t.deepEqual(told.slice(2), ['ended 7 a,b'], 'the last order may have come to rest meanwhile');
});
