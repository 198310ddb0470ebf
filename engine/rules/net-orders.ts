/**
 * Orders that net: a buy of one side first closes what the account holds of the other side, and the
 * rest opens. To buy no at 44 is to sell yes at 56, so both parts wait for the same price, and the
 * split is made as each part trades. Rules T190 to T201 (engine/RULES.md).
 */

import { invariant } from '../base/invariant.ts';
import {
  type AccountRow,
  type Cents,
  type Contracts,
  type EpochMs,
  HOME_VENUE,
  type MarketNumber,
  NO_ROW,
  type OrderRow,
  oppositeSide,
  PAYOUT_CENTS,
  type PlacedNetting,
  type PositionRow,
  type PriceCents,
  type Side,
} from '../base/units.ts';
import type { AppliedChange } from './applied-change.ts';
import { type Decision, reject } from './decision.ts';
import {
  type Event,
  type FillFee,
  type FillNoted,
  fillEvent,
  type OrderFilled,
  type OrderPartFilled,
  type PairClosed,
} from './events.ts';
import { type Fill, levelsOf } from './fill-model.ts';
import { makerNote, takerNote } from './fill-notes.ts';
import { isBuy, isSell, sideOf } from './flags.ts';
import type { DepthLevel, PlaceOrder } from './messages.ts';
import { fillFee } from './order-fees.ts';
import { averagePrice, costOfPart, remainingOf } from './partial-fills.ts';
import { hashOfHeld } from './positions.ts';
import { venueIndex } from './pricing.ts';
import type { Market } from './reference-data.ts';
import type { ShardState } from './state.ts';
import { heldCentsAt } from './waiting-terms.ts';

/** A trade of which an order may close contracts, with what it still holds. */
type Closable = { position: PositionRow; contracts: Contracts; cents: Cents };

/** A side of a market, as one account holds it. */
type HeldSide = { account: AccountRow; market: MarketNumber; side: Side };

/**
 * The trades of a side that no order is selling, the oldest first. `endsBuys`: also those whose buy
 * still rests in part, as an order that is placed ends that rest. Rules T191, T195.
 */
function closable(
  { positions: { col }, positionsOfAccount, positionsOfMarket, heldSides, orders }: ShardState,
  { account, market, side }: HeldSide,
  endsBuys: boolean,
): Closable[] {
  if (account === NO_ROW || heldSides.atMost(hashOfHeld(account, market, side)) === 0) return [];
  const isWanted = (position: PositionRow): boolean => {
    if (col.market.get(position) !== market || col.account.get(position) !== account) return false;
    if (sideOf(col.flags.get(position)) !== side) return false;
    const resting = col.resting.get(position);
    return resting === NO_ROW || (endsBuys && isBuy(orders.col.flags.get(resting)));
  };
  // Both lists are in the order of the trades. The shorter one is read.
  const isOfFew = positionsOfAccount.count(account) <= positionsOfMarket.count(market);
  const found = isOfFew
    ? positionsOfAccount.having(account, isWanted)
    : positionsOfMarket.having(market, isWanted);
  return found.reverse().map((position) => {
    const [contracts, cents] = [col.contracts.get(position), col.costCents.get(position)];
    return { position, contracts, cents };
  });
}

function sumOf(trades: readonly Closable[]): Contracts {
  return trades.reduce((sum, { contracts }) => sum + contracts, 0);
}

/** The account's netting orders that close contracts of this side, the newest first. */
function closersOf(
  { nets, orders: { col }, ordersOfAccount }: ShardState,
  { account, market, side }: HeldSide,
): OrderRow[] {
  if (account === NO_ROW || nets.table.live === 0) return [];
  return ordersOfAccount.having(account, (order) => {
    const isOfSide = col.market.get(order) === market && sideOf(col.flags.get(order)) !== side;
    return isOfSide && nets.closes(order) > 0;
  });
}

/** How many contracts of a side its account's resting orders close. */
function reserved(state: ShardState, held: HeldSide): Contracts {
  return closersOf(state, held).reduce((sum, order) => sum + state.nets.closes(order), 0);
}

/**
 * The netting orders that a sale of this position ends, the newest first: without it they could not
 * close what they are for. Rule T195.
 */
export function closersInTheWay(state: ShardState, position: PositionRow): OrderRow[] {
  const { col } = state.positions;
  if (state.nets.table.live === 0 || col.resting.get(position) !== NO_ROW) return [];
  const side = sideOf(col.flags.get(position));
  const held = { account: col.account.get(position), market: col.market.get(position), side };
  const closers = closersOf(state, held);
  let left = sumOf(closable(state, held, false)) - col.contracts.get(position);
  for (const order of closers) left -= state.nets.closes(order);
  const ended: OrderRow[] = [];
  for (const order of closers) {
    if (left >= 0) break;
    ended.push(order);
    left += state.nets.closes(order);
  }
  return ended;
}

