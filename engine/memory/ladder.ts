/**
 * Where resting orders wait. An order waits for the ask of one side of a market to fall to its
 * price level. A buy of a side with limit p waits for that side's ask at price level p. A sell of a
 * side with limit p waits for the other side's ask at price level 100 - p, because its bid is 100
 * minus that ask. So every order has one price level on one of the two ladders of its book. A quote
 * fills every order whose price level is at or above the ask. Rule T47 (engine/RULES.md).
 *
 * Invariants: within a price level, first placed is first; `best` is the highest price level with
 * an order. A quote that reaches no order costs one comparison per ladder. A fill costs a bounded
 * number of steps: 7 to 10 ns at 1 thousand and at 1 million orders (bench/README.md). The caller
 * chooses the order among books.
 */

import { invariant } from '../base/invariant.ts';
import { grown } from '../base/typed-arrays.ts';
import { NO_ROW } from '../base/units.ts';
import { type Prefetchable, prefetched } from './prefetch.ts';

/** Price levels 1..99. Place 0 stays empty, so that a price level is its own offset. */
const PRICE_LEVELS = 100;
const WORDS = 4;
/** Offsets within the two ends of a level. */
const FIRST = 0;
const LAST = 1;
/** Offsets within the links of an order, and the number of its links. */
const NEXT = 0;
const PREVIOUS = 1;
const LINKS = 2;

export class Ladders<Order extends number = number> {
  /** The first and the last order of a level, level by level. */
  #ends = new Int32Array(0);
  #bits = new Uint32Array(0);
  #best = new Uint8Array(0);
  /**
   * Two links of each order: the next one at its level, and the previous one. The last and the
   * first order have `~level` instead, a number below `NO_ROW`, where level = ladder * PRICE_LEVELS
   * + price level. The next link of an order on no ladder is `NO_ROW`. The links are not in the
   * orders' rows, so that a walk along a level does not read whole rows.
   */
  #links = new Int32Array(0);
  #ladders = 0;

