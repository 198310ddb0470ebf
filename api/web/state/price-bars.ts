/**
 * Prices by interval, as candles have them, and how live quotes continue them, as the history
 * itself does. Rules H10 to H12 (api/RULES.md).
 */
import type { Candle, Interval, Ohlc } from '../../client/generated.js';

/** The prices of one interval; a side is null if it had no price. */
export type Bar = { startMs: number; bid: Ohlc | null; ask: Ohlc | null; mid: Ohlc | null };
/** The top of book; a side is null without a price. */
export type Top = { bidCents: number | null; askCents: number | null };
/** Bars up to now, and the price that is carried on from the last one. */
export type LiveBars = { stepMs: number; bars: readonly Bar[]; top: Top };

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/**
 * The length of an interval, and how far back the chart shows it: at most 1,000, which are one
 * answer.
 */
export const INTERVALS: Readonly<Record<Interval, { stepMs: number; spanMs: number }>> = {
  '1m': { stepMs: MINUTE_MS, spanMs: DAY_MS / 4 },
  '5m': { stepMs: 5 * MINUTE_MS, spanMs: DAY_MS },
  '15m': { stepMs: 15 * MINUTE_MS, spanMs: 4 * DAY_MS },
  '1h': { stepMs: 60 * MINUTE_MS, spanMs: 14 * DAY_MS },
  '1d': { stepMs: DAY_MS, spanMs: 900 * DAY_MS },
};
export const NO_TOP: Top = { bidCents: null, askCents: null };

export function barsOf(candles: readonly Candle[]): Bar[] {
  return candles.map(({ start, bid, ask, mid }) => ({ startMs: Date.parse(start), bid, ask, mid }));
}

/** The bars with the top of book of a moment, which holds until the next one. */
export function withTop(live: LiveBars, top: Top, atMs: number): LiveBars {
  const { stepMs, bars, top: carried } = carriedTo(live, atMs);
  const startMs = startOf(stepMs, atMs);
  const last = bars.at(-1);
  // An answer can be ahead of messages that were sent before it.
  if (last !== undefined && last.startMs > startMs) return { stepMs, bars, top };
  if (last?.startMs === startMs) {
    if (carried.bidCents === top.bidCents && carried.askCents === top.askCents) return live;
    return { stepMs, bars: [...bars.slice(0, -1), added(last, top)], top };
  }
  // The history begins with its first price.
  if (top.bidCents === null && top.askCents === null) return { stepMs, bars, top };
  return { stepMs, bars: [...bars, added(emptyBar(startMs), top)], top };
}

/**
 * The bars up to a moment. The bars since the last one have the price that is carried into them.
 */
export function carriedTo(live: LiveBars, atMs: number): LiveBars {
  const { stepMs, bars, top } = live;
  const last = bars.at(-1);
  const startMs = startOf(stepMs, atMs);
  if (last === undefined || last.startMs >= startMs) return live;
  const since: Bar[] = [];
  for (let at = last.startMs + stepMs; at <= startMs; at += stepMs) {
    since.push(added(emptyBar(at), top));
  }
  return { stepMs, bars: [...bars, ...since], top };
}

/** Aligned to UTC. */
function startOf(stepMs: number, atMs: number): number {
  return atMs - (atMs % stepMs);
}

function emptyBar(startMs: number): Bar {
  return { startMs, bid: null, ask: null, mid: null };
}

function added(bar: Bar, { bidCents, askCents }: Top): Bar {
  const midCents = bidCents === null || askCents === null ? null : (bidCents + askCents) / 2;
  return {
    startMs: bar.startMs,
    bid: widened(bar.bid, bidCents),
    ask: widened(bar.ask, askCents),
    mid: widened(bar.mid, midCents),
  };
}

/** `close` stays the last live price. */
function widened(range: Ohlc | null, price: number | null): Ohlc | null {
  if (price === null) return range;
  if (range === null) return { open: price, high: price, low: price, close: price };
  const { open, high, low } = range;
  return { open, high: Math.max(high, price), low: Math.min(low, price), close: price };
}
