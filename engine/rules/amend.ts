/**
 * Changing an order that waits: fewer contracts keep its place; anything else meets the book as a new
 * order does. Rules T209 to T215, T201 (engine/RULES.md).
 */

import {
  type AccountRow,
  type Contracts,
  NO_ROW,
  type OrderRow,
  type PriceCents,
} from '../base/units.ts';
import { bookOf, fillOfWaiting } from './arrivals.ts';
import { closingMs } from './closing.ts';
import { accept, type Decision, reject } from './decision.ts';
import {
  type AmendedFields,
  type Event,
  type FillFee,
  fillEvent,
  type OrderAmended,
} from './events.ts';
import { type Fill, levelsOf, tradeOf } from './fill-model.ts';
import { takerNote } from './fill-notes.ts';
import type { KeyUse } from './finished-records.ts';
import { actionOf, fillModelOf, isBuy, isSell, sideOf } from './flags.ts';
import { joinsQueue } from './meet-book.ts';
import type { AmendOrder } from './messages.ts';
import {
  carryAfter,
  closesAfter,
  costOfParts,
  type NetPart,
  netEvents,
  partNotes,
  waitingParts,
} from './net-orders.ts';
import { fillFee, worstEachMicros } from './order-fees.ts';
import { remainingOf } from './partial-fills.ts';
import { checkBalance, checkPayoutOf } from './place-orders.ts';
import { venueIndex } from './pricing.ts';
import type { ShardState } from './state.ts';
import { countedRefusal, uncounted, withinLimits } from './trade-limits.ts';
import { heldCents, heldCentsAt, waitingTermsAt } from './waiting-terms.ts';

/** The command's order is found; null: the account has no such order that waits. */
type Found = { account: AccountRow; order: OrderRow };

/** A known key is answered before any other check. Rule T214. */
export function decideAmend(state: ShardState, command: AmendOrder): Decision {
  const account = state.accountIds.find(command.account);
  const known =
    account === NO_ROW ? undefined : state.records.useOfKey(account, command.idempotencyKey);
  const found = account === NO_ROW ? null : waitingOf(state, account, command);
  const lessens = found === null || isLess(state, found.order, command);
  const closes = found === null || lessens || isSell(state.orders.col.flags.get(found.order));
  if (known !== undefined) {
    if (isSameAmend(known, command)) return uncounted(state, command, closes, { kind: 'replay' });
    return countedRefusal(state, command, closes, reject('idempotency_key_reused'));
  }
  // A cancel works while trading is off, and so does a smaller order.
  if (!lessens && !command.mayTrade) {
    return uncounted(state, command, closes, reject('trading_off'));
  }
  return withinLimits(state, command, closes, () => {
    if (found === null) return notWaiting(state, account, command);
    if (!closes && !command.mayOpen) return reject('membership_required');
    return decideFound(state, command, found);
  });
}

function waitingOf(
  { orderIds, orders, realism }: ShardState,
  account: AccountRow,
  { orderId }: AmendOrder,
): Found | null {
  const order = orderIds.find(orderId);
  if (order === NO_ROW || orders.col.account.get(order) !== account) return null;
  // Its owner has canceled it already.
  return realism.cancelsAtMs(order) === 0 ? { account, order } : null;
}

function notWaiting(state: ShardState, account: AccountRow, { orderId }: AmendOrder): Decision {
  if (account === NO_ROW) return reject('order_not_found');
  const row = state.orderIds.find(orderId);
  const isOwn = row !== NO_ROW && state.orders.col.account.get(row) === account;
  return isOwn || state.records.endedOrder(account, orderId) !== undefined
    ? reject('already_closed', 'The order is not resting.')
    : reject('order_not_found');
}

/** Fewer contracts at the same limit, or no change: it keeps its place. Rule T210. */
function isLess(
  { orders: { col } }: ShardState,
  order: OrderRow,
  { contracts, limitPriceCents }: AmendOrder,
): boolean {
  const isSamePrice =
    limitPriceCents === null || limitPriceCents === col.limitPriceCents.get(order);
  return isSamePrice && (contracts === null || contracts <= col.contracts.get(order));
}

