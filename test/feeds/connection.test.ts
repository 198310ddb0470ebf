import type { AddressInfo } from 'node:net';
import { createServer, type Socket } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import { type WebSocket, WebSocketServer } from 'ws';
import { createAdapter } from '../../feeds/adapters/create.ts';
import { nativeAdapter } from '../../feeds/adapters/native.ts';
import { type Connection, openConnection } from '../../feeds/connection.ts';
import type { ConnectionOptions, ConnectionState } from '../../feeds/connection-options.ts';
import type { VenueAdapter } from '../../feeds/venue.ts';
import { until } from './until.ts';

/** Quick enough for a test, and slow enough that no bound is met by accident. */
const TIMING = { silenceMs: 60_000, backoffBaseMs: 4, backoffCapMs: 16, handshakeMs: 5_000 };

type Venue = {
  url: string;
  /** Sockets in the order in which they were accepted. */
  sockets: WebSocket[];
  /** Everything clients sent, with the number of their socket. */
  received: { socket: number; text: string }[];
  headers: Record<string, unknown>[];
};

/** A venue on loopback that says only what the test makes it say. */
async function openVenue(t: ExecutionContext): Promise<Venue> {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  await new Promise((listening) => server.once('listening', listening));
  const { port } = server.address() as AddressInfo;
  const venue: Venue = {
    url: `ws://127.0.0.1:${port}/feed`,
    sockets: [],
    received: [],
    headers: [],
  };
  server.on('connection', (socket, request) => {
    const number = venue.sockets.push(socket) - 1;
    venue.headers.push(request.headers);
    socket.on('message', (data) => {
      venue.received.push({ socket: number, text: String(data) });
    });
    socket.on('error', () => {});
  });
  t.teardown(async () => {
    for (const client of server.clients) client.terminate();
    await new Promise((closed) => server.close(closed));
  });
  return venue;
}

type Log = {
  frames: string[];
  heard: number;
  lost: number;
  states: ConnectionState[];
  logged: string;
};

function connect(
  t: ExecutionContext,
  url: string,
  options: Partial<ConnectionOptions> = {},
): { connection: Connection; log: Log } {
  const adapter = options.adapter ?? nativeAdapter();
  const log: Log = { frames: [], heard: 0, lost: 0, states: [], logged: '' };
  const write = (fields: object, message: string) => {
    log.logged += `${message} ${JSON.stringify(fields)}\n`;
  };
  const connection = openConnection({
    url,
    venue: 'venue_a',
    adapter,
    markets: () => ['T1', 'T2'],
    onFrame(text) {
      log.frames.push(text);
      return adapter.read(text.startsWith('{') ? JSON.parse(text) : text);
    },
    onHeartbeat: () => void log.heard++,
    onLost: () => void log.lost++,
    onState: ({ state }) => void log.states.push(state),
    nowMs: Date.now,
    log: { info: write, warn: write },
    timing: TIMING,
    ...options,
  });
  t.teardown(() => connection.close());
  return { connection, log };
}

const SUBSCRIBE = '{"op":"subscribe","markets":["T1","T2"]}';

function snapshot(seq: number): string {
  return `{"type":"snapshot","seq":${seq},"market":"T1","status":"open","yesBids":[[41,9]],"yesAsks":[[43,9]]}`;
}

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

