import test from 'ava';
import type { VenueAdapter } from '../../../feeds/reading/venue.ts';
import { createAdapter } from '../../../feeds/venues/create.ts';
import { until } from '../until.ts';
import { connect, openVenue, plainAdapter, SUBSCRIBE, snapshot, TIMING } from '../venue-server.ts';

test('W2: subscribes to its markets and hands frames over in order', async (t) => {
  const venue = await openVenue(t);
  const { connection, log } = connect(t, venue.url);
  await until(() => venue.received.length === 1, 'a subscribe');
  t.is(venue.received[0]?.text, SUBSCRIBE);
  venue.sockets[0]?.send(snapshot(1));
  venue.sockets[0]?.send('{"type":"heartbeat","seq":2}');
  await until(() => log.frames.length === 2, 'two frames');
  t.deepEqual(log.frames, [snapshot(1), '{"type":"heartbeat","seq":2}']);
  t.is(log.lost, 0);
  const status = connection.status();
  t.is(status.state, 'open');
  t.is(status.frames, 2);
  t.not(status.lastHeardMs, null);
});

test('W6: a lost connection is reported once, then dialed and subscribed again', async (t) => {
  const venue = await openVenue(t);
  const { connection, log } = connect(t, venue.url);
  await until(() => venue.received.length === 1, 'the first subscribe');
  venue.sockets[0]?.terminate();
  await until(() => venue.received.length === 2, 'the second subscribe');
  t.is(log.lost, 1);
  t.deepEqual(venue.received[1], { socket: 1, text: SUBSCRIBE });
  t.deepEqual(log.states, ['connecting', 'open', 'waiting', 'connecting', 'open']);
  t.is(connection.status().attempts, 2);
});

test('T14: after a gap quotes are lost until a fresh snapshot of a new connection', async (t) => {
  const venue = await openVenue(t);
  const { connection, log } = connect(t, venue.url);
  await until(() => venue.received.length === 1, 'a subscribe');
  venue.sockets[0]?.send(snapshot(1));
  venue.sockets[0]?.send(snapshot(3));
  venue.sockets[0]?.send(snapshot(4));
  await until(() => venue.received.length === 2, 'a subscribe on a new connection');
  t.is(log.lost, 1);
  t.deepEqual(log.frames, [snapshot(1), snapshot(3)], 'nothing is read of a dropped connection');
  t.is(connection.status().lastProblem, 'gap in the sequence');
  venue.sockets[1]?.send(snapshot(1));
  venue.sockets[1]?.send(snapshot(2));
  await until(() => log.frames.length === 4, 'fresh snapshots');
  t.is(log.lost, 1, 'the sequence started over');
});

test('W2, W21: pings are answered, count as heartbeats and keep a quiet connection open', async (t) => {
  const venue = await openVenue(t);
  const { log } = connect(t, venue.url, { timing: { ...TIMING, silenceMs: 1500 } });
  await until(() => venue.received.length === 1, 'a subscribe');
  const startMs = Date.now();
  const pongs: string[] = [];
  venue.sockets[0]?.on('pong', (data) => pongs.push(String(data)));
  const beat = setInterval(() => venue.sockets[0]?.ping('heartbeat'), 50);
  t.teardown(() => clearInterval(beat));
  await until(() => Date.now() - startMs > 2000, 'more than the silence bound');
  t.is(venue.sockets.length, 1);
  t.is(log.lost, 0);
  t.true(log.heartbeats > 5);
  t.is(log.frames.length, 0);
  t.true(pongs.length > 5);
  t.deepEqual([...new Set(pongs)], ['heartbeat'], 'a pong carries what its ping carried');
});

test('W4: silence ends a connection that is still open', async (t) => {
  const venue = await openVenue(t);
  const { connection, log } = connect(t, venue.url, { timing: { ...TIMING, silenceMs: 30 } });
  await until(() => venue.sockets.length >= 2, 'a second connection');
  t.true(log.lost >= 1);
  t.is(connection.status().lastProblem, 'silent for 30 ms');
});

test('W2: keepalive texts are sent, and their answers are heartbeats and no frames', async (t) => {
  const venue = await openVenue(t);
  const adapter: VenueAdapter = { ...plainAdapter(), keepalive: { text: 'PING', everyMs: 5 } };
  const { log } = connect(t, venue.url, { adapter });
  await until(() => venue.received.some(({ text }) => text === 'PING'), 'a keepalive');
  venue.sockets[0]?.send('PONG');
  venue.sockets[0]?.send('[]');
  await until(() => log.frames.length === 1, 'the frame after the answer');
  t.deepEqual(log.frames, ['[]']);
  t.is(log.heartbeats, 1);
});

test('W20: each handshake carries freshly made headers', async (t) => {
  const venue = await openVenue(t);
  let made = 0;
  const adapter: VenueAdapter = { ...plainAdapter(), headers: () => ({ 'x-sign': `${++made}` }) };
  connect(t, venue.url, { adapter });
  await until(() => venue.sockets.length === 1, 'a connection');
  venue.sockets[0]?.close();
  await until(() => venue.sockets.length === 2, 'a second connection');
  t.deepEqual(
    venue.headers.map((headers) => headers['x-sign']),
    ['1', '2'],
  );
});

test('W7: a native connection subscribes to markets that are added, each only once', async (t) => {
  const venue = await openVenue(t);
  const markets = ['T1'];
  const { connection, log } = connect(t, venue.url, { markets: () => markets });
  await until(() => venue.received.length === 1, 'a subscribe');
  connection.marketsChanged();
  markets.push('T2', 'T3');
  connection.marketsChanged();
  await until(() => venue.received.length === 2, 'a second subscribe');
  t.is(venue.received[1]?.text, '{"op":"subscribe","markets":["T2","T3"]}');
  t.is(log.lost, 0);
});

for (const name of ['kalshi', 'polymarket', 'polymarket_us'] as const) {
  test(`W7: a connection of ${name} subscribes to new markets and stays`, async (t) => {
    const venue = await openVenue(t);
    const markets = ['T1'];
    const adapter = createAdapter(name);
    const { connection, log } = connect(t, venue.url, { adapter, markets: () => markets });
    await until(() => venue.received.some(({ text }) => text.includes('T1')), 'a subscribe');
    markets.push('T2');
    connection.marketsChanged();
    await until(() => venue.received.some(({ text }) => text.includes('T2')), 'a second one');
    t.deepEqual([log.lost, venue.sockets.length], [0, 1]);
    const texts = venue.received.map(({ text }) => text);
    t.false(texts.some((text) => text.includes('T1') && text.includes('T2')));
    t.is(new Set(texts).size, texts.length, 'no request comes twice');
  });
}
