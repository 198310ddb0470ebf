/**
 * Everything that a shard receives, as plain data. Ticks come from venues, commands and queries
 * from callers. All carry the time at which they take effect, because the core has no clock. Rules
 * T20 to T28, C1 (engine/RULES.md).
 */

import type {
  Cents,
  Contracts,
  ContractsE2,
  EpochMs,
  GameStatus,
  MarketNumber,
  MarketStatus,
  PriceCents,
  PriceE4,
  Side,
  SourceNumber,
  StreamConnection,
  TradeUse,
  Uuid,
} from '../base/units.ts';
import type { CatalogChange } from './catalog-change.ts';
import type { Catalog } from './catalog-entries.ts';
import type { FeeEntry } from './fees.ts';
import type { TradeLimitsLeft } from './limits-left.ts';
import { type OrderTerms, USUAL_TERMS } from './order-terms.ts';
import type { Realism } from './realism.ts';
import type { RejectionCode } from './rejections.ts';

/** The complete top of book of one market; it replaces the last one. `NO_PRICE`: an empty side. */
export type QuoteTick = {
  kind: 'quote';
  atMs: EpochMs;
  source: SourceNumber;
  market: MarketNumber;
  yesBidCents: PriceCents;
  yesBidContracts: Contracts;
  yesAskCents: PriceCents;
  yesAskContracts: Contracts;
  /**
   * The venue's own book has bid >= ask: it is shown, but is no live price. Rule T15
   * (engine/RULES.md).
   */
  crossed: boolean;
  /**
   * The book is unknown until the next quote, and no side has a price. Only the history uses it.
   * Rule H5 (api/RULES.md).
   */
  unknown?: boolean;
  /**
   * It replaces earlier quotes of the market that nobody has read; the time of the first of them. Rule D7
   * (engine/RULES.md).
   */
  sinceMs?: EpochMs;
  /**
   * Present only if the fill model uses levels and the venue shows them. Otherwise only the top is
   * known.
   */
  depth?: Depth;
  /**
   * In place of `depth`: the levels whose contracts have changed since the market's last quote, in
   * any order; 0 contracts: the level is gone. Rule D44 (engine/RULES.md).
   */
  depthChange?: Depth;
};

/** The displayed levels of both sides, best first; each price occurs once, with a size above 0. */
export type Depth = { yesBids: readonly DepthLevel[]; yesAsks: readonly DepthLevel[] };
export type DepthLevel = readonly [priceCents: PriceCents, contracts: Contracts];

/** A trade at the venue. Quotes show it, and nothing else follows from it. */
export type TradeTick = {
  kind: 'trade';
  atMs: EpochMs;
  source: SourceNumber;
  market: MarketNumber;
  yesPriceCents: PriceCents;
  contracts: Contracts;
  side: Side;
};

/**
 * A level of a book changed, in the venue's precision, or its decrease was a trade that a print has
 * told before. `traded`: it changes the display alone. Sent only to fill models that follow levels.
 * Both sides are bids: an ask of yes is a bid of no at 1 minus its price. Rules W95, W96
 * (feeds/FORMATS.md).
 */
export type LevelTick = {
  kind: 'level';
  atMs: EpochMs;
  source: SourceNumber;
  market: MarketNumber;
  change: LevelChange;
  side: Side;
  price: PriceE4;
  /** How much was added or taken away. */
  contracts: ContractsE2;
  /** What the level displays from now on. */
  size: ContractsE2;
  /** The number of a `cancel` among those of its connection, from 1; 0 for any other change. */
  decrease: number;
};
export const LEVEL_CHANGES = ['add', 'cancel', 'traded'] as const;
export type LevelChange = (typeof LEVEL_CHANGES)[number];

/**
 * A trade at the venue met resting orders of this level. If its decrease came first, that was taken
 * for a cancel, and `decrease` is its number; else 0. Rule W96 (feeds/FORMATS.md).
 */
export type PrintTick = {
  kind: 'print';
  atMs: EpochMs;
  source: SourceNumber;
  market: MarketNumber;
  side: Side;
  price: PriceE4;
  contracts: ContractsE2;
  decrease: number;
};

