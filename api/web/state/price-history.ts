/** Past and live prices of a market: bars of an interval, and its gaps. */
import type { HistoryGap, Interval } from '../../client/generated.js';
import { call } from './calls.ts';
import { type Loaded, Loader } from './loaded.ts';
import { barsOf, INTERVALS, type LiveBars, NO_TOP, type Top, withTop } from './price-bars.ts';
import { serverNowMs } from './server-time.ts';

/** Gaps are the gaps of the bars. */
export type PriceHistory = { live: LiveBars; gaps: readonly HistoryGap[] };

const BARS_MAX = 1000;
/** The newest one: it may arrive before the bars. */
let top: Top = NO_TOP;

const loader = new Loader(async (instrumentId: string, interval: Interval) => {
  const { stepMs, spanMs } = INTERVALS[interval];
  const nowMs = serverNowMs();
  const from = new Date(nowMs - (nowMs % stepMs) - spanMs).toISOString();
  const series = { instrumentId, venue: 'venue_a', from } as const;
  const [{ candles }, { gaps }] = await Promise.all([
    call('getCandles', { query: { ...series, interval, limit: BARS_MAX } }),
    // Every page has the gaps of the whole window.
    call('getHistory', { query: { ...series, order: 'desc', limit: 1 } }),
  ]);
  const loaded: LiveBars = { stepMs, bars: barsOf(candles), top: NO_TOP };
  return { live: withTop(loaded, top, serverNowMs()), gaps } satisfies PriceHistory;
});

export function priceHistoryOf(instrumentId: string, interval: Interval): Loaded<PriceHistory> {
  return loader.of(instrumentId, interval);
}

export async function loadPriceHistory(instrumentId: string, interval: Interval): Promise<void> {
  await loader.load(instrumentId, interval);
}

/** The top of book is another one now. */
export function carryPriceOn(next: Top): void {
  top = next;
  const { value: now } = loader.now;
  if (now.state !== 'ready') return;
  const live = withTop(now.value.live, next, serverNowMs());
  if (live !== now.value.live) loader.change(({ gaps }) => ({ live, gaps }));
}

export function forgetPriceHistory(): void {
  loader.clear();
  top = NO_TOP;
}