function isSameAmend(known: KeyUse, command: AmendOrder): boolean {
  if (known.kind !== 'amended' || known.orderId !== command.orderId) return false;
  const { asked, contracts, limitPriceCents } = known;
  return (
    asked === askedOf(command) &&
    (command.contracts === null || command.contracts === contracts) &&
    (command.limitPriceCents === null || command.limitPriceCents === limitPriceCents)
  );
}

function askedOf({ contracts, limitPriceCents }: AmendOrder): AmendedFields {
  if (contracts === null) return 'limit';
  return limitPriceCents === null ? 'contracts' : 'both';
}

function decideFound(state: ShardState, command: AmendOrder, { account, order }: Found): Decision {
  const { col } = state.orders;
  const { limitPriceCents: before, timeInForce } = waitingTermsAt(state, order);
  if (before === null || timeInForce !== 'gtc') {
    return reject('invalid_request', 'Only a limit order that is gtc can be changed.');
  }
  const total = col.contracts.get(order);
  const contracts = command.contracts ?? total;
  const limitPriceCents = command.limitPriceCents ?? before;
  const filled = total - remainingOf(state, order);
  if (isSell(col.flags.get(order)) && contracts !== total) {
    const all = `contracts must be ${total}: a sell covers the whole position`;
    return reject('invalid_request', all);
  }
  if (contracts <= filled) {
    const least = `contracts must be at least ${filled + 1}: ${filled} have traded`;
    return reject('invalid_request', least);
  }
  const amended: Amended = { account, order, contracts, limitPriceCents, left: contracts - filled };
  if (isLess(state, order, command)) {
    const feeEachMicros = feeEachOf(state, order);
    return accept([amendedEvent(state, command, amended, { feeEachMicros, keepsPlace: true })]);
  }
  const isOfClosing = state.nets.has(order) && !state.nets.opens(order);
  if (isOfClosing && contracts > total) return reject('invalid_request', CLOSES_NO_MORE);
  if (isBuy(col.flags.get(order)) && contracts > total) {
    const beyond = checkPayoutOf(state, account, contracts - total, 'contracts (those added)');
    if (beyond !== null) return reject('invalid_request', beyond);
  }
  return decideBehind(state, command, amended);
}

/** More of it could close what another order has reserved since. Rule T197. */
const CLOSES_NO_MORE = 'contracts must not grow: the order only closes what is held';

/** What the order becomes, and how many contracts of it are left. */
type Amended = Found & { contracts: Contracts; limitPriceCents: PriceCents; left: Contracts };

/** It meets the book as a new order does. Rules T211 to T213. */
function decideBehind(state: ShardState, command: AmendOrder, amended: Amended): Decision {
  const { account, order, limitPriceCents, left } = amended;
  const { atMs } = command;
  const book = bookOf(state, order);
  const { market } = book;
  if (market.outcome !== null) return reject('market_resolved');
  const isOpen = market.status === 'open' && state.nowMs < closingMs(market);
  if (!isOpen) return reject('market_not_open');
  const { col } = state.orders;
  const flags = col.flags.get(order);
  const action = actionOf(flags);
  const isPending = state.realism.latencyMs(order) > 0;
  const terms = { limitPriceCents, timeInForce: 'gtc', contracts: left } as const;
  const fill = isPending ? null : fillOfWaiting(state, order, terms, state.nowMs);
  if (fill !== null && state.orderMarks.postOnly(order)) return reject('would_take');
  const paysFees = state.orderFees.has(order);
  const isNet = state.nets.has(order);
  const parts = fill === null || !isNet ? [] : partsOf(state, order, fill);
  const fee = fill === null || isNet || !paysFees ? null : feeOf(state, order, fill);
  const worst = () => worstEachMicros(state.fees, book, limitPriceCents, state.nowMs);
  const feeEachMicros = !paysFees ? null : action === 'buy' ? worst() : 0;
  if (action === 'buy') {
    const trading = { fill, parts, fee, feeEachMicros };
    const short = isNet ? shortToNet(state, amended, trading) : shortOf(state, amended, trading);
    if (short !== null) return short;
  }

  // From here on the command cannot fail.
  const keepsPlace = false;
  const events: Event[] = [amendedEvent(state, command, amended, { feeEachMicros, keepsPlace })];
  if (fill !== null && isNet) {
    const venue = venueIndex(fill.market.venue);
    const notes = partNotes(fill, 'taker', atMs);
    events.push(...netEvents({ order, account, atMs }, left, parts, venue, notes));
  } else if (fill !== null) {
    events.push(fillEvent(atMs, order, left, tradeOf(action, fill), fee));
    events.push(takerNote(fill, action, atMs));
  }
  const isQueued = fillModelOf(flags) === 'queue' && state.fillModel.queues !== null;
  if (isQueued && !isPending && fill?.contracts !== left) {
    const waits = { action, side: sideOf(flags), limitPriceCents };
    events.push(joinsQueue(state, market, waits, { atMs, order, account }));
  }
  return accept(events, fill?.consumption ?? null);
}

