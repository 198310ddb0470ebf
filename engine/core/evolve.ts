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
  OrderPartFilled,
  OrderPlaced,
  PositionSettled,
} from './events.ts';
import { costOfPart, filledSoFar, remainingOf } from './fills.ts';
import { tradeIdOf } from './ids.ts';
import { invariant } from './invariant.ts';
import { adjust, costCents, hold, realize, stake } from './ledger.ts';
import { linkOrder, linkPosition, unlinkOrder, unlinkPosition } from './links.ts';
import { rest } from './resting.ts';
import { closedTradeOf, viaCode } from './rows.ts';
import { FLAG, type ShardState } from './state.ts';
import { NO_ROW } from './table.ts';
import { type Cents, type Contracts, START_BALANCE_CENTS } from './units.ts';

/** A run is bust below one dollar. CONTRACT.md section 5, Run and reset. */
const BUST_BELOW_CENTS = 100;

export function evolve(state: ShardState, event: Event): void {
  if (event.atMs > state.nowMs) state.nowMs = event.atMs;
  switch (event.kind) {
    case 'order_placed':
      return orderPlaced(state, event);
    case 'order_filled':
      return orderFilled(state, event);
    case 'order_part_filled':
      trade(state, event, event.contracts);
      return;
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

/** Applies what has just happened, and notes it for the journal. */
export function emit(state: ShardState, journal: Event[], event: Event): void {
  evolve(state, event);
  journal.push(event);
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
  if (event.position !== null) startSale(state, event.position);
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

/** The parts that a new sell will trade are told from those of the sells before it. */
function startSale({ positions }: ShardState, position: number): void {
  const { soldCents, soldBeforeCents } = positions.col;
  if (soldBeforeCents[position] === soldCents[position]) return;
  soldBeforeCents[position] = soldCents[position]!;
  positions.touch(position);
}

function orderFilled(state: ShardState, event: OrderFilled): void {
  const { tradeId, fillPriceCents, venue } = trade(state, event, remainingOf(state, event.order));
  finishOrder(state, event.order, {
    atMs: event.atMs,
    status: 'executed',
    reason: null,
    fillPriceCents,
    venue,
    tradeId,
    filledContracts: null,
  });
}

/** How the fills of an order stand after one more of them. */
type Traded = Pick<OrderOutcome, 'fillPriceCents' | 'venue' | 'tradeId'>;

/** Contracts change hands: money, and the position that a buy opens and a sell closes. */
function trade(
  state: ShardState,
  event: OrderFilled | OrderPartFilled,
  contracts: Contracts,
): Traded {
  const { order, priceCents } = event;
  const { col } = state.orders;
  const cents = costCents(priceCents, contracts);
  if ((col.flags[order]! & FLAG.sell) !== 0) return sell(state, event, contracts, cents);
  releaseHold(state, order, contracts);
  stake(state, col.account[order]!, cents);
  const before = col.position[order]!;
  const position = before === NO_ROW ? openPosition(state, order, event, contracts) : before;
  if (before !== NO_ROW) growPosition(state, position, contracts, cents);
  if (event.kind === 'order_part_filled' && before === NO_ROW) {
    col.position[order] = position;
    state.orders.touch(order);
    state.positions.col.resting[position] = order;
  }
  return {
    fillPriceCents: state.positions.col.entryPriceCents[position]!,
    venue: state.positions.col.venue[position]!,
    tradeId: state.positionIds.idOf(position),
  };
}

function sell(
  state: ShardState,
  event: OrderFilled | OrderPartFilled,
  contracts: Contracts,
  cents: Cents,
): Traded {
  const { order } = event;
  const { col } = state.positions;
  const position = state.orders.col.position[order]!;
  const all = state.orders.col.contracts[order]!;
  const tradeId = state.positionIds.idOf(position);
  if (col.contracts[position] === all) col.soldVenue[position] = event.venue;
  const venue = col.soldVenue[position]!;
  const soldCents = col.soldCents[position]! - col.soldBeforeCents[position]! + cents;
  const sold = all - col.contracts[position]! + contracts;
  const fillPriceCents = Math.floor(soldCents / sold);
  const account = col.account[position]!;
  if (event.kind === 'order_filled') {
    realize(state, account, col.costCents[position]!, cents);
    closePosition(state, position, event, cents);
  } else {
    const cost = costOfPart(col.costCents[position]!, contracts, col.contracts[position]!);
    realize(state, account, cost, cents);
    shrinkPosition(state, position, { contracts, cost, cents });
  }
  return { fillPriceCents, venue, tradeId };
}

function orderEnded(state: ShardState, event: OrderEnded): void {
  const { order, atMs, status, reason } = event;
  const filled = filledSoFar(state, order);
  const position = state.orders.col.position[order]!;
  releaseHold(state, order, remainingOf(state, order));
  finishOrder(state, order, {
    atMs,
    status,
    reason,
    fillPriceCents: filled.priceCents,
    venue: filled.venue,
    tradeId: position === NO_ROW ? null : state.positionIds.idOf(position),
    filledContracts: filled.contracts === 0 ? null : filled.contracts,
  });
}

/** A resting buy holds limit x remaining contracts; nothing else holds. CONTRACT.md section 5. */
function releaseHold(state: ShardState, order: number, contracts: Contracts): void {
  const { col } = state.orders;
  const isRestingBuy = (col.flags[order]! & FLAG.sell) === 0 && state.ladders.isWaiting(order);
  if (!isRestingBuy) return;
  hold(state, col.account[order]!, -costCents(col.limitPriceCents[order]!, contracts));
}

function finishOrder(state: ShardState, order: number, outcome: OrderOutcome): void {
  const { orders, positions } = state;
  const account = orders.col.account[order]!;
  const orderId = state.orderIds.idOf(order);
  if (state.ladders.isWaiting(order)) state.ladders.remove(order);
  const position = orders.col.position[order]!;
  if (position !== NO_ROW && positions.col.resting[position] === order) {
    positions.col.resting[position] = NO_ROW;
  }
  unlinkOrder(state, order);
  state.orderIds.remove(order);
  orders.release(order);
  state.records.current.addOutcome(account, orderId, outcome);
  countBust(state, account);
}

function openPosition(
  state: ShardState,
  order: number,
  event: OrderFilled | OrderPartFilled,
  contracts: Contracts,
): number {
  const { positions } = state;
  const from = state.orders.col;
  const row = positions.claim();
  const to = positions.col;
  to.sequence[row] = ++state.sequence;
  to.costCents[row] = costCents(event.priceCents, contracts);
  to.soldCostCents[row] = 0;
  to.soldCents[row] = 0;
  to.soldBeforeCents[row] = 0;
  to.account[row] = from.account[order]!;
  to.market[row] = from.market[order]!;
  to.instrument[row] = from.instrument[order]!;
  to.contracts[row] = contracts;
  to.soldContracts[row] = 0;
  to.entryPriceCents[row] = event.priceCents;
  to.statedProbPct[row] = from.statedProbPct[order]!;
  to.flags[row] = from.flags[order]! & (FLAG.no | FLAG.instrumentNo | FLAG.private);
  to.placedVia[row] = from.placedVia[order]!;
  to.venue[row] = event.venue;
  to.soldVenue[row] = 0;
  to.resting[row] = NO_ROW;
  state.positionIds.set(row, tradeIdOf(state.orderIds.idOf(order), event.atMs));
  linkPosition(state, row);
  return row;
}

/** A buy fills in parts: one position, at the average of them, rounded up. */
function growPosition(
  { positions }: ShardState,
  row: number,
  contracts: Contracts,
  cents: Cents,
): void {
  const { col } = positions;
  col.contracts[row]! += contracts;
  col.costCents[row]! += cents;
  col.entryPriceCents[row] = Math.ceil(col.costCents[row]! / col.contracts[row]!);
  positions.touch(row);
}

/** Some contracts are sold, with their cost and for so many cents; the others stay. */
function shrinkPosition(
  { positions }: ShardState,
  row: number,
  { contracts, cost, cents }: { contracts: Contracts; cost: Cents; cents: Cents },
): void {
  const { col } = positions;
  col.contracts[row]! -= contracts;
  col.costCents[row]! -= cost;
  col.soldContracts[row]! += contracts;
  col.soldCostCents[row]! += cost;
  col.soldCents[row]! += cents;
  positions.touch(row);
}

function positionSettled(state: ShardState, event: PositionSettled): void {
  const { col } = state.positions;
  const { position, proceedsCents } = event;
  const account = col.account[position]!;
  invariant(col.resting[position] === NO_ROW, 'a position was settled while its order rests');
  realize(state, account, col.costCents[position]!, proceedsCents);
  closePosition(state, position, event, proceedsCents);
  countBust(state, account);
}

function closePosition(
  state: ShardState,
  position: number,
  event: OrderFilled | OrderPartFilled | PositionSettled,
  proceedsCents: Cents,
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
