/**
 * Order books in a venue's own precision, whose levels arrive whole. Code compares levels and never
 * relies on their order, because venues disagree on it. Rules B5, B7 (feeds/FORMATS.md).
 */
import type { PriceE4 } from '../../engine/base/units.ts';
import type { BookTick, Level } from './venue.ts';

/** Prices between 0 and 1 with four decimals, 0.0001 to 0.9999: no side can have more levels. */
const LEVELS_MAX = 9_999;

/** Whether a level can have this price. */
export function isLevelPrice(price: PriceE4): boolean {
  return price > 0 && price < 10_000;
}

/** One side of a book, in any order. Null: not readable, or a price is there twice. */
export function bookSide(
  entries: unknown,
  levelOf: (entry: unknown) => Level | null,
): Level[] | null {
  if (!Array.isArray(entries) || entries.length > LEVELS_MAX) return null;
  const levels: Level[] = [];
  const prices = new Set<PriceE4>();
  for (const entry of entries) {
    const level = levelOf(entry);
    if (level === null || !isLevelPrice(level.price)) return null;
    prices.add(level.price);
    levels.push(level);
  }
  return prices.size === levels.length ? levels : null;
}

/** The highest bid or the lowest ask with a size. Null: none. */
function bestLevel(levels: readonly Level[], side: 'bid' | 'ask'): Level | null {
  let best: Level | null = null;
  for (const level of levels) {
    if (level.size === 0) continue;
    if (best === null || (side === 'bid' ? level.price > best.price : level.price < best.price)) {
      best = level;
    }
  }
  return best;
}

/** Bids at 0 and asks at 1 are how some venues write an empty side. Rule B2 (feeds/FORMATS.md). */
export function bookTick(market: string, bid: Level | null, ask: Level | null): BookTick {
  const yesBid = bid !== null && bid.price > 0 ? bid : null;
  const yesAsk = ask !== null && ask.price < 10_000 ? ask : null;
  return {
    kind: 'book',
    market,
    yesBid: yesBid?.price ?? null,
    yesBidSize: yesBid?.size ?? 0,
    yesAsk: yesAsk?.price ?? null,
    yesAskSize: yesAsk?.size ?? 0,
  };
}

/** The top of a book that arrived as its levels, and the levels too on request. */
export function wholeBookTick(
  market: string,
  yesBids: readonly Level[],
  yesAsks: readonly Level[],
  withDepth: boolean,
): BookTick {
  const tick = bookTick(market, bestLevel(yesBids, 'bid'), bestLevel(yesAsks, 'ask'));
  if (withDepth) tick.depth = { yesBids, yesAsks };
  return tick;
}

/**
 * The book after a frame that cannot be read. It has changed in an unknown way, so no order may
 * trade at the last price. Rule B7 (feeds/FORMATS.md).
 */
export function unknownBook(market: string): BookTick {
  return { ...bookTick(market, null, null), unknown: true };
}
