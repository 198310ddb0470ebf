/**
 * How much of an order trades at a live price, and at which price. An operator chooses the model.
 * Everything is in asks, as in pricing.ts: a buy of a side and a sell of the other side both take
 * that side's asks. Rules T60, T61 (engine/RULES.md).
 */
import type { DepthLevel, QuoteTick, TradeTick } from './messages.ts';
import {
  type BookPrice,
  type PricedBook,
  type PricingContext,
  tradePrice,
  venueIndex,
} from './pricing.ts';
import type {
  AccountRow,
  Action,
  Contracts,
  EpochMs,
  FillModelName,
  MarketNumber,
  PriceCents,
  Side,
  Venue,
} from './units.ts';

/** What an order asks for: contracts of the asks of `side`, none of them above `upToCents`. */
export type Want = { account: AccountRow; side: Side; upToCents: PriceCents; contracts: Contracts };

/** What it gets: no more contracts than wanted, at one price, from one venue. */
export type Fill = {
  contracts: Contracts;
  askCents: PriceCents;
  venue: Venue;
  /** Displayed sizes that this fill uses up when it takes place; null: none. */
  consumption: Consumption | null;
};

/** So many contracts for an account, from the best asks of a market's side on. */
export type Consumption = {
  account: AccountRow;
  market: MarketNumber;
  side: Side;
  contracts: Contracts;
};

/** A fill as the order's own side sees it, for its event. */
export function tradeOf(action: Action, { contracts, askCents, venue }: Fill) {
  return { contracts, priceCents: tradePrice(action, askCents), venue: venueIndex(venue) };
}

/**
 * One shard's model. It keeps what it must know of quotes, trades and fills to itself, in memory: a
 * shard starts with a new one, which sees the quotes that feeds send again.
 */
export interface FillModel {
  readonly name: FillModelName;
  /** Whether one fill leaves less for the next. */
  readonly sharesSizes: boolean;
  /** What a market order that does not fill is answered. */
  readonly noLiquidity: string;
  /** A market's new quote, before any order meets it. */
  quoteSeen(tick: QuoteTick): void;
  /** A trade at a venue. */
  tradePrinted(tick: TradeTick): void;
  /**
   * What trades now on a book whose prices are `price`; null: nothing. For an order that arrives,
   * and for a resting one that the price has reached. Changes nothing: the order may be refused.
   */
  orderArrives(
    context: PricingContext,
    book: PricedBook,
    price: BookPrice,
    want: Want,
    nowMs: EpochMs,
  ): Fill | null;
  /** The asks of both sides of a market that it knows, best first; null: it keeps none. */
  displayed(market: MarketNumber): Readonly<Record<Side, readonly DepthLevel[]>> | null;
  /** A fill takes place that uses up displayed sizes. */
  consume(consumption: Consumption): void;
}
