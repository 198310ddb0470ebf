/**
 * Applies what happened. The only writer of what the journal keeps: live trading and recovery run
 * this same code, so a restart ends where the crash began.
 */
import { replaceCatalog } from './catalog-state.ts';
import type {
  AccountOpened,
  Event,
  OrderEnded,
  OrderFilled,
  OrderOutcome,
  OrderPlaced,
  PositionSettled,
} from './events.ts';
import { tradeIdOf } from './ids.ts';
import { invariant } from './invariant.ts';
import { adjust, costCents, hold, realize, stake } from './ledger.ts';
import { linkOrder, linkPosition, unlinkOrder, unlinkPosition } from './links.ts';
import { rest } from './resting.ts';
import { closedTradeOf, viaCode } from './rows.ts';
import { FLAG, type ShardState } from './state.ts';
import { NO_ROW } from './table.ts';
import { START_BALANCE_CENTS, type Uuid } from './units.ts';

/** A run is bust below one dollar. CONTRACT.md section 5, Run and reset. */
const BUST_BELOW_CENTS = 100;

export function evolve(state: ShardState, event: Event): void {
  if (event.atMs > state.nowMs) state.nowMs = event.atMs;
  switch (event.kind) {
    case 'order_placed':
      return orderPlaced(state, event);
    case 'order_filled':
      return orderFilled(state, event);
    case 'order_ended':
      return orderEnded(state, event);
    case 'position_settled':
      return positionSettled(state, event);
    case 'account_opened':
      return accountOpened(state, event);
    case 'cash_adjusted':
      adjust(state, event.account, event.amountCents);
      return countBust(state, event.account);
    case 'trade_counted':
      return state.tradeCounts.add(event);
    case 'market_resolved':
      state.markets[event.market]!.outcome = event.outcome;
      return;
    case 'game_changed':
      state.games.set(event.game, { status: event.status, atMs: event.atMs });
      return;
    case 'catalog_replaced':
      return replaceCatalog(state, event.catalog);
  }
}

function accountOpened(state: ShardState, event: AccountOpened): void {
  const { accounts } = state;
  const row = accounts.claim();
  invariant(row === event.account, 'an account took another row');
  openAccountRow(state, row);
  accounts.col.runStartedAtMs[row] = event.atMs;
  state.accountIds.set(row, event.accountId);
}

function openAccountRow(state: ShardState, row: number): void {
  const { col } = state.accounts;
  col.balanceCents[row] = START_BALANCE_CENTS;
  for (const name of [
    'heldCents',
    'openStakeCents',
    'realizedCents',
    'adjustedCents',
    'lifetimeRealizedCents',
    'lastResetAtMs',
    'busts',
    'bustedRun',
    'orders',
    'positions',
  ] as const) {
    col[name][row] = 0;
  }
  col.run[row] = 1;
  col.firstOrder[row] = NO_ROW;
  col.firstPosition[row] = NO_ROW;
}

function orderPlaced(state: ShardState, event: OrderPlaced): void {
  const { orders } = state;
  const row = orders.claim();
  invariant(row === event.order, 'an order took another row');
  const { col } = orders;
  col.sequence[row] = ++state.sequence;
  col.expiresAtMs[row] = event.expiresAtMs ?? 0;
  col.account[row] = event.account;
  col.market[row] = event.market;
  col.instrument[row] = event.instrument;
  col.position[row] = event.position ?? NO_ROW;
  col.contracts[row] = event.contracts;
  col.limitPriceCents[row] = event.limitPriceCents ?? 0;
  col.statedProbPct[row] = event.statedProbPct ?? 0;
  col.placedVia[row] = viaCode(event.placedVia);
  col.flags[row] = flagsOf(event);
  state.orderIds.set(row, event.orderId);
  linkOrder(state, row);
  if (event.rests && event.action === 'buy') {
    hold(state, event.account, costCents(event.limitPriceCents!, event.contracts));
  }
  if (event.rests) rest(state, row);
  state.records.current.addPlacement(event);
}

function flagsOf(event: OrderPlaced): number {
  return (
    (event.action === 'sell' ? FLAG.sell : 0) |
    (event.side === 'no' ? FLAG.no : 0) |
    (event.instrumentSide === 'no' ? FLAG.instrumentNo : 0) |
    (event.routing === 'best' ? FLAG.routed : 0) |
    (event.placedPrivate ? FLAG.private : 0) |
    (event.type === 'limit' ? FLAG.limit : 0)
  );
}

