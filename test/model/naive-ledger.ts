/**
 * Everything that moves money or ends an order. CONTRACT.md section 5: Limit order, Selling,
 * Settlement, Run and reset (busts).
 */

import { tradeIdOf } from '../../engine/core/ids.ts';
import type { ResultTick } from '../../engine/core/messages.ts';
import type { Cents, EpochMs, MarketNumber, Uuid } from '../../engine/core/units.ts';
import { oppositeSide, START_BALANCE_CENTS } from '../../engine/core/units.ts';
import type { Priced } from './naive-prices.ts';
import {
  accountOf,
  type CancelReason,
  type ModelAccount,
  type ModelOrder,
  type ModelState,
  type ModelTrade,
  marketOf,
  openTradesOf,
  restingOf,
} from './naive-state.ts';

/** Below this net worth an account with nothing at work is bust: one dollar. */
const BUST_BELOW_CENTS = 100;

/** The account, opened with the start balance at its first accepted order. */
export function openedAccount(state: ModelState, id: Uuid): ModelAccount {
  let account = state.accounts.get(id);
  if (account === undefined) {
    account = {
      id,
      balanceCents: START_BALANCE_CENTS,
      adjustmentsCents: 0,
      realizedCents: 0,
      runStartedAtMs: state.nowMs,
      busts: 0,
      bustCountedInRun: false,
      keys: new Map(),
    };
    state.accounts.set(id, account);
  }
  return account;
}

/** A resting buy holds limit x contracts; a sell, and whatever does not rest, holds nothing. */
export function holdCentsOf(order: ModelOrder): Cents {
  if (order.status !== 'resting' || order.action === 'sell') return 0;
  return order.limitPriceCents! * order.contracts;
}

/** Puts an accepted order to rest and takes its hold off the balance. */
export function rest(state: ModelState, order: ModelOrder): void {
  state.resting.push(order);
  accountOf(state, order.account).balanceCents -= holdCentsOf(order);
}

/** Ends an order without a fill, giving its hold back. */
export function endUnfilled(
  state: ModelState,
  order: ModelOrder,
  status: 'canceled' | 'expired',
  reason: CancelReason,
): void {
  stopResting(state, order);
  order.status = status;
  order.cancelReason = reason;
  state.endings.push({ orderId: order.id, status, reason });
  countBust(state, order.account);
}

/** Fills a whole order at a price: a buy opens a position, a sell closes its own. */
export function execute(state: ModelState, order: ModelOrder, priced: Priced): void {
  stopResting(state, order);
  order.status = 'executed';
  order.fillPriceCents = priced.priceCents;
  order.fillVenue = priced.venue;
  if (order.action === 'buy') openPosition(state, order, priced);
  else sellPosition(state, order, priced);
  state.endings.push({ orderId: order.id, status: 'executed', reason: null });
  countBust(state, order.account);
}

/** Pays a market out once; later results of the same market change nothing. */
export function settleMarket(
  state: ModelState,
  number: MarketNumber,
  result: Pick<ResultTick, 'outcome' | 'yesPayoutCents' | 'noPayoutCents'>,
): void {
  const market = marketOf(state, number);
  if (market.result !== null) return;
  market.result = result.outcome;

  for (const trade of state.trades.values()) {
    if (trade.market !== number || trade.status !== 'open') continue;
    settleTrade(state, trade, result);
  }
  for (const order of state.resting.filter((order) => order.market === number)) {
    endUnfilled(state, order, 'canceled', 'market_resolved');
  }
}

/** Cancels resting orders whose time has come, earliest first. */
export function expireOrders(state: ModelState, nowMs: EpochMs): void {
  const due = state.resting
    .filter((order) => order.expiresAtMs !== null && order.expiresAtMs <= nowMs)
    .sort((a, b) => a.expiresAtMs! - b.expiresAtMs! || a.sequence - b.sequence);
  for (const order of due) endUnfilled(state, order, 'expired', 'expired');
}

/** Once a run: net worth below a dollar with nothing open and nothing resting. */
export function countBust(state: ModelState, id: Uuid): void {
  const account = accountOf(state, id);
  if (account.bustCountedInRun || account.balanceCents >= BUST_BELOW_CENTS) return;
  if (openTradesOf(state, id).length > 0 || restingOf(state, id).length > 0) return;
  account.bustCountedInRun = true;
  account.busts += 1;
}

function stopResting(state: ModelState, order: ModelOrder): void {
  if (!state.resting.includes(order)) return;
  accountOf(state, order.account).balanceCents += holdCentsOf(order);
  state.resting = state.resting.filter((other) => other !== order);
}

function openPosition(state: ModelState, order: ModelOrder, priced: Priced): void {
  const costCents = priced.priceCents * order.contracts;
  accountOf(state, order.account).balanceCents -= costCents;
  order.tradeId = tradeIdOf(order.id, state.nowMs);
  state.trades.set(order.tradeId, {
    id: order.tradeId,
    account: order.account,
    instrumentId: order.instrumentId,
    instrumentSide: order.instrumentSide,
    market: order.market,
    boughtSide: order.marketSide,
    contracts: order.contracts,
    costCents,
    statedProbPct: order.statedProbPct,
    placedVia: order.placedVia,
    placedPrivate: order.placedPrivate,
    fillVenue: priced.venue,
    openedAtMs: state.nowMs,
    status: 'open',
    closedAtMs: null,
    closeReason: null,
    pnlCents: null,
    resolvedOutcome: null,
  });
}

function sellPosition(state: ModelState, order: ModelOrder, priced: Priced): void {
  const trade = state.trades.get(order.tradeId!)!;
  trade.status = 'closed';
  trade.closeReason = 'sold';
  closeTrade(state, trade, priced.priceCents * trade.contracts);
}

function settleTrade(
  state: ModelState,
  trade: ModelTrade,
  result: Pick<ResultTick, 'outcome' | 'yesPayoutCents' | 'noPayoutCents'>,
): void {
  if (result.outcome === 'void') {
    trade.status = 'void';
    trade.closeReason = 'voided';
    closeTrade(state, trade, trade.costCents);
  } else {
    trade.status = 'settled';
    trade.closeReason = 'settled';
    if (result.outcome !== 'scalar') {
      const held = result.outcome === trade.boughtSide;
      trade.resolvedOutcome = held ? trade.instrumentSide : oppositeSide(trade.instrumentSide);
    }
    const payout = trade.boughtSide === 'yes' ? result.yesPayoutCents : result.noPayoutCents;
    closeTrade(state, trade, payout * trade.contracts);
  }
  countBust(state, trade.account);
}

function closeTrade(state: ModelState, trade: ModelTrade, proceedsCents: Cents): void {
  const account = accountOf(state, trade.account);
  trade.closedAtMs = state.nowMs;
  trade.pnlCents = proceedsCents - trade.costCents;
  account.balanceCents += proceedsCents;
  account.realizedCents += trade.pnlCents;
}
