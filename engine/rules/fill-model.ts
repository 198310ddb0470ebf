/**
 * How much of an order trades at a live price, and at which price: a part that an operator chooses.
 * Everything is said in asks, as in pricing.ts: what buys a side, or sells the other, takes them.
 * Rules T60, T61 (engine/RULES.md).
 */
import type { Levels, Taken } from './book-depth.ts';
import type { QuoteTick } from './messages.ts';
import { askOf, type BookPrice, tradePrice, venueIndex } from './pricing.ts';
import { REJECTIONS } from './rejections.ts';
import type { Book, Quote, ShardState } from './state.ts';
import type {
  AccountRow,
  Action,
  Contracts,
  EpochMs,
  FillModelName,
  PriceCents,
  Side,
  Venue,
} from './units.ts';

/** What somebody would take: contracts of the asks of `side`, none of them above `upToCents`. */
export type Want = { account: AccountRow; side: Side; upToCents: PriceCents; contracts: Contracts };

/** What they get: no more contracts than wanted, at one price, from one venue. */
export type Fill = {
  contracts: Contracts;
  askCents: PriceCents;
  venue: Venue;
  /** Displayed sizes that are used up once this trades; null: none are. */
  taken: Taken | null;
};

/** A fill as the order's own side sees it, for its event. */
export function tradeOf(action: Action, { contracts, askCents, venue }: Fill) {
  return { contracts, priceCents: tradePrice(action, askCents), venue: venueIndex(venue) };
}

export interface FillModel {
  readonly name: FillModelName;
  /** Whether one fill leaves less for the next. */
  readonly sharesSizes: boolean;
  /** What a market order is told that does not fill. */
  readonly noLiquidity: string;
  /** What trades now on a book whose prices are `price`; null: nothing. Changes nothing. */
  fill(
    state: ShardState,
    book: Pick<Book, 'market' | 'routed'>,
    price: BookPrice,
    want: Want,
    nowMs: EpochMs,
  ): Fill | null;
  /** What to keep of a quote beside its top, given the market's last one; null: nothing. */
  levelsOf(tick: QuoteTick, last: Quote | null): Levels | null;
}

/** The displayed size does not bound a fill; the paper balance is the limit. */
export const topOfBook: FillModel = {
  name: 'top_of_book',
  sharesSizes: false,
  noLiquidity: REJECTIONS.no_liquidity,
  fill(_state, _book, price, { side, upToCents, contracts }) {
    const ask = askOf(price, side);
    if (ask === null || ask.priceCents > upToCents) return null;
    return { contracts, askCents: ask.priceCents, venue: ask.venue, taken: null };
  },
  levelsOf: () => null,
};
