/** Connections of the stream: handshake, messages, quotes, games. */
import { setTimeout as sleep } from 'node:timers/promises';
import test from 'ava';
import { ApiError } from '../../../api/base/errors.ts';
import { newKey } from '../../../api/identity/keys.ts';
import { AWAY, CATALOG, HOME, quoteTick } from '../../engine/fixtures.ts';
import { NOW_MS } from '../samples.ts';
import { CLIENTS, catalogOfMany, openStream, patched } from '../stream-client.ts';
import { startApi } from '../support.ts';

const QUOTES = `quotes:${AWAY}`;
const NO_CHANNELS = { status: 200, body: { channels: [], mode: 'paper' } };

for (const { kind, protocol } of CLIENTS) {
  test(`J2, J7, J10: ${kind}, ${protocol}: a quote comes as a snapshot and then as patches of it`, async (t) => {
    const api = await startApi(t, { catalog: CATALOG });
    const client = await openStream(t, api.port, { token: api.token, kind, protocol });
    t.is(client.protocol, protocol);
    const { status, body } = await client.ask({ op: 'subscribe', channels: [QUOTES] });
    t.deepEqual({ status, body }, { status: 200, body: { channels: [QUOTES], mode: 'paper' } });
    const snapshot = await client.next();
    const { quote } = (await api.call('GET', `/instruments/${AWAY}/quote`)).json;
    t.like(snapshot, { channel: QUOTES, seq: 1, snapshot: true });
    t.deepEqual(snapshot.data, quote);

    const market = CATALOG.marketNames.findIndex((name) => name.startsWith('venue_a/'));
    let last = snapshot;
    for (const [bid, ask] of [
      [50, 53],
      [51, 53],
    ] as const) {
      const tick = quoteTick({ atMs: NOW_MS, market, yesBidCents: bid, yesAskCents: ask });
      api.engine.tick(tick);
      api.context.changed.note(tick);
      const change = await client.next();
      t.is(change.seq, last.seq + 1);
      t.is(change.epoch, snapshot.epoch);
      t.false('snapshot' in change);
      t.deepEqual(Object.keys(change.data), ['venues']);
      last = { ...change, data: patched(last.data, change.data) };
      const now = (await api.call('GET', `/instruments/${AWAY}/quote`)).json;
      t.deepEqual(last.data, now.quote);
    }
    t.deepEqual(await client.ask({ op: 'unsubscribe', channels: [QUOTES] }), {
      id: 'm2',
      ...NO_CHANNELS,
    } as never);
  });
}

test('J7: every client gets the same numbers, and one who comes later a snapshot with the last', async (t) => {
  const api = await startApi(t, { catalog: CATALOG });
  const first = await openStream(t, api.port, { token: api.token });
  await first.ask({ op: 'subscribe', channels: [QUOTES] });
  t.is((await first.next()).seq, 1);
  const tick = quoteTick({ atMs: NOW_MS, yesBidCents: 30 });
  api.engine.tick(tick);
  api.context.changed.note(tick);
  t.is((await first.next()).seq, 2);
  const second = await openStream(t, api.port, { token: api.token, protocol: 'msgpack' });
  await second.ask({ op: 'subscribe', channels: [QUOTES] });
  const snapshot = await second.next();
  t.like(snapshot, { seq: 2, snapshot: true });
  t.is(snapshot.data.venues[0].yesBidCents, 30);
  const last = quoteTick({ atMs: NOW_MS, yesBidCents: 31 });
  api.engine.tick(last);
  api.context.changed.note(last);
  const changes = await Promise.all([first.next(), second.next()]);
  t.deepEqual(changes[0], changes[1]);
  t.is(changes[0].seq, 3);
});

