/**
 * The memory of the naive model: plain objects in Maps and arrays, found again by scanning. It is
 * written to be right at a glance. No part is fast, and it shares only units, messages and the
 * terms of an order with the engine.
 */

import type {
  Cents,
  Contracts,
  EpochMs,
  FillModelName,
  GameStatus,
  Liquidity,
  MarketNumber,
  MarketStatus,
  PriceCents,
  Side,
  SourceNumber,
  Uuid,
  Venue,
} from '../../engine/base/units.ts';
import type {
  Catalog,
  CatalogGame,
  CatalogInstrument,
  CatalogListing,
} from '../../engine/rules/catalog-entries.ts';
import type { CancelReason } from '../../engine/rules/events.ts';
import type { FeeEntry } from '../../engine/rules/fees.ts';
import type { MarketResult } from '../../engine/rules/messages.ts';
import type { OrderTerms, TradeTerms } from '../../engine/rules/order-terms.ts';
import { shardOfAccount } from '../../engine/shard/callers/shard-of.ts';
import type { Ending, TradingOptions } from './trading-engine.ts';

export type ModelSource = { lastHeardMs: EpochMs; timesDown: number };

export type ModelQuote = {
  atMs: EpochMs;
  source: SourceNumber;
  /** `timesDown` of the source when the quote came: a later loss makes the quote worthless. */
  timesDownThen: number;
  yesBidCents: PriceCents | null;
  yesBidContracts: Contracts;
  yesAskCents: PriceCents | null;
  yesAskContracts: Contracts;
  crossed: boolean;
  /** Displayed levels, as far as quotes state them. */
  bids: Level[];
  asks: Level[];
};

export type Level = {
  yesCents: PriceCents;
  contracts: Contracts;
  /** The sizes that fills took of it: of an account, or of all that share sizes. */
  takenBy: { taker: Taker; contracts: Contracts }[];
};

/** T65, T164: whose fills count together. */
export type Taker = Uuid | 'all that share';

export function takerOf(order: { account: Uuid; liquidity: Liquidity }): Taker {
  return order.liquidity === 'market' ? 'all that share' : order.account;
}

export type LastTrade = { priceCents: PriceCents | null; atMs: EpochMs };

export type ModelMarket = {
  status: MarketStatus;
  /**
   * Its venue's messages about its closing, the first first: a time, or that it announces the
   * closing itself.
   */
  closings: (EpochMs | 'by its status')[];
  result: MarketResult | null;
  corrections: number;
  quote: ModelQuote | null;
  /** T233: by book and price, the last display that orders took from that share sizes. */
  shared: Map<string, { contracts: Contracts; taken: Contracts }>;
  /** T233: no level was displayed since the start. */
  isNew: boolean;
  /** Price of the market's yes, then the price of each outcome when that outcome was bought. */
  lastTrade: LastTrade | null;
  lastTradeOf: { yes: LastTrade | null; no: LastTrade | null };
  /** Its book level by level, as bids in the venue's precision; null: nobody ever told it. */
  levels: ModelLevels | null;
};

type ModelLevels = {
  source: SourceNumber;
  timesDownThen: number;
  isKnown: boolean;
  bids: Record<Side, Map<number, number>>;
};

export type ModelAccount = {
  id: Uuid;
  balanceCents: Cents;
  adjustmentsCents: Cents;
  /** Of this run, and of earlier ones. */
  realizedCents: Cents;
  earlierRunsCents: Cents;
  resetsAtMs: EpochMs[];
  runStartedAtMs: EpochMs;
  busts: number;
  bustCountedInRun: boolean;
  /** A corrected result took more than it had. */
  mayOwe: boolean;
  /** When its newest trade opened, and the 26 bits after that time in its id. */
  lastTrade: { atMs: EpochMs; place: number } | null;
  keys: Map<string, { orderId: Uuid; fingerprint: string }>;
};

/** A cap on what its orders trade within a window. */
export type ModelGroup = {
  id: Uuid;
  account: Uuid;
  contractsLimit: Contracts;
  windowSeconds: number;
  latches: boolean;
  isTriggered: boolean;
};