  /** Grows to hold ladder numbers below `count`. */
  ensureLadders(count: number): void {
    if (count <= this.#ladders) return;
    const capacity = Math.max(count, this.#ladders * 2, 16);
    this.#ends = grown(this.#ends, new Int32Array(capacity * PRICE_LEVELS * 2).fill(NO_ROW));
    this.#bits = grown(this.#bits, new Uint32Array(capacity * WORDS));
    this.#best = grown(this.#best, new Uint8Array(capacity));
    this.#ladders = capacity;
  }

  /** The highest price level at which an order waits; 0 when there is none. */
  best(ladder: number): number {
    return this.#best[ladder]!;
  }

  /** The first order in time at a price level, or `NO_ROW`. */
  first(ladder: number, priceLevel: number): Order {
    return this.#ends[(ladder * PRICE_LEVELS + priceLevel) * 2 + FIRST]! as Order;
  }

  /** The next order in time at the same price level, or `NO_ROW`. */
  after(order: Order): Order {
    return orderOf(this.#links[order * LINKS + NEXT]!) as Order;
  }

  /**
   * Appends the orders of a price level, which must not be empty, in time order, and prefetches
   * their rows. Each step along a level waits for memory. So the walk starts from both ends, and
   * two steps wait at the same time. The rows of the orders found so far are read meanwhile.
   */
  collect(ladder: number, priceLevel: number, orders: Order[], rows: Prefetchable<Order>): void {
    const links = this.#links;
    const ends = (ladder * PRICE_LEVELS + priceLevel) * 2;
    const later: Order[] = [];
    let front = this.#ends[ends + FIRST]! as Order;
    let back = this.#ends[ends + LAST]! as Order;
    invariant(front >= 0 && back >= 0, 'collected a price level without orders');
    let read = 0;
    for (;;) {
      orders.push(front);
      read ^= rows.prefetch(front);
      if (front === back) break;
      later.push(back);
      read ^= rows.prefetch(back);
      const next = links[front * LINKS + NEXT]!;
      if (next === back) break;
      front = next as Order;
      back = links[back * LINKS + PREVIOUS]! as Order;
    }
    prefetched(read);
    for (let at = later.length - 1; at >= 0; at--) orders.push(later[at]!);
  }

  isWaiting(order: Order): boolean {
    const at = order * LINKS + NEXT;
    return at >= 0 && at < this.#links.length && this.#links[at] !== NO_ROW;
  }

  /** The highest price level below `priceLevel` at which an order waits; 0 when there is none. */
  priceLevelBelow(ladder: number, priceLevel: number): number {
    const base = ladder * WORDS;
    let word = priceLevel >>> 5;
    let bits = this.#bits[base + word]! & ((1 << (priceLevel & 31)) - 1);
    while (bits === 0) {
      if (word === 0) return 0;
      bits = this.#bits[base + --word]!;
    }
    return (word << 5) + 31 - Math.clz32(bits);
  }

  /** Puts an order last in time at a price level. */
  add(ladder: number, priceLevel: number, order: Order): void {
    const at = order * LINKS;
    if (at >= this.#links.length) this.#growOrders(order + 1);
    const links = this.#links;
    invariant(ladder >= 0 && ladder < this.#ladders, 'a ladder does not exist');
    invariant(priceLevel >= 1 && priceLevel < PRICE_LEVELS, 'a price level is not 1 to 99');
    invariant(order >= 0, 'an order on a ladder has no row');
    invariant(links[at + NEXT] === NO_ROW, 'an order is on a ladder twice');
    const level = ladder * PRICE_LEVELS + priceLevel;
    const last = this.#ends[level * 2 + LAST]!;
    links[at + NEXT] = ~level;
    links[at + PREVIOUS] = last === NO_ROW ? ~level : last;
    this.#ends[level * 2 + LAST] = order;
    if (last !== NO_ROW) {
      links[last * LINKS + NEXT] = order;
      return;
    }
    this.#ends[level * 2 + FIRST] = order;
    this.#bits[ladder * WORDS + (priceLevel >>> 5)]! |= 1 << (priceLevel & 31);
    if (priceLevel > this.#best[ladder]!) this.#best[ladder] = priceLevel;
  }

  /** Removes an order from its ladder. */
  remove(order: Order): void {
    const links = this.#links;
    const at = order * LINKS;
    const next = links[at + NEXT]!;
    const previous = links[at + PREVIOUS]!;
    invariant(this.isWaiting(order), 'removed an order that is on no ladder');
    links[at + NEXT] = NO_ROW;
    if (previous < 0) this.#ends[~previous * 2 + FIRST] = orderOf(next);
    else links[previous * LINKS + NEXT] = next;
    if (next >= 0) {
      links[next * LINKS + PREVIOUS] = previous;
      return;
    }
    this.#ends[~next * 2 + LAST] = orderOf(previous);
    if (previous < 0) this.#emptied(~next);
  }

  #emptied(level: number): void {
    const ladder = (level / PRICE_LEVELS) | 0;
    const priceLevel = level - ladder * PRICE_LEVELS;
    this.#bits[ladder * WORDS + (priceLevel >>> 5)]! &= ~(1 << (priceLevel & 31));
    if (this.#best[ladder] === priceLevel)
      this.#best[ladder] = this.priceLevelBelow(ladder, priceLevel);
  }

  #growOrders(count: number): void {
    const capacity = Math.max(count, (this.#links.length / LINKS) * 2, 128);
    const links = new Int32Array(capacity * LINKS);
    links.fill(NO_ROW, this.#links.length);
    this.#links = grown(this.#links, links);
  }
}

/** The order that a link leads to, or `NO_ROW` at the end of a level. */
function orderOf(link: number): number {
  return link < 0 ? NO_ROW : link;
}
