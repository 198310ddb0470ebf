/**
 * What happened, in the form that `evolve` applies. Events carry every number that `evolve` needs,
 * so that a log replays without quotes, clocks or rules. Events name rows of the tables in
 * state.ts; facts (facts.ts) have permanent names instead. Rule D3 (engine/RULES.md).
 */

import type {
  AccountRow,
  Cents,
  Contracts,
  ContractsE2,
  EpochMs,
  FillModelName,
  GameStatus,
  MarketNumber,
  OrderRow,
  PlacedNetting,
  PlacedUnder,
  PositionRow,
  PriceCents,
  Uuid,
} from '../base/units.ts';
import type { LevelTaken } from '../memory/market-liquidity.ts';
import type { CatalogChange } from './catalog-change.ts';
import type { Catalog } from './catalog-entries.ts';
import type { MarketOutcome, Payouts } from './messages.ts';
import type { OrderTerms, TradedSide, TradeTerms } from './order-terms.ts';

export type AccountOpened = {
  kind: 'account_opened';
  atMs: EpochMs;
  /** The row of the new account. */
  account: AccountRow;
  accountId: Uuid;
};

/** An order as it was accepted; this never changes. Its row is freed once the order is done. */
export type OrderPlaced = TradedSide &
  PlacedUnder & {
    kind: 'order_placed';
    atMs: EpochMs;
    /** Its row until it is done. */
    order: OrderRow;
    account: AccountRow;
    orderId: Uuid;
    idempotencyKey: string;
    byTicker: boolean;
    contracts: Contracts;
    /** sell: the row and the id of the position. */
    position: PositionRow | null;
    tradeId: Uuid | null;
    /** The message or fact from which the event was made; the terms are among its fields. */
    terms: OrderTerms;
    /** The model that fills it; null: an earlier program placed it. */
    fillModel: FillModelName | null;
    /**
     * A buy that waits holds it for the fees of each contract, in millionths of a dollar. Null: the
     * order pays no fees (`feesOn`). Rules M14, M15 (engine/RULES.md).
     */
    feeEachMicros: number | null;
    /** Null: it buys or sells as asked, and nets nothing. Rule T190 (engine/RULES.md). */
    netting: PlacedNetting | null;
    /** It may only rest: it is never filled as it meets the book. Rule T205 (engine/RULES.md). */
    postOnly: boolean;
    /** Its order group; null: it is of none. Rule T217 (engine/RULES.md). */
    group: Uuid | null;
    /**
     * It rests on its book, or waits until it meets it. A buy holds the most that it can cost, with
     * its fees. Parts of it may trade at once.
     */
    rests: boolean;
  };

/** Which fields an amend changes; on disk its index. */
export const AMENDED_FIELDS = ['contracts', 'limit', 'both'] as const;
export type AmendedFields = (typeof AMENDED_FIELDS)[number];

/**
 * The owner has changed the contracts or the limit of a waiting order. From now on its record is this
 * one. Rules T209 to T212 (engine/RULES.md).
 */
export type OrderAmended = {
  kind: 'order_amended';
  atMs: EpochMs;
  order: OrderRow;
  account: AccountRow;
  idempotencyKey: string;
  /** What the owner named; the other stays. */
  asked: AmendedFields;
  /** All of it, with what has traded. */
  contracts: Contracts;
  limitPriceCents: PriceCents;
  /** As in `order_placed`, at the new limit. */
  feeEachMicros: number | null;
  /** Else it meets the book as a new order does, and rests last. */
  keepsPlace: boolean;
  /** Its `order_placed`. */
  placed: { record: number; offset: number };
};

/** Rule T217 (engine/RULES.md). */
export type OrderGroupMade = {
  kind: 'order_group_made';
  atMs: EpochMs;
  account: AccountRow;
  group: Uuid;
  contractsLimit: Contracts;
  windowSeconds: number;
};

/** What has become of a group that latches, from its first such event on. */
export const GROUP_CHANGES = ['latched', 'triggered', 'reset', 'limited'] as const;

/** Rules T202 to T204 (engine/RULES.md). */
export type OrderGroupChanged = {
  kind: 'order_group_changed';
  atMs: EpochMs;
  account: AccountRow;
  group: Uuid;
  change: (typeof GROUP_CHANGES)[number];
  /** After the change. */
  contractsLimit: Contracts;
};

