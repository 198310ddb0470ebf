/** Order and placement result on the wire. SPEC.md section 2, Order, Order placement result. */
import type { OrderOutcome, OrderPlaced } from '../../core/events.ts';
import { filledSoFar, remainingOf } from '../../core/fills.ts';
import { uuidTimeAt, uuidTimeMs } from '../../core/ids.ts';
import { costCents } from '../../core/ledger.ts';
import { instrumentSideOf, sideOf, viaOf } from '../../core/rows.ts';
import { FLAG, type ShardState } from '../../core/state.ts';
import { NO_ROW } from '../../core/table.ts';
import { dollarsOf, isoOf, VENUES } from '../../core/units.ts';
import { instrumentOf, marketTicker } from './subject.ts';
import { tradeOf } from './trade.ts';

/** What GET /portfolio lists of a resting order; it omits four fields of Order. */
export function restingOrderView(state: ShardState, row: number) {
  const { col } = state.orders;
  const flags = col.flags.get(row);
  const contracts = col.contracts.get(row);
  const remainingContracts = remainingOf(state, row);
  const isSell = (flags & FLAG.sell) !== 0;
  const heldCents = isSell ? 0 : costCents(col.limitPriceCents.get(row), remainingContracts);
  return {
    orderId: state.orderIds.idOf(row),
    action: isSell ? 'sell' : 'buy',
    ...instrumentOf(state, col.instrument.get(row)),
    instrumentSide: instrumentSideOf(flags),
    orderSide: sideOf(flags),
    contracts,
    filledContracts: contracts - remainingContracts,
    remainingContracts,
    limitCents: col.limitPriceCents.get(row),
    holdDollars: dollarsOf(heldCents),
    timeInForce: 'gtc',
    expiresAt: col.expiresAtMs.get(row) === 0 ? null : isoOf(col.expiresAtMs.get(row)),
    status: 'resting',
    createdAt: isoOf(uuidTimeAt(col.id, row)),
    statedProbPct: col.statedProbPct.get(row) || null,
    placedVia: viaOf(col.placedVia.get(row)),
    placedPrivate: (flags & FLAG.private) !== 0,
    ...marketTicker(state, col.market.get(row)),
  };
}

/** An order in any status. */
export function orderView(state: ShardState, placed: OrderPlaced) {
  const row = state.orderIds.find(placed.orderId);
  if (row !== NO_ROW) {
    const position = state.orders.col.position.get(row);
    return {
      ...restingOrderView(state, row),
      type: 'limit',
      cancelReason: null,
      tradeId: position === NO_ROW ? null : state.positionIds.idOf(position),
      ...fillPrice(state, filledSoFar(state, row).priceCents),
    };
  }
  return finishedOrderView(state, placed, outcomeOf(state, placed));
}

function finishedOrderView(state: ShardState, placed: OrderPlaced, outcome: OrderOutcome) {
  const whole = outcome.status === 'executed' ? placed.contracts : 0;
  const filledContracts = outcome.filledContracts ?? whole;
  return {
    orderId: placed.orderId,
    action: placed.action,
    ...instrumentOf(state, placed.instrument),
    instrumentSide: placed.instrumentSide,
    orderSide: placed.side,
    contracts: placed.contracts,
    filledContracts,
    remainingContracts: placed.contracts - filledContracts,
    limitCents: placed.limitPriceCents,
    holdDollars: 0,
    timeInForce: placed.timeInForce,
    expiresAt: placed.expiresAtMs === null ? null : isoOf(placed.expiresAtMs),
    status: outcome.status,
    createdAt: isoOf(uuidTimeMs(placed.orderId)),
    statedProbPct: placed.statedProbPct,
    placedVia: placed.placedVia,
    placedPrivate: placed.placedPrivate,
    ...marketTicker(state, placed.market),
    type: 'limit',
    cancelReason: outcome.reason,
    tradeId: outcome.tradeId,
    ...fillPrice(state, outcome.fillPriceCents),
  };
}

/** The answer to a placement, now or again under the same idempotency key. */
export function placementView(state: ShardState, placed: OrderPlaced, replayed: boolean) {
  const row = state.orderIds.find(placed.orderId);
  const rests = row !== NO_ROW;
  const outcome = rests ? null : outcomeOf(state, placed);
  const executed = outcome?.status === 'executed';
  const soFar = rests ? filledSoFar(state, row) : null;
  const venue = soFar?.venue ?? outcome?.venue ?? null;
  return {
    status: rests ? 'resting' : executed ? 'executed' : 'canceled',
    action: placed.action,
    type: placed.type,
    idempotencyKey: placed.idempotencyKey,
    replayed,
    originalCreatedAt: replayed ? isoOf(uuidTimeMs(placed.orderId)) : null,
    order: placed.type === 'limit' ? orderView(state, placed) : null,
    trade: executed ? tradeOf(state, placed.account, outcome!.tradeId!) : null,
    fillVenue: venue === null ? null : VENUES[venue]!,
    mode: 'paper',
    venueData: state.switches.venueData,
    ...fillPrice(state, soFar?.priceCents ?? outcome?.fillPriceCents ?? null),
  };
}

/** `resting`, or how the order ended. */
export function statusOf(state: ShardState, placed: OrderPlaced): string {
  return state.orderIds.find(placed.orderId) === NO_ROW
    ? outcomeOf(state, placed).status
    : 'resting';
}

function outcomeOf(state: ShardState, placed: OrderPlaced): OrderOutcome {
  const outcome = state.records.outcome(placed);
  if (outcome === undefined) throw new Error(`order ${placed.orderId} has no outcome`);
  return outcome;
}

/** Venue data: present only while the switch is on. SPEC.md section 1, rule 7. */
function fillPrice(state: ShardState, fillPriceCents: number | null) {
  return state.switches.venueData ? { fillPriceCents } : {};
}
