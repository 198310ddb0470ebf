/**
 * The candles of every market. A candle is closed when the first row or trade of a later interval
 * arrives. It is kept if something happened in it. Candles are read without holes. Rules H10 to H14,
 * H34 (api/RULES.md).
 */
import { invariant } from '../base/invariant.ts';
import type { Contracts, EpochMs, MarketNumber } from '../base/units.ts';
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
const LONGER = INTERVALS.slice(1);
type Three = readonly [Columns[number], Columns[number], Columns[number]];

/** The start of the interval around a time, aligned to UTC. */
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

/** Null: none of its parts is closed yet. Undefined: that is not known. */
type OpenFold = CandleFold | null | undefined;

export class Candles {
  readonly #store: HistoryStore;
  /** By market, the minute of its last row or trade, whose candle is not kept yet. */
  readonly #open: (CandleFold | undefined)[] = [];
  /** By market, the candles of longer intervals around it, in the order of `LONGER`. */
  readonly #longer: (OpenFold[] | undefined)[] = [];

  constructor(store: HistoryStore) {
    this.#store = store;
  }

  /** Before a row is kept, closes the candles that end before it. */
  row(market: MarketNumber, atMs: EpochMs, bid: number, ask: number, nowMs: EpochMs): void {
    this.#minuteOf(market, atMs, nowMs).row(atMs, bid, ask);
  }

  /** Before a trade is kept, closes the candles that end before it. */
  trade(
    market: MarketNumber,
    atMs: EpochMs,
    priceCents: number,
    contracts: Contracts,
    nowMs: EpochMs,
  ): void {
    this.#minuteOf(market, atMs, nowMs).trade(priceCents, contracts);
  }

  /** Rows are gone, so candles are folded again without them. */
  forget(): void {
    this.#open.length = 0;
    this.#longer.length = 0;
  }

  /** The market is over: its open candles are folded again if anybody asks. */
  rest(market: MarketNumber): void {
    this.#open[market] = undefined;
    this.#longer[market] = undefined;
  }

