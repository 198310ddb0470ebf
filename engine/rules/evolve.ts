/**
 * Applies events. It is the only writer of the state that facts hold. Live trading and recovery run
 * this same code, so a restart finds the state that a crash interrupted. Rules D3, M5 to M8, M31
 * (engine/RULES.md).
 */

import { invariant } from '../base/invariant.ts';
import {
  type Cents,
  type Contracts,
  type EpochMs,
  NO_ROW,
  type OrderRow,
  PAYOUT_CENTS,
  type PositionRow,
} from '../base/units.ts';
import { countBust, openAccount, startRun } from './accounts.ts';
import {
  correctMarket,
  positionReset,
  positionSettled,
  resolveMarket,
  tradeCorrected,
  valueMarket,
} from './apply-results.ts';
import { replaceCatalog } from './catalog.ts';
import { changed, newIn } from './catalog-change.ts';
import type {
  Event,
  FillNets,
  OrderAmended,
  OrderArrived,
  OrderCancelAccepted,
  OrderEnded,
  OrderFilled,
  OrderGroupChanged,
  OrderGroupRemoved,
  OrderPartFilled,
  OrderPlaced,
  OrderQueued,
  PairClosed,
} from './events.ts';
import type { FactSink } from './fact-sink.ts';
import { actionOf, flagsOf, isBuy, isLimit, isSell } from './flags.ts';
import { adjust, costCents, countPayable, hold, realize, stake } from './ledger.ts';
import { averagePrice, costOfPart, filledSoFar, lastOpened, remainingOf } from './partial-fills.ts';
import {
  closePosition,
  growPosition,
  openPosition,
  shrinkPosition,
  startSale,
} from './positions.ts';
import { addDue, joinBook, rest, restAtOnce, waitNoLonger } from './resting.ts';
import { writeOrderTerms } from './row-terms.ts';
import type { ShardState } from './state.ts';
import { heldCentsAt, timeInForceCode } from './waiting-terms.ts';

export function evolve(state: ShardState, event: Event): void {
  if (event.atMs > state.nowMs) state.nowMs = event.atMs;
  switch (event.kind) {
    case 'order_placed':
      return orderPlaced(state, event);
    case 'fill_nets':
      return fillNets(state, event);
    case 'pair_closed':
      return pairClosed(state, event);
    case 'order_amended':
      return orderAmended(state, event);
    case 'order_group_made': {
      const { account, group: id, contractsLimit, windowSeconds } = event;
      return state.orderGroups.make(account, { id, contractsLimit, windowSeconds });
    }
    case 'order_group_changed':
      return groupChanged(state, event);
    case 'order_group_removed':
      return groupRemoved(state, event);
    case 'order_queued':
      return orderQueued(state, event);
    case 'queue_met':
      return state.queue.note(event.order, 0, event.partE2);
    case 'fill_noted':
    case 'book_missed':
      return;
    case 'liquidity_taken':
      return state.taken.add(event);
    case 'order_arrived':
      return orderArrived(state, event);
    case 'order_cancel_accepted':
      return cancelAccepted(state, event);
    case 'order_filled':
      return orderFilled(state, event);
    case 'order_part_filled':
      trade(state, event, event.contracts);
      return;
    case 'order_ended':
      return orderEnded(state, event);
    case 'position_settled':
      return positionSettled(state, event);
    case 'position_reset':
      return positionReset(state, event);
    case 'account_reset':
      return startRun(state, event);
    case 'privacy_changed':
      state.accounts.change(event.account).isPublic.set(event.account, event.private ? 0 : 1);
      return;
    case 'trade_marked':
      state.referenceDataVersion++;
      state.tradeTags.set(event.trade, { parlay: event.parlay, combine: event.combine });
      return;
    case 'account_opened':
      return openAccount(state, event);
    case 'cash_adjusted':
      adjust(state, event.account, event.amountCents);
      return countBust(state, event.account);
    case 'trade_counted':
      return state.tradeCounts.add(event);
    case 'market_resolved':
      state.referenceDataVersion++;
      return resolveMarket(state, event);
    case 'market_valued':
      return valueMarket(state, event);
    case 'market_corrected':
      state.referenceDataVersion++;
      return correctMarket(state, event);
    case 'trade_corrected':
      return tradeCorrected(state, event);
    case 'game_changed':
      state.referenceDataVersion++;
      state.games.set(event.game, { status: event.status, atMs: event.atMs });
      return;
    case 'catalog_replaced':
      state.referenceDataVersion++;
      return replaceCatalog(state, event.catalog);
    case 'catalog_changed':
      state.referenceDataVersion++;
      return replaceCatalog(state, changed(state.catalog, event.change));
    case 'clock_set':
      invariant(event.atMs <= event.fromMs, 'the clock was set forward');
      state.nowMs = event.atMs;
      state.setBackFromMs = Math.max(state.setBackFromMs, event.fromMs);
      waitNoLonger(state, event.atMs);
      state.orderGroups.clearFills();
      return state.tradeCounts.clear();
    default:
      event satisfies never;
  }
}

