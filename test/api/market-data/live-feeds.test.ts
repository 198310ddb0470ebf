/** The feed thread from the callers' thread: venues on loopback, ticks, its failures, its end. */
import { Worker } from 'node:worker_threads';
import test, { type ExecutionContext } from 'ava';
import { MarketBus } from '../../../api/catalog/market-bus.ts';
import { BookNeeds } from '../../../api/market-data/book-needs.ts';
import { LiveFeeds, type LiveFeedsOptions } from '../../../api/market-data/live-feeds.ts';
import { OPERATOR_SOURCE } from '../../../api/market-data/operator-results.ts';
import { sharedTime, timeMemory } from '../../../api/market-data/shared-time.ts';
import { ticksIn } from '../../../engine/format/codec.ts';
import type { Tick } from '../../../engine/rules/messages.ts';
import { POLYMARKET_US } from '../../feeds/live-venues.ts';
import { json, restServer } from '../../feeds/rest-server.ts';
import { until } from '../../feeds/until.ts';
import { openVenue, snapshot } from '../../feeds/venue-server.ts';
import { shareOf } from '../../model/seeds.ts';
import { FATAL_MARKET } from '../fatal-market.ts';

const FAILING = new URL('../failing-feed-thread.ts', import.meta.url);

async function setUp(t: ExecutionContext, over: Partial<LiveFeedsOptions> = {}) {
  const venue = await openVenue(t);
  venue.onMessage = (socket) => socket.send(snapshot(1));
  const ticks: Tick[] = [];
  const errors: string[] = [];
  const feeds = new LiveFeeds({
    config: {
      feeds: [{ venue: 'venue_a', adapter: 'native', url: venue.url }],
      clock: 'wall',
      feedLagMaxMs: 2000,
      feedQuietMs: 60_000,
      settleOn: 'determined',
    },
    needs: new BookNeeds('top_of_book', false),
    markets: (named) => ({
      named,
      marketNames: ['venue_a/T1', 'venue_a/T2'].slice(named),
      byVenue: { venue_a: ['T1', 'T2'] },
      games: ['g1'],
      settled: [],
    }),
    closed: () => [],
    intake: {
      batch(bytes) {
        const batch = ticksIn(bytes);
        ticks.push(...batch);
        return batch;
      },
      take: (tick) => void ticks.push(tick),
    },
    nowMs: Date.now,
    log: { info() {}, warn() {}, error: (fields) => errors.push(JSON.stringify(fields)) },
    ...over,
  });
  t.teardown(() => feeds.close());
  const bus = new MarketBus();
  feeds.follow(bus);
  const pays = { outcome: 'yes', yesPayoutCents: 100, noPayoutCents: 0 } as const;
  const settled = (market: number) =>
    bus.publish({ kind: 'result', atMs: 0, source: 0, market, ...pays });
  const quotes = () => ticks.flatMap((tick) => (tick.kind === 'quote' ? [tick] : []));
  return { venue, feeds, bus, settled, ticks, quotes, errors };
}

test('W60: connections live in a thread of their own, and their quotes come in its batches', async (t) => {
  const { venue, feeds, bus, settled, quotes, ticks } = await setUp(t);
  const beforeMs = Date.now();
  await feeds.start();
  t.is(feeds.statuses().length, 1);
  t.like(feeds.statuses()[0], { venue: 'venue_a', adapter: 'native' });
  await until(() => quotes().length === 1, 'a quote');
  t.like(quotes()[0], { market: 0, source: 0, yesBidCents: 41, yesAskCents: 43 });
  const { atMs } = quotes()[0]!;
  t.true(atMs >= beforeMs - 1 && atMs <= Date.now(), 'dated by the engine’s time');
  await until(() => feeds.statuses()[0]!.unquoted.size === 1, 'figures of a moment ago');
  t.deepEqual([...feeds.statuses()[0]!.unquoted.keys()], ['T2']);
  t.deepEqual(feeds.problems(Date.now()), []);
  settled(1);
  const catalog = { games: [], instruments: [], marketNames: [], instrumentIds: [] };
  bus.publish({ kind: 'catalog', catalog });
  await until(
    () => feeds.statuses()[0]!.unquoted.size === 0,
    'no quote of a settled market awaited',
  );
  await feeds.close();
  t.is(ticks.at(-1)?.kind, 'down', 'the end of its connections is taken');
  await until(() => venue.sockets[0]!.readyState === WebSocket.CLOSED, 'a closed socket');
});

