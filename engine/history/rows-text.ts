/** Rows, prints and candles as texts, in the terms of an instrument. Rules H6 to H16 (api/RULES.md). */
import { isoOf, NO_PRICE, PAYOUT_CENTS } from '../base/units.ts';
import type { Candle, Ohlc } from './candle.ts';
import { INTERVAL_MS, type Interval } from './kinds.ts';
import type { Columns } from './record-columns.ts';

export type Polarity = 1 | -1;

export type RowView = {
  at: string;
  yesBidCents: number | null;
  yesAskCents: number | null;
  yesBidContracts: number | null;
  yesAskContracts: number | null;
  live: boolean;
};

export function rowView(columns: Columns, index: number, polarity: Polarity): RowView {
  const value = (column: number) => columns[column]![index]!;
  const [bid, ask] = [value(1), value(2)];
  const bids = { cents: bid, contracts: value(3) };
  const asks = { cents: ask, contracts: value(4) };
  const [yesBid, yesAsk] = polarity === 1 ? [bids, asks] : [asks, bids];
  const cents = (price: number) => (price === NO_PRICE ? null : inTerms(price, polarity));
  return {
    at: isoOf(value(0)),
    yesBidCents: cents(yesBid.cents),
    yesAskCents: cents(yesAsk.cents),
    yesBidContracts: yesBid.cents === NO_PRICE ? null : yesBid.contracts,
    yesAskContracts: yesAsk.cents === NO_PRICE ? null : yesAsk.contracts,
    live: bid !== NO_PRICE || ask !== NO_PRICE,
  };
}

export type TradeView = {
  at: string;
  yesPriceCents: number;
  contracts: number;
  side: 'yes' | 'no';
};

export function tradeView(columns: Columns, index: number, polarity: Polarity): TradeView {
  const isYes = (columns[3]![index]! === 1) === (polarity === 1);
  return {
    at: isoOf(columns[0]![index]!),
    yesPriceCents: inTerms(columns[1]![index]!, polarity),
    contracts: columns[2]![index]!,
    side: isYes ? 'yes' : 'no',
  };
}

const inTerms = (cents: number, polarity: Polarity) =>
  polarity === 1 ? cents : PAYOUT_CENTS - cents;

export type CandleView = {
  start: string;
  end: string;
  bid: Ohlc | null;
  ask: Ohlc | null;
  mid: Ohlc | null;
  trades: (Ohlc & { count: number; contracts: number; vwapCents: number | null }) | null;
  quotes: number;
  liveSeconds: number;
  complete?: false;
};

/** `complete` is there, and false, where the interval is not over. */
export function candleView(
  candle: Candle,
  { interval, polarity, nowMs }: { interval: Interval; polarity: Polarity; nowMs: number },
): CandleView {
  const { startMs, quotes, liveMs, trades } = candle;
  const endMs = startMs + INTERVAL_MS[interval];
  const [bid, ask] = polarity === 1 ? [candle.bid, candle.ask] : [candle.ask, candle.bid];
  const view: CandleView = {
    start: isoOf(startMs),
    end: isoOf(endMs),
    bid: ohlcIn(bid, polarity, 1),
    ask: ohlcIn(ask, polarity, 1),
    mid: ohlcIn(candle.mid, polarity, 2),
    trades: null,
    quotes,
    liveSeconds: liveMs / 1000,
  };
  if (trades !== null) {
    const { count, contracts, priceSum } = trades;
    const vwap = contracts === 0 ? null : inTerms(priceSum / contracts, polarity);
    const { open, high, low, close } = ohlcIn(trades, polarity, 1)!;
    view.trades = { count, contracts, open, high, low, close, vwapCents: vwap };
  }
  if (endMs > nowMs) view.complete = false;
  return view;
}

/** @param parts of a cent that the values count */
function ohlcIn(ohlc: Ohlc | null, polarity: Polarity, parts: 1 | 2): Ohlc | null {
  if (ohlc === null) return null;
  const cents = (value: number) => inTerms(value / parts, polarity);
  const [open, close] = [cents(ohlc.open), cents(ohlc.close)];
  const [high, low] = [cents(ohlc.high), cents(ohlc.low)];
  return polarity === 1 ? { open, high, low, close } : { open, high: low, low: high, close };
}
