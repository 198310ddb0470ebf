/**
 * Order and placement result on the wire. Rules T24 to T28, T197, A36 (engine/RULES.md, api/RULES.md).
 */

import { invariant } from '../../../base/invariant.ts';
import {
  type Cents,
  type Contracts,
  type EpochMs,
  NO_ROW,
  type OrderRow,
  oppositeSide,
  PAYOUT_CENTS,
  type PriceCents,
  type Uuid,
  VENUES,
} from '../../../base/units.ts';
import { type JsonWriter, memberNames, memberWords, pieceOf } from '../../../format/json-writer.ts';
import { uuidTimeMs } from '../../../memory/uuid-words.ts';
import type { Event, OrderEnded, OrderOutcome, OrderPlaced } from '../../../rules/events.ts';
import type { EndedOrder } from '../../../rules/finished-records.ts';
import {
  fillModelOf,
  instrumentSideOf,
  isLimit,
  isShownOrder,
  sideOf,
} from '../../../rules/flags.ts';
import type { TradedSide } from '../../../rules/order-terms.ts';
import { filledSoFar, remainingOf } from '../../../rules/partial-fills.ts';
import type { ShardState } from '../../../rules/state.ts';
import { heldCents, waitingTermsAt } from '../../../rules/waiting-terms.ts';
import { type Naming, writeInstrument, writeMarketTicker, writeVenuePrice } from './subject.ts';
import { writeOrderTerms } from './terms.ts';
import { writeTradeOf } from './trade.ts';

const NAMES = memberNames(
  'orderId',
  'contracts',
  'filledContracts',
  'remainingContracts',
  'limitCents',
  'holdDollars',
  'pendingUntil',
  'timeInForce',
  'expiresAt',
  'status',
  'createdAt',
  'cancelReason',
  'tradeId',
  'executedAt',
  'canceledAt',
  'updatedAt',
  'fillPriceCents',
  'idempotencyKey',
  'replayed',
  'originalCreatedAt',
  'order',
  'trade',
  'fillVenue',
  'fillModel',
  'postOnly',
  'orderGroupId',
  'feesDollars',
  'venueData',
);

const ACTION = memberWords('action', 'buy', 'sell');
const INSTRUMENT_SIDE = memberWords('instrumentSide', 'yes', 'no');
const ORDER_SIDE = memberWords('orderSide', 'yes', 'no');
const TYPE = memberWords('type', 'limit', 'market');
const STATUS = memberWords('status', 'resting', 'executed', 'canceled');
const MODE = memberWords('mode', 'paper');
const NOT_ENDED = pieceOf(',"executedAt":null,"canceledAt":null');
/** Of most orders. */
const PLAIN = pieceOf(',"postOnly":false,"orderGroupId":null,"feesDollars":null');
const NOT_PENDING = pieceOf(',"pendingUntil":null');

/** The shown fields of an order as it was placed. */
type Placed = TradedSide & Pick<OrderPlaced, PlacedField>;
type PlacedField =
  | 'orderId'
  | 'contracts'
  | 'terms'
  | 'fillModel'
  | 'latencyMs'
  | 'feeEachMicros'
  | 'netting'
  | 'postOnly'
  | 'group';
type Ended = Omit<OrderOutcome, 'venue'>;

/** The fields of a resting order in GET /portfolio; it omits four fields of Order. */
export function writeRestingOrder(to: JsonWriter, state: ShardState, row: OrderRow): void {
  const start = to.open();
  writeResting(to, state, placedAt(state, row), row);
  to.close(start);
}

/** An order in any status: the row of a resting order, or the log's record of any other. */
export function writeOrder(
  to: JsonWriter,
  state: ShardState,
  order: { row: OrderRow } | EndedOrder,
): void {
  if ('row' in order) writeWholeResting(to, state, placedAt(state, order.row), order.row);
  else writeEnded(to, state, order.placed, order.outcome);
}

