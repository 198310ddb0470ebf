/**
 * The naive model of the engine: same ticks, commands and queries, same answers, written to be
 * obviously right. The engine proper is tested against it (test/README.md).
 */

import {
  type Cents,
  type Contracts,
  type EpochMs,
  HOME_VENUE,
  NO_PRICE,
  type PriceCents,
  type Side,
  type SourceNumber,
  START_BALANCE_CENTS,
  type Uuid,
} from '../../engine/base/units.ts';
import type { CatalogInstrument } from '../../engine/rules/catalog-entries.ts';
import type { Command, QuoteTick, Reply, Tick } from '../../engine/rules/messages.ts';
import type { RejectionCode } from '../../engine/rules/rejections.ts';
import { amend, amendCloses } from './naive-amend.ts';
import { book } from './naive-book.ts';
import { mayAdjust, roomCentsBeside, roomCentsOf } from './naive-bounds.ts';
import { booksOf, rememberShared, rememberTaken } from './naive-depth.ts';
import { changeGroup, groupList, makeGroup, removeGroup } from './naive-groups.ts';
import {
  correctMarket,
  countBust,
  end,
  expireOrders,
  holdCentsOf,
  settleMarket,
  UNCHANGED,
} from './naive-ledger.ts';
import { countOrRefuse, keyUse, limitsLeft } from './naive-limits.ts';
import { matchResting } from './naive-matching.ts';
import {
  arrive,
  cancel,
  cancelAll,
  cancelDisconnected,
  cancelOne,
  place,
  refuse,
} from './naive-orders.ts';
import { preview } from './naive-preview.ts';
import { accountAlone, oneOrder, orderList, portfolio, tradeList } from './naive-queries.ts';
import { forgetMoves, noteMoves, takeLevels } from './naive-queue.ts';
import { liveBids, pricedBits, quote } from './naive-quote.ts';
import { mark, reset } from './naive-reset.ts';
import {
  emptyState,
  forgetLive,
  learnCatalog,
  type ModelAccount,
  type ModelOrder,
  type ModelSource,
  type ModelState,
  type ModelTrade,
  marketNumberOfListing,
  marketOf,
  openTradesOf,
  ordersOf,
  typeOf,
} from './naive-state.ts';
import { answer, realizedCentsOf } from './naive-views.ts';
import type { TradingEngine, TradingOptions, UserQuery } from './trading-engine.ts';

export interface NaiveEngine extends TradingEngine {
  /** Each list sorted by id. */
  digest(): Digest;
  openTradeIds(account: Uuid): Uuid[];
  /** What those trades are of, in the instrument's terms. */
  openSides(account: Uuid): { instrumentId: string; side: Side; contracts: Contracts }[];
  /** Of one type or of both, first placed first. */
  orderIds(account: Uuid, type?: 'market' | 'limit'): Uuid[];
  /** Spendable cash; the start balance of an account that is not open yet. */
  spendableCents(account: Uuid): Cents;
}

/** A model that can be brought to where a crash has left the engine. */
export type NaiveModel = NaiveEngine & {
  /** A copy of everything, for `load` to return to. */
  save(): ModelState;
  load(saved: ModelState): void;
  /** Loses the state that a stop loses. */
  restart(): void;
  /** Loses what a crash loses of the places in queues. */
  forgetMoves(): void;
  /** Notes the places in queues, as a shard that ends. */
  noteMoves(): void;
};

type Digest = {
  accounts: unknown[];
  restingOrders: unknown[];
  openPositions: unknown[];
  finishedOrders: unknown[];
  finishedTrades: unknown[];
};