test('J7: a server that starts after another has another epoch', async (t) => {
  const epochs = new Set<number>();
  for (let starts = 0; starts < 2; starts++) {
    const api = await startApi(t, { catalog: CATALOG });
    const client = await openStream(t, api.port, { token: api.token });
    await client.ask({ op: 'subscribe', channels: ['games'] });
    epochs.add((await client.next()).epoch);
  }
  t.is(epochs.size, 2);
});

test('J11: a change that no venue has announced is seen all the same', async (t) => {
  const api = await startApi(t, { catalog: CATALOG });
  const client = await openStream(t, api.port, { token: api.token });
  await client.ask({ op: 'subscribe', channels: [QUOTES] });
  await client.next();
  api.engine.tick({ kind: 'down', atMs: NOW_MS, source: 0 });
  const { data } = await client.next();
  t.deepEqual(data.venues, []);
  t.is(data.omitted.length, 1);
});

test('J3: answers repeat the id; what is no message is 400 and keeps the connection', async (t) => {
  const api = await startApi(t, { catalog: CATALOG });
  const client = await openStream(t, api.port, { token: api.token });
  const wrong: [string, RegExp][] = [
    ['nonsense', /the message is not JSON/],
    ['[]', /must be a JSON object/],
    ['{"op":"ping","op":"ping"}', /"op\\?" is given twice/],
    ['{"op":"quote"}', /op must be one of subscribe, unsubscribe, ping, place, cancel/],
    ['{"op":"ping","more":1}', /unknown field "more"/],
    ['{"op":"ping","id":{}}', /id must be/],
    ['{"op":"subscribe"}', /channels is required/],
    ['{"op":"subscribe","channels":[]}', /channels must not be empty/],
    ['{"op":"subscribe","channels":["quotes"]}', /^channels\[0\] must be quotes/],
    ['{"op":"cancel"}', /orderId is required/],
  ];
  for (const [sent, message] of wrong) {
    client.sendRaw(sent);
    const answer = await client.next();
    t.is(answer.status, 400, sent);
    t.is(answer.body.error.code, 'invalid_request');
    t.regex(answer.body.error.message, message);
  }
  for (const id of [17, 'seventeen', null]) {
    client.send({ id, op: 'ping' });
    const { id: repeated, status, body } = await client.next();
    t.deepEqual([repeated, status, body.mode], [id, 200, 'paper']);
  }
});

for (const protocol of ['json', 'msgpack'] as const) {
  test(`J3: the wrong kind of frame closes a connection of ${protocol}`, async (t) => {
    const api = await startApi(t);
    const client = await openStream(t, api.port, { token: api.token, protocol });
    client.sendRaw(protocol === 'json' ? Uint8Array.of(0x80) : '{}');
    t.is((await client.closed).code, 1003);
  });
}

test('J3: msgpack that cannot be read is 400 and keeps the connection', async (t) => {
  const api = await startApi(t);
  const client = await openStream(t, api.port, { token: api.token, protocol: 'msgpack' });
  for (const bytes of [[0xc1], [0x90], [0xdf, 0xff, 0xff, 0xff, 0xff]]) {
    client.sendRaw(Uint8Array.from(bytes));
    t.like(await client.next(), { id: null, status: 400 });
  }
  t.is((await client.ask({ op: 'ping' })).status, 200);
});

test('J1: the handshake has the checks of a request, and counts as one', async (t) => {
  const api = await startApi(t, { catalog: CATALOG });
  const url = `http://127.0.0.1:${api.port}/v1/stream`;
  const handshake = (headers: Record<string, string>, query = '') =>
    fetch(url + query, { headers }).then(async (answer) => [answer.status, await answer.text()]);
  t.is((await handshake({}))[0], 401);
  const credential = { authorization: `Bearer ${api.token}` };
  const [status, text] = await handshake(credential);
  t.is(status, 400);
  t.regex(text as string, /Upgrade: websocket/);
  t.is((await handshake(credential, '?key=1'))[0], 400);
  t.is((await handshake({ ...credential, 'x-service-org': 'nonsense' }))[0], 400);
  const before = api.meter.usage(api.user).month.used;
  await t.throwsAsync(openStream(t, api.port, { token: 'svc_sk_nobody' }));
  t.is(api.meter.usage(api.user).month.used, before);
  await openStream(t, api.port, {
    token: '',
    headers: { 'x-service-key': api.token, authorization: '' },
  });
  t.is(api.meter.usage(api.user).month.used, before + 1);
});

