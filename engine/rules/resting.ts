/**
 * Puts orders on their books: when they are placed, and after a load. Rules T47, T48
 * (engine/RULES.md).
 */

import { invariant } from '../base/invariant.ts';
import type { EpochMs, OrderRow } from '../base/units.ts';
import { NO_ROW } from '../base/units.ts';
import { actionOf, isRouted, sideOf } from './flags.ts';
import { ladderOf, restingPlace } from './pricing.ts';
import { type Book, type Instrument, type Market, NO_BOOKS } from './reference-data.ts';
import type { ShardState } from './state.ts';

/** The order in which orders met their books. Rule T160 (engine/RULES.md). */
export function priorityOf({ realism, orderMarks, orders }: ShardState, order: OrderRow): number {
  const arrival = realism.arrival(order) || orders.col.sequence.get(order);
  // An amend may have moved it since.
  return Math.max(arrival, orderMarks.arrival(order));
}

/** Puts an order on the ladder that its columns name. */
export function joinBook(state: ShardState, order: OrderRow): void {
  const { book, waitsForAskOf, priceLevel } = placeOf(state, order);
  state.ladders.add(ladderOf(book, waitsForAskOf), priceLevel, order);
}

/** Puts an order on its book, unless it is pending, and onto its position, if it has one. */
export function rest(state: ShardState, order: OrderRow): void {
  invariant(state.orders.isLive(order), 'an order was put on a book that is done');
  keepWaiting(state, order);
  if (state.realism.arrivesAtMs(order) === 0) joinBook(state, order);
}

/** `rest` of an order that has no latency. */
export function restAtOnce(state: ShardState, order: OrderRow): void {
  keepOfAccount(state, order);
  joinBook(state, order);
}

/** Everything of an order that waits, but its place on a book. */
export function keepWaiting(state: ShardState, order: OrderRow): void {
  addDue(state, order);
  keepOfAccount(state, order);
}

function keepOfAccount(state: ShardState, order: OrderRow): void {
  const { col } = state.orders;
  state.ordersOfAccount.add(col.account.get(order), order);
  const position = col.position.get(order);
  if (position !== NO_ROW) {
    const { resting } = state.positions.derived;
    invariant(state.positions.isLive(position), 'a resting order names a closed position');
    const before = resting.get(position);
    invariant(before === NO_ROW || before === order, 'a position has two resting orders');
    resting.set(position, order);
  }
  const expiresAtMs = col.expiresAtMs.get(order);
  if (expiresAtMs === 0) return;
  state.expiries.add({ expiresAtMs, sequence: col.sequence.get(order), order });
}

/** Queues what of an order is still to meet the book. Rule T160 (engine/RULES.md). */
export function addDue(state: ShardState, order: OrderRow): void {
  const { realism, arrivals, cancels } = state;
  const arrivesAtMs = realism.arrivesAtMs(order);
  const cancelsAtMs = realism.cancelsAtMs(order);
  if (arrivesAtMs === 0 && cancelsAtMs === 0) return;
  const sequence = state.orders.col.sequence.get(order);
  if (arrivesAtMs !== 0) arrivals.add({ expiresAtMs: arrivesAtMs, sequence, order });
  if (cancelsAtMs !== 0) cancels.add({ expiresAtMs: cancelsAtMs, sequence, order });
}

/** The pending orders of a market, the first placed first. */
export function pendingOf({ arrivals, orders }: ShardState, market: Market): OrderRow[] {
  if (arrivals.size === 0) return [];
  const { market: of, sequence } = orders.col;
  const pending = arrivals.waiting().orders.filter((order) => of.get(order) === market.number);
  return pending.sort((a, b) => sequence.get(a) - sequence.get(b));
}

/** A clock that went back makes no order wait longer than its latency. Rule T160. */
export function waitNoLonger(state: ShardState, nowMs: EpochMs): void {
  const { realism, arrivals, cancels } = state;
  arrivals.clear();
  cancels.clear();
  for (const order of realism.orders()) {
    realism.waitAtMost(order, nowMs);
    addDue(state, order);
  }
}