/** All levels of a book. Rule W97 (feeds/FORMATS.md). */
export type LevelsTick = {
  kind: 'levels';
  atMs: EpochMs;
  source: SourceNumber;
  market: MarketNumber;
  /** Null: the book is unknown until the next one. */
  levels: WholeLevels | null;
  /** Nothing was missed before it: it repeats what the level ticks have led to. */
  repeats: boolean;
};
export type WholeLevels = Readonly<Record<Side, readonly ExactLevel[]>>;
export type ExactLevel = readonly [price: PriceE4, size: ContractsE2];

/** The venue opened, paused or closed trading of a market. */
export type StatusTick = {
  kind: 'status';
  atMs: EpochMs;
  source: SourceNumber;
  market: MarketNumber;
  status: MarketStatus;
};

/**
 * When the venue closes the market, by its own word, whatever a catalog says. Null: the venue
 * closes it by a message, and no time does.
 */
export type ClosingTick = {
  kind: 'closing';
  atMs: EpochMs;
  source: SourceNumber;
  market: MarketNumber;
  closesAtMs: EpochMs | null;
};

/**
 * The venue's final word on a market. Payouts are the cents that one contract of that side
 * receives. A void pays cost back and has payouts 0. A settlement value strictly between 0 and 1 is
 * `scalar`.
 */
export type ResultTick = {
  kind: 'result';
  atMs: EpochMs;
  source: SourceNumber;
  market: MarketNumber;
  outcome: MarketOutcome;
  yesPayoutCents: Cents;
  noPayoutCents: Cents;
};
export type MarketOutcome = 'yes' | 'no' | 'void' | 'scalar';
/** The payout of one contract of each side. */
export type Payouts = Pick<ResultTick, 'yesPayoutCents' | 'noPayoutCents'>;
export type MarketResult = Payouts & { outcome: MarketOutcome };

/** A game changed its status; `game` is the catalog's slug. */
export type GameTick = {
  kind: 'game';
  atMs: EpochMs;
  source: SourceNumber;
  game: string;
  status: GameStatus;
};

/** The connection is alive: any frame or heartbeat keeps its quotes fresh. */
export type HeartbeatTick = { kind: 'heartbeat'; atMs: EpochMs; source: SourceNumber };

/** The connection was lost or skipped a message: its quotes are dead until a fresh one arrives. */
export type DownTick = {
  kind: 'down';
  atMs: EpochMs;
  source: SourceNumber;
  /** For the history; left out: the connection was lost. Rule H5 (api/RULES.md). */
  reason?: 'sequence_gap';
};

/** Only time has passed; orders may expire. */
export type TimeTick = { kind: 'time'; atMs: EpochMs };

export type Tick =
  | QuoteTick
  | TradeTick
  | LevelTick
  | PrintTick
  | LevelsTick
  | StatusTick
  | ClosingTick
  | ResultTick
  | GameTick
  | HeartbeatTick
  | DownTick
  | TimeTick;

/** How often one key, or one account, may trade. Rules L1 to L10 (engine/RULES.md). */
export type TradeLimits = {
  newPerMinute: number;
  newPerDay: number;
  /** Sells and cancels. */
  closingPerMinute: number;
};

/** The key and account for which a command counts, and their limits. */
export type TradeCounting = {
  keyId: Uuid;
  keyLimits: TradeLimits;
  accountLimits: TradeLimits;
  /** The key's counts in other shards; null: none. */
  elsewhere: TradeUse | null;
};

/**
 * Places one order. Rule A30 (api/RULES.md). It is already checked against the order schema:
 * exactly the fields of its action and type are set, the rest are null. Its terms are among its
 * fields, so that its event and facts need no copy.
 */
