/**
 * The lists that run through the tables: an account's resting orders and open positions, a
 * market's open positions. Newest first. They live in derived columns, so a load rebuilds them.
 */
import type { I32Column } from './columns.ts';
import type { ShardState } from './state.ts';
import { NO_ROW } from './table.ts';

type Links = { next: I32Column; prev: I32Column };

function push(links: Links, first: number, row: number): void {
  links.next.set(row, first);
  links.prev.set(row, NO_ROW);
  if (first !== NO_ROW) links.prev.set(first, row);
}

/** The list's first row after `row` has left it. */
function unlink(links: Links, first: number, row: number): number {
  const next = links.next.get(row);
  const prev = links.prev.get(row);
  if (next !== NO_ROW) links.prev.set(next, prev);
  if (prev === NO_ROW) return next;
  links.next.set(prev, next);
  return first;
}

function ofAccount(table: ShardState['orders'] | ShardState['positions']): Links {
  return { next: table.col.nextOfAccount, prev: table.col.prevOfAccount };
}

function ofMarket({ positions }: ShardState): Links {
  return { next: positions.col.nextOfMarket, prev: positions.col.prevOfMarket };
}

export function linkOrder(state: ShardState, order: number): void {
  const account = state.orders.col.account.get(order);
  const { firstOrder, orders } = state.accounts.col;
  push(ofAccount(state.orders), firstOrder.get(account), order);
  firstOrder.set(account, order);
  orders.add(account, 1);
}

export function unlinkOrder(state: ShardState, order: number): void {
  const account = state.orders.col.account.get(order);
  const { firstOrder, orders } = state.accounts.col;
  firstOrder.set(account, unlink(ofAccount(state.orders), firstOrder.get(account), order));
  orders.add(account, -1);
}

export function linkPosition(state: ShardState, position: number): void {
  const { col } = state.positions;
  const account = col.account.get(position);
  const { firstPosition, positions } = state.accounts.col;
  push(ofAccount(state.positions), firstPosition.get(account), position);
  firstPosition.set(account, position);
  positions.add(account, 1);
  const market = state.markets[col.market.get(position)]!;
  push(ofMarket(state), market.firstPosition, position);
  market.firstPosition = position;
}

export function unlinkPosition(state: ShardState, position: number): void {
  const { col } = state.positions;
  const account = col.account.get(position);
  const { firstPosition, positions } = state.accounts.col;
  firstPosition.set(
    account,
    unlink(ofAccount(state.positions), firstPosition.get(account), position),
  );
  positions.add(account, -1);
  const market = state.markets[col.market.get(position)]!;
  market.firstPosition = unlink(ofMarket(state), market.firstPosition, position);
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
