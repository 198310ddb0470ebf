/**
 * Placing and canceling. Every refusal is an early return, in the order in which an order meets the
 * rules: T100 (engine/RULES.md).
 */

import { type FillModelName, START_BALANCE_CENTS } from '../../engine/base/units.ts';
import type {
  CancelAll,
  CancelOrder,
  Connected,
  Disconnected,
  PlaceOrder,
  Reply,
} from '../../engine/rules/messages.ts';
import { ORDER_TERM_NAMES } from '../../engine/rules/order-terms.ts';
import { placedUnder } from '../../engine/rules/placed-under.ts';
import { REJECTIONS, type RejectionCode } from '../../engine/rules/rejections.ts';
import { mayBuy } from './naive-bounds.ts';
import { feeOf, worstMicros } from './naive-fees.ts';
import { endReached, refusalOfGroup } from './naive-groups.ts';
import {
  closePairs,
  end,
  fill,
  holdCentsOf,
  openedAccount,
  remainingOf,
  rest,
  stopResting,
} from './naive-ledger.ts';
import { countOrRefuse, isClosing } from './naive-limits.ts';
import { closersInTheWay } from './naive-netting.ts';
import { isAtLimitOrBetter, type Offer, offerFor } from './naive-prices.ts';
import { fillModelFor, join } from './naive-queue.ts';
import {
  hasClosed,
  hasOpened,
  isAsked,
  type ModelOrder,
  type ModelState,
  type ModelTrade,
  marketOf,
  pick,
  restingOf,
} from './naive-state.ts';
import { type Target, targetOf } from './naive-targets.ts';
import { answer, orderAnswer, placementAnswer } from './naive-views.ts';

const EXPIRY_MAX_MS = 365 * 24 * 3600 * 1000;

export function refuse(code: RejectionCode): Reply {
  return { ok: false, code, message: REJECTIONS[code] };
}

export function place(state: ModelState, request: PlaceOrder): Reply {
  const account = state.accounts.get(request.account);
  const fingerprint = fingerprintOf(request);
  const earlier = account?.keys.get(request.idempotencyKey);
  if (earlier !== undefined) {
    if (earlier.fingerprint !== fingerprint) {
      countOrRefuse(state, request, isClosing(request));
      return refuse('idempotency_key_reused');
    }
    return placementAnswer(state, state.orders.get(earlier.orderId)!, true);
  }
  if (!isExpiryUsable(state, request)) return refuse('invalid_request');
  if (request.netting !== null && request.routing === 'best') return refuse('invalid_request');
  if (request.action === 'buy' && !mayBuy(state, request.account, request.contracts!)) {
    return refuse('invalid_request');
  }
  if (!request.mayTrade) return refuse('trading_off');
  const limited = countOrRefuse(state, request, isClosing(request));
  if (limited !== null) return limited;
  const latestMs = request.rejectIfLaterThanMs;
  if (latestMs !== null && latestMs < state.nowMs) return refuse('too_late');
  const opensAll = request.action === 'buy' && request.netting === null;
  if (opensAll && !request.mayOpen) return refuse('membership_required');
  const ofGroup = refusalOfGroup(state, request.account, request.orderGroupId);
  if (ofGroup !== null) return refuse(ofGroup);

  const target = targetOf(state, request);
  if (typeof target === 'string') return refuse(target);
  const market = marketOf(state, target.market);
  if (market.result !== null) return refuse('market_resolved');
  const isClosed = market.status !== 'open' || hasClosed(state, target.market, state.nowMs);
  if (isClosed || !hasOpened(state, target.instrumentId, state.nowMs)) {
    return refuse('market_not_open');
  }

  const { action, routing, timeInForce, limitPriceCents } = request;
  const { model = 'server', liquidity = 'account' } = request.realism ?? {};
  const fillModel = fillModelFor(state, target.market, { routing, model });
  const { latencyMs } = placedUnder(request.realism, request.orderId);
  if (latencyMs > 0) {
    const spendableCents = account?.balanceCents ?? START_BALANCE_CENTS;
    const order = orderOf(state, request, { ...target, fillModel, latencyMs });
    if (order.feesOn && action === 'buy') order.eachMicros = worstMicros(state, order);
    if (order.netting === null) {
      if (holdCentsOf(order) > spendableCents) return refuse('insufficient_balance');
    } else if (isShort(state, request, order, fingerprint, { trades: null, rests: true })) {
      return refuse('insufficient_balance');
    }
    accept(state, request, order, fingerprint);
    clearTheWay(state, order, target.position);
    rest(state, order);
    return placementAnswer(state, order, false);
  }
  const asked = { ...target, account: request.account, action, routing, fillModel, liquidity };
  const offer = offerFor(state, asked, target.contracts, limitPriceCents);
  const isWhole = offer?.contracts === target.contracts;
  if (limitPriceCents === null) {
    if (offer === null || !isWhole) return refuse('no_liquidity');
    const bound = request.boundPriceCents;
    if (bound !== null && !isAtLimitOrBetter(action, offer.priceCents, bound)) {
      return refuse('price_moved');
    }
  }
  if (request.postOnly && offer !== null) return refuse('would_take');
  const trades = offer !== null && (isWhole || timeInForce !== 'fok') ? offer : null;
  const left = target.contracts - (trades?.contracts ?? 0);
  const rests = left > 0 && timeInForce === 'gtc';
  const order = orderOf(state, request, { ...target, fillModel, latencyMs });
  if (rests && order.feesOn && action === 'buy') order.eachMicros = worstMicros(state, order);
  if (action === 'buy' && order.netting === null) {
    const spendableCents = account?.balanceCents ?? START_BALANCE_CENTS;
    if (neededCents(state, order, trades, rests) > spendableCents) {
      return refuse('insufficient_balance');
    }
  }
  const then = { trades, rests };
  if (order.netting !== null && isShort(state, request, order, fingerprint, then)) {
    return refuse('insufficient_balance');
  }
  accept(state, request, order, fingerprint);
  carryOut(state, order, target.position, then);
  if (trades !== null) endReached(state, order);
  return placementAnswer(state, order, false);
}