/** What an order that nets does when it is placed, before it meets the book. */
export type NetPlan = {
  netting: PlacedNetting;
  /** Buys that rest in part, of trades that it closes: they end first. Rule T54. */
  ends: readonly OrderRow[];
  /** What those hold. */
  endsCents: Cents;
  /** The pairs that close. Rule T194. */
  pairs: readonly Omit<PairClosed, 'order' | 'account' | 'atMs'>[];
  pairCents: Cents;
  /** What it closes, in this order. */
  closes: readonly Closable[];
};

/** Of the subject that an order which nets would have as a plain buy. Rules T191, T194. */
export function planNet(
  state: ShardState,
  order: Pick<PlaceOrder, 'netting' | 'contracts'>,
  { market, side }: { market: Market; side: Side },
  account: AccountRow,
): NetPlan {
  const asked = order.contracts!;
  const { trades: held, free } = closableNow(state, {
    account,
    market: market.number,
    side: oppositeSide(side),
  });
  // Whoever holds nothing of the other side closes nothing. That is most often so.
  const own = { account, market: market.number, side };
  const bought = free === 0 ? { trades: [], free: 0 } : closableNow(state, own);
  const paired = Math.min(free, bought.free);
  const touched: PositionRow[] = [];
  const pairs = closePairs(state, bought.trades, held, paired, touched);
  const closes = Math.min(asked, free - paired);
  for (const { position } of firstOf(held, closes)) touched.push(position);
  const { positions, orders } = state;
  const ends = [...new Set(touched)]
    .map((position) => positions.col.resting.get(position))
    .filter((order) => order !== NO_ROW)
    .sort((a, b) => orders.col.sequence.get(a) - orders.col.sequence.get(b));
  const netting = { opens: order.netting === 'net', closes, asked };
  const endsCents = ends.reduce((sum, one) => {
    return sum + heldCentsAt(state, one, remainingOf(state, one));
  }, 0);
  return { netting, ends, endsCents, pairs, pairCents: paired * PAYOUT_CENTS, closes: held };
}

/**
 * What an order that is placed now may close of a side, and how many contracts of it no other order
 * closes. If others close some, all that can be sold without an end of a buy is for them.
 */
function closableNow(state: ShardState, held: HeldSide): { trades: Closable[]; free: Contracts } {
  const trades = closable(state, held, true);
  if (trades.length === 0) return { trades, free: 0 };
  const forOthers = reserved(state, held);
  if (forOthers === 0) return { trades, free: sumOf(trades) };
  const sellable = closable(state, held, false);
  return { trades: sellable, free: Math.max(0, sumOf(sellable) - forOthers) };
}

/**
 * So many pairs, the oldest contracts of both sides first; takes them out of the lists. The trade
 * that was opened later gets its cost back, as if it had sold the earlier one instead. That one gets
 * the rest of the pair's 100 cents. Rules T194, T199.
 */
function closePairs(
  { positions: { col } }: ShardState,
  bought: Closable[],
  held: Closable[],
  pairs: Contracts,
  touched: PositionRow[],
): NetPlan['pairs'] {
  const closed: NetPlan['pairs'][number][] = [];
  for (let left = pairs; left > 0; ) {
    const [one, other] = [bought[0]!, held[0]!];
    const contracts = Math.min(left, one.contracts, other.contracts);
    const isLater = col.sequence.get(one.position) > col.sequence.get(other.position);
    const [later, earlier] = isLater ? [one, other] : [other, one];
    const laterCents = takeCost(later, contracts);
    takeCost(earlier, contracts);
    const earlierCents = PAYOUT_CENTS * contracts - laterCents;
    for (const [{ position }, cents] of [
      [later, laterCents] as const,
      [earlier, earlierCents] as const,
    ]) {
      touched.push(position);
      closed.push({ kind: 'pair_closed', position, contracts, ...pairMoney(contracts, cents) });
    }
    for (const list of [bought, held]) if (list[0]!.contracts === 0) list.shift();
    left -= contracts;
  }
  return closed;
}

/** Takes contracts out of a trade. @returns their cost */
function takeCost(trade: Closable, contracts: Contracts): Cents {
  const isAll = contracts === trade.contracts;
  const cost = isAll ? trade.cents : costOfPart(trade.cents, contracts, trade.contracts);
  trade.contracts -= contracts;
  trade.cents -= cost;
  return cost;
}

/** The money of contracts that are closed as pairs: there is no fee. */
export function pairMoney(contracts: Contracts, cents: Cents) {
  const priceCents = averagePrice('sell', cents, contracts);
  return { priceCents, venue: venueIndex(HOME_VENUE), cents, feeCents: null };
}

