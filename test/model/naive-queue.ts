/**
 * The queue fill model, in lists that are searched from the front. Rules T144 to T156
 * (engine/RULES.md).
 */

import {
  type Contracts,
  type FillModelName,
  HOME_VENUE,
  type MarketNumber,
  oppositeSide,
  type Routing,
  type Side,
  type Uuid,
} from '../../engine/base/units.ts';
import type { LevelsTick, LevelTick, PrintTick } from '../../engine/rules/messages.ts';
import type { RealismModel } from '../../engine/rules/realism.ts';
import { firstOf, lotsFor, take } from './naive-depth.ts';
import { endReached } from './naive-groups.ts';
import { fill, remainingOf } from './naive-ledger.ts';
import { byShard, hasClosed, type ModelOrder, type ModelState, marketOf } from './naive-state.ts';

/** T156. */
export function fillModelFor(
  state: ModelState,
  number: MarketNumber,
  { routing, model }: { routing: Routing; model: RealismModel },
): FillModelName {
  const fillModel = model === 'server' ? (state.options.fillModel ?? 'top_of_book') : model;
  if (fillModel !== 'queue') return fillModel;
  const { quote, levels } = marketOf(state, number);
  if (levels !== null && routing !== 'best') return 'queue';
  if (quote === null || (quote.yesBidCents === null && quote.yesAskCents === null)) {
    return 'book_depth';
  }
  return quote.yesBidContracts === 0 && quote.yesAskContracts === 0 ? 'top_of_book' : 'book_depth';
}

const NOBODY_KNOWS = Number.MAX_SAFE_INTEGER;

/** T145: the bids that an order rests among, and its price there. */
function bidOf(order: Pick<ModelOrder, 'action' | 'marketSide' | 'limitPriceCents'>) {
  return order.action === 'buy'
    ? { side: order.marketSide, cents: order.limitPriceCents! }
    : { side: oppositeSide(order.marketSide), cents: 100 - order.limitPriceCents! };
}

/** T146. */
export function join(state: ModelState, order: ModelOrder): void {
  const { levels } = marketOf(state, order.market);
  const { side, cents } = bidOf(order);
  const isKnown = levels?.isKnown === true;
  const ahead = isKnown ? (levels.bids[side].get(cents * 100) ?? 0) : NOBODY_KNOWS;
  order.queue = { ahead, part: 0, turn: order.priority };
  order.noted = { ...order.queue };
}

export function takeLevels(state: ModelState, tick: LevelTick | PrintTick | LevelsTick): void {
  if (state.options.fillModel !== 'queue' && !state.followsBooks) return;
  if (tick.kind === 'levels') return tellBook(state, tick);
  const { levels } = marketOf(state, tick.market);
  const { timesDown } = state.sources.get(tick.source)!;
  if (levels === null || levels.source !== tick.source) return;
  if (levels.timesDownThen !== timesDown) return;
  if (tick.kind === 'print') return print(state, tick);
  if (!levels.isKnown) return;
  levels.bids[tick.side].set(tick.price, tick.size);
  if (tick.change === 'cancel') shrink(state, tick);
  if (tick.change === 'add') meetAddition(state, tick);
}

/** T148: the decrease came from anywhere in the queue. */
function shrink(state: ModelState, tick: LevelTick): void {
  for (const order of queueAt(state, tick.market, tick.side)) {
    if (bidOf(order).cents * 100 !== tick.price) continue;
    const place = order.queue!;
    const before = BigInt(tick.size) + BigInt(tick.contracts);
    const left = Number((BigInt(place.ahead) * BigInt(tick.contracts)) / before);
    const ahead = Math.min(place.ahead - left, tick.size);
    const taken = place.ahead - ahead;
    const { source, decrease } = tick;
    const { turn } = place;
    const of = { order: order.id, turn, contracts: taken };
    state.taken.push({ source, decrease, atMs: state.nowMs, ...of });
    place.ahead = ahead;
    noteIfFar(order);
  }
}

/** T151, T152: an addition that meets resting orders. */
function meetAddition(state: ModelState, tick: LevelTick): void {
  if (!isOpen(state, tick.market)) return;
  const ours = oppositeSide(tick.side);
  const used: Used = { by: new Map(), shared: 0 };
  for (const order of queueAt(state, tick.market, ours)) {
    const { cents } = bidOf(order);
    if (cents * 100 + tick.price < 10_000 || order.status !== 'resting') continue;
    order.queue!.ahead = 0;
    const contracts = credit(state, order, tick.contracts, used);
    const askCents = Math.ceil((10_000 - tick.price) / 100);
    // T65: displayed there, so the account cannot take it again.
    const lots = lotsOn(state, order, ours).filter((lot) => lot.priceCents === askCents);
    take(state, order, firstOf(lots, contracts));
    noteIfFar(order);
  }
}

