/**
 * Matches resting orders with live prices: best price level first, then first placed first. Rules
 * T46 to T49, T66 (engine/RULES.md).
 */

import { invariant } from '../base/invariant.ts';
import { type EpochMs, NO_PRICE, type OrderRow, type Side } from '../base/units.ts';
import { prefetched } from '../memory/prefetch.ts';
import { fillEvent } from './events.ts';
import { emit } from './evolve.ts';
import type { FactSink } from './fact-sink.ts';
import { levelsOf, takerOf, tradeOf } from './fill-model.ts';
import { consumedBy, makerNote, noteTaken, takeFound } from './fill-notes.ts';
import { actionOf, fillModelOf } from './flags.ts';
import { partNotes, waitingNetEvents } from './net-orders.ts';
import { waitingFee } from './order-fees.ts';
import { endReached } from './order-groups.ts';
import { remainingOf } from './partial-fills.ts';
import { type BookPrice, ladderOf, priceBook, tradePrice } from './pricing.ts';
import type { Book, Market } from './reference-data.ts';
import { booksOf, isAwaited, priorityOf } from './resting.ts';
import { settleAccount } from './settle-markets.ts';
import type { ShardState } from './state.ts';

/**
 * Fills every resting order that the prices of these markets now reach, as much as the fill model
 * allows.
 */
export function fillMarkets(
  state: ShardState,
  markets: readonly Market[],
  atMs: EpochMs,
  facts: FactSink,
): void {
  if (state.fillModel.sharesSizes || haveRouted(markets)) {
    return fillInOrder(state, markets, atMs, facts);
  }
  // No fill reduces another, so each book fills independently. Ids of trades have their order (T7).
  for (const { book } of inNumberOrder(markets)) {
    if (book !== null) fillBook(state, book, atMs, facts);
  }
}

/** Asked for each quote, so without a closure. */
function haveRouted(markets: readonly Market[]): boolean {
  for (const { routedBooks } of markets) if (routedBooks.length > 0) return true;
  return false;
}

function inNumberOrder(markets: readonly Market[]): readonly Market[] {
  return markets.length < 2 ? markets : markets.toSorted((a, b) => a.number - b.number);
}

function fillBook(state: ShardState, book: Book, atMs: EpochMs, facts: FactSink): void {
  for (const reached of reachedOn(state, book, atMs)) {
    prefetchOwners(state, reached.orders);
    for (const order of reached.orders) fillResting(state, reached, order, atMs, facts);
  }
}

/** Prefetches the account data that the fills of these orders need: it is scattered over memory. */
function prefetchOwners(state: ShardState, orders: readonly OrderRow[]): void {
  const { account } = state.orders.col;
  const { balanceCents, adjustedCents } = state.accounts.col;
  let read = 0;
  for (const order of orders) {
    const owner = account.get(order);
    // The first and the last word that a fill reads of a row: they may be in different cache lines.
    read += balanceCents.get(owner) + adjustedCents.get(owner);
    read += state.ordersOfAccount.count(owner) + state.positionsOfAccount.prefetch(owner);
  }
  prefetched(read);
}

/** One side of a book whose ask has reached orders, with these orders, best price level first. */
type Reached = { book: Book; price: BookPrice; side: Side; orders: readonly OrderRow[] };

/**
 * Fills across the books of a market. The fills and the ids of an account's trades must not depend
 * on which books this shard has, or on the order in which it made them. Rules T48, T66.
 */
function fillInOrder(
  state: ShardState,
  markets: readonly Market[],
  atMs: EpochMs,
  facts: FactSink,
): void {
  // Most quotes are of markets that no order waits for.
  if (!markets.some((market) => isMarketAwaited(state, market))) return;
  const books = new Set(markets.flatMap(booksOf));
  const all = [...books].flatMap((book) => reachedOn(state, book, atMs));
  const orders = all.flatMap((reached) => reached.orders.map((order) => ({ reached, order })));
  if (books.size > 1) orders.sort((a, b) => byPriceAndTime(state, a, b));
  for (const { reached, order } of orders) fillResting(state, reached, order, atMs, facts);
}

/** Whether an order waits for the market's price. */
function isMarketAwaited(state: ShardState, { book, routedBooks }: Market): boolean {
  if (book !== null && isAwaited(state, book)) return true;
  for (const routed of routedBooks) if (isAwaited(state, routed)) return true;
  return false;
}

type ReachedOrder = { reached: Reached; order: OrderRow };

/**
 * One home market after another; in each, the plain book first if no fill takes from another, and
 * then orders that wait for the yes ask.
 */