type Then = { trades: Offer | null; rests: boolean };

function carryOut(
  state: ModelState,
  order: ModelOrder,
  position: ModelTrade | null,
  { trades, rests }: Then,
): void {
  if (trades !== null || rests) clearTheWay(state, order, position);
  if (rests) rest(state, order);
  if (rests && order.fillModel === 'queue') join(state, order);
  if (trades !== null) fill(state, order, trades, 'taker');
  if (rests || remainingOf(order) === 0) return;
  const reason = order.timeInForce === 'ioc' ? 'ioc_not_filled' : 'fok_not_filled';
  end(state, order, trades === null ? 'canceled' : 'executed', reason);
}

/** T200: tried on a copy. What only closes needs no cash. */
function isShort(
  state: ModelState,
  request: PlaceOrder,
  placed: ModelOrder,
  fingerprint: string,
  then: Then,
): boolean {
  if (placed.netting!.closes === placed.contracts) return false;
  const trial = structuredClone(state);
  const order = structuredClone(placed);
  accept(trial, request, order, fingerprint);
  if (order.latencyMs > 0) {
    clearTheWay(trial, order, null);
    rest(trial, order);
  } else carryOut(trial, order, null, then);
  return trial.accounts.get(request.account)!.balanceCents < 0;
}

/** What an order ends before it trades or rests, and the pairs that close before. */
function clearTheWay(state: ModelState, order: ModelOrder, position: ModelTrade | null): void {
  if (order.netting !== null) return closePairs(state, order);
  if (position === null) return;
  for (const closer of closersInTheWay(state, position)) {
    end(state, closer, 'canceled', 'position_closed');
  }
  cancelWorkingOrderOf(state, position);
}

/** T160, T161: an order meets the book as if it were placed now. */
export function arrive(state: ModelState, order: ModelOrder): void {
  stopResting(state, order);
  order.arrivesAtMs = null;
  order.priority = ++state.priorities;
  const { timeInForce, limitPriceCents, boundPriceCents: bound } = order;
  const left = remainingOf(order);
  const market = marketOf(state, order.market);
  const isOpen = market.status === 'open' && !hasClosed(state, order.market, state.nowMs);
  const offer = isOpen ? offerFor(state, order, left, limitPriceCents) : null;
  const isWhole = offer?.contracts === left;
  if (limitPriceCents === null) {
    if (offer === null || !isWhole) return end(state, order, 'canceled', 'no_liquidity');
    if (bound !== null && !isAtLimitOrBetter(order.action, offer.priceCents, bound)) {
      return end(state, order, 'canceled', 'price_moved');
    }
  }
  if (order.postOnly && offer !== null) return end(state, order, 'canceled', 'would_take');
  const trades = offer !== null && (isWhole || timeInForce !== 'fok') ? offer : null;
  const rests = timeInForce === 'gtc' && !isWhole;
  // It holds its money until it ends.
  if (rests || trades !== null) rest(state, order);
  if (rests && order.fillModel === 'queue') join(state, order);
  if (trades !== null) fill(state, order, trades, 'taker');
  if (!isWhole && !rests) {
    const reason = timeInForce === 'fok' ? 'fok_not_filled' : 'ioc_not_filled';
    end(state, order, trades === null ? 'canceled' : 'executed', reason);
  }
  if (trades !== null) endReached(state, order);
}

/** T162. False: it was canceled before. */
export function cancelOne(state: ModelState, order: ModelOrder): boolean {
  if (order.latencyMs === 0) end(state, order, 'canceled', 'canceled_by_owner');
  else if (order.cancelsAtMs !== null) return false;
  else order.cancelsAtMs = state.nowMs + order.latencyMs;
  return true;
}