/** An order that the last event has ended: its row is not reused yet. */
export function writeEndedJustNow(
  to: JsonWriter,
  state: ShardState,
  { atMs, order }: OrderEnded,
): void {
  const { postOnly, group: row, netting } = state.applied;
  const group = row === NO_ROW ? null : state.orderGroups.idOf(row);
  const placed = { ...placedAt(state, order), postOnly, group, netting };
  writeEnded(to, state, placed, outcomeJustNow(state, atMs));
}

/** The orders that these events have ended: their rows are not reused yet. Rule A74 (api/RULES.md). */
export function writeCanceled(
  to: JsonWriter,
  { orderIds }: ShardState,
  events: readonly Event[],
): void {
  const canceled = events.flatMap((event) => {
    const isCancel = event.kind === 'order_ended' || event.kind === 'order_cancel_accepted';
    return isCancel ? [orderIds.idOf(event.order)] : [];
  });
  to.value({ canceled, count: canceled.length, mode: 'paper' });
}

/** How the last event has ended its order. */
export function outcomeJustNow({ applied, positionIds }: ShardState, atMs: EpochMs): OrderOutcome {
  const { status, reason, fillPriceCents, fillVenue, filledContracts, position } = applied;
  const { feesCents } = applied;
  return {
    atMs,
    status,
    reason,
    fillPriceCents: fillPriceCents || null,
    venue: fillVenue,
    tradeId: position === NO_ROW ? null : positionIds.idOf(position),
    filledContracts: filledContracts || null,
    feesCents,
  };
}

/** An order that is over. */
export function writeEnded(to: JsonWriter, naming: Naming, placed: Placed, outcome: Ended): void {
  const whole = outcome.status === 'executed' ? placed.contracts : 0;
  const filled = outcome.filledContracts ?? whole;
  const start = to.open();
  const { feesCents } = outcome;
  writeFields(to, naming, placed, outcome.status, {
    filledContracts: filled,
    held: 0,
    feesCents,
    pendingUntilMs: null,
  });
  to.piece(isLimit(placed.terms) ? TYPE.limit : TYPE.market);
  to.text(NAMES.cancelReason, outcome.reason);
  to.text(NAMES.tradeId, outcome.tradeId);
  const { status, atMs } = outcome;
  to.time(NAMES.executedAt, status === 'executed' ? atMs : null);
  to.time(NAMES.canceledAt, status === 'canceled' ? atMs : null);
  to.time(NAMES.updatedAt, atMs);
  writeVenuePrice(to, naming, NAMES.fillPriceCents, shownPrice(placed, outcome.fillPriceCents));
  to.close(start);
}

/** The filled contracts of an order that is not over, and their average price. */
export type Standing = {
  filledContracts: Contracts;
  fillPriceCents: PriceCents | null;
  tradeId: Uuid | null;
  /** When it meets the book; null: it has. */
  pendingUntilMs: EpochMs | null;
  /** Null: it pays no fees. */
  feesCents: Cents | null;
  carryMicros: number;
  /** What of its rest closes the other side, and holds nothing. Rule T198. */
  closes: Contracts;
};

/** An order as it stood. */
export function writeStanding(
  to: JsonWriter,
  naming: Naming,
  placed: Placed & Pick<OrderPlaced, 'rests'>,
  { fillPriceCents, tradeId, carryMicros, closes, ...soFar }: Standing,
): void {
  const { terms, rests, contracts } = placed;
  const opens = contracts - soFar.filledContracts - closes;
  const held = rests ? heldBy(placed, opens, carryMicros) : 0;
  const start = to.open();
  writeFields(to, naming, placed, 'resting', { ...soFar, held });
  to.piece(NOT_ENDED);
  to.time(NAMES.updatedAt, uuidTimeMs(placed.orderId));
  to.piece(isLimit(terms) ? TYPE.limit : TYPE.market);
  to.null(NAMES.cancelReason);
  to.text(NAMES.tradeId, tradeId);
  writeVenuePrice(to, naming, NAMES.fillPriceCents, shownPrice(placed, fillPriceCents));
  to.close(start);
}

