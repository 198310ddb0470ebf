/**
 * Order groups: a group caps the contracts that its orders trade within a rolling window. Once the
 * cap is reached, its orders are canceled, and new ones are refused until fills have left the window.
 * A group that latches refuses them until it is reset. Rules T202 to T204, T217 to T222
 * (engine/RULES.md).
 */

import {
  type AccountRow,
  type Contracts,
  type EpochMs,
  NO_ROW,
  type OrderRow,
  type Uuid,
} from '../base/units.ts';
import type { GroupRow } from '../memory/order-groups.ts';
import { accept, type Decision, reject } from './decision.ts';
import type { Event, OrderGroupChanged } from './events.ts';
import { emit } from './evolve.ts';
import type { FactSink } from './fact-sink.ts';
import type { ChangeOrderGroup, MakeOrderGroup, PlaceOrder } from './messages.ts';
import type { ShardState } from './state.ts';

/** Of one account, at the same time. Rule T219. */
export const ORDER_GROUPS_MAX = 25;

/** Why an order of a group is refused; null: it is not. Rules T218, T221. */
export function groupRefusal(
  { orderGroups, nowMs }: ShardState,
  { orderGroupId }: PlaceOrder,
  account: AccountRow,
): Decision | null {
  const group = account === NO_ROW ? NO_ROW : orderGroups.find(account, orderGroupId!);
  if (group === NO_ROW) return reject('order_group_not_found');
  return orderGroups.refuses(group, nowMs) ? reject('order_group_limit') : null;
}

/** Whether a fill of an order's placement ends what is left of it. Rules T133, T220. */
export function endsItsRest(
  { orderGroups, nowMs }: ShardState,
  { orderGroupId }: PlaceOrder,
  account: AccountRow,
  filled: Contracts,
): boolean {
  if (orderGroupId === null || filled === 0) return false;
  return orderGroups.isReached(orderGroups.find(account, orderGroupId), nowMs, filled);
}

/** The first group of an account opens it. */
export function decideMakeGroup(state: ShardState, command: MakeOrderGroup): Decision {
  const { atMs, group, contractsLimit, windowSeconds, latches } = command;
  const known = state.accountIds.find(command.account);
  const account = known === NO_ROW ? state.accounts.nextRow : known;
  const events: Event[] = [];
  if (known === NO_ROW) {
    events.push({ kind: 'account_opened', atMs, account, accountId: command.account });
  } else if (state.orderGroups.of(account).length >= ORDER_GROUPS_MAX) {
    return reject('order_groups_full');
  }
  const of = { account, group, contractsLimit, windowSeconds };
  events.push({ kind: 'order_group_made', atMs, ...of });
  if (latches) events.push(groupChanged({ atMs, account, id: group, contractsLimit }, 'latched'));
  return accept(events);
}

type Changed = { atMs: EpochMs; account: AccountRow; id: Uuid; contractsLimit: Contracts };

function groupChanged(
  { atMs, account, id: group, contractsLimit }: Changed,
  change: OrderGroupChanged['change'],
): OrderGroupChanged {
  return { kind: 'order_group_changed', atMs, account, group, change, contractsLimit };
}

/** Rules T203, T204. */
export function decideChangeGroup(state: ShardState, command: ChangeOrderGroup): Decision {
  const { atMs, group: id, change } = command;
  const { orderGroups } = state;
  const account = state.accountIds.find(command.account);
  const row = account === NO_ROW ? NO_ROW : orderGroups.find(account, id);
  if (row === NO_ROW) return reject('order_group_not_found');
  const { contractsLimit: before } = orderGroups.at(row);
  if (change === 'reset') {
    return accept([groupChanged({ atMs, account, id, contractsLimit: before }, 'reset')]);
  }
  const contractsLimit = change === 'trigger' ? before : change.contractsLimit;
  const events: Event[] = [];
  const changed = { atMs, account, id, contractsLimit };
  if (change !== 'trigger') {
    events.push(groupChanged(changed, 'limited'));
    if (orderGroups.tradedContracts(row, state.nowMs) < contractsLimit) return accept(events);
  }
  const isTriggered = orderGroups.isTriggered(row);
  if (!isTriggered) events.push(groupChanged(changed, 'triggered'));
  for (const order of ordersOfGroup(state, account, row)) {
    events.push({ kind: 'order_ended', atMs, order, status: 'canceled', reason: LIMIT });
  }
  return accept(events);
}

/** Why the orders of a group end that has reached its limit, or is triggered. */
const LIMIT = 'order_group_limit';

/** The waiting orders of a group, the first placed first. */
export function ordersOfGroup(state: ShardState, account: AccountRow, group: GroupRow): OrderRow[] {
  const newestFirst = state.ordersOfAccount.of(account);
  return [...newestFirst].filter((order) => state.orderMarks.group(order) === group).reverse();
}

/**
 * Ends the orders of every group that fills since the last call have brought to its cap. It is called
 * after each fill, before another order meets the book. Rule T220. @returns whether any has ended
 */
export function endReached(state: ShardState, atMs: EpochMs, facts: FactSink): boolean {
  const filled = state.orderGroups.takeFilled();
  if (filled === null) return false;
  let hasEnded = false;
  for (const group of filled) {
    if (!state.orderGroups.isReached(group, atMs)) continue;
    const account = state.orderGroups.groups.col.account.get(group);
    const { id, contractsLimit } = state.orderGroups.at(group);
    if (state.orderGroups.isLatched(group) && !state.orderGroups.isTriggered(group)) {
      emit(state, facts, groupChanged({ atMs, account, id, contractsLimit }, 'triggered'));
    }
    for (const order of ordersOfGroup(state, account, group)) {
      const ended = { order, status: 'canceled', reason: LIMIT } as const;
      emit(state, facts, { kind: 'order_ended', atMs, ...ended });
      hasEnded = true;
    }
  }
  return hasEnded;
}
