/**
 * Past and live prices of a market: bars of an interval, and its gaps. Rule U76 (api/RULES.md).
 */
import type { GetHistoryQuery, HistoryGap, Interval } from '../../client/generated.js';
import { call } from './calls.ts';
import { type Loaded, Loader } from './loaded.ts';
import { barsOf, INTERVALS, type LiveBars, NO_TOP, type Top, withTop } from './price-bars.ts';
import { serverNowMs } from './server-time.ts';

/** Gaps are the gaps of the bars. */
export type PriceHistory = {
  live: LiveBars;
  gaps: readonly HistoryGap[];
  /** Of a market that is over, the moment of its last record; null: its prices go on. */
  endMs: number | null;
};

const BARS_MAX = 1000;
/** The newest one: it may arrive before the bars. */
let top: Top = NO_TOP;

const loader = new Loader(async (instrumentId: string, interval: Interval, isOver: boolean) => {
  const { stepMs, spanMs } = INTERVALS[interval];
  const market = { instrumentId, venue: 'venue_a' } as const;
  const endMs = isOver ? await lastRecordMs(market) : null;
  const untilMs = endMs ?? serverNowMs();
  const series = {
    ...market,
    from: new Date(untilMs - (untilMs % stepMs) - spanMs).toISOString(),
    // A window ends before its end.
    ...(endMs === null ? {} : { to: new Date(endMs + 1).toISOString() }),
  };
  const [{ candles }, { gaps }] = await Promise.all([
    call('getCandles', { query: { ...series, interval, limit: BARS_MAX } }),
    // Every page has the gaps of the whole window.
    call('getHistory', { query: { ...series, order: 'desc', limit: 1 } }),
  ]);
  const loaded: LiveBars = { stepMs, bars: barsOf(candles), top: NO_TOP };
  const live = endMs === null ? withTop(loaded, top, serverNowMs()) : loaded;
  return { live, gaps, endMs } satisfies PriceHistory;
});

/** Null: none of its prices was recorded. */
async function lastRecordMs(
  market: Pick<GetHistoryQuery, 'instrumentId' | 'venue'>,
): Promise<number | null> {
  const { quotes } = await call('getHistory', { query: { ...market, order: 'desc', limit: 1 } });
  return quotes[0] === undefined ? null : Date.parse(quotes[0].at);
}

export function priceHistoryOf(instrumentId: string, interval: Interval): Loaded<PriceHistory> {
  return loader.of(instrumentId, interval);
}

/** `isOver`: the window ends with the last record of the market, and not now. Rule U76. */
export async function loadPriceHistory(
  instrumentId: string,
  interval: Interval,
  isOver: boolean,
): Promise<void> {
  await loader.load(instrumentId, interval, isOver);
}

/** The top of book is another one now. */
export function carryPriceOn(next: Top): void {
  top = next;
  const { value: now } = loader.now;
  if (now.state !== 'ready' || now.value.endMs !== null) return;
  const live = withTop(now.value.live, next, serverNowMs());
  if (live !== now.value.live) loader.change((history) => ({ ...history, live }));
}

export function forgetPriceHistory(): void {
  loader.clear();
  top = NO_TOP;
}
