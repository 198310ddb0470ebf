/**
 * Money. Every change of an account's cents is one of these functions, and each keeps, in cents:
 * start + adjustments + realized P&L of the run = balance + held + open stake.
 * CONTRACT.md section 5, Formulas.
 */
import { invariant } from './invariant.ts';
import type { ShardState } from './state.ts';
import { type Cents, type Contracts, START_BALANCE_CENTS } from './units.ts';

/** What contracts cost, or bring, at so many cents each: a price, or a payout of 0..100. */
export function costCents(eachCents: number, contracts: Contracts): Cents {
  return eachCents * contracts;
}

/** Cash moves from the balance into a hold; a negative amount releases it. */
export function hold(state: ShardState, account: number, cents: Cents): void {
  const { balanceCents, heldCents } = state.accounts.col;
  balanceCents.add(account, -cents);
  heldCents.add(account, cents);
  settled(state, account);
}

/**
 * Cash moves into the cost of an open position: from what an order held for it, which is all
 * released, and from the balance.
 */
export function stake(
  state: ShardState,
  account: number,
  cents: Cents,
  releasedCents: Cents,
): void {
  const { balanceCents, heldCents, openStakeCents } = state.accounts.col;
  heldCents.add(account, -releasedCents);
  balanceCents.add(account, releasedCents - cents);
  openStakeCents.add(account, cents);
  settled(state, account);
}

/** A position ends: its cost leaves the stake, its proceeds enter the balance. */
export function realize(
  state: ShardState,
  account: number,
  cost: Cents,
  proceedsCents: Cents,
): void {
  const { balanceCents, openStakeCents, realizedCents, lifetimeRealizedCents } = state.accounts.col;
  openStakeCents.add(account, -cost);
  balanceCents.add(account, proceedsCents);
  realizedCents.add(account, proceedsCents - cost);
  lifetimeRealizedCents.add(account, proceedsCents - cost);
  settled(state, account);
}

/** An operator's correction. */
export function adjust(state: ShardState, account: number, cents: Cents): void {
  const { balanceCents, adjustedCents } = state.accounts.col;
  balanceCents.add(account, cents);
  adjustedCents.add(account, cents);
  settled(state, account);
}

/** The two sides of the conservation law differ by this much: always 0. */
export function imbalanceCents(state: ShardState, account: number): Cents {
  const { balanceCents, heldCents, openStakeCents, realizedCents, adjustedCents } =
    state.accounts.col;
  const owed = START_BALANCE_CENTS + adjustedCents.get(account) + realizedCents.get(account);
  return owed - balanceCents.get(account) - heldCents.get(account) - openStakeCents.get(account);
}

function settled(state: ShardState, account: number): void {
  const { balanceCents, heldCents, openStakeCents } = state.accounts.col;
  invariant(Number.isSafeInteger(balanceCents.get(account)), 'a balance left the safe integers');
  invariant(heldCents.get(account) >= 0, 'a hold went below zero');
  invariant(openStakeCents.get(account) >= 0, 'an open stake went below zero');
  invariant(imbalanceCents(state, account) === 0, 'an account does not add up');
  state.accounts.touch(account);
}
