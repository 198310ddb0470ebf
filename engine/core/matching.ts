/**
 * Resting orders against live prices: best rank first, first placed first within a rank.
 * CONTRACT.md section 5, Limit order.
 */
import { takeLevels } from './depth.ts';
import { type Event, fillEvent } from './events.ts';
import { emit } from './evolve.ts';
import { tradeOf } from './fill-model.ts';
import { remainingOf } from './fills.ts';
import { askOf, type BookPrice, ladderOf, priceBook, tradePrice } from './pricing.ts';
import { ordersAtOrAbove } from './resting.ts';
import { type Book, FLAG, type Market, type ShardState } from './state.ts';
import type { EpochMs, Side } from './units.ts';

/** Fills every resting order that the prices of these markets now reach, as far as it goes. */
export function fillMarkets(
  state: ShardState,
  markets: readonly Market[],
  atMs: EpochMs,
  journal: Event[],
): void {
  if (state.fillModel.sharesSizes) return fillInOrder(state, markets, atMs, journal);
  // No fill leaves less for another, so books need not wait for each other.
  for (const market of markets) {
    for (const number of market.books) {
      for (const reached of reachedOn(state, state.books[number]!, atMs)) {
        fillResting(state, reached, atMs, journal);
      }
    }
  }
}

/** An order whose rank a side's ask has reached. */
type Reached = { book: Book; price: BookPrice; side: Side; order: number };

/**
 * Across the books of a market, since their orders want the same sizes: what an account gets first
 * must not hang on which books this shard has, or made first.
 */
function fillInOrder(
  state: ShardState,
  markets: readonly Market[],
  atMs: EpochMs,
  journal: Event[],
): void {
  const books = new Set(markets.flatMap((market) => market.books));
  const reached = [...books].flatMap((number) => [...reachedOn(state, state.books[number]!, atMs)]);
  if (books.size > 1) reached.sort((a, b) => byPriceAndTime(state, a, b));
  for (const one of reached) fillResting(state, one, atMs, journal);
}

/** One home market after the other; in each the yes ask's orders first. */
function byPriceAndTime({ orders }: ShardState, a: Reached, b: Reached): number {
  if (a.book.market !== b.book.market) return a.book.market.number - b.book.market.number;
  if (a.side !== b.side) return a.side === 'yes' ? -1 : 1;
  const byRank = rankOf(orders, b.order) - rankOf(orders, a.order);
  return byRank || orders.col.sequence.get(a.order) - orders.col.sequence.get(b.order);
}

/** The highest ask that a resting order takes. */
function rankOf({ col }: ShardState['orders'], order: number): number {
  return tradePrice(
    col.flags.get(order) & FLAG.sell ? 'sell' : 'buy',
    col.limitPriceCents.get(order),
  );
}

/** Read before anything fills: a fill may take its order away. */
function reachedOn(state: ShardState, book: Book, atMs: EpochMs): readonly Reached[] {
  const { ladders } = state;
  const bestYes = ladders.best(ladderOf(book, 'yes'));
  const bestNo = ladders.best(ladderOf(book, 'no'));
  if (bestYes === 0 && bestNo === 0) return NONE;
  const price = priceBook(state, book, atMs);
  const reached: Reached[] = [];
  for (const side of ['yes', 'no'] as const) {
    const ask = askOf(price, side);
    if (ask === null) continue;
    for (const order of ordersAtOrAbove(state, ladderOf(book, side), ask.priceCents)) {
      reached.push({ book, price, side, order });
    }
  }
  return reached;
}

const NONE: readonly Reached[] = [];

/** As much of a resting order as the fill model gives it. */
function fillResting(
  state: ShardState,
  { book, price, side, order }: Reached,
  atMs: EpochMs,
  journal: Event[],
): void {
  const { col } = state.orders;
  const contracts = remainingOf(state, order);
  const want = {
    account: col.account.get(order),
    side,
    upToCents: rankOf(state.orders, order),
    contracts,
  };
  const fill = state.fillModel.fill(state, book, price, want, atMs);
  if (fill === null) return;
  if (fill.taken !== null) takeLevels(fill.taken);
  const trade = tradeOf(col.flags.get(order) & FLAG.sell ? 'sell' : 'buy', fill);
  emit(state, journal, fillEvent(atMs, order, contracts, trade));
}
