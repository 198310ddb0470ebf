/** Trades, open or not, and positions on the wire. Rules S8, T73 (engine/RULES.md). */

import type { ClosedTrade } from '../../rules/events.ts';
import { instrumentSideOf, sideOf } from '../../rules/flags.ts';
import { invariant } from '../../rules/invariant.ts';
import { openedAtMs } from '../../rules/row-records.ts';
import { tradeTermsAt } from '../../rules/row-terms.ts';
import type { ShardState } from '../../rules/state.ts';
import {
  type AccountRow,
  dollarsOf,
  isoOf,
  NO_ROW,
  type PositionRow,
  type Uuid,
  VENUES,
} from '../../rules/units.ts';
import { wordText } from './json.ts';
import { instrumentText, marketTickerText, outcomeFor, venuePriceText } from './subject.ts';
import { tradeTermsText } from './terms.ts';

/** The fields of a trade whether it is open or not. */
type Holding = Omit<
  ClosedTrade,
  'account' | 'closedAtMs' | 'status' | 'closeReason' | 'proceedsCents' | 'outcome'
>;

/** A position as GET /portfolio lists it. */
export function positionText(state: ShardState, row: PositionRow): string {
  return `{${openFields(state, row)}}`;
}

function openTradeText(state: ShardState, row: PositionRow): string {
  return (
    `{${openFields(state, row)},"status":"open","closedAt":null,"closeReason":null` +
    ',"pnlDollars":null,"resolvedOutcome":null}'
  );
}

function closedTradeText(state: ShardState, trade: ClosedTrade): string {
  const resolved = outcomeFor(trade.outcome, trade.side, trade.instrumentSide);
  return (
    `{${holdingFields(state, trade)},"status":"${trade.status}"` +
    `,"closedAt":"${isoOf(trade.closedAtMs)}","closeReason":"${trade.closeReason}"` +
    `,"pnlDollars":${dollarsOf(trade.proceedsCents - trade.costCents)}` +
    `,"resolvedOutcome":${wordText(resolved)}${venueFields(state, trade)}}`
  );
}

/** A trade in a list: the row of an open one, or the record of a closed one. */
export function tradeText(state: ShardState, trade: { row: PositionRow } | ClosedTrade): string {
  return 'row' in trade ? openTradeText(state, trade.row) : closedTradeText(state, trade);
}

/** The trade of an account by its id, open or not. */
export function tradeTextOf(state: ShardState, account: AccountRow, tradeId: Uuid): string {
  const row = state.positionIds.find(tradeId);
  if (row !== NO_ROW) return openTradeText(state, row);
  const closed = state.records.closedTrade(account, tradeId);
  return closed === undefined ? 'null' : closedTradeText(state, closed);
}

function openFields(state: ShardState, row: PositionRow): string {
  const holding = holdingAt(state, row);
  return holdingFields(state, holding) + venueFields(state, holding);
}

function holdingFields(state: ShardState, holding: Holding): string {
  const venue = VENUES[holding.venue];
  invariant(venue !== undefined, 'a trade was opened at no venue');
  return (
    `"tradeId":"${holding.tradeId}",${instrumentText(state, holding.instrument)}` +
    `,"instrumentSide":"${holding.instrumentSide}","boughtSide":"${holding.side}"` +
    `,"contracts":${holding.contracts},"costDollars":${dollarsOf(holding.costCents)}` +
    `${tradeTermsText(holding)},"parlayId":null` +
    `,"fillVenue":"${venue}","openedAt":"${isoOf(holding.openedAtMs)}"`
  );
}

function venueFields(state: ShardState, { market, entryPriceCents }: Holding): string {
  return marketTickerText(state, market) + venuePriceText(state, 'entryCents', entryPriceCents);
}

function holdingAt(state: ShardState, row: PositionRow): Holding {
  const { col } = state.positions;
  const flags = col.flags.get(row);
  return {
    tradeId: state.positionIds.idOf(row),
    market: col.market.get(row),
    instrument: col.instrument.get(row),
    side: sideOf(flags),
    instrumentSide: instrumentSideOf(flags),
    contracts: col.contracts.get(row),
    costCents: col.costCents.get(row),
    entryPriceCents: col.entryPriceCents.get(row),
    ...tradeTermsAt(col, row),
    venue: col.venue.get(row),
    openedAtMs: openedAtMs(state, row),
  };
}
