/** Reads table rows back as records. */

import type { Cents, EpochMs, PositionRow, Uuid } from '../base/units.ts';
import { uuidTimeAt } from '../memory/uuid-words.ts';
import type { ClosedTrade } from './events.ts';
import { fillModelOf, instrumentSideOf, isRealistic, sideOf } from './flags.ts';
import type { MarketOutcome } from './messages.ts';
import { tradeTermsAt } from './row-terms.ts';
import type { ShardState } from './state.ts';

/** A trade's id carries the time at which it was opened. */
export function openedAtMs({ positions }: ShardState, position: PositionRow): EpochMs {
  return uuidTimeAt(positions.col.id, position);
}

/** Null: no operator has marked the trade as a leg of a parlay. Rule T141 (engine/RULES.md). */
export function parlayOf({ tradeTags }: Pick<ShardState, 'tradeTags'>, trade: Uuid): Uuid | null {
  return tradeTags.get(trade)?.parlay ?? null;
}

/** With fees, where any of its orders paid them. Rules M18, M26 (engine/RULES.md). */
export function pnlCentsOf(
  trade: Pick<ClosedTrade, 'proceedsCents' | 'costCents' | 'feesCents'>,
): Cents {
  return trade.proceedsCents - trade.costCents - (trade.feesCents ?? 0);
}

/** The record of a position that ends now with these proceeds. `outcome` null: it was sold. */
export function closedTradeOf(
  state: ShardState,
  position: PositionRow,
  closedAtMs: EpochMs,
  proceedsCents: Cents,
  outcome: MarketOutcome | null,
): ClosedTrade {
  const { col } = state.positions;
  const flags = col.flags.get(position);
  const voided = outcome === 'void';
  return {
    tradeId: state.positionIds.idOf(position),
    account: col.account.get(position),
    market: col.market.get(position),
    instrument: col.instrument.get(position),
    side: sideOf(flags),
    instrumentSide: instrumentSideOf(flags),
    contracts: col.contracts.get(position) + col.soldContracts.get(position),
    costCents: col.costCents.get(position) + col.soldCostCents.get(position),
    entryPriceCents: col.entryPriceCents.get(position),
    ...tradeTermsAt(col, position),
    venue: col.venue.get(position),
    openedAtMs: openedAtMs(state, position),
    closedAtMs,
    status: outcome === null ? 'closed' : voided ? 'void' : 'settled',
    closeReason: outcome === null ? 'sold' : voided ? 'voided' : 'settled',
    proceedsCents: proceedsCents + col.soldCents.get(position),
    outcome,
    fillModel: fillModelOf(flags),
    realistic: isRealistic(flags),
    parlay: parlayOf(state, state.positionIds.idOf(position)),
    feesCents: state.tradeFees.feesCents(position),
  };
}
