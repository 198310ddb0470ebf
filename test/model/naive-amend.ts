/** Changing an order that waits. Rules T209 to T215 (engine/RULES.md). */

import type { AmendOrder, Reply } from '../../engine/rules/messages.ts';
import { mayBuy } from './naive-bounds.ts';
import { feeOf, worstMicros } from './naive-fees.ts';
import { endReached } from './naive-groups.ts';
import { fill, holdCentsOf, remainingOf, rest, stopResting } from './naive-ledger.ts';
import { countOrRefuse } from './naive-limits.ts';
import { netParts } from './naive-netting.ts';
import { refuse } from './naive-orders.ts';
import { type Offer, offerFor } from './naive-prices.ts';
import { join } from './naive-queue.ts';
import {
  accountOf,
  hasClosed,
  isAsked,
  type ModelOrder,
  type ModelState,
  marketOf,
} from './naive-state.ts';
import { orderAnswer } from './naive-views.ts';

export function amend(state: ModelState, request: AmendOrder): Reply {
  const { contracts, limitPriceCents } = request;
  const known = state.orders.get(request.orderId);
  const own = known?.account === request.account && isAsked(known) ? known : undefined;
  const order = own?.status === 'resting' && own.cancelsAtMs === null ? own : undefined;
  const closes = amendCloses(state, request);
  const lessens = order === undefined || isLess(order, request);
  const fingerprint = JSON.stringify(['amend', request.orderId, contracts, limitPriceCents]);
  const earlier = state.accounts.get(request.account)?.keys.get(request.idempotencyKey);
  if (earlier !== undefined) {
    if (earlier.fingerprint === fingerprint) return orderAnswer(state, own!);
    countOrRefuse(state, request, closes);
    return refuse('idempotency_key_reused');
  }
  if (!lessens && !request.mayTrade) return refuse('trading_off');
  const limited = countOrRefuse(state, request, closes);
  if (limited !== null) return limited;
  if (order === undefined) return refuse(own === undefined ? 'order_not_found' : 'already_closed');
  if (!closes && !request.mayOpen) return refuse('membership_required');
  if (order.limitPriceCents === null || order.timeInForce !== 'gtc') {
    return refuse('invalid_request');
  }

  const total = order.contracts;
  const filled = total - remainingOf(order);
  const wanted = contracts ?? total;
  if (order.action === 'sell' && wanted !== total) return refuse('invalid_request');
  if (wanted <= filled) return refuse('invalid_request');
  const use = { orderId: order.id, fingerprint };
  if (lessens) {
    stopResting(state, order);
    order.contracts = wanted;
    // What opens goes first. T197.
    const { netting } = order;
    if (netting !== null) netting.closes = Math.min(netting.closes, wanted - filled);
    rest(state, order);
    accountOf(state, order.account).keys.set(request.idempotencyKey, use);
    return orderAnswer(state, order);
  }

  if (order.netting !== null && !order.netting.opens && wanted > total) {
    return refuse('invalid_request');
  }
  if (wanted > total && !mayBuy(state, order.account, wanted - total)) {
    return refuse('invalid_request');
  }
  const market = marketOf(state, order.market);
  if (market.result !== null) return refuse('market_resolved');
  if (market.status !== 'open' || hasClosed(state, order.market, state.nowMs)) {
    return refuse('market_not_open');
  }
  const limit = limitPriceCents ?? order.limitPriceCents;
  const changed: ModelOrder = {
    ...structuredClone(order),
    contracts: wanted,
    limitPriceCents: limit,
  };
  if (changed.netting !== null) {
    changed.netting.closes = Math.min(changed.netting.closes, wanted - filled);
  }
  if (order.feesOn && order.action === 'buy') changed.eachMicros = worstMicros(state, changed);
  const left = wanted - filled;
  const offer = order.latencyMs > 0 ? null : offerFor(state, changed, left, limit);
  if (offer !== null && order.postOnly) return refuse('would_take');
  if (offer !== null && order.netting !== null) {
    if (isShortToNet(state, changed, offer)) return refuse('insufficient_balance');
  } else if (order.action === 'buy') {
    const trial = structuredClone(changed);
    let needed = 0;
    if (offer !== null) {
      needed += offer.cents + (trial.feesOn ? feeOf(state, trial, offer, 'taker') : 0);
      trial.fills.push({ ...offer, feeCents: null });
    }
    needed += holdCentsOf(trial);
    const more = needed - holdCentsOf(order);
    if (more > 0 && more > accountOf(state, order.account).balanceCents) {
      return refuse('insufficient_balance');
    }
  }

  stopResting(state, order);
  const { eachMicros, netting } = changed;
  Object.assign(order, { contracts: wanted, limitPriceCents: limit, eachMicros, netting });
  order.priority = ++state.priorities;
  order.queue = null;
  order.noted = null;
  if (order.latencyMs > 0) order.arrivesAtMs = state.nowMs + order.latencyMs;
  rest(state, order);
  accountOf(state, order.account).keys.set(request.idempotencyKey, use);
  const waits = order.latencyMs === 0 && offer?.contracts !== left;
  if (waits && order.fillModel === 'queue') join(state, order);
  if (offer !== null) {
    fill(state, order, offer, 'taker');
    endReached(state, order);
  }
  return orderAnswer(state, order);
}

/** T201: it is changed and filled in a copy, in which only what opens needs money. */
function isShortToNet(state: ModelState, changed: ModelOrder, offer: Offer): boolean {
  const trial = structuredClone(state);
  const order = trial.orders.get(changed.id)!;
  const account = accountOf(trial, order.account);
  const beforeCents = account.balanceCents;
  stopResting(trial, order);
  Object.assign(order, structuredClone(changed));
  const opensNow = netParts(trial, order, offer.parts).some(({ trade }) => trade === null);
  rest(trial, order);
  fill(trial, order, offer, 'taker');
  const opensLater = order.status === 'resting' && remainingOf(order) > order.netting!.closes;
  const isSpending = account.balanceCents < beforeCents && account.balanceCents < 0;
  return (opensNow || opensLater) && isSpending;
}

/** Whether it counts as a cancel does: fewer contracts, a sell, or nothing that waits. L3. */
export function amendCloses(state: ModelState, request: AmendOrder): boolean {
  const order = state.orders.get(request.orderId);
  if (order === undefined || order.account !== request.account) return true;
  if (order.status !== 'resting' || order.cancelsAtMs !== null) return true;
  return order.action === 'sell' || isLess(order, request);
}

function isLess(order: ModelOrder, { contracts, limitPriceCents }: AmendOrder): boolean {
  if (limitPriceCents !== null && limitPriceCents !== order.limitPriceCents) return false;
  return contracts === null || contracts <= order.contracts;
}
