/**
 * The wire objects: placement result, Order, Trade, Position and Account.
 * Venue fields are there only while the venue-data switch is on.
 */

import {
  type Cents,
  dollarsOf,
  type EpochMs,
  HOME_VENUE,
  isoOf,
  oppositeSide,
  type PriceCents,
  START_BALANCE_CENTS,
} from '../../engine/base/units.ts';
import type { Reply } from '../../engine/rules/messages.ts';
import { TRADE_TERM_NAMES } from '../../engine/rules/order-terms.ts';
import { holdCentsOf, remainingOf, resetBlock } from './naive-ledger.ts';
import { averageOf, livePrices } from './naive-prices.ts';
import {
  instrumentOf,
  isAsked,
  type ModelAccount,
  type ModelOrder,
  type ModelState,
  type ModelTrade,
  openTradesOf,
  pick,
  restingOf,
  typeOf,
} from './naive-state.ts';

export type Json = Record<string, unknown>;

export function answer(body: Json): Reply {
  return { ok: true, body: JSON.stringify(body) };
}

/** The answer to a placement: of a new order, or of a replayed one as it is now. */
export function placementAnswer(state: ModelState, order: ModelOrder, replayed: boolean): Reply {
  const executed = order.status === 'executed';
  return answer({
    status: order.status === 'expired' ? 'canceled' : order.status,
    action: isSale(order) ? 'sell' : order.action,
    type: typeOf(order),
    idempotencyKey: order.idempotencyKey,
    replayed,
    originalCreatedAt: replayed ? isoOf(order.createdAtMs) : null,
    order: isAsked(order) ? orderJson(state, order) : null,
    trade: executed ? tradeJson(state, state.trades.get(order.tradeId!)!) : null,
    fillVenue: order.fills[0]?.venue ?? null,
    mode: 'paper',
    venueData: state.venueData,
    ...ifShown(state, { fillPriceCents: shownCents(order, fillPriceOf(order)) }),
  });
}

/** T197: what only closes is shown as a sell of the other side. */
function isSale({ netting }: ModelOrder): boolean {
  return netting !== null && !netting.opens;
}

function shownCents(order: ModelOrder, cents: number | null): number | null {
  return cents === null || !isSale(order) ? cents : 100 - cents;
}

/** The answer of a cancel and of GET /portfolio/orders/{orderId}. */
export function orderAnswer(state: ModelState, order: ModelOrder): Reply {
  return answer({ order: orderJson(state, order), mode: 'paper', venueData: state.venueData });
}

export function orderJson(state: ModelState, order: ModelOrder): Json {
  return {
    ...listedOrderJson(state, order),
    type: typeOf(order),
    cancelReason: order.cancelReason,
    tradeId: order.tradeId,
    ...ifShown(state, { fillPriceCents: shownCents(order, fillPriceOf(order)) }),
  };
}

/** An Order in the portfolio list: without type, cancelReason, tradeId and fillPriceCents. */
export function listedOrderJson(state: ModelState, order: ModelOrder): Json {
  const remainingContracts = remainingOf(order);
  return {
    orderId: order.id,
    action: isSale(order) ? 'sell' : order.action,
    instrumentId: order.instrumentId,
    instrumentLabel: instrumentOf(state, order.instrumentId).label,
    instrumentSide: isSale(order) ? oppositeSide(order.instrumentSide) : order.instrumentSide,
    orderSide: isSale(order) ? oppositeSide(order.marketSide) : order.marketSide,
    contracts: order.contracts,
    filledContracts: order.contracts - remainingContracts,
    remainingContracts,
    limitCents: shownCents(order, order.limitPriceCents),
    holdDollars: dollarsOf(holdCentsOf(order)),
    timeInForce: order.timeInForce,
    expiresAt: isoOrNull(order.expiresAtMs),
    status: order.status,
    pendingUntil: isoOrNull(order.arrivesAtMs ?? order.cancelsAtMs),
    createdAt: isoOf(order.createdAtMs),
    executedAt: order.status === 'executed' ? isoOrNull(order.endedAtMs) : null,
    canceledAt: order.status === 'canceled' ? isoOrNull(order.endedAtMs) : null,
    updatedAt: isoOf(order.endedAtMs ?? order.createdAtMs),
    ...pick(order, TRADE_TERM_NAMES),
    fillModel: order.fillModel,
    feesDollars: order.feesOn ? dollarsOf(feesOf(order)) : null,
    postOnly: order.postOnly,
    orderGroupId: groupIdOf(state, order),
    ...ifShown(state, { marketTicker: tickerOf(state, order.market) }),
  };
}

/** T222: an order that outlives its group is of none. */
function groupIdOf(state: ModelState, { groupId, status }: ModelOrder) {
  const isGone = !state.groups.some(({ id }) => id === groupId);
  return status === 'resting' && isGone ? null : groupId;
}

export function tradeJson(state: ModelState, trade: ModelTrade): Json {
  return {
    ...holdingJson(state, trade),
    status: trade.status,
    closedAt: isoOrNull(trade.closedAtMs),
    closeReason: trade.closeReason,
    pnlDollars: trade.status === 'open' ? null : dollarsOf(realizedCentsOf(trade)),
    resolvedOutcome: trade.resolvedOutcome,
    ...ifShown(state, { exitCents: exitCentsOf(trade) }),
  };
}

