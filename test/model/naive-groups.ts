/** Order groups: every fill is kept and counted again. Rules T202 to T204, T217 to T222 (engine/RULES.md). */

import { isoOf, type Uuid } from '../../engine/base/units.ts';
import type {
  ChangeOrderGroup,
  MakeOrderGroup,
  RemoveOrderGroup,
  Reply,
} from '../../engine/rules/messages.ts';
import type { OrderGroupsQuery } from '../../engine/rules/queries.ts';
import type { RejectionCode } from '../../engine/rules/rejections.ts';
import { end, openedAccount } from './naive-ledger.ts';
import type { ModelGroup, ModelOrder, ModelState } from './naive-state.ts';
import { answer } from './naive-views.ts';

const GROUPS_MAX = 25;

export function makeGroup(state: ModelState, request: MakeOrderGroup): Reply | RejectionCode {
  if (groupsOf(state, request.account).length >= GROUPS_MAX) return 'order_groups_full';
  openedAccount(state, request.account);
  const { group: id, account, contractsLimit, windowSeconds, latches } = request;
  const group = { id, account, contractsLimit, windowSeconds, latches, isTriggered: false };
  state.groups.push(group);
  return answer({ orderGroup: groupJson(state, group, state.nowMs), mode: 'paper' });
}

/** Its orders in the order of their placement. `cancel`: false if it was canceled before. */
export function removeGroup(
  state: ModelState,
  { account, group: id }: RemoveOrderGroup,
  cancel: (order: ModelOrder) => boolean,
): Reply | RejectionCode {
  const group = groupOf(state, account, id);
  if (group === undefined) return 'order_group_not_found';
  const canceled = ordersIn(state, id).filter(cancel);
  state.groups = state.groups.filter((other) => other !== group);
  const ids = canceled.map((order) => order.id);
  return answer({ canceled: ids, count: ids.length, mode: 'paper' });
}

/** T203, T204. */
export function changeGroup(
  state: ModelState,
  { account, group: id, change }: ChangeOrderGroup,
): Reply | RejectionCode {
  const group = groupOf(state, account, id);
  if (group === undefined) return 'order_group_not_found';
  group.latches = true;
  if (change === 'reset') {
    group.isTriggered = false;
    state.groupFills = state.groupFills.filter((fill) => fill.group !== id);
  }
  if (typeof change === 'object') group.contractsLimit = change.contractsLimit;
  const isEnded =
    change === 'trigger' || (typeof change === 'object' && isReached(state, group, state.nowMs));
  const ids = isEnded ? endAll(state, group) : [];
  return answer({ canceled: ids, count: ids.length, mode: 'paper' });
}

function endAll(state: ModelState, group: ModelGroup): Uuid[] {
  group.isTriggered = group.latches;
  const orders = ordersIn(state, group.id);
  for (const order of orders) end(state, order, 'canceled', 'order_group_limit');
  return orders.map(({ id }) => id);
}

export function groupList(state: ModelState, query: OrderGroupsQuery, nowMs: number): Reply {
  const groups = groupsOf(state, query.account).sort((a, b) => (a.id < b.id ? -1 : 1));
  return answer({
    orderGroups: groups.map((group) => groupJson(state, group, nowMs)),
    mode: 'paper',
  });
}

/** Why a new order of the group is refused. */
export function refusalOfGroup(
  state: ModelState,
  account: Uuid,
  id: Uuid | null,
): RejectionCode | null {
  if (id === null) return null;
  const group = groupOf(state, account, id);
  if (group === undefined) return 'order_group_not_found';
  return refuses(state, group, state.nowMs) ? 'order_group_limit' : null;
}

/** After a fill of an order: its group may have had enough. */
export function endReached(state: ModelState, { account, groupId }: ModelOrder): void {
  const group = groupId === null ? undefined : groupOf(state, account, groupId);
  if (group === undefined || !isReached(state, group, state.nowMs)) return;
  endAll(state, group);
}

function refuses(state: ModelState, group: ModelGroup, nowMs: number): boolean {
  return group.isTriggered || isReached(state, group, nowMs);
}

function isReached(state: ModelState, group: ModelGroup, nowMs: number): boolean {
  return tradedIn(state, group, nowMs) >= group.contractsLimit;
}

function tradedIn({ groupFills }: ModelState, { id, windowSeconds }: ModelGroup, nowMs: number) {
  return groupFills
    .filter((fill) => fill.group === id && fill.atMs > nowMs - windowSeconds * 1000)
    .reduce((sum, { contracts }) => sum + contracts, 0);
}

function groupJson(state: ModelState, group: ModelGroup, nowMs: number) {
  return {
    orderGroupId: group.id,
    contractsLimit: group.contractsLimit,
    windowSeconds: group.windowSeconds,
    tradedContracts: tradedIn(state, group, nowMs),
    isReached: refuses(state, group, nowMs),
    createdAt: isoOf(Number.parseInt(group.id.replaceAll('-', '').slice(0, 12), 16)),
  };
}

function groupsOf(state: ModelState, account: Uuid): ModelGroup[] {
  return state.groups.filter((group) => group.account === account);
}

function groupOf(state: ModelState, account: Uuid, id: Uuid): ModelGroup | undefined {
  return groupsOf(state, account).find((group) => group.id === id);
}

function ordersIn(state: ModelState, id: Uuid): ModelOrder[] {
  const orders = state.resting.filter(({ groupId }) => groupId === id);
  return orders.sort((a, b) => a.sequence - b.sequence);
}