export function createNaiveEngine(options: TradingOptions): NaiveModel {
  let state = emptyState(options);
  return {
    save: () => structuredClone(state),
    load: (saved) => {
      state = structuredClone(saved);
    },
    restart: () => {
      forgetLive(state);
      forgetMoves(state);
    },
    forgetMoves: () => forgetMoves(state),
    noteMoves: () => noteMoves(state),
    tick: (tick) => applyTick(state, tick),
    command: (command) => {
      advanceTo(state, command.atMs);
      const closes = command.kind === 'amend' ? amendCloses(state, command) : null;
      const reply = applyCommand(state, command);
      const limits = 'counting' in command ? limitsLeft(state, command, closes) : null;
      return limits === null ? reply : { ...reply, limits };
    },
    query: (query) => answerQuery(state, query),
    conservation: () => problemsOf(state),
    digest: () => digestOf(state),
    endings: () => [...state.endings],
    openTradeIds: (account) => openTradesOf(state, account).map((trade) => trade.id),
    openSides: (account) =>
      openTradesOf(state, account).map(({ instrumentId, instrumentSide: side, contracts }) => {
        return { instrumentId, side, contracts };
      }),
    orderIds: (account, type) =>
      ordersOf(state, account)
        .filter((order) => type === undefined || typeOf(order) === type)
        .map((order) => order.id),
    roomCents: (account) => Number(roomCentsOf(state, account)),
    spendableCents: (account) => state.accounts.get(account)?.balanceCents ?? START_BALANCE_CENTS,
  };
}

function applyTick(state: ModelState, tick: Tick): void {
  advanceTo(state, tick.atMs);
  const isHeard = tick.kind !== 'time' && tick.kind !== 'down';
  const revived = isHeard ? marketsRevivedBy(state, tick.source, tick.atMs) : [];
  switch (tick.kind) {
    case 'quote':
      takeQuote(state, tick);
      matchResting(state, [...revived, tick.market]);
      return;
    case 'status': {
      const market = marketOf(state, tick.market);
      market.status = tick.status;
      const said = market.closings.at(-1);
      const isOver = typeof said === 'number' && tick.status === 'open' && said <= tick.atMs;
      if (said === undefined || isOver) market.closings.push('by its status');
      matchResting(state, [...revived, tick.market]);
      return;
    }
    case 'closing':
      marketOf(state, tick.market).closings.push(tick.closesAtMs ?? 'by its status');
      matchResting(state, [...revived, tick.market]);
      return;
    case 'trade': {
      const market = marketOf(state, tick.market);
      const yesCents = priceOrNull(tick.yesPriceCents);
      const sideCents = yesCents === null || tick.side === 'yes' ? yesCents : 100 - yesCents;
      market.lastTrade = { priceCents: yesCents, atMs: tick.atMs };
      market.lastTradeOf[tick.side] = { priceCents: sideCents, atMs: tick.atMs };
      break;
    }
    case 'result':
      settleMarket(state, tick.market, tick);
      break;
    case 'game':
      state.gameStatus.set(tick.game, tick.status);
      if (tick.status === 'cancelled') voidGame(state, tick.game);
      break;
    case 'level':
    case 'print':
    case 'levels':
      takeLevels(state, tick);
      break;
    case 'down':
      sourceOf(state, tick.source).timesDown += 1;
      state.taken = state.taken.filter(({ source }) => source !== tick.source);
      return;
    case 'heartbeat':
    case 'time':
      break;
  }
  matchResting(state, revived);
}