/** Where an order is in its queue; sizes in hundredths of a contract. */
export type QueuePlace = {
  ahead: number;
  part: number;
  /** Its priority when it joined: after a change it is in another queue. */
  turn: number;
};

/** What an order was asked to net, and how much of its rest closes the other side. */
export type ModelNetting = { opens: boolean; asked: Contracts; closes: Contracts };

export type ModelOrder = OrderTerms & {
  /** Place in the order of acceptance, over all accounts. */
  sequence: number;
  /** Place in the order of meeting the book. */
  priority: number;
  id: Uuid;
  account: Uuid;
  idempotencyKey: string;
  instrumentId: string;
  instrumentSide: Side;
  market: MarketNumber;
  marketSide: Side;
  contracts: Contracts;
  createdAtMs: EpochMs;
  status: 'resting' | 'executed' | 'canceled' | 'expired';
  cancelReason: CancelReason | null;
  /** Null while it rests. */
  endedAtMs: EpochMs | null;
  /**
   * sell: the position it sells. buy: the trade it opened, null until then. Of one that nets, null
   * until it ends: then its last trade.
   */
  tradeId: Uuid | null;
  netting: ModelNetting | null;
  /** The trade that it has opened last, of one that nets. */
  opened: Uuid | null;
  fills: {
    contracts: Contracts;
    priceCents: PriceCents;
    cents: Cents;
    /** Null: it pays none. */
    feeCents: Cents | null;
    venue: Venue;
  }[];
  postOnly: boolean;
  groupId: Uuid | null;
  feesOn: boolean;
  /** For each contract of a resting buy, in millionths of a dollar. */
  eachMicros: number;
  /** The fees of venues that charge less than a cent, and what was charged for them. */
  owedMicros: number;
  chargedCents: Cents;
  fillModel: FillModelName;
  liquidity: Liquidity;
  latencyMs: number;
  /** When it meets the book, and when its cancel does; null: it has, or there is none. */
  arrivesAtMs: EpochMs | null;
  cancelsAtMs: EpochMs | null;
  /** Its place, and the last one that was noted; null: it is in no queue. */
  queue: QueuePlace | null;
  noted: QueuePlace | null;
};

export type ModelTrade = TradeTerms & {
  id: Uuid;
  account: Uuid;
  instrumentId: string;
  instrumentSide: Side;
  market: MarketNumber;
  boughtSide: Side;
  /** Held now, and their cost. */
  contracts: Contracts;
  costCents: Cents;
  /** Held no more: their cost, and their proceeds. */
  lots: { contracts: Contracts; costCents: Cents; proceedsCents: Cents }[];
  /** Null: none of its orders pays any. */
  feesCents: Cents | null;
  fillVenue: Venue;
  openedAtMs: EpochMs;
  parlay: Uuid | null;
  combine: boolean;
  fillModel: FillModelName;
  status: 'open' | 'closed' | 'settled' | 'void' | 'reset';
  closedAtMs: EpochMs | null;
  closeReason: 'sold' | 'settled' | 'voided' | 'account_reset' | null;
  resolvedOutcome: Side | null;
  /** For a trade that a result has settled: the earlier resets of its account. */
  resetsBefore: number;
};

export type ModelState = {
  /** How many were given. */
  priorities: number;
  /** T158: an account has chosen another model than the server's. */
  followsBooks: boolean;
  options: TradingOptions;
  nowMs: EpochMs;
  venueData: boolean;
  selfReset: boolean;
  marketNames: string[];
  instrumentIds: string[];
  fees: readonly FeeEntry[];
  games: Map<string, CatalogGame>;
  /** By game slug, the venues' statuses; they outrank the catalog's status. */
  gameStatus: Map<string, GameStatus>;
  instruments: Map<string, CatalogInstrument>;
  /** Ids of the newest catalog: only these are quoted and bought. */
  listed: Set<string>;
  sources: Map<SourceNumber, ModelSource>;
  markets: Map<MarketNumber, ModelMarket>;
  accounts: Map<Uuid, ModelAccount>;
  orders: Map<Uuid, ModelOrder>;
  /** The resting ones of `orders`, first placed first. */
  resting: ModelOrder[];
  trades: Map<Uuid, ModelTrade>;
  endings: Ending[];
  groups: ModelGroup[];
  /** Every fill of an order of a group. */
  groupFills: { group: Uuid; atMs: EpochMs; contracts: Contracts }[];
  /** Every attempt to trade that was counted. */
  attempts: Attempt[];
  /** What decreases took from what is ahead of orders. */
  taken: {
    source: SourceNumber;
    decrease: number;
    atMs: EpochMs;
    order: Uuid;
    turn: number;
    contracts: number;
  }[];
};