test('J5: an account has at most 20 connections; those that are closed do not count', async (t) => {
  const api = await startApi(t);
  const open = () => openStream(t, api.port, { token: api.token });
  const clients = await Promise.all(Array.from({ length: 20 }, open));
  const before = api.meter.usage(api.user).month.used;
  await t.throwsAsync(open());
  t.is(api.meter.usage(api.user).month.used, before, 'a 429 does not count');
  const other = await api.addKey({ scopes: ['markets:read'] });
  await openStream(t, api.port, { token: other });
  clients[0]!.close();
  await clients[0]!.closed;
  await t.notThrowsAsync(open());
});

test('J5: a connection has at most 200 channels', async (t) => {
  const catalog = catalogOfMany(201);
  const api = await startApi(t, { catalog });
  const client = await openStream(t, api.port, { token: api.token });
  const [last, ...channels] = catalog.instrumentIds.map((id) => `quotes:${id}`);
  t.is((await client.ask({ op: 'subscribe', channels })).status, 200);
  const { status, body } = await client.ask({ op: 'subscribe', channels: [last] });
  t.deepEqual([status, body.error.code], [400, 'invalid_request']);
  t.regex(body.error.message, /at most 200 channels/);
  await client.ask({ op: 'unsubscribe', channels: [channels[0]] });
  t.is((await client.ask({ op: 'subscribe', channels: [last] })).status, 200);
});

test('J4, J5: the form of a subscription is looked at before what its channels are about', async (t) => {
  const api = await startApi(t, { catalog: CATALOG });
  const client = await openStream(t, api.port, { token: api.token });
  const unknown = (number: number) => `quotes:ins_${String(number).padStart(12, '0')}`;
  const wrong = {
    'a connection has at most 200 channels': Array.from({ length: 201 }, (_, at) => unknown(at)),
    'channels[1] must be quotes:ins_..., games or orders': [unknown(0), 'trades'],
  };
  for (const [message, channels] of Object.entries(wrong)) {
    const { status, body } = await client.ask({ op: 'subscribe', channels });
    t.deepEqual([status, body.error], [400, { code: 'invalid_request', message }]);
  }
  await api.switches.set('venueData', false);
  const { status } = await client.ask({ op: 'subscribe', channels: [QUOTES, 'quote:x'] });
  t.is(status, 400);
});

test('J4: channels have their scopes, and what they are about must exist', async (t) => {
  const api = await startApi(t, { catalog: CATALOG });
  const token = await api.addKey({ scopes: ['records:read'] });
  const client = await openStream(t, api.port, { token });
  for (const channel of [QUOTES, 'games']) {
    const { status, body } = await client.ask({ op: 'subscribe', channels: [channel] });
    t.deepEqual([status, body.error.code], [403, 'insufficient_scope']);
  }
  const trader = await openStream(t, api.port, { token: api.token });
  const channels = [QUOTES, 'quotes:ins_000000000000'];
  const refused = await trader.ask({ op: 'subscribe', channels });
  t.deepEqual([refused.status, refused.body.error.code], [404, 'instrument_not_found']);
  t.deepEqual((await trader.ask({ op: 'unsubscribe', channels })).body, NO_CHANNELS.body);
  t.deepEqual(trader.waiting, [], 'none of several channels is begun where one is refused');
  await sleep(100);
  const { changesAsked } = api.engine;
  await sleep(700);
  t.is(api.engine.changesAsked, changesAsked, 'and none is kept');
});

