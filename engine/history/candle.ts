/**
 * Candles from rows and trades, and longer candles from shorter ones. Prices are prices of the
 * venue market's yes. Rules H10 to H14 (api/RULES.md).
 *
 * Pure: equal rows give equal candles, whenever they are folded.
 */
import { invariant } from '../base/invariant.ts';
import type { Contracts, EpochMs } from '../base/units.ts';

export type Ohlc = { open: number; high: number; low: number; close: number };

/** Prices at a moment; 0: none. */
export type Prices = { bid: number; ask: number };
export const NO_PRICES: Prices = { bid: 0, ask: 0 };

export type Candle = {
  startMs: EpochMs;
  /** The number of its rows. */
  quotes: number;
  liveMs: number;
  bid: Ohlc | null;
  ask: Ohlc | null;
  /** Twice the mid, so that it is whole. */
  mid: Ohlc | null;
  trades: TradeCandle | null;
  /** At its end. */
  end: Prices;
};

/** `priceSum`: prices times contracts. */
export type TradeCandle = Ohlc & { count: number; contracts: Contracts; priceSum: number };

const isLive = ({ bid, ask }: Prices) => bid !== 0 || ask !== 0;

/** Builds one candle from rows and trades in order of time. */
export class CandleFold {
  readonly endMs: EpochMs;
  readonly carried: Prices;
  readonly #candle: Candle;
  /** The time is counted up to here. */
  #countedMs: EpochMs;
  /** The prices now. */
  #bid = NO_PRICES.bid;
  #ask = NO_PRICES.ask;
  /** Rows that left the prices unchanged, and are not counted yet. Most change only a size. */
  #rows = 0;

  /**
   * @param endMs its end, or the present if that is earlier @param carried the prices before its
   * start
   */
  constructor(startMs: EpochMs, endMs: EpochMs, carried: Prices) {
    invariant(startMs <= endMs, 'a candle ends before it starts');
    this.#candle = {
      startMs,
      quotes: 0,
      liveMs: 0,
      bid: null,
      ask: null,
      mid: null,
      trades: null,
      end: NO_PRICES,
    };
    this.endMs = endMs;
    this.carried = carried;
    this.#countedMs = startMs;
    this.#show(carried);
  }

  row(atMs: EpochMs, bid: number, ask: number): void {
    this.#rows++;
    if (bid === this.#bid && ask === this.#ask) return;
    this.#countTo(atMs);
    this.#show({ bid, ask });
  }

  trade(priceCents: number, contracts: Contracts): void {
    const priceSum = priceCents * contracts;
    this.#addTrades({ ...flat(priceCents), count: 1, contracts, priceSum });
  }

  /** A shorter candle within this one, which ends at `endMs`. */
  add(part: Candle, endMs: EpochMs): void {
    this.#countTo(part.startMs);
    const { bid, ask, mid, trades, quotes, liveMs, end } = part;
    const candle = this.#candle;
    candle.quotes += quotes;
    candle.liveMs += liveMs;
    candle.bid = merged(candle.bid, bid);
    candle.ask = merged(candle.ask, ask);
    candle.mid = merged(candle.mid, mid);
    if (trades !== null) this.#addTrades(trades);
    this.#setEnd(end);
    this.#countedMs = Math.min(endMs, this.endMs);
  }

  finish(): Candle {
    this.#countTo(this.endMs);
    this.#candle.quotes += this.#rows;
    this.#rows = 0;
    return this.#candle;
  }

  #addTrades(trades: TradeCandle): void {
    const { count, contracts, priceSum } = this.#candle.trades ?? NO_TRADES;
    this.#candle.trades = {
      ...merged(this.#candle.trades, trades)!,
      count: count + trades.count,
      contracts: contracts + trades.contracts,
      priceSum: priceSum + trades.priceSum,
    };
  }

  #countTo(atMs: EpochMs): void {
    invariant(atMs >= this.#countedMs, 'a candle gets a row or trade from before its last row');
    if (isLive(this.#candle.end)) this.#candle.liveMs += atMs - this.#countedMs;
    this.#countedMs = atMs;
  }

  #setEnd(prices: Prices): void {
    this.#candle.end = prices;
    this.#bid = prices.bid;
    this.#ask = prices.ask;
  }

  #show(prices: Prices): void {
    const candle = this.#candle;
    const { bid, ask } = prices;
    this.#setEnd(prices);
    if (bid !== 0) candle.bid = merged(candle.bid, flat(bid));
    if (ask !== 0) candle.ask = merged(candle.ask, flat(ask));
    if (bid !== 0 && ask !== 0) candle.mid = merged(candle.mid, flat(bid + ask));
  }
}

const NO_TRADES = { count: 0, contracts: 0, priceSum: 0 };

const flat = (value: number): Ohlc => ({ open: value, high: value, low: value, close: value });

function merged(before: Ohlc | null, now: Ohlc | null): Ohlc | null {
  if (before === null || now === null) return now ?? before;
  return {
    open: before.open,
    high: Math.max(before.high, now.high),
    low: Math.min(before.low, now.low),
    close: now.close,
  };
}

/** A candle in which nothing happened. */
export function emptyCandle(startMs: EpochMs, endMs: EpochMs, carried: Prices): Candle {
  return new CandleFold(startMs, endMs, carried).finish();
}

/** Only impossible sizes reach such sums. */
const SUM_MAX = 2 ** 50;

/** The columns of a candle's record (kinds.ts). */
export function recordOfCandle(candle: Candle): number[] {
  const { startMs, quotes, liveMs, end, bid, ask, mid, trades } = candle;
  const record = [startMs, quotes, liveMs, end.bid, end.ask];
  pushPrices(record, bid);
  pushPrices(record, ask);
  pushPrices(record, mid);
  const { count, contracts, priceSum } = trades ?? NO_TRADES;
  record.push(count, Math.min(contracts, SUM_MAX), Math.min(priceSum, SUM_MAX));
  pushPrices(record, trades);
  return record;
}

function pushPrices(record: number[], ohlc: Ohlc | null): void {
  if (ohlc === null) record.push(0, 0, 0, 0);
  else record.push(ohlc.open, ohlc.high, ohlc.low, ohlc.close);
}

type Values = readonly (readonly number[] | Float64Array)[];

/** The candle whose record is at an index of its columns. */
export function candleAt(columns: Values, at: number): Candle {
  const value = (column: number) => columns[column]![at]!;
  const count = value(17);
  return {
    startMs: value(0),
    quotes: value(1),
    liveMs: value(2),
    end: { bid: value(3), ask: value(4) },
    bid: ohlcAt(columns, 5, at),
    ask: ohlcAt(columns, 9, at),
    mid: ohlcAt(columns, 13, at),
    trades:
      count === 0
        ? null
        : { ...ohlcAt(columns, 20, at)!, count, contracts: value(18), priceSum: value(19) },
  };
}

function ohlcAt(columns: Values, column: number, at: number): Ohlc | null {
  const open = columns[column]![at]!;
  if (open === 0) return null;
  return {
    open,
    high: columns[column + 1]![at]!,
    low: columns[column + 2]![at]!,
    close: columns[column + 3]![at]!,
  };
}
