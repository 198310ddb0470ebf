/**
 * Checks every promise that a state keeps, and names each breach. Simulations use it after every
 * step; operators, `paperbook verify` and tests use it too. Rules D16, M20, T195, T198
 * (engine/RULES.md).
 */

import {
  type AccountRow,
  NO_ROW,
  type OrderRow,
  oppositeSide,
  type PositionRow,
  type Side,
  type Uuid,
} from '../base/units.ts';
import type { UuidIndex } from '../memory/uuid-index.ts';
import { uuidTimeMs } from '../memory/uuid-words.ts';
import { isSell, sideOf } from '../rules/flags.ts';
import { imbalanceCents, payoutRoomCents } from '../rules/ledger.ts';
import { remainingOf } from '../rules/partial-fills.ts';
import { ladderOf } from '../rules/pricing.ts';
import { ordersOn, priorityOf } from '../rules/resting.ts';
import type { ShardState } from '../rules/state.ts';
import { heldCentsAt } from '../rules/waiting-terms.ts';
import { auditRows } from './audit-rows.ts';
import { Problems } from './problems.ts';

const SIDES = ['yes', 'no'] as const;

export type AuditReport = {
  accounts: number;
  restingOrders: number;
  openPositions: number;
  /** One line per breach: table, row or account, and the rule that is broken. */
  problems: string[];
};

export function audit(state: ShardState): AuditReport {
  const problems = new Problems();
  auditRows(state, problems);
  // Rows that refer to something that does not exist would mislead the walks below.
  if (problems.isEmpty) auditDerived(state, problems);
  return {
    accounts: state.accounts.live,
    restingOrders: state.orders.live,
    openPositions: state.positions.live,
    problems: problems.lines(),
  };
}

function auditDerived(state: ShardState, problems: Problems): void {
  auditIndexes(state, problems);
  let orders = 0;
  let positions = 0;
  for (const account of state.accounts.rows()) {
    auditAccount(state, account, problems);
    orders += state.ordersOfAccount.count(account);
    positions += state.positionsOfAccount.count(account);
  }
  problems.check(orders === state.orders.live, 'orders', 'some belong to no account');
  problems.check(positions === state.positions.live, 'positions', 'some belong to no account');
  auditBooks(state, problems);
  auditMarkets(state, problems);
  auditExpiries(state, problems);
  auditArrivals(state, problems);
  for (const problem of state.liquidity.problems(state.taken.all())) problems.add(problem);
}

function auditIndexes(state: ShardState, problems: Problems): void {
  auditIndex(state.accounts, state.accountIds, problems);
  auditIndex(state.orders, state.orderIds, problems);
  auditIndex(state.positions, state.positionIds, problems);
  auditIndex(state.tradeCounts.table, state.tradeCounts.ids, problems);
}

type Rows<Row> = { readonly name: string; readonly live: number; rows(): Iterable<Row> };

function auditIndex<Row extends number>(
  table: Rows<Row>,
  index: UuidIndex<Row>,
  problems: Problems,
): void {
  problems.check(index.size === table.live, table.name, 'the index of ids has another size');
  for (const row of table.rows()) {
    const id = index.idOf(row);
    const subject = `${table.name} row ${row} (${id})`;
    problems.check(index.find(id) === row, subject, 'is not the row that its id finds');
  }
}

