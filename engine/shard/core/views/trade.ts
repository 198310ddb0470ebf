/** Trades, open or not, and positions on the wire. Rules S8, T73, A78, A80 (engine/RULES.md, api/RULES.md). */

import { invariant } from '../../../base/invariant.ts';
import {
  type AccountRow,
  type Cents,
  type EpochMs,
  NO_ROW,
  type PositionRow,
  type PriceCents,
  type Uuid,
  VENUES,
} from '../../../base/units.ts';
import { type JsonWriter, memberNames, pieceOf } from '../../../format/json-writer.ts';
import type { ClosedTrade } from '../../../rules/events.ts';
import { fillModelOf, instrumentSideOf, isRealistic, sideOf } from '../../../rules/flags.ts';
import { costCents } from '../../../rules/ledger.ts';
import type { TradeTerms } from '../../../rules/order-terms.ts';
import { positionBid } from '../../../rules/place-orders.ts';
import { openedAtMs, parlayOf, pnlCentsOf } from '../../../rules/row-records.ts';
import { tradeTermsAt } from '../../../rules/row-terms.ts';
import type { ShardState } from '../../../rules/state.ts';
import {
  type Naming,
  outcomeFor,
  writeInstrument,
  writeMarketTicker,
  writeVenuePrice,
} from './subject.ts';
import { writeTradeTerms } from './terms.ts';

const NAMES = memberNames(
  'tradeId',
  'instrumentSide',
  'boughtSide',
  'contracts',
  'costDollars',
  'parlayId',
  'fillVenue',
  'fillModel',
  'feesDollars',
  'openedAt',
  'entryCents',
  'status',
  'closedAt',
  'closeReason',
  'pnlDollars',
  'resolvedOutcome',
  'exitCents',
  'markCents',
  'valueDollars',
  'unrealizedPnlDollars',
);

const OPEN = pieceOf(
  ',"status":"open","closedAt":null,"closeReason":null,"pnlDollars":null,"resolvedOutcome":null',
);

/** The members of a trade, open or not, after its id, except its terms. */
type Holding = Omit<
  ClosedTrade,
  | ('tradeId' | 'account' | 'closedAtMs' | 'status' | 'closeReason' | 'proceedsCents' | 'outcome')
  | keyof TradeTerms
>;

/** A position as GET /portfolio lists it. */
export function writePosition(
  to: JsonWriter,
  state: ShardState,
  row: PositionRow,
  nowMs: EpochMs,
): void {
  const start = to.open();
  writeOpenFields(to, state, row);
  if (state.switches.venueData) {
    const { markCents, valueCents } = positionMark(state, row, nowMs);
    to.number(NAMES.markCents, markCents);
    to.dollars(NAMES.valueDollars, valueCents);
    to.dollars(NAMES.unrealizedPnlDollars, valueCents - state.positions.col.costCents.get(row));
  }
  to.close(start);
}

/** The live bid of a position, null without one; and its mark. Rule M21 (engine/RULES.md). */
export function positionMark(
  state: ShardState,
  row: PositionRow,
  nowMs: EpochMs,
): { markCents: PriceCents | null; valueCents: Cents } {
  const { contracts, costCents: cost } = state.positions.col;
  const markCents = positionBid(state, row, nowMs)?.priceCents ?? null;
  if (markCents === null) return { markCents, valueCents: cost.get(row) };
  return { markCents, valueCents: costCents(markCents, contracts.get(row)) };
}

function writeOpenTrade(to: JsonWriter, state: ShardState, row: PositionRow): void {
  const start = to.open();
  writeOpenFields(to, state, row);
  endOpenTrade(to, state, start);
}

/** A trade that has just been opened. */
export function writeOpenedTrade(
  to: JsonWriter,
  naming: Naming,
  tradeId: Uuid,
  holding: Holding & TradeTerms,
): void {
  const start = to.open();
  to.text(NAMES.tradeId, tradeId);
  writeHolding(to, naming, holding, holding);
  writeVenueFields(to, naming, holding);
  endOpenTrade(to, naming, start);
}

function endOpenTrade(to: JsonWriter, naming: Naming, start: number): void {
  to.piece(OPEN);
  writeVenuePrice(to, naming, NAMES.exitCents, null);
  to.close(start);
}

