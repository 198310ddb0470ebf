/**
 * Whether an order, its outcome and its trade agree. Each is stored separately and written once. So
 * a mistake in one of them contradicts another.
 */

import {
  type AccountRow,
  type EpochMs,
  NO_ROW,
  type OrderRow,
  PAYOUT_CENTS,
  type PlacedNetting,
  type PlacedUnder,
  type PriceCents,
  type Uuid,
} from '../base/units.ts';
import type { ClosedTrade, OrderOutcome } from '../rules/events.ts';
import type { OrderPlacedFact } from '../rules/facts.ts';
import type { PlacedOrder } from '../rules/finished-records.ts';
import { instrumentSideOf, isShownOrder, sideOf } from '../rules/flags.ts';
import {
  ORDER_TERM_NAMES,
  TRADE_TERM_NAMES,
  type TradedSide,
  type TradeTerms,
} from '../rules/order-terms.ts';
import { reaches } from '../rules/pricing.ts';
import { closedTradeOf } from '../rules/row-records.ts';
import type { ShardState } from '../rules/state.ts';
import { waitingTermsAt } from '../rules/waiting-terms.ts';

/** Reports the rule that is broken. */
export type Fail = (rule: string) => void;

/** What it closes of its rest changes with its fills. */
function netsAsPlaced(placed: PlacedNetting | null, nets: PlacedNetting | null): boolean {
  return placed?.opens === nets?.opens && placed?.asked === nets?.asked;
}

function isPlacedUnder(placed: PlacedUnder, under: PlacedUnder): boolean {
  return (
    placed.latencyMs === under.latencyMs &&
    placed.feesOn === under.feesOn &&
    placed.liquidity === under.liquidity &&
    placed.realistic === under.realistic
  );
}

/** Whether the row of an unfinished order agrees with its placement. */
export function restsAsPlaced(state: ShardState, row: OrderRow, placed: PlacedOrder): boolean {
  const { col } = state.orders;
  const flags = col.flags.get(row);
  const position = col.position.get(row);
  const terms = waitingTermsAt(state, row);
  return (
    placed.rests &&
    ORDER_TERM_NAMES.every((name) => terms[name] === placed.terms[name]) &&
    isPlacedUnder(placed, state.realism.of(row)) &&
    netsAsPlaced(placed.netting, state.nets.of(row)) &&
    state.orderMarks.postOnly(row) === placed.postOnly &&
    isOfItsGroup(state, row, placed) &&
    col.contracts.get(row) === placed.contracts &&
    col.market.get(row) === placed.market &&
    col.instrument.get(row) === placed.instrument &&
    sideOf(flags) === placed.side &&
    instrumentSideOf(flags) === placed.instrumentSide &&
    (terms.action === 'buy' || state.positionIds.idOf(position) === placed.tradeId)
  );
}

/** A group that is gone has no orders. Rule T222 (engine/RULES.md). */
function isOfItsGroup(state: ShardState, row: OrderRow, { account, group }: PlacedOrder): boolean {
  const { orderGroups, orderMarks } = state;
  const now = orderMarks.group(row);
  if (now !== NO_ROW) return orderGroups.idOf(now) === group;
  return group === null || orderGroups.find(account, group) === NO_ROW;
}

/** A placed order as its end and its trade are compared with it: its ids are compared apart. */
export type AuditedOrder = Omit<
  OrderPlacedFact,
  'kind' | 'account' | 'order' | 'trade' | 'idempotencyKey' | 'group'
> & {
  /** As it was changed last: fills before that had another limit. */
  isAmended?: true;
};
export type AuditedEnd = Omit<OrderOutcome, 'tradeId'>;
/** A trade, of which the end may be missing; `soldAtMs`: a sell has closed it then. */
export type AuditedTrade = { of: TradeFields; soldAtMs: EpochMs | null };
type TradeFields = TradedSide &
  TradeTerms &
  Pick<ClosedTrade, 'contracts' | 'entryPriceCents' | 'venue' | 'proceedsCents'>;
