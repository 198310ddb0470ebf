import type { AddressInfo } from 'node:net';
import { createServer, type Socket } from 'node:net';
import test from 'ava';
import { WebSocketServer } from 'ws';
import type { VenueAdapter } from '../../../feeds/reading/venue.ts';
import { nativeAdapter } from '../../../feeds/venues/native/frames.ts';
import { until } from '../until.ts';
import { closedPort, connect, openVenue, plainAdapter, snapshot, TIMING } from '../venue-server.ts';

test('W6: pauses grow by full jitter up to the cap, and start over with the first good snapshot', async (t) => {
  // A port that was free a moment ago refuses connections.
  const pauses: number[] = [];
  const refusing = await closedPort();
  const { connection } = connect(t, `ws://127.0.0.1:${refusing}/`, {
    random: () => 0.999,
    onState: ({ retryInMs }) => {
      if (retryInMs !== null) pauses.push(retryInMs);
    },
  });
  await until(() => pauses.length >= 5, 'five attempts');
  t.deepEqual(pauses.slice(0, 5), [3, 7, 15, 15, 15]);
  t.is(connection.status().state === 'open', false);
  connection.close();

  const venue = await openVenue(t);
  const healthy = connect(t, venue.url);
  await until(() => venue.received.length === 1, 'a subscribe');
  venue.sockets[0]?.send('{"type":"heartbeat","seq":1}');
  await until(() => healthy.log.frames.length === 1, 'a frame without a price');
  t.is(healthy.connection.status().attempts, 1);
  venue.sockets[0]?.send(snapshot(2));
  await until(() => healthy.log.frames.length === 2, 'a snapshot');
  t.is(healthy.connection.status().attempts, 0);
});

test('W6, W13: a venue that stays late is dialed ever more slowly, until a connection lasts', async (t) => {
  const venue = await openVenue(t);
  const adapter = nativeAdapter();
  let isLate = true;
  const { connection, log } = connect(t, venue.url, {
    adapter,
    timing: { ...TIMING, steadyMs: 200 },
    onFrame(text) {
      const reading = adapter.read(JSON.parse(text));
      if (!isLate || !text.includes('"seq":2')) return reading;
      return { ...reading, drop: 'late', late: true };
    },
  });
  for (let number = 0; number < 3; number++) {
    await until(() => venue.received.length === number + 1, 'a subscribe');
    if (number === 2) isLate = false;
    for (const seq of [1, 2]) venue.sockets[number]!.send(snapshot(seq));
  }
  await until(() => connection.status().frames === 6, 'every frame');
  t.is(connection.status().attempts, 2, 'books alone do not start the pauses over');
  let seq = 2;
  await until(() => {
    venue.sockets[2]!.send(snapshot(++seq));
    return connection.status().attempts === 0;
  }, 'a connection that lasts');
  t.is(log.lost, 2);
});

test('W6: a venue that refuses handshakes as too many is dialed again, ever more slowly', async (t) => {
  let refusals = 0;
  const server = new WebSocketServer({
    host: '127.0.0.1',
    port: 0,
    verifyClient: (_, answer) => (refusals < 3 ? answer(false, 429) : answer(true)),
  });
  t.teardown(() => {
    for (const client of server.clients) client.terminate();
    server.close();
  });
  await new Promise((listening) => server.once('listening', listening));
  const pauses: number[] = [];
  const { connection, log } = connect(
    t,
    `ws://127.0.0.1:${(server.address() as AddressInfo).port}`,
    {
      random: () => 0.999,
      onState: ({ retryInMs }) => {
        if (retryInMs === null) return;
        refusals++;
        pauses.push(retryInMs);
      },
    },
  );
  await until(() => connection.status().state === 'open', 'a handshake that is taken');
  t.deepEqual(pauses, [3, 7, 15]);
  t.regex(connection.status().lastProblem ?? '', /429/);
  t.is(log.lost, 0);
});

test('W8: close ends everything at once, also between attempts', async (t) => {
  const refusing = await closedPort();
  const { connection, log } = connect(t, `ws://127.0.0.1:${refusing}/`, {
    random: () => 0.999,
    timing: { ...TIMING, backoffBaseMs: 3_600_000, backoffCapMs: 3_600_000 },
  });
  await until(() => connection.status().state === 'waiting', 'a pause');
  connection.close();
  t.is(connection.status().state, 'closed');
  t.is(log.lost, 0, 'it was never open');
  connection.close();
  t.is(log.states.filter((state) => state === 'closed').length, 1);
});

