/** Connections that are open and bring nothing, and those that are dialed again and again. */
import test from 'ava';
import { feedProblems } from '../../../feeds/connection/health.ts';
import { QuietWatch } from '../../../feeds/connection/quiet-watch.ts';
import { SocketTimers } from '../../../feeds/connection/socket-timers.ts';
import type { BookTick, FrameReading } from '../../../feeds/reading/venue.ts';
import { openWorld } from '../feed-world.ts';
import { KALSHI, NATIVE, POLYMARKET, POLYMARKET_US } from '../live-venues.ts';
import { until } from '../until.ts';
import { TIMING } from '../venue-server.ts';

const QUIET = { ...TIMING, quietMs: 60, quietAnswerMs: 400 };
const TOP = { bid: 40, ask: 45 };

for (const protocol of [KALSHI, POLYMARKET, POLYMARKET_US, NATIVE]) {
  const { name } = protocol;
  test(`W87: a quiet connection of ${name} is asked, and stays where the answer is the same`, async (t) => {
    const venue = await protocol.open(t);
    venue.tops.set('A', TOP);
    const world = openWorld(t, protocol, venue, { timing: QUIET });
    await until(() => world.priceOf('A') !== null, 'a price');
    const before = venue.received.length;
    await until(() => venue.received.length > before + 2, 'questions');
    t.is(venue.sockets.length, 1);
    t.deepEqual(world.priceOf('A'), TOP);
    t.is(world.feed.statuses()[0]!.silent, null);
  });

  test(`W87: ${name} that answers another book is dialed again, and listed`, async (t) => {
    const venue = await protocol.open(t);
    venue.tops.set('A', TOP);
    const world = openWorld(t, protocol, venue, { timing: QUIET });
    await until(() => world.priceOf('A') !== null, 'a price');
    // The venue moves, and its connection says nothing of it.
    venue.tops.set('A', { bid: 60, ask: 65 });
    await until(() => venue.sockets.length > 1, 'another connection');
    await until(() => (world.priceOf('A') as { bid: number } | null)?.bid === 60, 'its price');
    t.true(world.ticks.some(({ kind }) => kind === 'down'));
    const [problem] = feedProblems(world.feed.statuses(), Date.now());
    t.regex(problem!, /was open and silent until .*: no market data for 60 ms, and the venue an/);
  });
}

test('W87: each best price and each size of an answer is compared', async (t) => {
  const book = { kind: 'book', market: 'A', yesBid: 4000, yesBidSize: 500 } as const;
  const known: BookTick = { ...book, yesAsk: 4500, yesAskSize: 700 };
  const reading = (type: string, tick: BookTick): FrameReading => ({
    ...{ type, ticks: [tick], venueAtMs: null, rejected: null, jump: false },
  });
  const others: Partial<BookTick>[] = [
    ...[{ yesBid: 3900 }, { yesBidSize: 400 }, { yesAsk: 4600 }, { yesAskSize: 800 }],
    ...[
      { yesBid: null, yesBidSize: 0 },
      { yesAsk: null, yesAskSize: 0 },
    ],
  ];
  for (const other of [{}, ...others]) {
    const timers = new SocketTimers();
    t.teardown(() => timers.endAll());
    const failed: string[] = [];
    const watch = new QuietWatch({
      ...{ timers, quietMs: 4, answerMs: 60_000, wholeBooks: new Set(['snapshot']) },
      ask: () => watch.took(reading('snapshot', { ...known, ...other })),
      failed: (reason) => void failed.push(reason),
    });
    watch.start();
    watch.took(reading('snapshot', known));
    let asked = 0;
    timers.every(1, () => void asked++);
    await until(() => asked > 30 || failed.length > 0, 'an answer');
    t.is(failed.length, Object.keys(other).length === 0 ? 0 : 1, JSON.stringify(other));
  }
});

test('W87: a connection that does not answer is dialed again; 0 asks never', async (t) => {
  const venue = await NATIVE.open(t);
  venue.tops.set('A', TOP);
  let isMute = false;
  venue.intercept = () => isMute;
  const timing = { ...QUIET, quietAnswerMs: 80 };
  const world = openWorld(t, NATIVE, venue, { timing });
  const never = openWorld(t, NATIVE, venue, { timing: { ...QUIET, quietMs: 0 } });
  await until(() => world.priceOf('A') !== null && never.priceOf('A') !== null, 'prices');
  isMute = true;
  await until(() => world.feed.statuses()[0]!.silent !== null, 'silence');
  t.is(world.priceOf('A'), null, 'no price until a fresh snapshot');
  t.is(never.feed.statuses()[0]!.counts.opens, 1);
  t.deepEqual(never.priceOf('A'), TOP);
  isMute = false;
  await until(() => world.priceOf('A') !== null, 'a fresh snapshot');
});

test('W87: market data keeps a connection from being asked; pings do not', async (t) => {
  const venue = await NATIVE.open(t);
  venue.tops.set('A', TOP);
  const world = openWorld(t, NATIVE, venue, { timing: { ...QUIET, quietMs: 300 } });
  await until(() => world.priceOf('A') !== null, 'a price');
  for (let bid = 1; bid < 30; bid++) {
    venue.move('A', { bid, ask: 45 });
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  t.is(venue.received.length, 1, 'a subscription, and no question');
  const pings = setInterval(() => venue.sockets[0]!.ping(), 20);
  t.teardown(() => clearInterval(pings));
  await until(() => venue.received.length > 1, 'a question');
});

test('W88: a feed without markets does not dial, and dials at the first', async (t) => {
  const venue = await POLYMARKET.open(t);
  const world = openWorld(t, POLYMARKET, venue);
  const [status] = world.feed.statuses();
  t.like(status, { state: 'waiting', attempts: 0, retryInMs: null, downSinceMs: null });
  t.deepEqual(feedProblems(world.feed.statuses(), Date.now() + 3_600_000), []);
  world.changed();
  await new Promise((resolve) => setTimeout(resolve, 100));
  t.is(venue.sockets.length, 0);
  venue.tops.set('A', TOP);
  world.markets = ['A'];
  world.changed();
  await until(() => world.priceOf('A') !== null, 'a price');
  t.is(venue.sockets.length, 1);
});

test('W89: a connection that was open and lost three times within ten minutes is a problem', async (t) => {
  const venue = await NATIVE.open(t);
  venue.tops.set('A', TOP);
  const world = openWorld(t, NATIVE, venue);
  for (let lost = 0; lost < 3; lost++) {
    await until(() => world.priceOf('A') !== null, 'a price');
    t.deepEqual(feedProblems(world.feed.statuses(), Date.now()), []);
    venue.sockets.at(-1)!.terminate();
    // It may dial within a millisecond, and have a price again.
    await until(() => venue.sockets.length > lost + 1, 'another dial');
  }
  await until(() => world.priceOf('A') !== null, 'a price');
  const statuses = world.feed.statuses();
  t.regex(feedProblems(statuses, Date.now())[0]!, /: dialed again and again, 3 times since /);
  t.deepEqual(feedProblems([{ ...statuses[0]!, downSinceMs: null }], Date.now() + 601_000), []);
});