test('W9: a market that another entry of its venue quotes is not without a quote', async (t) => {
  const results = await openVenue(t);
  const books = await openVenue(t);
  books.onMessage = (socket) => socket.send(snapshot(1));
  const feeds = [results, books].map(({ url }) => {
    return { venue: 'venue_a', adapter: 'native', url } as const;
  });
  const config = {
    feeds,
    clock: 'wall',
    feedLagMaxMs: 2000,
    feedQuietMs: 60_000,
    fillModel: 'top_of_book',
    settleOn: 'determined',
  } as const;
  const { feeds: live, quotes } = await setUp(t, { config });
  await live.start();
  await until(() => quotes().length === 1 && results.received.length === 1, 'a quote');
  const unquoted = () => live.statuses().map((feed) => [...feed.unquoted.keys()]);
  await until(() => unquoted().every((markets) => markets.length === 1), 'T1 quoted');
  t.deepEqual(unquoted(), [['T2'], ['T2']], 'nobody quotes this one');
  results.sockets[0]!.terminate();
  await until(() => results.received.length === 2, 'asked for again');
  books.sockets[0]!.terminate();
  books.onMessage = () => {};
  await until(() => unquoted()[1]!.length === 2, 'the feed that quoted it owes it again');
  t.deepEqual(unquoted()[0], ['T2'], 'the other never does');
});

test('W61: a venue that changes a game without end is heard as one that changes it now and then', async (t) => {
  const { venue, feeds, ticks } = await setUp(t);
  await feeds.start();
  await until(() => venue.sockets.length === 1 && ticks.length > 0, 'a connection');
  let seq = 2;
  const frame = (game: string, status: string) =>
    venue.sockets[0]!.send(JSON.stringify({ type: 'game', seq: seq++, game, status }));
  for (let sent = 0; sent < Math.max(500, shareOf(5000)); sent++) {
    frame('g1', sent % 2 === 0 ? 'postponed' : 'inprogress');
    // Nobody lists it.
    frame(`unknown-${sent}`, 'cancelled');
  }
  frame('g1', 'final');
  const games = () => ticks.filter((tick) => tick.kind === 'game');
  await until(() => games().at(-1)?.status === 'final', 'the newest status');
  t.true(games().length < 60, `${games().length} were passed on`);
  t.true(games().every(({ game }) => game === 'g1'));
});

test("C8, D46, W61: on the feed's clock frames that arrive together count each at its own time", async (t) => {
  const config = {
    feeds: [] as LiveFeedsOptions['config']['feeds'],
    clock: 'feed',
    feedLagMaxMs: 2000,
    feedQuietMs: 60_000,
    settleOn: 'determined',
  } as const;
  const { venue, feeds, ticks } = await setUp(t, { config, nowMs: () => 0 });
  config.feeds.push({ venue: 'venue_a', adapter: 'native', url: venue.url });
  await feeds.start();
  await until(() => ticks.some(({ kind }) => kind === 'quote'), 'a quote');
  ticks.length = 0;
  const hourMs = 3_600_000;
  const status = (hours: number, value: string) => [hours * hourMs, 'status', value] as const;
  const heartbeat = (hours: number) => [hours * hourMs, 'heartbeat', ''] as const;
  const paused = [2, 4, 6, 8].flatMap((hours) => [
    status(hours, 'paused'),
    status(hours + 1, 'open'),
  ]);
  // What opens the market after four within a second waits until the second has passed.
  const fast = ['paused', 'open', 'paused', 'open', 'paused', 'open'].map((value, at) => {
    return [11 * hourMs + at, 'status', value] as const;
  });
  const frames = [heartbeat(1), ...paused, heartbeat(10), ...fast, heartbeat(12), heartbeat(13)];
  const socket = venue.sockets[0]!;
  for (const [at, [atMs, type, value]] of frames.entries()) {
    const place = { seq: at + 2, type, at: new Date(atMs).toISOString() };
    socket.send(JSON.stringify({ ...place, ...(value !== '' && { market: 'T1', status: value }) }));
  }
  await until(() => ticks.at(-1)?.atMs === 13 * hourMs, 'the last frame');
  const told = ticks.map((tick) => {
    return [tick.atMs, tick.kind, tick.kind === 'status' ? tick.status : ''] as const;
  });
  const of = (kind: string) => (each: readonly [number, string, string]) => each[1] === kind;
  const statuses = told.filter(of('status'));
  const late = statuses.pop()!;
  t.deepEqual(statuses, frames.filter(of('status')).slice(0, -1));
  // A machine that halts between the frames lets it wait less.
  t.true(late[2] === 'open' && late[0] <= 12 * hourMs, `${late}`);
  for (const each of frames.filter(of('heartbeat')).filter(([atMs]) => atMs !== late[0])) {
    t.deepEqual(
      told.find(([atMs]) => atMs === each[0]),
      each,
    );
  }
});

