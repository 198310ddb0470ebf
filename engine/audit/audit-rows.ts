/**
 * Whether rows name accounts, markets, instruments and positions that exist. Lists, indexes and
 * books are built from these columns, so this check runs first. Reads stored columns only.
 */

import {
  type AccountRow,
  NO_ROW,
  type OrderRow,
  PAYOUT_CENTS,
  type PositionRow,
  VENUES,
} from '../base/units.ts';
import type { FeeRows } from '../memory/fee-rows.ts';
import { hasLimit, isSell } from '../rules/flags.ts';
import { type ShardState, tablesOf } from '../rules/state.ts';
import type { Problems } from './problems.ts';

export function auditRows(state: ShardState, problems: Problems): void {
  for (const table of tablesOf(state)) {
    for (const problem of table.problems()) problems.add(problem);
  }
  for (const row of state.accounts.rows()) auditAccountRow(state, row, problems);
  for (const row of state.positions.rows()) auditPositionRow(state, row, problems);
  // A check of a checkpoint knows the rows alone, and finds none by its order yet.
  const delayed = new Set(state.realism.delayedOrders());
  for (const row of state.orders.rows()) auditOrderRow(state, row, delayed.has(row), problems);
  for (const order of state.realism.orders()) {
    problems.check(state.orders.isLive(order), 'realism', `order row ${order} is not in use`);
  }
  for (const order of state.nets.orders()) {
    problems.check(state.orders.isLive(order), 'nets', `order row ${order} is not in use`);
  }
  for (const order of state.orderMarks.orders()) {
    problems.check(state.orders.isLive(order), 'marks', `order row ${order} is not in use`);
  }
  auditFees(state.orderFees, state.orders, problems);
  auditFees(state.tradeFees, state.positions, problems);
  auditTaken(state, problems);
}

/** Parts of displayed levels, of markets that trade. Rule T233 (engine/RULES.md). */
function auditTaken({ taken, markets }: ShardState, problems: Problems): void {
  const seen = new Set<string>();
  for (const { market, side, askCents, contracts, shown } of taken.all()) {
    const name = `${market} ${side} ${askCents}`;
    const check = (holds: boolean, rule: string) => {
      problems.check(holds, `taken level ${name}`, rule);
    };
    check(markets[market]?.outcome === null, 'is of no market that trades');
    check(askCents > 0 && askCents < PAYOUT_CENTS, 'is at no price');
    check(contracts > 0 && contracts <= shown, 'has taken more than is shown, or nothing');
    check(!seen.has(name), 'is there twice');
    seen.add(name);
  }
}

/** Rows of fees belong to orders and trades that are there. Rules M14, M16 (engine/RULES.md). */
function auditFees<Row extends number>(
  fees: FeeRows<Row>,
  of: { readonly name: string; isLive(row: number): boolean },
  problems: Problems,
): void {
  const { feesCents, eachMicros, carryMicros, of: owner } = fees.table.col;
  for (const row of fees.table.rows()) {
    const subject = `${fees.table.name} row ${row}`;
    const check = (holds: boolean, rule: string) => problems.check(holds, subject, rule);
    check(of.isLive(owner.get(row)), `belongs to none of the ${of.name}`);
    check(Number.isSafeInteger(feesCents.get(row)), 'has fees that are not in whole cents');
    check(eachMicros.get(row) >= 0, 'holds less than nothing');
    check(carryMicros.get(row) < CENT_MICROS, 'carries a cent or more');
  }
}

const CENT_MICROS = 10_000;

/** Money that `ledger.ts` keeps in whole cents. */
const MONEY = [
  'balanceCents',
  'heldCents',
  'openStakeCents',
  'realizedCents',
  'adjustedCents',
  'lifetimeRealizedCents',
] as const;

