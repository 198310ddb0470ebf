/**
 * The effect that an order would have now. It is decided as a placement is, and none of the
 * decision is applied. Rules T133, V10 (engine/RULES.md, api/RULES.md).
 */

import { invariant } from '../base/invariant.ts';
import {
  type AccountRow,
  type Cents,
  type Contracts,
  type EpochMs,
  type PriceCents,
  VENUES,
  type Venue,
} from '../base/units.ts';
import { accept } from './decision.ts';
import type { Event, OrderFilled, OrderPartFilled } from './events.ts';
import { costCents } from './ledger.ts';
import type { PlaceOrder } from './messages.ts';
import { endsItsRest } from './order-groups.ts';
import { type Subject, subjectOf } from './order-subject.ts';
import { averagePrice } from './partial-fills.ts';
import { checkBalance, decideUnderNewKey, heldWhileWaiting, spends } from './place-orders.ts';
import type { Realism } from './realism.ts';
import type { Market } from './reference-data.ts';
import type { RejectionCode } from './rejections.ts';
import type { ShardState } from './state.ts';
import { heldCents } from './waiting-terms.ts';

export type Preview = {
  /** Null: it depends on a price that may not be shown. */
  would: 'execute' | 'rest' | 'cancel' | 'refuse' | null;
  /** Why it would be refused; null: it would not, as far as `would` tells. */
  code: RejectionCode | null;
  fill: { priceCents: PriceCents; contracts: Contracts; venue: Venue } | null;
  /**
   * The cash that a buy would take from the balance: for the part that trades, and for the part
   * that rests.
   */
  costCents: Cents;
  holdCents: Cents;
  /** Of the part that trades; null: the order pays no fees. */
  feeCents: Cents | null;
  /** The home market; null: the order names none. */
  market: Market | null;
  /** Null: the order meets the book at once. */
  latencyMs: Latency | null;
};

type Latency = Realism['latencyMs'];

/** Reads the state as of `nowMs`, which may be ahead of it, and changes nothing. */
export function preview(current: ShardState, order: PlaceOrder, nowMs: EpochMs): Preview {
  const state: ShardState = { ...current, nowMs };
  const account = state.accountIds.find(order.account);
  if (!state.switches.venueData) return unpriced(state, order, account);
  const accepted = decideUnderNewKey(state, order, account);
  const latencyMs = latencyOf(order);
  if (latencyMs !== null && accepted.kind === 'accept') return later(state, order, account);
  const decision = accepted;
  const subject = subjectOf(state, order, account);
  const market = 'kind' in subject ? null : subject.market;
  const nothing = {
    ...{ code: null, fill: null, costCents: 0, holdCents: 0, feeCents: null },
    ...{ market, latencyMs },
  };
  invariant(decision.kind !== 'replay', 'an order under a new key was placed before');
  if (decision.kind === 'reject') {
    return { ...nothing, would: 'refuse', code: decision.rejection.code };
  }
  const { events } = decision;
  const placed = events.find((event) => event.kind === 'order_placed');
  invariant(placed !== undefined, 'a placement was accepted and left no order');
  const traded = tradedBy(events, placed.contracts);
  const { fill, contracts: filled } = traded;
  const isBuy = order.action === 'buy';
  const { feeEachMicros, contracts, netting } = placed;
  const isEnded = placed.rests && endsItsRest(state, order, account, filled);
  const rests = placed.rests && !isEnded;
  const left = contracts - filled;
  const opens = left - Math.max(0, (netting?.closes ?? 0) - traded.closed);
  const carryMicros = fill?.kind === 'order_part_filled' ? fill.carryMicros : 0;
  const fees = { eachMicros: feeEachMicros, carryMicros };
  return {
    ...nothing,
    would: rests ? 'rest' : fill === null || isEnded ? 'cancel' : 'execute',
    fill: fill && {
      priceCents: averagePrice(order.action, traded.cents, filled),
      contracts: filled,
      venue: VENUES[fill.venue]!,
    },
    costCents: isBuy ? traded.openedCents : 0,
    holdCents: isBuy && rests ? heldCents(order, opens, fees) : 0,
    feeCents: traded.feeCents,
  };
}