test('W8: close of an open connection kills its quotes and reads nothing more', async (t) => {
  const venue = await openVenue(t);
  const { connection, log } = connect(t, venue.url);
  await until(() => venue.received.length === 1, 'a subscribe');
  const ended = new Promise((closed) => venue.sockets[0]?.once('close', closed));
  venue.sockets[0]?.send(snapshot(1));
  connection.close();
  await ended;
  t.is(log.lost, 1);
  t.deepEqual(log.frames, []);
  t.is(venue.sockets.length, 1);
});

test('feeds/connection/connection.ts: malformed and binary frames are handed over as text, none of them throws', async (t) => {
  const venue = await openVenue(t);
  const { log } = connect(t, venue.url);
  await until(() => venue.received.length === 1, 'a subscribe');
  const socket = venue.sockets[0]!;
  socket.send('not json');
  socket.send(Buffer.from(snapshot(1)), { binary: true });
  socket.send(Buffer.from([0xff, 0xfe, 0x00]), { binary: true });
  await until(() => log.frames.length === 3, 'three frames');
  t.is(log.frames[1], snapshot(1));
  t.is(log.lost, 0);
});

test('W5: a frame beyond the payload bound, or one its taker fails on, starts afresh', async (t) => {
  const venue = await openVenue(t);
  const { connection, log } = connect(t, venue.url, {
    onFrame() {
      throw new TypeError('a fault of ours');
    },
  });
  await until(() => venue.received.length === 1, 'a subscribe');
  venue.sockets[0]?.send('{}');
  await until(() => venue.received.length === 2, 'a second connection');
  t.is(connection.status().lastProblem, 'frame could not be taken (TypeError)');
  venue.sockets[1]?.send('x'.repeat(4 * 1024 * 1024 + 1));
  await until(() => venue.received.length === 3, 'a third connection');
  t.regex(connection.status().lastProblem ?? '', /payload/i);
  t.is(log.lost, 2);
});

