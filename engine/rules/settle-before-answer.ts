/**
 * The markets that a message asks about settle before the answer. So every answer shows its market
 * fully settled. Rule S15 (engine/RULES.md).
 */

import { type AccountRow, NO_ROW } from '../base/units.ts';
import { restingOfOthers } from './disconnects.ts';
import type { FactSink } from './fact-sink.ts';
import type { Command } from './messages.ts';
import type { Query } from './queries.ts';
import { isHalfSettled, settleAccount, settleAll } from './settlement.ts';
import type { ShardState } from './state.ts';

/**
 * Settles the remaining trades of the accounts that the message reads or changes. Mostly there are
 * none.
 */
export function settleBeforeAnswer(
  state: ShardState,
  message: Command | Query,
  facts: FactSink,
): void {
  if (state.pendingSettlements.isEmpty) return;
  if (isAboutAll(state, message)) return settleAll(state, facts);
  for (const account of accountsOf(state, message)) settleAccount(state, account, facts);
}

/** Whether the answer would show a half-settled account. */
export function showsHalfSettled(state: ShardState, message: Query): boolean {
  if (state.pendingSettlements.isEmpty) return false;
  if (isAboutAll(state, message)) return true;
  return accountsOf(state, message).some((account) => isHalfSettled(state, account));
}

/**
 * Time cannot go back before a result that is still being carried out. A correction begins when
 * everything before it is done.
 */
function isAboutAll({ nowMs }: ShardState, message: Command | Query): boolean {
  switch (message.kind) {
    case 'digest':
      return true;
    case 'clock':
      return message.toMs < nowMs;
    case 'settle':
      return message.correction !== null;
    default:
      return false;
  }
}

function accountsOf(state: ShardState, message: Command | Query): AccountRow[] {
  if (message.kind === 'connected') {
    return restingOfOthers(state, message).map((order) => state.orders.col.account.get(order));
  }
  const ids = 'account' in message ? [message.account] : [];
  if (message.kind === 'preview') ids.push(message.order.account);
  const accounts = ids.flatMap((id) => (id === null ? [] : [state.accountIds.find(id)]));
  if (message.kind === 'mark') {
    const position = state.positionIds.find(message.trade);
    if (position !== NO_ROW) accounts.push(state.positions.col.account.get(position));
  }
  return accounts.filter((account) => account !== NO_ROW);
}
