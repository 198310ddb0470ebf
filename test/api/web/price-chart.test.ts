import test from 'ava';
import type { Candle, Ohlc } from '../../../api/client/generated.js';
import {
  type Bar,
  barsOf,
  carriedTo,
  INTERVALS,
  type LiveBars,
  NO_TOP,
  withTop,
} from '../../../api/web/state/price-bars.ts';
import {
  linesOf,
  marksOf,
  RANGE_WORDS,
  stretchesOf,
  summaryOf,
} from '../../../api/web/views/market/chart-data.ts';
import { tradeOf } from './rows.ts';

const STEP_MS = 60_000;
const START_MS = Date.parse('2026-11-24T12:00:00.000Z');
const at = (minutes: number) => START_MS + minutes * STEP_MS;
const flat = (price: number): Ohlc => ({ open: price, high: price, low: price, close: price });
const live = (bars: readonly Bar[], bid: number | null, ask: number | null): LiveBars => ({
  stepMs: STEP_MS,
  bars,
  top: { bidCents: bid, askCents: ask },
});
const BAR: Bar = { startMs: START_MS, bid: flat(40), ask: flat(44), mid: flat(42) };

test('H11: a quote widens the last bar, and the next one opens at the price carried into it', (t) => {
  const once = withTop(live([BAR], 40, 44), { bidCents: 42, askCents: 43 }, at(0.5));
  t.deepEqual(once.bars, [
    {
      startMs: START_MS,
      bid: { open: 40, high: 42, low: 40, close: 42 },
      ask: { open: 44, high: 44, low: 43, close: 43 },
      mid: { open: 42, high: 42.5, low: 42, close: 42.5 },
    },
  ]);
  const later = withTop(once, { bidCents: 45, askCents: 47 }, at(2.5));
  t.deepEqual(later.bars.slice(1), [
    { startMs: at(1), bid: flat(42), ask: flat(43), mid: flat(42.5) },
    {
      startMs: at(2),
      bid: { open: 42, high: 45, low: 42, close: 45 },
      ask: { open: 43, high: 47, low: 43, close: 47 },
      mid: { open: 42.5, high: 46, low: 42.5, close: 46 },
    },
  ]);
  t.is(withTop(later, later.top, at(2.9)), later, 'nothing has changed');
});

test('H10, H11: bars without a live price are empty, and close is the last live price', (t) => {
  const lost = withTop(live([BAR], 40, 44), NO_TOP, at(0.5));
  t.deepEqual(lost.bars, [BAR]);
  const since = carriedTo(lost, at(2.1));
  t.deepEqual(
    since.bars.slice(1).map(({ startMs, bid, ask, mid }) => [startMs, bid, ask, mid]),
    [
      [at(1), null, null, null],
      [at(2), null, null, null],
    ],
  );
  const back = withTop(since, { bidCents: 50, askCents: null }, at(2.2));
  t.deepEqual(back.bars.at(-1), { startMs: at(2), bid: flat(50), ask: null, mid: null });
});

test('the first price of a market begins its bars, and no price does not', (t) => {
  const none = live([], null, null);
  t.deepEqual(withTop(none, NO_TOP, at(0)).bars, []);
  const begun = withTop(none, { bidCents: 40, askCents: 44 }, at(0.7));
  t.deepEqual(begun.bars, [BAR]);
});

test('a quote that is older than the loaded bars changes the price, and no bar', (t) => {
  const loaded = live([{ ...BAR, startMs: at(1) }], null, null);
  const next = withTop(loaded, { bidCents: 60, askCents: 61 }, at(0.9));
  t.is(next.bars, loaded.bars);
  t.deepEqual(next.top, { bidCents: 60, askCents: 61 });
});

test('candles as the API answers them become bars; each interval is one answer', (t) => {
  const candle: Candle = {
    start: '2026-11-24T12:00:00.000Z',
    end: '2026-11-24T12:01:00.000Z',
    ...{ bid: flat(40), ask: flat(44), mid: flat(42) },
    ...{ trades: null, quotes: 1, liveSeconds: 60 },
  };
  t.deepEqual(barsOf([candle]), [BAR]);
  for (const { stepMs, spanMs } of Object.values(INTERVALS)) t.true(spanMs / stepMs + 1 <= 1000);
});