/** A trade that is over. */
export function writeClosedTrade(to: JsonWriter, naming: Naming, trade: ClosedTrade): void {
  const start = to.open();
  to.text(NAMES.tradeId, trade.tradeId);
  writeHolding(to, naming, trade, trade);
  to.text(NAMES.status, trade.status);
  to.time(NAMES.closedAt, trade.closedAtMs);
  to.text(NAMES.closeReason, trade.closeReason);
  to.dollars(NAMES.pnlDollars, pnlCentsOf(trade));
  to.text(NAMES.resolvedOutcome, outcomeFor(trade.outcome, trade.side, trade.instrumentSide));
  writeVenueFields(to, naming, trade);
  writeVenuePrice(to, naming, NAMES.exitCents, exitCentsOf(trade));
  to.close(start);
}

/** The average proceeds of a contract, rounded against the trader. Rule A80 (api/RULES.md). */
function exitCentsOf({ proceedsCents, contracts }: ClosedTrade): Cents {
  return Math.floor(proceedsCents / contracts);
}

/** A trade in a list: the row of an open one, or the record of a closed one. */
export function writeTrade(
  to: JsonWriter,
  state: ShardState,
  trade: { row: PositionRow } | ClosedTrade,
): void {
  if ('row' in trade) writeOpenTrade(to, state, trade.row);
  else writeClosedTrade(to, state, asMarked(state, trade));
}

/** The trade of an account by its id, open or not. */
export function writeTradeOf(
  to: JsonWriter,
  state: ShardState,
  account: AccountRow,
  tradeId: Uuid,
): void {
  const row = state.positionIds.find(tradeId);
  if (row !== NO_ROW) return writeOpenTrade(to, state, row);
  const closed = state.records.closedTrade(account, tradeId);
  if (closed === undefined) to.value(null);
  else writeClosedTrade(to, state, asMarked(state, closed));
}

/** A trade that is over, with its present tags. */
function asMarked(state: ShardState, trade: ClosedTrade): ClosedTrade {
  return state.tradeTags.size === 0 ? trade : { ...trade, parlay: parlayOf(state, trade.tradeId) };
}

function writeOpenFields(to: JsonWriter, state: ShardState, row: PositionRow): void {
  const holding = holdingAt(state, row);
  to.idAt(NAMES.tradeId, state.positions.col.id, row);
  writeHolding(to, state, holding, tradeTermsAt(state.positions.col, row));
  writeVenueFields(to, state, holding);
}

function writeHolding(to: JsonWriter, naming: Naming, holding: Holding, terms: TradeTerms): void {
  const venue = VENUES[holding.venue];
  invariant(venue !== undefined, 'a trade was opened at no venue');
  writeInstrument(to, naming, holding.instrument);
  to.text(NAMES.instrumentSide, holding.instrumentSide);
  to.text(NAMES.boughtSide, holding.side);
  to.number(NAMES.contracts, holding.contracts);
  to.dollars(NAMES.costDollars, holding.costCents);
  writeTradeTerms(to, terms);
  to.text(NAMES.parlayId, holding.parlay);
  to.text(NAMES.fillVenue, venue);
  to.text(NAMES.fillModel, holding.fillModel);
  if (holding.feesCents === null) to.null(NAMES.feesDollars);
  else to.dollars(NAMES.feesDollars, holding.feesCents);
  to.time(NAMES.openedAt, holding.openedAtMs);
}

function writeVenueFields(
  to: JsonWriter,
  naming: Naming,
  { market, entryPriceCents }: Holding,
): void {
  writeMarketTicker(to, naming, market);
  writeVenuePrice(to, naming, NAMES.entryCents, entryPriceCents);
}

function holdingAt(state: ShardState, row: PositionRow): Holding {
  const { col } = state.positions;
  const flags = col.flags.get(row);
  return {
    market: col.market.get(row),
    instrument: col.instrument.get(row),
    side: sideOf(flags),
    instrumentSide: instrumentSideOf(flags),
    contracts: col.contracts.get(row),
    costCents: col.costCents.get(row),
    entryPriceCents: col.entryPriceCents.get(row),
    venue: col.venue.get(row),
    fillModel: fillModelOf(flags),
    feesCents: state.tradeFees.feesCents(row),
    realistic: isRealistic(flags),
    parlay: state.tradeTags.size === 0 ? null : parlayOf(state, state.positionIds.idOf(row)),
    openedAtMs: openedAtMs(state, row),
  };
}