/** The fills of these events. A netting order has one for each trade that it closes or opens. */
function tradedBy(events: readonly Event[], contracts: Contracts) {
  let fill: OrderFilled | OrderPartFilled | null = null;
  let closes = false;
  const sum = { contracts: 0, closed: 0, cents: 0, openedCents: 0, feeCents: null as Cents | null };
  for (const event of events) {
    if (event.kind === 'fill_nets') closes = event.position !== null;
    if (!isFill(event)) continue;
    const part = event.kind === 'order_filled' ? contracts - sum.contracts : event.contracts;
    sum.contracts += part;
    sum.cents += event.cents;
    if (closes) sum.closed += part;
    else sum.openedCents += event.cents;
    if (event.feeCents !== null) sum.feeCents = (sum.feeCents ?? 0) + event.feeCents;
    fill = event;
  }
  return { fill, ...sum };
}

function latencyOf({ realism }: PlaceOrder): Latency | null {
  return realism === null || realism.latencyMs.max === 0 ? null : realism.latencyMs;
}

/**
 * An order under latency is accepted, and holds the most that it can cost. The rest is what it would
 * do if it met the book as it is now. Rule T163 (engine/RULES.md).
 */
function later(state: ShardState, order: PlaceOrder, account: AccountRow): Preview {
  const realism = { ...order.realism!, latencyMs: { min: 0, max: 0 } };
  const now = preview(state, { ...order, realism }, state.nowMs);
  const subject = subjectOf(state, order, account);
  invariant(!('kind' in subject), 'an order was accepted that has no subject');
  const holdCents = heldWhileWaiting(state, order, subject);
  const would = now.would === 'refuse' ? 'cancel' : now.would;
  return { ...now, would, code: null, holdCents, latencyMs: latencyOf(order) };
}

/** The lowest cost of a contract. */
const LEAST_CENTS = 1;

/**
 * The checks without a price: the refusals before a price is read, and whether the balance covers
 * an order that trades nothing at once. The answer is the same at every price. Rule V10.
 */
function unpriced(state: ShardState, order: PlaceOrder, account: AccountRow): Preview {
  let holdCents = 0;
  const decision = decideUnderNewKey(state, order, account, (_, __, subject) => {
    const { needed, held } = needsOf(state, order, subject);
    const short = spends(order, subject) ? checkBalance(state, account, needed) : null;
    if (short === null) holdCents = held;
    return short ?? accept([]);
  });
  const code = decision.kind === 'reject' ? decision.rejection.code : null;
  return {
    ...{ would: null, code, fill: null, costCents: 0, holdCents, feeCents: null, market: null },
    latencyMs: latencyOf(order),
  };
}

/**
 * A buy that waits needs its hold, with its fees. Any other buy needs its cost at the lowest price. A
 * sell spends nothing, and holds nothing.
 */
function needsOf(
  state: ShardState,
  order: PlaceOrder,
  subject: Subject,
): { needed: Cents; held: Cents } {
  const { limitPriceCents, timeInForce } = order;
  if (latencyOf(order) === null) {
    // A market order trades or is refused; an ioc or fok that does not trade needs nothing.
    if (limitPriceCents === null) {
      const opens = subject.contracts - (subject.net?.netting.closes ?? 0);
      return { needed: costCents(LEAST_CENTS, opens) - freedBy(subject), held: 0 };
    }
    if (timeInForce !== 'gtc') return { needed: 0, held: 0 };
  }
  const held = heldWhileWaiting(state, order, subject);
  return { needed: held - freedBy(subject), held };
}

/** What an order that nets frees before it meets the book. */
function freedBy({ net }: Subject): Cents {
  return net === null ? 0 : net.pairCents + net.endsCents;
}

function isFill(event: { kind: string }): event is OrderFilled | OrderPartFilled {
  return event.kind === 'order_filled' || event.kind === 'order_part_filled';
}
