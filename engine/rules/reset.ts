/** Resets: an account starts again with the start balance. Rules M32, M33 (engine/RULES.md). */

import { invariant } from '../base/invariant.ts';
import {
  type AccountRow,
  type Cents,
  DAY_MS,
  type EpochMs,
  isoOf,
  NO_ROW,
  type PositionRow,
} from '../base/units.ts';
import { accept, type Decision, reject } from './decision.ts';
import { emit } from './evolve.ts';
import type { FactSink } from './fact-sink.ts';
import { costCents } from './ledger.ts';
import type { ResetAccount } from './messages.ts';
import { positionBid } from './orders.ts';
import type { ShardState } from './state.ts';

const RESET_EVERY_MS = 30 * DAY_MS;

/** Whether an account can be reset now. `nextResetAtMs`: when it can, while it is too soon. */
export type ResetView = {
  resetBlockedBy: 'reset_not_enabled' | 'reset_too_soon' | null;
  nextResetAtMs: EpochMs | null;
};

export function resetView(state: ShardState, account: AccountRow, nowMs: EpochMs): ResetView {
  const lastMs = state.accounts.col.lastResetAtMs.get(account);
  const nextMs = lastMs === 0 ? nowMs : lastMs + RESET_EVERY_MS;
  if (!state.switches.selfReset)
    return { resetBlockedBy: 'reset_not_enabled', nextResetAtMs: null };
  if (nextMs > nowMs) return { resetBlockedBy: 'reset_too_soon', nextResetAtMs: nextMs };
  return { resetBlockedBy: null, nextResetAtMs: null };
}

/** Its events depend on each other, so they are made while they are applied (`resetAccount`). */
export function decideReset(state: ShardState, { atMs, account: id }: ResetAccount): Decision {
  const account = state.accountIds.find(id);
  if (account === NO_ROW) return reject('reset_not_available', NOTHING_TO_RESET);
  const { resetBlockedBy, nextResetAtMs } = resetView(state, account, atMs);
  switch (resetBlockedBy) {
    case null:
      return accept([]);
    case 'reset_not_enabled':
      return reject('reset_not_available', 'Resets are not enabled on this server.');
    case 'reset_too_soon':
      return reject(
        'reset_not_available',
        `The account was reset less than 30 days ago: the next reset is possible from ${isoOf(nextResetAtMs!)}.`,
      );
    default:
      return resetBlockedBy satisfies never;
  }
}

const NOTHING_TO_RESET = 'There is nothing to reset yet: an account begins with its first order.';

/**
 * Carries out an accepted reset in one step, because its prices are of one moment. It cancels the
 * account's orders, then closes its trades, the newest first of both. `account_reset` is last.
 */
export function resetAccount(state: ShardState, command: ResetAccount, facts: FactSink): void {
  const { ordersOfAccount, positionsOfAccount, nowMs: atMs } = state;
  const account = state.accountIds.find(command.account);
  invariant(account !== NO_ROW, 'a reset of no account was accepted');
  for (;;) {
    const order = ordersOfAccount.newest(account);
    if (order === NO_ROW) break;
    const reason = 'account_reset';
    emit(state, facts, { kind: 'order_ended', atMs, order, status: 'canceled', reason });
  }
  for (;;) {
    const position = positionsOfAccount.newest(account);
    if (position === NO_ROW) break;
    const proceedsCents = closingCents(state, position);
    emit(state, facts, { kind: 'position_reset', atMs, position, proceedsCents });
  }
  const run = state.accounts.col.run.get(account) + 1;
  emit(state, facts, { kind: 'account_reset', atMs, account, run });
}

/** At the live bid, or at cost if there is none. */
function closingCents(state: ShardState, position: PositionRow): Cents {
  const { contracts, costCents: cost } = state.positions.col;
  const bid = positionBid(state, position, state.nowMs);
  return bid === null ? cost.get(position) : costCents(bid.priceCents, contracts.get(position));
}
