/**
 * What a result does to its market, and how positions end without a sale. Rules M8, M33, S1, S6
 * (engine/RULES.md).
 */

import { invariant } from '../base/invariant.ts';
import { type Cents, HOME_VENUE, NO_ROW, type PositionRow } from '../base/units.ts';
import { countBust } from './accounts.ts';
import type { MarketResolved, MarketValued, PositionReset, PositionSettled } from './events.ts';
import { countPayable, realize } from './ledger.ts';
import { closePosition } from './positions.ts';
import type { ShardState } from './state.ts';

/** At most once. Rule S1 (engine/RULES.md). */
export function resolveMarket(
  state: ShardState,
  { atMs, market: number, outcome }: MarketResolved,
): void {
  const market = state.markets[number];
  invariant(market !== undefined, 'a result names a market that does not exist');
  invariant(market.outcome === null, 'a market was resolved twice');
  market.outcome = outcome;
  market.resolvedAtMs = atMs;
  if (market.venue !== HOME_VENUE) return;
  state.unfinished.markets.add(number);
  state.unfinished.settledAccounts.clear();
}

export function valueMarket({ markets }: ShardState, event: MarketValued): void {
  const { yesPayoutCents, noPayoutCents } = event;
  const market = markets[event.market];
  invariant(market !== undefined, 'a settlement value names a market that does not exist');
  market.payouts = { yesPayoutCents, noPayoutCents };
}

export function positionSettled(state: ShardState, event: PositionSettled): void {
  const { col } = state.positions;
  const { position, proceedsCents } = event;
  invariant(state.positions.isLive(position), 'a position was settled twice');
  const market = state.markets[col.market.get(position)]!;
  invariant(market.outcome === event.outcome, 'a position was settled before its market');
  payOut(state, position, proceedsCents);
}

export function positionReset(state: ShardState, { position, proceedsCents }: PositionReset): void {
  invariant(state.positions.isLive(position), 'a reset closed a position that is closed');
  payOut(state, position, proceedsCents);
}

/** A position ends without a sale. */
function payOut(state: ShardState, position: PositionRow, proceedsCents: Cents): void {
  const { col } = state.positions;
  const { effects } = state;
  const account = col.account.get(position);
  invariant(col.resting.get(position) === NO_ROW, 'a position was paid out while its order rests');
  effects.account = account;
  effects.position = position;
  effects.contracts = col.contracts.get(position);
  effects.cents = proceedsCents;
  effects.costCents = col.costCents.get(position);
  countPayable(state, account, -effects.contracts);
  realize(state, account, effects.costCents, proceedsCents);
  closePosition(state, position);
  countBust(state, account);
}
