/** Trades, open or not, and positions on the wire. SPEC.md section 2, Trade, Position. */
import type { ClosedTrade } from '../../core/events.ts';
import { instrumentSideOf, openedAtMs, sideOf, viaOf } from '../../core/rows.ts';
import { FLAG, type ShardState } from '../../core/state.ts';
import { NO_ROW } from '../../core/table.ts';
import { dollarsOf, isoOf, type Uuid, VENUES } from '../../core/units.ts';
import { instrumentOf, marketTicker, outcomeFor } from './subject.ts';

/** A position as GET /portfolio lists it. */
export function positionView(state: ShardState, row: number) {
  const { col } = state.positions;
  const flags = col.flags.get(row);
  return {
    tradeId: state.positionIds.idOf(row),
    ...instrumentOf(state, col.instrument.get(row)),
    instrumentSide: instrumentSideOf(flags),
    boughtSide: sideOf(flags),
    contracts: col.contracts.get(row),
    costDollars: dollarsOf(col.costCents.get(row)),
    statedProbPct: col.statedProbPct.get(row) || null,
    placedVia: viaOf(col.placedVia.get(row)),
    placedPrivate: (flags & FLAG.private) !== 0,
    parlayId: null,
    fillVenue: VENUES[col.venue.get(row)]!,
    openedAt: isoOf(openedAtMs(state, row)),
    ...marketTicker(state, col.market.get(row)),
    ...entryPrice(state, col.entryPriceCents.get(row)),
  };
}

export function openTradeView(state: ShardState, row: number) {
  return {
    ...positionView(state, row),
    status: 'open',
    closedAt: null,
    closeReason: null,
    pnlDollars: null,
    resolvedOutcome: null,
  };
}

export function closedTradeView(state: ShardState, trade: ClosedTrade) {
  return {
    tradeId: trade.tradeId,
    ...instrumentOf(state, trade.instrument),
    instrumentSide: trade.instrumentSide,
    boughtSide: trade.side,
    contracts: trade.contracts,
    costDollars: dollarsOf(trade.costCents),
    statedProbPct: trade.statedProbPct,
    placedVia: trade.placedVia,
    placedPrivate: trade.placedPrivate,
    parlayId: null,
    fillVenue: VENUES[trade.venue]!,
    openedAt: isoOf(trade.openedAtMs),
    status: trade.status,
    closedAt: isoOf(trade.closedAtMs),
    closeReason: trade.closeReason,
    pnlDollars: dollarsOf(trade.proceedsCents - trade.costCents),
    resolvedOutcome: outcomeFor(trade.outcome, trade.side, trade.instrumentSide),
    ...marketTicker(state, trade.market),
    ...entryPrice(state, trade.entryPriceCents),
  };
}

/** The trade of an account, open or not. */
export function tradeOf(state: ShardState, account: number, tradeId: Uuid) {
  const row = state.positionIds.find(tradeId);
  if (row !== NO_ROW) return openTradeView(state, row);
  const closed = state.records.closedTrade(account, tradeId);
  return closed === undefined ? null : closedTradeView(state, closed);
}

/** Venue data: present only while the switch is on. SPEC.md section 1, rule 7. */
function entryPrice({ switches }: ShardState, entryCents: number) {
  return switches.venueData ? { entryCents } : {};
}
