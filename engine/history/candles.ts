/**
 * The candles of every market: closed when the first row or trade of a later interval comes, kept
 * where something happened in them, and read without holes. Rules H10 to H14 (api/RULES.md).
 */
import { invariant } from '../rules/invariant.ts';
import type { EpochMs, MarketNumber } from '../rules/units.ts';
import {
  type Candle,
  CandleFold,
  candleAt,
  emptyCandle,
  NO_PRICES,
  type Prices,
  recordOfCandle,
} from './candle.ts';
import { INTERVAL_MS, INTERVALS, type Interval, kindOf, ROWS, TRADES } from './kinds.ts';
import type { Columns } from './record-columns.ts';
import type { Part } from './series.ts';
import type { HistoryStore } from './store.ts';

const MINUTE_MS = INTERVAL_MS['1m'];
type Three = readonly [Columns[number], Columns[number], Columns[number]];

/** From a time in it, the start of an interval, aligned to UTC. */
export function startOf(interval: Interval, atMs: EpochMs): EpochMs {
  return atMs - (atMs % INTERVAL_MS[interval]);
}

/** The interval that an interval is folded from. */
function shorter(interval: Interval): Interval {
  const at = INTERVALS.indexOf(interval);
  invariant(at > 0, 'a candle of a minute is folded from rows');
  return INTERVALS[at - 1]!;
}

/** `toMs` exclusive. */
export type CandleWindow = {
  market: MarketNumber;
  interval: Interval;
  fromMs: EpochMs;
  toMs: EpochMs;
  nowMs: EpochMs;
};

export class Candles {
  readonly #store: HistoryStore;
  /** The minute of each market's last row or trade: its candle is not kept yet. */
  readonly #openMinutes: (EpochMs | undefined)[] = [];

  constructor(store: HistoryStore) {
    this.#store = store;
  }

  /** To be called before a row or a trade of this moment is kept: closes what ends before it. */
  advance(market: MarketNumber, atMs: EpochMs, nowMs: EpochMs): void {
    const minute = startOf('1m', atMs);
    const open = this.#openMinute(market);
    if (minute === open) return;
    this.#openMinutes[market] = minute;
    if (open === null) return;
    invariant(minute > open, 'a row comes after its candle was closed');
    this.#keep(market, '1m', this.#minute(market, open, open + MINUTE_MS), nowMs);
    for (const interval of INTERVALS.slice(1)) {
      const startMs = startOf(interval, open);
      const endMs = startMs + INTERVAL_MS[interval];
      if (atMs < endMs) return;
      this.#keep(market, interval, this.#folded(market, interval, endMs, null), nowMs);
    }
  }

