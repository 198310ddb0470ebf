/**
 * A state as canonical text, one line per account. Equal histories give equal texts, whatever the
 * shard count, the row numbers and the checkpoints are. `stateHash` hashes it. Rule D12
 * (engine/RULES.md).
 */

import type { AccountRow, MarketNumber, OrderRow, PositionRow, Uuid } from '../base/units.ts';
import { NO_ROW } from '../base/units.ts';
import type { FeeRows } from '../memory/fee-rows.ts';
import { ORDER_ENDS, TRADE_ENDS } from '../rules/finished-records.ts';
import { COLUMN_TERM_NAMES, TRADE_COLUMN_NAMES } from '../rules/order-terms.ts';
import { lastOpened } from '../rules/partial-fills.ts';
import { notLive } from '../rules/pricing.ts';
import type { ShardState } from '../rules/state.ts';

type AccountDigest = { account: Uuid; line: string };

/**
 * `referenceData` adds results and game statuses, which are the same in every shard. On request it
 * also adds the last data of the venues, which no shard keeps over a restart.
 */
export function digest(
  state: ShardState,
  { quotes }: { quotes: boolean } = { quotes: false },
): { accounts: AccountDigest[]; referenceData: string[] } {
  const accounts = [...state.accounts.rows()].map((row) => ({
    account: state.accountIds.idOf(row),
    line: JSON.stringify([...accountLine(state, row), ...(quotes ? placesOf(state, row) : [])]),
  }));
  const referenceData = referenceDataLines(state);
  if (quotes) referenceData.push(...quoteLines(state));
  return { accounts, referenceData };
}

function referenceDataLines(state: ShardState): string[] {
  const results = state.markets.flatMap(({ venue, ticker, outcome }) =>
    outcome === null ? [] : [`market ${venue}/${ticker} ${outcome}`],
  );
  const games = [...state.games].map(
    ([slug, { status, atMs }]) => `game ${slug} ${status} ${atMs}`,
  );
  return [...results, ...games].sort(byText);
}

/** The present places of an account's orders in queues, which move with the venue's book. */
function placesOf({ queue, ordersOfAccount, orderIds }: ShardState, account: AccountRow): string[] {
  const queued = [...ordersOfAccount.of(account)].filter((order) => queue.has(order));
  return queued
    .map((order) => `${orderIds.idOf(order)} ${queue.aheadE2(order)} ${queue.partE2(order)}`)
    .sort(byText);
}

/** Of a market that is followed level by level. */
function exactLevels({ fillModel }: ShardState, market: MarketNumber): unknown[] {
  const book = fillModel.queues?.levels.of(market);
  return book === undefined ? [] : [book.isKnown, book.levels()];
}

const NO_QUOTE = { source: null, epoch: null };

/**
 * A line per market: its status, its last quote and why it is not live, its last trade, its levels.
 */
function quoteLines(state: ShardState): string[] {
  const lines = state.markets.flatMap((market) => {
    const { venue, ticker, status, quote, lastTrade, outcome } = market;
    // Nothing shows what a venue last said of a market that is over (K61 of feeds/FORMATS.md).
    if (outcome !== null) return [];
    if (quote === null && lastTrade === null && status === 'open') return [];
    // The numbers of connections and epochs belong to this process alone.
    const { source: _, epoch: __, ...shown } = quote ?? NO_QUOTE;
    const why = notLive(state, market, state.nowMs);
    const levels = state.fillModel.displayed(market.number);
    const known = [status, shown, why, lastTrade, levels, ...exactLevels(state, market.number)];
    return [`quote ${venue}/${ticker} ${JSON.stringify(known)}`];
  });
  return lines.sort(byText);
}

function accountLine(state: ShardState, account: AccountRow): unknown[] {
  const { col } = state.accounts;
  return [
    state.accountIds.idOf(account),
    col.balanceCents.get(account),
    col.heldCents.get(account),
    col.openStakeCents.get(account),
    col.realizedCents.get(account),
    col.adjustedCents.get(account),
    col.lifetimeRealizedCents.get(account),
    col.run.get(account),
    col.runStartedAtMs.get(account),
    col.lastResetAtMs.get(account),
    col.busts.get(account),
    col.isPublic.get(account),
    [...state.ordersOfAccount.of(account)].map((row) => orderLine(state, row)).sort(byText),
    [...state.positionsOfAccount.of(account)].map((row) => positionLine(state, row)).sort(byText),
    [...finishedLines(state, account)],
    ...groupLines(state, account),
  ];
}

/** Left out for an account without order groups. */
function groupLines({ orderGroups }: ShardState, account: AccountRow): unknown[] {
  const groups = orderGroups.of(account);
  if (groups.length === 0) return [];
  const lines = groups.map((group) => [
    ...[orderGroups.at(group), orderGroups.storedContracts(group)],
    ...(orderGroups.isLatched(group) ? [orderGroups.isTriggered(group)] : []),
  ]);
  // Their rows are used again, so a load finds them in another order.
  return [lines.map((line) => JSON.stringify(line)).sort()];
}