export function cancel(state: ModelState, request: CancelOrder): Reply {
  const limited = countOrRefuse(state, request, true);
  if (limited !== null) return limited;
  const order = state.orders.get(request.orderId);
  if (order === undefined || order.account !== request.account || !isAsked(order)) {
    return refuse('order_not_found');
  }
  if (order.status !== 'resting') return refuse('already_closed');
  cancelOne(state, order);
  return orderAnswer(state, order);
}

/** In the order in which they were placed. */
export function cancelAll(state: ModelState, request: CancelAll): Reply {
  const limited = countOrRefuse(state, request, true);
  if (limited !== null) return limited;
  const { instrumentId } = request;
  if (instrumentId !== null && !state.instruments.has(instrumentId)) {
    return refuse('instrument_not_found');
  }
  const resting = restingOf(state, request.account)
    .filter((order) => instrumentId === null || order.instrumentId === instrumentId)
    .sort((a, b) => a.sequence - b.sequence);
  const canceled = resting.filter((order) => cancelOne(state, order)).map(({ id }) => id);
  return answer({ canceled, count: canceled.length, mode: 'paper' });
}

/** In the order in which they were placed; an order that was filled in part rests last. */
export function cancelDisconnected(state: ModelState, said: Disconnected | Connected): Reply {
  const ended = state.resting.filter(({ account, connection }) => {
    if (connection === null) return false;
    if (said.kind === 'connected') return !said.connections.includes(connection);
    return account === said.account && connection === said.connection;
  });
  ended.sort((a, b) => a.sequence - b.sequence);
  for (const order of ended) end(state, order, 'canceled', 'disconnected');
  return answer({});
}

/** Two requests under one key are the same order when all but their arrival is the same. */
function fingerprintOf(request: PlaceOrder): string {
  const terms = pick(request, ORDER_TERM_NAMES);
  const { placedVia: _, placedPrivate: __, connection: ___, ...asked } = terms;
  return JSON.stringify([
    asked,
    request.account,
    request.instrumentId,
    request.ticker,
    request.side,
    request.contracts,
    request.tradeId,
    request.netting,
    request.postOnly,
    request.orderGroupId,
  ]);
}

function isExpiryUsable(state: ModelState, request: PlaceOrder): boolean {
  if (request.expiresAtMs === null) return true;
  const ahead = request.expiresAtMs - state.nowMs;
  return ahead > 0 && ahead <= EXPIRY_MAX_MS;
}

/** An earlier sell of the position, or the rest of the buy that opened it. */
function cancelWorkingOrderOf(state: ModelState, position: ModelTrade): void {
  const working = state.resting.find(({ tradeId }) => tradeId === position.id);
  if (working !== undefined) end(state, working, 'canceled', 'position_closed');
}

/** M6: what it trades at once, and what it would hold after that, tried on a copy. */
function neededCents(
  state: ModelState,
  placed: ModelOrder,
  trades: Offer | null,
  rests: boolean,
): number {
  const order = structuredClone(placed);
  let needed = 0;
  if (trades !== null) {
    needed += trades.cents + (order.feesOn ? feeOf(state, order, trades, 'taker') : 0);
    order.fills.push({ ...trades, feeCents: null });
  }
  return needed + (rests ? holdCentsOf(order) : 0);
}

/** Stores the order under its key; `place` decides in the next line whether it really rests. */
function accept(
  state: ModelState,
  request: PlaceOrder,
  order: ModelOrder,
  fingerprint: string,
): void {
  const account = openedAccount(state, request.account);
  account.keys.set(request.idempotencyKey, { orderId: request.orderId, fingerprint });
  state.orders.set(order.id, order);
}

function orderOf(
  state: ModelState,
  request: PlaceOrder,
  target: Target & { fillModel: FillModelName; latencyMs: number },
): ModelOrder {
  return {
    sequence: state.orders.size,
    priority: ++state.priorities,
    id: request.orderId,
    account: request.account,
    idempotencyKey: request.idempotencyKey,
    ...pick(request, ORDER_TERM_NAMES),
    instrumentId: target.instrumentId,
    instrumentSide: target.instrumentSide,
    market: target.market,
    marketSide: target.marketSide,
    contracts: target.contracts,
    createdAtMs: request.atMs,
    status: 'resting',
    cancelReason: null,
    endedAtMs: null,
    tradeId: target.position?.id ?? null,
    netting: target.netting === null ? null : { ...target.netting },
    opened: null,
    fills: [],
    postOnly: request.postOnly,
    groupId: request.orderGroupId,
    feesOn: request.realism?.fees === 'venue',
    ...{ eachMicros: 0, owedMicros: 0, chargedCents: 0 },
    fillModel: target.fillModel,
    liquidity: request.realism?.liquidity ?? 'account',
    latencyMs: target.latencyMs,
    arrivesAtMs: target.latencyMs === 0 ? null : state.nowMs + target.latencyMs,
    cancelsAtMs: null,
    queue: null,
    noted: null,
  };
}
