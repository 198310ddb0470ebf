/** Frames of Kalshi's order book channel that a bench makes: snapshots, then increments. */
import { type EpochMs, isoOf } from '../../engine/rules/units.ts';
import type { Random } from './random.ts';

const LEVELS = 15;

/** Contracts by the cent of each side's bids. */
export type KalshiBook = { yes: Map<number, number>; no: Map<number, number> };

const priceText = (cents: number) => `0.${String(cents).padStart(2, '0')}00`;

/** Its best yes bid and best no bid. */
export function kalshiBook(yesCents: number, noCents: number): KalshiBook {
  const side = (best: number) =>
    new Map(Array.from({ length: LEVELS }, (_, below) => [best - below, 500]));
  return { yes: side(yesCents), no: side(noCents) };
}

export function snapshotFrame(ticker: string, seq: number, { yes, no }: KalshiBook): string {
  const levels = (side: Map<number, number>) =>
    JSON.stringify(Array.from(side, ([cents, size]) => [priceText(cents), `${size}.00`]));
  const msg = `"market_ticker":"${ticker}","yes_dollars_fp":${levels(yes)},"no_dollars_fp":${levels(no)}`;
  return `{"type":"orderbook_snapshot","sid":1,"seq":${seq},"msg":{${msg}}}`;
}

/** An increment of a size, one in five at the best level of its side; prices stay. */
export function deltaFrame(
  random: Random,
  book: KalshiBook,
  { ticker, seq, atMs }: { ticker: string; seq: number; atMs: EpochMs },
): string {
  const side = random.below(2) === 0 ? 'yes' : 'no';
  const levels = book[side];
  const nth = random.below(5) === 0 ? 0 : random.below(LEVELS);
  const cents = [...levels.keys()][nth]!;
  const wished = random.below(200) - 100;
  const delta = levels.get(cents)! + wished < 10 ? 100 : wished;
  levels.set(cents, levels.get(cents)! + delta);
  const fields = [
    `"market_ticker":"${ticker}","market_id":"4f5c2e39-0000-4000-8000-000000000000"`,
    `"price_dollars":"${priceText(cents)}","delta_fp":"${delta}.00","side":"${side}"`,
    `"ts":"${isoOf(atMs)}","ts_ms":${atMs}`,
  ];
  return `{"type":"orderbook_delta","sid":1,"seq":${seq},"msg":{${fields.join(',')}}}`;
}
