/** Gaps, refusals and limits of a live Kalshi feed. */
import test, { type ExecutionContext } from 'ava';
import type { WebSocket } from 'ws';
import { openWorld } from '../../feed-world.ts';
import {
  BOOK_SID,
  KALSHI,
  kalshiSays,
  kalshiSnapshot,
  kalshiState,
  type LiveVenue,
  type Message,
  type Top,
} from '../../live-venues.ts';
import { until } from '../../until.ts';
import { TIMING } from '../../venue-server.ts';

const TOP: Top = { bid: 40, ask: 45 };
const MOVED: Top = { bid: 88, ask: 90 };

async function setUp(t: ExecutionContext, options = {}, names = ['A', 'B']) {
  const venue = await KALSHI.open(t);
  for (const name of names) venue.tops.set(name, TOP);
  const world = openWorld(t, KALSHI, venue, options);
  await until(() => names.every((name) => world.priceOf(name) !== null), 'prices');
  const shows = (market: string, top: Top) =>
    JSON.stringify(world.priceOf(market)) === JSON.stringify(top);
  const downs = () => world.ticks.filter(({ kind }) => kind === 'down').length;
  return { venue, world, shows, downs };
}

const commandsOf = (venue: LiveVenue): Message[] =>
  venue.received.map(({ text }) => JSON.parse(text));
const snapshotsAsked = (venue: LiveVenue) =>
  commandsOf(venue).filter(({ params }) => params.action === 'get_snapshot');
const say = (socket: WebSocket, frame: object) => socket.send(JSON.stringify(frame));
const error = (socket: WebSocket, id: number, code: number) =>
  say(socket, { id, type: 'error', msg: { code, msg: 'no' } });

/** A frame of the book subscription is lost on its way. */
function loseOne(venue: LiveVenue, market: string, top: Top): void {
  kalshiState(venue.sockets[0]!).seq++;
  venue.tops.set(market, top);
}

test('W34: after a gap the subscription is asked for snapshots, and nothing is redialed', async (t) => {
  const { venue, world, shows, downs } = await setUp(t);
  let asked: Message = null;
  venue.intercept = (_, message) => {
    if (message.params.action !== 'get_snapshot') return false;
    asked = message;
    return true;
  };
  loseOne(venue, 'A', MOVED);
  venue.move('B', { bid: 41, ask: 45 });
  await until(() => asked !== null, 'get_snapshot');
  t.deepEqual(asked.params, {
    sids: [BOOK_SID],
    market_tickers: ['A', 'B'],
    action: 'get_snapshot',
  });
  t.is(world.priceOf('A'), 'empty');
  t.is(world.priceOf('B'), 'empty');
  // What comes before the snapshots says nothing, whichever channel it comes by.
  venue.move('A', { bid: 87, ask: 90 });
  const ticker = { market_ticker: 'A', yes_bid_dollars: '0.40', yes_ask_dollars: '0.45' };
  say(venue.sockets[0]!, { type: 'ticker', sid: 7, msg: ticker });
  kalshiSnapshot(venue, venue.sockets[0]!, 'B');
  await until(() => shows('B', { bid: 41, ask: 45 }), 'the snapshot of B');
  t.is(world.priceOf('A'), 'empty');
  kalshiSnapshot(venue, venue.sockets[0]!, 'A');
  await until(() => shows('A', { bid: 87, ask: 90 }), 'the snapshot of A');
  venue.move('A', MOVED);
  await until(() => shows('A', MOVED), 'the changes after it');
  t.deepEqual([venue.sockets.length, downs(), world.ingest.counts().gaps], [1, 0, 1]);
});

test('W34: a gap before a snapshot asks for the other markets alone', async (t) => {
  const { venue, shows } = await setUp(t);
  venue.intercept = (_, { params }) => params.action === 'get_snapshot';
  loseOne(venue, 'A', MOVED);
  kalshiSnapshot(venue, venue.sockets[0]!, 'A');
  await until(() => snapshotsAsked(venue).length === 1, 'get_snapshot');
  t.deepEqual(snapshotsAsked(venue)[0].params.market_tickers, ['B']);
  t.true(shows('A', MOVED));
});

test('W34: a snapshot that starts the sequence over is taken all the same', async (t) => {
  const { venue, world, shows } = await setUp(t, {}, ['A']);
  venue.intercept = (socket, { params }) => {
    if (params.action !== 'get_snapshot') return false;
    const state = kalshiState(socket);
    const { seq } = state;
    state.seq = 0;
    kalshiSnapshot(venue, socket, 'A');
    state.seq = seq;
    return true;
  };
  loseOne(venue, 'A', MOVED);
  venue.move('A', { bid: 87, ask: 90 });
  await until(() => shows('A', { bid: 87, ask: 90 }), 'a fresh price');
  venue.move('A', MOVED);
  await until(() => shows('A', MOVED), 'changes after it');
  t.deepEqual([venue.sockets.length, world.ingest.counts().gaps], [1, 1]);
});

