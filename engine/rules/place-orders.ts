/**
 * Placing an order, and the texts of its refusals. Rules M11, T44, T100 to T103, T190, T195, T200,
 * T205 (engine/RULES.md), V3, A82 (api/RULES.md).
 */

import {
  type AccountRow,
  type Cents,
  type Contracts,
  dollarsOf,
  type EpochMs,
  type FillModelName,
  NO_ROW,
  type OrderRow,
  PAYOUT_CENTS,
  type PlacedUnder,
  type PositionRow,
  type PriceCents,
  START_BALANCE_CENTS,
} from '../base/units.ts';
import { closingMs } from './closing.ts';
import { accept, type Decision, reject } from './decision.ts';
import { type Event, type FillFee, fillEvent, type OrderPlaced } from './events.ts';
import { type Fill, levelsOf, takerOf, tradeOf } from './fill-model.ts';
import { takerNote } from './fill-notes.ts';
import type { PlacedOrder } from './finished-records.ts';
import { isLimit, sideOf } from './flags.ts';
import { FIRST_PAYOUT_ROOM_CENTS, payoutRoomCents } from './ledger.ts';
import { joinsQueue, possibleFill, reasonUnfilled } from './meet-book.ts';
import type { PlaceOrder } from './messages.ts';
import {
  carryAfter,
  closersInTheWay,
  closesAfter,
  costOfParts,
  type NetPart,
  netEvents,
  partNotes,
  partsAtOnce,
} from './net-orders.ts';
import { fillFee, worstEachMicros } from './order-fees.ts';
import { groupRefusal } from './order-groups.ts';
import { type Subject, subjectOf } from './order-subject.ts';
import { ASKED_TERM_NAMES } from './order-terms.ts';
import { placedUnder } from './placed-under.ts';
import {
  bidOf,
  type PricedBook,
  priceBook,
  reaches,
  type SidePrice,
  tradePrice,
  venueIndex,
} from './pricing.ts';
import { privacyEvents } from './privacy.ts';
import { REJECTIONS } from './rejections.ts';
import type { ShardState } from './state.ts';
import {
  countedRefusal,
  countedWith,
  countsAsSell,
  refusalByLimits,
  usageOf,
} from './trade-limits.ts';
import { heldCents, holdPriceCents } from './waiting-terms.ts';

/** A known key is answered before any other check. Rules T91, T95 (engine/RULES.md). */
export function decidePlace(state: ShardState, order: PlaceOrder): Decision {
  const account = state.accountIds.find(order.account);
  const known =
    account === NO_ROW ? undefined : state.records.useOfKey(account, order.idempotencyKey);
  if (known === undefined) return decideUnderNewKey(state, order, account);
  if (known.kind === 'placed' && isSameOrder(state, known.placed, order)) return { kind: 'replay' };
  const reused = reject('idempotency_key_reused');
  return countedRefusal(state, order, countsAsSell(order), reused);
}

/** The decision on an order once no rule without a price refuses it. */
type DecideTradable = (
  state: ShardState,
  order: PlaceOrder,
  subject: Subject,
  account: AccountRow,
) => Decision;

/**
 * The decision on an order under any key. `account`: its row, or `NO_ROW`. Rule T132
 * (engine/RULES.md).
 */
export function decideUnderNewKey(
  state: ShardState,
  order: PlaceOrder,
  account: AccountRow,
  decideTradable: DecideTradable = decideAtPrice,
): Decision {
  const outOfBounds = checkBounds(state, order, account);
  if (outOfBounds !== null) return reject('invalid_request', outOfBounds);
  if (!order.mayTrade) return reject('trading_off');
  const use = usageOf(state, order, countsAsSell(order));
  const overLimit = refusalByLimits(order, use);
  if (overLimit !== null) return overLimit;
  return countedWith(order, use, decideInLimits(state, order, account, decideTradable));
}

function decideInLimits(
  state: ShardState,
  order: PlaceOrder,
  account: AccountRow,
  decideTradable: DecideTradable,
): Decision {
  const { rejectIfLaterThanMs } = order;
  if (rejectIfLaterThanMs !== null && state.nowMs > rejectIfLaterThanMs) return reject('too_late');
  const opensAll = order.action === 'buy' && order.netting === null;
  if (opensAll && !order.mayOpen) return reject('membership_required');
  const refused = order.orderGroupId === null ? null : groupRefusal(state, order, account);
  if (refused !== null) return refused;
  const subject = tradableSubject(state, order, account);
  return 'kind' in subject ? subject : decideTradable(state, order, subject, account);
}

