/**
 * Orders under latency: each meets the book some time after it was accepted, and so does its cancel.
 * Until then it is pending: it holds its money, and is on no book. Rules T160 to T163
 * (engine/RULES.md).
 */

import { invariant } from '../base/invariant.ts';
import type { Contracts, EpochMs, OrderRow } from '../base/units.ts';
import { closingMs } from './closing.ts';
import { type CancelReason, type Event, fillEvent, type OrderEnded } from './events.ts';
import { emit } from './evolve.ts';
import type { FactSink } from './fact-sink.ts';
import { type Fill, levelsOf, takerOf, tradeOf } from './fill-model.ts';
import { consumedBy, noteTaken, takeFound, takerNote } from './fill-notes.ts';
import { actionOf, fillModelOf, isRouted, sideOf } from './flags.ts';
import { joinsQueue, possibleFill, reasonUnfilled } from './meet-book.ts';
import { partNotes, waitingNetEvents } from './net-orders.ts';
import { waitingFee } from './order-fees.ts';
import { endReached } from './order-groups.ts';
import type { OrderTerms } from './order-terms.ts';
import { remainingOf } from './partial-fills.ts';
import { type PricedBook, reaches, tradePrice } from './pricing.ts';
import { settleAccount } from './settle-markets.ts';
import type { ShardState } from './state.ts';
import { waitingTermsAt } from './waiting-terms.ts';

/**
 * Lets every order and cancel that fell due before a moment meet the book, in the order of their
 * times. `expire` ends the orders that expire until then. Rule T160.
 */
export function meetBefore(
  state: ShardState,
  beforeMs: EpochMs,
  facts: FactSink,
  expire: (upToMs: EpochMs) => void,
): void {
  const { arrivals, cancels } = state;
  while (arrivals.size > 0 || cancels.size > 0) {
    const arrivesAtMs = arrivals.nextMs();
    const cancelsAtMs = cancels.nextMs();
    const atMs = Math.min(arrivesAtMs, cancelsAtMs);
    if (atMs >= beforeMs) return;
    expire(atMs);
    // An order that expires as it arrives, or whose cancel arrives then, has ended.
    if (arrivals.nextMs() === atMs) meet(state, arrivals.take(), atMs, facts);
    else if (cancels.nextMs() === atMs) endCanceled(state, cancels.take(), atMs, facts);
  }
}

function endCanceled(state: ShardState, order: OrderRow, atMs: EpochMs, facts: FactSink): void {
  settleAccount(state, state.orders.col.account.get(order), facts);
  if (state.orders.isLive(order)) emit(state, facts, ended(order, atMs, 'canceled_by_owner'));
}

/** An order meets the book as an order does that is placed then. */
function meet(state: ShardState, order: OrderRow, atMs: EpochMs, facts: FactSink): void {
  settleAccount(state, state.orders.col.account.get(order), facts);
  // A result may have ended it before.
  if (!state.orders.isLive(order)) return;
  const { found, taken } = takeFound(
    state,
    atMs,
    () => {
      const fill = fillThen(state, order, atMs);
      return { fill, events: eventsOf(state, order, atMs, fill) };
    },
    ({ fill, events }) => (events.some(isTrade) ? consumedBy(fill) : null),
  );
  for (const event of found.events) emit(state, facts, event);
  noteTaken(state, facts, atMs, taken);
  endReached(state, atMs, facts);
}

const isTrade = ({ kind }: Event) => kind === 'order_filled' || kind === 'order_part_filled';

/** The fill that is possible then. */
function fillThen(state: ShardState, order: OrderRow, atMs: EpochMs): Fill | null {
  const market = state.markets[state.orders.col.market.get(order)]!;
  invariant(market.outcome === null, 'an order meets the book of a market with a result');
  if (market.status !== 'open' || atMs >= closingMs(market)) return null;
  const { limitPriceCents, timeInForce } = waitingTermsAt(state, order);
  const contracts = remainingOf(state, order);
  return fillOfWaiting(state, order, { limitPriceCents, timeInForce, contracts }, atMs);
}