function writeWholeResting(to: JsonWriter, state: ShardState, placed: Placed, row: OrderRow): void {
  // That of a netting order has none, which may have traded in many. Rule T197.
  const position = state.orders.col.position.get(row);
  const start = to.open();
  writeResting(to, state, placed, row);
  to.piece(isLimit(placed.terms) ? TYPE.limit : TYPE.market);
  to.null(NAMES.cancelReason);
  if (position === NO_ROW) to.null(NAMES.tradeId);
  else to.idAt(NAMES.tradeId, state.positions.col.id, position);
  const { priceCents } = filledSoFar(state, row);
  writeVenuePrice(to, state, NAMES.fillPriceCents, shownPrice(placed, priceCents));
  to.close(start);
}

function writeResting(to: JsonWriter, state: ShardState, placed: Placed, row: OrderRow): void {
  const remaining = remainingOf(state, row);
  const { orderFees, realism, nets } = state;
  writeFields(to, state, placed, 'resting', {
    filledContracts: placed.contracts - remaining,
    held: heldBy(placed, remaining - nets.closes(row), orderFees.carryMicros(row)),
    feesCents: orderFees.feesCents(row),
    pendingUntilMs: realism.arrivesAtMs(row) || realism.cancelsAtMs(row) || null,
  });
  to.piece(NOT_ENDED);
  to.time(NAMES.updatedAt, uuidTimeMs(placed.orderId));
}

/** The hold of an order that waits, of which so many contracts open. Rules M4, M15, T198, T161. */
function heldBy({ terms, feeEachMicros }: Placed, left: Contracts, carryMicros: number): Cents {
  if (terms.action === 'sell') return 0;
  return heldCents(terms, left, { eachMicros: feeEachMicros, carryMicros });
}

type OrderMoney = {
  filledContracts: Contracts;
  held: Cents;
  feesCents: Cents | null;
  pendingUntilMs: EpochMs | null;
};

function writeFields(
  to: JsonWriter,
  naming: Naming,
  placed: Placed,
  status: string,
  { filledContracts, held, feesCents, pendingUntilMs }: OrderMoney,
): void {
  const { orderId, contracts, terms, fillModel } = placed;
  const isSale = isShownAsSale(placed);
  to.text(NAMES.orderId, orderId);
  to.piece(isSale || terms.action === 'sell' ? ACTION.sell : ACTION.buy);
  writeInstrument(to, naming, placed.instrument);
  const instrumentSide = isSale ? oppositeSide(placed.instrumentSide) : placed.instrumentSide;
  to.piece(instrumentSide === 'yes' ? INSTRUMENT_SIDE.yes : INSTRUMENT_SIDE.no);
  const side = isSale ? oppositeSide(placed.side) : placed.side;
  to.piece(side === 'yes' ? ORDER_SIDE.yes : ORDER_SIDE.no);
  to.number(NAMES.contracts, contracts);
  to.number(NAMES.filledContracts, filledContracts);
  to.number(NAMES.remainingContracts, contracts - filledContracts);
  to.number(NAMES.limitCents, shownPrice(placed, terms.limitPriceCents));
  to.dollars(NAMES.holdDollars, held);
  to.text(NAMES.timeInForce, terms.timeInForce);
  to.time(NAMES.expiresAt, terms.expiresAtMs);
  if (status === 'resting') to.piece(STATUS.resting);
  else to.text(NAMES.status, status);
  if (pendingUntilMs === null) to.piece(NOT_PENDING);
  else to.time(NAMES.pendingUntil, pendingUntilMs);
  to.time(NAMES.createdAt, uuidTimeMs(orderId));
  writeOrderTerms(to, terms);
  to.text(NAMES.fillModel, fillModel);
  const isPlain = !placed.postOnly && placed.group === null && feesCents === null;
  if (isPlain) to.piece(PLAIN);
  else {
    to.flag(NAMES.postOnly, placed.postOnly);
    to.text(NAMES.orderGroupId, placed.group);
    if (feesCents === null) to.null(NAMES.feesDollars);
    else to.dollars(NAMES.feesDollars, feesCents);
  }
  writeMarketTicker(to, naming, placed.market);
}