  #keep(market: MarketNumber, interval: Interval, candle: Candle, nowMs: EpochMs): void {
    const series = this.#store.opened(kindOf(interval), market);
    this.#store.append(series, recordOfCandle(candle), nowMs);
  }

  /** Null: the market has neither. */
  #openMinute(market: MarketNumber): EpochMs | null {
    const known = this.#openMinutes[market];
    if (known !== undefined) return known;
    const lastMs = [ROWS, TRADES].map((kind) => this.#store.series(kind, market)?.lastMs ?? 0);
    const newestMs = Math.max(...lastMs);
    return newestMs === 0 ? null : startOf('1m', newestMs);
  }

  #carriedInto(market: MarketNumber, startMs: EpochMs): Prices {
    const row = this.#store.series(ROWS, market)?.before(startMs) ?? null;
    return row === null ? NO_PRICES : { bid: row[1]!, ask: row[2]! };
  }

  /** The candle of a minute, from its rows and trades. */
  #minute(market: MarketNumber, startMs: EpochMs, endMs: EpochMs): Candle {
    const fold = new CandleFold(startMs, endMs, this.#carriedInto(market, startMs));
    const untilMs = startMs + MINUTE_MS;
    for (const { columns, from, end } of this.#parts(ROWS, market, startMs)) {
      const [times, bids, asks] = columns as Columns & Three;
      for (let at = from; at < end && times[at]! < untilMs; at++) {
        fold.row(times[at]!, bids[at]!, asks[at]!);
      }
    }
    for (const { columns, from, end } of this.#parts(TRADES, market, startMs)) {
      const [times, prices, contracts] = columns as Columns & Three;
      for (let at = from; at < end && times[at]! < untilMs; at++) {
        fold.trade(prices[at]!, contracts[at]!);
      }
    }
    return fold.finish();
  }

  /**
   * The candle that ends at `endMs`, or of which that is the present, from shorter ones; `open`: the
   * last of them, which is not kept yet.
   */
  #folded(market: MarketNumber, interval: Interval, endMs: EpochMs, open: Candle | null): Candle {
    const startMs = startOf(interval, open?.startMs ?? endMs - 1);
    const fold = new CandleFold(startMs, endMs, this.#carriedInto(market, startMs));
    const part = shorter(interval);
    const partMs = INTERVAL_MS[part];
    for (const candle of this.#kept(part, market, startMs)) {
      if (candle.startMs >= endMs) break;
      fold.add(candle, candle.startMs + partMs);
    }
    if (open !== null) fold.add(open, open.startMs + partMs);
    return fold.finish();
  }

  /** The candle of an interval that is not kept yet; null: the market has no row or trade. */
  #open(market: MarketNumber, interval: Interval, nowMs: EpochMs): Candle | null {
    const minute = this.#openMinute(market);
    if (minute === null) return null;
    const startMs = startOf(interval, minute);
    const endMs = Math.max(minute, Math.min(nowMs, startMs + INTERVAL_MS[interval]));
    if (interval === '1m') return this.#minute(market, minute, this.#lastMs(market, endMs));
    const open = this.#open(market, shorter(interval), nowMs);
    return this.#folded(market, interval, this.#lastMs(market, endMs), open);
  }

  /** A question may be older than the newest row. */
  #lastMs(market: MarketNumber, endMs: EpochMs): EpochMs {
    return Math.max(endMs, this.#store.series(ROWS, market)?.lastMs ?? 0);
  }

  /** The records from a moment on, as far as that part of them goes. */
  *#parts(kind: number, market: MarketNumber, fromMs: EpochMs): Generator<Part> {
    for (const part of this.#store.series(kind, market)?.forward(fromMs) ?? []) {
      if (part.columns[0]![part.from]! >= fromMs + MINUTE_MS) return;
      yield part;
    }
  }

  *#kept(interval: Interval, market: MarketNumber, fromMs: EpochMs): Generator<Candle> {
    const series = this.#store.series(kindOf(interval), market);
    for (const { columns, from, end } of series?.forward(fromMs) ?? []) {
      for (let at = from; at < end; at++) yield candleAt(columns, at);
    }
  }

  /** Without holes, from the first row's interval to the present one. */
  *read({ market, interval, fromMs, toMs, nowMs }: CandleWindow): Generator<Candle> {
    const firstMs = this.#store.series(ROWS, market)?.firstMs ?? null;
    if (firstMs === null) return;
    const stepMs = INTERVAL_MS[interval];
    let startMs = Math.max(startOf(interval, firstMs), startOf(interval, fromMs + stepMs - 1));
    let carried = this.#carriedInto(market, startMs);
    const kept = this.#events(market, interval, startMs, nowMs);
    let event = kept.next();
    for (; startMs < toMs && startMs <= nowMs; startMs += stepMs) {
      const isEvent = event.done !== true && event.value.startMs === startMs;
      const endMs = Math.min(startMs + stepMs, nowMs);
      const candle = isEvent ? event.value! : emptyCandle(startMs, endMs, carried);
      if (isEvent) event = kept.next();
      carried = candle.end;
      yield candle;
    }
  }

  /** The candles in which something happened. */
  *#events(
    market: MarketNumber,
    interval: Interval,
    fromMs: EpochMs,
    nowMs: EpochMs,
  ): Generator<Candle, null> {
    yield* this.#kept(interval, market, fromMs);
    const open = this.#open(market, interval, nowMs);
    if (open !== null && open.startMs >= fromMs) yield open;
    return null;
  }
}
