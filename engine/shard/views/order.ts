/**
 * Order and placement result on the wire. Rules T24 to T28, A36 (engine/RULES.md, api/RULES.md).
 */
import { uuidTimeMs } from '../../memory/uuid-words.ts';
import type { OrderOutcome, OrderPlaced } from '../../rules/events.ts';
import { actionOf, instrumentSideOf, isLimit, isPlacedPrivate, sideOf } from '../../rules/flags.ts';
import { costCents } from '../../rules/ledger.ts';
import { filledSoFar, remainingOf } from '../../rules/partial-fills.ts';
import { viaOf } from '../../rules/row-records.ts';
import type { ShardState } from '../../rules/state.ts';
import { dollarsOf, isoOf, NO_ROW, type OrderRow, VENUES } from '../../rules/units.ts';
import { wordText } from './json.ts';
import { instrumentText, marketTickerText, venuePriceText } from './subject.ts';
import { tradeTextOf } from './trade.ts';

/** What an order asks for, and never changes. */
type Terms = Pick<
  OrderPlaced,
  | 'orderId'
  | 'action'
  | 'market'
  | 'instrument'
  | 'side'
  | 'instrumentSide'
  | 'contracts'
  | 'limitPriceCents'
  | 'timeInForce'
  | 'expiresAtMs'
  | 'statedProbPct'
  | 'placedVia'
  | 'placedPrivate'
>;
type Ended = Omit<OrderOutcome, 'atMs' | 'venue'>;

/** What GET /portfolio lists of a resting order; it omits four fields of Order. */
export function restingOrderText(state: ShardState, row: OrderRow): string {
  return `{${restingFields(state, termsAt(state, row), row)}}`;
}

/** An order in any status. */
export function orderText(state: ShardState, placed: OrderPlaced): string {
  const row = rowOf(state, placed);
  if (row === NO_ROW) return endedOrderText(state, placed, outcomeOf(state, placed));
  const position = state.orders.col.position.get(row);
  const tradeId = position === NO_ROW ? null : state.positionIds.idOf(position);
  return (
    `{${restingFields(state, placed, row)},"type":"limit","cancelReason":null` +
    `,"tradeId":${wordText(tradeId)}` +
    `${venuePriceText(state, 'fillPriceCents', filledSoFar(state, row).priceCents)}}`
  );
}

/** An order that has just ended: nobody has taken its row since. */
export function endedJustNowText(state: ShardState, row: OrderRow): string {
  const terms = termsAt(state, row);
  return endedOrderText(state, terms, state.records.recentOutcome(terms.orderId)!);
}

function endedOrderText(state: ShardState, terms: Terms, outcome: Ended): string {
  const whole = outcome.status === 'executed' ? terms.contracts : 0;
  const filledContracts = outcome.filledContracts ?? whole;
  return (
    `{${orderFields(state, terms, { status: outcome.status, filledContracts, heldCents: 0 })}` +
    `,"type":"limit","cancelReason":${wordText(outcome.reason)}` +
    `,"tradeId":${wordText(outcome.tradeId)}` +
    `${venuePriceText(state, 'fillPriceCents', outcome.fillPriceCents)}}`
  );
}

function restingFields(state: ShardState, terms: Terms, row: OrderRow): string {
  const remaining = remainingOf(state, row);
  return orderFields(state, terms, {
    status: 'resting',
    filledContracts: terms.contracts - remaining,
    heldCents: terms.action === 'sell' ? 0 : costCents(terms.limitPriceCents!, remaining),
  });
}

type Progress = { status: string; filledContracts: number; heldCents: number };