/** T149 to T152. */
function print(state: ModelState, tick: PrintTick): void {
  if (tick.decrease > 0) {
    for (const taken of state.taken) {
      if (taken.source !== tick.source || taken.decrease !== tick.decrease) continue;
      const order = state.resting.find(({ id }) => id === taken.order);
      const isInIt = order?.queue != null && order.queue.turn === taken.turn;
      if (isInIt && state.nowMs - taken.atMs <= 1000) {
        order.queue!.ahead += taken.contracts;
      }
      taken.contracts = 0;
    }
  }
  const mayFill = isOpen(state, tick.market);
  const used: Used = { by: new Map(), shared: 0 };
  for (const order of queueAt(state, tick.market, tick.side)) {
    if (order.status !== 'resting') continue;
    const place = order.queue!;
    const price = bidOf(order).cents * 100;
    if (price > tick.price && mayFill) {
      place.ahead = 0;
      credit(state, order, tick.contracts, used);
    }
    if (price === tick.price) {
      // T238: what earlier orders of the account took of it is gone before it comes here.
      const comes = tick.contracts - (used.by.get(order.account) ?? 0);
      const eaten = Math.min(place.ahead, comes);
      if (place.ahead !== NOBODY_KNOWS) place.ahead -= eaten;
      if (mayFill) credit(state, order, tick.contracts - eaten, used);
    }
    if (price >= tick.price) noteIfFar(order);
  }
}

/** T153. */
function tellBook(state: ModelState, tick: LevelsTick): void {
  const market = marketOf(state, tick.market);
  const { timesDown } = state.sources.get(tick.source)!;
  const { levels } = market;
  const isSame = levels?.source === tick.source && levels.timesDownThen === timesDown;
  if (tick.levels === null) {
    if (isSame) levels.isKnown = false;
    return;
  }
  const missedNothing = isSame && levels.isKnown && tick.repeats;
  const bids = { yes: new Map(tick.levels.yes), no: new Map(tick.levels.no) };
  market.levels = { source: tick.source, timesDownThen: timesDown, isKnown: true, bids };
  if (missedNothing) return;
  for (const side of ['yes', 'no'] as const) {
    const orders = queueAt(state, tick.market, side);
    for (const order of orders) {
      const shown = bids[side].get(bidOf(order).cents * 100) ?? 0;
      order.queue!.ahead = Math.min(order.queue!.ahead, shown);
      noteIfFar(order);
    }
    if (!isOpen(state, tick.market)) continue;
    for (const order of orders) {
      if (order.status !== 'resting') continue;
      const lots = lotsOn(state, order, side);
      const crossing = lots.filter(({ priceCents }) => priceCents <= bidOf(order).cents);
      const taken = firstOf(crossing, remainingOf(order));
      const contracts = taken.reduce((total, lot) => total + lot.contracts, 0);
      if (contracts === 0) continue;
      take(state, order, taken);
      order.queue!.ahead = 0;
      trade(state, order, contracts);
    }
  }
}

/** The displayed asks of a side that the account has not taken. */
function lotsOn(state: ModelState, { account, liquidity, market }: ModelOrder, side: Side) {
  if (marketOf(state, market).quote === null) return [];
  return lotsFor(state, { account, liquidity, action: 'buy' }, market, side);
}

/** What orders took of a volume: those of each account, and all those that share sizes. */
type Used = { by: Map<Uuid, number>; shared: number };

/**
 * T150, T152: what an order gets of a volume. An account gets no more than all of it, and so do all
 * that share sizes (T164).
 */
function credit(state: ModelState, order: ModelOrder, available: number, used: Used): Contracts {
  const own = used.by.get(order.account) ?? 0;
  const isShared = order.liquidity === 'market';
  const before = isShared ? Math.max(own, used.shared) : own;
  const place = order.queue!;
  const wanted = remainingOf(order) * 100 - place.part;
  const got = Math.max(0, Math.min(available - before, wanted));
  used.by.set(order.account, own + got);
  if (isShared) used.shared += got;
  const contracts = Math.floor((place.part + got) / 100);
  place.part = (place.part + got) % 100;
  // T186: also a part of a contract is noted.
  if (got > 0) order.noted = { ...place };
  if (contracts > 0) trade(state, order, contracts);
  return contracts;
}

/** T152: at its limit. T154: a part that fills is noted. */
function trade(state: ModelState, order: ModelOrder, contracts: Contracts): void {
  const priceCents = order.limitPriceCents!;
  const cents = priceCents * contracts;
  const parts = [{ contracts, priceCents }];
  const at = { market: order.market, venue: HOME_VENUE, lots: [], parts } as const;
  fill(state, order, { contracts, priceCents, cents, ...at, lots: [] }, 'maker');
  order.noted = { ...order.queue! };
  endReached(state, order);
}

/** T154. */
function noteIfFar(order: ModelOrder): void {
  if (order.queue!.ahead * 2 < order.noted!.ahead) order.noted = { ...order.queue! };
}

/** T152: the best price first, then the first placed. */
function queueAt(state: ModelState, number: MarketNumber, side: Side): ModelOrder[] {
  return state.resting
    .filter((order) => order.queue !== null && order.market === number)
    .filter((order) => bidOf(order).side === side)
    .sort((a, b) => {
      const byPrice = bidOf(b).cents - bidOf(a).cents;
      return byShard(state, a, b) || byPrice || a.priority - b.priority;
    });
}

/** T155. */
function isOpen(state: ModelState, number: MarketNumber): boolean {
  const { result, status } = marketOf(state, number);
  return result === null && status === 'open' && !hasClosed(state, number, state.nowMs);
}

/** A crash: only noted places are on disk. */
export function forgetMoves(state: ModelState): void {
  state.taken = [];
  for (const order of state.resting) if (order.queue !== null) order.queue = { ...order.noted! };
}

/** A shard that ends notes every place. */
export function noteMoves(state: ModelState): void {
  for (const order of state.resting) if (order.queue !== null) order.noted = { ...order.queue };
}
