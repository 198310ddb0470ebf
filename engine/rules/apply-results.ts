/**
 * The effect of a result on its market, and how positions end without a sale. Rules M8, M33, S1,
 * S6, S20, S21 (engine/RULES.md).
 */

import { invariant } from '../base/invariant.ts';
import {
  type Cents,
  type Contracts,
  HOME_VENUE,
  NO_ROW,
  PAYOUT_CENTS,
  type PositionRow,
  type Side,
} from '../base/units.ts';
import { countBust } from './accounts.ts';
import type {
  MarketCorrected,
  MarketResolved,
  MarketValued,
  PositionReset,
  PositionSettled,
  TradeCorrected,
} from './events.ts';
import { correct, costCents, countPayable, realize } from './ledger.ts';
import type { MarketResult } from './messages.ts';
import { closePosition } from './positions.ts';
import type { Market } from './reference-data.ts';
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
  // `emit` knows the record.
  market.settlement = { record: 0, trades: state.positionsOfMarket.count(number) };
  state.taken.drop(number);
  state.liquidity.drop(number);
  if (market.venue !== HOME_VENUE) return;
  state.pendingSettlements.markets.add(number);
  state.pendingSettlements.settledAccounts.clear();
}

export function valueMarket({ markets }: ShardState, event: MarketValued): void {
  const { yesPayoutCents, noPayoutCents } = event;
  const market = markets[event.market];
  invariant(market !== undefined, 'a settlement value names a market that does not exist');
  market.payouts = { yesPayoutCents, noPayoutCents };
}

/** The trades that the old result has settled follow. Rules S20, S21 (engine/RULES.md). */
export function correctMarket(state: ShardState, event: MarketCorrected): void {
  const { atMs, outcome, correction, yesPayoutCents, noPayoutCents } = event;
  const market = state.markets[event.market];
  invariant(market !== undefined, 'a correction names a market that does not exist');
  const from = resultOf(market);
  invariant(from !== null, 'a market is corrected that has no result');
  invariant(correction > market.corrections, 'a correction is earlier than the last one');
  state.pendingSettlements.correction = { market: market.number, atMs, from, left: null };
  market.outcome = outcome;
  market.payouts = outcome === 'scalar' ? { yesPayoutCents, noPayoutCents } : null;
  noteCorrections(state, market, correction);
}

export function noteCorrections({ records }: ShardState, market: Market, count: number): void {
  market.corrections = count;
  if (count > 0) records.correctedMarkets.add(market.number);
}

export function tradeCorrected(state: ShardState, event: TradeCorrected): void {
  const { account, changedByCents, cashCents } = event;
  const market = state.markets[event.market];
  invariant(market?.outcome === event.to, 'a trade was corrected before its market');
  invariant(market.corrections === event.correction, 'a trade has a correction of another time');
  correct(state, account, { changedByCents, cashCents });
  countBust(state, account);
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
  const { applied } = state;
  const account = col.account.get(position);
  invariant(col.resting.get(position) === NO_ROW, 'a position was paid out while its order rests');
  applied.account = account;
  applied.position = position;
  applied.contracts = col.contracts.get(position);
  applied.cents = proceedsCents;
  applied.costCents = col.costCents.get(position);
  applied.tradeFeesCents = state.tradeFees.feesCents(position);
  countPayable(state, account, -applied.contracts);
  realize(state, account, applied.costCents, proceedsCents);
  closePosition(state, position);
  countBust(state, account);
}

/** The result that settled a market; null: it has none. */
export function resultOf({ outcome, payouts }: Market): MarketResult | null {
  switch (outcome) {
    case null:
      return null;
    case 'yes':
      return { outcome, yesPayoutCents: PAYOUT_CENTS, noPayoutCents: 0 };
    case 'no':
      return { outcome, yesPayoutCents: 0, noPayoutCents: PAYOUT_CENTS };
    case 'void':
      return { outcome, yesPayoutCents: 0, noPayoutCents: 0 };
    case 'scalar':
      invariant(payouts !== null, 'a scalar market has no value');
      return { outcome, ...payouts };
    default:
      return outcome satisfies never;
  }
}

/** The payout of these contracts of a side. Rules S1 to S3 (engine/RULES.md). */
export function payoutCents(
  { outcome, yesPayoutCents, noPayoutCents }: MarketResult,
  side: Side,
  held: { contracts: Contracts; costCents: Cents },
): Cents {
  if (outcome === 'void') return held.costCents;
  return costCents(side === 'yes' ? yesPayoutCents : noPayoutCents, held.contracts);
}
