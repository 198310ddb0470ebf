/** Order groups on the wire. Rules A190, A191 (api/RULES.md). */

import { type EpochMs, isoOf, NO_ROW } from '../../../base/units.ts';
import type { JsonWriter } from '../../../format/json-writer.ts';
import type { GroupRow } from '../../../memory/order-groups.ts';
import { uuidTimeMs } from '../../../memory/uuid-words.ts';
import type { OrderGroupsQuery } from '../../../rules/queries.ts';
import type { ShardState } from '../../../rules/state.ts';

export function writeMadeGroup(
  to: JsonWriter,
  state: ShardState,
  group: GroupRow,
  nowMs: EpochMs,
): void {
  to.value({ orderGroup: shown(state, group, nowMs), mode: 'paper' });
}

/** The oldest first. */
export function writeOrderGroups(
  to: JsonWriter,
  state: ShardState,
  { account: id, atMs }: OrderGroupsQuery,
): void {
  const account = state.accountIds.find(id);
  const groups = account === NO_ROW ? [] : state.orderGroups.of(account);
  const orderGroups = groups.map((group) => shown(state, group, atMs));
  orderGroups.sort((a, b) => (a.orderGroupId < b.orderGroupId ? -1 : 1));
  to.value({ orderGroups, mode: 'paper' });
}

function shown({ orderGroups }: ShardState, group: GroupRow, nowMs: EpochMs) {
  const { id, contractsLimit, windowSeconds } = orderGroups.at(group);
  return {
    orderGroupId: id,
    contractsLimit,
    windowSeconds,
    tradedContracts: orderGroups.tradedContracts(group, nowMs),
    isReached: orderGroups.refuses(group, nowMs),
    createdAt: isoOf(uuidTimeMs(id)),
  };
}
