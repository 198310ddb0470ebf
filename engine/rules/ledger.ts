/**
 * Money. Every change of an account's cents is one of these functions. Each keeps, in cents: start
 * + adjustments + realized P&L of the run = balance + held + open stake. Rules M2 to M11, M20, S23
 * (engine/RULES.md).
 */
import { invariant } from '../base/invariant.ts';
import {
  type AccountRow,
  type Cents,
  type Contracts,
  PAYOUT_CENTS,
  START_BALANCE_CENTS,
} from '../base/units.ts';
import type { ShardState } from './state.ts';

/** The cost or proceeds of contracts at `centsEach`: a price, or a payout of 0..100. */
export function costCents(eachCents: number, contracts: Contracts): Cents {
  const cents = eachCents * contracts;
  invariant(isCounted(cents), 'a cost is not in whole cents, or too large to count');
  return cents;
}

/** Cash moves from the balance into a hold; a negative amount releases it. */
export function hold({ accounts }: ShardState, account: AccountRow, cents: Cents): void {
  move(accounts, account, -cents, cents, 0);
}

/**
 * Cash moves into the cost of an open position. The order's hold for these contracts is released
 * first, and the rest is taken from the balance. The fee is realized at once. Rules M5, M14.
 */
export function stake(
  { accounts }: ShardState,
  account: AccountRow,
  cents: Cents,
  releasedCents: Cents,
  feeCents: Cents,
): void {
  invariant(cents >= 0, 'a position cost less than nothing');
  invariant(releasedCents >= 0, 'a fill added to a hold');
  if (feeCents !== 0) realizeCents(accounts, account, -feeCents);
  move(accounts, account, releasedCents - cents - feeCents, -releasedCents, cents);
}

/** A position ends: its cost leaves the stake, its proceeds less the fee enter the balance. */
export function realize(
  { accounts }: ShardState,
  account: AccountRow,
  cost: Cents,
  proceedsCents: Cents,
  feeCents = 0,
): void {
  invariant(cost >= 0, 'the cost of closed contracts is below zero');
  invariant(proceedsCents >= 0, 'a position brought less than nothing');
  invariant(feeCents <= proceedsCents, 'the fee of a sale takes more than it brought');
  realizeCents(accounts, account, proceedsCents - cost - feeCents);
  move(accounts, account, proceedsCents - feeCents, 0, -cost);
}

function realizeCents(accounts: Accounts, account: AccountRow, cents: Cents): void {
  const { realizedCents, lifetimeRealizedCents } = accounts.change(account);
  realizedCents.add(account, cents);
  invariant(isCounted(realizedCents.get(account)), 'a run realized more than can be counted');
  lifetimeRealizedCents.add(account, cents);
  invariant(isCounted(lifetimeRealizedCents.get(account)), 'realized more than can be counted');
}

/**
 * A settled trade brings more or less than its payout. The run in which it settled takes the
 * difference. If that run is over, only the sum of all runs does. Rule S23 (engine/RULES.md).
 */
export function correct(
  { accounts }: ShardState,
  account: AccountRow,
  { changedByCents, cashCents }: { changedByCents: Cents; cashCents: Cents },
): void {
  invariant(cashCents === changedByCents || cashCents === 0, 'a correction moves other cash');
  const { realizedCents, lifetimeRealizedCents } = accounts.change(account);
  lifetimeRealizedCents.add(account, changedByCents);
  invariant(isCounted(lifetimeRealizedCents.get(account)), 'realized more than can be counted');
  realizedCents.add(account, cashCents);
  invariant(isCounted(realizedCents.get(account)), 'a run realized more than can be counted');
  move(accounts, account, cashCents, 0, 0, true);
}

/** An operator's correction of an account's cash. */
export function adjust({ accounts }: ShardState, account: AccountRow, cents: Cents): void {
  invariant(isCounted(cents), 'a correction is not in whole cents');
  const { adjustedCents } = accounts.change(account);
  adjustedCents.add(account, cents);
  invariant(isCounted(adjustedCents.get(account)), 'adjusted more than can be counted');
  move(accounts, account, cents, 0, 0);
}

/**
 * Changes the count of contracts that may be paid out to the account. A checkpoint does not store
 * the count, because it follows from the rows.
 */
