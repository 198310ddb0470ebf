/**
 * The lists that run through the tables: an account's resting orders and open positions, a
 * market's open positions. Newest first. They live in derived columns, so a load rebuilds them.
 */
import type { I32Column } from './columns.ts';
import type { ShardState } from './state.ts';
import { NO_ROW } from './table.ts';

function push(next: I32Column, previous: I32Column, first: number, row: number): void {
  next.set(row, first);
  previous.set(row, NO_ROW);
  if (first !== NO_ROW) previous.set(first, row);
}

/** The list's first row after `row` has left it. */
function unlink(next: I32Column, previous: I32Column, first: number, row: number): number {
  const after = next.get(row);
  const before = previous.get(row);
  if (after !== NO_ROW) previous.set(after, before);
  if (before === NO_ROW) return after;
  next.set(before, after);
  return first;
}

export function linkOrder({ accounts, orders }: ShardState, order: number): void {
  const { col } = orders;
  const account = col.account.get(order);
  const { firstOrder } = accounts.col;
  push(col.nextOfAccount, col.prevOfAccount, firstOrder.get(account), order);
  firstOrder.set(account, order);
  accounts.col.orders.add(account, 1);
}

export function unlinkOrder({ accounts, orders }: ShardState, order: number): void {
  const { col } = orders;
  const account = col.account.get(order);
  const { firstOrder } = accounts.col;
  const first = firstOrder.get(account);
  firstOrder.set(account, unlink(col.nextOfAccount, col.prevOfAccount, first, order));
  accounts.col.orders.add(account, -1);
}

export function linkPosition(state: ShardState, position: number): void {
  const { col } = state.positions;
  const account = col.account.get(position);
  const { firstPosition, positions } = state.accounts.col;
  push(col.nextOfAccount, col.prevOfAccount, firstPosition.get(account), position);
  firstPosition.set(account, position);
  positions.add(account, 1);
  const market = state.markets[col.market.get(position)]!;
  push(col.nextOfMarket, col.prevOfMarket, market.firstPosition, position);
  market.firstPosition = position;
}

export function unlinkPosition(state: ShardState, position: number): void {
  const { col } = state.positions;
  const account = col.account.get(position);
  const { firstPosition, positions } = state.accounts.col;
  const first = firstPosition.get(account);
  firstPosition.set(account, unlink(col.nextOfAccount, col.prevOfAccount, first, position));
  positions.add(account, -1);
  const market = state.markets[col.market.get(position)]!;
  const { firstPosition: firstOfMarket } = market;
  market.firstPosition = unlink(col.nextOfMarket, col.prevOfMarket, firstOfMarket, position);
}

/** Rows of the account's orders that are not done, newest first. */
export function* ordersOf(state: ShardState, account: number): Generator<number> {
  let row = state.accounts.col.firstOrder.get(account);
  for (; row !== NO_ROW; row = state.orders.col.nextOfAccount.get(row)) yield row;
}

/** Rows of the account's open positions, newest first. */
export function* positionsOf(state: ShardState, account: number): Generator<number> {
  let row = state.accounts.col.firstPosition.get(account);
  for (; row !== NO_ROW; row = state.positions.col.nextOfAccount.get(row)) yield row;
}

/** Rows of the market's open positions, newest first. */
export function* positionsIn(state: ShardState, market: number): Generator<number> {
  let row = state.markets[market]!.firstPosition;
  for (; row !== NO_ROW; row = state.positions.col.nextOfMarket.get(row)) yield row;
}