/**
 * The order's subject on a market that is open, or its refusal. Rules T5, T18 (engine/RULES.md).
 */
function tradableSubject(
  state: ShardState,
  order: PlaceOrder,
  account: AccountRow,
): Subject | Decision {
  const subject = subjectOf(state, order, account);
  if ('kind' in subject) return subject;
  const { market } = subject;
  if (market.outcome !== null) return reject('market_resolved');
  const isOpen = market.status === 'open' && state.nowMs < closingMs(market);
  const hasOpened = state.nowMs >= subject.instrument.opensAtMs;
  return isOpen && hasOpened ? subject : reject('market_not_open');
}

/**
 * An order whose key is new. It counts towards the limits even if it is refused. Rules T32, T94
 * (engine/RULES.md).
 */
function decideAtPrice(
  state: ShardState,
  order: PlaceOrder,
  subject: Subject,
  account: AccountRow,
): Decision {
  const routed = order.routing === 'best' ? subject.instrument : null;
  const book = { market: subject.market, routed };
  const fillModel = state.fillModel.modelOf(book, order.realism?.model ?? 'server');
  const under = placedUnder(order.realism, order.orderId);
  if (under.latencyMs > 0) {
    const fees = feesWhileWaiting(state, order, book);
    return decideLater(state, order, subject, { account, fillModel, under, fees });
  }
  const fill = fillNow(state, order, subject, { account, book, fillModel });
  if (!isLimit(order)) {
    if (fill === null) return reject('no_liquidity', state.fillModel.noLiquidity(fillModel));
    const bound = order.boundPriceCents;
    const priceCents = tradePrice(order.action, fill.askCents);
    if (bound !== null && !reaches(order.action, priceCents, bound)) {
      return reject('price_moved', movedText(state, priceCents));
    }
  }
  // Rule T205 (engine/RULES.md).
  if (order.postOnly && fill !== null) return reject('would_take');
  const rests = order.timeInForce === 'gtc' && fill?.contracts !== subject.contracts;
  const fees = paysFees(order) ? feesOf(state, order, book, { fill, rests }) : null;
  const { net } = subject;
  const parts =
    net === null || fill === null ? NO_PARTS : partsAtOnce(state, fill, net, fees !== null);
  if (spends(order, subject)) {
    const needed =
      net === null
        ? neededCents(order, subject, fill, rests, fees)
        : neededToNet(order, subject, parts, rests, fees);
    const short = checkBalance(state, account, needed);
    if (short !== null) return short;
  }

  // From here on the command cannot fail.
  const placing = { account, fill, parts, rests, fillModel, under, fees };
  const events = placementEvents(state, order, subject, placing);
  return accept(events, fill?.consumption ?? null);
}

const NO_PARTS: readonly NetPart[] = [];

/** An order under latency waits, whatever the price is. Rule T161 (engine/RULES.md). */
function decideLater(
  state: ShardState,
  order: PlaceOrder,
  subject: Subject,
  placing: Omit<Placing, 'fill' | 'parts' | 'rests'>,
): Decision {
  if (spends(order, subject)) {
    const { fees } = placing;
    const isNet = subject.net !== null;
    const needed = isNet
      ? neededToNet(order, subject, NO_PARTS, true, fees)
      : neededCents(order, subject, null, true, fees);
    const short = checkBalance(state, placing.account, needed);
    if (short !== null) return short;
  }
  const waits = { fill: null, parts: NO_PARTS, rests: true };
  return accept(placementEvents(state, order, subject, { ...placing, ...waits }));
}

/** What an order holds while all of it waits. Rules M4, M15, T161 (engine/RULES.md). */
export function heldWhileWaiting(
  state: ShardState,
  order: PlaceOrder,
  { contracts, market, instrument, net }: Subject,
): Cents {
  if (order.action === 'sell') return 0;
  const book = { market, routed: order.routing === 'best' ? instrument : null };
  const opens = contracts - (net?.netting.closes ?? 0);
  return held(order, opens, feesWhileWaiting(state, order, book));
}

/** Null: the order pays none. */
function feesWhileWaiting(
  state: ShardState,
  order: PlaceOrder,
  book: PricedBook,
): OrdersFees | null {
  return paysFees(order) ? feesOf(state, order, book, { fill: null, rests: true }) : null;
}

