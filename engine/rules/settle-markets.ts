/**
 * The consequences of a result: its market settles once. Rules S1 to S10, S15, T140
 * (engine/RULES.md).
 */

import { invariant } from '../base/invariant.ts';
import {
  type AccountRow,
  type Cents,
  type EpochMs,
  HOME_VENUE,
  type MarketNumber,
  NO_ROW,
  type OrderRow,
  PAYOUT_CENTS,
  type PositionRow,
} from '../base/units.ts';
import { payoutCents, resultOf } from './apply-results.ts';
import {
  beginCorrection,
  continueCorrection,
  correctAccount,
  isHalfCorrected,
} from './corrections.ts';
import type { Decision } from './decision.ts';
import type { OutcomeSource } from './events.ts';
import { emit } from './evolve.ts';
import type { FactSink } from './fact-sink.ts';
import { sideOf } from './flags.ts';
import type { ResultTick, Settled } from './messages.ts';
import type { Book, Instrument, Market } from './reference-data.ts';
import { booksOf, byFillOrder, ordersOn, pendingOf } from './resting.ts';
import type { ShardState } from './state.ts';

/** A result and its source. */
type SourcedResult = Omit<ResultTick, 'kind' | 'source'> & { source: OutcomeSource };

const HAD_ITS_RESULT: Settled = {
  isNew: false,
  ...{ settledTrades: 0, correctedTrades: 0, canceledOrders: 0 },
};

/**
 * A venue_a result settles its market once, and later results do not. It settles as much as the
 * batch has room for, the rest in slices.
 */
export function settle(state: ShardState, tick: SourcedResult, facts: FactSink): void {
  const market = state.markets[tick.market]!;
  if (market.outcome !== null) return;
  const { atMs, outcome, yesPayoutCents, noPayoutCents, source } = tick;
  const { number } = market;
  invariant(isPayout(yesPayoutCents) && isPayout(noPayoutCents), 'a contract pays 0 to 100 cents');
  if (outcome === 'scalar') {
    const payouts = { yesPayoutCents, noPayoutCents };
    emit(state, facts, { kind: 'market_valued', atMs, market: number, ...payouts });
  }
  emit(state, facts, { kind: 'market_resolved', atMs, market: number, outcome, source });
  if (market.venue === HOME_VENUE) continueSettlements(state, facts);
}

/** `settle`, and its counts. */
export function settleAndCount(state: ShardState, tick: SourcedResult, facts: FactSink): Settled {
  const market = state.markets[tick.market]!;
  if (market.outcome !== null) return HAD_ITS_RESULT;
  let canceledOrders = 0;
  for (const _ of ordersIn(state, market)) canceledOrders++;
  const settledTrades = state.positionsOfMarket.count(market.number);
  settle(state, tick, facts);
  return { isNew: true, settledTrades, correctedTrades: 0, canceledOrders };
}

/** Continues a correction that was decided, and returns its counts. Rule S20 (engine/RULES.md). */
export function correctAndCount(state: ShardState, decision: Decision, facts: FactSink): Settled {
  const left = decision.kind === 'accept' ? decision.left : undefined;
  if (left === undefined) return HAD_ITS_RESULT;
  const correctedTrades = beginCorrection(state, left);
  continueSettlements(state, facts);
  return { isNew: true, settledTrades: 0, correctedTrades, canceledOrders: 0 };
}

/**
 * Settles what results have left, the oldest first, corrected or new, as far as the batch has room.
 */
export function continueSettlements(state: ShardState, facts: FactSink): void {
  const { pendingSettlements } = state;
  if (!continueCorrection(state, facts)) return;
  for (const market of pendingSettlements.markets)
    if (!continueMarket(state, market, facts)) return;
  pendingSettlements.settledAccounts.clear();
}

/** Settles all that is left, whatever room the batch has. */
export function settleAll(state: ShardState, facts: FactSink): void {
  const { pendingSettlements } = state;
  const { left } = pendingSettlements;
  pendingSettlements.left = Number.POSITIVE_INFINITY;
  continueSettlements(state, facts);
  invariant(pendingSettlements.isEmpty, 'something is left after all was settled');
  pendingSettlements.left = left;
}

/**
 * Settles all that one account has left, in the order in which it would have settled at once. So no
 * decision and no answer sees an account that is half settled.
 */
export function settleAccount(state: ShardState, account: AccountRow, facts: FactSink): void {
  correctAccount(state, account, facts);
  if (!mayHaveLeft(state, account)) return;
  const { settledAccounts, markets } = state.pendingSettlements;
  settledAccounts.add(account);
  const { orders, positions } = leftOf(state, account);
  if (orders.length === 0 && positions.length === 0) return;
  const ordersOf = Map.groupBy(orders, (order) => state.orders.col.market.get(order));
  const positionsOf = Map.groupBy(positions, (row) => state.positions.col.market.get(row));
  for (const market of markets) {
    const canceled = ordersOf.get(market) ?? [];
    canceled.sort(byFillOrder(state, state.markets[market]!));
    for (const order of canceled) cancelOrder(state, order, facts);
    for (const position of positionsOf.get(market) ?? []) settlePosition(state, position, facts);
  }
}