test('W6: a lost connection is told once, then dialed and subscribed again', async (t) => {
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

test('W2: pings are heard and keep a quiet connection open', async (t) => {
  const venue = await openVenue(t);
  const { log } = connect(t, venue.url, { timing: { ...TIMING, silenceMs: 1500 } });
  await until(() => venue.received.length === 1, 'a subscribe');
  const startMs = Date.now();
  const beat = setInterval(() => venue.sockets[0]?.ping('heartbeat'), 50);
  t.teardown(() => clearInterval(beat));
  await until(() => Date.now() - startMs > 2000, 'more than the silence bound');
  t.is(venue.sockets.length, 1);
  t.is(log.lost, 0);
  t.true(log.heard > 5);
  t.is(log.frames.length, 0);
});

test('W4: silence ends a connection that is still open', async (t) => {
  const venue = await openVenue(t);
  const { connection, log } = connect(t, venue.url, { timing: { ...TIMING, silenceMs: 30 } });
  await until(() => venue.sockets.length >= 2, 'a second connection');
  t.true(log.lost >= 1);
  t.is(connection.status().lastProblem, 'silent for 30 ms');
});

test('W2: keepalive texts are sent, and their answers are heard but no frames', async (t) => {
  const venue = await openVenue(t);
  const adapter: VenueAdapter = { ...plainAdapter(), keepalive: { text: 'PING', everyMs: 5 } };
  const { log } = connect(t, venue.url, { adapter });
  await until(() => venue.received.some(({ text }) => text === 'PING'), 'a keepalive');
  venue.sockets[0]?.send('PONG');
  venue.sockets[0]?.send('[]');
  await until(() => log.frames.length === 1, 'the frame after the answer');
  t.deepEqual(log.frames, ['[]']);
  t.is(log.heard, 1);
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

for (const name of ['kalshi', 'polymarket_us'] as const) {
  test(`W7: a connection of ${name} is dialed again for new markets`, async (t) => {
    const venue = await openVenue(t);
    const markets = ['T1'];
    const adapter = createAdapter(name)!;
    const { connection, log } = connect(t, venue.url, { adapter, markets: () => markets });
    await until(() => venue.received.length > 0, 'a subscribe');
    markets.push('T2');
    connection.marketsChanged();
    const onSecond = () => venue.received.some(({ socket }) => socket === 1);
    await until(onSecond, 'a subscribe on a new connection');
    t.is(log.lost, 1);
  });
}

test('W7: an adapter that does not subscribe again is dialed again for new markets', async (t) => {
  const venue = await openVenue(t);
  const markets = ['T1'];
  const adapter = plainAdapter();
  const { connection, log } = connect(t, venue.url, { adapter, markets: () => markets });
  await until(() => venue.received.length === 1, 'a subscribe');
  markets.push('T2');
  connection.marketsChanged();
  await until(() => venue.received.length === 2, 'a subscribe on a new connection');
  t.deepEqual(venue.received[1], { socket: 1, text: '["T1","T2"]' });
  t.is(log.lost, 1);
});

test('feeds/connection.ts: pauses grow by full jitter up to the cap, and start over once healthy', async (t) => {
  // A port that was free a moment ago refuses connections.
  const pauses: number[] = [];
  const refusing = await closedPort();
  const { connection } = connect(t, `ws://127.0.0.1:${refusing}/`, {
    random: () => 0.999,
    log: {
      info: () => {},
      warn: (fields) => void pauses.push((fields as { retryInMs: number }).retryInMs),
    },
  });
  await until(() => pauses.length >= 5, 'five attempts');
  t.deepEqual(pauses.slice(0, 5), [3, 7, 15, 15, 15]);
  t.is(connection.status().state === 'open', false);
  connection.close();

  const venue = await openVenue(t);
  const healthy = connect(t, venue.url, { timing: { ...TIMING, healthyMs: 1 } });
  await until(() => healthy.connection.status().attempts === 0, 'a healthy connection');
  t.is(healthy.connection.status().state, 'open');
});

test('feeds/connection.ts: close ends everything at once, also between attempts', async (t) => {
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

test('feeds/connection.ts: close of an open connection kills its quotes and reads nothing more', async (t) => {
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

test('feeds/connection.ts: malformed and binary frames are handed over as text, none of them throws', async (t) => {
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

test('feeds/connection.ts: a frame beyond the payload bound, or one its taker fails on, starts afresh', async (t) => {
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

test('feeds/connection.ts: a server that never answers the handshake is given up', async (t) => {
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
  await until(() => closed >= 2, 'two sockets that were closed for good');
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

/** An adapter of no protocol in particular. */
function plainAdapter(): VenueAdapter {
  return {
    name: 'kalshi',
    recorded: false,
    books: 0,
    contractDecimals: 2,
    subscribesAgain: false,
    keepalive: null,
    read: () => ({ type: 'any', ticks: [], venueAtMs: null, rejected: null, gap: false }),
    subscribe: (markets) => [markets],
    headers: () => ({}),
    reset: () => {},
  };
}

async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  await new Promise((closed) => server.close(closed));
  return port;
}
