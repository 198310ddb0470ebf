/** What a connection logs, and counts, of its outages. */
import test from 'ava';
import { openFeed } from '../../../feeds/connection/feed.ts';
import { createIngest } from '../../../feeds/ingest/ingest.ts';
import { openWorld } from '../feed-world.ts';
import { KALSHI, NATIVE } from '../live-venues.ts';
import { until } from '../until.ts';
import { closedPort, connect, openVenue, TIMING } from '../venue-server.ts';

const lines = (logged: string, what: string) => logged.split(`venue connection ${what}`).length - 1;

test('W9: an outage is logged once, however often it is tried, and so is its end', async (t) => {
  const refusing = await closedPort();
  const never = connect(t, `ws://127.0.0.1:${refusing}/`);
  await until(() => never.connection.status().attempts >= 5, 'five attempts');
  t.is(lines(never.log.logged, 'lost'), 1);
  t.is(lines(never.log.logged, 'open'), 0);
  never.connection.close();

  const venue = await openVenue(t);
  const { connection, log } = connect(t, venue.url);
  for (const outage of [1, 2]) {
    await until(() => venue.received.length === outage, 'a subscribe');
    venue.sockets.at(-1)!.terminate();
    await until(() => log.lost === outage, 'a loss');
  }
  await until(() => connection.status().state === 'open', 'a third connection');
  t.is(lines(log.logged, 'lost'), 2, 'each outage is news');
  t.is(lines(log.logged, 'open'), 3);
});

test('O14: a connection counts frames, bad ones by reason, gaps, and how often it was open', async (t) => {
  const venue = await NATIVE.open(t);
  venue.tops.set('A', { bid: 40, ask: 45 });
  const world = openWorld(t, NATIVE, venue, { entry: 3 });
  const status = () => world.feed.statuses()[0]!;
  await until(() => world.priceOf('A') !== null, 'a price');
  t.like(status(), { entry: 3, subscribed: 1, missedStatesProblem: null });
  const { frames } = status().counts;
  t.like(status().counts, { opens: 1, gaps: 0, rejected: {} });
  const [socket] = venue.sockets;
  socket!.send('nonsense');
  socket!.send('nonsense');
  await until(() => status().counts.frames === frames + 2, 'two more frames');
  t.deepEqual(status().counts.rejected, { 'not JSON': 2 });
  socket!.send('{"type":"heartbeat","seq":900}');
  await until(() => status().counts.opens === 2, 'another connection');
  t.like(status().counts, { opens: 2, gaps: 1 });
  t.notThrows(() => structuredClone(world.feed.statuses()));
});

test('O14: what a venue says of an error is no label', async (t) => {
  const venue = await KALSHI.open(t);
  venue.tops.set('A', { bid: 40, ask: 45 });
  const world = openWorld(t, KALSHI, venue);
  await until(() => world.priceOf('A') !== null, 'a price');
  for (const msg of ['hunter2', 'hunter3']) {
    venue.sockets[0]!.send(JSON.stringify({ type: 'error', id: 99, msg: { code: 17, msg } }));
  }
  const rejected = () => world.feed.statuses()[0]!.counts.rejected;
  await until(() => Object.keys(rejected()).length > 0, 'an error');
  await until(() => Object.values(rejected()).includes(2), 'both errors');
  t.false(JSON.stringify(rejected()).includes('hunter'));
});

test('O14: the lag of the last price that was judged, until the connection is lost', async (t) => {
  const venue = await KALSHI.open(t);
  venue.tops.set('A', { bid: 40, ask: 45 });
  const world = openWorld(t, KALSHI, venue, { lagMaxMs: 60_000 });
  const lagMs = () => world.feed.statuses()[0]!.counts.lagMs;
  await until(() => world.priceOf('A') !== null, 'a price');
  // A market's first price with a time is not judged.
  for (const ago of [2, 1]) venue.move('A', { bid: 43 - ago, ask: 46 }, Date.now() - ago);
  await until(() => lagMs() !== null, 'a lag');
  venue.move('A', { bid: 41, ask: 47 }, Date.now() - 30_000);
  await until(() => lagMs()! >= 29_000, 'a late price');
  t.true(lagMs()! < 60_000);
  venue.intercept = () => true;
  venue.sockets[0]!.terminate();
  await until(() => lagMs() === null, 'none of a connection that is lost');
});

test('O14: no sum goes down when a connection is no longer needed', async (t) => {
  const venue = await openVenue(t);
  let markets = ['A', 'B'];
  const feed = openFeed({
    url: venue.url,
    venue: 'venue_a',
    newAdapter: () => Object.assign(NATIVE.adapter(), { marketsMax: 1 }),
    markets: () => markets,
    awaitsQuote: () => true,
    ingest: createIngest({ marketNumber: () => 0, sink: () => {}, log: () => {} }),
    newSource: () => 0,
    untold: () => new Set(),
    restUrl: null,
    nowMs: Date.now,
    log: { info() {}, warn() {} },
    timing: TIMING,
  });
  t.teardown(() => feed.close());
  await until(() => venue.received.length === 2, 'two subscriptions');
  for (const socket of venue.sockets) socket.send('nonsense');
  const total = () => {
    return feed.statuses().reduce((sum, { counts }) => sum + (counts.rejected['not JSON'] ?? 0), 0);
  };
  await until(() => total() === 2, 'two bad frames');
  markets = ['A'];
  feed.marketsChanged();
  t.is(feed.statuses().length, 1);
  t.is(total(), 2);
});