/** The first so many contracts. */
function firstOf(trades: readonly Closable[], contracts: Contracts): Closable[] {
  const first: Closable[] = [];
  let left = contracts;
  for (const trade of trades) {
    if (left === 0) break;
    const part = Math.min(left, trade.contracts);
    first.push({ ...trade, contracts: part });
    left -= part;
  }
  invariant(left === 0, 'more is closed than is held');
  return first;
}

/** The refusal of an order that may not open, or has nothing to close; null: it may go on. */
export function netRefusal(order: PlaceOrder, { netting }: NetPlan): Decision | null {
  if (netting.opens) {
    const opens = netting.closes < netting.asked;
    return opens && !order.mayOpen ? reject('membership_required') : null;
  }
  return netting.closes === 0 ? reject('already_closed', NOTHING_TO_CLOSE) : null;
}

const NOTHING_TO_CLOSE = 'Nothing is held of the other side that no order is selling.';

/** A part of a fill: it closes contracts of a trade, or opens (null). */
export type NetPart = {
  position: PositionRow | null;
  contracts: Contracts;
  levels: readonly DepthLevel[];
  cents: Cents;
  fee: FillFee | null;
};

/** The levels that a fill takes. */
type Taken = {
  levels: readonly DepthLevel[];
  market: Market;
  role: 'taker' | 'maker';
  atMs: EpochMs;
};

/** What of a fill closes, and what opens. Each part is a fill of its own. Rules T192, M16. */
export function netParts(
  { fees }: ShardState,
  filled: Taken,
  closes: readonly Closable[],
  carryMicros: number | null,
): NetPart[] {
  const { levels, market, role, atMs } = filled;
  const parts: NetPart[] = [];
  const left = levels.map(([cents, contracts]) => ({ cents, contracts }));
  let carry = carryMicros;
  const all = levels.reduce((sum, [, contracts]) => sum + contracts, 0);
  const opens = all - sumOf(closes);
  invariant(opens >= 0, 'an order closes more than it trades');
  for (const { position, contracts } of [...closes, { position: null, contracts: opens }]) {
    if (contracts === 0) continue;
    const own = takeLevels(left, contracts);
    const cents = own.reduce((sum, [price, count]) => sum + price * count, 0);
    const charged = { market, levels: own, role };
    const fee = carry === null ? null : fillFee(fees, charged, { carryMicros: carry, atMs });
    if (fee !== null) carry = fee.carryMicros;
    parts.push({ position, contracts, levels: own, cents, fee });
  }
  return parts;
}

/** Takes the first so many contracts out of levels. */
function takeLevels(
  left: { cents: PriceCents; contracts: Contracts }[],
  contracts: Contracts,
): DepthLevel[] {
  const taken: DepthLevel[] = [];
  for (let wanted = contracts; wanted > 0; ) {
    const level = left[0]!;
    const part = Math.min(wanted, level.contracts);
    taken.push([level.cents, part]);
    level.contracts -= part;
    wanted -= part;
    if (level.contracts === 0) left.shift();
  }
  return taken;
}

/** The parts of the fill with which an order is placed. */
export function partsAtOnce(
  state: ShardState,
  fill: Fill,
  { closes, netting }: NetPlan,
  feesOn: boolean,
): NetPart[] {
  const { market, contracts } = fill;
  const filled = { levels: levelsOf(fill), market, role: 'taker', atMs: state.nowMs } as const;
  const first = firstOf(closes, Math.min(contracts, netting.closes));
  return netParts(state, filled, first, feesOn ? 0 : null);
}

/**
 * What the parts take from the balance: what opens costs, what closes brings, and both are charged.
 * Rule T200.
 */
export function costOfParts(parts: readonly NetPart[]): Cents {
  return parts.reduce((sum, { position, contracts, cents, fee }) => {
    const proceedsCents = position === null ? 0 : PAYOUT_CENTS * contracts;
    // A cost of 44 against a pair's 100 is a sale at 56.
    const costCents = position === null ? cents : cents - proceedsCents;
    return sum + costCents + (fee?.cents ?? 0);
  }, 0);
}

/** What is charged beyond the venue's fees after these parts. Rule M16. */
export function carryAfter(parts: readonly NetPart[]): number {
  return parts.at(-1)?.fee?.carryMicros ?? 0;
}

/** What of the contracts that an order closes is left after these parts. */
export function closesAfter(closes: Contracts, parts: readonly NetPart[]): Contracts {
  const closed = parts.reduce((sum, { position, contracts }) => {
    return position === null ? sum : sum + contracts;
  }, 0);
  return Math.max(0, closes - closed);
}