/** Price of a contract that has left the trade, on average. */
function exitCentsOf(trade: ModelTrade): number | null {
  if (trade.status === 'open') return null;
  const proceedsCents = sum(trade.lots.map((lot) => lot.proceedsCents));
  return Math.floor(proceedsCents / sum(trade.lots.map((lot) => lot.contracts)));
}

export function positionJson(state: ModelState, trade: ModelTrade, nowMs: EpochMs): Json {
  const valueCents = markCentsOf(state, trade, nowMs);
  return {
    ...holdingJson(state, trade),
    ...ifShown(state, {
      markCents: bidCentsOf(state, trade, nowMs),
      valueDollars: dollarsOf(valueCents),
      unrealizedPnlDollars: dollarsOf(valueCents - trade.costCents),
    }),
  };
}

/** The held contracts of an open trade; all contracts of a closed one. */
function holdingJson(state: ModelState, trade: ModelTrade): Json {
  const isOpen = trade.status === 'open';
  const contracts = sum(trade.lots.map((lot) => lot.contracts)) + trade.contracts;
  const costCents = sum(trade.lots.map((lot) => lot.costCents)) + trade.costCents;
  return {
    tradeId: trade.id,
    instrumentId: trade.instrumentId,
    instrumentLabel: instrumentOf(state, trade.instrumentId).label,
    instrumentSide: trade.instrumentSide,
    boughtSide: trade.boughtSide,
    fillModel: trade.fillModel,
    feesDollars: trade.feesCents === null ? null : dollarsOf(trade.feesCents),
    contracts: isOpen ? trade.contracts : contracts,
    costDollars: dollarsOf(isOpen ? trade.costCents : costCents),
    ...pick(trade, TRADE_TERM_NAMES),
    parlayId: trade.parlay,
    fillVenue: trade.fillVenue,
    openedAt: isoOf(trade.openedAtMs),
    ...ifShown(state, {
      marketTicker: tickerOf(state, trade.market),
      entryCents: Math.ceil(costCents / contracts),
    }),
  };
}

/** Rules M20 to M27 (engine/RULES.md). */
export function accountJson(
  state: ModelState,
  account: ModelAccount,
  nowMs: EpochMs,
  isPersonal = true,
): Json {
  const open = openTradesOf(state, account.id);
  const resting = restingOf(state, account.id);
  const heldCents = sum(resting.map(holdCentsOf));
  const openStakeCents = sum(open.map((trade) => trade.costCents));
  const marksCents = sum(open.map((trade) => markCentsOf(state, trade, nowMs)));
  const netWorthCents = account.balanceCents + heldCents + marksCents;
  const pnlCents = netWorthCents - START_BALANCE_CENTS - account.adjustmentsCents;
  const block = resetBlock(state, account, nowMs);
  return {
    balanceDollars: dollarsOf(account.balanceCents),
    netWorthDollars: dollarsOf(netWorthCents),
    openStakeDollars: dollarsOf(openStakeCents),
    heldDollars: dollarsOf(heldCents),
    openPositions: open.length,
    restingOrders: resting.length,
    run: account.resetsAtMs.length + 1,
    runStartedAt: isoOf(account.runStartedAtMs),
    startBalanceDollars: dollarsOf(START_BALANCE_CENTS),
    adjustmentsInRunDollars: dollarsOf(account.adjustmentsCents),
    pnlSinceResetDollars: dollarsOf(pnlCents),
    selfResetEnabled: isPersonal && state.selfReset,
    resetBlockedBy: isPersonal ? block.by : 'reset_not_enabled',
    nextResetAt: isPersonal ? isoOrNull(block.until) : null,
    lifetimePnlDollars: dollarsOf(account.earlierRunsCents + pnlCents),
    resets: account.resetsAtMs.length,
    busts: account.busts,
    lastResetAt: isoOrNull(account.resetsAtMs.at(-1) ?? null),
  };
}

/** A position at its live bid, or at cost if there is none or prices may not be shown. */
export function markCentsOf(state: ModelState, trade: ModelTrade, nowMs: EpochMs): Cents {
  if (!state.venueData) return trade.costCents;
  const bid = bidCentsOf(state, trade, nowMs);
  return bid === null ? trade.costCents : bid * trade.contracts;
}

function bidCentsOf(state: ModelState, trade: ModelTrade, nowMs: EpochMs): PriceCents | null {
  return livePrices(state, trade.market, trade.boughtSide, nowMs)?.bidCents ?? null;
}

/** The proceeds of its lots beyond their cost, less its fees. */
export function realizedCentsOf(trade: ModelTrade): Cents {
  const lots = sum(trade.lots.map((lot) => lot.proceedsCents - lot.costCents));
  return lots - (trade.feesCents ?? 0);
}

function feesOf({ fills }: ModelOrder): Cents {
  return sum(fills.map(({ feeCents }) => feeCents ?? 0));
}

function fillPriceOf(order: ModelOrder): number | null {
  return order.fills.length === 0 ? null : averageOf(order.action, order.fills).priceCents;
}

function ifShown(state: ModelState, venueFields: Json): Json {
  return state.venueData ? venueFields : {};
}

export function tickerOf(state: ModelState, market: number): string {
  return state.marketNames[market]!.slice(`${HOME_VENUE}/`.length);
}

function isoOrNull(at: EpochMs | null): string | null {
  return at === null ? null : isoOf(at);
}

function sum(values: number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