/** No order is of it any more. Rule T222 (engine/RULES.md). */
export type OrderGroupRemoved = {
  kind: 'order_group_removed';
  atMs: EpochMs;
  account: AccountRow;
  group: Uuid;
};

/**
 * The next event is a fill of a netting order. It closes so many contracts of a trade; `position`
 * null: it opens one. Rule T192 (engine/RULES.md).
 */
export type FillNets = {
  kind: 'fill_nets';
  atMs: EpochMs;
  order: OrderRow;
  account: AccountRow;
  position: PositionRow | null;
  contracts: Contracts;
};

/**
 * Contracts of a trade are closed together with as many of the other side, for `cents`. A netting
 * order that was just placed asks for it. Rule T194 (engine/RULES.md).
 */
export type PairClosed = FillMoney & {
  kind: 'pair_closed';
  atMs: EpochMs;
  order: OrderRow;
  account: AccountRow;
  position: PositionRow;
  contracts: Contracts;
};

/**
 * The place of a resting order in the queue of its price. It is noted when the order joins, when
 * less than half is left ahead of it, and when a part of it fills. Rules T146, T154
 * (engine/RULES.md).
 */
export type OrderQueued = {
  kind: 'order_queued';
  atMs: EpochMs;
  order: OrderRow;
  account: AccountRow;
  aheadE2: ContractsE2;
  /** What has traded of its next contract. */
  partE2: ContractsE2;
};

/** What meets an order in its queue, by the venue's book. Rule T186 (engine/RULES.md). */
export const QUEUE_MEETINGS = ['print', 'addition', 'book'] as const;
export type QueueMeeting = (typeof QUEUE_MEETINGS)[number];

/**
 * Something traded with an order in its queue, at least a part of a contract. Whole contracts are
 * filled by the next event. Nothing is ahead of the order any more. Rule T186 (engine/RULES.md).
 */
export type QueueMet = {
  kind: 'queue_met';
  atMs: EpochMs;
  order: OrderRow;
  account: AccountRow;
  by: QueueMeeting;
  /** All that met the orders there. */
  volumeE2: ContractsE2;
  /** What was ahead of this one before. */
  aheadE2: ContractsE2;
  /** What has traded of its next contract, the whole ones left out. */
  partE2: ContractsE2;
};

/** What a fill took; it comes after the event of the fill. Rule T187 (engine/RULES.md). */
export type FillNoted = {
  kind: 'fill_noted';
  atMs: EpochMs;
  /** A taker is filled as it meets the book. */
  role: 'taker' | 'maker';
  quoteAgeMs: number;
  /** In cents of the side traded, the best first; none: all of it at the price of the fill. */
  levels: readonly (readonly [cents: PriceCents, contracts: Contracts])[];
};

/**
 * An order took a part of a displayed level that accounts share; it comes after the event of the
 * fill. Rule T233 (engine/RULES.md).
 */
export type LiquidityTaken = LevelTaken & { kind: 'liquidity_taken'; atMs: EpochMs };

/** Nobody knew a market's levels from `fromMs` to `atMs`. Rule T188 (engine/RULES.md). */
export type BookMissed = {
  kind: 'book_missed';
  atMs: EpochMs;
  market: MarketNumber;
  fromMs: EpochMs;
};

/** The money of a fill. */
type FillMoney = {
  /** Of the side traded: the average of its levels, rounded against the trader. */
  priceCents: PriceCents;
  /** Index into VENUES: the venue of the price. */
  venue: number;
  /** The sum of price × contracts over its levels: the cost of a buy, the proceeds of a sell. */
  cents: Cents;
  /** Null: the order pays no fees. Below zero: a rebate. */
  feeCents: Cents | null;
};

/** The rest of an order traded: a buy has its position, a sell has closed its position. */
export type OrderFilled = FillMoney & {
  kind: 'order_filled';
  atMs: EpochMs;
  order: OrderRow;
};

/**
 * Some contracts of an order traded and some are left. The order continues to rest, or the next
 * event ends it.
 */
export type OrderPartFilled = FillMoney & {
  kind: 'order_part_filled';
  atMs: EpochMs;
  order: OrderRow;
  contracts: Contracts;
  /** What the order was charged beyond its venue's own fees so far. Rule M16 (engine/RULES.md). */
  carryMicros: number;
};