/** The fill that is possible for an order that waits, under these terms. */
export function fillOfWaiting(
  state: ShardState,
  order: OrderRow,
  terms: Pick<OrderTerms, 'limitPriceCents' | 'timeInForce'> & { contracts: Contracts },
  atMs: EpochMs,
): Fill | null {
  const { col } = state.orders;
  const flags = col.flags.get(order);
  const wanted = {
    taker: takerOf(col.account.get(order), state.realism.liquidity(order)),
    ...{ action: actionOf(flags), side: sideOf(flags), ...terms },
    model: state.fillModel.modelOfPlaced(fillModelOf(flags)),
  };
  return possibleFill(state, bookOf(state, order), wanted, atMs);
}

export function bookOf(state: ShardState, order: OrderRow): PricedBook {
  const { col } = state.orders;
  const market = state.markets[col.market.get(order)]!;
  const instrument = state.instruments[col.instrument.get(order)]!;
  return { market, routed: isRouted(col.flags.get(order)) ? instrument : null };
}

function eventsOf(
  state: ShardState,
  order: OrderRow,
  atMs: EpochMs,
  fill: Fill | null,
): readonly Event[] {
  const { col } = state.orders;
  const account = col.account.get(order);
  const action = actionOf(col.flags.get(order));
  const { timeInForce, boundPriceCents } = waitingTermsAt(state, order);
  const contracts = remainingOf(state, order);
  if (fill !== null && state.orderMarks.postOnly(order)) {
    const taking = { kind: 'order_arrived', atMs, order, account, rests: false } as const;
    return [taking, ended(order, atMs, 'would_take')];
  }
  const rests = timeInForce === 'gtc' && fill?.contracts !== contracts;
  const arrived = { kind: 'order_arrived', atMs, order, account, rests } as const;
  if (timeInForce === null) {
    if (fill === null) return [arrived, ended(order, atMs, 'no_liquidity')];
    const priceCents = tradePrice(action, fill.askCents);
    if (boundPriceCents !== null && !reaches(action, priceCents, boundPriceCents)) {
      return [arrived, ended(order, atMs, 'price_moved')];
    }
  }
  const events: Event[] = [arrived];
  if (fill !== null && state.nets.has(order)) {
    const taken = { market: fill.market, levels: levelsOf(fill), role: 'taker', atMs } as const;
    events.push(...waitingNetEvents(state, order, taken, partNotes(fill, 'taker', atMs)));
  } else if (fill !== null) {
    const { market } = fill;
    const traded = tradeOf(action, fill);
    const taken = { market, levels: levelsOf(fill), role: 'taker', traded } as const;
    const fee = waitingFee(state, order, taken, atMs);
    events.push(fillEvent(atMs, order, contracts, traded, fee));
    events.push(takerNote(fill, action, atMs));
  }
  if (rests) return [...events, ...queuedEvents(state, order, atMs)];
  if (fill?.contracts === contracts) return events;
  return [...events, ended(order, atMs, reasonUnfilled(timeInForce), fill !== null)];
}

function ended(
  order: OrderRow,
  atMs: EpochMs,
  reason: CancelReason,
  hasTraded = false,
): OrderEnded {
  const status = hasTraded ? 'executed' : 'canceled';
  return { kind: 'order_ended', atMs, order, status, reason };
}

/** Its place, if it joins a queue. Rule T146. */
function queuedEvents(state: ShardState, order: OrderRow, atMs: EpochMs): readonly Event[] {
  const { col } = state.orders;
  const { queues } = state.fillModel;
  const flags = col.flags.get(order);
  if (fillModelOf(flags) !== 'queue' || queues === null) return [];
  const market = state.markets[col.market.get(order)]!;
  const limitPriceCents = col.limitPriceCents.get(order);
  const terms = { action: actionOf(flags), side: sideOf(flags), limitPriceCents };
  const account = col.account.get(order);
  return [joinsQueue(state, market, terms, { atMs, order, account })];
}

/**
 * The events of a cancel of these orders by their owner: an order ends at once, or its cancel meets
 * the book later. Rule T162.
 */
export function canceledByOwner(
  { orders: { col }, realism }: ShardState,
  atMs: EpochMs,
  orders: readonly OrderRow[],
): Event[] {
  return orders.flatMap((order): Event | [] => {
    const latencyMs = realism.latencyMs(order);
    if (latencyMs === 0) return ended(order, atMs, 'canceled_by_owner');
    // It was canceled before.
    if (realism.cancelsAtMs(order) !== 0) return [];
    const account = col.account.get(order);
    const cancelsAtMs = atMs + latencyMs;
    return { kind: 'order_cancel_accepted', atMs, order, account, cancelsAtMs };
  });
}