function orderFields(state: ShardState, terms: Terms, progress: Progress): string {
  const { orderId, contracts, expiresAtMs } = terms;
  const { status, filledContracts, heldCents } = progress;
  const expiresAt = expiresAtMs === null ? null : isoOf(expiresAtMs);
  return (
    `"orderId":"${orderId}","action":"${terms.action}",${instrumentText(state, terms.instrument)}` +
    `,"instrumentSide":"${terms.instrumentSide}","orderSide":"${terms.side}"` +
    `,"contracts":${contracts},"filledContracts":${filledContracts}` +
    `,"remainingContracts":${contracts - filledContracts}` +
    `,"limitCents":${terms.limitPriceCents},"holdDollars":${dollarsOf(heldCents)}` +
    `,"timeInForce":${wordText(terms.timeInForce)},"expiresAt":${wordText(expiresAt)}` +
    `,"status":"${status}","createdAt":"${isoOf(uuidTimeMs(orderId))}"` +
    `,"statedProbPct":${terms.statedProbPct},"placedVia":"${terms.placedVia}"` +
    `,"placedPrivate":${terms.placedPrivate}${marketTickerText(state, terms.market)}`
  );
}

/** What the columns of an order's row tell: it rests, or did until now. */
function termsAt(state: ShardState, row: OrderRow): Terms {
  const { col } = state.orders;
  const flags = col.flags.get(row);
  return {
    orderId: state.orderIds.idOf(row),
    action: actionOf(flags),
    market: col.market.get(row),
    instrument: col.instrument.get(row),
    side: sideOf(flags),
    instrumentSide: instrumentSideOf(flags),
    contracts: col.contracts.get(row),
    limitPriceCents: col.limitPriceCents.get(row),
    timeInForce: 'gtc',
    expiresAtMs: col.expiresAtMs.get(row) || null,
    statedProbPct: col.statedProbPct.get(row) || null,
    placedVia: viaOf(col.placedVia.get(row)),
    placedPrivate: isPlacedPrivate(flags),
  };
}

/** The answer to a placement, now or again under the same idempotency key. */
export function placementText(state: ShardState, placed: OrderPlaced, replayed: boolean): string {
  const row = rowOf(state, placed);
  const rests = row !== NO_ROW;
  const outcome = rests ? null : outcomeOf(state, placed);
  const executed = outcome?.status === 'executed';
  const soFar = rests ? filledSoFar(state, row) : null;
  const venue = soFar?.venue ?? outcome?.venue ?? null;
  const fillPriceCents = soFar?.priceCents ?? outcome?.fillPriceCents ?? null;
  return (
    `{"status":"${rests ? 'resting' : executed ? 'executed' : 'canceled'}"` +
    `,"action":"${placed.action}","type":"${placed.type}"` +
    `,"idempotencyKey":${JSON.stringify(placed.idempotencyKey)},"replayed":${replayed}` +
    `,"originalCreatedAt":${wordText(replayed ? isoOf(uuidTimeMs(placed.orderId)) : null)}` +
    `,"order":${isLimit(placed) ? orderText(state, placed) : 'null'}` +
    `,"trade":${executed ? tradeTextOf(state, placed.account, outcome!.tradeId!) : 'null'}` +
    `,"fillVenue":${wordText(venue === null ? null : VENUES[venue]!)},"mode":"paper"` +
    `,"venueData":${state.switches.venueData}` +
    `${venuePriceText(state, 'fillPriceCents', fillPriceCents)}}`
  );
}

/** `resting`, or how the order ended. */
export function statusOf(state: ShardState, placed: OrderPlaced): string {
  return rowOf(state, placed) === NO_ROW ? outcomeOf(state, placed).status : 'resting';
}

/** The row of an order that is not done; it has kept the one that it was placed in. */
function rowOf({ orders, orderIds }: ShardState, { order, orderId }: OrderPlaced): OrderRow {
  return orders.isLive(order) && orderIds.isOf(order, orderId) ? order : NO_ROW;
}

function outcomeOf(state: ShardState, placed: OrderPlaced): OrderOutcome {
  const outcome = state.records.outcome(placed);
  if (outcome === undefined) throw new Error(`order ${placed.orderId} has no outcome`);
  return outcome;
}