test('W3: a server that never answers the handshake is given up', async (t) => {
  const held: Socket[] = [];
  const server = createServer((socket) => void held.push(socket));
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  t.teardown(() => {
    for (const socket of held) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const { log } = connect(t, `ws://127.0.0.1:${port}/`, {
    timing: { ...TIMING, handshakeMs: 20 },
  });
  await until(() => held.length >= 2, 'a second attempt');
  t.is(log.lost, 0);
});

test('W3: a handshake has its time from dialing, however bytes drip in', async (t) => {
  let closed = 0;
  const server = createServer((socket) => {
    const answer = `HTTP/1.1 101 Switching Protocols\r\nx-drip: ${'x'.repeat(10_000)}`;
    let sent = 0;
    const drip = setInterval(() => socket.write(answer[sent++ % answer.length]!), 1);
    socket.on('error', () => {});
    socket.on('close', () => {
      clearInterval(drip);
      closed++;
    });
    socket.resume();
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  t.teardown(() => new Promise<void>((ended) => server.close(() => ended())));
  const { port } = server.address() as AddressInfo;
  const { connection, log } = connect(t, `ws://127.0.0.1:${port}/`, {
    timing: { ...TIMING, handshakeMs: 200 },
  });
  await until(() => closed >= 2, 'two sockets that stay closed');
  t.is(connection.status().lastProblem, 'not open after 200 ms');
  t.false(log.states.includes('open'));
  t.is(log.lost, 0);
  connection.close();
});

test('W9: a feed is down since the last connection that stayed open', async (t) => {
  const venue = await openVenue(t);
  let wallMs = 1_000_000;
  const downSince: (number | null)[] = [];
  const { connection } = connect(t, venue.url, {
    wallMs: () => wallMs,
    onState: ({ state, downSinceMs }) => {
      if (state === 'waiting') downSince.push(downSinceMs);
    },
  });
  t.is(connection.status().downSinceMs, 1_000_000);
  for (const openMs of [9_999, 10_000]) {
    await until(() => venue.received.length === downSince.length + 1, 'a subscribe');
    t.is(connection.status().downSinceMs, null);
    wallMs += openMs;
    venue.sockets[downSince.length]?.terminate();
    await until(() => downSince.length === venue.received.length, 'a loss');
  }
  t.deepEqual(downSince, [1_000_000, 1_019_999]);
});

test('W9: a market is unquoted from its subscription to its first quote', async (t) => {
  const venue = await openVenue(t);
  const markets = ['T1', 'T2', 'T3', 'T4', 'T5'];
  const { connection, log } = connect(t, venue.url, {
    markets: () => markets,
    awaitsQuote: (market) => market !== 'T5',
    wallMs: () => 7,
  });
  await until(() => venue.received.length === 1, 'a subscribe');
  const { unquoted } = connection.status();
  t.deepEqual(
    [...unquoted],
    [
      ['T1', 7],
      ['T2', 7],
      ['T3', 7],
      ['T4', 7],
    ],
  );
  const say = (frame: object, seq: number) =>
    venue.sockets[0]?.send(JSON.stringify({ ...frame, seq }));
  venue.sockets[0]?.send(snapshot(1));
  say({ type: 'status', market: 'T2', status: 'resolved', result: 'yes' }, 2);
  say({ type: 'status', market: 'T3', status: 'open' }, 3);
  say({ type: 'quote', market: 'T4', yesBidCents: 'x' }, 4); // refused: not a quote
  say({ type: 'trade', market: 'T4', yesPriceCents: 41, contracts: 1, side: 'yes' }, 5);
  await until(() => log.frames.length === 5, 'five frames');
  t.deepEqual([...connection.status().unquoted.keys()], ['T3', 'T4']);
  venue.sockets[0]?.terminate();
  await until(() => venue.received.length === 2, 'a second subscribe');
  t.is(connection.status().unquoted.size, 4);
});

test('W9: a venue that stays silent over connections leaves its markets unquoted all the while', async (t) => {
  const venue = await openVenue(t);
  let markets = ['T1', 'T2'];
  let wallMs = 1000;
  const { connection } = connect(t, venue.url, {
    markets: () => markets,
    awaitsQuote: (market) => market !== 'T2' || wallMs === 1000,
    wallMs: () => wallMs,
  });
  await until(() => venue.received.length === 1, 'a subscribe');
  t.deepEqual([...connection.status().unquoted.keys()], ['T1', 'T2']);
  wallMs = 31_000;
  markets = ['T1', 'T2', 'T3'];
  venue.sockets[0]?.terminate();
  await until(() => venue.received.length === 2, 'a second subscribe');
  t.deepEqual(
    [...connection.status().unquoted],
    [
      ['T1', 1000],
      ['T3', 31_000],
    ],
  );
  markets = ['T3'];
  connection.marketsChanged();
  t.deepEqual([...connection.status().unquoted.keys()], ['T3'], 'T1 left the catalog');
});

test('W10: a handshake is signed for the time of the machine', async (t) => {
  const venue = await openVenue(t);
  const adapter: VenueAdapter = {
    ...plainAdapter(),
    headers: (nowMs) => ({ 'x-time': String(nowMs) }),
  };
  connect(t, venue.url, { adapter, nowMs: () => 1, wallMs: () => 2 });
  await until(() => venue.sockets.length === 1, 'a connection');
  t.is(venue.headers[0]?.['x-time'], '2');
});

test('W11, PAPERBOOK_FEEDS: no secret of a url or a signature is shown or logged', async (t) => {
  const refusing = await closedPort();
  const adapter: VenueAdapter = {
    ...plainAdapter(),
    headers() {
      throw new Error('bad key hunter2');
    },
  };
  const url = `ws://user:hunter2@127.0.0.1:${refusing}/feed?token=hunter2#hunter2`;
  const refused = connect(t, url);
  const unsigned = connect(t, url, { adapter });
  for (const { connection, log } of [refused, unsigned]) {
    await until(() => connection.status().attempts >= 2, 'two attempts');
    const shown = JSON.stringify(connection.status()) + log.logged;
    t.false(shown.includes('hunter2'));
    t.is(connection.status().url, `ws://127.0.0.1:${refusing}/feed`);
  }
  for (const bad of ['http://hunter2.example/', 'hunter2']) {
    const error = t.throws(() => connect(t, bad));
    t.is(error?.message, 'feed of venue_a: url must be a ws:// or wss:// address');
  }
});