function applyCommand(state: ModelState, command: Command): Reply {
  advanceTo(state, command.atMs);
  switch (command.kind) {
    case 'place':
      return place(state, command);
    case 'amend':
      return amend(state, command);
    case 'make_order_group':
      return replyOf(makeGroup(state, command));
    case 'change_order_group': {
      const limited = countOrRefuse(state, command, true);
      return limited ?? replyOf(changeGroup(state, command));
    }
    case 'remove_order_group': {
      const limited = countOrRefuse(state, command, true);
      if (limited !== null) return limited;
      return replyOf(removeGroup(state, command, (order) => cancelOne(state, order)));
    }
    case 'cancel':
      return cancel(state, command);
    case 'cancel_all':
      return cancelAll(state, command);
    case 'disconnected':
    case 'connected':
      return cancelDisconnected(state, command);
    case 'adjust': {
      const account = state.accounts.get(command.account);
      if (account === undefined) return refuse('account_not_found');
      if (!mayAdjust(state, account.id, command.amountCents)) return refuse('invalid_request');
      const takes = command.amountCents < 0;
      if (takes && account.balanceCents + command.amountCents < 0) {
        return refuse('insufficient_balance');
      }
      account.balanceCents += command.amountCents;
      account.adjustmentsCents += command.amountCents;
      countBust(state, account.id);
      return answer({
        balanceDollars: account.balanceCents / 100,
        adjustmentsInRunDollars: account.adjustmentsCents / 100,
      });
    }
    case 'reset':
      return reset(state, command);
    case 'set_privacy':
      return answer({});
    case 'mark':
      return mark(state, command);
    case 'settle': {
      const { outcome, yesPayoutCents, noPayoutCents } = command;
      const result = { outcome, yesPayoutCents, noPayoutCents };
      const market = marketOf(state, command.market);
      const known = market.result;
      const isOther = known !== null && JSON.stringify(known) !== JSON.stringify(result);
      if (command.correction !== null) {
        if (known === null) return refuse('invalid_request');
        if (!isOther || command.correction <= market.corrections) return answer(UNCHANGED);
        const corrected = correctMarket(state, command.market, result, (account, cents) => {
          return BigInt(cents) <= roomCentsOf(state, account);
        });
        if (corrected === null) return refuse('invalid_request');
        market.corrections = command.correction;
        return answer(corrected);
      }
      if (isOther) return refuse('market_resolved');
      return answer(settleMarket(state, command.market, result));
    }
    case 'catalog':
      if (!('catalog' in command)) throw new Error('the model takes whole catalogs alone');
      learnCatalog(state, command.catalog);
      for (const { slug, status } of command.catalog.games) {
        if ((state.gameStatus.get(slug) ?? status) === 'cancelled') voidGame(state, slug);
      }
      // An order that was filled in part rests last.
      for (const order of state.resting.toSorted((a, b) => a.sequence - b.sequence)) {
        if (order.action === 'sell' || state.listed.has(order.instrumentId)) continue;
        end(state, order, 'canceled', 'instrument_dropped');
      }
      return answer({});
    case 'fees':
      state.fees = command.lines;
      return answer({});
    case 'switches':
      state.venueData = command.venueData;
      state.selfReset = command.selfReset;
      if (command.followsBooks === true) state.followsBooks = true;
      return answer({});
    case 'clock':
      setClockBack(state, state.nowMs - command.toMs);
      return answer({});
  }
}

function replyOf(answered: Reply | RejectionCode): Reply {
  return typeof answered === 'string' ? refuse(answered) : answered;
}

/** Data of an earlier time keeps its age. */
function setClockBack(state: ModelState, byMs: number): void {
  if (byMs <= 0) return;
  state.nowMs -= byMs;
  state.attempts = [];
  state.groupFills = [];
  for (const order of state.resting) {
    const latestMs = state.nowMs + order.latencyMs;
    if (order.arrivesAtMs !== null) order.arrivesAtMs = Math.min(order.arrivesAtMs, latestMs);
    if (order.cancelsAtMs !== null) order.cancelsAtMs = Math.min(order.cancelsAtMs, latestMs);
  }
  for (const source of state.sources.values()) source.lastHeardMs -= byMs;
  for (const { quote, lastTrade, lastTradeOf } of state.markets.values()) {
    // The last trade of a side may be the last trade itself.
    const said = new Set([quote, lastTrade, lastTradeOf.yes, lastTradeOf.no]);
    for (const one of said) if (one !== null) one.atMs -= byMs;
  }
}

function answerQuery(state: ModelState, query: UserQuery): Reply {
  const nowMs = Math.max(state.nowMs, query.atMs);
  switch (query.kind) {
    case 'portfolio':
      return portfolio(state, query, nowMs);
    case 'account':
      return accountAlone(state, query, nowMs);
    case 'order':
      return oneOrder(state, query);
    case 'orders':
      return orderList(state, query);
    case 'trades':
      return tradeList(state, query);
    case 'order_groups':
      return groupList(state, query, nowMs);
    case 'preview':
      return preview(state, query, nowMs);
    case 'instrument_quote':
      return quote(state, query, nowMs);
    case 'book':
      return book(state, query, nowMs);
    case 'priced':
      return answer({ priced: pricedBits(state, query.instruments, nowMs) });
    case 'market_results':
      return answer({ results: query.markets.map((market) => marketOf(state, market).result) });
    case 'bids':
      return answer({ bids: liveBids(state, query.markets, nowMs) });
    case 'key_use':
      return answer(keyUse(state, query.keyId, nowMs));
  }
}

