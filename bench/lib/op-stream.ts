/**
 * A stream of operations on books. A naive book generates it and gives the expected results: 60%
 * resting adds, 30% cancels of a resting order, 10% prices that reach the best price level of a
 * ladder and fill all orders waiting there.
 */
import type { Random } from './random.ts';

export const ADD = 0;
export const CANCEL = 1;
export const CROSS = 2;

export type Outcome = { fills: number; cancels: number; checksum: number };
type Expected = Outcome & { adds: number; crossings: number; resting: number };

/** One operation per index; an order is named by the index of its add. */
export type Stream = {
  markets: number;
  kinds: Uint8Array;
  /** Two ladders a market: bids (or yes) at even numbers, asks (or no) at odd ones. */
  ladderOf: Uint16Array;
  /** Ranks 1..49, so that both ladders of a market fit on one book of bids and asks. */
  priceLevels: Uint8Array;
  /** add, cancel: the row of the order, reused as the engine's tables do. */
  rows: Int32Array;
  /** cancel: the index of its order's add. */
  placedAt: Int32Array;
  rowsMax: number;
  expected: Expected;
};

const RANKS = 49;
const LEVELS = 100;

export function makeStream(random: Random, operations: number, markets: number): Stream {
  const book = new NaiveBook(operations, markets * 2);
  const kinds = new Uint8Array(operations);
  const ladderOf = new Uint16Array(operations);
  const priceLevels = new Uint8Array(operations);
  const rows = new Int32Array(operations);
  const placedAt = new Int32Array(operations);
  const { expected } = book;
  for (let at = 0; at < operations; at++) {
    const drawn = random.below(10);
    const ladder = random.below(markets * 2);
    if (drawn >= 6 && drawn < 9 && book.live > 0) {
      const order = book.orderAt(random.below(book.live));
      kinds[at] = CANCEL;
      placedAt[at] = order;
      ladderOf[at] = ladderOf[order]!;
      priceLevels[at] = priceLevels[order]!;
      rows[at] = rows[order]!;
      book.remove(order, ladderOf[order]! * LEVELS + priceLevels[order]!, rows[order]!);
      expected.cancels++;
      continue;
    }
    ladderOf[at] = ladder;
    const best = book.best(ladder);
    if (drawn === 9 && best > 0) {
      kinds[at] = CROSS;
      priceLevels[at] = best;
      expected.crossings++;
      book.fill(ladder * LEVELS + best, rows);
      continue;
    }
    kinds[at] = ADD;
    priceLevels[at] = 1 + random.below(RANKS);
    rows[at] = book.add(at, ladder * LEVELS + priceLevels[at]!);
    expected.adds++;
  }
  expected.resting = book.live;
  return { markets, kinds, ladderOf, priceLevels, rows, placedAt, rowsMax: book.rowsMax, expected };
}

/** Obviously right: a list per level in time order, and every order examined one by one. */
class NaiveBook {
  readonly expected: Expected = {
    adds: 0,
    cancels: 0,
    crossings: 0,
    fills: 0,
    checksum: 0,
    resting: 0,
  };
  rowsMax = 0;
  readonly #freeRows: number[] = [];
  readonly #levels: number[][];
  readonly #counts: Int32Array;
  readonly #isLive: Uint8Array;
  readonly #live: number[] = [];
  /** The index of an order in `#live`. */
  readonly #place: Int32Array;

  constructor(operations: number, ladders: number) {
    this.#levels = Array.from({ length: ladders * LEVELS }, () => []);
    this.#counts = new Int32Array(ladders * LEVELS);
    this.#isLive = new Uint8Array(operations);
    this.#place = new Int32Array(operations);
  }

  get live(): number {
    return this.#live.length;
  }

  orderAt(place: number): number {
    return this.#live[place]!;
  }

  best(ladder: number): number {
    let priceLevel = RANKS;
    while (priceLevel > 0 && this.#counts[ladder * LEVELS + priceLevel] === 0) priceLevel--;
    return priceLevel;
  }

  /** The row for an order: the one released last, or a new one. */
  add(order: number, level: number): number {
    this.#levels[level]!.push(order);
    this.#counts[level]!++;
    this.#isLive[order] = 1;
    this.#place[order] = this.#live.length;
    this.#live.push(order);
    return this.#freeRows.pop() ?? this.rowsMax++;
  }

  remove(order: number, level: number, row: number): void {
    this.#counts[level]!--;
    this.#isLive[order] = 0;
    this.#freeRows.push(row);
    const last = this.#live.pop()!;
    if (last === order) return;
    this.#live[this.#place[order]!] = last;
    this.#place[last] = this.#place[order]!;
  }

  fill(level: number, rows: Int32Array): void {
    const { expected } = this;
    for (const order of this.#levels[level]!) {
      if (this.#isLive[order] === 0) continue;
      this.remove(order, level, rows[order]!);
      expected.checksum = (Math.imul(expected.checksum, 31) + order) | 0;
      expected.fills++;
    }
    this.#levels[level] = [];
  }
}
