/** A venue on loopback for tests of connections, and a connection to it. */
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import type { ExecutionContext } from 'ava';
import { type WebSocket, WebSocketServer } from 'ws';
import { openConnection } from '../../feeds/connection/connection.ts';
import type { ConnectionOptions } from '../../feeds/connection/connection-options.ts';
import type { Connection, ConnectionState } from '../../feeds/connection/connection-status.ts';
import type { VenueAdapter } from '../../feeds/reading/venue.ts';
import { nativeAdapter } from '../../feeds/venues/native/frames.ts';

/** Quick enough for a test, and slow enough that no bound is met by accident. */
export const TIMING = {
  silenceMs: 60_000,
  backoffBaseMs: 4,
  backoffCapMs: 16,
  handshakeMs: 5_000,
  answerMs: 60_000,
};

export type Venue = {
  url: string;
  /** Sockets in the order in which they were accepted. */
  sockets: WebSocket[];
  /** Everything clients sent, with the number of their socket. */
  received: { socket: number; text: string }[];
  headers: Record<string, unknown>[];
  /** Answers a client's message. */
  onMessage?: (socket: WebSocket, text: string) => void;
};

/** A venue on loopback that sends only the test's messages. */
export async function openVenue(t: ExecutionContext, autoPong = true): Promise<Venue> {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0, autoPong });
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
      const text = String(data);
      venue.received.push({ socket: number, text });
      venue.onMessage?.(socket, text);
    });
    socket.on('error', () => {});
  });
  t.teardown(async () => {
    for (const client of server.clients) client.terminate();
    await new Promise((closed) => server.close(closed));
  });
  return venue;
}

export type Log = {
  frames: string[];
  heartbeats: number;
  lost: number;
  states: ConnectionState[];
  logged: string;
};

export function connect(
  t: ExecutionContext,
  url: string,
  options: Partial<ConnectionOptions> = {},
): { connection: Connection; log: Log } {
  const adapter = options.adapter ?? nativeAdapter();
  const log: Log = { frames: [], heartbeats: 0, lost: 0, states: [], logged: '' };
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
    onHeartbeat: () => void log.heartbeats++,
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

export const SUBSCRIBE = '{"op":"subscribe","markets":["T1","T2"]}';

export function snapshot(seq: number): string {
  return `{"type":"snapshot","seq":${seq},"market":"T1","status":"open","yesBids":[[41,9]],"yesAsks":[[43,9]]}`;
}

/** An adapter of no protocol in particular. */
export function plainAdapter(): VenueAdapter {
  return {
    name: 'kalshi',
    recorded: false,
    books: 0,
    contractDecimals: 2,
    awaiting: 0,
    marketsMax: Number.POSITIVE_INFINITY,
    stateRequests: null,
    tellsResults: true,
    repeatsStatus: false,
    beginsWithStatus: false,
    keepalive: null,
    read: () => ({ type: 'any', ticks: [], venueAtMs: null, rejected: null, jump: false }),
    subscribe: (markets) => [markets],
    unsubscribe: () => [],
    ask: () => [],
    lose: () => [],
    wholeBooks: new Set(),
    headers: () => ({}),
    reset: () => {},
  };
}

export async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  await new Promise((closed) => server.close(closed));
  return port;
}