/** A sell, and an order that closes all that it takes, needs no cash. Rules T53, T200. */
export function spends({ action }: PlaceOrder, { net, contracts }: Subject): boolean {
  return action === 'buy' && (net === null || net.netting.closes < contracts);
}

/** The refusal of a buy that needs more than the account can spend; null: it does not. */
export function checkBalance(
  state: ShardState,
  account: AccountRow,
  needed: Cents,
): Decision | null {
  const balanceCents =
    account === NO_ROW ? START_BALANCE_CENTS : state.accounts.col.balanceCents.get(account);
  if (needed <= balanceCents) return null;
  return reject('insufficient_balance', shortText(state, needed, balanceCents));
}

function fillNow(
  state: ShardState,
  order: PlaceOrder,
  { side, contracts }: Subject,
  { account, book, fillModel }: { account: AccountRow; book: PricedBook; fillModel: FillModelName },
): Fill | null {
  const { action, limitPriceCents, timeInForce } = order;
  const row = account === NO_ROW ? state.accounts.nextRow : account;
  const wanted = {
    taker: takerOf(row, order.realism?.liquidity ?? 'account'),
    action,
    side,
    limitPriceCents,
    timeInForce,
    contracts,
    model: fillModel,
  };
  return possibleFill(state, book, wanted, state.nowMs);
}

/** The fees of an order that pays any. Rules M14, M15 (engine/RULES.md). */
type OrdersFees = {
  /** Of the part that trades now; null: none does. */
  fee: FillFee | null;
  /** Held for each contract of a buy that waits. */
  eachMicros: number;
};

/** Whether the fills of an order cost its venue's fees. Rule M14 (engine/RULES.md). */
function paysFees({ realism }: PlaceOrder): boolean {
  return realism?.fees === 'venue';
}

/** What trades at once takes. */
function feesOf(
  { fees, nowMs }: ShardState,
  order: PlaceOrder,
  book: PricedBook,
  { fill, rests }: { fill: Fill | null; rests: boolean },
): OrdersFees {
  const holds = rests && order.action === 'buy';
  const eachMicros = holds ? worstEachMicros(fees, book, holdPriceCents(order), nowMs) : 0;
  if (fill === null) return { fee: null, eachMicros };
  const taken = { market: fill.market, levels: levelsOf(fill), role: 'taker' } as const;
  return { fee: fillFee(fees, taken, { carryMicros: 0, atMs: nowMs }), eachMicros };
}

/**
 * The cost of the part that trades plus the hold of the part that rests, with the fees of both; a
 * canceled part needs nothing. Rule M6 (engine/RULES.md).
 */
function neededCents(
  order: PlaceOrder,
  { contracts }: Subject,
  fill: Fill | null,
  rests: boolean,
  fees: OrdersFees | null,
): Cents {
  const left = contracts - (fill?.contracts ?? 0);
  const waiting = rests ? held(order, left, fees) : 0;
  return waiting + (fill?.paidCents ?? 0) + (fees?.fee?.cents ?? 0);
}

/** The same of an order that nets: what it closes pays for what it opens. Rules T198, T200. */
function neededToNet(
  order: PlaceOrder,
  { contracts, net }: Subject,
  parts: readonly NetPart[],
  rests: boolean,
  fees: OrdersFees | null,
): Cents {
  const left = parts.reduce((sum, part) => sum - part.contracts, contracts);
  const opens = left - closesAfter(net!.netting.closes, parts);
  const carryMicros = carryAfter(parts);
  const eachMicros = fees?.eachMicros ?? null;
  const waiting = rests ? heldCents(order, opens, { eachMicros, carryMicros }) : 0;
  return waiting + costOfParts(parts) - net!.pairCents - net!.endsCents;
}

/** What the part of a buy that waits holds. */
function held(order: PlaceOrder, left: Contracts, fees: OrdersFees | null): Cents {
  const carryMicros = fees?.fee?.carryMicros ?? 0;
  return heldCents(order, left, { eachMicros: fees?.eachMicros ?? null, carryMicros });
}

type Placing = {
  account: AccountRow;
  fill: Fill | null;
  /** Of the fill of an order that nets. */
  parts: readonly NetPart[];
  rests: boolean;
  fillModel: FillModelName;
  under: PlacedUnder;
  /** Null: the order pays no fees. */
  fees: OrdersFees | null;
};

