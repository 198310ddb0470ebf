/**
 * How much of an order trades at a live price, and at which price. An operator chooses the model.
 * Everything is in asks, as in pricing.ts. A buy of a side and a sell of the other side both take
 * that side's asks. Rules T60, T61 (engine/RULES.md).
 */
import { invariant } from '../base/invariant.ts';
import {
  type AccountRow,
  type Action,
  type Cents,
  type Contracts,
  type ContractsE2,
  type EpochMs,
  type FillModelName,
  type Liquidity,
  type MarketNumber,
  PAYOUT_CENTS,
  type PriceCents,
  type Side,
} from '../base/units.ts';
import type { LevelTaken, VolumeName } from '../memory/market-liquidity.ts';
import type { FollowedLevels } from './followed-levels.ts';
import type { DepthLevel, QuoteTick } from './messages.ts';
import {
  type BookPrice,
  type PricedBook,
  type PricingContext,
  tradePrice,
  venueIndex,
} from './pricing.ts';
import type { RealismModel } from './realism.ts';
import type { Market } from './reference-data.ts';

/**
 * Who consumes displayed sizes: an account by its row, or all accounts whose orders share them.
 * Rules T164, T230 (engine/RULES.md).
 */
export type Taker = AccountRow;
const MARKET = -2 as Taker;

export function takerOf(account: AccountRow, liquidity: Liquidity): Taker {
  return liquidity === 'market' ? MARKET : account;
}

export function isShared(taker: Taker): boolean {
  return taker === MARKET;
}

/** The wish of an order: contracts of the asks of `side`, none of them above `upToCents`. */
export type Want = {
  taker: Taker;
  side: Side;
  upToCents: PriceCents;
  contracts: Contracts;
  /** The model of the order. */
  model: FillModelName;
};

/** A fill of an order: no more contracts than wanted, from one market. */
export type Fill = {
  contracts: Contracts;
  /** The average ask of its levels, rounded up: against the trader on both sides. */
  askCents: PriceCents;
  /** The sum of ask × contracts over its levels. */
  paidCents: Cents;
  /** The asks that it takes, best first; null: all of it at `askCents`. */
  levels: readonly DepthLevel[] | null;
  market: Market;
  /** Displayed sizes that this fill consumes; null: none. */
  consumption: Consumption | null;
};

/** Contracts that are consumed of a market's side, from its best ask on. */
export type Consumption = {
  taker: Taker;
  market: MarketNumber;
  side: Side;
  contracts: Contracts;
  /** The parts of its levels, best first. */
  levels: readonly DepthLevel[];
};

/** A fill with the money of the order's own side, for its event. Rule T64 (engine/RULES.md). */
export function tradeOf(action: Action, { contracts, askCents, paidCents, market }: Fill) {
  invariant(contracts > 0, 'a fill model fills no contracts');
  const priceCents = tradePrice(action, askCents);
  invariant(
    priceCents > 0 && priceCents < PAYOUT_CENTS,
    'the price of a fill model is not 1 to 99 cents',
  );
  const cents = action === 'buy' ? paidCents : PAYOUT_CENTS * contracts - paidCents;
  return { contracts, priceCents, venue: venueIndex(market.venue), cents };
}

/** The levels of a fill, as asks. */
export function levelsOf({ levels, askCents, contracts }: Fill): readonly DepthLevel[] {
  return levels ?? [[askCents, contracts]];
}

/** Books that are followed level by level, beside the displayed sizes that their orders can take. */
export interface Queues {
  readonly levels: FollowedLevels;
  /** The asks that an order meets on a book that came whole; null: none. Rule T153. */
  crossing(market: Market, want: Want): Fill | null;
  /**
   * A displayed ask met a resting order: the account has consumed as much of it. Rule T65. @returns
   * what it has taken of levels that accounts share
   */
  consumeAt(
    of: Omit<Consumption, 'levels'>,
    askCents: PriceCents,
    nowMs: EpochMs,
  ): readonly LevelTaken[];
  /** A print or an addition meets orders now. @returns how many equal ones came before it */
  nextVolume(name: VolumeName): number;
  /** What orders that share a volume take of it. Rule T234. */
  takeVolume(
    name: VolumeName,
    nth: number,
    availableE2: ContractsE2,
    wantedE2: ContractsE2,
  ): ContractsE2;
}

/**
 * The models of one shard. They keep their own state of quotes and fills in memory only: a shard
 * starts with new ones, and feeds send their quotes again.
 */
export interface FillModel {
  /** The server's model. */
  readonly name: FillModelName;
  /** True: a fill may leave less for the next one. */
  readonly sharesSizes: boolean;
  /** What it keeps for orders in queues; null: it has no queues. */
  readonly queues: Queues | null;
  /** An account has chosen another model than the server's: sizes and queues count from now on. */
  followBooks(markets: readonly Market[]): void;
  /** The refusal of a market order that cannot be filled. */
  noLiquidity(model: FillModelName): string;
  /** A market's new quote, before any order is matched with it. */
  quoteSeen(tick: QuoteTick): void;
  /**
   * The fill that is possible now on a book whose prices are `price`; null: none. It serves orders
   * that arrive, and resting orders that the price has reached. Changes nothing, because the order
   * may be refused.
   */
  orderArrives(
    context: PricingContext,
    book: PricedBook,
    price: BookPrice,
    want: Want,
    nowMs: EpochMs,
  ): Fill | null;
  /**
   * The model under which an order of this book would be placed now. Rules T156, T158
   * (engine/RULES.md).
   */
  modelOf(book: PricedBook, wanted: RealismModel): FillModelName;
  /** The model that fills an order now; null: it was placed before orders noted it. Rule T156. */
  modelOfPlaced(placed: FillModelName | null): FillModelName;
  /** The known asks of both sides of a market, best first; null: the model keeps none. */
  displayed(market: MarketNumber): Readonly<Record<Side, readonly DepthLevel[]>> | null;
  /**
   * A fill that consumes displayed sizes is applied. Null: another shard has taken some of it since
   * it was possible, so it is not possible any more. @returns what it has taken of levels that
   * accounts share
   */
  consume(consumption: Consumption, nowMs: EpochMs): readonly LevelTaken[] | null;
  /** A market is past: nothing is displayed of it any more. */
  forget(market: MarketNumber): void;
  /** An operator has set the clock back. */
  timeWasSet(): void;
}