export type Attempt = { id: Uuid; atMs: EpochMs; closing: boolean };

export function emptyState(options: TradingOptions): ModelState {
  return {
    priorities: 0,
    followsBooks: false,
    options,
    nowMs: 0,
    venueData: false,
    selfReset: false,
    marketNames: [],
    instrumentIds: [],
    fees: [],
    games: new Map(),
    gameStatus: new Map(),
    instruments: new Map(),
    listed: new Set(),
    sources: new Map(),
    markets: new Map(),
    accounts: new Map(),
    orders: new Map(),
    resting: [],
    trades: new Map(),
    endings: [],
    groups: [],
    groupFills: [],
    attempts: [],
    taken: [],
  };
}

/**
 * Quotes, trades, statuses and switches live in memory alone: after a start they are sent again.
 */
export function forgetLive(state: ModelState): void {
  state.venueData = false;
  state.selfReset = false;
  state.followsBooks = false;
  state.sources.clear();
  for (const market of state.markets.values()) {
    market.status = 'open';
    market.closings = [];
    market.isNew = true;
    market.quote = null;
    market.levels = null;
    market.lastTrade = null;
    market.lastTradeOf = { yes: null, no: null };
  }
}

/**
 * Adds and replaces. Entries that only an earlier catalog named stay known, but are bought no more.
 */
export function learnCatalog(state: ModelState, catalog: Catalog): void {
  state.marketNames = [...catalog.marketNames];
  state.instrumentIds = [...catalog.instrumentIds];
  for (const game of catalog.games) state.games.set(game.slug, game);
  for (const instrument of catalog.instruments) state.instruments.set(instrument.id, instrument);
  state.listed = new Set(catalog.instruments.map(({ id }) => id));
}

/** Callers may name what is listed, and a dropped instrument whose market has a result. */
export function isKnown(state: ModelState, { id, listings }: CatalogInstrument): boolean {
  if (state.listed.has(id)) return true;
  return listings.some((listing) => {
    const market = marketNumberOfListing(state, listing);
    return market !== null && marketOf(state, market).result !== null;
  });
}

/** Displayed sizes count: one fill may leave less for the next. */
export function sharesSizes({ options, followsBooks }: ModelState): boolean {
  return followsBooks || (options.fillModel ?? 'top_of_book') !== 'top_of_book';
}

/** T66, T230: which of two orders of different shards is first; 0: they are of one shard. */
export function byShard({ options }: ModelState, a: ModelOrder, b: ModelOrder): number {
  const { shards = 1 } = options;
  return shardOfAccount(a.account, shards) - shardOfAccount(b.account, shards);
}

/** The market, made on first mention: open, without a quote. */
export function marketOf(state: ModelState, market: MarketNumber): ModelMarket {
  let found = state.markets.get(market);
  if (found === undefined) {
    found = {
      status: 'open',
      closings: [],
      result: null,
      corrections: 0,
      quote: null,
      shared: new Map(),
      isNew: true,
      levels: null,
      lastTrade: null,
      lastTradeOf: { yes: null, no: null },
    };
    state.markets.set(market, found);
  }
  return found;
}

/** Number of a listing's market, or null if the catalog numbers no such market. */
export function marketNumberOf(
  state: ModelState,
  venue: Venue,
  venueMarketId: string,
): MarketNumber | null {
  const at = state.marketNames.indexOf(`${venue}/${venueMarketId}`);
  return at === -1 ? null : at;
}