/** Applies an event, and adds its facts to the log's batch. */
export function emit(state: ShardState, facts: FactSink, event: Event): void {
  evolve(state, event);
  switch (event.kind) {
    case 'order_placed':
    case 'order_amended': {
      const { placedRecord, placedOffset } = state.orders.change(event.order);
      placedRecord.set(event.order, facts.record);
      placedOffset.set(event.order, facts.offset);
      break;
    }
    case 'market_resolved':
      state.markets[event.market]!.settlement!.record = facts.record;
      break;
    case 'catalog_replaced':
    case 'catalog_changed': {
      const from = facts.offset;
      facts.add(state, event);
      return noteCatalog(state, event, { record: facts.record, bytes: facts.offset - from });
    }
    default:
  }
  facts.add(state, event);
}

/** Where the newest catalog is in the log, and what changes since the last whole one took. */
function noteCatalog(
  state: ShardState,
  event: Extract<Event, { kind: 'catalog_replaced' | 'catalog_changed' }>,
  { record, bytes }: { record: number; bytes: number },
): void {
  const isWhole = event.kind === 'catalog_replaced';
  const described = isWhole ? event.catalog.instruments : newIn(event.change.instruments);
  for (const { id } of described) state.instrumentsById.get(id)!.described = record;
  if (isWhole) {
    state.catalogPlace = { record, wholeBytes: bytes, changedBytes: 0 };
    return;
  }
  invariant(state.catalogPlace?.record === event.before, 'a catalog follows another one');
  const { wholeBytes, changedBytes } = state.catalogPlace;
  state.catalogPlace = { record, wholeBytes, changedBytes: changedBytes + bytes };
}

function orderPlaced(state: ShardState, event: OrderPlaced): void {
  const { orders } = state;
  const { terms } = event;
  const row = orders.claim();
  invariant(row === event.order, 'an order was placed in another row than its event names');
  checkPlaced(state, event);
  const col = orders.change(row);
  col.sequence.set(row, ++state.sequence);
  col.account.set(row, event.account);
  col.market.set(row, event.market);
  col.instrument.set(row, event.instrument);
  col.position.set(row, event.position ?? NO_ROW);
  col.contracts.set(row, event.contracts);
  col.flags.set(row, flagsOf(event));
  writeOrderTerms(col, row, terms);
  state.orderIds.set(row, event.orderId);
  const isOfBuy = terms.action === 'buy';
  if (isOfBuy) countPayable(state, event.account, event.contracts);
  if (isPlain(event)) {
    if (!event.rests) return;
    restAtOnce(state, row);
    if (isOfBuy) hold(state, event.account, costCents(terms.limitPriceCents!, event.contracts));
    return;
  }
  keepMore(state, row, event);
  if (!event.rests) return;
  rest(state, row);
  if (isOfBuy) hold(state, event.account, holdOf(state, row, event.contracts));
}