test('W108: a venue that repeats its result after an operator has given another is heard', async (t) => {
  const { venue, feeds, bus, ticks } = await setUp(t);
  await feeds.start();
  await until(() => feeds.statuses()[0]!.unquoted.size === 1, 'a quote of T1');
  let seq = 2;
  const say = () => {
    const frame = { type: 'status', seq: seq++, market: 'T1', status: 'resolved', result: 'yes' };
    venue.sockets[0]!.send(JSON.stringify(frame));
  };
  const results = () => ticks.filter(({ kind }) => kind === 'result').length;
  say();
  await until(() => results() === 1, 'the result');
  const given = { outcome: 'no', yesPayoutCents: 0, noPayoutCents: 100 } as const;
  for (const market of [0, 1]) {
    bus.publish({ kind: 'result', atMs: 0, source: OPERATOR_SOURCE, market, ...given });
  }
  await until(() => feeds.statuses()[0]!.unquoted.size === 0, 'the thread knows both');
  say();
  await until(() => results() === 2, 'the repetition');
  t.pass();
});

test('W106: a market that was closed before the thread began is not opened by its books', async (t) => {
  const us = await POLYMARKET_US.open(t);
  const rest = await restServer(t, () => json({ error: 'x' }, 404));
  const statuses = async (restUrl?: string) => {
    const feed = { venue: 'venue_a', adapter: 'polymarket_us', url: us.url } as const;
    for (const market of ['T1', 'T2']) us.tops.set(market, { bid: 40, ask: 45 });
    const { feeds, quotes, ticks } = await setUp(t, {
      config: {
        feeds: [{ ...feed, ...(restUrl === undefined ? {} : { restUrl }) }],
        clock: 'wall',
        feedLagMaxMs: 2000,
        feedQuietMs: 60_000,
        settleOn: 'determined',
      },
      closed: () => [0],
    });
    await feeds.start();
    await until(() => quotes().length === 2, 'both books');
    await feeds.close();
    return ticks.flatMap((tick) => (tick.kind === 'status' ? `${tick.market} ${tick.status}` : []));
  };
  t.deepEqual(await statuses(rest.url), ['1 open']);
  t.deepEqual(await statuses(), ['0 open', '1 open'], 'nobody else could open it');
});

test('W60: a feed thread that fails is started again, its quotes are lost, and operators see it', async (t) => {
  const { venue, feeds, settled, ticks, quotes, errors } = await setUp(t, { module: FAILING });
  await feeds.start();
  await until(() => quotes().length === 1, 'a quote');
  venue.onMessage = () => {};
  settled(FATAL_MARKET);
  await until(() => feeds.statuses()[0]!.state === 'waiting', 'a problem');
  t.deepEqual(feeds.problems(Date.now()), ['thread of all feeds: planted']);
  t.like(feeds.statuses()[0], {
    state: 'waiting',
    lastProblem: 'the feed thread failed: planted',
  });
  t.like(ticks.at(-1), { kind: 'down', source: 0 });
  t.is(errors.length, 1);
  venue.onMessage = (socket) => socket.send(snapshot(1));
  await until(() => quotes().length === 2, 'a quote of the next thread');
  t.not(quotes()[1]!.source, 0, 'its connections have other numbers');
  t.is(quotes()[1]!.source % 2, 0);
  t.deepEqual(feeds.problems(Date.now()), []);
});

test('W60: a feed thread that cannot start ends the start', async (t) => {
  const module = new URL('data:text/javascript,throw new Error("planted")');
  const { feeds } = await setUp(t, { module });
  await t.throwsAsync(feeds.start(), {
    message: 'the thread of the feeds did not start: planted',
  });
});

test('B13: while others quote the same markets, every quote is passed on', async (t) => {
  const { venue, feeds, quotes } = await setUp(t);
  await feeds.start();
  feeds.othersQuote(true);
  await until(() => quotes().length === 1, 'a quote');
  for (let seq = 2; seq <= 5; seq++) venue.sockets[0]!.send(snapshot(seq));
  await until(() => quotes().length >= 5, 'the same quote again');
  t.is(quotes().length, 5);
});

test('D45: a thread knows the engine’s time between two moments at which it is shared', async (t) => {
  const memory = timeMemory();
  const code = `
    import { workerData, parentPort } from 'node:worker_threads';
    const { sharedTime } = await import(workerData.module);
    const time = sharedTime(workerData.memory, false);
    parentPort.on('message', () => parentPort.postMessage(time.nowMs()));
  `;
  const module = new URL('../../../api/market-data/shared-time.ts', import.meta.url).href;
  const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(code)}`), {
    workerData: { module, memory },
  });
  t.teardown(() => worker.terminate());
  const startedMs = performance.now();
  sharedTime(memory, false).share(5_000_000);
  for (let asked = 0; asked < 3; asked++) {
    worker.postMessage('now');
    const readMs = await new Promise<number>((resolve) => worker.once('message', resolve));
    t.true(readMs >= 5_000_000 - 1);
    t.true(readMs <= 5_000_000 + performance.now() - startedMs + 1);
  }
  const feed = sharedTime(timeMemory(), true);
  feed.share(77);
  t.is(feed.nowMs(), 77);
});
