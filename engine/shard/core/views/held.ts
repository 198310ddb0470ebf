/**
 * Which markets have open positions or orders, by the kept counts of each. No trade and no order is
 * read. Rule S17 (engine/RULES.md).
 */
import { ladderOf } from '../../../rules/pricing.ts';
import type { Book } from '../../../rules/reference-data.ts';
import { booksOf } from '../../../rules/resting.ts';
import type { ShardState } from '../../../rules/state.ts';

/** The answer to `HeldQuery`. */
export function heldBits(state: ShardState): string {
  const bits = Buffer.alloc(Math.ceil(state.markets.length / 8));
  const hasOrders = ({ ladders }: ShardState, book: Book) =>
    ladders.best(ladderOf(book, 'yes')) > 0 || ladders.best(ladderOf(book, 'no')) > 0;
  for (const [number, market] of state.markets.entries()) {
    const isHeld =
      state.positionsOfMarket.count(market.number) > 0 ||
      booksOf(market).some((book) => hasOrders(state, book));
    if (isHeld) bits[number >> 3]! |= 1 << (number & 7);
  }
  const { col } = state.orders;
  for (const order of state.arrivals.waiting().orders) {
    const number = col.market.get(order);
    bits[number >> 3]! |= 1 << (number & 7);
  }
  return bits.toString('base64');
}
