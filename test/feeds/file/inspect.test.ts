import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { isoOf } from '../../../engine/base/units.ts';
import type { FeedLine } from '../../../feeds/file/feed-line.ts';
import { createFeedWriter } from '../../../feeds/file/feed-writer.ts';
import { bboRows, inspectFeed } from '../../../feeds/file/inspect.ts';
import { LagHistogram } from '../../../feeds/file/lag.ts';
import { collect, csvRows, jsonLines, sharedData } from '../golden.ts';

const mlb = sharedData('mlb-2026-07-12');
const gold = sharedData('kalshi-ws-window');
const mlbTest = mlb.present ? test : test.skip;
const goldTest = gold.present ? test : test.skip;

const T0 = Date.UTC(2026, 6, 12, 18, 0, 0);

async function feed(t: ExecutionContext, lines: Omit<FeedLine, 'line'>[]): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'paperbook-inspect-'));
  t.teardown(() => rm(dir, { recursive: true }));
  const path = join(dir, 'feed.jsonl');
  const writer = await createFeedWriter(path);
  for (const { atMs, ...line } of lines) {
    writer.writeText(JSON.stringify({ at: isoOf(atMs), ...line }));
  }
  await writer.close();
  return path;
}

function native(atMs: number, frame: object): Omit<FeedLine, 'line'> {
  return { atMs, venue: 'venue_b', adapter: 'native', frame };
}

function quote(atMs: number, market: string, bid: number | null, ask: number | null) {
  const [yesBidCents, yesAskCents] = [bid, ask];
  const sizes = { yesBidContracts: 10, yesAskContracts: 20 };
  return native(atMs, { type: 'quote', market, yesBidCents, yesAskCents, ...sizes });
}

function goldFeed(t: ExecutionContext): Promise<string> {
  const url = new URL('KXGOLD15M-26AUG050000-00.ndjson.gz', gold.dir);
  const recorded = jsonLines(url) as { recv_ms: number; event: unknown }[];
  return feed(
    t,
    recorded.map(({ recv_ms: atMs, event: frame }) => {
      return { atMs, venue: 'venue_a', adapter: 'kalshi', frame };
    }),
  );
}

goldTest('--bbo 10 equals all 86 checkpoints', async (t) => {
  const rows = await collect(bboRows(await goldFeed(t), 10));
  const expected = csvRows(new URL('EXPECTED_bbo_10s.csv', gold.dir)).map((row) =>
    [
      row.market_ticker,
      row.recv_ms_boundary,
      row.yes_bid_cents,
      row.yes_bid_size,
      row.yes_ask_cents,
      row.yes_ask_size,
    ].join(','),
  );
  t.is(expected.length, 86);
  t.deepEqual(rows.slice(1), expected);
});

goldTest('the counts of the recorded window equal its summary', async (t) => {
  const [expected] = csvRows(new URL('EXPECTED_summary.csv', gold.dir));
  const summary = await inspectFeed(await goldFeed(t));
  const market = summary.markets[`venue_a/${expected!.market_ticker}`]!;
  t.is(summary.frames, Number(expected!.lines));
  t.deepEqual(market.framesByType, {
    orderbook_snapshot: Number(expected!.snapshots),
    orderbook_delta: Number(expected!.deltas),
    trade: Number(expected!.trades),
  });
  t.is(market.tradedContracts, expected!.trade_contracts!);
  t.is(Date.parse(summary.firstAt!), Number(expected!.first_recv_ms));
  t.is(Date.parse(summary.lastAt!), Number(expected!.last_recv_ms));
  t.is(summary.rejected, Number(expected!.deltas_before_snapshot));
  t.is(summary.books.crossed, 0);
  // Deltas and trades state their time, snapshots do not.
  t.is(summary.lag.count, Number(expected!.deltas) + Number(expected!.trades));
  t.true(summary.gaps > 0); // a recording of one market only
});

mlbTest('mlb-2026-07-12 has 7,560 frames, 15 results, none skipped', async (t) => {
  const summary = await inspectFeed(new URL('feed.jsonl.gz', mlb.dir).pathname);
  t.is(summary.frames, 7560);
  t.is(summary.skippedLines + summary.rejected + summary.gaps, 0);
  t.deepEqual(summary.ticks, { book: 7515, game: 30, result: 15 });
  t.deepEqual(summary.books, { total: 7515, crossed: 0, oneSided: 125, empty: 0 });
  t.is(summary.firstAt, '2026-07-12T04:00:51.000Z');
  const results = csvRows(new URL('labels.csv', mlb.dir)).map(({ slug, y }) => [
    `venue_a/${slug}`,
    y === '1' ? 'yes' : 'no',
  ]);
  t.deepEqual(
    Object.entries(summary.markets).map(([name, { result }]) => [name, result]),
    results.sort(([a], [b]) => (a! < b! ? -1 : 1)),
  );
});