function auditAccount(state: ShardState, account: AccountRow, problems: Problems): void {
  const { col } = state.accounts;
  const name = `account ${state.accountIds.idOf(account)}`;
  const report = (holds: boolean, what: string) => problems.check(holds, name, what);
  let heldCents = 0;
  let payable = 0;
  let orders = 0;
  for (const row of state.ordersOfAccount.of(account)) {
    orders++;
    const { col: order } = state.orders;
    const isPending = state.realism.arrivesAtMs(row) !== 0;
    const isWaiting = state.ladders.isWaiting(row);
    report(isWaiting || isPending, `order row ${row} waits on no book`);
    report(!isWaiting || !isPending, `order row ${row} waits on a book before it meets it`);
    const position = order.position.get(row);
    const isSale = isSell(order.flags.get(row));
    if (isSale || position !== NO_ROW) {
      const isOwn =
        state.positions.isLive(position) && state.positions.col.resting.get(position) === row;
      report(isOwn, `order row ${row} has no position`);
    }
    const remaining = remainingOf(state, row);
    const isPart = remaining > 0 && remaining <= order.contracts.get(row);
    report(isPart, `order row ${row} has ${remaining} contracts left`);
    if (isSale) continue;
    const closes = state.nets.closes(row);
    const isWhole = !state.nets.has(row) || state.nets.opens(row) || closes === remaining;
    report(isWhole && closes <= remaining, `order row ${row} closes ${closes} of ${remaining}`);
    heldCents += heldCentsAt(state, row, remaining - closes);
    payable += remaining;
  }
  let stakeCents = 0;
  let positions = 0;
  let newer: Uuid | null = null;
  for (const row of state.positionsOfAccount.of(account)) {
    positions++;
    const id = state.positionIds.idOf(row);
    const isOfOneMoment = newer !== null && uuidTimeMs(newer) === uuidTimeMs(id);
    report(
      !isOfOneMoment || newer! > id,
      'has trades of one moment in another order than their ids',
    );
    newer = id;
    auditPosition(state, row, report);
    stakeCents += state.positions.col.costCents.get(row);
    payable += state.positions.col.contracts.get(row);
  }
  for (const what of overReserved(state, account)) report(false, what);
  report(imbalanceCents(state, account) === 0, 'does not add up');
  // A corrected result may take money that was spent since. Rule S23 (engine/RULES.md).
  const mayOwe = state.records.correctedMarkets.size > 0;
  report(mayOwe || col.balanceCents.get(account) >= 0, 'has a negative balance');
  report(
    col.heldCents.get(account) === heldCents,
    'has a hold that is not the sum of its resting buys',
  );
  report(col.openStakeCents.get(account) === stakeCents, 'stake is not the cost of its positions');
  report(col.payableContracts.get(account) === payable, 'miscounts what may be paid out');
  report(payoutRoomCents(state, account) >= 0, 'could be paid more than can be counted');
  report(state.ordersOfAccount.count(account) === orders, 'miscounts its resting orders');
  report(state.positionsOfAccount.count(account) === positions, 'miscounts its open positions');
}

/** Netting orders close no more of a side than their account holds there. Rule T195. */
function overReserved(state: ShardState, account: AccountRow): string[] {
  const { nets, orders, positions, markets } = state;
  if (nets.table.live === 0) return [];
  const free = new Map<string, number>();
  const add = (market: number, side: Side, contracts: number) => {
    const key = `${market} ${side}`;
    free.set(key, (free.get(key) ?? 0) + contracts);
  };
  for (const row of state.positionsOfAccount.of(account)) {
    const { market, flags, contracts, resting } = positions.col;
    if (resting.get(row) !== NO_ROW) continue;
    add(market.get(row), sideOf(flags.get(row)), contracts.get(row));
  }
  for (const row of state.ordersOfAccount.of(account)) {
    const { market, flags } = orders.col;
    // Its orders end with a result.
    if (markets[market.get(row)]!.outcome !== null) continue;
    add(market.get(row), oppositeSide(sideOf(flags.get(row))), -nets.closes(row));
  }
  return [...free].flatMap(([key, left]) => {
    return left < 0 ? [`closes ${-left} contracts of market ${key} that it does not hold`] : [];
  });
}

function auditPosition(
  { positions, orders }: ShardState,
  row: PositionRow,
  report: (holds: boolean, what: string) => void,
): void {
  const { col } = positions;
  report(col.contracts.get(row) > 0, `position row ${row} is empty`);
  report(col.costCents.get(row) >= 0, `position row ${row} has a cost below zero`);
  const nothingSold = col.soldContracts.get(row) === 0;
  report(
    !nothingSold || col.soldCents.get(row) === 0,
    `position row ${row} has proceeds and sold no contracts`,
  );
  const bought = col.contracts.get(row) + col.soldContracts.get(row);
  const paidCents = col.costCents.get(row) + col.soldCostCents.get(row);
  const averages = Math.ceil(paidCents / bought) === col.entryPriceCents.get(row);
  report(averages, `position row ${row} was not bought at its entry price`);
  const resting = col.resting.get(row);
  const isOwn = resting === NO_ROW || orders.col.position.get(resting) === row;
  report(isOwn, `position row ${row} names the order of another position`);
}

/** Stops a walk along a circular list, which has more rows than the table. */
function* bounded<Row>(rows: Iterable<Row>, most: number): Generator<Row> {
  let count = 0;
  for (const row of rows) {
    yield row;
    if (++count > most) return;
  }
}