for (const [what, options, answer] of [
  ['is refused', {}, (socket: WebSocket, id: number) => error(socket, id, 7)],
  ['is too much for now', {}, (socket: WebSocket, id: number) => error(socket, id, 27)],
  ['stays without an answer', { timing: { ...TIMING, answerMs: 30 } }, () => {}],
] as const) {
  test(`W14, W34: the connection is redialed where get_snapshot ${what}`, async (t) => {
    const { venue, world, shows, downs } = await setUp(t, options);
    venue.intercept = (socket, { id, params }) => {
      if (params.action !== 'get_snapshot') return false;
      answer(socket, id);
      return true;
    };
    loseOne(venue, 'A', MOVED);
    venue.move('B', { bid: 41, ask: 45 });
    await until(() => venue.sockets.length === 2, 'another connection');
    await until(() => shows('A', MOVED), 'a fresh price');
    t.true(downs() > 0);
    t.regex(world.feed.statuses()[0]?.lastProblem ?? '', /snapshot/);
  });
}

test('W34: another gap while snapshots are awaited ends the connection', async (t) => {
  const { venue, world, shows } = await setUp(t);
  venue.intercept = (_, { params }) => params.action === 'get_snapshot';
  loseOne(venue, 'A', MOVED);
  venue.move('B', { bid: 41, ask: 45 });
  await until(() => snapshotsAsked(venue).length === 1, 'get_snapshot');
  loseOne(venue, 'A', MOVED);
  venue.move('B', { bid: 42, ask: 45 });
  await until(() => shows('A', MOVED), 'a fresh price');
  t.is(venue.sockets.length, 2);
  t.is(world.feed.statuses()[0]?.lastProblem, 'gap in the sequence');
});

test('W34: a gap among trades costs no price', async (t) => {
  const { venue, world, shows, downs } = await setUp(t);
  const trade = { market_ticker: 'A', yes_price_dollars: '0.4200', count_fp: '5.00' };
  for (const seq of [1, 5, 6]) {
    say(venue.sockets[0]!, { type: 'trade', sid: 2, seq, msg: { ...trade, taker_side: 'yes' } });
  }
  const trades = () => world.ticks.filter(({ kind }) => kind === 'trade').length;
  await until(() => trades() === 3, 'three trades');
  t.true(shows('A', TOP));
  t.deepEqual([venue.sockets.length, downs(), snapshotsAsked(venue).length], [1, 0, 0]);
  t.is(world.ingest.counts().gaps, 1);
});

const delta = (price_dollars: string, delta_fp: string, market_ticker = 'A') => {
  return { market_ticker, price_dollars, delta_fp, side: 'yes', ts_ms: Date.now() };
};

for (const [what, msg] of [
  ['takes a level below zero', delta('0.4000', '-101.00')],
  ['cannot be read', delta('0.4000', 'some')],
] as const) {
  test(`W35: a delta that ${what} asks for its market, which has no price meanwhile`, async (t) => {
    const { venue, world, shows, downs } = await setUp(t);
    venue.intercept = (_, { params }) => params.action === 'get_snapshot';
    kalshiSays(venue.sockets[0]!, 'orderbook_delta', { ...msg, ts_ms: Date.now() });
    await until(() => snapshotsAsked(venue).length === 1, 'get_snapshot');
    t.deepEqual(snapshotsAsked(venue)[0].params.market_tickers, ['A']);
    t.is(world.priceOf('A'), 'empty');
    t.true(shows('B', TOP));
    kalshiSays(venue.sockets[0]!, 'orderbook_delta', delta('0.5000', '5.00'));
    kalshiSnapshot(venue, venue.sockets[0]!, 'A');
    await until(() => shows('A', TOP), 'a fresh price');
    t.deepEqual([venue.sockets.length, downs(), snapshotsAsked(venue).length], [1, 0, 1]);
  });
}

test('W35: a market without a first snapshot is asked for by its first change', async (t) => {
  const { venue, shows } = await setUp(t);
  venue.tops.set('A', MOVED);
  kalshiSays(venue.sockets[0]!, 'orderbook_delta', delta('0.4000', '-200.00'));
  await until(() => shows('A', MOVED), 'a fresh price');
  t.is(venue.sockets.length, 1);
});

