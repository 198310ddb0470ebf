/**
 * The amounts that can still be counted: no sum of an account's cents leaves the safe integers,
 * whatever happens to its positions and resting buys. A settlement pays 100 cents at most.
 */

import { type Cents, START_BALANCE_CENTS, type Uuid } from '../../engine/base/units.ts';
import { holdCentsOf, remainingOf } from './naive-ledger.ts';
import { type ModelAccount, type ModelState, openTradesOf, restingOf } from './naive-state.ts';

const MOST_CENTS = BigInt(Number.MAX_SAFE_INTEGER);

/** The most that an account could hold and have realized when all of it wins, in BigInt cents. */
function bestCents(state: ModelState, id: Uuid): { hasCents: bigint; realizedCents: bigint } {
  const account = state.accounts.get(id);
  if (account === undefined) return { hasCents: BigInt(START_BALANCE_CENTS), realizedCents: 0n };
  let hasCents = BigInt(account.balanceCents);
  const lifetimeCents = lifetimeCentsOf(account);
  const runCents = BigInt(account.realizedCents);
  let realizedCents = runCents > lifetimeCents ? runCents : lifetimeCents;
  for (const trade of openTradesOf(state, id)) {
    hasCents += 100n * BigInt(trade.contracts);
    realizedCents += 100n * BigInt(trade.contracts) - BigInt(trade.costCents);
  }
  for (const order of restingOf(state, id)) {
    hasCents += BigInt(holdCentsOf(order));
    if (order.action === 'sell') continue;
    hasCents += 100n * BigInt(remainingOf(order));
    realizedCents += 100n * BigInt(remainingOf(order));
  }
  return { hasCents, realizedCents };
}

function lifetimeCentsOf({ realizedCents, earlierRunsCents }: ModelAccount): bigint {
  return BigInt(earlierRunsCents) + BigInt(realizedCents);
}

/** How much more it could be paid before one of its sums could not be counted. */
export function roomCentsOf(state: ModelState, id: Uuid): bigint {
  const { hasCents, realizedCents } = bestCents(state, id);
  return MOST_CENTS - (hasCents > realizedCents ? hasCents : realizedCents);
}

export function mayBuy(state: ModelState, id: Uuid, contracts: number): boolean {
  return 100n * BigInt(contracts) <= roomCentsOf(state, id);
}

export function mayAdjust(state: ModelState, id: Uuid, amountCents: Cents): boolean {
  const account = state.accounts.get(id)!;
  const open = openTradesOf(state, id).reduce((total, trade) => total + trade.costCents, 0);
  const held = restingOf(state, id).reduce((total, order) => total + holdCentsOf(order), 0);
  const amount = BigInt(amountCents);
  const adjusted = BigInt(account.adjustmentsCents) + amount;
  const hasNow = BigInt(account.balanceCents) + BigInt(held) + BigInt(open);
  const allLost = lifetimeCentsOf(account) - hasNow - amount;
  const isCountable = (cents: bigint) => cents <= MOST_CENTS && cents >= -MOST_CENTS;
  return (
    amount <= roomCentsOf(state, id) &&
    [adjusted, adjusted + BigInt(START_BALANCE_CENTS), allLost].every(isCountable)
  );
}