/**
 * Whether nothing is kept of an order but its row, as of nearly all. Then its placement looks into
 * no other table.
 */
function isPlain(event: OrderPlaced): boolean {
  const { latencyMs, feesOn, liquidity, realistic } = event;
  return (
    latencyMs === 0 &&
    !feesOn &&
    liquidity === 'account' &&
    !realistic &&
    event.feeEachMicros === null &&
    event.netting === null &&
    !event.postOnly &&
    event.group === null
  );
}

function keepMore(state: ShardState, row: OrderRow, event: OrderPlaced): void {
  keepRealism(state, row, event);
  keepMarks(state, row, event);
  const { feeEachMicros, netting } = event;
  if (feeEachMicros !== null) state.orderFees.begin(row, feeEachMicros);
  if (netting !== null) state.nets.begin(row, netting);
}

/** Of an order under the preset `simple` nothing is kept. */
function keepRealism({ realism }: ShardState, row: OrderRow, event: OrderPlaced): void {
  const { latencyMs, feesOn, liquidity, realistic } = event;
  if (latencyMs === 0 && !feesOn && liquidity === 'account' && !realistic) return;
  const { boundPriceCents, timeInForce } = event.terms;
  const arrivesAtMs = event.atMs + latencyMs;
  const pending = { arrivesAtMs, boundPriceCents, timeInForce: timeInForceCode(timeInForce) };
  realism.keep(row, { latencyMs, feesOn, liquidity, realistic }, latencyMs > 0 ? pending : null);
}

/** Few orders are post-only, or of a group. */
function keepMarks(
  { orderMarks, orderGroups }: ShardState,
  row: OrderRow,
  { account, postOnly, group: id }: OrderPlaced,
): void {
  if (!postOnly && id === null) return;
  const group = id === null ? NO_ROW : orderGroups.find(account, id);
  invariant(id === null || group !== NO_ROW, 'an order names no group of its account');
  orderMarks.keep(row, { postOnly, group });
}

/** Rules T209 to T213. */
function orderAmended(state: ShardState, event: OrderAmended): void {
  const { atMs, order, account, contracts, limitPriceCents, feeEachMicros, keepsPlace } = event;
  const { orders, orderFees, orderMarks } = state;
  invariant(orders.isLive(order), 'an order is changed that is done');
  invariant(orders.col.account.get(order) === account, 'an order is changed by another account');
  const total = orders.col.contracts.get(order);
  const before = remainingOf(state, order);
  const heldBefore = holdOf(state, order, before);
  const left = before + contracts - total;
  const isOfBuy = isBuy(orders.col.flags.get(order));
  invariant(left > 0, 'an order is changed to fewer contracts than it has traded');
  invariant(isOfBuy || contracts === total, 'a sell is changed to other contracts');
  if (isOfBuy) countPayable(state, account, contracts - total);
  const col = orders.change(order);
  col.contracts.set(order, contracts);
  col.limitPriceCents.set(order, limitPriceCents);
  if (feeEachMicros !== null) orderFees.holdEach(order, feeEachMicros);
  state.nets.lessen(order, left);
  hold(state, account, holdOf(state, order, left) - heldBefore);
  orderMarks.amended(order, event.placed, keepsPlace ? null : ++state.sequence);
  if (!keepsPlace) goBehind(state, order, atMs);
}

/** It is last at its price, or under latency on its way there. */
function goBehind(state: ShardState, order: OrderRow, atMs: EpochMs): void {
  const { ladders, queue, realism } = state;
  if (ladders.isWaiting(order)) ladders.remove(order);
  queue.remove(order);
  const latencyMs = realism.latencyMs(order);
  if (latencyMs === 0) return joinBook(state, order);
  const arrivesAtMs = atMs + latencyMs;
  // It was changed before at this moment.
  if (realism.arrivesAtMs(order) === arrivesAtMs) return;
  realism.arrivesAgain(order, arrivesAtMs);
  addDue(state, order);
}

