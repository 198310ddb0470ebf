/**
 * A venue in a separate process that speaks Kalshi's protocol: increments at a rate over its
 * markets, and two markets that carry the time at which they were sent. Arguments: how many
 * markets. Prints its port.
 */
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import {
  deepBookOf,
  deltaOf,
  type Mix,
  snapshotOf,
  tickerOf,
  topOf,
} from '../lib/kalshi-frames.ts';
import { FILL_MARKET, type FromVenue, LAG_MARKET, type ToVenue } from '../lib/kalshi-venue.ts';
import { seededRandom } from '../lib/random.ts';
import { codeOf, nowTenths } from '../lib/venue-time.ts';

const FIRST = 2;
const EVERY_MS = 1;
/** Bytes that wait in the socket; beyond them the venue waits too. */
const WAITING_MAX = 64 * 1024 * 1024;

const random = seededRandom(7);
const books = Array.from({ length: Number(process.argv[2]) }, () =>
  deepBookOf(30 + random.below(40)),
);
const rate = { perSecond: 0, markersPerSecond: 0, mix: 'recorded' as Mix };
let seq = 0;
let frames = 0;
let waitingMost = 0;
let socket: WebSocket | null = null;
/** Frames that are due, and not yet sent. */
let due = 0;
let markersDue = 0;
let lastMs = performance.now();

const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
server.on('listening', () => {
  process.stdout.write(`listening on ${(server.address() as AddressInfo).port}\n`);
});
server.on('connection', (connected) => {
  socket = connected;
  seq = 0;
  connected.on('message', (data) => subscribe(connected, JSON.parse(String(data))));
  connected.on('error', () => {});
});

type Subscription = { id: number; params: { channels: string[]; market_tickers?: string[] } };

function subscribe(to: WebSocket, { id, params }: Subscription): void {
  for (const channel of params.channels) {
    const sid = channel === 'orderbook_delta' ? 1 : channel === 'trade' ? 2 : 3;
    to.send(JSON.stringify({ id, type: 'subscribed', msg: { channel, sid } }));
  }
  for (const ticker of params.market_tickers ?? []) {
    const market = NUMBERS.get(ticker)!;
    const frame =
      market < FIRST ? topOf(market, 40, 60, 1, ++seq) : snapshotOf(market, books[market]!, ++seq);
    to.send(frame);
  }
}

const NUMBERS = new Map(books.map((_, market) => [tickerOf(market), market]));

setInterval(() => {
  const nowMs = performance.now();
  due = Math.min(due + ((nowMs - lastMs) * rate.perSecond) / 1000, rate.perSecond);
  markersDue = Math.min(markersDue + ((nowMs - lastMs) * rate.markersPerSecond) / 1000, 2);
  lastMs = nowMs;
  if (socket === null || socket.readyState !== socket.OPEN) return;
  waitingMost = Math.max(waitingMost, socket.bufferedAmount);
  if (socket.bufferedAmount > WAITING_MAX) return;
  // All frames that are due leave in one call, because the server shares the cores.
  const raw = (socket as unknown as { _socket: { cork(): void; uncork(): void } })._socket;
  raw.cork();
  for (; due >= 1; due--) {
    socket.send(deltaOf(random, books, seq++, Date.now(), { first: FIRST, mix: rate.mix }));
    frames++;
  }
  for (; markersDue >= 1; markersDue--) mark(socket);
  raw.uncork();
}, EVERY_MS);

function mark(to: WebSocket): number {
  const atTenths = nowTenths();
  frames++;
  to.send(topOf(LAG_MARKET, 40, 60, codeOf(atTenths), ++seq));
  return atTenths;
}

process.on('message', (message: ToVenue) => {
  switch (message.kind) {
    case 'rate':
      Object.assign(rate, message);
      return;
    case 'mark':
      return say({ kind: 'sent', atTenths: mark(socket!) });
    case 'ask': {
      const atTenths = nowTenths();
      frames++;
      socket!.send(topOf(FILL_MARKET, 10, message.cents, 1000, ++seq));
      return say({ kind: 'sent', atTenths });
    }
    case 'count':
      say({ kind: 'counted', frames, waitingMost });
      waitingMost = 0;
      return;
    default:
      message satisfies never;
  }
});
process.on('disconnect', () => process.exit(0));

function say(message: FromVenue): void {
  process.send!(message);
}