/** A buy that only closes what the other side holds is shown as the sale that it is. Rule T197. */
function isShownAsSale({ netting }: Pick<Placed, 'netting'>): boolean {
  return netting !== null && !netting.opens;
}

function shownPrice(placed: Pick<Placed, 'netting'>, priceCents: PriceCents | null) {
  if (priceCents === null || !isShownAsSale(placed)) return priceCents;
  return PAYOUT_CENTS - priceCents;
}

/** The fields that an order's row shows. The order rests, or did until now. */
function placedAt(state: ShardState, row: OrderRow): Placed {
  const { col } = state.orders;
  const { orderMarks, orderGroups } = state;
  const flags = col.flags.get(row);
  const group = orderMarks.group(row);
  return {
    orderId: state.orderIds.idOf(row),
    market: col.market.get(row),
    instrument: col.instrument.get(row),
    side: sideOf(flags),
    instrumentSide: instrumentSideOf(flags),
    contracts: col.contracts.get(row),
    fillModel: fillModelOf(flags),
    latencyMs: state.realism.latencyMs(row),
    feeEachMicros: state.orderFees.has(row) ? state.orderFees.eachMicros(row) : null,
    netting: state.nets.of(row),
    postOnly: orderMarks.postOnly(row),
    group: group === NO_ROW ? null : orderGroups.idOf(group),
    terms: waitingTermsAt(state, row),
  };
}

/** An order as it was placed, with its present state: its row while it rests, or its end. */
export type Placement = {
  placed: Omit<OrderPlaced, 'kind' | 'order' | 'position'>;
  row: OrderRow | null;
  outcome: OrderOutcome | null;
};

/** The answer to a placement, also when it is repeated under the same idempotency key. */
export function writePlacement(
  to: JsonWriter,
  state: ShardState,
  { placed, row, outcome }: Placement,
  replayed: boolean,
): void {
  const rests = row !== null;
  const executed = outcome?.status === 'executed';
  const soFar = rests ? filledSoFar(state, row) : null;
  const venue = soFar?.venue ?? outcome?.venue ?? null;
  const fillPriceCents = soFar?.priceCents ?? outcome?.fillPriceCents ?? null;
  const start = to.open();
  to.piece(rests ? STATUS.resting : executed ? STATUS.executed : STATUS.canceled);
  const isSell = isShownAsSale(placed) || placed.terms.action === 'sell';
  to.piece(isSell ? ACTION.sell : ACTION.buy);
  to.piece(isLimit(placed.terms) ? TYPE.limit : TYPE.market);
  to.text(NAMES.idempotencyKey, placed.idempotencyKey);
  to.flag(NAMES.replayed, replayed);
  to.time(NAMES.originalCreatedAt, replayed ? uuidTimeMs(placed.orderId) : null);
  if (isShownOrder(placed)) {
    to.piece(NAMES.order);
    writePlacedOrder(to, state, { placed, row, outcome });
  } else to.null(NAMES.order);
  if (executed) {
    to.piece(NAMES.trade);
    writeTradeOf(to, state, placed.account, outcome!.tradeId!);
  } else to.null(NAMES.trade);
  to.text(NAMES.fillVenue, venue === null ? null : VENUES[venue]!);
  to.piece(MODE.paper);
  to.flag(NAMES.venueData, state.switches.venueData);
  writeVenuePrice(to, state, NAMES.fillPriceCents, shownPrice(placed, fillPriceCents));
  to.close(start);
}

function writePlacedOrder(
  to: JsonWriter,
  state: ShardState,
  { placed, row, outcome }: Placement,
): void {
  if (row !== null) return writeWholeResting(to, state, placed, row);
  invariant(outcome !== null, 'an order neither rests nor has an end');
  writeEnded(to, state, placed, outcome);
}