test('X3, F30: states count as frames of their type, and a gap that was mended costs its books', async (t) => {
  let seq = 0;
  const of = (fields: Partial<FeedLine>): Omit<FeedLine, 'line'> => {
    const place = { venue: 'venue_a', adapter: 'kalshi', connection: 1 } as const;
    return { atMs: T0 + seq * 1000, ...place, seq: ++seq, frame: undefined, ...fields };
  };
  const book = (place: number, market_ticker: string) => {
    const msg = { market_ticker, yes_dollars_fp: [['0.4100', '10.00']] };
    return { type: 'orderbook_snapshot', sid: 1, seq: place, msg };
  };
  const lines = [
    of({ event: 'open', markets: ['A', 'B'] }),
    of({ frame: book(1, 'A') }),
    of({ frame: book(2, 'B') }),
    of({ frame: book(4, 'B') }),
    of({ event: 'states', states: [{ market: 'A', status: 'resolved', result: 'no' }] }),
  ];
  const path = await feed(t, lines);
  const summary = await inspectFeed(path);
  t.like(summary, { frames: 4, gaps: 1, rejected: 0 });
  t.deepEqual(summary.framesByType, { 'kalshi orderbook_snapshot': 3, 'kalshi states': 1 });
  t.is(summary.markets['venue_a/A']?.result, 'no');
  const rows = (await collect(bboRows(path, 1))).filter((row) => row.startsWith('A,'));
  const sides = rows.map((row) => row.split(',').slice(2).join());
  t.deepEqual(sides, ['41,10.00,,', '41,10.00,,', ',,,', ',,,']);
});

test('X2, X3, X4: counts, gaps, rejections, states, lag', async (t) => {
  const heartbeat = (seq: number) => native(T0, { type: 'heartbeat', seq });
  const timed = (atMs: number, lagMs: number) => ({
    type: 'trade',
    market: 'B',
    yesPriceCents: 40,
    contracts: 2,
    side: 'yes',
    at: new Date(atMs - lagMs).toISOString(),
  });
  const path = await feed(t, [
    heartbeat(1),
    heartbeat(3),
    quote(T0 + 1, 'A', 40, 42),
    quote(T0 + 2, 'A', 42, 42),
    quote(T0 + 3, 'A', null, 42),
    quote(T0 + 4, 'A', null, null),
    native(T0 + 5, { type: 'quote', market: 'A', yesBidCents: 'x' }),
    native(T0 + 6, { type: 'weather' }),
    native(T0 + 7, timed(T0 + 7, 5)),
    native(T0 + 8, timed(T0 + 8, 7)),
    native(T0 + 9, timed(T0 + 9, -3)),
    { atMs: T0 + 10, venue: 'venue_c_intl', adapter: 'polymarket', frame: {} },
  ]);
  const summary = await inspectFeed(path);
  t.deepEqual(summary, {
    frames: 12,
    skippedLines: 0,
    skippedLinesByReason: {},
    timeProblems: { lines: 0, linesByReason: {}, firstLine: null },
    firstAt: '2026-07-12T18:00:00.000Z',
    lastAt: '2026-07-12T18:00:00.010Z',
    framesByType: {
      'native heartbeat': 2,
      'native quote': 5,
      'native weather': 1,
      'native trade': 3,
      'polymarket unreadable': 1,
    },
    markets: {
      'venue_b/A': {
        frames: 5,
        framesByType: { quote: 5 },
        firstAt: '2026-07-12T18:00:00.001Z',
        lastAt: '2026-07-12T18:00:00.005Z',
        tradedContracts: '0.00',
        books: { total: 5, crossed: 1, oneSided: 1, empty: 2 },
        result: null,
      },
      'venue_b/B': {
        frames: 3,
        framesByType: { trade: 3 },
        firstAt: '2026-07-12T18:00:00.007Z',
        lastAt: '2026-07-12T18:00:00.009Z',
        tradedContracts: '6.00',
        books: { total: 0, crossed: 0, oneSided: 0, empty: 0 },
        result: null,
      },
    },
    ticks: { book: 5, trade: 3 },
    gaps: 1,
    rejected: 3,
    rejectedByReason: {
      'unreadable price or size': 1,
      'unknown type': 1,
      'no event_type': 1,
    },
    books: { total: 5, crossed: 1, oneSided: 1, empty: 2 },
    lag: { count: 3, medianMs: 5, p99Ms: 7, negative: 1 },
  });
});