/** Rules T41 to T43, T69 (engine/RULES.md). */
function placementEvents(
  state: ShardState,
  order: PlaceOrder,
  subject: Subject,
  { account: known, fill, parts, rests, fillModel, under, fees }: Placing,
): Event[] {
  const events: Event[] = [];
  const { atMs } = order;
  const account = known === NO_ROW ? state.accounts.nextRow : known;
  if (known === NO_ROW) {
    events.push({ kind: 'account_opened', atMs, account, accountId: order.account });
  }
  events.push(...privacyEvents(state, known, { atMs, private: order.placedPrivate }));
  const replaced = fill === null && !rests ? [] : replacedOrders(state, subject);
  for (const one of replaced) {
    events.push({
      kind: 'order_ended',
      atMs,
      order: one,
      status: 'canceled',
      reason: 'position_closed',
    });
  }
  // The order that ends last frees its row first.
  const row = replaced.at(-1) ?? state.orders.nextRow;
  events.push(placedEvent(state, order, subject, { account, row, rests, fillModel, under, fees }));
  const { contracts, net } = subject;
  if (net !== null && (fill !== null || rests)) {
    for (const pair of net.pairs) events.push({ ...pair, atMs, order: row, account });
  }
  if (fill !== null && net !== null) {
    const venue = venueIndex(fill.market.venue);
    const notes = partNotes(fill, 'taker', atMs);
    events.push(...netEvents({ order: row, account, atMs }, contracts, parts, venue, notes));
  } else if (fill !== null) {
    const traded = tradeOf(order.action, fill);
    events.push(fillEvent(atMs, row, contracts, traded, fees === null ? null : fees.fee));
    events.push(takerNote(fill, order.action, atMs));
  }
  if (rests && fillModel === 'queue' && under.latencyMs === 0) {
    const terms = {
      ...{ action: order.action, side: subject.side },
      limitPriceCents: order.limitPriceCents!,
    };
    events.push(joinsQueue(state, subject.market, terms, { atMs, order: row, account }));
  }
  if (rests || fill?.contracts === contracts) return events;
  const reason = reasonUnfilled(order.timeInForce);
  const status = fill === null ? 'canceled' : 'executed';
  events.push({ kind: 'order_ended', atMs, order: row, status, reason });
  return events;
}

/**
 * A sell that trades or rests first ends the position's resting order: an earlier sell, or the rest
 * of the buy. So a position that is being sold does not grow. It also ends netting orders that can
 * no longer close what they are for. Rules T52, T54, T195 (engine/RULES.md).
 */
function replacedOrders(state: ShardState, { position, net }: Subject): readonly OrderRow[] {
  if (net !== null) return net.ends;
  if (position === null) return NO_ORDERS;
  const resting = state.positions.col.resting.get(position);
  return resting === NO_ROW ? closersInTheWay(state, position) : [resting];
}

const NO_ORDERS: readonly OrderRow[] = [];

function placedEvent(
  state: ShardState,
  order: PlaceOrder,
  subject: Subject,
  {
    account,
    row,
    rests,
    fillModel,
    under,
    fees,
  }: Omit<Placing, 'fill' | 'parts'> & { row: OrderRow },
): OrderPlaced {
  return {
    kind: 'order_placed',
    atMs: order.atMs,
    order: row,
    account,
    orderId: order.orderId,
    idempotencyKey: order.idempotencyKey,
    market: subject.market.number,
    instrument: subject.instrument.number,
    side: subject.side,
    instrumentSide: subject.instrumentSide,
    byTicker: order.ticker !== null,
    contracts: subject.contracts,
    position: subject.position,
    tradeId: subject.position === null ? null : state.positionIds.idOf(subject.position),
    terms: order,
    fillModel,
    feeEachMicros: fees === null ? null : fees.eachMicros,
    netting: subject.net === null ? null : subject.net.netting,
    postOnly: order.postOnly,
    group: order.orderGroupId,
    // Each by its name: a spread in the middle of an object costs more than the whole object.
    latencyMs: under.latencyMs,
    feesOn: under.feesOn,
    liquidity: under.liquidity,
    realistic: under.realistic,
    rests,
  };
}

/**
 * Whether a placement under a known key asks for the same as the first one. Rules T92, T93
 * (engine/RULES.md).
 */
