/** A feed file served as the venue that it was recorded of. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { WebSocket } from 'ws';
import type { FeedLine } from '../../../feeds/file/feed-line.ts';
import { type FileVenueOptions, startFileVenue } from '../../../feeds/file-venue/server.ts';
import type { AdapterName, VenueTick } from '../../../feeds/reading/venue.ts';
import { createAdapter } from '../../../feeds/venues/create.ts';
import { until } from '../until.ts';
import { connect } from '../venue-server.ts';

const HEADER = '{"format":"paperbook-feed","version":1}';
const AT = Date.UTC(2026, 6, 12, 4);

type Recorded = Partial<Omit<FeedLine, 'line' | 'atMs' | 'event'>> & {
  ms?: number;
  event?: FeedLine['event'];
};

const line = (frame: unknown, { adapter = 'native', ms = 0, ...rest }: Recorded = {}) =>
  JSON.stringify({
    at: new Date(AT + ms).toISOString(),
    venue: 'venue_a',
    adapter,
    ...rest,
    frame,
  });

async function served(
  t: ExecutionContext,
  lines: readonly string[],
  options: Partial<FileVenueOptions> = {},
) {
  const folder = await mkdtemp(join(tmpdir(), 'paperbook-served-'));
  t.teardown(() => rm(folder, { recursive: true }));
  const path = join(folder, 'feed.jsonl');
  await writeFile(path, [HEADER, ...lines, ''].join('\n'));
  const venue = await startFileVenue({ path, port: 0, speed: null, ...options });
  t.teardown(() => venue.close());
  return venue;
}

/** A live connection to a served feed, with what its adapter reads. */
function subscriber(t: ExecutionContext, url: string, name: AdapterName = 'native') {
  const adapter = createAdapter(name, {}, { depth: true })!;
  const ticks: (VenueTick | 'lost' | 'gap')[] = [];
  const { log } = connect(t, url, {
    adapter,
    markets: () => ['T1', 'T2'],
    onFrame(text) {
      const reading = adapter.read(JSON.parse(text));
      if (reading.jump) ticks.push('gap');
      else ticks.push(...structuredClone(reading.ticks).filter(({ kind }) => kind !== 'closing'));
      return reading;
    },
    onHeartbeat: () => void log.heartbeats++,
    onLost: () => void ticks.push('lost'),
  });
  return { ticks, log };
}

/** A client that asks by hand. */
async function byHand(t: ExecutionContext, url: string) {
  const socket = new WebSocket(url);
  const frames: Record<string, unknown>[] = [];
  socket.on('message', (data) => frames.push(JSON.parse(String(data))));
  await new Promise((open, failed) => socket.once('open', open).once('error', failed));
  t.teardown(() => socket.terminate());
  return { frames, ask: (message: object) => socket.send(JSON.stringify(message)) };
}

const quote = (yesAskCents: number, fields: object = {}) => ({
  ...{ type: 'quote', seq: 40 + yesAskCents, market: 'T1' },
  ...{ yesBidCents: 41, yesBidContracts: 9, yesAskCents, yesAskContracts: 9 },
  ...fields,
});
const asksOf = (ticks: readonly (VenueTick | string)[]) =>
  ticks.map((tick) => (typeof tick !== 'string' && tick.kind === 'book' ? tick.yesAsk : tick));

test('N44: begins when every feed has a subscriber, and sends what was asked for', async (t) => {
  const venue = await served(t, [
    line(quote(50)),
    line(quote(51, { market: 'T3' })),
    line(quote(60), { venue: 'venue_b' }),
    line(quote(53)),
  ]);
  t.deepEqual(
    venue.feeds.map((feed) => [feed.venue, feed.adapter, new URL(feed.url).pathname]),
    [
      ['venue_a', 'native', '/venue_a/native'],
      ['venue_b', 'native', '/venue_b/native'],
    ],
  );
  const a = subscriber(t, venue.feeds[0]!.url);
  await new Promise((resolve) => setTimeout(resolve, 300));
  t.deepEqual(a.ticks, [], 'venue_b has no subscriber yet');
  const b = subscriber(t, venue.feeds[1]!.url);
  await venue.played;
  await until(() => a.ticks.length === 2 && b.ticks.length === 1, 'all frames');
  t.deepEqual(asksOf(a.ticks), [5000, 5300], 'without T3, and without a gap for it');
  t.deepEqual(asksOf(b.ticks), [6000]);
});