export type PlaceOrder = OrderTerms & {
  kind: 'place';
  atMs: EpochMs;
  account: Uuid;
  /** A new uuid v7 whose time is `atMs`; unused if the command is a replay. */
  orderId: Uuid;
  idempotencyKey: string;
  /** buy: one of the two. `side` is the instrument's side, or the market's for a ticker. */
  instrumentId: string | null;
  ticker: string | null;
  side: Side | null;
  contracts: Contracts | null;
  /** sell */
  tradeId: Uuid | null;
  /** Of a buy; null: it nets nothing. Rule T190 (engine/RULES.md). */
  netting: Netting | null;
  /** It is refused, or canceled, where it would take. Rule T205 (engine/RULES.md). */
  postOnly: boolean;
  /** Null: it is of no order group. Rule T218 (engine/RULES.md). */
  orderGroupId: Uuid | null;
  /** True: the caller's plan allows opening positions. Rule A38 (api/RULES.md). */
  mayOpen: boolean;
  /** True: trading is on, and a new order may be placed. Rule V6 (api/RULES.md). */
  mayTrade: boolean;
  /** A new order is refused after it; not a term, and not stored. Rule T132 (engine/RULES.md). */
  rejectIfLaterThanMs: EpochMs | null;
  /** What its account has chosen; null: the preset `simple`. Rule T158 (engine/RULES.md). */
  realism: Realism | null;
  /** Null: the hard trade limits do not apply, as for a replay. */
  counting: TradeCounting | null;
};

/** A placement that names nothing yet: usual terms, no instrument and no trade, bound by nothing. */
export const BLANK_ORDER: Omit<PlaceOrder, 'atMs' | 'account' | 'orderId' | 'idempotencyKey'> = {
  ...USUAL_TERMS,
  kind: 'place',
  instrumentId: null,
  ticker: null,
  side: null,
  contracts: null,
  tradeId: null,
  netting: null,
  postOnly: false,
  orderGroupId: null,
  mayOpen: true,
  mayTrade: true,
  rejectIfLaterThanMs: null,
  realism: null,
  counting: null,
};

/**
 * How a buy nets what the account holds of the other side. `net`: it closes that first, and then
 * opens. `close`: it closes, and opens nothing. Rules T190, T191 (engine/RULES.md).
 */
export const NETTINGS = ['net', 'close'] as const;
export type Netting = (typeof NETTINGS)[number];

export type CancelOrder = {
  kind: 'cancel';
  atMs: EpochMs;
  account: Uuid;
  orderId: Uuid;
  counting: TradeCounting | null;
};

/** Changes a waiting order. At least one of both is given. Rules T209 to T214 (engine/RULES.md). */
export type AmendOrder = {
  kind: 'amend';
  atMs: EpochMs;
  account: Uuid;
  orderId: Uuid;
  /** One for each change, among the keys of orders. */
  idempotencyKey: string;
  /** All of it, with what has traded; null: as it is. */
  contracts: Contracts | null;
  /** Null: as it is. */
  limitPriceCents: PriceCents | null;
  mayOpen: boolean;
  mayTrade: boolean;
  counting: TradeCounting | null;
};

/** Makes an order group. Rules T217, T219 (engine/RULES.md). */
export type MakeOrderGroup = {
  kind: 'make_order_group';
  atMs: EpochMs;
  account: Uuid;
  /** A new uuid v7 whose time is `atMs`. */
  group: Uuid;
  contractsLimit: Contracts;
  windowSeconds: number;
  /** Once it has reached its limit, it refuses orders until it is reset. Rule T202. */
  latches: boolean;
  /** Null: it counts towards no limit. */
  counting: TradeCounting | null;
};

/** Cancels the orders of a group, and removes it. Rule T222 (engine/RULES.md). */
export type RemoveOrderGroup = {
  kind: 'remove_order_group';
  atMs: EpochMs;
  account: Uuid;
  group: Uuid;
  counting: TradeCounting | null;
};

/** Changes a group, which latches from then on. Rules T202 to T204 (engine/RULES.md). */
export type ChangeOrderGroup = {
  kind: 'change_order_group';
  atMs: EpochMs;
  account: Uuid;
  group: Uuid;
  /** Its new limit; or it is triggered, or reset. */
  change: { contractsLimit: Contracts } | 'trigger' | 'reset';
  counting: TradeCounting | null;
};

/** Cancels resting orders of the account at once. Rules T130, T131 (engine/RULES.md). */
export type CancelAll = {
  kind: 'cancel_all';
  atMs: EpochMs;
  account: Uuid;
  /** Null: the orders on every instrument. */
  instrumentId: string | null;
  counting: TradeCounting | null;
};