function orderLine(state: ShardState, row: OrderRow): string {
  const { col } = state.orders;
  const named = state.instruments[col.instrument.get(row)]!.id;
  return [
    state.orderIds.idOf(row),
    state.markets[col.market.get(row)]!.ticker,
    named,
    col.flags.get(row),
    col.contracts.get(row),
    ...COLUMN_TERM_NAMES.map((name) => col[name].get(row)),
    col.position.get(row) === NO_ROW ? '' : state.positionIds.idOf(col.position.get(row)),
    ...realismColumns(state, row),
    ...feeColumns(state.orderFees, row),
    ...netColumns(state, row),
    ...markColumns(state, row),
  ].join(' ');
}

/** Empty for an order that nets nothing. */
function netColumns(state: ShardState, row: OrderRow): unknown[] {
  const { nets, positionIds } = state;
  const netting = nets.of(row);
  if (netting === null) return [];
  const { contracts, cents, venue } = nets.filled(row);
  const opened = lastOpened(state, row);
  const trade = opened === NO_ROW ? '' : positionIds.idOf(opened);
  const { opens, closes, asked } = netting;
  return ['nets', opens, closes, asked, contracts, cents, venue, trade];
}

/** Empty for an order that is neither post-only nor of a group. */
function markColumns({ orderMarks, orderGroups }: ShardState, row: OrderRow): unknown[] {
  const group = orderMarks.group(row);
  const postOnly = orderMarks.postOnly(row) ? ['post-only'] : [];
  return group === NO_ROW ? postOnly : [...postOnly, 'group', orderGroups.idOf(group)];
}

/** Empty for an order under the preset `simple`. */
function realismColumns({ realism }: ShardState, row: OrderRow): unknown[] {
  const { latencyMs, feesOn, liquidity, realistic } = realism.of(row);
  const under = [latencyMs, feesOn, liquidity, realistic];
  if (latencyMs === 0) return feesOn || liquidity === 'market' || realistic ? under : [];
  const due = [realism.arrivesAtMs(row), realism.cancelsAtMs(row)];
  return [...under, ...due, realism.timeInForce(row), realism.boundPriceCents(row)];
}

function positionLine(state: ShardState, row: PositionRow): string {
  const { col } = state.positions;
  return [
    state.positionIds.idOf(row),
    state.markets[col.market.get(row)]!.ticker,
    state.instruments[col.instrument.get(row)]!.id,
    col.flags.get(row),
    col.contracts.get(row),
    col.costCents.get(row),
    col.entryPriceCents.get(row),
    ...TRADE_COLUMN_NAMES.map((name) => col[name].get(row)),
    col.venue.get(row),
    ...(col.soldContracts.get(row) === 0 ? [] : soldColumns(state, row)),
    ...tagColumns(state, state.positionIds.idOf(row)),
    ...feeColumns(state.tradeFees, row),
  ].join(' ');
}

/** Empty for an order or trade without fees. */
function feeColumns<Row extends number>(fees: FeeRows<Row>, row: Row): unknown[] {
  if (!fees.has(row)) return [];
  return ['fees', fees.feesCents(row), fees.eachMicros(row), fees.carryMicros(row)];
}

/** Empty for a trade without tags. */
function tagColumns({ tradeTags }: ShardState, trade: Uuid): unknown[] {
  const tag = tradeTags.get(trade);
  return tag === undefined ? [] : ['marked', tag.parlay, tag.combine];
}

/** The proceeds of a position's sold parts. */
function soldColumns({ positions: { col } }: ShardState, row: PositionRow): unknown[] {
  return [col.soldContracts.get(row), col.soldCostCents.get(row), col.soldCents.get(row)];
}

function* finishedLines(state: ShardState, account: AccountRow): Generator<string> {
  for (const { placed, outcome } of state.records.endedOrders(account, ORDER_ENDS, null)) {
    const { status, reason, fillPriceCents, venue, tradeId, atMs, filledContracts } = outcome;
    const columns = [placed.orderId, status, reason, fillPriceCents, venue, tradeId, atMs];
    yield (filledContracts === null ? columns : [...columns, filledContracts]).join(' ');
  }
  for (const trade of state.records.closedTrades(account, TRADE_ENDS, null)) {
    const { tradeId, status, costCents, proceedsCents, contracts, closedAtMs } = trade;
    const columns = [tradeId, status, costCents, proceedsCents, contracts, closedAtMs];
    yield [...columns, ...tagColumns(state, tradeId)].join(' ');
  }
}

function byText(a: string, b: string): number {
  return a < b ? -1 : 1;
}