/** Rules T202 to T204. */
function groupChanged({ orderGroups }: ShardState, event: OrderGroupChanged): void {
  const { account, group: id, change, contractsLimit } = event;
  const group = orderGroups.find(account, id);
  invariant(group !== NO_ROW, 'an order group is changed that there is not');
  orderGroups.latch(group);
  switch (change) {
    case 'latched':
      return;
    case 'triggered':
      return orderGroups.setTriggered(group, true);
    case 'reset':
      orderGroups.forgetFills(group);
      return orderGroups.setTriggered(group, false);
    case 'limited':
      return orderGroups.setLimit(group, contractsLimit);
    default:
      change satisfies never;
  }
}

/** What of its orders still waits is of no group. */
function groupRemoved(state: ShardState, { account, group: id }: OrderGroupRemoved): void {
  const { orderGroups, orderMarks } = state;
  const group = orderGroups.find(account, id);
  invariant(group !== NO_ROW, 'an order group is removed that there is not');
  for (const order of state.ordersOfAccount.of(account)) {
    if (orderMarks.group(order) === group) orderMarks.leaveGroup(order);
  }
  orderGroups.remove(group);
}

/** Checks that the rows and numbers of an event exist, which `decide` guarantees. */
function checkPlaced(state: ShardState, event: OrderPlaced): void {
  const { account, position, terms } = event;
  invariant(state.accounts.isLive(account), 'an order names no account');
  invariant(state.markets[event.market] !== undefined, 'an order names no market');
  invariant(state.instruments[event.instrument] !== undefined, 'an order names no instrument');
  invariant(event.contracts > 0, 'an order of no contracts was placed');
  const isPending = event.latencyMs > 0;
  invariant(!isPending || event.rests, 'an order is under latency and does not wait');
  invariant(!event.rests || isPending || isLimit(terms), 'an order rests without a limit');
  invariant(
    !event.rests || state.markets[event.market]!.outcome === null,
    'an order rests in a settled market',
  );
  invariant(
    (terms.action === 'sell') === (position !== null),
    'a buy names a position, or a sell names none',
  );
  if (position === null) return;
  invariant(state.positions.isLive(position), 'a sell names a position that is closed');
  invariant(
    state.positions.col.account.get(position) === account,
    'a sell names the position of another account',
  );
}

function orderQueued(state: ShardState, { order, account, aheadE2, partE2 }: OrderQueued): void {
  invariant(state.orders.isLive(order), 'an order that is done is in a queue');
  invariant(state.orders.col.account.get(order) === account, 'an order queues for another account');
  invariant(state.ladders.isWaiting(order), 'an order is in a queue and does not rest');
  state.queue.note(order, aheadE2, partE2);
}

function orderArrived(state: ShardState, { order, account, rests }: OrderArrived): void {
  invariant(state.orders.isLive(order), 'an order meets the book that is done');
  invariant(
    state.orders.col.account.get(order) === account,
    'an order arrives for another account',
  );
  invariant(state.realism.arrivesAtMs(order) !== 0, 'an order meets the book twice');
  // Orders that met the book before it are before it.
  state.realism.arrived(order, ++state.sequence);
  if (rests) joinBook(state, order);
}

function cancelAccepted(state: ShardState, event: OrderCancelAccepted): void {
  const { order, account, cancelsAtMs } = event;
  invariant(state.orders.isLive(order), 'an order is canceled that is done');
  invariant(state.orders.col.account.get(order) === account, 'a cancel is of another account');
  state.realism.cancelAt(order, cancelsAtMs);
  const sequence = state.orders.col.sequence.get(order);
  state.cancels.add({ expiresAtMs: cancelsAtMs, sequence, order });
}