function orderFilled(state: ShardState, event: OrderFilled): void {
  const row = event.order;
  const { col } = state.orders;
  const account = col.account[row]!;
  const amount = costCents(event.priceCents, col.contracts[row]!);
  let tradeId: Uuid;
  releaseHold(state, row);
  if ((col.flags[row]! & FLAG.sell) === 0) {
    stake(state, account, amount);
    tradeId = openPosition(state, row, event, amount);
  } else {
    const position = col.position[row]!;
    tradeId = state.positionIds.idOf(position);
    realize(state, account, state.positions.col.costCents[position]!, amount);
    closePosition(state, position, event, amount);
  }
  finishOrder(state, row, {
    atMs: event.atMs,
    status: 'executed',
    reason: null,
    fillPriceCents: event.priceCents,
    venue: event.venue,
    tradeId,
  });
}

function orderEnded(state: ShardState, event: OrderEnded): void {
  const { order, atMs, status, reason } = event;
  releaseHold(state, order);
  const position = state.orders.col.position[order]!;
  const tradeId = position === NO_ROW ? null : state.positionIds.idOf(position);
  finishOrder(state, order, {
    atMs,
    status,
    reason,
    fillPriceCents: null,
    venue: null,
    tradeId,
  });
}

/** A resting buy holds limit x contracts; nothing else holds. CONTRACT.md section 5. */
function releaseHold(state: ShardState, order: number): void {
  const { col } = state.orders;
  const isRestingBuy = (col.flags[order]! & FLAG.sell) === 0 && state.ladders.isWaiting(order);
  if (!isRestingBuy) return;
  hold(state, col.account[order]!, -costCents(col.limitPriceCents[order]!, col.contracts[order]!));
}

function finishOrder(state: ShardState, order: number, outcome: OrderOutcome): void {
  const { orders, positions } = state;
  const account = orders.col.account[order]!;
  const orderId = state.orderIds.idOf(order);
  if (state.ladders.isWaiting(order)) state.ladders.remove(order);
  const position = orders.col.position[order]!;
  if (position !== NO_ROW && positions.col.sell[position] === order) {
    positions.col.sell[position] = NO_ROW;
  }
  unlinkOrder(state, order);
  state.orderIds.remove(order);
  orders.release(order);
  state.records.current.addOutcome(account, orderId, outcome);
  countBust(state, account);
}

function openPosition(state: ShardState, order: number, event: OrderFilled, cost: number): Uuid {
  const { positions } = state;
  const from = state.orders.col;
  const row = positions.claim();
  const to = positions.col;
  const tradeId = tradeIdOf(state.orderIds.idOf(order), event.atMs);
  to.sequence[row] = ++state.sequence;
  to.costCents[row] = cost;
  to.account[row] = from.account[order]!;
  to.market[row] = from.market[order]!;
  to.instrument[row] = from.instrument[order]!;
  to.contracts[row] = from.contracts[order]!;
  to.entryPriceCents[row] = event.priceCents;
  to.statedProbPct[row] = from.statedProbPct[order]!;
  to.flags[row] = from.flags[order]! & (FLAG.no | FLAG.instrumentNo | FLAG.private);
  to.placedVia[row] = from.placedVia[order]!;
  to.venue[row] = event.venue;
  to.sell[row] = NO_ROW;
  state.positionIds.set(row, tradeId);
  linkPosition(state, row);
  return tradeId;
}

function positionSettled(state: ShardState, event: PositionSettled): void {
  const { col } = state.positions;
  const { position, proceedsCents } = event;
  const account = col.account[position]!;
  invariant(col.sell[position] === NO_ROW, 'a position was settled while its sell rests');
  realize(state, account, col.costCents[position]!, proceedsCents);
  closePosition(state, position, event, proceedsCents);
  countBust(state, account);
}

function closePosition(
  state: ShardState,
  position: number,
  event: OrderFilled | PositionSettled,
  proceedsCents: number,
): void {
  const outcome = event.kind === 'position_settled' ? event.outcome : null;
  const trade = closedTradeOf(state, position, event.atMs, proceedsCents, outcome);
  state.records.current.addClosedTrade(trade);
  unlinkPosition(state, position);
  state.positionIds.remove(position);
  state.positions.release(position);
}

/** Once a run: nothing open, nothing resting, less than a dollar left. */
function countBust(state: ShardState, account: number): void {
  const { col } = state.accounts;
  const worthCents = col.balanceCents[account]! + col.heldCents[account]!;
  if (worthCents >= BUST_BELOW_CENTS || col.bustedRun[account] === col.run[account]) return;
  if (col.orders[account] !== 0 || col.positions[account] !== 0) return;
  col.bustedRun[account] = col.run[account]!;
  col.busts[account]!++;
  state.accounts.touch(account);
}
