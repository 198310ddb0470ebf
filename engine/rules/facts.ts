/**
 * What happened, in the form that the log stores for all time. An event (events.ts) names rows,
 * which are reused. A fact names accounts, orders and trades by their uuids. It names markets and
 * instruments by numbers that are never reused. So a fact means the same in every shard, and years
 * later. Rules D2, D3 (engine/RULES.md).
 *
 * A primary fact has every number that its event needs. Derived facts follow from it; the log has
 * them after it, for its readers.
 */

import type {
  Cents,
  Contracts,
  EpochMs,
  FillModelName,
  InstrumentNumber,
  MarketNumber,
  PriceCents,
  Uuid,
} from '../base/units.ts';
import type {
  AccountOpened,
  AccountReset,
  BookMissed,
  CashAdjusted,
  CatalogChanged,
  CatalogReplaced,
  ClockSet,
  FillNets,
  FillNoted,
  GameChanged,
  LiquidityTaken,
  MarketCorrected,
  MarketResolved,
  MarketValued,
  OrderAmended,
  OrderArrived,
  OrderCancelAccepted,
  OrderEnded,
  OrderFilled,
  OrderGroupChanged,
  OrderGroupMade,
  OrderGroupRemoved,
  OrderPartFilled,
  OrderPlaced,
  OrderQueued,
  PairClosed,
  PrivacyChanged,
  QueueMet,
  TradeCorrected,
  TradeCounted,
  TradeMarked,
} from './events.ts';
import type { MarketOutcome } from './messages.ts';
import type { OrderTerms, TradedSide, TradeTerms } from './order-terms.ts';

/** The place of a fact: the position of its record in the log, and its offset in the payload. */
export type FactPlace = { record: number; offset: number };

/** An event of an account, with the account's uuid instead of its row. */
type OfAccount<AnEvent> = Omit<AnEvent, 'account' | 'accountId'> & { account: Uuid };
/** The same for an order: its account, and its subject. */
type OfOrder<AnEvent> = Omit<AnEvent, 'order'> & {
  account: Uuid;
  order: Uuid;
  market: MarketNumber;
  instrument: InstrumentNumber;
};

export type AccountOpenedFact = OfAccount<AccountOpened>;
export type CashAdjustedFact = OfAccount<CashAdjusted>;
export type AccountResetFact = OfAccount<AccountReset>;
export type PrivacyChangedFact = OfAccount<PrivacyChanged>;
export type TradeMarkedFact = OfAccount<TradeMarked>;
export type TradeCorrectedFact = OfAccount<TradeCorrected>;

/** Its terms are among its fields. */
export type OrderPlacedFact = OrderTerms &
  Omit<OrderPlaced, 'order' | 'account' | 'orderId' | 'position' | 'tradeId' | 'terms'> & {
    account: Uuid;
    order: Uuid;
    /** sell: the trade. */
    trade: Uuid | null;
  };

/** An order that waits is another from now on; `placed` is its `order_placed`. */
export type OrderAmendedFact = OfWaiting<OrderAmended>;

export type OrderGroupMadeFact = OfAccount<OrderGroupMade>;
export type OrderGroupChangedFact = OfAccount<OrderGroupChanged>;
export type OrderGroupRemovedFact = OfAccount<OrderGroupRemoved>;

/** The rest of an order traded, so it is executed. */
export type OrderFilledFact = OfOrder<OrderFilled> & {
  contracts: Contracts;
  trade: Uuid;
  /** The average of all its fills, rounded against the trader. */
  fillPriceCents: PriceCents;
  /** Of its first fill. */
  fillVenue: number;
  /** Its `order_placed`, or its last `order_amended`. */
  placed: FactPlace;
  /** Of all its fills; null: it pays none. */
  feesCents: Cents | null;
};

type OfWaiting<AnEvent> = Omit<AnEvent, 'order' | 'account'> & { account: Uuid; order: Uuid };

/** What the next fill of a netting order does; `trade` null: it opens one. */
export type FillNetsFact = Omit<OfWaiting<FillNets>, 'position'> & { trade: Uuid | null };

/** Contracts of a trade were closed together with as many of the other side. */
export type PairClosedFact = Pick<
  OfWaiting<PairClosed>,
  'kind' | 'atMs' | 'account' | 'order' | 'contracts' | 'cents'
> & { trade: Uuid };