test('lines go through the beginnings of bars to the price now', (t) => {
  const bars = [
    BAR,
    { startMs: at(1), bid: { ...flat(41), close: 39 }, ask: flat(45), mid: flat(43) },
  ];
  const { timesMs, lines } = linesOf(live(bars, 39, 45), at(1.5), 'sides');
  t.deepEqual(timesMs, [at(0), at(1), at(1.5)]);
  t.deepEqual(lines, [
    { name: 'Yes bid', values: [40, 41, 39] },
    { name: 'Yes ask', values: [44, 45, 45] },
  ]);
});

test('a line ends where the price was lost, and begins again where it is back', (t) => {
  const none = { bid: null, ask: null, mid: null };
  const bars = [BAR, { startMs: at(1), ...none }, { ...BAR, startMs: at(2) }];
  const { timesMs, lines } = linesOf(live(bars, null, null), at(2.5), 'sides');
  t.deepEqual(timesMs, [at(0), at(1) - 1, at(1), at(2), at(2.5)]);
  t.deepEqual(lines[0]!.values, [40, 40, null, 40, null]);
});

test('the middle has the band of what it was in each bar', (t) => {
  const mid = { open: 42, high: 46, low: 41, close: 45 };
  const { lines } = linesOf(live([{ ...BAR, mid }], 44, 46), at(0.5), 'mid');
  t.deepEqual(lines, [
    { name: 'Lowest', values: [41, 41] },
    { name: 'Highest', values: [46, 46] },
    { name: 'Yes mid', values: [42, 45] },
  ]);
});

test('H5: gaps are cut to what is shown, and one that goes on ends now', (t) => {
  const iso = (minutes: number) => new Date(at(minutes)).toISOString();
  const gaps = [
    { from: iso(-9), to: iso(-8), reason: 'stale' as const },
    { from: iso(-2), to: iso(1), reason: 'server_down' as const },
    { from: iso(4), to: null, reason: 'connection_lost' as const },
  ];
  t.deepEqual(stretchesOf(gaps, { fromMs: at(0), toMs: at(5) }), [
    { fromMs: at(0), toMs: at(1), reason: 'server_down', isOpen: false },
    { fromMs: at(4), toMs: at(5), reason: 'connection_lost', isOpen: true },
  ]);
});

test('a chart says in a sentence what one sees in it', (t) => {
  const bars = [{ ...BAR, bid: { ...flat(40), low: 31 } }];
  t.is(
    summaryOf(live(bars, 40, null)),
    'Yes bid 40¢, ask none; between 31¢ and 44¢ in this chart.',
  );
});

test('U46: own buys and sales are marks at their prices of yes, and results are none', (t) => {
  const bought = tradeOf({ entryCents: 43, closedAt: null });
  const times = { openedAt: '2026-11-24T10:00:00.000Z', closedAt: '2026-11-24T11:00:00.000Z' };
  const sold = tradeOf({
    ...times,
    instrumentSide: 'no',
    entryCents: 30,
    exitCents: 45,
    closeReason: 'sold',
  });
  const settled = tradeOf({ ...times, entryCents: 43, exitCents: 100, closeReason: 'settled' });
  const { entryCents: _, ...hidden } = bought;
  t.deepEqual(
    marksOf([bought, sold, settled, hidden as typeof bought]).map(({ value, kind }) => [
      kind,
      value,
    ]),
    [
      ['buy', 43],
      ['buy', 70],
      ['sell', 55],
      ['buy', 43],
    ],
  );
  t.is(marksOf([sold])[1]!.atMs, Date.parse(times.closedAt));
  t.deepEqual(Object.keys(RANGE_WORDS), Object.keys(INTERVALS), 'each interval has its range');
});
