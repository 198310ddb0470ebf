/**
 * The resting orders that end with the stream connection they were placed on. An account rests few
 * orders, so they are searched among its own. Rules T134, T135 (engine/RULES.md).
 */

import { NO_ROW, type OrderRow } from '../base/units.ts';
import type { Connected, Disconnected } from './messages.ts';
import type { ShardState } from './state.ts';

/** The first placed first. */
export function restingOf(
  state: ShardState,
  { account: accountId, connection }: Disconnected,
): OrderRow[] {
  const account = state.accountIds.find(accountId);
  if (account === NO_ROW) return [];
  const ofConnection = state.orders.col.connection;
  const newestFirst = state.ordersOfAccount.of(account);
  return [...newestFirst].filter((order) => ofConnection.get(order) === connection).reverse();
}

/** Of all accounts, the first placed first. */
export function restingOfOthers(state: ShardState, { connections }: Connected): OrderRow[] {
  const { connection, sequence } = state.orders.col;
  const isKept = new Set([0, ...connections]);
  const others: OrderRow[] = [];
  for (const order of state.orders.rows()) {
    if (!isKept.has(connection.get(order))) others.push(order);
  }
  return others.sort((a, b) => sequence.get(a) - sequence.get(b));
}
