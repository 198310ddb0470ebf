/**
 * Order and placement result on the wire. Rules T24 to T28, A36 (engine/RULES.md, api/RULES.md).
 */
import { uuidTimeMs } from '../../memory/uuid-words.ts';
import type { OrderEnded, OrderOutcome, OrderPlaced } from '../../rules/events.ts';
import type { EndedOrder } from '../../rules/finished-records.ts';
import { instrumentSideOf, isLimit, sideOf } from '../../rules/flags.ts';
import { invariant } from '../../rules/invariant.ts';
import { costCents } from '../../rules/ledger.ts';
import type { TradedSide } from '../../rules/order-terms.ts';
import { filledSoFar, remainingOf } from '../../rules/partial-fills.ts';
import { orderTermsAt } from '../../rules/row-terms.ts';
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
import { orderTermsText } from './terms.ts';
import { tradeTextOf } from './trade.ts';

/** An order as it was placed, as far as it is shown. */
type Placed = TradedSide & Pick<OrderPlaced, 'orderId' | 'contracts' | 'terms'>;
type Ended = Omit<OrderOutcome, 'atMs' | 'venue'>;

/** What GET /portfolio lists of a resting order; it omits four fields of Order. */
export function restingOrderText(state: ShardState, row: OrderRow): string {
  return `{${restingFields(state, placedAt(state, row), row)}}`;
}

/** An order in any status: the row of one that rests, or what the log has of any other. */
export function orderText(state: ShardState, order: { row: OrderRow } | EndedOrder): string {
  if (!('row' in order)) return endedOrderText(state, order.placed, order.outcome);
  const { row } = order;
  const position = state.orders.col.position.get(row);
  const tradeId = position === NO_ROW ? null : state.positionIds.idOf(position);
  return (
    `{${restingFields(state, placedAt(state, row), row)},"type":"limit","cancelReason":null` +
    `,"tradeId":${wordText(tradeId)}` +
    `${venuePriceText(state, 'fillPriceCents', filledSoFar(state, row).priceCents)}}`
  );
}

/** An order that the last event has ended: its row is not reused yet. */
export function endedJustNowText(state: ShardState, { atMs, order }: OrderEnded): string {
  return endedOrderText(state, placedAt(state, order), outcomeJustNow(state, atMs));
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

function endedOrderText(state: ShardState, placed: Placed, outcome: Ended): string {
  const whole = outcome.status === 'executed' ? placed.contracts : 0;
  const filledContracts = outcome.filledContracts ?? whole;
  return (
    `{${orderFields(state, placed, { status: outcome.status, filledContracts, heldCents: 0 })}` +
    `,"type":"limit","cancelReason":${wordText(outcome.reason)}` +
    `,"tradeId":${wordText(outcome.tradeId)}` +
    `${venuePriceText(state, 'fillPriceCents', outcome.fillPriceCents)}}`
  );
}

function restingFields(state: ShardState, placed: Placed, row: OrderRow): string {
  const remaining = remainingOf(state, row);
  const { terms } = placed;
  return orderFields(state, placed, {
    status: 'resting',
    filledContracts: placed.contracts - remaining,
    heldCents: terms.action === 'sell' ? 0 : costCents(terms.limitPriceCents!, remaining),
  });
}

type Progress = { status: string; filledContracts: number; heldCents: number };

function orderFields(state: ShardState, placed: Placed, progress: Progress): string {
  const { orderId, contracts, terms } = placed;
  const { expiresAtMs } = terms;
  const { status, filledContracts, heldCents } = progress;
  const expiresAt = expiresAtMs === null ? null : isoOf(expiresAtMs);
  return (
    `"orderId":"${orderId}","action":"${terms.action}",${instrumentText(state, placed.instrument)}` +
    `,"instrumentSide":"${placed.instrumentSide}","orderSide":"${placed.side}"` +
    `,"contracts":${contracts},"filledContracts":${filledContracts}` +
    `,"remainingContracts":${contracts - filledContracts}` +
    `,"limitCents":${terms.limitPriceCents},"holdDollars":${dollarsOf(heldCents)}` +
    `,"timeInForce":${wordText(terms.timeInForce)},"expiresAt":${wordText(expiresAt)}` +
    `,"status":"${status}","createdAt":"${isoOf(uuidTimeMs(orderId))}"` +
    `${orderTermsText(terms)}${marketTickerText(state, placed.market)}`
  );
}

/** What the columns of an order's row show: it rests, or did until now. */
function placedAt(state: ShardState, row: OrderRow): Placed {
  const { col } = state.orders;
  const flags = col.flags.get(row);
  return {
    orderId: state.orderIds.idOf(row),
    market: col.market.get(row),
    instrument: col.instrument.get(row),
    side: sideOf(flags),
    instrumentSide: instrumentSideOf(flags),
    contracts: col.contracts.get(row),
    terms: orderTermsAt(col, row),
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
    `,"action":"${placed.terms.action}","type":"${isLimit(placed.terms) ? 'limit' : 'market'}"` +
    `,"idempotencyKey":${JSON.stringify(placed.idempotencyKey)},"replayed":${replayed}` +
    `,"originalCreatedAt":${wordText(replayed ? isoOf(uuidTimeMs(placed.orderId)) : null)}` +
    `,"order":${isLimit(placed.terms) ? placedOrderText(state, { placed, row, outcome }) : 'null'}` +
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
