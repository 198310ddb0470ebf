/**
 * Order books in a venue's own precision: levels that come whole, and one side of bids that is kept
 * up by increments. Levels are compared, never indexed: venues disagree on their order.
 */
import type { ContractsE2, PriceE4 } from '../engine/core/units.ts';
import type { BookTick, Level } from './venue.ts';

/** The highest bid or the lowest ask with a size; sizes at one price add up. Null: none. */
function bestLevel(levels: readonly Level[], side: 'bid' | 'ask'): Level | null {
  let best: Level | null = null;
  for (const level of levels) {
    if (level.size === 0) continue;
    if (best !== null && level.price === best.price) {
      best = { price: best.price, size: best.size + level.size };
      continue;
    }
    if (best === null || (side === 'bid' ? level.price > best.price : level.price < best.price)) {
      best = level;
    }
  }
  return best;
}

/** Bids at 0 and asks at 1 are how some venues write an empty side. VENUES.md section 1.1. */
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

/** The top of a book that came as its levels, and the levels too where they are asked for. */
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
 * What a book frame that cannot be read leaves behind: the venue's book has changed and we do not
 * know how, so the last price must not be traded at. CONTRACT.md section 5, Live price.
 */
export function unknownBook(market: string): BookTick {
  return bookTick(market, null, null);
}

/** Bids of one side of one market, kept by increments. */
export class BidLadder {
  readonly #sizes = new Map<PriceE4, ContractsE2>();
  #bestPrice: PriceE4 | null = null;

  /**
   * Adds `delta` (negative takes away) at `price`.
   * @returns false when more was taken than was there; the level is then gone.
   */
  add(price: PriceE4, delta: ContractsE2): boolean {
    const size = (this.#sizes.get(price) ?? 0) + delta;
    if (size > 0) {
      this.#sizes.set(price, size);
      if (this.#bestPrice === null || price > this.#bestPrice) this.#bestPrice = price;
      return true;
    }
    this.#sizes.delete(price);
    if (price === this.#bestPrice) this.#bestPrice = this.#highest();
    return size === 0;
  }

  best(): Level | null {
    const price = this.#bestPrice;
    return price === null ? null : { price, size: this.#sizes.get(price)! };
  }

  levels(): Level[] {
    return Array.from(this.#sizes, ([price, size]) => ({ price, size }));
  }

  #highest(): PriceE4 | null {
    let highest: PriceE4 | null = null;
    for (const price of this.#sizes.keys()) {
      if (highest === null || price > highest) highest = price;
    }
    return highest;
  }
}