function feeOf(state: ShardState, order: OrderRow, fill: Fill): FillFee {
  const { fees, orderFees, nowMs: atMs } = state;
  const taken = { market: fill.market, levels: levelsOf(fill), role: 'taker' } as const;
  return fillFee(fees, taken, { carryMicros: orderFees.carryMicros(order), atMs });
}

/** It trades as it would while it waits. Rule T201. */
function partsOf(state: ShardState, order: OrderRow, fill: Fill): NetPart[] {
  const { market } = fill;
  const taken = { levels: levelsOf(fill), market, role: 'taker', atMs: state.nowMs } as const;
  return waitingParts(state, order, taken);
}

type Trading = {
  fill: Fill | null;
  /** Of an order that nets. */
  parts: readonly NetPart[];
  /** Of an order that nets nothing. */
  fee: FillFee | null;
  feeEachMicros: number | null;
};

/** The refusal of a buy that needs more than it holds and its account can spend. Rule T213. */
function shortOf(
  state: ShardState,
  { account, order, limitPriceCents, left }: Amended,
  { fill, fee, feeEachMicros: eachMicros }: Trading,
): Decision | null {
  const carryMicros = fee?.carryMicros ?? state.orderFees.carryMicros(order);
  const waiting = left - (fill?.contracts ?? 0);
  const terms = { limitPriceCents, boundPriceCents: null };
  const held = waiting === 0 ? 0 : heldCents(terms, waiting, { eachMicros, carryMicros });
  const needed = held + (fill?.paidCents ?? 0) + (fee?.cents ?? 0);
  const more = needed - heldCentsAt(state, order, remainingOf(state, order));
  return more <= 0 ? null : checkBalance(state, account, more);
}

/** The same of an order that nets: what closes pays for what opens. Rules T198, T200, T201. */
function shortToNet(
  state: ShardState,
  { account, order, limitPriceCents, left }: Amended,
  { fill, parts, feeEachMicros: eachMicros }: Trading,
): Decision | null {
  const closes = state.nets.closes(order);
  const waiting = left - (fill?.contracts ?? 0);
  const opens = waiting - closesAfter(Math.min(closes, left), parts);
  if (opens === 0 && parts.every(({ position }) => position !== null)) return null;
  const carryMicros = fill === null ? state.orderFees.carryMicros(order) : carryAfter(parts);
  const terms = { limitPriceCents, boundPriceCents: null };
  const held = opens === 0 ? 0 : heldCents(terms, opens, { eachMicros, carryMicros });
  const heldNow = heldCentsAt(state, order, remainingOf(state, order) - closes);
  const more = held + costOfParts(parts) - heldNow;
  return more <= 0 ? null : checkBalance(state, account, more);
}

function feeEachOf({ orderFees }: ShardState, order: OrderRow): number | null {
  return orderFees.has(order) ? orderFees.eachMicros(order) : null;
}

function amendedEvent(
  state: ShardState,
  command: AmendOrder,
  { account, order, contracts, limitPriceCents }: Amended,
  how: Pick<OrderAmended, 'feeEachMicros' | 'keepsPlace'>,
): OrderAmended {
  const { placedRecord, placedOffset } = state.orders.col;
  const now = { record: placedRecord.get(order), offset: placedOffset.get(order) };
  return {
    kind: 'order_amended',
    atMs: command.atMs,
    ...{ order, account, idempotencyKey: command.idempotencyKey, asked: askedOf(command) },
    ...{ contracts, limitPriceCents, ...how },
    placed: state.orderMarks.placedAt(order) ?? now,
  };
}