/** How the ids of an order and of its trade agree, and their texts. */
export type TradedIds = {
  /** The trade has the id that the order gives to what it opens. */
  isOpenedByIt: boolean;
  /** The order sells this trade. */
  isSoldByIt: boolean;
  trade: () => Uuid;
  sold: () => Uuid | null;
};

/** The worst price in cents that an order trades at. */
export function limitOf({
  action,
  limitPriceCents,
  boundPriceCents,
}: Pick<AuditedOrder, 'action' | 'limitPriceCents' | 'boundPriceCents'>): PriceCents {
  return limitPriceCents ?? boundPriceCents ?? (action === 'buy' ? PAYOUT_CENTS : 0);
}

/** Checks that an outcome is possible for its order. */
export function checkEnd(
  state: ShardState,
  placed: AuditedOrder,
  outcome: AuditedEnd,
  fail: Fail,
): void {
  const { status, reason, fillPriceCents, filledContracts } = outcome;
  const { latencyMs, netting, timeInForce } = placed;
  const ends =
    status === 'executed'
      ? reason === null || (reason === 'ioc_not_filled' && filledContracts !== null)
      : reason !== null && (reason === 'expired') === (status === 'expired');
  if (!ends) fail(`is ${status} because of ${reason}`);
  const isWhole =
    isShownOrder({ terms: placed, latencyMs, netting }) ||
    (status === 'executed' && filledContracts === null);
  if (!isWhole) fail('is a market order, and was not filled completely');
  if (reason === 'ioc_not_filled' || reason === 'fok_not_filled') {
    const isItsForce = reason === 'ioc_not_filled' ? timeInForce === 'ioc' : timeInForce === 'fok';
    if (!isItsForce) fail(`cannot end because of ${reason}`);
  }
  const mayWait = timeInForce === 'gtc' || latencyMs > 0;
  if (placed.rests && !mayWait) fail('rested and is not gtc');
  const inTime = placed.rests
    ? isInOrder(state, placed.atMs, outcome.atMs)
    : outcome.atMs === placed.atMs;
  if (!inTime) fail('ended before it was placed, or ended later and never rested');
  const isCharged = outcome.feesCents !== null;
  if (isCharged !== (placed.feeEachMicros !== null)) {
    fail('has fees and pays none, or the reverse');
  }
  const hasTraded = status === 'executed' || filledContracts !== null;
  if (hasTraded !== (fillPriceCents !== null)) {
    fail('has a fill price without a fill, or a fill without a price');
  }
  // Before a change of an order its fills had another limit.
  if (fillPriceCents === null || placed.isAmended === true) return;
  checkFill(placed, fillPriceCents, fail);
}

/** Checks a fill against the limit that its order had then. */
export function checkFill(
  order: Parameters<typeof limitOf>[0],
  priceCents: PriceCents,
  fail: Fail,
): void {
  if (reaches(order.action, priceCents, limitOf(order))) return;
  fail(`was filled at ${priceCents}, beyond its limit`);
}