/** Whether part of the account is still to be settled. */
export function isHalfSettled(state: ShardState, account: AccountRow): boolean {
  if (isHalfCorrected(state, account)) return true;
  if (!mayHaveLeft(state, account)) return false;
  const { orders, positions } = leftOf(state, account);
  return orders.length > 0 || positions.length > 0;
}

function mayHaveLeft({ pendingSettlements }: ShardState, account: AccountRow): boolean {
  return pendingSettlements.markets.size > 0 && !pendingSettlements.settledAccounts.has(account);
}

/** The unsettled trades of an account, the newest first. */
function leftOf(state: ShardState, account: AccountRow) {
  const { pendingSettlements, orders, positions, ordersOfAccount, positionsOfAccount } = state;
  const isLeft = (market: MarketNumber) => pendingSettlements.markets.has(market);
  return {
    orders: [...ordersOfAccount.of(account)].filter((row) => isLeft(orders.col.market.get(row))),
    positions: [...positionsOfAccount.of(account)].filter((row) => {
      return isLeft(positions.col.market.get(row));
    }),
  };
}

/**
 * Settles the orders of a market, then its trades. False: some are left, because the batch has no
 * more room.
 */
function continueMarket(state: ShardState, number: MarketNumber, facts: FactSink): boolean {
  const { pendingSettlements, positionsOfMarket } = state;
  const market = state.markets[number]!;
  invariant(pendingSettlements.markets.has(number), 'a market is settled after all of it was');
  for (const book of booksOf(market)) {
    if (book.market !== market) continue;
    // The first order is looked up at each step, because it leaves its book.
    for (let order = firstOn(state, book); order !== NO_ROW; order = firstOn(state, book)) {
      if (pendingSettlements.left <= 0) return false;
      cancelOrder(state, order, facts);
    }
  }
  for (const order of pendingOf(state, market)) {
    if (pendingSettlements.left <= 0) return false;
    cancelOrder(state, order, facts);
  }
  for (;;) {
    const position = positionsOfMarket.newest(number);
    if (position === NO_ROW) break;
    if (pendingSettlements.left <= 0) return false;
    settlePosition(state, position, facts);
  }
  pendingSettlements.markets.delete(number);
  return true;
}

function cancelOrder(state: ShardState, order: OrderRow, facts: FactSink): void {
  state.pendingSettlements.left--;
  const { outcome, resolvedAtMs: atMs } = state.markets[state.orders.col.market.get(order)]!;
  invariant(outcome !== null, 'an order is canceled with a result that its market does not have');
  const reason = 'market_resolved';
  emit(state, facts, { kind: 'order_ended', atMs, order, status: 'canceled', reason });
}

function settlePosition(state: ShardState, position: PositionRow, facts: FactSink): void {
  const { col } = state.positions;
  state.pendingSettlements.left--;
  const market = state.markets[col.market.get(position)]!;
  const result = resultOf(market);
  invariant(result !== null, 'a trade is settled whose market has no result');
  const { outcome } = result;
  const proceedsCents = payoutCents(result, sideOf(col.flags.get(position)), {
    contracts: col.contracts.get(position),
    costCents: col.costCents.get(position),
  });
  const atMs = market.resolvedAtMs;
  emit(state, facts, { kind: 'position_settled', atMs, position, proceedsCents, outcome });
}

function isPayout(cents: Cents): boolean {
  return Number.isInteger(cents) && cents >= 0 && cents <= PAYOUT_CENTS;
}

/** The orders that wait on the books of a home market, or on their way there. */
function* ordersIn(state: ShardState, market: Market): Generator<OrderRow> {
  for (const book of booksOf(market)) if (book.market === market) yield* ordersOn(state, book);
  yield* pendingOf(state, market);
}

function firstOn(state: ShardState, book: Book): OrderRow | typeof NO_ROW {
  for (const order of ordersOn(state, book)) return order;
  return NO_ROW;
}

/** A cancelled game voids every market of its instruments that has no result. */
export function voidGame(
  state: ShardState,
  { slug, atMs, source }: { slug: string; atMs: EpochMs; source: OutcomeSource },
  facts: FactSink,
): void {
  if (state.config.voidsByResult === true) return;
  for (const instrument of state.instruments) {
    if (instrument.entry?.gameSlug === slug)
      voidMarkets(state, instrument, { atMs, source }, facts);
  }
}

/** Voids the home markets of an instrument that have no result. */
export function voidMarkets(
  state: ShardState,
  { listings }: Instrument,
  from: { atMs: EpochMs; source: OutcomeSource },
  facts: FactSink,
): void {
  for (const { market } of listings) {
    if (market.venue !== HOME_VENUE) continue;
    settle(state, { ...VOID, ...from, market: market.number }, facts);
  }
}

const VOID = { outcome: 'void', yesPayoutCents: 0, noPayoutCents: 0 } as const;