/** Time never goes back. Its consequences precede all others. */
function advanceTo(state: ModelState, atMs: EpochMs): void {
  const nowMs = Math.max(state.nowMs, atMs);
  for (;;) {
    const next = windowsOf(state).toSorted((a, b) => a.endMs - b.endMs)[0];
    if (next === undefined || next.endMs >= nowMs) break;
    const voidMs = Math.max(next.endMs + 1, state.nowMs);
    meetBook(state, voidMs);
    expireOrders(state, voidMs);
    state.nowMs = voidMs;
    voidInstrument(state, next.instrument);
  }
  meetBook(state, nowMs);
  state.nowMs = nowMs;
  expireOrders(state, nowMs);
}

/** T160: what fell due before a moment meets the book, the earliest first, orders before cancels. */
function meetBook(state: ModelState, beforeMs: EpochMs): void {
  for (;;) {
    const due = state.resting
      .flatMap((order) => [
        { order, atMs: order.arrivesAtMs ?? Number.POSITIVE_INFINITY, isCancel: 0 },
        { order, atMs: order.cancelsAtMs ?? Number.POSITIVE_INFINITY, isCancel: 1 },
      ])
      .sort((a, b) => {
        const byTime = a.atMs - b.atMs || a.isCancel - b.isCancel;
        return byTime || a.order.sequence - b.order.sequence;
      })[0];
    if (due === undefined || due.atMs >= beforeMs) return;
    state.nowMs = Math.max(state.nowMs, due.atMs);
    expireOrders(state, due.atMs);
    if (due.order.status !== 'resting') continue;
    if (due.isCancel === 1) end(state, due.order, 'canceled', 'canceled_by_owner');
    else arrive(state, due.order);
  }
}

/** Of instruments of postponed games that have no result. Rule S14 (engine/RULES.md). */
function windowsOf(state: ModelState) {
  return [...state.instruments.values()].flatMap((instrument) => {
    const { gameSlug, startsAt, postponementWindowHours: hours, listings } = instrument;
    const isOpen = listings.some((listing) => {
      const number = listing.venue === HOME_VENUE ? marketNumberOfListing(state, listing) : null;
      return number !== null && marketOf(state, number).result === null;
    });
    const slug = gameSlug ?? '';
    const known = state.gameStatus.get(slug) ?? state.games.get(slug)?.status;
    if (known !== 'postponed' || startsAt === null || hours === null || !isOpen) return [];
    return [{ instrument, endMs: Date.parse(startsAt) + hours * 3_600_000 }];
  });
}

function sourceOf(state: ModelState, number: SourceNumber): ModelSource {
  let source = state.sources.get(number);
  if (source === undefined) {
    source = { lastHeardMs: 0, timesDown: 0 };
    state.sources.set(number, source);
  }
  return source;
}

/** Notes a frame of the source. Markets that were stale by its silence may be live again. */
function marketsRevivedBy(state: ModelState, number: SourceNumber, atMs: EpochMs): number[] {
  const source = sourceOf(state, number);
  const isStale = () => state.nowMs - source.lastHeardMs > state.options.quoteMaxAgeMs;
  const wasStale = isStale();
  source.lastHeardMs = Math.max(source.lastHeardMs, atMs);
  if (!wasStale || isStale()) return [];
  return [...state.markets]
    .filter(([, market]) => market.quote?.source === number)
    .map(([market]) => market);
}

function takeQuote(state: ModelState, tick: QuoteTick): void {
  const market = marketOf(state, tick.market);
  const last = market.quote;
  market.quote = {
    atMs: tick.atMs,
    source: tick.source,
    timesDownThen: sourceOf(state, tick.source).timesDown,
    yesBidCents: priceOrNull(tick.yesBidCents),
    yesBidContracts: tick.yesBidContracts,
    yesAskCents: priceOrNull(tick.yesAskCents),
    yesAskContracts: tick.yesAskContracts,
    crossed: tick.crossed,
    ...booksOf(tick, last),
  };
  rememberTaken(market.quote, last);
  if (market.isNew) rememberShared(market, market.quote);
  if (market.quote.bids.length + market.quote.asks.length > 0) market.isNew = false;
}

