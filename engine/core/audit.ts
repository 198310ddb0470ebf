/**
 * Checks everything that must hold of a state, and names what does not. Used after every step of
 * a simulation, by operators, and by tests. CONTRACT.md section 5, Formulas.
 */
import { remainingOf } from './fills.ts';
import { costCents, imbalanceCents } from './ledger.ts';
import { ordersOf, positionsIn, positionsOf } from './links.ts';
import { ladderOf } from './pricing.ts';
import { ordersOn } from './resting.ts';
import { FLAG, type ShardState } from './state.ts';
import { NO_ROW } from './table.ts';

export type AuditReport = {
  accounts: number;
  restingOrders: number;
  openPositions: number;
  problems: string[];
};

export function audit(state: ShardState): AuditReport {
  const problems: string[] = [];
  for (const account of state.accounts.rows()) auditAccount(state, account, problems);
  auditBooks(state, problems);
  auditMarkets(state, problems);
  return {
    accounts: state.accounts.live,
    restingOrders: state.orders.live,
    openPositions: state.positions.live,
    problems,
  };
}

function auditAccount(state: ShardState, account: number, problems: string[]): void {
  const { col } = state.accounts;
  const name = `account ${state.accountIds.idOf(account)}`;
  const report = (holds: boolean, what: string) => {
    if (!holds) problems.push(`${name}: ${what}`);
  };
  let heldCents = 0;
  let orders = 0;
  for (const row of ordersOf(state, account)) {
    orders++;
    const { col: order } = state.orders;
    report(state.orders.isLive(row), `order row ${row} is not in use`);
    report(order.account[row] === account, `order row ${row} belongs to another account`);
    report(state.ladders.isWaiting(row), `order row ${row} waits on no book`);
    report(state.orderIds.find(state.orderIds.idOf(row)) === row, `order row ${row} is not found`);
    const position = order.position[row]!;
    const isSell = (order.flags[row]! & FLAG.sell) !== 0;
    if (isSell || position !== NO_ROW) {
      const isOwn =
        state.positions.isLive(position) && state.positions.col.resting[position] === row;
      report(isOwn, `order row ${row} has no position`);
    }
    const remaining = remainingOf(state, row);
    const isPart = remaining > 0 && remaining <= order.contracts[row]!;
    report(isPart, `order row ${row} has ${remaining} contracts left`);
    if (!isSell) heldCents += costCents(order.limitPriceCents[row]!, remaining);
  }
  let stakeCents = 0;
  let positions = 0;
  for (const row of positionsOf(state, account)) {
    positions++;
    const { col: position } = state.positions;
    report(state.positions.isLive(row), `position row ${row} is not in use`);
    report(position.account[row] === account, `position row ${row} belongs to another account`);
    report(state.positionIds.find(state.positionIds.idOf(row)) === row, `position ${row} is lost`);
    auditPosition(state, row, report);
    stakeCents += position.costCents[row]!;
  }
  report(imbalanceCents(state, account) === 0, 'does not add up');
  report(col.balanceCents[account]! >= 0, 'has a negative balance');
  report(col.heldCents[account] === heldCents, 'holds something else than its resting buys');
  report(col.openStakeCents[account] === stakeCents, 'stake is not the cost of its positions');
  report(col.orders[account] === orders, 'miscounts its resting orders');
  report(col.positions[account] === positions, 'miscounts its open positions');
}

function auditPosition(
  { positions, orders }: ShardState,
  row: number,
  report: (holds: boolean, what: string) => void,
): void {
  const { col } = positions;
  report(col.contracts[row]! > 0, `position row ${row} is empty`);
  report(col.costCents[row]! >= 0, `position row ${row} has a cost below zero`);
  const nothingSold = col.soldContracts[row] === 0;
  report(
    !nothingSold || col.soldCents[row] === 0,
    `position row ${row} sold nothing for something`,
  );
  const bought = col.contracts[row]! + col.soldContracts[row]!;
  const paidCents = col.costCents[row]! + col.soldCostCents[row]!;
  const averages = Math.ceil(paidCents / bought) === col.entryPriceCents[row];
  report(averages, `position row ${row} was not bought at its entry price`);
  const resting = col.resting[row]!;
  const isOwn = resting === NO_ROW || orders.col.position[resting] === row;
  report(isOwn, `position row ${row} names an order of another`);
}

function auditBooks(state: ShardState, problems: string[]): void {
  let resting = 0;
  for (const book of state.books) {
    for (const row of ordersOn(state, book)) {
      resting++;
      const { market } = book;
      if (!state.orders.isLive(row)) problems.push(`book ${book.number}: row ${row} is free`);
      if (state.orders.col.market[row] !== market.number) {
        problems.push(`book ${book.number}: order row ${row} is of another market`);
      }
    }
    for (const side of ['yes', 'no'] as const) auditLadder(state, ladderOf(book, side), problems);
  }
  if (resting !== state.orders.live) problems.push('some orders wait on no book');
}

function auditLadder({ ladders, orders }: ShardState, ladder: number, problems: string[]): void {
  for (let rank = ladders.best(ladder); rank > 0; rank = ladders.rankBelow(ladder, rank)) {
    const first = ladders.first(ladder, rank);
    if (first === NO_ROW) problems.push(`ladder ${ladder}: rank ${rank} is marked but empty`);
    for (let row = first, before = 0; row !== NO_ROW; row = ladders.after(row)) {
      const sequence = orders.col.sequence[row]!;
      if (sequence <= before) problems.push(`ladder ${ladder}: rank ${rank} is out of time order`);
      before = sequence;
    }
  }
}

function auditMarkets(state: ShardState, problems: string[]): void {
  let open = 0;
  for (const market of state.markets) {
    for (const row of positionsIn(state, market.number)) {
      open++;
      if (state.positions.col.market[row] !== market.number) {
        problems.push(`market ${market.number}: position row ${row} is of another market`);
      }
      if (market.outcome !== null) problems.push(`market ${market.number}: unsettled row ${row}`);
    }
  }
  if (open !== state.positions.live) problems.push('some positions are in no market');
}
