/**
 * Order and placement result on the wire. Rules T24 to T28, A36 (engine/RULES.md, api/RULES.md).
 */
import { uuidTimeMs } from '../../memory/uuid-words.ts';
import type { OrderEnded, OrderOutcome, OrderPlaced } from '../../rules/events.ts';
import type { EndedOrder } from '../../rules/finished-records.ts';
import { actionOf, instrumentSideOf, isLimit, isPlacedPrivate, sideOf } from '../../rules/flags.ts';
import { invariant } from '../../rules/invariant.ts';
import { costCents } from '../../rules/ledger.ts';
import { filledSoFar, remainingOf } from '../../rules/partial-fills.ts';
import { viaOf } from '../../rules/row-records.ts';
import type { ShardState } from '../../rules/state.ts';
import {
  dollarsOf,
  type EpochMs,
  isoOf,
  NO_ROW,
  type OrderRow,
  VENUES,
} from '../../rules/units.ts';
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

/** An order in any status: the row of one that rests, or what the log has of any other. */
export function orderText(state: ShardState, order: { row: OrderRow } | EndedOrder): string {
  if (!('row' in order)) return endedOrderText(state, order.placed, order.outcome);
  const { row } = order;
  const position = state.orders.col.position.get(row);
  const tradeId = position === NO_ROW ? null : state.positionIds.idOf(position);
  return (
    `{${restingFields(state, termsAt(state, row), row)},"type":"limit","cancelReason":null` +
    `,"tradeId":${wordText(tradeId)}` +
    `${venuePriceText(state, 'fillPriceCents', filledSoFar(state, row).priceCents)}}`
  );
}

/** An order that the last event has ended: nobody has taken its row since. */
export function endedJustNowText(state: ShardState, { atMs, order }: OrderEnded): string {
  return endedOrderText(state, termsAt(state, order), outcomeJustNow(state, atMs));
}

/** How the last event has ended its order. */
export function outcomeJustNow({ effects, positionIds }: ShardState, atMs: EpochMs): OrderOutcome {
  const { status, reason, fillPriceCents, fillVenue, filledContracts, position } = effects;
  return {
    atMs,
    status,
    reason,
    fillPriceCents: fillPriceCents || null,
    venue: fillVenue,
    tradeId: position === NO_ROW ? null : positionIds.idOf(position),
    filledContracts: filledContracts || null,
  };
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

/** What the columns of an order's row show: it rests, or did until now. */
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

/** An order as it was placed, and what has become of it: its row while it rests, or its end. */
export type Placement = {
  placed: Omit<OrderPlaced, 'kind' | 'order' | 'position'>;
  row: OrderRow | null;
  outcome: OrderOutcome | null;
};

/** The answer to a placement, now or again under the same idempotency key. */
export function placementText(
  state: ShardState,
  { placed, row, outcome }: Placement,
  replayed: boolean,
): string {
  const rests = row !== null;
  const executed = outcome?.status === 'executed';
  const soFar = rests ? filledSoFar(state, row) : null;
  const venue = soFar?.venue ?? outcome?.venue ?? null;
  const fillPriceCents = soFar?.priceCents ?? outcome?.fillPriceCents ?? null;
  return (
    `{"status":"${rests ? 'resting' : executed ? 'executed' : 'canceled'}"` +
    `,"action":"${placed.action}","type":"${isLimit(placed) ? 'limit' : 'market'}"` +
    `,"idempotencyKey":${JSON.stringify(placed.idempotencyKey)},"replayed":${replayed}` +
    `,"originalCreatedAt":${wordText(replayed ? isoOf(uuidTimeMs(placed.orderId)) : null)}` +
    `,"order":${isLimit(placed) ? placedOrderText(state, { placed, row, outcome }) : 'null'}` +
    `,"trade":${executed ? tradeTextOf(state, placed.account, outcome!.tradeId!) : 'null'}` +
    `,"fillVenue":${wordText(venue === null ? null : VENUES[venue]!)},"mode":"paper"` +
    `,"venueData":${state.switches.venueData}` +
    `${venuePriceText(state, 'fillPriceCents', fillPriceCents)}}`
  );
}

function placedOrderText(state: ShardState, { placed, row, outcome }: Placement): string {
  if (row !== null) return orderText(state, { row });
  invariant(outcome !== null, 'an order neither rests nor has an end');
  return endedOrderText(state, placed, outcome);
}
