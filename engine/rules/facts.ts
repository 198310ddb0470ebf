/**
 * What happened, as the log keeps it for ever. An event (events.ts) names rows, which are used again;
 * a fact names accounts, orders and trades by their uuids, and markets and instruments by numbers
 * that only ever grow. So a fact means the same in every shard, and years later. Rules D2, D3
 * (engine/RULES.md).
 *
 * A primary fact has every number that its event needs. Derived facts follow from it, and stand
 * behind it for those who read the log.
 */
import type {
  CancelReason,
  CatalogReplaced,
  ClockSet,
  GameChanged,
  MarketResolved,
  MarketValued,
} from './events.ts';
import type { MarketOutcome } from './messages.ts';
import type {
  Action,
  Cents,
  Contracts,
  EpochMs,
  InstrumentNumber,
  MarketNumber,
  PlacedVia,
  PriceCents,
  Routing,
  Side,
  TimeInForce,
  Uuid,
} from './units.ts';

/** Where a fact lies: the position of its record in the log, and its offset in the payload. */
export type FactPlace = { record: number; offset: number };

export type AccountOpenedFact = { kind: 'account_opened'; atMs: EpochMs; account: Uuid };

export type CashAdjustedFact = {
  kind: 'cash_adjusted';
  atMs: EpochMs;
  account: Uuid;
  amountCents: Cents;
};

/** An order as it was accepted. One without a limit is a market order (T26). */
export type OrderPlacedFact = {
  kind: 'order_placed';
  atMs: EpochMs;
  account: Uuid;
  order: Uuid;
  idempotencyKey: string;
  market: MarketNumber;
  instrument: InstrumentNumber;
  contracts: Contracts;
  action: Action;
  /** In the venue market's terms. */
  side: Side;
  instrumentSide: Side;
  byTicker: boolean;
  routing: Routing;
  placedVia: PlacedVia;
  placedPrivate: boolean;
  rests: boolean;
  timeInForce: TimeInForce | null;
  limitPriceCents: PriceCents | null;
  boundPriceCents: PriceCents | null;
  statedProbPct: number | null;
  expiresAtMs: EpochMs | null;
  /** sell: the trade. */
  trade: Uuid | null;
};

/** One fill: so many contracts at one price, from one venue (an index into VENUES). */
type Fill = { contracts: Contracts; priceCents: PriceCents; venue: number };

/** Which order of which account did something, and what it trades. */
type OfOrder = {
  atMs: EpochMs;
  account: Uuid;
  order: Uuid;
  market: MarketNumber;
  instrument: InstrumentNumber;
};

/** All that was left of an order traded. It is executed. */
export type OrderFilledFact = OfOrder &
  Fill & {
    kind: 'order_filled';
    trade: Uuid;
    /** The average of all its fills, rounded against the trader. */
    fillPriceCents: PriceCents;
    /** Of its first fill. */
    fillVenue: number;
    /** Its `order_placed`. */
    placed: FactPlace;
  };

/** Some contracts of an order traded and some are left. */
export type OrderPartFilledFact = OfOrder & Fill & { kind: 'order_part_filled'; trade: Uuid };

export type OrderEndedFact = OfOrder & {
  kind: 'order_ended';
  /** `executed`: an ioc traded what there was, and the rest is canceled. */
  status: 'canceled' | 'expired' | 'executed';
  reason: CancelReason;
  /** As in `order_filled`; null: nothing of it traded. */
  fillPriceCents: PriceCents | null;
  fillVenue: number | null;
  filledContracts: Contracts | null;
  trade: Uuid | null;
  placed: FactPlace;
};

/** What a trade has from its first fill on. */
type OfTrade = {
  atMs: EpochMs;
  account: Uuid;
  trade: Uuid;
  market: MarketNumber;
  instrument: InstrumentNumber;
  contracts: Contracts;
  side: Side;
  instrumentSide: Side;
  venue: number;
  statedProbPct: number | null;
  placedVia: PlacedVia;
  placedPrivate: boolean;
};

/** Derived: a buy traded for the first time. */
export type TradeOpenedFact = OfTrade & {
  kind: 'trade_opened';
  order: Uuid;
  priceCents: PriceCents;
};

/** Derived: the buy that opened it traded once more. */
export type TradeGrownFact = Fill & {
  kind: 'trade_grown';
  atMs: EpochMs;
  account: Uuid;
  trade: Uuid;
  order: Uuid;
};

/** Derived: some of its contracts were sold. `costCents` is what they had cost. */
export type TradeReducedFact = Omit<TradeGrownFact, 'kind'> & {
  kind: 'trade_reduced';
  costCents: Cents;
};

/** A trade that is over. Contracts, cost and proceeds are those of all its parts. */
type OverTrade = OfTrade & { costCents: Cents; entryPriceCents: PriceCents; proceedsCents: Cents };

/** Derived: all that was left of it was sold. */
export type TradeClosedFact = OverTrade & { kind: 'trade_closed' };

/** A trade was paid out by its market's result. */
export type TradeSettledFact = OverTrade & { kind: 'trade_settled'; outcome: MarketOutcome };

export type TradeCountedFact = {
  kind: 'trade_counted';
  atMs: EpochMs;
  account: Uuid;
  key: Uuid;
  /** A sell or a cancel. */
  closing: boolean;
};

/** Events that name no row are facts as they are. */
export type PrimaryFact =
  | AccountOpenedFact
  | CashAdjustedFact
  | OrderPlacedFact
  | OrderFilledFact
  | OrderPartFilledFact
  | OrderEndedFact
  | TradeSettledFact
  | TradeCountedFact
  | MarketResolved
  | MarketValued
  | GameChanged
  | CatalogReplaced
  | ClockSet;

export type DerivedFact = TradeOpenedFact | TradeGrownFact | TradeReducedFact | TradeClosedFact;

export type Fact = PrimaryFact | DerivedFact;
