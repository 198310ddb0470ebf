/**
 * The parts of the price chart: lines of bars, a band, the stretches without a live price, and the
 * own trades. Rule U46 (api/RULES.md).
 */
import type { GapReason, HistoryGap, Interval, Ohlc, Trade } from '../../../client/generated.js';
import { cents } from '../../state/format.ts';
import type { Bar, LiveBars, Top } from '../../state/price-bars.ts';

export type ChartKind = 'sides' | 'mid';
export type Line = { name: string; values: (number | null)[] };
export type Lines = { timesMs: number[]; lines: Line[] };
/** Within the shown window; `toMs` is now if it is live. */
export type Stretch = { fromMs: number; toMs: number; reason: GapReason; isOpen: boolean };

export const GAP_WORDS: Readonly<Record<GapReason, string>> = {
  connection_lost: 'connection to the venue lost',
  sequence_gap: 'messages of the venue are missing',
  stale: 'venue silent',
  server_down: 'server not running',
  damaged: 'records damaged',
};
export const SIDES = { bid: 'Yes bid', ask: 'Yes ask' } as const;
export const MID = { mid: 'Yes mid', low: 'Lowest', high: 'Highest' } as const;

/** How far back an interval shows, as people choose it. */
export const RANGE_WORDS: Readonly<Record<Interval, string>> = {
  '1m': '6 h',
  '5m': '1 day',
  '15m': '4 days',
  '1h': '2 weeks',
  '1d': 'All',
};

/** The whole range of a price. */
export const FULL_RANGE = [0, 100] as const;

type Mark = { atMs: number; value: number; kind: 'buy' | 'sell' };

/** Own buys and sales, at their prices in terms of yes; while venue data is off they have none. */
export function marksOf(trades: readonly Trade[]): Mark[] {
  return trades.flatMap((trade) => {
    const { openedAt, closedAt, closeReason, entryCents, exitCents, instrumentSide } = trade;
    const yes = (cents: number) => (instrumentSide === 'yes' ? cents : 100 - cents);
    const marks: Mark[] = [];
    if (typeof entryCents === 'number') {
      marks.push({ atMs: Date.parse(openedAt), value: yes(entryCents), kind: 'buy' });
    }
    if (closedAt !== null && closeReason === 'sold' && typeof exitCents === 'number') {
      marks.push({ atMs: Date.parse(closedAt), value: yes(exitCents), kind: 'sell' });
    }
    return marks;
  });
}

type Point = { atMs: number; bar: Bar; of: 'open' | 'close' };

/**
 * A point at the beginning of each bar, with the price that was carried into it. A bar after which
 * there is no price has a point at its end, too. The last point is now.
 */
export function linesOf({ bars, stepMs, top }: LiveBars, nowMs: number, kind: ChartKind): Lines {
  const points = pointsOf(bars, stepMs, nowMs);
  const timesMs = points.map(({ atMs }) => atMs);
  const isLast = (at: number) => at === points.length - 1;
  const line = (
    name: string,
    side: (bar: Bar) => Ohlc | null,
    edge: Edge,
    live: number | null,
  ) => ({
    name,
    values: points.map((point, at) => {
      return isLast(at) && edge === null ? live : priceAt(point, side, edge);
    }),
  });
  if (kind === 'sides') {
    const lines = [
      line(SIDES.bid, ({ bid }) => bid, null, top.bidCents),
      line(SIDES.ask, ({ ask }) => ask, null, top.askCents),
    ];
    return { timesMs, lines };
  }
  const mid = ({ mid: range }: Bar) => range;
  const lines = [
    line(MID.low, mid, 'low', null),
    line(MID.high, mid, 'high', null),
    line(MID.mid, mid, null, midOf(top)),
  ];
  return { timesMs, lines };
}

/** Null: the price itself, of the point's end of the bar. */
type Edge = 'low' | 'high' | null;

function priceAt({ bar, of }: Point, side: (bar: Bar) => Ohlc | null, edge: Edge): number | null {
  const range = side(bar);
  return range === null ? null : range[edge ?? of];
}

function pointsOf(bars: readonly Bar[], stepMs: number, nowMs: number): Point[] {
  const points: Point[] = [];
  bars.forEach((bar, at) => {
    points.push({ atMs: bar.startMs, bar, of: 'open' });
    const next = bars[at + 1];
    if (next === undefined) {
      points.push({ atMs: Math.max(nowMs, bar.startMs + 1), bar, of: 'close' });
    } else if (isGone(bar.bid, next.bid) || isGone(bar.ask, next.ask)) {
      points.push({ atMs: bar.startMs + stepMs - 1, bar, of: 'close' });
    }
  });
  return points;
}

function isGone(before: Ohlc | null, after: Ohlc | null): boolean {
  return before !== null && after === null;
}

function midOf({ bidCents, askCents }: Top): number | null {
  return bidCents === null || askCents === null ? null : (bidCents + askCents) / 2;
}

/** The gaps that overlap the window, cut to it. */
export function stretchesOf(
  gaps: readonly HistoryGap[],
  { fromMs, toMs }: { fromMs: number; toMs: number },
): Stretch[] {
  return gaps
    .map(({ from, to, reason }) => ({
      fromMs: Math.max(Date.parse(from), fromMs),
      toMs: to === null ? toMs : Math.min(Date.parse(to), toMs),
      reason,
      isOpen: to === null,
    }))
    .filter((one) => one.fromMs < one.toMs);
}

/** Its main message, in a sentence. */
export function summaryOf({ bars, top }: LiveBars): string {
  const sides = [`Yes bid ${priceText(top.bidCents)}`, `ask ${priceText(top.askCents)}`];
  const ranges = bars.flatMap(({ bid, ask }) => [bid, ask]).filter((range) => range !== null);
  if (ranges.length === 0) return `${sides.join(', ')}.`;
  const low = Math.min(...ranges.map((range) => range.low));
  const high = Math.max(...ranges.map((range) => range.high));
  return `${sides.join(', ')}; between ${cents(low)} and ${cents(high)} in this chart.`;
}

function priceText(price: number | null): string {
  return price === null ? 'none' : cents(price);
}