export function marketNumberOfListing(
  state: ModelState,
  listing: CatalogListing,
): MarketNumber | null {
  return marketNumberOf(state, listing.venue, listing.venueMarketId);
}

export function instrumentOf(state: ModelState, id: string): CatalogInstrument {
  const instrument = state.instruments.get(id);
  if (instrument === undefined) throw new Error(`the model lost instrument ${id}`);
  return instrument;
}

/** Whether the opening time of an instrument, if it has one, has passed. */
export function hasOpened(state: ModelState, id: string, nowMs: EpochMs): boolean {
  const { opensAt } = instrumentOf(state, id);
  return opensAt === null || Date.parse(opensAt) <= nowMs;
}

/**
 * Whether a market has closed: by its venue's last word, else by the catalog's time, else by
 * dropped instruments.
 */
export function hasClosed(state: ModelState, number: MarketNumber, nowMs: EpochMs): boolean {
  const said = marketOf(state, number).closings.at(-1);
  if (said !== undefined) return said !== 'by its status' && said <= nowMs;
  const listing = [...state.instruments.values()].filter(({ listings }) =>
    listings.some((one) => marketNumberOfListing(state, one) === number),
  );
  const listed = listing.filter(({ id }) => state.listed.has(id));
  const counted = listed.length > 0 ? listed : listing;
  return counted.some(({ closesAt }) => closesAt !== undefined && Date.parse(closesAt) <= nowMs);
}

export function accountOf(state: ModelState, id: Uuid): ModelAccount {
  const account = state.accounts.get(id);
  if (account === undefined) throw new Error(`the model lost account ${id}`);
  return account;
}

export function ordersOf(state: ModelState, account: Uuid): ModelOrder[] {
  return ofAccount(state.orders.values(), account);
}

export function tradesOf(state: ModelState, account: Uuid): ModelTrade[] {
  return ofAccount(state.trades.values(), account);
}

/** Without a copy of all rows: it is asked many times in each step. */
function ofAccount<R extends { account: Uuid }>(rows: Iterable<R>, account: Uuid): R[] {
  const found: R[] = [];
  for (const row of rows) if (row.account === account) found.push(row);
  return found;
}

export function openTradesOf(state: ModelState, account: Uuid): ModelTrade[] {
  return tradesOf(state, account).filter((trade) => trade.status === 'open');
}

export function restingOf(state: ModelState, account: Uuid): ModelOrder[] {
  return state.resting.filter((order) => order.account === account);
}

/** Whether it can be asked for: a market order that met the book at once is a fill. T161. */
export function isAsked(order: ModelOrder): boolean {
  return typeOf(order) === 'limit' || order.latencyMs > 0 || order.netting !== null;
}

export function typeOf({ limitPriceCents }: ModelOrder): 'market' | 'limit' {
  return limitPriceCents === null ? 'market' : 'limit';
}

/** A copy with these fields alone. */
export function pick<T, K extends keyof T>(from: T, names: readonly K[]): Pick<T, K> {
  return Object.fromEntries(names.map((name) => [name, from[name]])) as Pick<T, K>;
}

/** Whether a fill may have the price of this listing. T80. */
export function isRoutable({ venue, reviewed, fungibility }: CatalogListing): boolean {
  return (venue === 'venue_b' || venue === 'venue_c') && reviewed && fungibility === 'exact';
}

export function routableMarkets(
  state: ModelState,
  { instrumentId }: { instrumentId: string },
): MarketNumber[] {
  const listings = instrumentOf(state, instrumentId).listings.filter(isRoutable);
  return listings.map((listing) => marketNumberOfListing(state, listing)!);
}

/** The most that a contract of a buy can cost. T161. */
export function dearestCentsOf({
  limitPriceCents,
  boundPriceCents,
}: Pick<ModelOrder, 'limitPriceCents' | 'boundPriceCents'>): PriceCents {
  return limitPriceCents ?? boundPriceCents ?? 99;
}