export function countPayable(
  { accounts }: ShardState,
  account: AccountRow,
  contracts: Contracts,
): void {
  const { payableContracts } = accounts.derived;
  invariant(isCounted(contracts), 'a change of payable contracts is not whole');
  payableContracts.add(account, contracts);
  invariant(payableContracts.get(account) >= 0, 'payable contracts went below zero');
}

/** Above it a number cannot represent every cent, so no amount of an account may exceed it. */
const MOST_CENTS = Number.MAX_SAFE_INTEGER;

/**
 * How many more cents an account could be paid before one of its sums exceeds `MOST_CENTS`, if
 * every open position and resting buy paid 100 cents per contract. Below 0 there is no room. Only
 * buys and adjustments reduce it, so a buy within it can always be paid out.
 */
export function payoutRoomCents({ accounts: { col } }: ShardState, account: AccountRow): Cents {
  const payoutCents = costCents(PAYOUT_CENTS, col.payableContracts.get(account));
  const gainCents = payoutCents - col.openStakeCents.get(account);
  const realizedCents = Math.max(
    col.realizedCents.get(account),
    col.lifetimeRealizedCents.get(account),
  );
  const hasCents = col.balanceCents.get(account) + col.heldCents.get(account) + payoutCents;
  return MOST_CENTS - Math.max(hasCents, realizedCents + gainCents);
}

/** `payoutRoomCents` of an account that is not open yet. */
export const FIRST_PAYOUT_ROOM_CENTS: Cents = MOST_CENTS - START_BALANCE_CENTS;

/** Whether every sum of the account stays within `MOST_CENTS` after a correction. */
export function isCountable(
  state: ShardState,
  account: AccountRow,
  adjustedByCents: Cents,
): boolean {
  const { col } = state.accounts;
  const adjustedCents = col.adjustedCents.get(account) + adjustedByCents;
  const hasCents =
    col.balanceCents.get(account) + col.heldCents.get(account) + col.openStakeCents.get(account);
  // The account may lose all its cash.
  const worstCents = col.lifetimeRealizedCents.get(account) - hasCents - adjustedByCents;
  return (
    adjustedByCents <= payoutRoomCents(state, account) &&
    [adjustedCents, START_BALANCE_CENTS + adjustedCents, worstCents].every(Number.isSafeInteger)
  );
}

/** The difference between the two sides of the conservation law: always 0. */
export function imbalanceCents({ accounts: { col } }: ShardState, account: AccountRow): Cents {
  const has = col.balanceCents.get(account) + col.heldCents.get(account);
  return owedCents(col, account) - has - col.openStakeCents.get(account);
}

/** The sum of balance, holds and open stake. */
function owedCents(col: Accounts['col'], account: AccountRow): Cents {
  return START_BALANCE_CENTS + col.adjustedCents.get(account) + col.realizedCents.get(account);
}

const isCounted = Number.isSafeInteger;

type Accounts = ShardState['accounts'];

/** Changes balance, holds and open stake by these cents. */
function move(
  accounts: Accounts,
  account: AccountRow,
  toBalance: Cents,
  toHeld: Cents,
  toStake: Cents,
  mayOwe = false,
): void {
  const { col } = accounts;
  const balanceCents = col.balanceCents.get(account) + toBalance;
  const heldCents = col.heldCents.get(account) + toHeld;
  const openStakeCents = col.openStakeCents.get(account) + toStake;
  invariant(isCounted(balanceCents), 'a balance left the safe integers');
  // A placement may hold more than the balance until its first fill at a better price (M6). A
  // corrected result may take money that was spent since, and later gains restore it (S23).
  const mayBeBelow = toHeld > 0 || toBalance >= 0 || mayOwe;
  invariant(balanceCents >= 0 || mayBeBelow, 'a balance went below zero');
  invariant(heldCents >= 0, 'a hold went below zero');
  invariant(openStakeCents >= 0, 'an open stake went below zero');
  const hasCents = balanceCents + heldCents + openStakeCents;
  invariant(hasCents === owedCents(col, account), 'an account does not add up');
  const to = accounts.change(account);
  to.balanceCents.set(account, balanceCents);
  to.heldCents.set(account, heldCents);
  to.openStakeCents.set(account, openStakeCents);
}