function byPriceAndTime(state: ShardState, a: ReachedOrder, b: ReachedOrder): number {
  const { orders } = state;
  const { book, side } = a.reached;
  const { market, routed } = b.reached.book;
  if (book.market !== market) return book.market.number - market.number;
  const isPlain = book.routed === null;
  if (!state.fillModel.sharesSizes && isPlain !== (routed === null)) return isPlain ? -1 : 1;
  if (side !== b.reached.side) return side === 'yes' ? -1 : 1;
  const byPriceLevel = priceLevelOf(orders, b.order) - priceLevelOf(orders, a.order);
  return byPriceLevel || priorityOf(state, a.order) - priorityOf(state, b.order);
}

/** The highest ask that a resting order takes. */
function priceLevelOf({ col }: ShardState['orders'], order: OrderRow): number {
  return tradePrice(actionOf(col.flags.get(order)), col.limitPriceCents.get(order));
}

/** Read before the first fill, because a fill may remove its order. */
function reachedOn(state: ShardState, book: Book, atMs: EpochMs): readonly Reached[] {
  if (!isAwaited(state, book)) return NONE;
  const { ladders } = state;
  const yesLadder = ladderOf(book, 'yes');
  const noLadder = ladderOf(book, 'no');
  const price = priceBook(state, book, atMs);
  const { yesAskCents, noAskCents } = price;
  const isYes = yesAskCents !== NO_PRICE && ladders.best(yesLadder) >= yesAskCents;
  const isNo = noAskCents !== NO_PRICE && ladders.best(noLadder) >= noAskCents;
  if (!isYes && !isNo) return NONE;
  const reached: Reached[] = [];
  if (isYes) {
    reached.push({
      book,
      price,
      side: 'yes',
      orders: ordersAtOrAbove(state, yesLadder, yesAskCents),
    });
  }
  if (isNo) {
    reached.push({ book, price, side: 'no', orders: ordersAtOrAbove(state, noLadder, noAskCents) });
  }
  return reached;
}

const NONE: readonly Reached[] = [];

/**
 * The orders of a ladder whose price level is at least `ask`, prefetched: best price level first,
 * then first placed first.
 */
function ordersAtOrAbove({ ladders, orders }: ShardState, ladder: number, ask: number): OrderRow[] {
  const reached: OrderRow[] = [];
  for (
    let priceLevel = ladders.best(ladder);
    priceLevel >= ask;
    priceLevel = ladders.priceLevelBelow(ladder, priceLevel)
  ) {
    ladders.collect(ladder, priceLevel, reached, orders);
  }
  return reached;
}

/** Fills as much of a resting order as the fill model allows. */
function fillResting(
  state: ShardState,
  { book, price, side }: Reached,
  order: OrderRow,
  atMs: EpochMs,
  facts: FactSink,
): void {
  const { col } = state.orders;
  const model = state.fillModel.modelOfPlaced(fillModelOf(col.flags.get(order)));
  // A fill before it may have ended its group. Rule T220 (engine/RULES.md).
  if (!state.orders.isLive(order)) return;
  // The venue's prints fill it, and no quote does. Rule T151 (engine/RULES.md).
  if (model === 'queue' && state.fillModel.queues !== null) return;
  settleAccount(state, col.account.get(order), facts);
  const contracts = remainingOf(state, order);
  const want = {
    taker: takerOf(col.account.get(order), state.realism.liquidity(order)),
    side,
    upToCents: priceLevelOf(state.orders, order),
    contracts,
    model,
  };
  const { found: fill, taken } = takeFound(
    state,
    atMs,
    () => state.fillModel.orderArrives(state, book, price, want, atMs),
    consumedBy,
  );
  if (fill === null) return;
  invariant(fill.contracts <= contracts, 'a fill model fills more than is left of an order');
  invariant(fill.askCents <= want.upToCents, 'a fill model fills beyond the limit of an order');
  const { market } = fill;
  if (state.nets.has(order)) {
    const filled = { market, levels: levelsOf(fill), role: 'maker', atMs } as const;
    const events = waitingNetEvents(state, order, filled, partNotes(fill, 'maker', atMs));
    for (const event of events) emit(state, facts, event);
    noteTaken(state, facts, atMs, taken);
    endReached(state, atMs, facts);
    return;
  }
  const action = actionOf(col.flags.get(order));
  const traded = tradeOf(action, fill);
  const fee = waitingFee(
    state,
    order,
    { market, levels: levelsOf(fill), role: 'maker', traded },
    atMs,
  );
  const note = makerNote(fill, action, atMs);
  emit(state, facts, fillEvent(atMs, order, contracts, traded, fee));
  if (note !== null) emit(state, facts, note);
  noteTaken(state, facts, atMs, taken);
  endReached(state, atMs, facts);
}