/** Where an order rests, by its columns. */
function placeOf(state: ShardState, order: OrderRow) {
  const { col } = state.orders;
  const flags = col.flags.get(order);
  const market = state.markets[col.market.get(order)];
  const limitPriceCents = col.limitPriceCents.get(order);
  invariant(limitPriceCents !== 0, 'a market order was put on a book');
  invariant(market !== undefined, 'an order rests in no market');
  const routed = isRouted(flags) ? state.instruments[col.instrument.get(order)]! : null;
  const book = bookOf(state, market, routed);
  const { waitsForAskOf, priceLevel } = restingPlace(
    actionOf(flags),
    sideOf(flags),
    limitPriceCents,
  );
  return { book, waitsForAskOf, priceLevel };
}

/** The book on which an order of this market rests; created when first needed. */
export function bookOf(state: ShardState, market: Market, routed: Instrument | null): Book {
  // Keyed by instrument and market: a later catalog may move the instrument, but its orders stay.
  const key = routed === null ? market.number : `${market.number}/${routed.number}`;
  const known = state.booksByKey.get(key);
  if (known !== undefined) return known;
  const number = state.freeBooks.pop() ?? state.booksByKey.size;
  const book: Book = { number, market, routed };
  state.booksByKey.set(key, book);
  reserveBooks(state, number + 1);
  watchMarkets(book);
  return book;
}

/** A ladder for each side of so many books: 1,600 bytes a book. */
export function reserveBooks({ ladders }: ShardState, count: number): void {
  ladders.ensureLadders(count * 2);
}

/** Whether an order waits on a book. */
export function isAwaited({ ladders }: ShardState, book: Book): boolean {
  return ladders.best(ladderOf(book, 'yes')) > 0 || ladders.best(ladderOf(book, 'no')) > 0;
}

/**
 * Gives back the books of markets with a result on which no order waits: other markets use their
 * ladders. Rule K59 (feeds/FORMATS.md).
 */
export function releaseBooks(state: ShardState): void {
  const routed = new Set<Book>();
  for (const [key, book] of state.booksByKey) {
    const { market } = book;
    if (market.outcome === null || isAwaited(state, book)) continue;
    state.booksByKey.delete(key);
    state.freeBooks.push(book.number);
    if (book.routed === null) market.book = null;
    else routed.add(book);
  }
  if (routed.size === 0) return;
  for (const market of state.markets) {
    if (!market.routedBooks.some((book) => routed.has(book))) continue;
    const others = market.routedBooks.filter((book) => !routed.has(book));
    market.routedBooks = others.length === 0 ? NO_BOOKS : others;
  }
}

/** Links the book to every market that its price depends on. */
export function watchMarkets(book: Book): void {
  const { market: own, routed } = book;
  if (routed === null) {
    own.book = book;
    return;
  }
  for (const market of new Set([own, ...routed.listings.map((listing) => listing.market)])) {
    if (market.routedBooks.includes(book)) continue;
    market.routedBooks = [...market.routedBooks, book];
  }
}

/** Every book whose price depends on a market. */
export function booksOf({ book, routedBooks }: Market): readonly Book[] {
  return book === null ? routedBooks : [book, ...routedBooks];
}

/**
 * Compares orders of a market as a walk of `ordersOn` over its books, one after the other, would
 * meet them.
 */
export function byFillOrder(state: ShardState, market: Market) {
  const books = booksOf(market);
  const keysOf = (order: OrderRow): number[] => {
    const sequence = priorityOf(state, order);
    // Pending orders are on no book, and come last.
    if (state.realism.arrivesAtMs(order) !== 0) return [books.length, 0, 0, sequence];
    const { book, waitsForAskOf, priceLevel } = placeOf(state, order);
    const side = waitsForAskOf === 'yes' ? 0 : 1;
    return [books.indexOf(book), side, -priceLevel, sequence];
  };
  return (a: OrderRow, b: OrderRow): number => {
    const keysOfB = keysOf(b);
    const differences = keysOf(a).map((key, at) => key - keysOfB[at]!);
    return differences.find((difference) => difference !== 0) ?? 0;
  };
}

/** Orders of a book in the order in which they fill: yes ladder first, best price level first. */
export function* ordersOn({ ladders }: ShardState, book: Book): Generator<OrderRow> {
  for (const side of ['yes', 'no'] as const) {
    const ladder = ladderOf(book, side);
    for (
      let priceLevel = ladders.best(ladder);
      priceLevel > 0;
      priceLevel = ladders.priceLevelBelow(ladder, priceLevel)
    ) {
      for (let row = ladders.first(ladder, priceLevel); row !== NO_ROW; row = ladders.after(row)) {
        yield row;
      }
    }
  }
}
