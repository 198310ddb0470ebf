/**
 * Whether an order, its outcome and its trade agree. Each is stored separately and written once. So
 * a mistake in one of them contradicts another.
 */

import { invariant } from '../base/invariant.ts';
import {
  type AccountRow,
  type EpochMs,
  NO_ROW,
  type OrderRow,
  PAYOUT_CENTS,
  type PlacedNetting,
  type PlacedUnder,
  type Uuid,
} from '../base/units.ts';
import { uuidTimeMs } from '../memory/uuid-words.ts';
import type { ClosedTrade, OrderOutcome } from '../rules/events.ts';
import type { PlacedOrder } from '../rules/finished-records.ts';
import { instrumentSideOf, isShownOrder, sideOf } from '../rules/flags.ts';
import { isTradeOf } from '../rules/ids.ts';
import type { MarketOutcome } from '../rules/messages.ts';
import { ORDER_TERM_NAMES, TRADE_TERM_NAMES } from '../rules/order-terms.ts';
import { reaches } from '../rules/pricing.ts';
import { closedTradeOf } from '../rules/row-records.ts';
import type { ShardState } from '../rules/state.ts';
import { waitingTermsAt } from '../rules/waiting-terms.ts';

/** Reports `what` unless `holds`. */
export type Check = (holds: boolean, rule: string) => void;

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

/** Checks that an outcome is possible for its order. */
export function checkEnd(
  state: ShardState,
  placed: PlacedOrder,
  outcome: OrderOutcome,
  check: Check,
): void {
  const { status, reason, fillPriceCents, filledContracts } = outcome;
  const { action, limitPriceCents, boundPriceCents, timeInForce } = placed.terms;
  const ends =
    status === 'executed'
      ? reason === null || (reason === 'ioc_not_filled' && filledContracts !== null)
      : reason !== null && (reason === 'expired') === (status === 'expired');
  check(ends, `is ${status} because of ${reason}`);
  const isWhole = isShownOrder(placed) || (status === 'executed' && filledContracts === null);
  check(isWhole, 'is a market order, and was not filled completely');
  if (reason === 'ioc_not_filled' || reason === 'fok_not_filled') {
    check(reason.startsWith(`${timeInForce}_`), `cannot end because of ${reason}`);
  }
  const mayWait = timeInForce === 'gtc' || placed.latencyMs > 0;
  check(!placed.rests || mayWait, 'rested and is not gtc');
  const inTime = placed.rests
    ? isInOrder(state, placed.atMs, outcome.atMs)
    : outcome.atMs === placed.atMs;
  check(inTime, 'ended before it was placed, or ended later and never rested');
  const isCharged = outcome.feesCents !== null;
  check(isCharged === (placed.feeEachMicros !== null), 'has fees and pays none, or the reverse');
  const hasTraded = status === 'executed' || filledContracts !== null;
  check(
    hasTraded === (fillPriceCents !== null),
    'has a fill price without a fill, or a fill without a price',
  );
  // Before a change of an order its fills had another limit.
  if (fillPriceCents === null || placed.isAmended === true) return;
  const limit = limitPriceCents ?? boundPriceCents ?? (action === 'buy' ? PAYOUT_CENTS : 0);
  check(
    reaches(action, fillPriceCents, limit),
    `was filled at ${fillPriceCents}, beyond its limit`,
  );
}