test('a line that is held is sent once the hold has ended, and none before it', async (t) => {
  const holds: PromiseWithResolvers<void>[] = [];
  const hold = () => {
    holds.push(Promise.withResolvers<void>());
    return holds.at(-1)!.promise;
  };
  const venue = await served(t, [line(quote(50)), line(quote(51))], { hold });
  const { ticks } = subscriber(t, venue.feeds[0]!.url);
  await until(() => holds.length === 1, 'the first line');
  t.deepEqual(ticks, []);
  holds[0]!.resolve();
  await until(() => holds.length === 2 && ticks.length === 1, 'the second line');
  holds[1]!.resolve();
  await venue.played;
  await until(() => ticks.length === 2, 'all frames');
  t.deepEqual(asksOf(ticks), [5000, 5100]);
});

test('N45: native frames are numbered from 1 and say when they were', async (t) => {
  const venue = await served(t, [line(quote(50)), line(quote(51, { at: 'then' }), { ms: 7 })]);
  const { frames, ask } = await byHand(t, venue.feeds[0]!.url);
  ask({ op: 'nothing' });
  await until(() => frames.length === 1, 'a refusal');
  ask({ op: 'subscribe', markets: ['*'] });
  await until(() => frames.length === 3, 'two frames');
  t.like(frames[0], { type: 'error' });
  t.like(frames[1], { seq: 1, at: '2026-07-12T04:00:00.000Z' });
  t.like(frames[2], { seq: 2, at: 'then' });
});

test('N45: a gap is a gap again, and a lost connection is lost', async (t) => {
  const beat = line(undefined, { event: 'heartbeat' });
  const venue = await served(t, [
    line(quote(50)),
    beat,
    line(quote(51), { event: 'gap' }),
    line(undefined, { event: 'lost' }),
    line(quote(52)),
    line(undefined, { event: 'lost' }),
    line(quote(53)),
  ]);
  const { ticks, log } = subscriber(t, venue.feeds[0]!.url);
  await venue.played;
  await until(() => ticks.length >= 6, 'all of it');
  t.deepEqual(asksOf(ticks), [5000, 'gap', 'lost', 5200, 'lost', 5300]);
  t.is(log.heartbeats, 1);
});

test('N46: who subscribes in the middle gets the books as they are', async (t) => {
  const kalshi = { adapter: 'kalshi' } as const;
  const msg = { market_ticker: 'T1', price_dollars: '0.4200', side: 'yes' };
  const book = {
    ...{ type: 'orderbook_snapshot', sid: 9, seq: 70 },
    msg: {
      market_ticker: 'T1',
      yes_dollars_fp: [['0.4100', '10.00']],
      no_dollars_fp: [['0.5500', '7.25']],
    },
  };
  const delta = (seq: number, fields: object) => ({
    ...{ type: 'orderbook_delta', sid: 9, seq },
    msg: { ...msg, ...fields },
  });
  const venue = await served(
    t,
    [
      line(book, kalshi),
      line(delta(75, { delta_fp: '3.00' }), kalshi),
      line({ type: 'subscribed', id: 1, msg: { channel: 'trade', sid: 2 } }, kalshi),
      line(delta(90, { price_dollars: '0.4100', delta_fp: '-10.00' }), { ...kalshi, ms: 700 }),
    ],
    { speed: 1 },
  );
  const { url } = venue.feeds[0]!;
  const first = subscriber(t, url, 'kalshi');
  await until(() => first.ticks.length === 2, 'the first frames');
  const late = subscriber(t, url, 'kalshi');
  await until(() => late.ticks.length === 1, 'a book');
  t.deepEqual(late.ticks[0], first.ticks[1], 'the same levels');
  await venue.played;
  await until(() => first.ticks.length === 3 && late.ticks.length === 2, 'the last frame');
  t.deepEqual(late.ticks[1], first.ticks[2]);
  t.false(first.ticks.includes('gap'), 'the recording jumps, and who reads it does not see that');

  const { frames, ask } = await byHand(t, url);
  ask({ id: 5, cmd: 'subscribe', params: { channels: ['orderbook_delta'], market_ticker: 'T2' } });
  ask({
    id: 6,
    cmd: 'update_subscription',
    params: { sids: [1], market_tickers: ['T1'], action: 'add_markets' },
  });
  ask({
    id: 7,
    cmd: 'update_subscription',
    params: { sid: 1, market_tickers: ['T1'], action: 'get_snapshot' },
  });
  ask({ id: 8, cmd: 'unsubscribe', params: { sids: [1] } });
  ask({ id: 9, cmd: 'unsubscribe', params: { sids: [1] } });
  await until(() => frames.length === 7, 'answers');
  t.deepEqual(
    frames.map(({ id, type, seq }) => [id, type, seq]),
    [
      [5, 'subscribed', undefined],
      [6, 'ok', 0],
      [undefined, 'orderbook_snapshot', 1],
      [7, 'ok', 1],
      [undefined, 'orderbook_snapshot', 2],
      [8, 'unsubscribed', 3],
      [9, 'error', undefined],
    ],
  );
});