function isSameOrder(state: ShardState, known: PlacedOrder, order: PlaceOrder): boolean {
  return (
    ASKED_TERM_NAMES.every((name) => known.terms[name] === order[name]) &&
    known.tradeId === order.tradeId &&
    known.postOnly === order.postOnly &&
    known.group === order.orderGroupId &&
    (order.action === 'sell' || isSameSubject(state, known, order))
  );
}

function isSameSubject(state: ShardState, known: PlacedOrder, order: PlaceOrder): boolean {
  const asked = known.netting?.asked ?? known.contracts;
  if (asked !== order.contracts || known.byTicker !== (order.ticker !== null)) return false;
  const netting = known.netting === null ? null : known.netting.opens ? 'net' : 'close';
  if (netting !== order.netting) return false;
  return known.byTicker
    ? known.side === order.side && state.markets[known.market]!.ticker === order.ticker
    : known.instrumentSide === order.side &&
        state.instruments[known.instrument]!.id === order.instrumentId;
}

/** The live bid for the contracts of a position, or null. Portfolios are marked at it. */
export function positionBid(
  state: ShardState,
  position: PositionRow,
  nowMs: EpochMs,
): SidePrice | null {
  const { col } = state.positions;
  const market = state.markets[col.market.get(position)]!;
  const price = priceBook(state, { market, routed: null }, nowMs);
  return bidOf(price, sideOf(col.flags.get(position)));
}

/** The text of `price_moved`. Prices, and costs that follow from them, are venue data. */
function movedText({ switches }: ShardState, priceCents: PriceCents): string {
  if (!switches.venueData) return REJECTIONS.price_moved;
  return `The live price is ${priceCents} cents, beyond the bound of the order.`;
}

/** The text of `insufficient_balance`. */
function shortText({ switches }: ShardState, needed: Cents, balance: Cents): string {
  const available = dollarsOf(balance).toFixed(2);
  if (!switches.venueData) {
    return `The cost is above the spendable balance of ${available} dollars.`;
  }
  return `The order needs ${dollarsOf(needed).toFixed(2)} dollars; ${available} can be spent.`;
}

/** Rule T44 (engine/RULES.md). */
const EXPIRY_MAX_MS = 365 * 24 * 60 * 60 * 1000;

/**
 * The message for a field that is out of bounds; null: none is. `account`: its row, or `NO_ROW`.
 * The bounds hold for orders of every market and are checked before the market. An order beyond a
 * bound is a bad request.
 */
function checkBounds(state: ShardState, order: PlaceOrder, account: AccountRow): string | null {
  const expiry = checkExpiry(order.expiresAtMs, state.nowMs);
  return expiry ?? checkRouting(order) ?? checkPayout(state, order, account);
}

/** Orders of other books fill in an order of their own, and netting orders share what is held. */
function checkRouting({ netting, routing }: PlaceOrder): string | null {
  const isRouted = netting !== null && routing === 'best';
  return isRouted ? 'routing must be venue_a for an order that nets' : null;
}

function checkExpiry(expiresAtMs: EpochMs | null, nowMs: EpochMs): string | null {
  if (expiresAtMs === null) return null;
  if (expiresAtMs <= nowMs) return 'expiresAt must be in the future';
  if (expiresAtMs - nowMs > EXPIRY_MAX_MS) return 'expiresAt must be at most 365 days out';
  return null;
}

function checkPayout(
  state: ShardState,
  { contracts }: PlaceOrder,
  account: AccountRow,
): string | null {
  return contracts === null ? null : checkPayoutOf(state, account, contracts, 'count');
}

/**
 * A buy whose payout cannot be counted would stop its shard when it wins. `contracts`: so many more;
 * `field` names them.
 */
export function checkPayoutOf(
  state: ShardState,
  account: AccountRow,
  contracts: Contracts,
  field: string,
): string | null {
  const roomCents = account === NO_ROW ? FIRST_PAYOUT_ROOM_CENTS : payoutRoomCents(state, account);
  if (contracts * PAYOUT_CENTS <= roomCents) return null;
  const most = Math.max(0, Math.floor(roomCents / PAYOUT_CENTS));
  const limit = dollarsOf(Number.MAX_SAFE_INTEGER).toFixed(2);
  return `${field} must be at most ${most} now: an account cannot hold more than ${limit} dollars`;
}