/** A cancelled game voids its markets without a result. Rule S7 (engine/RULES.md). */
function voidGame(state: ModelState, slug: string): void {
  for (const instrument of state.instruments.values()) {
    if (instrument.gameSlug === slug) voidInstrument(state, instrument);
  }
}

function voidInstrument(state: ModelState, { listings }: CatalogInstrument): void {
  for (const listing of listings) {
    if (listing.venue !== HOME_VENUE) continue;
    const number = marketNumberOfListing(state, listing);
    if (number === null) continue;
    settleMarket(state, number, { outcome: 'void', yesPayoutCents: 0, noPayoutCents: 0 });
  }
}

function priceOrNull(cents: PriceCents): PriceCents | null {
  return cents === NO_PRICE ? null : cents;
}

/** Asked after each step: it looks through all trades once, whatever the number of accounts. */
function problemsOf(state: ModelState): string[] {
  const tradesOfAll = Map.groupBy(state.trades.values(), ({ account }) => account);
  const restingOfAll = Map.groupBy(state.resting, ({ account }) => account);
  return [...state.accounts.values()].flatMap((account) => {
    const { id } = account;
    return problemsOfAccount(state, account, tradesOfAll.get(id) ?? [], restingOfAll.get(id) ?? []);
  });
}

function problemsOfAccount(
  state: ModelState,
  account: ModelAccount,
  trades: readonly ModelTrade[],
  resting: readonly ModelOrder[],
): string[] {
  const openTrades = trades.filter(({ status }) => status === 'open');
  const held = resting.reduce((total, order) => total + holdCentsOf(order), 0);
  const open = openTrades.reduce((total, trade) => total + trade.costCents, 0);
  const realized = trades.reduce((total, trade) => total + realizedCentsOf(trade), 0);
  const working = resting.flatMap((order) => order.tradeId ?? []);
  const had = START_BALANCE_CENTS + account.adjustmentsCents + account.realizedCents;
  const has = account.balanceCents + held + open;
  const problems: [boolean, string][] = [
    [had !== has, `start + adjustments + realized is ${had}, balance + held + open is ${has}`],
    [
      realized !== account.earlierRunsCents + account.realizedCents,
      `trades realized ${realized}, not as the account says`,
    ],
    [!Number.isSafeInteger(account.balanceCents), 'the balance is not in whole cents'],
    [!Number.isSafeInteger(account.realizedCents), 'what it realized is not in whole cents'],
    [
      roomCentsBeside(account, { open: openTrades, resting }) < 0n,
      'it could be paid more than can be counted',
    ],
    [account.balanceCents < 0 && !account.mayOwe, `the balance is ${account.balanceCents}`],
    [new Set(working).size !== working.length, 'two resting orders of one position'],
    [working.some((trade) => !isOpen(state, trade)), 'a resting order of a closed trade'],
  ];
  return problems.filter(([broken]) => broken).map(([, text]) => `account ${account.id}: ${text}`);
}

function isOpen(state: ModelState, tradeId: Uuid): boolean {
  const trade = state.trades.get(tradeId)!;
  return trade.status === 'open' && trade.contracts > 0;
}

function digestOf(state: ModelState): Digest {
  const accounts = [...state.accounts.values()].map(({ keys: _keys, ...account }) => account);
  const orders = [...state.orders.values()].map(
    ({ sequence: _sequence, priority: ___, queue: _, noted: __, ...order }) => order,
  );
  const trades = [...state.trades.values()].map((trade) => ({ ...trade }));
  return {
    accounts: byId(accounts),
    restingOrders: byId(orders.filter((order) => order.status === 'resting')),
    openPositions: byId(trades.filter((trade) => trade.status === 'open')),
    finishedOrders: byId(orders.filter((order) => order.status !== 'resting')),
    finishedTrades: byId(trades.filter((trade) => trade.status !== 'open')),
  };
}

function byId<R extends { id: Uuid }>(rows: R[]): R[] {
  return rows.sort((a, b) => (a.id < b.id ? -1 : 1));
}