/** Checks an order that has ended against its trade, which is missing if it is undefined. */
export function checkTraded(
  placed: AuditedOrder,
  outcome: AuditedEnd,
  found: AuditedTrade | undefined,
  ids: TradedIds,
  fail: Fail,
): void {
  const { contracts } = placed;
  if (found === undefined) return fail(`names trade ${ids.trade()}, which is missing`);
  const { of: trade, soldAtMs } = found;
  if (placed.netting !== null) {
    // It is the last trade that it has closed or opened; others may have been sold since.
    if (trade.market !== placed.market) {
      fail(`names trade ${ids.trade()}, which is of another market or side`);
    }
    if (trade.side !== placed.side) return;
    const isOpenedByIt = placed.netting.opens && ids.isOpenedByIt;
    if (!isOpenedByIt) fail(`names trade ${ids.trade()}, which differs from its fill`);
    return;
  }
  const isOfIt =
    trade.market === placed.market &&
    trade.instrument === placed.instrument &&
    trade.side === placed.side &&
    trade.instrumentSide === placed.instrumentSide;
  if (!isOfIt) fail(`names trade ${ids.trade()}, which is of another market or side`);
  const filled = outcome.filledContracts ?? contracts;
  if (placed.action === 'buy') {
    const isOpenedByIt =
      ids.isOpenedByIt &&
      trade.contracts === filled &&
      trade.entryPriceCents === outcome.fillPriceCents &&
      trade.venue === outcome.venue &&
      TRADE_TERM_NAMES.every((name) => trade[name] === placed[name]);
    if (!isOpenedByIt) fail(`names trade ${ids.trade()}, which differs from its fill`);
    return;
  }
  if (contracts > trade.contracts) fail(`sells more than trade ${ids.trade()} ever had`);
  if (!ids.isSoldByIt) {
    fail(`sells trade ${ids.sold()}, and its outcome names ${ids.trade()}`);
  }
  if (outcome.status !== 'executed' || outcome.filledContracts !== null) return;
  const isSold = soldAtMs === outcome.atMs;
  if (!isSold) fail(`has sold trade ${ids.trade()}, which it did not close`);
  if (!isSold || contracts !== trade.contracts) return;
  const isItsPrice = Math.floor(trade.proceedsCents / contracts) === outcome.fillPriceCents;
  if (!isItsPrice) fail(`has sold trade ${ids.trade()}, which was sold at another price`);
}

type EndedTrade = Pick<
  ClosedTrade,
  | 'market'
  | 'contracts'
  | 'costCents'
  | 'entryPriceCents'
  | 'proceedsCents'
  | 'feesCents'
  | 'outcome'
  | 'openedAtMs'
  | 'closedAtMs'
>;

/** Checks a closed trade against its market. */
export function checkClosed(state: ShardState, trade: EndedTrade, fail: Fail): void {
  const { contracts, costCents, proceedsCents, outcome, market } = trade;
  if (!isInOrder(state, trade.openedAtMs, trade.closedAtMs))
    fail('was closed before it was opened');
  if (!Number.isSafeInteger(trade.feesCents ?? 0)) fail('has fees that are not in whole cents');
  const averages = Math.ceil(costCents / contracts) === trade.entryPriceCents;
  if (!averages) fail('was not bought at its entry price');
  const isPaid = proceedsCents >= 0 && proceedsCents <= PAYOUT_CENTS * contracts;
  if (!isPaid) fail(`brought ${proceedsCents} cents for ${contracts} contracts`);
  if (outcome === null) return;
  const result = state.markets[market]?.outcome;
  const { correction } = state.pendingSettlements;
  // The server stopped after it corrected the market and before it corrected the trade.
  if (correction?.market === market && correction.from.outcome === outcome) return;
  if (result !== outcome) fail(`ended with ${outcome}, and its market with ${result}`);
}

/**
 * Whether the first can be earlier. If the clock was set back in between, the times do not show it.
 */
function isInOrder({ setBackFromMs }: ShardState, beforeMs: EpochMs, afterMs: EpochMs): boolean {
  return afterMs >= beforeMs || beforeMs <= setBackFromMs;
}

/** The trade, open or closed. */
export function tradeOf(
  state: ShardState,
  account: AccountRow,
  tradeId: Uuid,
): AuditedTrade | undefined {
  const closed = state.records.closedTrade(account, tradeId);
  if (closed === undefined) return openTradeOf(state, account, tradeId);
  return { of: closed, soldAtMs: closed.closeReason === 'sold' ? closed.closedAtMs : null };
}

/** The open trade, of which only the fields count that exist from its first fill on. */
export function openTradeOf(
  state: ShardState,
  account: AccountRow,
  tradeId: Uuid,
): AuditedTrade | undefined {
  const position = state.positionIds.find(tradeId);
  if (position === NO_ROW || state.positions.col.account.get(position) !== account) {
    return undefined;
  }
  return { of: closedTradeOf(state, position, 0, 0, null), soldAtMs: null };
}