function auditBooks(state: ShardState, problems: Problems): void {
  const { queue } = state;
  let resting = 0;
  let queued = 0;
  for (const book of state.booksByKey.values()) {
    const inQueue: OrderRow[] = [];
    for (const row of bounded(ordersOn(state, book), state.orders.live)) {
      resting++;
      if (queue.has(row)) inQueue.push(row);
      const { market } = book;
      const subject = `book ${book.number}`;
      problems.check(state.orders.isLive(row), subject, `order row ${row} is not in use`);
      const isIts = state.orders.col.market.get(row) === market.number;
      problems.check(isIts, subject, `order row ${row} is of another market`);
    }
    for (const side of SIDES) auditLadder(state, ladderOf(book, side), problems);
    if (book.routed !== null) continue;
    const waiting = SIDES.flatMap((side) => queue.ordersFrom(book.market.number, side, 1));
    const isSame =
      waiting.length === inQueue.length && waiting.every((row, at) => row === inQueue[at]);
    problems.check(isSame, `book ${book.number}`, 'its queues have another order than its ladders');
    queued += waiting.length;
  }
  problems.check(queued === queue.table.live, 'queues', 'some orders wait in none, or in two');
  resting += state.arrivals.waiting().orders.length;
  if (resting !== state.orders.live) problems.add('orders: some wait on no book, or on two');
}

function auditLadder(state: ShardState, ladder: number, problems: Problems): void {
  const { ladders } = state;
  const subject = `ladder ${ladder}`;
  for (
    let priceLevel = ladders.best(ladder);
    priceLevel > 0;
    priceLevel = ladders.priceLevelBelow(ladder, priceLevel)
  ) {
    const first = ladders.first(ladder, priceLevel);
    problems.check(first !== NO_ROW, subject, `priceLevel ${priceLevel} is marked but empty`);
    for (let row = first, before = 0; row !== NO_ROW; row = ladders.after(row)) {
      const sequence = priorityOf(state, row);
      problems.check(sequence > before, subject, `priceLevel ${priceLevel} is out of time order`);
      if (sequence <= before) break;
      before = sequence;
    }
  }
}

function auditMarkets(state: ShardState, problems: Problems): void {
  const { markets: pending } = state.pendingSettlements;
  let open = 0;
  for (const market of state.markets) {
    const subject = `market ${market.number}`;
    const isOpen = market.outcome === null || pending.has(market.number);
    for (const row of state.positionsOfMarket.of(market.number)) {
      open++;
      const isIts = state.positions.col.market.get(row) === market.number;
      problems.check(isIts, subject, `position row ${row} is of another market`);
      problems.check(isOpen, subject, `has its result, and position row ${row} is open`);
    }
  }
  if (open !== state.positions.live) problems.add('positions: some are in no market, or in two');
  for (const row of state.orders.rows()) {
    const market = state.markets[state.orders.col.market.get(row)]!;
    const isOpen = market.outcome === null || pending.has(market.number);
    problems.check(isOpen, `market ${market.number}`, `has its result, and order row ${row} rests`);
  }
}

/** What is still to meet the book is queued, and only that. */
function auditArrivals({ arrivals, cancels, realism }: ShardState, problems: Problems): void {
  const wanted = { arrivals: new Set<number>(), cancels: new Set<number>() };
  for (const order of realism.orders()) {
    if (realism.arrivesAtMs(order) !== 0) wanted.arrivals.add(order);
    if (realism.cancelsAtMs(order) !== 0) wanted.cancels.add(order);
  }
  for (const [name, queue] of Object.entries({ arrivals, cancels })) {
    const { orders, inOrder } = queue.waiting();
    const of = wanted[name as keyof typeof wanted];
    problems.check(inOrder, name, 'are out of time order');
    const isSame = orders.length === of.size && orders.every((order) => of.has(order));
    problems.check(isSame, name, 'an order is queued that is not due, or is due and not queued');
  }
}

function auditExpiries({ expiries, orders, nowMs }: ShardState, problems: Problems): void {
  const { orders: waiting, inOrder } = expiries.waiting();
  const found = new Set(waiting);
  problems.check(inOrder, 'expiries', 'are out of time order');
  problems.check(found.size === waiting.length, 'expiries', 'an order waits twice');
  let wanted = 0;
  for (const row of orders.rows()) {
    const expiresAtMs = orders.col.expiresAtMs.get(row);
    if (expiresAtMs === 0) continue;
    wanted++;
    const subject = `orders row ${row}`;
    problems.check(found.has(row), subject, 'expires, and nothing waits for it');
    problems.check(expiresAtMs > nowMs, subject, 'has expired and still rests');
  }
  problems.check(wanted === found.size, 'expiries', 'an order waits that never expires');
}
