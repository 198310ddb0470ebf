/**
 * The expected history of a recorded day, worked out from its files alone. No part of the product
 * is used.
 */
import type { PlainRow, PlainTrade } from '../engine/history/naive-candles.ts';
import { readDay } from './day.ts';

/** The freshness bound of a server. Rule T13 (engine/RULES.md). */
const BOUND_MS = 15_000;

export type SizedRow = PlainRow & { bidSize: number | null; askSize: number | null };

type State = { bid: number | null; ask: number | null };
const NONE: State = { bid: null, ask: null };

/** One market as its lines have it, in order. */
class PlainMarket {
  readonly rows: PlainRow[] = [];
  #quote: State | null = null;
  #hasEnded = false;

  show(atMs: number, { bid, ask }: State): void {
    const last = this.rows.at(-1) ?? NONE;
    if (last.bid !== bid || last.ask !== ask) this.rows.push({ atMs, bid, ask });
  }

  /** Its connection sends a frame, of any market; `quote`: of this one. */
  heard(atMs: number, silentSinceMs: number, quote?: State): void {
    if (atMs - silentSinceMs > BOUND_MS) this.show(silentSinceMs + BOUND_MS, NONE);
    this.#quote = quote ?? this.#quote;
    if (this.#quote !== null && !this.#hasEnded) this.show(atMs, this.#quote);
  }

  ended(atMs: number, silentSinceMs: number): void {
    if (atMs - silentSinceMs > BOUND_MS) this.show(silentSinceMs + BOUND_MS, NONE);
    this.#hasEnded = true;
    this.show(atMs, NONE);
  }
}

/** The rows of the day: prices from the CSV files, the order of lines from the feed. */
export function mlbRows(dir: URL, texts: readonly string[]): Map<string, PlainRow[]> {
  const { quotes, settlements } = readDay(dir);
  const markets = new Map(settlements.map(({ market }) => [market, new PlainMarket()]));
  let heardMs = quotes[0]!.atMs;
  let next = 0;
  for (const text of texts) {
    const { at, frame } = JSON.parse(text);
    const atMs = Date.parse(at);
    if (frame.marketDataLite !== undefined) {
      const { market, yesBid: bid, yesAsk: ask } = quotes[next++]!;
      for (const [name, plain] of markets) {
        plain.heard(atMs, heardMs, ...(name === market ? [{ bid, ask }] : []));
      }
      heardMs = atMs;
    } else if (frame.type === 'status') {
      const settled = settlements.find(({ market }) => market === frame.market)!;
      markets.get(settled.market)!.ended(settled.atMs, heardMs);
    }
  }
  return new Map([...markets].map(([name, { rows }]) => [name, rows]));
}

type GoldEvent = {
  type: string;
  msg: Record<string, string> & Record<'yes_dollars_fp' | 'no_dollars_fp', [string, string][]>;
};

const e4 = (dollars: string) => Math.round(Number(dollars) * 10_000);
const e2 = (size: string) => Math.round(Number(size) * 100);

/** The book of one market by price, from its frames. */
class PlainBook {
  readonly #levels = { yes: new Map<number, number>(), no: new Map<number, number>() };

  take({ type, msg }: GoldEvent): void {
    if (type === 'orderbook_snapshot') {
      for (const side of ['yes', 'no'] as const) {
        // A side without levels is left out.
        const levels = (msg[`${side}_dollars_fp`] ?? []).map(([price, size]) => [
          e4(price),
          e2(size),
        ]);
        this.#levels[side] = new Map(levels as [number, number][]);
      }
    } else if (type === 'orderbook_delta') {
      const levels = this.#levels[msg.side as 'yes'];
      const price = e4(msg.price_dollars!);
      const size = (levels.get(price) ?? 0) + e2(msg.delta_fp!);
      if (size > 0) levels.set(price, size);
      else levels.delete(price);
    }
  }

  top() {
    const best = (levels: Map<number, number>) => {
      if (levels.size === 0) return null;
      const price = Math.max(...levels.keys());
      return { price, size: Math.floor(levels.get(price)! / 100) };
    };
    const [bid, no] = [best(this.#levels.yes), best(this.#levels.no)];
    return {
      bid: bid === null ? null : Math.floor(bid.price / 100),
      ask: no === null ? null : Math.ceil((10_000 - no.price) / 100),
      bidSize: bid?.size ?? null,
      askSize: no?.size ?? null,
    };
  }
}

/** A recorded frame of the Kalshi window. */
export type GoldFrame = { recv_ms: number; event: GoldEvent };

/** The rows and prints of the window, from its frames. */
export function goldRows(recorded: readonly GoldFrame[]): {
  rows: SizedRow[];
  trades: PlainTrade[];
} {
  const book = new PlainBook();
  const rows: SizedRow[] = [];
  const trades: PlainTrade[] = [];
  for (const { recv_ms: atMs, event } of recorded) {
    if (event.type === 'trade') {
      const { yes_price_dollars, count_fp } = event.msg;
      const contracts = Math.floor(e2(count_fp!) / 100);
      trades.push({ atMs, priceCents: e4(yes_price_dollars!) / 100, contracts });
      continue;
    }
    book.take(event);
    const now = book.top();
    const last = rows.at(-1);
    const isSame = (['bid', 'ask', 'bidSize', 'askSize'] as const).every(
      (of) => last?.[of] === now[of],
    );
    if (!isSame) rows.push({ atMs, ...now });
  }
  return { rows, trades };
}
