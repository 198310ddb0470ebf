/**
 * Applies the messages of venues (ticks). Live quotes change in place. Fills, settlements and
 * expiries that follow are events. Rules T12 to T17, T45, T46, T121, T122, T124, T128, T143, S1 to S10
 * (engine/RULES.md).
 */

import { invariant } from '../base/invariant.ts';
import {
  type EpochMs,
  type MarketNumber,
  NO_ROW,
  type OrderRow,
  PAYOUT_CENTS,
  type PriceCents,
  type SourceNumber,
} from '../base/units.ts';
import { meetBefore } from './arrivals.ts';
import { venueClosingMs } from './closing.ts';
import type { OrderEnded } from './events.ts';
import { emit } from './evolve.ts';
import type { FactSink } from './fact-sink.ts';
import { fillMarkets } from './fill-resting.ts';
import { isBuy } from './flags.ts';
import type { ClosingTick, GameTick, QuoteTick, StatusTick, Tick, TradeTick } from './messages.ts';
import { nextVoidMs, voidPostponed } from './postponements.ts';
import { complement, isFresh } from './pricing.ts';
import { followLevels, showLevels } from './queue-fills.ts';
import { showQuote } from './quote-top.ts';
import type { LastTrade, Market, Source } from './reference-data.ts';
import { settle, settleAccount, voidGame } from './settle-markets.ts';
import type { ShardState } from './state.ts';

/** Applies one tick and every event that follows from it; appends their facts to `facts`. */
export function applyTick(state: ShardState, tick: Tick, facts: FactSink): void {
  const atMs = advance(state, tick.atMs, facts);
  if (tick.kind === 'time') return;
  if (tick.kind === 'down') {
    sourceOf(state, tick.source).epoch++;
    state.fillModel.queues?.levels.forget(tick.source, atMs);
    return;
  }
  const revived = recordHeartbeat(state, tick);
  switch (tick.kind) {
    case 'quote':
      setQuote(state, tick);
      fillMarkets(state, withRevived(state.markets[tick.market]!, revived), atMs, facts);
      return;
    case 'trade':
      setLastTrade(state, tick);
      break;
    case 'level':
    case 'print':
    case 'levels':
      if (state.fillModel.queues !== null) {
        followLevels(state, state.fillModel.queues, tick, atMs, facts);
      }
      break;
    case 'status':
    case 'closing': {
      const market = marketOf(state, tick.market);
      setState(market, tick);
      fillMarkets(state, withRevived(market, revived), atMs, facts);
      return;
    }
    case 'result':
      settle(state, { ...tick, atMs, source: 'venue_result' }, facts);
      break;
    case 'game':
      setGame(state, { ...tick, atMs }, facts);
      break;
    case 'heartbeat':
      break;
    default:
      tick satisfies never;
  }
  // Only after the tick itself: the quote that it replaces must not fill an order.
  if (revived.length > 0) fillMarkets(state, revived, atMs, facts);
}

/**
 * Applies a tick so that it is shown, without events, for a shard that cannot write now. The same
 * tick is sent again later, and then leads to its events. Rule D8 (engine/RULES.md).
 */
export function showQuotes(state: ShardState, tick: Tick): void {
  if (tick.kind === 'time') return;
  const source = sourceOf(state, tick.source);
  if (tick.kind === 'down') {
    source.epoch++;
    return;
  }
  source.lastHeardMs = Math.max(source.lastHeardMs, tick.atMs);
  // A catalog is a fact. So this shard lacks a catalog that was sent meanwhile, and its new
  // markets.
  if ('market' in tick && state.markets[tick.market] === undefined) return;
  switch (tick.kind) {
    case 'quote':
      return setQuote(state, tick);
    case 'trade':
      return setLastTrade(state, tick);
    case 'level':
    case 'print':
    case 'levels':
      if (state.fillModel.queues !== null) showLevels(state, state.fillModel.queues, tick);
      return;
    case 'status':
    case 'closing':
      return setState(state.markets[tick.market]!, tick);
    case 'result':
    case 'game':
    case 'heartbeat':
      return;
    default:
      tick satisfies never;
  }
}