/** Checks an order that has ended against its trade, which is missing if it is undefined. */
export function checkTraded(
  placed: PlacedOrder,
  outcome: OrderOutcome,
  trade: TradeSoFar | undefined,
  check: Check,
): void {
  const { contracts, terms } = placed;
  const { tradeId } = outcome;
  invariant(tradeId !== null, 'an order without a trade is compared with one');
  check(trade !== undefined, `names trade ${tradeId}, which is missing`);
  if (trade === undefined) return;
  if (placed.netting !== null) {
    // It is the last trade that it has closed or opened; others may have been sold since.
    const isOfMarket = trade.market === placed.market;
    check(isOfMarket, `names trade ${tradeId}, which is of another market or side`);
    if (trade.side !== placed.side) return;
    const isOpenedByIt = placed.netting.opens && isTradeOf(tradeId, placed.orderId);
    check(isOpenedByIt, `names trade ${tradeId}, which differs from its fill`);
    return;
  }
  const isOfIt =
    trade.market === placed.market &&
    trade.instrument === placed.instrument &&
    trade.side === placed.side &&
    trade.instrumentSide === placed.instrumentSide;
  check(isOfIt, `names trade ${tradeId}, which is of another market or side`);
  const filled = outcome.filledContracts ?? contracts;
  if (terms.action === 'buy') {
    const isOpenedByIt =
      isTradeOf(tradeId, placed.orderId) &&
      trade.contracts === filled &&
      trade.entryPriceCents === outcome.fillPriceCents &&
      trade.venue === outcome.venue &&
      TRADE_TERM_NAMES.every((name) => trade[name] === terms[name]);
    check(isOpenedByIt, `names trade ${tradeId}, which differs from its fill`);
    return;
  }
  check(contracts <= trade.contracts, `sells more than trade ${tradeId} ever had`);
  check(
    placed.tradeId === tradeId,
    `sells trade ${placed.tradeId}, and its outcome names ${tradeId}`,
  );
  if (outcome.status !== 'executed' || outcome.filledContracts !== null) return;
  const isSold = trade.closeReason === 'sold' && trade.closedAtMs === outcome.atMs;
  check(isSold, `has sold trade ${tradeId}, which it did not close`);
  if (!isSold || contracts !== trade.contracts) return;
  const isItsPrice = Math.floor(trade.proceedsCents / contracts) === outcome.fillPriceCents;
  check(isItsPrice, `has sold trade ${tradeId}, which was sold at another price`);
}

function endBy(outcome: MarketOutcome): string {
  return outcome === 'void' ? 'void voided' : 'settled settled';
}

/** Checks a closed trade against its market. */
export function checkClosed(state: ShardState, trade: ClosedTrade, check: Check): void {
  const { tradeId, contracts, costCents, proceedsCents, outcome, market } = trade;
  check(uuidTimeMs(tradeId) === trade.openedAtMs, 'was opened at another time than its id says');
  check(isInOrder(state, trade.openedAtMs, trade.closedAtMs), 'was closed before it was opened');
  check(Number.isSafeInteger(trade.feesCents ?? 0), 'has fees that are not in whole cents');
  const averages = Math.ceil(costCents / contracts) === trade.entryPriceCents;
  check(averages, 'was not bought at its entry price');
  const isPaid = proceedsCents >= 0 && proceedsCents <= PAYOUT_CENTS * contracts;
  check(isPaid, `brought ${proceedsCents} cents for ${contracts} contracts`);
  const ends = outcome === null ? ['closed sold', 'reset account_reset'] : [endBy(outcome)];
  check(
    ends.includes(`${trade.status} ${trade.closeReason}`),
    `is ${trade.status}: ${trade.closeReason}`,
  );
  if (outcome === null) return;
  const result = state.markets[market]?.outcome;
  const { correction } = state.pendingSettlements;
  // The server stopped after it corrected the market and before it corrected the trade.
  if (correction?.market === market && correction.from.outcome === outcome) return;
  check(result === outcome, `ended with ${outcome}, and its market with ${result}`);
}

/**
 * Whether the first can be earlier. If the clock was set back in between, the times do not show it.
 */
function isInOrder({ setBackFromMs }: ShardState, beforeMs: EpochMs, afterMs: EpochMs): boolean {
  return afterMs >= beforeMs || beforeMs <= setBackFromMs;
}

/** A trade, of which the end may be missing. */
export type TradeSoFar = Omit<ClosedTrade, 'closeReason'> & { closeReason: string };

/** The trade, open or closed. */
export function tradeOf(
  state: ShardState,
  account: AccountRow,
  tradeId: Uuid,
): TradeSoFar | undefined {
  return state.records.closedTrade(account, tradeId) ?? openTradeOf(state, account, tradeId);
}

/** The open trade, of which only the fields count that exist from its first fill on. */
export function openTradeOf(
  state: ShardState,
  account: AccountRow,
  tradeId: Uuid,
): TradeSoFar | undefined {
  const position = state.positionIds.find(tradeId);
  if (position === NO_ROW || state.positions.col.account.get(position) !== account) {
    return undefined;
  }
  return { ...closedTradeOf(state, position, 0, 0, null), closeReason: 'open' };
}
