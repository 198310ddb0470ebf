/**
 * The fill model of each order. An order has the model that its account has chosen, or the server's,
 * and keeps it. Under `queue`, what crosses takes displayed levels, as in `book_depth`; what rests
 * waits in the queue of its price and is filled by the venue's prints (queue-fills.ts). A market
 * whose levels nobody tells has no queue: its orders fill by displayed levels, or by the best price
 * if no size is displayed. Rules T60, T144 to T146, T156, T158 (engine/RULES.md).
 */

import {
  type EpochMs,
  FILL_MODELS,
  type FillModelName,
  type MarketNumber,
  NO_PRICE,
} from '../base/units.ts';
import type { LevelTaken, MarketLiquidity } from '../memory/market-liquidity.ts';
import { BookDepth } from './book-depth.ts';
import type { Consumption, Fill, FillModel, Queues, Want } from './fill-model.ts';
import { FollowedLevels } from './followed-levels.ts';
import type { QuoteTick } from './messages.ts';
import type { BookPrice, PricedBook, PricingContext } from './pricing.ts';
import type { RealismModel } from './realism.ts';
import type { Market, Quote } from './reference-data.ts';
import { REJECTIONS } from './rejections.ts';
import { topOfBook } from './top-of-book.ts';

/** `name`: the server's model. `shared`: what accounts have taken that share all sizes. */
export function fillModels(name: FillModelName, shared: MarketLiquidity): FillModel {
  if (!FILL_MODELS.includes(name)) {
    throw new Error(`fillModel must be one of ${FILL_MODELS.join(', ')}, not ${name}`);
  }
  return new FillModels(name, shared);
}

class FillModels implements FillModel {
  readonly name: FillModelName;
  readonly #depth: BookDepth;
  readonly #followed: Queues;
  #sharesSizes: boolean;
  #queues: Queues | null;

  constructor(name: FillModelName, shared: MarketLiquidity) {
    this.name = name;
    this.#depth = new BookDepth(shared);
    this.#followed = {
      levels: new FollowedLevels(),
      crossing: (market, want) => this.#depth.crossing(market, want),
      consumeAt: (of, askCents, nowMs) => this.#depth.consumeAt(of, askCents, nowMs),
      nextVolume: (name) => shared.nextVolume(name),
      takeVolume: (...of) => shared.takeVolume(...of),
    };
    this.#sharesSizes = name !== 'top_of_book';
    this.#queues = name === 'queue' ? this.#followed : null;
  }

  get sharesSizes(): boolean {
    return this.#sharesSizes;
  }

  get queues(): Queues | null {
    return this.#queues;
  }

  /** The markets show what was displayed before. */
  followBooks(markets: readonly Market[]): void {
    this.#queues = this.#followed;
    if (this.#sharesSizes) return;
    this.#sharesSizes = true;
    for (const { number: market, quote } of markets) {
      if (quote !== null) this.#depth.quoteSeen({ kind: 'quote', market, ...quote });
    }
  }

  modelOf({ market, routed }: PricedBook, wanted: RealismModel): FillModelName {
    const name = wanted === 'server' ? this.name : wanted;
    if (name !== 'queue') return name;
    // A routed order waits for several books, and is in no one queue.
    if (routed === null && this.#followed.levels.of(market.number) !== undefined) return 'queue';
    return statesSizes(market.quote) ? 'book_depth' : 'top_of_book';
  }

  modelOfPlaced(placed: FillModelName | null): FillModelName {
    return this.#queues === null ? this.name : (placed ?? this.name);
  }

  quoteSeen(tick: QuoteTick): void {
    if (this.#sharesSizes) this.#depth.quoteSeen(tick);
  }

  orderArrives(
    context: PricingContext,
    book: PricedBook,
    price: BookPrice,
    want: Want,
    nowMs: EpochMs,
  ): Fill | null {
    const takesTop = want.model === 'top_of_book' || !this.#sharesSizes;
    return takesTop
      ? topOfBook(price, want)
      : this.#depth.orderArrives(context, book, price, want, nowMs);
  }

  noLiquidity(model: FillModelName): string {
    return model === 'top_of_book' ? REJECTIONS.no_liquidity : TOO_LITTLE;
  }

  displayed: FillModel['displayed'] = (market) => {
    return this.#sharesSizes ? this.#depth.displayed(market) : null;
  };

  consume(consumption: Consumption, nowMs: EpochMs): readonly LevelTaken[] | null {
    return this.#depth.consume(consumption, nowMs);
  }

  forget(market: MarketNumber): void {
    this.#depth.forget(market);
    this.#followed.levels.drop(market);
  }

  timeWasSet(): void {
    this.#depth.timeWasSet();
  }
}

const TOO_LITTLE =
  'There is no live price on that side now, or too little is displayed for all of it.';

type QuotedSizes = Pick<
  Quote,
  'yesBidCents' | 'yesBidContracts' | 'yesAskCents' | 'yesAskContracts'
>;

/** False: its sides have prices and no sizes. Rule T156 (engine/RULES.md). */
export function statesSizes(quote: QuotedSizes | null): boolean {
  if (quote === null) return true;
  const { yesBidCents, yesBidContracts, yesAskCents, yesAskContracts } = quote;
  const isPriced = yesBidCents !== NO_PRICE || yesAskCents !== NO_PRICE;
  return !isPriced || yesBidContracts > 0 || yesAskContracts > 0;
}