function orderFilled(state: ShardState, event: OrderFilled): void {
  trade(state, event, remainingOf(state, event.order));
  const { applied } = state;
  applied.status = 'executed';
  applied.reason = null;
  applied.filledContracts = 0;
  finishOrder(state, event.order);
}

/** Contracts change hands: money, and the position that a buy opens and a sell closes. */
function trade(
  state: ShardState,
  event: OrderFilled | OrderPartFilled,
  contracts: Contracts,
): void {
  const { order, cents, feeCents } = event;
  const { col } = state.orders;
  invariant(state.orders.isLive(order), 'a fill names an order that is done');
  invariant(contracts > 0, 'a fill has no contracts');
  const left = remainingOf(state, order) - contracts;
  invariant(left >= 0, 'an order was filled beyond what is left');
  const group = state.orderMarks.group(order);
  if (group !== NO_ROW) state.orderGroups.filled(group, event.atMs, contracts);
  const { applied } = state;
  applied.account = col.account.get(order);
  applied.contracts = contracts;
  applied.cents = cents;
  checkMoney(state, event, contracts);
  const held = holdOf(state, order, left + contracts);
  if (feeCents !== null) {
    const carryMicros = event.kind === 'order_part_filled' ? event.carryMicros : 0;
    state.orderFees.charge(order, feeCents, carryMicros);
  }
  applied.feesCents = state.orderFees.feesCents(order);
  if (state.nets.has(order)) return net(state, event, contracts, held);
  if (isSell(col.flags.get(order))) return sell(state, event, contracts);
  const releasedCents = held - holdOf(state, order, left);
  stake(state, applied.account, cents, releasedCents, feeCents ?? 0);
  const before = col.position.get(order);
  const position = before === NO_ROW ? openPosition(state, order, event, contracts) : before;
  if (before !== NO_ROW) growPosition(state, position, contracts, applied.cents);
  if (event.kind === 'order_part_filled' && before === NO_ROW) {
    state.orders.change(order).position.set(order, position);
    state.positions.derived.resting.set(position, order);
  }
  chargeTrade(state, position, feeCents);
  applied.position = position;
  applied.trade = before === NO_ROW ? 'opened' : 'grown';
  applied.fillPriceCents = state.positions.col.entryPriceCents.get(position);
  applied.fillVenue = state.positions.col.venue.get(position);
}

/**
 * A netting order trades: what it told before is closed, or its own side is bought. Rules T192, T193,
 * T198 (engine/RULES.md).
 */
function net(
  state: ShardState,
  event: OrderFilled | OrderPartFilled,
  contracts: Contracts,
  held: Cents,
): void {
  const { order, venue, feeCents } = event;
  const { applied, nets, positions } = state;
  const { account, cents } = applied;
  const closes = nets.fill(order, contracts, cents, venue);
  const releasedCents = held - holdOf(state, order, remainingOf(state, order));
  const filled = filledSoFar(state, order);
  applied.fillPriceCents = filled.priceCents!;
  applied.fillVenue = filled.venue;
  if (closes !== null) {
    hold(state, account, -releasedCents);
    // Neither the order nor the trade can pay for them any more.
    countPayable(state, account, -contracts);
    return sellPart(state, closes, contracts, PAYOUT_CENTS * contracts - cents, feeCents);
  }
  invariant(nets.opens(order), 'an order that only closes opens a trade');
  stake(state, account, cents, releasedCents, feeCents ?? 0);
  const own = ownPosition(state, order);
  const position = own === NO_ROW ? openPosition(state, order, event, contracts) : own;
  if (own === NO_ROW) nets.noteOpened(order, position, positions.col.sequence.get(position));
  else growPosition(state, position, contracts, cents);
  chargeTrade(state, position, feeCents);
  applied.position = position;
  applied.trade = own === NO_ROW ? 'opened' : 'grown';
}

