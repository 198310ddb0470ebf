/** What a live feed led to, a replay of its recording leads to: on venues that speak their protocol. */
import test, { type ExecutionContext } from 'ava';
import type { Tick } from '../../../engine/rules/messages.ts';
import { type FeedLine, readLine } from '../../../feeds/file/feed-line.ts';
import { recordingIngest } from '../../../feeds/file/recorder.ts';
import { FeedPlayer } from '../../../feeds/file/replay.ts';
import { Selection } from '../../../feeds/file/selection.ts';
import { createIngest, type Ingest } from '../../../feeds/ingest/ingest.ts';
import { type FeedWorld, openWorld } from '../feed-world.ts';
import {
  KALSHI,
  kalshiState,
  NATIVE,
  POLYMARKET,
  POLYMARKET_US,
  type Protocol,
} from '../live-venues.ts';
import { json, restServer } from '../rest-server.ts';
import { until } from '../until.ts';

const TOP = { bid: 40, ask: 45 };
const BEHIND = { bid: 42, ask: 46 };

/** A feed on a venue of a few markets, and the lines that are recorded of it. */
async function recordedWorld(
  t: ExecutionContext,
  protocol: Protocol,
  options: Parameters<typeof openWorld>[3] = {},
  names = ['A', 'B'],
) {
  const venue = await protocol.open(t);
  for (const name of names) venue.tops.set(name, TOP);
  const texts: string[] = [];
  const writer = { waiting: 0, writeText: (text: string) => void texts.push(text) };
  const around = (ingest: Ingest) => recordingIngest(ingest, writer);
  const world = openWorld(t, protocol, venue, { around, ...options });
  await until(() => names.every((name) => world.priceOf(name) !== null), 'prices');
  const shows = (market: string, top: object) =>
    JSON.stringify(world.priceOf(market)) === JSON.stringify(top);
  return { venue, world, texts, writer, shows };
}

const linesOf = (texts: readonly string[]) =>
  texts.map((text, index) => readLine(index + 2, text) as FeedLine);

/** The ticks of a replay. */
function replayed(world: FeedWorld, lines: readonly FeedLine[]): Tick[] {
  const ticks: Tick[] = [];
  const ingest = createIngest({
    marketNumber: (_venue, name) => world.numberOf(name),
    sink: (tick) => void ticks.push(tick),
    log() {},
    // A file's lines come late; that they may is what some tests show.
    lagMaxMs: 1,
  });
  const player = new FeedPlayer(ingest);
  for (const line of lines) player.play(line);
  return ticks;
}

/** Connections are numbered by their first tick. A recording holds that one was lost, and not why. */
function numbered(ticks: readonly Tick[]): Tick[] {
  const sources = new Map<number, number>();
  return ticks.map((tick) => {
    if (!('source' in tick)) return tick;
    const { source } = tick;
    if (!sources.has(source)) sources.set(source, sources.size);
    const same = { ...tick, source: sources.get(source)! };
    if (same.kind === 'down') delete same.reason;
    return same;
  });
}

function replaysAsItWas(t: ExecutionContext, world: FeedWorld, texts: readonly string[]): void {
  world.feed.close();
  t.deepEqual(numbered(replayed(world, linesOf(texts))), numbered(world.ticks));
}

for (const protocol of [KALSHI, POLYMARKET, POLYMARKET_US, NATIVE]) {
  const { name } = protocol;

  test(`F30: ${name}, new markets, a loss and a lag`, async (t) => {
    const { venue, world, texts, shows } = await recordedWorld(t, protocol);
    venue.move('A', { bid: 41, ask: 45 });
    await until(() => shows('A', { bid: 41, ask: 45 }), 'a price');
    venue.tops.set('C', TOP);
    world.markets.push('C');
    world.changed();
    await until(() => shows('C', TOP), 'the price of a new market');
    venue.sockets[0]!.terminate();
    venue.tops.set('B', BEHIND);
    await until(() => shows('B', BEHIND) && shows('C', TOP), 'fresh books');
    const before = venue.sockets.length;
    venue.intercept = () => true;
    venue.move('A', BEHIND, Date.now());
    await until(() => shows('A', BEHIND), 'a price in time');
    venue.move('A', TOP, Date.now() - 60_000);
    await until(() => world.priceOf('B') === null, 'a price that comes late');
    venue.intercept = () => false;
    for (const socket of venue.sockets.slice(before)) socket.terminate();
    await until(() => shows('A', TOP) && shows('C', TOP), 'fresh books');
    replaysAsItWas(t, world, texts);
    const events = linesOf(texts).flatMap(({ event }) => event ?? []);
    t.true(events.includes('gap') && events.includes('subscribe'), events.join());
  });
}

test('F30: Polymarket, over several connections of a feed', async (t) => {
  const names = Array.from({ length: 501 }, (_, index) => `T${index}`);
  const { venue, world, texts, shows } = await recordedWorld(t, POLYMARKET, {}, names);
  t.is(venue.sockets.length, 2);
  venue.move('T500', BEHIND);
  await until(() => shows('T500', BEHIND), 'a price of the other connection');
  venue.sockets[1]!.terminate();
  await until(() => venue.sockets.length === 3 && shows('T500', BEHIND), 'its fresh book');
  replaysAsItWas(t, world, texts);
  t.true(world.ticks.some(({ kind }) => kind === 'down'));
});

