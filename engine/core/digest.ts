/**
 * A state as canonical text, one line an account: equal for equal histories, whatever the shard
 * count, the rows taken or the checkpoints written. What `stateHash` hashes. CONTRACT.md section 10.
 */
import { ordersOf, positionsOf } from './links.ts';
import type { ShardState } from './state.ts';
import { NO_ROW } from './table.ts';
import type { Uuid } from './units.ts';

type AccountDigest = { account: Uuid; line: string };

/** `world`: results and game statuses, which every shard knows alike. */
export function digest(state: ShardState): { accounts: AccountDigest[]; world: string[] } {
  const accounts = [...state.accounts.rows()].map((row) => ({
    account: state.accountIds.idOf(row),
    line: JSON.stringify(accountLine(state, row)),
  }));
  return { accounts, world: worldLines(state) };
}

function worldLines(state: ShardState): string[] {
  const results = state.markets.flatMap(({ venue, ticker, outcome }) =>
    outcome === null ? [] : [`market ${venue}/${ticker} ${outcome}`],
  );
  const games = [...state.games].map(
    ([slug, { status, atMs }]) => `game ${slug} ${status} ${atMs}`,
  );
  return [...results, ...games].sort(byText);
}

function accountLine(state: ShardState, account: number): unknown[] {
  const { col } = state.accounts;
  return [
    state.accountIds.idOf(account),
    col.balanceCents[account],
    col.heldCents[account],
    col.openStakeCents[account],
    col.realizedCents[account],
    col.adjustedCents[account],
    col.lifetimeRealizedCents[account],
    col.run[account],
    col.runStartedAtMs[account],
    col.lastResetAtMs[account],
    col.busts[account],
    [...ordersOf(state, account)].map((row) => orderLine(state, row)).sort(byText),
    [...positionsOf(state, account)].map((row) => positionLine(state, row)).sort(byText),
    [...finishedLines(state, account)],
  ];
}

function orderLine(state: ShardState, row: number): string {
  const { col } = state.orders;
  const named = state.instruments[col.instrument[row]!]!.id;
  return [
    state.orderIds.idOf(row),
    state.markets[col.market[row]!]!.ticker,
    named,
    col.flags[row],
    col.contracts[row],
    col.limitPriceCents[row],
    col.statedProbPct[row],
    col.placedVia[row],
    col.expiresAtMs[row],
    col.position[row] === NO_ROW ? '' : state.positionIds.idOf(col.position[row]!),
  ].join(' ');
}

function positionLine(state: ShardState, row: number): string {
  const { col } = state.positions;
  return [
    state.positionIds.idOf(row),
    state.markets[col.market[row]!]!.ticker,
    state.instruments[col.instrument[row]!]!.id,
    col.flags[row],
    col.contracts[row],
    col.costCents[row],
    col.entryPriceCents[row],
    col.statedProbPct[row],
    col.placedVia[row],
    col.venue[row],
    ...(col.soldContracts[row] === 0 ? [] : soldColumns(state, row)),
  ].join(' ');
}

/** What parts of a position were sold for. */
function soldColumns({ positions: { col } }: ShardState, row: number): unknown[] {
  return [col.soldContracts[row], col.soldCostCents[row], col.soldCents[row]];
}

function* finishedLines(state: ShardState, account: number): Generator<string> {
  for (const placed of state.records.placements(account, null)) {
    const outcome = state.records.outcome(placed);
    if (outcome === undefined) continue;
    const { status, reason, fillPriceCents, venue, tradeId, atMs, filledContracts } = outcome;
    const columns = [placed.orderId, status, reason, fillPriceCents, venue, tradeId, atMs];
    yield (filledContracts === null ? columns : [...columns, filledContracts]).join(' ');
  }
  for (const trade of state.records.closedTrades(account, null)) {
    const { tradeId, status, costCents, proceedsCents, contracts, closedAtMs } = trade;
    yield [tradeId, status, costCents, proceedsCents, contracts, closedAtMs].join(' ');
  }
}

function byText(a: string, b: string): number {
  return a < b ? -1 : 1;
}