test('N45: Polymarket US, by slug', async (t) => {
  const state = (marketSlug: string, value: string) => ({
    requestId: 'theirs',
    marketData: {
      marketSlug,
      bids: [{ px: { value }, qty: '2' }],
      offers: [],
      state: 'MARKET_STATE_OPEN',
    },
  });
  const us = { adapter: 'polymarket_us' } as const;
  const venue = await served(t, [
    line(state('T1', '0.5'), us),
    line(state('T9', '0.6'), us),
    line({ heartbeat: {} }, us),
    line(state('T2', '0.7'), us),
  ]);
  const { ticks } = subscriber(t, venue.feeds[0]!.url, 'polymarket_us');
  await venue.played;
  await until(() => ticks.length === 4, 'two states');
  const bids = ticks.flatMap((tick) =>
    typeof tick !== 'string' && tick.kind === 'book' ? `${tick.market} ${tick.yesBid}` : [],
  );
  t.deepEqual(bids, ['T1 5000', 'T2 7000']);
});

const level = (price: string, size: string) => ({ price, size });
const tokenBook = (asset_id: string, bid: string) => ({
  ...{ event_type: 'book', market: '0xc', asset_id },
  bids: [level('.1', '5'), level(bid, '10')],
  asks: [level('.9', '7.5')],
});

test('N45, N46: Polymarket, by token, with the text PING, and books for who comes late', async (t) => {
  const change = {
    ...{ event_type: 'price_change', market: '0xc' },
    price_changes: [{ asset_id: 'T1', price: '.41', size: '3', side: 'BUY' }],
  };
  const polymarket = { adapter: 'polymarket' } as const;
  const venue = await served(
    t,
    [
      line([tokenBook('T1', '.4'), tokenBook('T9', '.6')], polymarket),
      line(change, polymarket),
      line({ event_type: 'market_resolved', winning_asset_id: 'T2' }, { ...polymarket, ms: 700 }),
    ],
    { speed: 1 },
  );
  const { url } = venue.feeds[0]!;
  const first = subscriber(t, url, 'polymarket');
  await until(() => first.ticks.length === 2, 'the first frames');
  const late = subscriber(t, url, 'polymarket');
  await until(() => late.ticks.length === 1, 'a book');
  t.deepEqual(late.ticks[0], first.ticks[1], 'the same levels');
  await venue.played;
  await until(() => late.ticks.length === 2, 'the result');
  t.like(late.ticks[1], { kind: 'result', market: 'T2', outcome: 'yes' });

  const socket = new WebSocket(url);
  t.teardown(() => socket.terminate());
  const texts: string[] = [];
  socket.on('message', (data) => texts.push(String(data)));
  socket.on('open', () => {
    socket.send('PING');
    socket.send('{"assets_ids":["T9"],"type":"market","custom_feature_enabled":true}');
  });
  await until(() => texts.length === 2, 'two answers');
  t.is(texts[0], 'PONG');
  t.like(JSON.parse(texts[1]!), { event_type: 'book', asset_id: 'T9' });
});

test('N45: an array of messages has the messages of the markets that were asked for', async (t) => {
  const polymarket = { adapter: 'polymarket' } as const;
  const venue = await served(t, [line([tokenBook('T1', '.4'), tokenBook('T9', '.6')], polymarket)]);
  const { frames, ask } = await byHand(t, venue.feeds[0]!.url);
  ask({ assets_ids: ['T9'], type: 'market' });
  await until(() => frames.length === 1, 'a frame');
  t.like(frames[0], { length: 1, 0: { asset_id: 'T9' } });
});