/** A venue's word on a market's trading: whether it is open, and until when. */
function setState(market: Market, tick: StatusTick | ClosingTick): void {
  if (market.isPast) return;
  if (tick.kind === 'status') market.status = tick.status;
  market.venueClosesAtMs = venueClosingMs(market.venueClosesAtMs, tick);
}

/**
 * Moves time on, never back. Orders that fall due on the way end in their order, at their own time.
 */
export function advance(state: ShardState, atMs: EpochMs, facts: FactSink): EpochMs {
  const beforeMs = state.nowMs;
  // Many messages have the same time, which was checked at the first.
  if (atMs !== state.nowMs) {
    invariant(Number.isSafeInteger(atMs), 'a message has no time in whole milliseconds');
    if (atMs > state.nowMs) state.nowMs = atMs;
  }
  const now = state.nowMs;
  for (let dueMs = nextVoidMs(state); dueMs <= now; dueMs = nextVoidMs(state)) {
    const voidMs = Math.max(dueMs, beforeMs);
    pass(state, voidMs, facts);
    voidPostponed(state, voidMs, facts);
  }
  pass(state, now, facts);
  return now;
}

/** Orders expire up to a moment, and others meet the book before it. */
function pass(state: ShardState, upToMs: EpochMs, facts: FactSink): void {
  if (state.arrivals.size > 0 || state.cancels.size > 0) {
    meetBefore(state, upToMs, facts, (atMs) => expire(state, atMs, facts));
  }
  expire(state, upToMs, facts);
}

function expire(state: ShardState, upToMs: EpochMs, facts: FactSink): void {
  for (let order = state.expiries.nextDue(upToMs); order !== NO_ROW; ) {
    settleAccount(state, state.orders.col.account.get(order), facts);
    // A result may have canceled it before.
    if (state.orders.isLive(order)) emit(state, facts, expiryOf(state, order));
    order = state.expiries.nextDue(upToMs);
  }
}

/** With the time at which it was due, not the time of the tick that ends it. */
function expiryOf({ orders: { col } }: ShardState, order: OrderRow): OrderEnded {
  const atMs = col.expiresAtMs.get(order);
  return { kind: 'order_ended', atMs, order, status: 'expired', reason: 'expired' };
}

/**
 * Time was set back by `byMs`. Quotes and heartbeats keep their age, so that no price stays live
 * for longer.
 */
export function keepAges(state: ShardState, byMs: number): void {
  invariant(byMs >= 0, 'time was set back by less than nothing');
  if (byMs > 0) state.fillModel.timeWasSet();
  for (const source of state.sources) if (source !== undefined) source.lastHeardMs -= byMs;
  for (const market of state.markets) {
    if (market.isPast) continue;
    const { quote, lastTrade, lastTradeOf } = market;
    if (quote !== null) quote.atMs -= byMs;
    market.quotes++;
    market.lastTrade = earlier(lastTrade, byMs);
    market.lastTradeOf = { yes: earlier(lastTradeOf.yes, byMs), no: earlier(lastTradeOf.no, byMs) };
  }
}

function earlier(trade: LastTrade | null, byMs: number): LastTrade | null {
  return trade === null ? null : { ...trade, atMs: trade.atMs - byMs };
}

/** The market of the tick, and the markets that the tick made live again. */
function withRevived(market: Market, revived: readonly Market[]): readonly Market[] {
  return revived.length === 0 ? [market] : [market, ...revived];
}

function sourceOf(state: ShardState, number: SourceNumber): Source {
  const known = state.sources[number];
  if (known !== undefined) return known;
  invariant(number >= 0 && Number.isInteger(number), 'a tick has no valid connection number');
  const source: Source = { lastHeardMs: 0, epoch: 0 };
  state.sources[number] = source;
  return source;
}

const NONE: readonly Market[] = [];

/**
 * Any frame keeps a connection's quotes fresh. Returns the markets whose quotes were stale until
 * now. The tick's own time counts: a repeated quote has its old age.
 */