/**
 * The trade that a netting order adds to: its last one, unless that has ended, is being sold, or was
 * sold in part. Rule T193 (engine/RULES.md).
 */
function ownPosition(state: ShardState, order: OrderRow): PositionRow {
  const position = lastOpened(state, order);
  if (position === NO_ROW) return position;
  const { soldContracts, resting } = state.positions.col;
  const isWhole = soldContracts.get(position) === 0 && resting.get(position) === NO_ROW;
  return isWhole ? position : (NO_ROW as PositionRow);
}

/** Contracts of a position are sold by an order that is not its own, or as pairs. */
function sellPart(
  state: ShardState,
  position: PositionRow,
  contracts: Contracts,
  proceedsCents: Cents,
  feeCents: Cents | null,
): void {
  const { applied, positions } = state;
  const { col } = positions;
  const { account } = applied;
  invariant(positions.isLive(position), 'what is netted is not held');
  invariant(col.account.get(position) === account, 'an order nets the trade of another account');
  invariant(col.resting.get(position) === NO_ROW, 'an order nets what another one is selling');
  const held = col.contracts.get(position);
  invariant(contracts <= held, 'more was netted than is held');
  applied.position = position;
  applied.contracts = contracts;
  applied.cents = proceedsCents;
  countPayable(state, account, -contracts);
  chargeTrade(state, position, feeCents);
  const costCents = col.costCents.get(position);
  const isLast = contracts === held;
  const cost = isLast ? costCents : costOfPart(costCents, contracts, held);
  applied.costCents = cost;
  realize(state, account, cost, proceedsCents, feeCents ?? 0);
  if (isLast) return closePosition(state, position);
  applied.trade = 'reduced';
  shrinkPosition(state, position, { contracts, cost, cents: proceedsCents });
}

function fillNets(state: ShardState, { order, position, contracts }: FillNets): void {
  invariant(state.orders.isLive(order), 'an order nets that is done');
  state.nets.expect(order, position, contracts);
}

function pairClosed(state: ShardState, event: PairClosed): void {
  const { order, account, position, contracts, cents } = event;
  invariant(
    state.orders.col.account.get(order) === account,
    'a pair is closed for another account',
  );
  state.applied.account = account;
  sellPart(state, position, contracts, cents, null);
}

/** Rules T64, M14 (engine/RULES.md). */
function checkMoney(
  { orders, orderFees }: ShardState,
  { order, priceCents, cents, feeCents }: OrderFilled | OrderPartFilled,
  contracts: Contracts,
): void {
  invariant(priceCents >= 1 && priceCents <= 99, 'the price of a fill is not 1 to 99 cents');
  const average = averagePrice(actionOf(orders.col.flags.get(order)), cents, contracts);
  invariant(average === priceCents, 'the price of a fill is not the average of its cents');
  const isCharged = feeCents !== null;
  invariant(isCharged === orderFees.has(order), 'a fill pays a fee, and its order none');
}

/** The fee counts for the trade, too. */
function chargeTrade(
  { tradeFees, applied }: ShardState,
  position: PositionRow,
  feeCents: Cents | null,
): void {
  if (feeCents !== null) {
    if (!tradeFees.has(position)) tradeFees.begin(position, 0);
    tradeFees.charge(position, feeCents, 0);
  }
  applied.tradeFeesCents = tradeFees.feesCents(position);
}

