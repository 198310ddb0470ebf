/**
 * Candles as plainly as they can be said: every interval from the rows and prints alone, one at a
 * time. Nothing of engine/history is used.
 */

/** Null prices: not live. */
export type PlainRow = { atMs: number; bid: number | null; ask: number | null };
export type PlainTrade = { atMs: number; priceCents: number; contracts: number };

type Ohlc = { open: number; high: number; low: number; close: number } | null;
export type PlainCandle = {
  start: string;
  end: string;
  bid: Ohlc;
  ask: Ohlc;
  mid: Ohlc;
  trades: object | null;
  quotes: number;
  liveSeconds: number;
  complete?: false;
};

export function naiveCandles(
  rows: readonly PlainRow[],
  trades: readonly PlainTrade[],
  stepMs: number,
  nowMs: number,
): PlainCandle[] {
  const candles: PlainCandle[] = [];
  if (rows.length === 0) return candles;
  const firstMs = Math.floor(rows[0]!.atMs / stepMs) * stepMs;
  for (let startMs = firstMs; startMs <= nowMs; startMs += stepMs) {
    const endMs = startMs + stepMs;
    const within = rows.filter(({ atMs }) => atMs >= startMs && atMs < endMs);
    const carried = rows.filter(({ atMs }) => atMs < startMs).at(-1);
    const states = [...(carried === undefined ? [] : [{ ...carried, atMs: startMs }]), ...within];
    let liveMs = 0;
    for (const [i, { atMs, bid, ask }] of states.entries()) {
      const untilMs = states[i + 1]?.atMs ?? Math.min(endMs, nowMs);
      if (bid !== null || ask !== null) liveMs += untilMs - atMs;
    }
    const mids = states.map(({ bid, ask }) => {
      return bid === null || ask === null ? null : (bid + ask) / 2;
    });
    const candle: PlainCandle = {
      start: new Date(startMs).toISOString(),
      end: new Date(endMs).toISOString(),
      bid: ohlcOf(states.map(({ bid }) => bid)),
      ask: ohlcOf(states.map(({ ask }) => ask)),
      mid: ohlcOf(mids),
      trades: tradesOf(trades.filter(({ atMs }) => atMs >= startMs && atMs < endMs)),
      quotes: within.length,
      liveSeconds: liveMs / 1000,
    };
    if (endMs > nowMs) candle.complete = false;
    candles.push(candle);
  }
  return candles;
}

function ohlcOf(values: readonly (number | null)[]): Ohlc {
  const there = values.filter((value) => value !== null);
  if (there.length === 0) return null;
  return {
    open: there[0]!,
    high: Math.max(...there),
    low: Math.min(...there),
    close: there.at(-1)!,
  };
}

function tradesOf(trades: readonly PlainTrade[]): object | null {
  if (trades.length === 0) return null;
  const contracts = trades.reduce((sum, trade) => sum + trade.contracts, 0);
  const paid = trades.reduce((sum, trade) => sum + trade.contracts * trade.priceCents, 0);
  return {
    count: trades.length,
    contracts,
    ...ohlcOf(trades.map(({ priceCents }) => priceCents)),
    vwapCents: contracts === 0 ? null : paid / contracts,
  };
}

/** The newest row at a moment; null: there is none yet. */
export function naiveAsOf(rows: readonly PlainRow[], atMs: number): PlainRow | null {
  return rows.filter((row) => row.atMs <= atMs).at(-1) ?? null;
}