/** Where an order is in its queue. */
export type OrderQueuedFact = OfWaiting<OrderQueued>;

/** An order meets the book, or will be canceled. */
export type OrderArrivedFact = OfWaiting<OrderArrived>;
export type OrderCancelAcceptedFact = OfWaiting<OrderCancelAccepted>;

/** What traded with an order in its queue. */
export type QueueMetFact = Omit<QueueMet, 'order' | 'account'> & { account: Uuid; order: Uuid };

export type OrderPartFilledFact = OfOrder<OrderPartFilled> & { trade: Uuid };

export type OrderEndedFact = OfOrder<OrderEnded> & {
  /** As in `order_filled`; null: no contract was filled. */
  fillPriceCents: PriceCents | null;
  fillVenue: number | null;
  filledContracts: Contracts | null;
  trade: Uuid | null;
  placed: FactPlace;
  /** As in `order_filled`. */
  feesCents: Cents | null;
};

/** The fields of a trade that exist from its first fill on. */
type OfTrade = TradedSide &
  TradeTerms & {
    atMs: EpochMs;
    account: Uuid;
    trade: Uuid;
    contracts: Contracts;
    venue: number;
    /** Of the order that opened it; null: an earlier program placed that. */
    fillModel: FillModelName | null;
    /** Whether the order that opened it was placed under the preset `realistic`. */
    realistic: boolean;
  };

/** Derived: a buy traded for the first time. */
export type TradeOpenedFact = OfTrade & {
  kind: 'trade_opened';
  order: Uuid;
  priceCents: PriceCents;
  /** Of this fill, as in its order's fact. */
  cents: Cents;
  feeCents: Cents | null;
};

/** Derived: the buy that opened the trade was filled again, with these contracts. */
export type TradeGrownFact = {
  kind: 'trade_grown';
  atMs: EpochMs;
  account: Uuid;
  trade: Uuid;
  order: Uuid;
  contracts: Contracts;
  priceCents: PriceCents;
  /** An index into VENUES. */
  venue: number;
  cents: Cents;
  feeCents: Cents | null;
};

/** Derived: some contracts of a trade were sold, for `cents`. `costCents` is their cost. */
export type TradeReducedFact = Omit<TradeGrownFact, 'kind'> & {
  kind: 'trade_reduced';
  costCents: Cents;
};

/** A trade that has ended. Contracts, cost and proceeds are totals of all its parts. */
type EndedTrade = OfTrade & {
  costCents: Cents;
  entryPriceCents: PriceCents;
  proceedsCents: Cents;
  /** As it was marked by then. */
  parlay: Uuid | null;
  /** Null: none of its orders paid fees. */
  feesCents: Cents | null;
};

/** The rest of a trade was sold, which is derived, or its owner's reset has closed it. */
export type TradeClosedFact = EndedTrade & {
  kind: 'trade_closed';
  closeReason: 'sold' | 'account_reset';
};

/** A trade was paid out by its market's result. */
export type TradeSettledFact = EndedTrade & { kind: 'trade_settled'; outcome: MarketOutcome };

export type TradeCountedFact = Omit<TradeCounted, 'keyId'> & { key: Uuid };

/** Events that name no row are facts without change. */
export type PrimaryFact =
  | AccountOpenedFact
  | CashAdjustedFact
  | OrderPlacedFact
  | FillNetsFact
  | PairClosedFact
  | OrderAmendedFact
  | OrderGroupMadeFact
  | OrderGroupChangedFact
  | OrderGroupRemovedFact
  | OrderQueuedFact
  | QueueMetFact
  | FillNoted
  | LiquidityTaken
  | BookMissed
  | OrderArrivedFact
  | OrderCancelAcceptedFact
  | OrderFilledFact
  | OrderPartFilledFact
  | OrderEndedFact
  | TradeSettledFact
  | TradeClosedFact
  | AccountResetFact
  | PrivacyChangedFact
  | TradeMarkedFact
  | TradeCorrectedFact
  | TradeCountedFact
  | MarketResolved
  | MarketValued
  | MarketCorrected
  | GameChanged
  | CatalogReplaced
  | CatalogChanged
  | ClockSet;

export type DerivedFact = TradeOpenedFact | TradeGrownFact | TradeReducedFact | TradeClosedFact;

export type Fact = PrimaryFact | DerivedFact;