function sell(state: ShardState, event: OrderFilled | OrderPartFilled, contracts: Contracts): void {
  const { order, feeCents } = event;
  const { applied } = state;
  const { account, cents } = applied;
  const { col } = state.positions;
  const position = state.orders.col.position.get(order);
  const all = state.orders.col.contracts.get(order);
  invariant(state.positions.isLive(position), 'a sell has no position');
  invariant(contracts <= col.contracts.get(position), 'more was sold than is held');
  if (col.contracts.get(position) === all) startSale(state, position, event.venue);
  const soldCents = col.soldCents.get(position) - col.soldBeforeCents.get(position) + cents;
  const sold = all - col.contracts.get(position) + contracts;
  applied.position = position;
  applied.fillPriceCents = averagePrice('sell', soldCents, sold);
  applied.fillVenue = col.soldVenue.get(position);
  countPayable(state, account, -contracts);
  chargeTrade(state, position, feeCents);
  if (event.kind === 'order_filled') {
    invariant(contracts === col.contracts.get(position), 'a position closed with contracts left');
    applied.costCents = col.costCents.get(position);
    realize(state, account, applied.costCents, cents, feeCents ?? 0);
    closePosition(state, position);
  } else {
    const cost = costOfPart(col.costCents.get(position), contracts, col.contracts.get(position));
    applied.costCents = cost;
    applied.trade = 'reduced';
    realize(state, account, cost, cents, feeCents ?? 0);
    shrinkPosition(state, position, { contracts, cost, cents });
  }
}

/** Rules M7, T25 (engine/RULES.md). */
function orderEnded(state: ShardState, event: OrderEnded): void {
  const { order, status, reason } = event;
  invariant(state.orders.isLive(order), 'an order ended that was already done');
  const filled = filledSoFar(state, order);
  const account = state.orders.col.account.get(order);
  const remaining = remainingOf(state, order);
  if (isBuy(state.orders.col.flags.get(order))) countPayable(state, account, -remaining);
  hold(state, account, -holdOf(state, order, remaining));
  const { applied } = state;
  applied.account = account;
  if (state.nets.has(order)) {
    // A fill that came just before has named the trade that it has closed or opened.
    if (status !== 'executed') applied.position = NO_ROW as PositionRow;
  } else applied.position = state.orders.col.position.get(order);
  applied.trade = null;
  applied.status = status;
  applied.reason = reason;
  applied.fillPriceCents = filled.priceCents ?? 0;
  applied.fillVenue = filled.venue;
  applied.filledContracts = filled.contracts;
  applied.feesCents = state.orderFees.feesCents(order);
  finishOrder(state, order);
}

/**
 * A buy that waits holds limit x remaining contracts and their worst fees; any other order holds
 * nothing, and neither does what a netting order closes. Rules M4, M15, T198, T161 (engine/RULES.md).
 */
function holdOf(state: ShardState, order: OrderRow, contracts: Contracts): Cents {
  const { col } = state.orders;
  return isBuy(col.flags.get(order)) && waits(state, order)
    ? heldCentsAt(state, order, contracts - state.nets.closes(order))
    : 0;
}

/** Whether it is on its book, or is or was on its way there. */
function waits({ ladders, realism }: ShardState, order: OrderRow): boolean {
  return ladders.isWaiting(order) || realism.latencyMs(order) > 0;
}

/** How the order ended is in the applied change. */
function finishOrder(state: ShardState, order: OrderRow): void {
  const { orders, positions } = state;
  const { account } = state.applied;
  const hadLatency = state.realism.latencyMs(order) > 0;
  state.applied.hadLatency = hadLatency;
  state.applied.netting = state.nets.of(order);
  state.applied.postOnly = state.orderMarks.postOnly(order);
  state.applied.group = state.orderMarks.group(order);
  if (hadLatency || state.ladders.isWaiting(order)) state.ordersOfAccount.remove(account);
  if (state.ladders.isWaiting(order)) state.ladders.remove(order);
  const position = orders.col.position.get(order);
  if (position !== NO_ROW && positions.col.resting.get(position) === order) {
    positions.derived.resting.set(position, NO_ROW);
  }
  state.queue.remove(order);
  state.orderFees.end(order);
  state.nets.end(order);
  state.realism.remove(order);
  state.orderMarks.remove(order);
  state.orderIds.remove(order);
  orders.release(order);
  countBust(state, account);
}