test('W17: what a venue refuses as too many markets goes to further connections', async (t) => {
  const venue = await KALSHI.open(t);
  const names = Array.from({ length: 23 }, (_, number) => `M-${number}`);
  for (const name of names) venue.tops.set(name, TOP);
  venue.intercept = (socket, { id, params }) => {
    const { size } = kalshiState(socket).markets;
    if (size + (params.market_tickers?.length ?? 0) <= 5) return false;
    error(socket, id, 26);
    return true;
  };
  const world = openWorld(t, KALSHI, venue);
  const allShow = () => names.every((name) => world.priceOf(name) !== null);
  await until(allShow, 'every price');
  t.true(venue.sockets.length > 4);
  for (const socket of venue.sockets) t.true(kalshiState(socket).markets.size <= 5);
  const { length } = venue.sockets;
  t.is(world.feed.statuses().length, length);
  t.true(world.feed.statuses().every(({ unquoted }) => unquoted.size === 0));

  // A market more, and a connection that begins again.
  venue.tops.set('more', TOP);
  world.markets.push('more');
  world.changed();
  await until(() => world.priceOf('more') !== null, 'the price of one more');
  const before = venue.sockets.length;
  venue.sockets[0]!.terminate();
  // A price that is gone for a moment could be missed here, a connection that was replaced cannot.
  await until(() => venue.sockets.length > before, 'a new connection');
  await until(allShow, 'every price again');
  t.true(world.feed.statuses().every(({ unquoted }) => unquoted.size === 0));
});

test('W16, W17: a market that no connection can take is shown as unquoted', async (t) => {
  const venue = await KALSHI.open(t);
  venue.tops.set('A', TOP);
  venue.intercept = (socket, { id, params }) => {
    if (params.market_tickers === undefined) return false;
    error(socket, id, 26);
    return true;
  };
  const world = openWorld(t, KALSHI, venue);
  await until(() => world.logged.includes('venue refuses markets'), 'a refusal');
  t.deepEqual([...world.feed.statuses()[0]!.unquoted.keys()], ['A']);
  t.is(venue.sockets.length, 1);
});

test('W17: markets beyond the last connection show as unquoted, and are not asked for on end', async (t) => {
  const venue = await KALSHI.open(t);
  const names = Array.from({ length: 12 }, (_, number) => `M-${number}`);
  for (const name of names) venue.tops.set(name, TOP);
  let refusals = 0;
  venue.intercept = (socket, { id, params }) => {
    const { size } = kalshiState(socket).markets;
    if (size + (params.market_tickers?.length ?? 0) <= 3) return false;
    refusals++;
    error(socket, id, 26);
    return true;
  };
  const world = openWorld(t, KALSHI, venue, { connectionsMax: 2 });
  const unquoted = () => world.feed.statuses().flatMap((status) => [...status.unquoted.keys()]);
  const priced = () => names.filter((name) => world.priceOf(name) !== null);
  // Halves need not fill what a venue takes.
  await until(() => priced().length >= 4 && priced().length + unquoted().length === 12, 'them all');
  let before = -1;
  for (let bid = 50; bid < 70 || refusals !== before; bid++) {
    before = refusals;
    venue.move('M-0', { bid, ask: 90 });
    await until(() => JSON.stringify(world.priceOf('M-0')).includes(`:${bid},`), 'a price');
    if (bid > 80) t.fail('refusals without end');
  }
  t.is(venue.sockets.length, 2);
  t.true(world.logged.includes('venue refuses markets'));
  t.deepEqual([...priced(), ...unquoted()].sort(), [...names].sort());
});

test('W16: a market that the venue does not know leaves the others their prices', async (t) => {
  const venue = await KALSHI.open(t);
  const names = Array.from({ length: 9 }, (_, number) => `M-${number}`);
  for (const name of names) venue.tops.set(name, TOP);
  venue.intercept = (socket, { id, params }) => {
    if (!params.market_tickers?.includes('gone')) return false;
    error(socket, id, 11);
    return true;
  };
  const world = openWorld(t, KALSHI, venue, { markets: () => ['gone', ...names] });
  await until(() => names.every((name) => world.priceOf(name) !== null), 'the other prices');
  t.deepEqual([...world.feed.statuses()[0]!.unquoted.keys()], ['gone']);
  t.is(venue.sockets.length, 1);
});

test('W16: a subscription that comes at a bad time is tried again', async (t) => {
  const venue = await KALSHI.open(t);
  venue.tops.set('A', TOP);
  let refusals = 0;
  venue.intercept = (socket, { id, params }) => {
    if (params.market_tickers === undefined || refusals === 1) return false;
    refusals++;
    error(socket, id, 27);
    return true;
  };
  const world = openWorld(t, KALSHI, venue);
  await until(() => world.priceOf('A') !== null, 'a price');
  t.deepEqual([refusals, venue.sockets.length], [1, 1]);
});

test('W33: a subscription that the venue ended begins on a new connection', async (t) => {
  const { venue, shows, downs } = await setUp(t);
  venue.tops.set('A', MOVED);
  say(venue.sockets[0]!, { type: 'error', sid: BOOK_SID, msg: { code: 25, msg: 'overflow' } });
  await until(() => shows('A', MOVED), 'a fresh price');
  t.is(venue.sockets.length, 2);
  t.true(downs() > 0);
});