test('N45, W73: the end of a combo comes by the channel of combos alone', async (t) => {
  const msg = { market_ticker: 'KXMVE-1', event_type: 'determined', result: 'yes' };
  const frame = { type: 'multivariate_market_lifecycle', sid: 9, seq: 4, msg };
  const venue = await served(t, [line(frame, { adapter: 'kalshi' })]);
  const { frames, ask } = await byHand(t, venue.feeds[0]!.url);
  const channels = ['market_lifecycle_v2', 'multivariate_market_lifecycle'];
  ask({ id: 1, cmd: 'subscribe', params: { channels } });
  await until(() => frames.length === 3, 'two answers and a frame');
  t.deepEqual(frames[2], { ...frame, sid: 2, seq: 1 });
});

test('N45, N46: a gap that a Kalshi connection mended is one to mend again', async (t) => {
  let place = 0;
  const of = (frame: object | undefined, fields: Recorded = {}) =>
    line(frame, { adapter: 'kalshi', connection: 1, seq: ++place, ...fields });
  const book = (seq: number, ticker: string, size: string) => ({
    ...{ type: 'orderbook_snapshot', sid: 1, seq },
    msg: { market_ticker: ticker, yes_dollars_fp: [['0.4100', size]] },
  });
  const delta = (seq: number) => ({
    ...{ type: 'orderbook_delta', sid: 1, seq },
    msg: { market_ticker: 'T1', price_dollars: '0.4200', delta_fp: '3.00', side: 'yes' },
  });
  const venue = await served(
    t,
    [
      of(undefined, { event: 'open', markets: ['T1', 'T2'] }),
      of(book(1, 'T1', '10.00')),
      of(book(2, 'T2', '10.00')),
      of(delta(4)),
      of(book(5, 'T1', '20.00'), { ms: 500 }),
      of(undefined, { event: 'states', states: [], ms: 500 }),
    ],
    { speed: 1 },
  );
  const { url } = venue.feeds[0]!;
  const first = subscriber(t, url, 'kalshi');
  await until(() => first.ticks.includes('gap'), 'the gap');
  const late = await byHand(t, url);
  const params = { channels: ['orderbook_delta'], market_tickers: ['T1', 'T2'] };
  late.ask({ id: 1, cmd: 'subscribe', params });
  await until(() => late.frames.length === 1, 'an answer');
  await venue.played;
  await until(() => late.frames.length === 2, 'the snapshot');
  t.deepEqual(
    late.frames.map(({ type }) => type),
    ['subscribed', 'orderbook_snapshot'],
    'no book that nobody knows',
  );
  await until(() => typeof first.ticks.at(-1) !== 'string', 'the snapshot');
  t.like(first.ticks.at(-1), { kind: 'book', market: 'T1', yesBidSize: 2000 });
  t.false(first.ticks.includes('lost'));
});

test('N46: what another connection brought stays known after a loss', async (t) => {
  const place = (connection: number) => ({ connection });
  const venue = await served(t, [
    line(quote(50), place(1)),
    line(quote(60, { market: 'T2' }), place(2)),
    line(undefined, { event: 'lost', ...place(2) }),
    line(quote(51), place(1)),
  ]);
  const { ticks } = subscriber(t, venue.feeds[0]!.url);
  await venue.played;
  await until(() => ticks.length >= 6, 'all of it');
  t.deepEqual(
    asksOf(ticks).filter((tick) => typeof tick === 'number'),
    [5000, 6000, 5000, 5100],
  );
});

test('N44: a bad line ends it with its number', async (t) => {
  await t.throwsAsync(served(t, [line(quote(50)), 'bad']), { message: 'line 3: not JSON' });
});

test('N47: a feed that has nothing to send sends its venue\u2019s heartbeat', async (t) => {
  for (const adapter of ['native', 'kalshi', 'polymarket_us'] as const) {
    const frames = [line({ type: 'heartbeat' }, { adapter })];
    const venue = await served(t, frames, { heartbeatMs: 20 });
    const { url } = venue.feeds[0]!;
    const received: string[] = [];
    const socket = new WebSocket(url);
    t.teardown(() => socket.terminate());
    socket.on('ping', (data) => received.push(String(data)));
    socket.on('message', (data) => received.push(String(data)));
    socket.on('open', () => {
      const one = { requestId: 'a', marketSlugs: ['T1'] };
      socket.send(JSON.stringify({ op: 'subscribe', markets: ['T1'], subscribe: one }));
    });
    const beats = () => received.filter((text) => text.includes('heartbeat')).length;
    await until(() => beats() > 2, adapter);
    t.true(beats() > 2, adapter);
  }
});