function auditAccountRow(state: ShardState, row: AccountRow, problems: Problems): void {
  const { col } = state.accounts;
  const check = checker(problems, `accounts row ${row}`, state.accountIds.idOf(row));
  for (const name of MONEY) {
    check(Number.isSafeInteger(col[name].get(row)), `${name} is not in whole cents`);
  }
  check(col.run.get(row) >= 1, 'has no run');
  const wasReset = col.lastResetAtMs.get(row) !== 0;
  check(
    wasReset === col.run.get(row) > 1,
    'has a later run without a reset, or a reset without a later run',
  );
  check(col.busts.get(row) <= col.run.get(row), 'was bust more than once per run');
  check(col.bustedRun.get(row) <= col.run.get(row), 'was bust in a future run');
}

function auditPositionRow(state: ShardState, row: PositionRow, problems: Problems): void {
  const { col } = state.positions;
  const check = checker(problems, `positions row ${row}`, state.positionIds.idOf(row));
  const contracts = col.contracts.get(row);
  check(state.accounts.isLive(col.account.get(row)), NO_ACCOUNT);
  check(state.markets[col.market.get(row)] !== undefined, NO_MARKET);
  check(state.instruments[col.instrument.get(row)] !== undefined, NO_INSTRUMENT);
  check(contracts > 0, 'has no contracts');
  check(isPrice(col.entryPriceCents.get(row)), 'has no price of 1 to 99 cents');
  check(isCost(col.costCents.get(row), contracts), 'has a cost that its contracts cannot have');
  check(
    isCost(col.soldCostCents.get(row), col.soldContracts.get(row)),
    'has sold contracts with a cost that they cannot have',
  );
  check(
    isCost(col.soldCents.get(row), col.soldContracts.get(row)),
    'has sold contracts with proceeds that they cannot have',
  );
  check(VENUES[col.venue.get(row)] !== undefined, 'was filled at an unknown venue');
  check(isSequence(state, col.sequence.get(row)), OUT_OF_SEQUENCE);
}

function auditOrderRow(
  state: ShardState,
  row: OrderRow,
  isDelayed: boolean,
  problems: Problems,
): void {
  const { col } = state.orders;
  const check = checker(problems, `orders row ${row}`, state.orderIds.idOf(row));
  check(state.accounts.isLive(col.account.get(row)), NO_ACCOUNT);
  check(state.markets[col.market.get(row)] !== undefined, NO_MARKET);
  check(state.instruments[col.instrument.get(row)] !== undefined, NO_INSTRUMENT);
  check(col.contracts.get(row) > 0, 'has no contracts');
  if (!isDelayed || hasLimit(col.flags.get(row))) {
    check(hasLimit(col.flags.get(row)), 'rests and is no limit order');
    check(isPrice(col.limitPriceCents.get(row)), 'has no limit of 1 to 99 cents');
  }
  check(isSequence(state, col.sequence.get(row)), OUT_OF_SEQUENCE);
  const position = col.position.get(row);
  const isSale = isSell(col.flags.get(row));
  // A buy that has not traded has no position.
  if (position === NO_ROW && !isSale) return;
  check(state.positions.isLive(position), 'names a position that is not open');
  if (!state.positions.isLive(position)) return;
  const named = state.positions.col;
  check(
    named.account.get(position) === col.account.get(row),
    'names the position of another account',
  );
  check(named.market.get(position) === col.market.get(row), 'names a position of another market');
}

const NO_ACCOUNT = 'belongs to no account';
const NO_MARKET = 'names a market that the catalog has not numbered';
const NO_INSTRUMENT = 'names an instrument that the catalog has not numbered';
const OUT_OF_SEQUENCE = 'is outside the sequence of placements and openings';

function checker(problems: Problems, row: string, id: string) {
  return (holds: boolean, rule: string) => {
    if (!holds) problems.add(`${row} (${id}): ${rule}`);
  };
}

function isPrice(cents: number): boolean {
  return cents >= 1 && cents <= 99;
}

/** A part of a position has its share of the cost, rounded: within one cent per contract. */
function isCost(cents: number, contracts: number): boolean {
  return Number.isSafeInteger(cents) && cents >= 0 && cents <= PAYOUT_CENTS * contracts;
}

function isSequence(state: ShardState, sequence: number): boolean {
  return Number.isSafeInteger(sequence) && sequence >= 1 && sequence <= state.sequence;
}