test('X2: an empty file has no times', async (t) => {
  const summary = await inspectFeed(await feed(t, []));
  t.deepEqual([summary.frames, summary.firstAt, summary.lag.medianMs], [0, null, null]);
});

test('X6: --bbo, rows by boundary and market', async (t) => {
  const path = await feed(t, [
    native(T0 + 500, { type: 'heartbeat' }),
    quote(T0 + 2000, 'B', 40, 42), // on the boundary: within it
    quote(T0 + 2001, 'B', 41, 42),
    quote(T0 + 3000, 'A, "x"', null, 0),
    quote(T0 + 2500, 'B', 30, 31), // an earlier time counts as now
    quote(T0 + 6000, 'B', 99, null),
  ]);
  const header = 'market,at_ms,yes_bid_cents,yes_bid_contracts,yes_ask_cents,yes_ask_contracts';
  const a = '"A, ""x"""';
  t.deepEqual(await collect(bboRows(path, 2)), [
    header,
    `B,${T0 + 2000},40,10,42,20`,
    `${a},${T0 + 4000},,,,`,
    `B,${T0 + 4000},30,10,31,20`,
    `${a},${T0 + 6000},,,,`,
    `B,${T0 + 6000},99,10,,`,
  ]);
});

test('X6: --bbo prints sizes as the venue does', async (t) => {
  const amount = (value: string) => ({ value, currency: 'USD' });
  const marketData = {
    marketSlug: 'm',
    bids: [{ px: amount('0.555'), qty: '2.5' }],
    offers: [{ px: amount('0.995'), qty: '7' }],
  };
  const path = await feed(t, [
    { atMs: T0, venue: 'venue_c', adapter: 'polymarket_us', frame: { marketData } },
  ]);
  const [, row] = await collect(bboRows(path, 1));
  t.is(row, `m,${T0},55,2.50,,`); // an ask of 99.5 rounds up to no price
});

test('X6: --bbo wants a whole number of seconds', async (t) => {
  const path = await feed(t, []);
  for (const seconds of [0, -1, 0.5, Number.NaN]) {
    await t.throwsAsync(collect(bboRows(path, seconds)), { instanceOf: RangeError });
  }
});

test('F5: --skip-bad counts in an inspection', async (t) => {
  const dir = await mkdtemp(join(tmpdir(), 'paperbook-inspect-'));
  t.teardown(() => rm(dir, { recursive: true }));
  const path = join(dir, 'feed.jsonl');
  await writeFile(path, '{"format":"paperbook-feed","version":1}\nx\ny\n{}\n');
  const summary = await inspectFeed(path, { skipBad: true });
  t.is(summary.skippedLines, 3);
  t.deepEqual(summary.skippedLinesByReason, { 'not JSON': 2, 'at is missing': 1 });
  await t.throwsAsync(inspectFeed(path), { message: 'line 2: not JSON' });
  t.is((await collect(bboRows(path, 1, { skipBad: true }))).length, 1);
});

test('X5: lag is exact to 16 s and within 1 % beyond', (t) => {
  const near = new LagHistogram();
  for (let lagMs = 1; lagMs <= 1000; lagMs++) near.add(lagMs);
  t.deepEqual(near.summary(), { count: 1000, medianMs: 500, p99Ms: 990, negative: 0 });
  const year = 365 * 24 * 3600 * 1000;
  for (const lagMs of [20_001, 3_600_000, year, -year]) {
    const far = new LagHistogram();
    far.add(lagMs);
    t.true(Math.abs(far.summary().medianMs! - lagMs) <= Math.abs(lagMs) / 100, String(lagMs));
  }
});

test('X7: markets beyond ten thousand are counted under other', async (t) => {
  const frames = Array.from({ length: 10_002 }, (_, number) => quote(T0 + 1, `M${number}`, 40, 42));
  const path = await feed(t, [...frames, quote(T0 + 2, 'M0', 40, 42)]);
  const { markets } = await inspectFeed(path);
  t.is(Object.keys(markets).length, 10_001);
  t.deepEqual(
    ['M0', 'M9999', 'M10000'].map((market) => markets[`venue_b/${market}`]?.frames),
    [2, 1, undefined],
  );
  t.is(markets.other?.frames, 2);
});