  /** The candle of the minute of a moment, after all earlier candles are kept. */
  #minuteOf(market: MarketNumber, atMs: EpochMs, nowMs: EpochMs): CandleFold {
    const known = this.#open[market] ?? this.#openAgain(market);
    if (known !== null && atMs < known.endMs) {
      invariant(atMs >= known.endMs - MINUTE_MS, 'a row arrives after its candle was closed');
      return known;
    }
    const startMs = startOf('1m', atMs);
    const carried = known === null ? NO_PRICES : this.#close(market, known, atMs, nowMs);
    const fold = new CandleFold(startMs, startMs + MINUTE_MS, carried);
    this.#open[market] = fold;
    return fold;
  }

  /** The minute of a market whose last row is of an earlier run; null: it has no row or trade. */
  #openAgain(market: MarketNumber): CandleFold | null {
    const startMs = this.#openMinute(market);
    if (startMs === null) return null;
    const fold = this.#foldOf(market, startMs, startMs + MINUTE_MS);
    this.#open[market] = fold;
    return fold;
  }

  /** Keeps the candle of a minute, and of longer intervals that end by `atMs`. @returns its prices. */
  #close(market: MarketNumber, minute: CandleFold, atMs: EpochMs, nowMs: EpochMs): Prices {
    invariant(atMs >= minute.endMs, 'a candle is closed before its end');
    const candle = minute.finish();
    this.#keep(market, '1m', candle, nowMs);
    const longer = this.#longerOf(market);
    let [part, partFold] = [candle, minute];
    for (const [at, interval] of LONGER.entries()) {
      const known = longer[at];
      const fold = known ?? this.#begin(market, interval, part, known === null ? partFold : null);
      fold.add(part, partFold.endMs);
      longer[at] = fold;
      if (atMs < fold.endMs) break;
      longer[at] = null;
      [part, partFold] = [fold.finish(), fold];
      this.#keep(market, interval, part, nowMs);
    }
    return candle.end;
  }

  #longerOf(market: MarketNumber): OpenFold[] {
    const known = this.#longer[market];
    if (known !== undefined) return known;
    const longer: OpenFold[] = LONGER.map(() => undefined);
    this.#longer[market] = longer;
    return longer;
  }

  /**
   * The candle of a longer interval, up to its last closed part. `first`: this is its first candle;
   * null: others may be kept.
   */
  #begin(
    market: MarketNumber,
    interval: Interval,
    part: Candle,
    first: CandleFold | null,
  ): CandleFold {
    const startMs = startOf(interval, part.startMs);
    const endMs = startMs + INTERVAL_MS[interval];
    if (first !== null) return new CandleFold(startMs, endMs, first.carried);
    return this.#foldOfKept(market, interval, { startMs, endMs, beforeMs: part.startMs });
  }

  #keep(market: MarketNumber, interval: Interval, candle: Candle, nowMs: EpochMs): void {
    const series = this.#store.opened(kindOf(interval), market);
    this.#store.append(series, recordOfCandle(candle), nowMs);
  }

  /** Null: the market has no row and no trade. */
  #openMinute(market: MarketNumber): EpochMs | null {
    const known = this.#open[market];
    if (known !== undefined) return known.endMs - MINUTE_MS;
    const lastMs = [ROWS, TRADES].map((kind) => this.#store.series(kind, market)?.lastMs ?? 0);
    const newestMs = Math.max(...lastMs);
    return newestMs === 0 ? null : startOf('1m', newestMs);
  }

  #carriedInto(market: MarketNumber, startMs: EpochMs): Prices {
    const row = this.#store.series(ROWS, market)?.before(startMs) ?? null;
    return row === null ? NO_PRICES : { bid: row[1]!, ask: row[2]! };
  }

  /** The candle of a minute, up to its last row and trade. */
  #foldOf(market: MarketNumber, startMs: EpochMs, endMs: EpochMs): CandleFold {
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
    return fold;
  }

  /** A candle from the shorter candles that are kept and start before `beforeMs`. */
  #foldOfKept(
    market: MarketNumber,
    interval: Interval,
    { startMs, endMs, beforeMs }: { startMs: EpochMs; endMs: EpochMs; beforeMs: EpochMs },
  ): CandleFold {
    const fold = new CandleFold(startMs, endMs, this.#carriedInto(market, startMs));
    const part = shorter(interval);
    for (const candle of this.#kept(part, market, startMs)) {
      if (candle.startMs >= beforeMs) break;
      fold.add(candle, candle.startMs + INTERVAL_MS[part]);
    }
    return fold;
  }

  /** The candle of an interval that is not kept yet; null: the market has no row or trade. */
  #unfinished(market: MarketNumber, interval: Interval, nowMs: EpochMs): Candle | null {
    const minute = this.#openMinute(market);
    if (minute === null) return null;
    const startMs = startOf(interval, minute);
    const endMs = Math.max(minute, Math.min(nowMs, startMs + INTERVAL_MS[interval]));
    if (interval === '1m') {
      return this.#foldOf(market, minute, this.#lastMs(market, endMs)).finish();
    }
    const part = shorter(interval);
    const open = this.#unfinished(market, part, nowMs);
    invariant(open !== null, 'a market has a candle of some intervals alone');
    const times = { startMs, endMs: this.#lastMs(market, endMs), beforeMs: open.startMs };
    const fold = this.#foldOfKept(market, interval, times);
    fold.add(open, open.startMs + INTERVAL_MS[part]);
    return fold.finish();
  }

  /** A question may be older than the newest row. */
  #lastMs(market: MarketNumber, endMs: EpochMs): EpochMs {
    return Math.max(endMs, this.#store.series(ROWS, market)?.lastMs ?? 0);
  }

  /** The records from a moment on, up to the end of that part of them. */
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

  /** The candles that have a row or trade. */
  *#events(
    market: MarketNumber,
    interval: Interval,
    fromMs: EpochMs,
    nowMs: EpochMs,
  ): Generator<Candle, null> {
    yield* this.#kept(interval, market, fromMs);
    const open = this.#unfinished(market, interval, nowMs);
    if (open !== null && open.startMs >= fromMs) yield open;
    return null;
  }
}
