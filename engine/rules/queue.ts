/**
 * The `queue` fill model: what crosses takes displayed levels, as in `book_depth`; what rests waits
 * in the queue of its price and is filled by the venue's prints (queue-fills.ts). A market whose
 * levels nobody tells has no queue: its orders fill by displayed levels, or by the best price if no
 * size is displayed. Rules T144 to T146, T156 (engine/RULES.md).
 */

import { type FillModelName, NO_PRICE } from '../base/units.ts';
import { BookDepth } from './book-depth.ts';
import type { Consumption, Fill, FillModel, Queues, Want } from './fill-model.ts';
import { FollowedLevels } from './followed-levels.ts';
import type { QuoteTick } from './messages.ts';
import type { BookPrice, PricedBook, PricingContext } from './pricing.ts';
import type { Quote } from './reference-data.ts';
import { topOfBook } from './top-of-book.ts';

export function queue(): FillModel {
  return new Queue();
}

class Queue implements FillModel {
  readonly name = 'queue';
  readonly sharesSizes = true;
  readonly queues: Queues;
  readonly #levels = new FollowedLevels();
  readonly #depth = new BookDepth();
  readonly #top = topOfBook();
  readonly noLiquidity = this.#depth.noLiquidity;

  constructor() {
    this.queues = {
      levels: this.#levels,
      crossing: (market, want) => this.#depth.crossing(market, want),
      consumeAt: (consumption, askCents) => this.#depth.consumeAt(consumption, askCents),
    };
  }

  modelOf({ market, routed }: PricedBook): FillModelName {
    // A routed order waits for several books, and is in no one queue.
    if (routed === null && this.#levels.of(market.number) !== undefined) return 'queue';
    return statesSizes(market.quote) ? 'book_depth' : 'top_of_book';
  }

  quoteSeen(tick: QuoteTick): void {
    this.#depth.quoteSeen(tick);
  }

  tradePrinted(): void {}

  orderArrives(
    context: PricingContext,
    book: PricedBook,
    price: BookPrice,
    want: Want,
    nowMs: number,
  ): Fill | null {
    const model = want.model === 'top_of_book' ? this.#top : this.#depth;
    return model.orderArrives(context, book, price, want, nowMs);
  }

  displayed: FillModel['displayed'] = (market) => this.#depth.displayed(market);

  consume(consumption: Consumption): void {
    this.#depth.consume(consumption);
  }
}

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