type Netted = { order: OrderRow; account: AccountRow; atMs: EpochMs };
type NoteOf = (levels: readonly DepthLevel[], contracts: Contracts) => FillNoted | null;

/** The events of a fill of a netting order that has so many contracts left. Rule T192. */
export function netEvents(
  { order, account, atMs }: Netted,
  remaining: Contracts,
  parts: readonly NetPart[],
  venue: number,
  noteOf: NoteOf,
): Event[] {
  let left = remaining;
  return parts.flatMap(({ position, contracts, levels, cents, fee }): Event[] => {
    const priceCents = averagePrice('buy', cents, contracts);
    const traded = { contracts, priceCents, venue, cents };
    const nets = { kind: 'fill_nets', atMs, order, account, position, contracts } as const;
    const event = fillEvent(atMs, order, left, traded, fee);
    left -= contracts;
    const note = noteOf(levels, contracts);
    return note === null ? [nets, event] : [nets, event, note];
  });
}

/** The notes of a fill's parts: each has walked some of its levels. Rule T187. */
export function partNotes(fill: Fill, role: 'taker' | 'maker', atMs: EpochMs): NoteOf {
  return (levels, contracts) => {
    const part = { ...fill, contracts, levels };
    return role === 'taker' ? takerNote(part, 'buy', atMs) : makerNote(part, 'buy', atMs);
  };
}

/** No note: a queue tells by itself what met the order. */
export const NO_NOTE: NoteOf = () => null;

/**
 * The parts of a fill of a netting order that waits: it closes what it is for and what nobody else
 * closes, as the account holds it now. Rules T192, T196, T201.
 */
export function waitingParts(state: ShardState, order: OrderRow, filled: Taken): NetPart[] {
  const { orders, nets, orderFees } = state;
  const { col } = orders;
  const account = col.account.get(order);
  const side = oppositeSide(sideOf(col.flags.get(order)));
  const held = { account, market: col.market.get(order), side };
  const trades = closable(state, held, false);
  const free = sumOf(trades) - reserved(state, held);
  invariant(free >= 0, 'orders close more than is held');
  const contracts = filled.levels.reduce((sum, [, count]) => sum + count, 0);
  const closes = firstOf(trades, Math.min(contracts, nets.closes(order) + free));
  const carryMicros = orderFees.has(order) ? orderFees.carryMicros(order) : null;
  return netParts(state, filled, closes, carryMicros);
}

/** The events of a fill of a netting order that waits. */
export function waitingNetEvents(
  state: ShardState,
  order: OrderRow,
  filled: Taken,
  noteOf: NoteOf,
): Event[] {
  const parts = withinHold(state, order, waitingParts(state, order, filled));
  const account = state.orders.col.account.get(order);
  const venue = venueIndex(filled.market.venue);
  const remaining = remainingOf(state, order);
  return netEvents({ order, account, atMs: filled.atMs }, remaining, parts, venue, noteOf);
}

/** What opens pays no more in fees than its hold and the balance leave. Rule M17. */
function withinHold(state: ShardState, order: OrderRow, parts: NetPart[]): NetPart[] {
  const last = parts.at(-1);
  if (last === undefined || last.position !== null || last.fee === null) return parts;
  const { accounts, orders, nets, orderFees } = state;
  const closed = parts.slice(0, -1);
  const heldNow = remainingOf(state, order) - nets.closes(order);
  const opensNow =
    remainingOf(state, order) - closed.reduce((sum, part) => sum + part.contracts, 0);
  const after = opensNow - last.contracts;
  const heldCents = heldCentsAt(state, order, heldNow);
  const leftCents = heldCentsAt(state, order, after, after === 0 ? 0 : last.fee.carryMicros);
  const balanceCents = accounts.col.balanceCents.get(orders.col.account.get(order));
  const has = Math.max(0, balanceCents) - costOfParts(closed) + heldCents - leftCents;
  invariant(orderFees.has(order), 'a fee is charged to an order that pays none');
  const most = has - last.cents;
  if (last.fee.cents <= most) return parts;
  return [...closed, { ...last, fee: { ...last.fee, cents: most } }];
}

/** A fill of a netting order in terms of the trade that it closes. */
export function saleOf<One extends OrderFilled | OrderPartFilled | PairClosed>(
  { cents, contracts }: AppliedChange,
  event: One,
): One {
  if (cents === event.cents) return event;
  return { ...event, cents, priceCents: averagePrice('sell', cents, contracts) };
}

/** A position whose resting order is a sell is being sold. */
export function isBeingSold({ orders, positions }: ShardState, position: PositionRow): boolean {
  const resting = positions.col.resting.get(position);
  return resting !== NO_ROW && isSell(orders.col.flags.get(resting));
}