/** A client's connection has ended: its resting orders do too. Rule T134 (engine/RULES.md). */
export type Disconnected = {
  kind: 'disconnected';
  atMs: EpochMs;
  account: Uuid;
  connection: StreamConnection;
};

/** These connections are open: orders of any other are canceled. Rule T135 (engine/RULES.md). */
export type Connected = {
  kind: 'connected';
  atMs: EpochMs;
  connections: readonly StreamConnection[];
};

/** One attempt for the hard trade limits of a key. */
export type TradingCommand =
  | PlaceOrder
  | AmendOrder
  | CancelOrder
  | CancelAll
  | MakeOrderGroup
  | ChangeOrderGroup
  | RemoveOrderGroup;

/** An operator's correction of an account's cash; shown as adjustmentsInRunDollars. */
export type AdjustCash = { kind: 'adjust'; atMs: EpochMs; account: Uuid; amountCents: Cents };

/** The owner starts again with the start balance. Rules M32, M33 (engine/RULES.md). */
export type ResetAccount = { kind: 'reset'; atMs: EpochMs; account: Uuid };

/** The control store's data about an account's owner. Rule M36 (engine/RULES.md). */
export type SetPrivacy = { kind: 'set_privacy'; atMs: EpochMs; account: Uuid; private: boolean };

/**
 * An operator's tag of a trade; it is added to the tags that the trade has. Every shard is asked,
 * because a trade's id names none. Rule T141 (engine/RULES.md).
 */
export type TagTrade = {
  kind: 'mark';
  atMs: EpochMs;
  trade: Uuid;
  /** For a trade that is over, which its id alone does not find. */
  account: Uuid | null;
  /** Null: the trade keeps its parlay. */
  parlay: Uuid | null;
  /** False: the trade keeps its value. */
  combine: boolean;
};

/** An operator's result. Rules T140, S20 (engine/RULES.md). */
export type SettleMarket = Omit<ResultTick, 'kind' | 'source'> & {
  kind: 'settle';
  /** The number of the correction, if it replaces the market's result; null: it does not. */
  correction: number | null;
};
/** The outcome of a settlement in one shard, or in all of them. */
export type Settled = {
  /** False: the market had this result already. */
  isNew: boolean;
  settledTrades: number;
  /** Trades that a result had settled, and that take another. */
  correctedTrades: number;
  canceledOrders: number;
};

/**
 * The current catalog, or what it changes in the one that the shard has. An instrument that a later
 * catalog drops keeps its number and label, but is no longer bought or quoted. Rule K62
 * (feeds/FORMATS.md).
 */
export type SetCatalog = { kind: 'catalog'; atMs: EpochMs } & (
  | { catalog: Catalog }
  | { change: CatalogChange }
);

/**
 * The operator's switches that answers depend on. They are not in the log and are sent at every
 * start.
 */
export type SetSwitches = {
  kind: 'switches';
  atMs: EpochMs;
  venueData: boolean;
  selfReset: boolean;
  /** An account has chosen another fill model than the server's. Rule T158 (engine/RULES.md). */
  followsBooks?: boolean;
};

/** The fee table of the catalog in use. Like switches, it is in no log. Rule F20 (feeds/FORMATS.md). */
export type SetFees = { kind: 'fees'; atMs: EpochMs; lines: readonly FeeEntry[] };

/** Sets the shard's time to `toMs`, even back. No other message sets time back. */
export type SetClock = { kind: 'clock'; atMs: EpochMs; toMs: EpochMs };

export type Command =
  | TradingCommand
  | Disconnected
  | Connected
  | AdjustCash
  | ResetAccount
  | SetPrivacy
  | TagTrade
  | SettleMarket
  | SetCatalog
  | SetSwitches
  | SetFees
  | SetClock;

/**
 * `body` is the JSON text of the answer, ready to send; a refusal names its rule. `limits`: for a
 * command with `counting`.
 */
export type Reply = { ok: true; body: string; limits?: TradeLimitsLeft } | Refusal;
export type Refusal = {
  ok: false;
  code: RejectionCode;
  message: string;
  retryAfterSeconds?: number;
  limits?: TradeLimitsLeft;
};