test('F30, W34: Kalshi, over a gap that is mended: the other markets keep their prices', async (t) => {
  const names = Array.from({ length: 251 }, (_, index) => `T${index}`);
  const { venue, world, texts, shows } = await recordedWorld(t, KALSHI, {}, names);
  // The venue has one subscription of books; the last market gets another one here.
  const [socket] = venue.sockets;
  const other = (seq: number, type: string, msg: object) =>
    socket!.send(JSON.stringify({ type, sid: 9, seq, msg: { market_ticker: 'U', ...msg } }));
  venue.tops.set('U', TOP);
  world.markets.push('U');
  venue.intercept = (_, { params }) => params.market_tickers?.[0] === 'U';
  world.changed();
  await until(() => venue.received.length > 3, 'a subscription');
  other(1, 'orderbook_snapshot', { yes_dollars_fp: [['0.4000', '100.00']] });
  await until(() => world.priceOf('U') !== null, 'the price of U');
  venue.intercept = (_, { params }) => params.action === 'get_snapshot';
  kalshiState(socket!).seq++;
  venue.move('T0', BEHIND);
  await until(() => world.priceOf('T1') === 'empty', 'a gap');
  t.deepEqual(world.priceOf('U'), { bid: 40, ask: 0 });
  other(2, 'orderbook_delta', { price_dollars: '0.4100', delta_fp: '3.00', side: 'yes' });
  await until(() => shows('U', { bid: 41, ask: 0 }), 'a price of the other subscription');
  venue.intercept = () => false;
  const asked = JSON.parse(venue.received.at(-1)!.text);
  venue.onMessage!(socket!, JSON.stringify({ ...asked, params: { market_tickers: ['T0', 'T1'] } }));
  await until(() => shows('T0', BEHIND) && shows('T1', TOP), 'snapshots');

  const lines = linesOf(texts);
  t.false(world.ticks.some(({ kind }) => kind === 'down'));
  t.false(lines.some(({ event }) => event === 'gap'));
  replaysAsItWas(t, world, texts);

  // Selected markets see the gap, too.
  const selection = new Selection(['T1', 'venue_a/U']);
  const selected = replayed(
    world,
    lines.flatMap((line) => selection.take(line)),
  );
  const own = new Set(['T1', 'U'].map(world.numberOf));
  const ofOwn = (ticks: readonly Tick[]) =>
    ticks.filter((tick) => 'market' in tick && own.has(tick.market));
  t.deepEqual(ofOwn(selected), ofOwn(world.ticks));
  const others = selected.filter((tick) => 'market' in tick && !own.has(tick.market));
  t.deepEqual(others, []);
});

test('F30, W35: Kalshi, a book that went wrong', async (t) => {
  const { venue, world, texts, shows } = await recordedWorld(t, KALSHI);
  venue.tops.set('A', { bid: 30, ask: 45 });
  // The venue takes away a level that nobody was shown.
  venue.move('A', BEHIND);
  await until(() => shows('A', BEHIND), 'its snapshot');
  t.deepEqual(world.priceOf('B'), TOP);
  replaysAsItWas(t, world, texts);
});

test('F30, W15: statuses and results that were asked for by REST', async (t) => {
  const values = new Map([
    ['A', '1.0000'],
    ['B', '0.6450'],
    ['C', ''],
  ]);
  const rest = await restServer(t, () => {
    const markets = [...values].map(([ticker, value]) => ({
      ticker,
      status: value === '' ? 'inactive' : 'finalized',
      result: value === '1.0000' ? 'yes' : '',
      settlement_value_dollars: value === '' ? null : value,
    }));
    return json({ markets, cursor: '' });
  });
  const restUrl = new URL(rest.url);
  const names = ['A', 'B', 'C'];
  const { world, texts } = await recordedWorld(t, KALSHI, { restUrl }, names);
  await until(() => world.results.size === 2 && world.statusOf('C') === 'paused', 'states');
  t.deepEqual(world.results.get('B'), ['scalar', 64]);
  replaysAsItWas(t, world, texts);
  t.deepEqual(linesOf(texts).find(({ event }) => event === 'states')?.states, [
    { market: 'A', status: 'resolved', result: 'yes' },
    { market: 'B', status: 'resolved', settlementValue: '0.6450' },
    { market: 'C', status: 'paused' },
  ]);

  const selection = new Selection(['B']);
  const selected = replayed(
    world,
    linesOf(texts).flatMap((line) => selection.take(line)),
  );
  t.deepEqual(
    selected.flatMap((tick) => (tick.kind === 'result' ? tick.yesPayoutCents : [])),
    [64],
  );
});

test('F30: after a hole a connection is read as a recording', async (t) => {
  const { venue, world, texts, shows } = await recordedWorld(t, NATIVE);
  venue.move('A', BEHIND);
  await until(() => shows('A', BEHIND), 'a price');
  venue.move('A', TOP);
  venue.move('B', BEHIND);
  await until(() => shows('B', BEHIND), 'prices');
  const lines = linesOf(texts);
  const hole = lines.filter((_, index) => index !== lines.length - 3);
  t.deepEqual(
    replayed(world, hole).map(({ kind }) => kind),
    ['quote', 'status', 'quote', 'status', 'down', 'quote', 'quote'],
  );
});