test('J12: turning venue data off ends quote channels, and no others', async (t) => {
  const api = await startApi(t, { catalog: CATALOG });
  const client = await openStream(t, api.port, { token: api.token });
  await client.ask({ op: 'subscribe', channels: [QUOTES, `quotes:${HOME}`, 'games'] });
  for (let snapshots = 0; snapshots < 3; snapshots++) await client.next();
  await api.switches.set('venueData', false);
  for (const channel of [QUOTES, `quotes:${HOME}`]) {
    const ended = await client.next();
    t.like(ended, { channel, ended: true });
    t.is(ended.error.code, 'venue_data_off');
  }
  const { status, body } = await client.ask({ op: 'subscribe', channels: [QUOTES] });
  t.deepEqual([status, body.error.code], [403, 'venue_data_off']);
  t.deepEqual((await client.ask({ op: 'unsubscribe', channels: [QUOTES] })).body.channels, [
    'games',
  ]);
});

test('J14: games come as the first page of the list, then each that changed', async (t) => {
  const api = await startApi(t);
  const client = await openStream(t, api.port, { token: api.token });
  await client.ask({ op: 'subscribe', channels: ['games'] });
  const { data, seq } = await client.next();
  const listed = (await api.call('GET', '/games?limit=100')).json;
  t.deepEqual(data, { games: listed.games, nextCursor: listed.nextCursor });
  const [{ slug, id }] = data.games;
  api.catalog.setGameStatus(slug, 'postponed');
  const change = await client.next();
  t.is(change.seq, seq + 1);
  t.deepEqual(change.data, (await api.call('GET', `/games/${id}`)).json.game);
  t.is(change.data.status, 'postponed');
});

test('J8: a heartbeat has the last number of each channel', async (t) => {
  const api = await startApi(t, { catalog: CATALOG });
  const client = await openStream(t, api.port, { token: api.token });
  await client.ask({ op: 'subscribe', channels: [QUOTES, 'games'] });
  const first = await client.next();
  const second = await client.next();
  const { at, seq } = await client.heartbeat();
  t.deepEqual(seq, { [first.channel]: first.seq, [second.channel]: second.seq });
  t.regex(at, /^\d{4}-.*Z$/);
});

test('J17, I13: a key that is revoked or expires ends its connections with 4401', async (t) => {
  const api = await startApi(t);
  const atOnce = await openStream(t, api.port, { token: api.token });
  const [key] = [...api.store.keys.values()];
  await api.store.putKey({ ...key!, revokedAtMs: Date.now() });
  t.is((await atOnce.closed).code, 4401, 'although it sends nothing');
  const brief = newKey(api.user.id, { expiresInDays: 1 }, 'cli', Date.now());
  await api.store.putKey(brief.key);
  const expiring = await openStream(t, api.port, { token: brief.token });
  await api.store.putKey({ ...brief.key, expiresAtMs: Date.now() - 1 });
  t.is((await expiring.closed).code, 4401);
});

test('J17, N135: a node that cannot know whether a key has ended closes its connections with 1001, so that clients connect again', async (t) => {
  const api = await startApi(t);
  const client = await openStream(t, api.port, { token: api.token });
  const { keys } = api.store;
  const { requireCurrent } = keys;
  keys.requireCurrent = () => {
    throw new ApiError('not_leader', { leader: null });
  };
  t.deepEqual(await client.closed, { code: 1001, reason: 'not_leader' });
  keys.requireCurrent = requireCurrent;
  const again = await openStream(t, api.port, { token: api.token });
  t.like(await again.ask({ op: 'subscribe', channels: ['games'] }), { status: 200 });
});

test('A65: a server that stops ends connections with 1001', async (t) => {
  const api = await startApi(t);
  const client = await openStream(t, api.port, { token: api.token });
  await api.close();
  t.is((await client.closed).code, 1001);
});
