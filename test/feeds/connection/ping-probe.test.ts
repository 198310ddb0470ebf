/** What pings show of a connection whose prices carry no time. */
import { setTimeout as pause } from 'node:timers/promises';
import test from 'ava';
import { createIngest } from '../../../feeds/ingest/ingest.ts';
import type { VenueAdapter } from '../../../feeds/reading/venue.ts';
import { kalshiAdapter } from '../../../feeds/venues/kalshi/frames.ts';
import { nativeAdapter } from '../../../feeds/venues/native/frames.ts';
import { openWorld } from '../feed-world.ts';
import { POLYMARKET_US } from '../live-venues.ts';
import { until } from '../until.ts';
import { connect, openVenue, plainAdapter } from '../venue-server.ts';

/** An adapter whose every frame asks for pings. */
function untimed(probeWithinMs: number): VenueAdapter {
  const adapter = plainAdapter();
  return { ...adapter, read: (frame) => ({ ...adapter.read(frame), probeWithinMs }) };
}

test('W18: a venue that stops answering pings is late: no price, and a new connection', async (t) => {
  const venue = await POLYMARKET_US.open(t);
  venue.tops.set('a', { bid: 40, ask: 45 });
  let isAnswering = true;
  venue.intercept = (socket, { subscribe }) => {
    const bestBid = { value: '0.40', currency: 'USD' };
    const bestAsk = { value: '0.45', currency: 'USD' };
    const marketDataLite = { marketSlug: 'a', bestBid, bestAsk, bidDepth: 5, askDepth: 4 };
    // What waits in the socket is before the answers too: none gets through.
    if (!isAnswering) return true;
    socket.send(JSON.stringify({ requestId: subscribe.requestId, marketDataLite }));
    return true;
  };
  const adapter = { lite: true };
  const world = openWorld(t, POLYMARKET_US, venue, { adapter, lagMaxMs: 300 });
  await until(() => world.priceOf('a') !== null, 'a price');
  let pings = 0;
  venue.sockets.at(-1)!.on('ping', () => pings++);
  await until(() => pings > 1, 'a second ping, so that one was answered');
  isAnswering = false;
  venue.sockets.at(-1)!.pause();
  await until(() => world.priceOf('a') === null, 'no price');
  t.true(world.ticks.some(({ kind }) => kind === 'down'));
  await until(() => /a ping unanswered for 300 ms/.test(world.logged), 'the reason');
});

test('W18: the answer to a ping is no heartbeat, a ping of the venue is', async (t) => {
  const venue = await openVenue(t);
  const { log } = connect(t, venue.url, { adapter: untimed(10_000) });
  await until(() => venue.received.length === 1, 'a subscribe');
  const socket = venue.sockets[0]!;
  let pings = 0;
  socket.on('ping', () => pings++);
  socket.send('{}');
  await until(() => pings === 1, 'a ping');
  // After the answer in the socket.
  socket.ping('of the venue');
  await until(() => log.heartbeats > 0, 'a heartbeat');
  t.is(log.heartbeats, 1);
  socket.pong('unasked');
  await until(() => log.heartbeats === 2, 'a pong that answers nothing');
  t.is(log.lost, 0);
});

test('W18: a venue that never answers a ping is not measured', async (t) => {
  const venue = await openVenue(t, false);
  const { log } = connect(t, venue.url, { adapter: untimed(20) });
  await until(() => venue.received.length === 1, 'a subscribe');
  let pings = 0;
  venue.sockets[0]!.on('ping', () => pings++);
  venue.sockets[0]!.send('{}');
  await until(() => pings > 0, 'a ping');
  await pause(300);
  t.is(log.lost, 0);
  t.is(venue.sockets.length, 1);
});

test('W18: without a price that lacks its time there are no pings', (t) => {
  const snapshot = {
    type: 'snapshot',
    seq: 1,
    market: 'A',
    status: 'open',
    yesBids: [],
    yesAsks: [],
  };
  const probeOf = (adapter: VenueAdapter, frame: object, lagMaxMs: number | null) => {
    const sink = () => {};
    const ingest = createIngest({ marketNumber: () => 1, sink, log: sink, lagMaxMs });
    adapter.subscribe(['A']);
    return ingest.session('venue_a', adapter, 0).frame(frame, 0).probeWithinMs;
  };
  t.is(probeOf(nativeAdapter(), snapshot, 2_000), 2_000);
  t.is(probeOf(nativeAdapter(), { ...snapshot, at: '2026-07-12T00:00:00Z' }, 2_000), undefined);
  t.is(probeOf(nativeAdapter(), { type: 'heartbeat', seq: 1 }, 2_000), undefined);
  t.is(probeOf(nativeAdapter(), snapshot, null), undefined, 'no bound');
  t.is(probeOf(nativeAdapter({ recorded: true }), snapshot, 2_000), undefined, 'a recording');
  t.is(probeOf(kalshiAdapter(), { type: 'ok', id: 1 }, 2_000), undefined);
});
