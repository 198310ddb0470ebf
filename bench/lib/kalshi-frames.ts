/**
 * Made frames of Kalshi's books: a snapshot a market, then increments.
 */
import { type EpochMs, isoOf } from '../../engine/base/units.ts';
import { DEPTH_LEVELS_MAX } from '../../feeds/reading/engine-ticks.ts';
import type { Random } from './random.ts';

const LEVELS = 15;
/** Of these five a side are not shown. */
const DEEP_LEVELS = DEPTH_LEVELS_MAX + 5;

/** Which levels the increments change. */
export type Mix = 'recorded' | 'shown';
/**
 * A recorded quarter of an hour of Kalshi (KXGOLD15M) has 37,092 increments. 20.7% of them change
 * the best level of a side, its price or its size. 9.6% change nothing that is shown: their level
 * is not among the twenty best, or they are less than a contract. The others change shown levels
 * after the best.
 */
const RECORDED = { best: 0.207, hidden: 0.096 };

/** By rank, the best is 0. */
function changedLevel(random: Random, levels: number, mix: Mix): number {
  // All are shown: the most that increments can cost.
  if (mix === 'shown') return random.below(5) === 0 ? 0 : random.below(LEVELS);
  const drawn = random.below(1000) / 1000;
  if (drawn < RECORDED.best) return 0;
  const behind = levels - DEPTH_LEVELS_MAX;
  const isHidden = behind > 0 && drawn < RECORDED.best + RECORDED.hidden;
  if (isHidden) return DEPTH_LEVELS_MAX + random.below(behind);
  return 1 + random.below(Math.min(levels, DEPTH_LEVELS_MAX) - 1);
}

type Increment = { ticker: string; seq: number; atMs: EpochMs; mix?: Mix };

/** Contracts by the cent of each side's bids. */
export type KalshiBook = { yes: Map<number, number>; no: Map<number, number> };

const priceText = (cents: number) => `0.${String(cents).padStart(2, '0')}00`;

/** Its best yes bid and best no bid. */
export function kalshiBook(yesCents: number, noCents: number, levels = LEVELS): KalshiBook {
  const side = (best: number) =>
    new Map(Array.from({ length: levels }, (_, below) => [best - below, 500]));
  return { yes: side(yesCents), no: side(noCents) };
}

export function snapshotFrame(ticker: string, seq: number, { yes, no }: KalshiBook): string {
  const levels = (side: Map<number, number>) =>
    JSON.stringify(Array.from(side, ([cents, size]) => [priceText(cents), `${size}.00`]));
  const msg = `"market_ticker":"${ticker}","yes_dollars_fp":${levels(yes)},"no_dollars_fp":${levels(no)}`;
  return `{"type":"orderbook_snapshot","sid":1,"seq":${seq},"msg":{${msg}}}`;
}

/** An increment of a size; prices stay. */
export function deltaFrame(
  random: Random,
  book: KalshiBook,
  { ticker, seq, atMs, mix = 'shown' }: Increment,
): string {
  const side = random.below(2) === 0 ? 'yes' : 'no';
  const levels = book[side];
  const nth = changedLevel(random, levels.size, mix);
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

export const tickerOf = (market: number) =>
  `KXMLBGAME-26JUL${String(market).padStart(6, '0')}MILPIT-MIL`;

export const bookOf = (midCents: number) => kalshiBook(midCents - 1, 100 - midCents - 1);
/** With levels that are not shown. */
export const deepBookOf = (midCents: number) =>
  kalshiBook(midCents - 1, 100 - midCents - 1, DEEP_LEVELS);

/** Frame `seq` of the one subscription. */
export function snapshotOf(market: number, book: KalshiBook, seq = market + 1): string {
  return snapshotFrame(tickerOf(market), seq, book);
}

/** Frame `seq + 1`: a change of any book from market `first` on. */
export function deltaOf(
  random: Random,
  books: readonly KalshiBook[],
  seq: number,
  atMs: EpochMs,
  { first = 0, mix = 'shown' as Mix } = {},
): string {
  const market = first + random.below(books.length - first);
  return deltaFrame(random, books[market]!, { ticker: tickerOf(market), seq: seq + 1, atMs, mix });
}

/** A snapshot of a market with one level a side, of so many contracts. */
export function topOf(market: number, bid: number, ask: number, contracts: number, seq: number) {
  const book = { yes: new Map([[bid, contracts]]), no: new Map([[100 - ask, contracts]]) };
  return snapshotOf(market, book, seq);
}

/** A catalog file of so many markets, an instrument each. */
export function catalogOf(markets: number) {
  const listing = { venue: 'venue_a', polarity: 1, fungibility: 'exact', reviewed: true };
  const instruments = Array.from({ length: markets }, (_, market) => ({
    ...{ slug: `m-${market}`, league: 'mlb', startsAt: '2026-07-20T00:00:00Z' },
    ...{ marketType: 'other', period: 'game', label: 'm', yesMeans: 'm', pushPossible: false },
    listings: [{ ...listing, venueMarketId: tickerOf(market) }],
  }));
  return { games: [], instruments };
}