/** The event of a fill of an order that has so many contracts left. */
export function fillEvent(
  atMs: EpochMs,
  order: OrderRow,
  remaining: Contracts,
  { contracts, priceCents, venue, cents }: Pick<OrderPartFilled, Traded>,
  fee: FillFee | null,
): OrderFilled | OrderPartFilled {
  const feeCents = fee === null ? null : fee.cents;
  if (contracts === remaining) {
    return { kind: 'order_filled', atMs, order, priceCents, venue, cents, feeCents };
  }
  return {
    kind: 'order_part_filled',
    atMs,
    order,
    contracts,
    priceCents,
    venue,
    cents,
    feeCents,
    carryMicros: fee === null ? 0 : fee.carryMicros,
  };
}

type Traded = 'contracts' | 'priceCents' | 'venue' | 'cents';
/** The fee of a fill, and what its order is charged beyond the venue's fees from then on. */
export type FillFee = { cents: Cents; carryMicros: number };

/** An order under latency meets the book. Rule T160 (engine/RULES.md). */
export type OrderArrived = {
  kind: 'order_arrived';
  atMs: EpochMs;
  order: OrderRow;
  account: AccountRow;
  /** It rests on its book from now on; else it fills or ends at once. */
  rests: boolean;
};

/** The owner has canceled an order under latency: the cancel meets the book later. Rule T162. */
export type OrderCancelAccepted = {
  kind: 'order_cancel_accepted';
  atMs: EpochMs;
  order: OrderRow;
  account: AccountRow;
  cancelsAtMs: EpochMs;
};

export type OrderEnded = {
  kind: 'order_ended';
  atMs: EpochMs;
  order: OrderRow;
  /** `executed`: an ioc traded the available contracts, and the rest is canceled. */
  status: 'canceled' | 'expired' | 'executed';
  reason: CancelReason;
};
/** Reasons of market orders under latency, which the first programs did not have. Rule T161. */
export const LATER_REASONS = ['no_liquidity', 'price_moved'] as const;
/** Reasons that came with post-only orders and order groups. Rules T205, T220. */
export const NEWEST_REASONS = ['would_take', 'order_group_limit'] as const;
/**
 * On disk a reason is its index in this list: append, never reorder. Rule T111 (engine/RULES.md).
 */
export const CANCEL_REASONS = [
  'canceled_by_owner',
  'ioc_not_filled',
  'fok_not_filled',
  'market_resolved',
  'position_closed',
  'account_reset',
  'expired',
  'instrument_dropped',
  'disconnected',
  ...LATER_REASONS,
  ...NEWEST_REASONS,
] as const;
export type CancelReason = (typeof CANCEL_REASONS)[number];

/** A position was paid out by its market's result. */
export type PositionSettled = {
  kind: 'position_settled';
  atMs: EpochMs;
  position: PositionRow;
  proceedsCents: Cents;
  outcome: MarketOutcome;
};

/** An open position was closed by its owner's reset. Rule M33 (engine/RULES.md). */
export type PositionReset = {
  kind: 'position_reset';
  atMs: EpochMs;
  position: PositionRow;
  proceedsCents: Cents;
};

/** The account has nothing open and nothing resting, and `run` begins. */
export type AccountReset = {
  kind: 'account_reset';
  atMs: EpochMs;
  account: AccountRow;
  run: number;
};

/** Whether the public sees the account. An account is private until the first of these. */
export type PrivacyChanged = {
  kind: 'privacy_changed';
  atMs: EpochMs;
  account: AccountRow;
  private: boolean;
};

/** An operator's tags of a trade, open or not. They replace its earlier tags. */
export type TradeMarked = TradeTag & {
  kind: 'trade_marked';
  atMs: EpochMs;
  account: AccountRow;
  trade: Uuid;
};
/**
 * An operator's tag of a trade. `parlay`: the parlay whose leg the trade is. `combine`: whether it
 * is of a Combine.
 */
export type TradeTag = { parlay: Uuid | null; combine: boolean };

export type MarketResolved = {
  kind: 'market_resolved';
  atMs: EpochMs;
  market: MarketNumber;
  outcome: MarketOutcome;
  source: OutcomeSource;
};
/**
 * The source of the status; `catalog`: its game is cancelled there. On disk its index: append,
 * never reorder.
 */
export const OUTCOME_SOURCES = ['venue_result', 'catalog', 'operator'] as const;
export type OutcomeSource = (typeof OUTCOME_SOURCES)[number];

/** The payout of a contract of each side of a scalar market; its result is the next event. */
export type MarketValued = {
  kind: 'market_valued';
  atMs: EpochMs;
  market: MarketNumber;
  yesPayoutCents: Cents;
  noPayoutCents: Cents;
};

