/**
 * How accounts open, how runs begin, and when a run is bust. Rules M1, M30 to M34
 * (engine/RULES.md).
 */

import { invariant } from '../base/invariant.ts';
import { type AccountRow, type EpochMs, NO_ROW, START_BALANCE_CENTS } from '../base/units.ts';
import type { AccountOpened, AccountReset } from './events.ts';
import type { ShardState } from './state.ts';

/** A run is bust below one dollar. */
const BUST_BELOW_CENTS = 100;
/** Before every time. */
const NEVER_MS = -1;

export function openAccount(state: ShardState, event: AccountOpened): void {
  const { accounts } = state;
  const row = accounts.claim();
  invariant(row === event.account, 'an account was opened in another row than its event names');
  invariant(state.accountIds.find(event.accountId) === NO_ROW, 'an account was opened twice');
  openAccountRow(state, row, event.atMs);
  state.ordersOfAccount.ensureOwners(accounts.size);
  state.positionsOfAccount.ensureOwners(accounts.size);
  state.accountIds.set(row, event.accountId);
}

function openAccountRow({ accounts }: ShardState, row: AccountRow, atMs: EpochMs): void {
  const col = accounts.change(row);
  col.runStartedAtMs.set(row, atMs);
  col.balanceCents.set(row, START_BALANCE_CENTS);
  for (const name of [
    'heldCents',
    'openStakeCents',
    'realizedCents',
    'adjustedCents',
    'lifetimeRealizedCents',
    'lastResetAtMs',
    'tradePlace',
    'busts',
    'bustedRun',
    'isPublic',
  ] as const) {
    col[name].set(row, 0);
  }
  accounts.derived.payableContracts.set(row, 0);
  col.tradeOpenedAtMs.set(row, NEVER_MS);
  col.run.set(row, 1);
}

/** The next run begins. Only the P&L, the busts and the time of the last run remain. */
export function startRun(state: ShardState, { atMs, account, run }: AccountReset): void {
  const col = state.accounts.change(account);
  invariant(run === col.run.get(account) + 1, 'a run follows another than the last one');
  invariant(state.ordersOfAccount.count(account) === 0, 'a run begins while an order rests');
  invariant(state.positionsOfAccount.count(account) === 0, 'a run begins while a trade is open');
  invariant(col.heldCents.get(account) === 0, 'a run begins with a hold');
  invariant(col.openStakeCents.get(account) === 0, 'a run begins with a stake');
  col.run.set(account, run);
  col.runStartedAtMs.set(account, atMs);
  col.lastResetAtMs.set(account, atMs);
  col.balanceCents.set(account, START_BALANCE_CENTS);
  col.realizedCents.set(account, 0);
  col.adjustedCents.set(account, 0);
}

/** Once a run: nothing open, nothing resting, less than a dollar left. */
export function countBust(state: ShardState, account: AccountRow): void {
  const { col } = state.accounts;
  const worthCents = col.balanceCents.get(account) + col.heldCents.get(account);
  if (worthCents >= BUST_BELOW_CENTS || col.bustedRun.get(account) === col.run.get(account)) return;
  const isIdle =
    state.ordersOfAccount.count(account) === 0 && state.positionsOfAccount.count(account) === 0;
  if (!isIdle) return;
  const to = state.accounts.change(account);
  to.bustedRun.set(account, col.run.get(account));
  to.busts.add(account, 1);
  invariant(to.busts.get(account) <= col.run.get(account), 'a run was bust twice');
}