function recordHeartbeat(
  state: ShardState,
  tick: { source: SourceNumber; atMs: EpochMs },
): readonly Market[] {
  const { nowMs } = state;
  const { quoteMaxAgeMs } = state.config;
  const source = sourceOf(state, tick.source);
  const wasFresh = isFresh(source, nowMs, quoteMaxAgeMs);
  source.lastHeardMs = Math.max(source.lastHeardMs, tick.atMs);
  if (wasFresh || !isFresh(source, nowMs, quoteMaxAgeMs)) return NONE;
  return state.markets.filter((market) => market.quote?.source === tick.source);
}

function marketOf(state: ShardState, number: MarketNumber): Market {
  const market = state.markets[number];
  invariant(market !== undefined, 'a tick names a market that does not exist');
  return market;
}

function isPriceOrNone(cents: PriceCents): boolean {
  // A whole number, and none below `NO_PRICE`, which is 0.
  return cents >>> 0 === cents && cents < PAYOUT_CENTS;
}

function setQuote(state: ShardState, tick: QuoteTick): void {
  const market = marketOf(state, tick.market);
  invariant(isPriceOrNone(tick.yesBidCents), 'the bid of a quote is not 1 to 99 cents');
  invariant(isPriceOrNone(tick.yesAskCents), 'the ask of a quote is not 1 to 99 cents');
  if (market.isPast) return;
  showQuote(market, tick, sourceOf(state, tick.source).epoch);
  market.quotes++;
  state.fillModel.quoteSeen(tick);
}

/** Stores the last trade, and for each side the last trade that bought it. Quotes show them. */
function setLastTrade(state: ShardState, tick: TradeTick): void {
  const market = marketOf(state, tick.market);
  if (market.isPast) return;
  const { yesPriceCents, side, atMs } = tick;
  const sideCents = side === 'yes' ? yesPriceCents : complement(yesPriceCents);
  market.lastTrade = { priceCents: yesPriceCents, atMs };
  market.lastTradeOf = { ...market.lastTradeOf, [side]: { priceCents: sideCents, atMs } };
}

function setGame(state: ShardState, tick: GameTick, facts: FactSink): void {
  const { atMs, game: slug, status } = tick;
  // A venue may name games that no catalog has listed. They are not kept.
  if (!state.listedGames.has(slug) || state.games.get(slug)?.status === status) return;
  emit(state, facts, { kind: 'game_changed', atMs, game: slug, status });
  if (status === 'cancelled') voidGame(state, { slug, atMs, source: 'venue_result' }, facts);
}

/**
 * Applies the consequences of the current catalog. It also runs at every start, because an older
 * version may not have done so.
 */
export function afterCatalog(state: ShardState, atMs: EpochMs, facts: FactSink): void {
  voidCancelledGames(state, atMs, facts);
  cancelDropped(state, atMs, facts);
}

/**
 * A game that is cancelled in the catalog counts as cancelled by a venue, because some venues do
 * not report it.
 */
function voidCancelledGames(state: ShardState, atMs: EpochMs, facts: FactSink): void {
  for (const { slug, status } of state.catalog.games) {
    const shown = state.games.get(slug)?.status ?? status;
    if (shown === 'cancelled') voidGame(state, { slug, atMs, source: 'catalog' }, facts);
  }
}

/**
 * An instrument that the catalog has dropped cannot be bought any more. Its resting buys end, first
 * placed first; sells and positions stay. An order by ticker belongs to the instrument under which
 * it is shown. Rules T121, T122 (engine/RULES.md).
 */
function cancelDropped(state: ShardState, atMs: EpochMs, facts: FactSink): void {
  const { orders, instruments, markets } = state;
  const { flags, instrument, market, sequence } = orders.col;
  const dropped: OrderRow[] = [];
  for (const order of orders.rows()) {
    const isListed = instruments[instrument.get(order)]!.listed;
    const isOver = isListed || markets[market.get(order)]!.outcome !== null;
    if (isBuy(flags.get(order)) && !isOver) dropped.push(order);
  }
  dropped.sort((a, b) => sequence.get(a) - sequence.get(b));
  for (const order of dropped) {
    settleAccount(state, orders.col.account.get(order), facts);
    emit(state, facts, {
      kind: 'order_ended',
      atMs,
      order,
      status: 'canceled',
      reason: 'instrument_dropped',
    });
  }
}