/** An operator replaced a result. Rules S20, S21 (engine/RULES.md). */
export type MarketCorrected = Payouts & {
  kind: 'market_corrected';
  atMs: EpochMs;
  market: MarketNumber;
  outcome: MarketOutcome;
  /** Counts the corrections of the market, over all shards; a shard may lack one. */
  correction: number;
};

/** A trade that its market's result has settled takes another result. Rule S21 (engine/RULES.md). */
export type TradeCorrected = TradedSide & {
  kind: 'trade_corrected';
  atMs: EpochMs;
  account: AccountRow;
  trade: Uuid;
  correction: number;
  from: MarketOutcome;
  to: MarketOutcome;
  /** The totals of all its parts, from now on. */
  proceedsCents: Cents;
  changedByCents: Cents;
  /** The part that moves the balance: nothing if the run of the trade is over. */
  cashCents: Cents;
};

export type GameChanged = {
  kind: 'game_changed';
  atMs: EpochMs;
  game: string;
  status: GameStatus;
};

export type CashAdjusted = {
  kind: 'cash_adjusted';
  atMs: EpochMs;
  account: AccountRow;
  amountCents: Cents;
};

/** An attempt to trade; it counts towards the hard trade limits. */
export type TradeCounted = {
  kind: 'trade_counted';
  atMs: EpochMs;
  account: Uuid;
  keyId: Uuid;
  closing: boolean;
};

export type CatalogReplaced = { kind: 'catalog_replaced'; atMs: EpochMs; catalog: Catalog };

/**
 * The catalog became another. `before`: the record of the catalog or change that it follows. Rule
 * K60 (feeds/FORMATS.md).
 */
export type CatalogChanged = {
  kind: 'catalog_changed';
  atMs: EpochMs;
  before: number;
  change: CatalogChange;
};

/** An operator set the clock back from `fromMs` to `atMs`. */
export type ClockSet = { kind: 'clock_set'; atMs: EpochMs; fromMs: EpochMs };

export type Event =
  | AccountOpened
  | OrderPlaced
  | FillNets
  | PairClosed
  | OrderAmended
  | OrderGroupMade
  | OrderGroupChanged
  | OrderGroupRemoved
  | OrderQueued
  | QueueMet
  | FillNoted
  | LiquidityTaken
  | BookMissed
  | OrderArrived
  | OrderCancelAccepted
  | OrderFilled
  | OrderPartFilled
  | OrderEnded
  | PositionSettled
  | PositionReset
  | AccountReset
  | PrivacyChanged
  | TradeMarked
  | MarketResolved
  | MarketValued
  | MarketCorrected
  | TradeCorrected
  | GameChanged
  | CashAdjusted
  | TradeCounted
  | CatalogReplaced
  | CatalogChanged
  | ClockSet;

/** How an order ended; written once. */
export type OrderOutcome = {
  atMs: EpochMs;
  status: 'executed' | 'canceled' | 'expired';
  reason: CancelReason | null;
  /** The average of its fills, rounded against the trader. */
  fillPriceCents: PriceCents | null;
  /** Of its first fill. */
  venue: number | null;
  tradeId: Uuid | null;
  /**
   * The filled contracts of an order that was filled in part; null: it was filled fully or not at
   * all.
   */
  filledContracts: Contracts | null;
  /** Null: it pays none. */
  feesCents: Cents | null;
};

/** A trade that is no longer open; written once. Contracts, cost and proceeds are totals. */
export type ClosedTrade = TradedSide &
  TradeTerms & {
    tradeId: Uuid;
    account: AccountRow;
    contracts: Contracts;
    costCents: Cents;
    entryPriceCents: PriceCents;
    venue: number;
    openedAtMs: EpochMs;
    closedAtMs: EpochMs;
    status: 'closed' | 'settled' | 'void' | 'reset';
    closeReason: 'sold' | 'settled' | 'voided' | 'account_reset';
    proceedsCents: Cents;
    /** How its market ended; null when it was sold or reset. */
    outcome: MarketOutcome | null;
    parlay: Uuid | null;
    /** Of the order that opened it. */
    fillModel: FillModelName | null;
    /** Of all its buys and sells; null: none of them paid fees. */
    feesCents: Cents | null;
    /** Whether that was placed under the preset `realistic`. Rule T159 (engine/RULES.md). */
    realistic: boolean;
  };
