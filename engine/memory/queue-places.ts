/**
 * The places of resting orders in the queues of their prices: how much is ahead of each, and what
 * has traded of its next contract, both in hundredths of a contract. The present place moves with
 * the venue's book, many times a second. A place that was noted (T154, engine/RULES.md) is in a
 * table, which checkpoints write. Rules T152, T154 (engine/RULES.md).
 *
 * A change of a level reads the market's line, the level's word and then the places of all that wait
 * there, which lie one after another in a block, first come first. Each wait for memory costs more
 * than all else that a change does. An order that leaves is only marked in its block. Once most of a
 * block is of orders that have left, the others move together.
 */

import { invariant } from '../base/invariant.ts';
import { grown } from '../base/typed-arrays.ts';
import {
  BIDS,
  bidNumber,
  type ContractsE2,
  type MarketNumber,
  NO_ROW,
  type OrderRow,
  PAYOUT_CENTS,
  type PriceCents,
  type Side,
} from '../base/units.ts';
import { BlockAllocator } from './block-allocator.ts';
import { Table } from './table.ts';

export const QUEUE_COLUMNS = { aheadE2: 'f64', order: 'i32', partE2: 'u8' } as const;

type QueueRow = number & { readonly __unit: 'QueueRow' };
type Units = { order: OrderRow; aheadE2: ContractsE2; partE2: ContractsE2 };

/** The words of a market: one more than its page, its orders, and the best price of each side. */
const MARKET_WORDS = 4;
const PAGE = 0;
const ORDERS = 1;
const BEST_YES = 2;
const BEST_NO = 3;

/** The words of an order: its slot (0: it is in no queue), and its queue. */
const ORDER_WORDS = 2;
const SLOT = 0;
const QUEUE = 1;

/** A place in a block has two sizes and four small numbers. The first one tells of the block. */
const SLOT_SIZES = 4;
const AHEAD = 0;
/** If less than this is ahead, the place is noted again. */
const NOTE_BELOW = 1;
const SLOT_WORDS = 8;
/** `NO_ROW`: it has left. */
const ORDER = 4;
/** Tells an order from a later one in the same row. */
const TURN = 5;
const PART = 6;
/** The row of the noted place. */
const ROW = 7;
/** Of a block, in slots, the first one among them. */
const SIZE = 0;
const USED = 1;
const LIVE = 2;
/** Less ahead than any place has. */
const NOT_QUEUED = -1;

/** Where a block begins; 0: there is none. */
type Block = number;

export class QueuePlaces {
  readonly table: Table<typeof QUEUE_COLUMNS, Record<never, never>, QueueRow, Units> = new Table(
    'queue',
    QUEUE_COLUMNS,
    {},
    'order',
  );
  readonly #queueOf: (order: OrderRow) => number;
  #markets = new Int32Array(0);
  /** By page, then by price: the block of its orders. */
  #levels = new Int32Array(0);
  #pages = 0;
  /** Pages of markets in which nobody waits any more. */
  #freePages: number[] = [];
  #blocks = new BlockAllocator();
  /** The memory of all blocks, as small numbers and as sizes. */
  #words = new Int32Array(0);
  #sizes = new Float64Array(0);
  #orders = new Int32Array(0);
  #turns = 0;

  /** `queueOf`: where an order waits that joins its queue, as market × `BIDS` + the bid's number. */
  constructor(queueOf: (order: OrderRow) => number) {
    this.#queueOf = queueOf;
    this.#clear();
  }

  has(order: OrderRow): boolean {
    return this.#slotOf(order) !== 0;
  }

  /** Hundredths ahead of it now; below 0: it is in no queue. */
  aheadE2(order: OrderRow): ContractsE2 {
    const slot = this.#slotOf(order);
    return slot === 0 ? NOT_QUEUED : this.aheadAt(slot);
  }

  /** Hundredths of its next contract that have traded. */
  partE2(order: OrderRow): ContractsE2 {
    return this.#words[this.#slotOf(order) * SLOT_WORDS + PART]!;
  }

  /** Differs for each order that was ever in a queue. */
  turnOf(order: OrderRow): number {
    return this.turnAt(this.#slotOf(order));
  }

  /** Of an order that is in a queue. */
  setAheadE2(order: OrderRow, aheadE2: ContractsE2): void {
    this.setAheadAt(this.#slotOf(order), aheadE2);
  }

  setPartE2(order: OrderRow, partE2: ContractsE2): void {
    this.#words[this.#slotOf(order) * SLOT_WORDS + PART] = partE2;
  }

  /** Whether the place has more than halved since it was noted. */
  isFarFromNoted(order: OrderRow): boolean {
    return this.isFarAt(this.#slotOf(order));
  }

  /** Whether the place is the noted one. */
  isNoted(order: OrderRow): boolean {
    const { aheadE2, partE2 } = this.noted(order);
    return aheadE2 === this.aheadE2(order) && partE2 === this.partE2(order);
  }

  /** The noted place. */
  noted(order: OrderRow): { aheadE2: ContractsE2; partE2: ContractsE2 } {
    invariant(this.has(order), 'the place of an order is read that is in no queue');
    const row = this.#rowOf(order);
    return { aheadE2: this.table.col.aheadE2.get(row), partE2: this.table.col.partE2.get(row) };
  }

  /** Notes the present place of an order; the first note puts it into its queue, as the last. */
  note(order: OrderRow, aheadE2: ContractsE2, partE2: ContractsE2): void {
    invariant(aheadE2 >= 0 && partE2 >= 0 && partE2 < 100, 'an order has no such place in a queue');
    const isNew = !this.has(order);
    const row = isNew ? this.table.claim() : this.#rowOf(order);
    const to = this.table.change(row);
    to.order.set(row, order);
    to.aheadE2.set(row, aheadE2);
    to.partE2.set(row, partE2);
    if (isNew) this.#join(row);
    else this.#show(this.#slotOf(order), row);
  }

  /** The order is done, or in no queue. */
  remove(order: OrderRow): void {
    const slot = this.#slotOf(order);
    if (slot === 0) return;
    this.table.release(this.#rowOf(order));
    const queue = this.#orders[order * ORDER_WORDS + QUEUE]!;
    this.#orders[order * ORDER_WORDS + SLOT] = 0;
    this.#words[slot * SLOT_WORDS + ORDER] = NO_ROW;
    const market = Math.floor(queue / BIDS);
    const at = this.#levelAt(market, queue - market * BIDS);
    const block = this.#levels[at]!;
    const live = --this.#words[block * SLOT_WORDS + LIVE]!;
    if (live === 0) this.#emptied(market, at, block);
    else if (live * 2 < this.endOf(block) - block) this.#moveTogether(block);
    if (--this.#markets[market * MARKET_WORDS + ORDERS]! === 0) this.#releasePage(market);
  }

  /** Whether anybody waits in a queue of the market. */
  waits(market: MarketNumber): boolean {
    return this.#pageOf(market) !== 0;
  }

  /** The highest price at which an order waits, in cents; 0: none does. */
  best(market: MarketNumber, side: Side): number {
    const at = market * MARKET_WORDS;
    if (at >= this.#markets.length) return 0;
    return this.#markets[at + (side === 'yes' ? BEST_YES : BEST_NO)]!;
  }

  /** From a price up: the best first, and of one price the first that came. */
  ordersFrom(market: MarketNumber, side: Side, leastCents: PriceCents): OrderRow[] {
    const orders: OrderRow[] = [];
    for (let cents = this.best(market, side); cents >= leastCents && cents > 0; cents--) {
      const block = this.at(market, side, cents);
      if (block === 0) continue;
      for (let slot = block + 1; slot < this.endOf(block); slot++) {
        const order = this.orderAt(slot);
        if (order !== NO_ROW) orders.push(order);
      }
    }
    return orders;
  }

  /** The block of the orders at a price: they are in the slots after it, up to its end. */
  at(market: MarketNumber, side: Side, cents: PriceCents): Block {
    const page = this.#pageOf(market);
    return page === 0 ? 0 : this.#levels[(page - 1) * BIDS + bidNumber(side, cents)]!;
  }

  endOf(block: Block): number {
    return block + this.#words[block * SLOT_WORDS + USED]!;
  }

  /** `NO_ROW`: it has left. */
  orderAt(slot: number): OrderRow {
    return this.#words[slot * SLOT_WORDS + ORDER]! as OrderRow;
  }

  turnAt(slot: number): number {
    return this.#words[slot * SLOT_WORDS + TURN]!;
  }

  aheadAt(slot: number): ContractsE2 {
    return this.#sizes[slot * SLOT_SIZES + AHEAD]!;
  }

  setAheadAt(slot: number, aheadE2: ContractsE2): void {
    this.#sizes[slot * SLOT_SIZES + AHEAD] = aheadE2;
  }

  isFarAt(slot: number): boolean {
    const at = slot * SLOT_SIZES;
    return this.#sizes[at + AHEAD]! < this.#sizes[at + NOTE_BELOW]!;
  }

  /** Every order in a queue. */
  *orders(): Generator<OrderRow> {
    for (const row of this.table.rows()) yield this.table.col.order.get(row);
  }

  /** After a load, each place is the noted one. `byTime`: who of two orders came first. */
  rebuild(byTime: (a: OrderRow, b: OrderRow) => number): void {
    this.#clear();
    const { order } = this.table.col;
    const rows = [...this.table.rows()].sort((a, b) => byTime(order.get(a), order.get(b)));
    for (const row of rows) this.#join(row);
  }

  #clear(): void {
    this.#markets.fill(0);
    this.#levels.fill(0);
    this.#pages = 0;
    this.#freePages = [];
    this.#orders.fill(0);
    this.#blocks = new BlockAllocator();
    // No block and no slot has the number 0.
    this.#blocks.take(SLOT_WORDS);
    this.#seeBlocks();
  }

  /** The blocks may have moved. */
  #seeBlocks(): void {
    const { places } = this.#blocks;
    if (this.#words === places) return;
    this.#words = places;
    this.#sizes = new Float64Array(places.buffer);
  }

  #slotOf(order: OrderRow): number {
    const at = order * ORDER_WORDS;
    return at < this.#orders.length ? this.#orders[at + SLOT]! : 0;
  }

  #rowOf(order: OrderRow): QueueRow {
    return this.#words[this.#slotOf(order) * SLOT_WORDS + ROW]! as QueueRow;
  }

  #pageOf(market: MarketNumber): number {
    const at = market * MARKET_WORDS;
    return at < this.#markets.length ? this.#markets[at + PAGE]! : 0;
  }

  /** Of a market with a page. */
  #levelAt(market: MarketNumber, level: number): number {
    return (this.#pageOf(market) - 1) * BIDS + level;
  }

  /** The order of a row is the last in its queue. */
  #join(row: QueueRow): void {
    const order = this.table.col.order.get(row);
    invariant(order !== NO_ROW, 'a place in a queue belongs to no order');
    const queue = this.#queueOf(order);
    const market = Math.floor(queue / BIDS);
    const level = queue - market * BIDS;
    const side = level < PAYOUT_CENTS ? 'yes' : 'no';
    const cents = side === 'yes' ? level : level - PAYOUT_CENTS;
    invariant(cents > 0, 'an order waits at no price');
    if (this.#pageOf(market) === 0) this.#takePage(market);
    const ofMarket = market * MARKET_WORDS;
    const best = ofMarket + (side === 'yes' ? BEST_YES : BEST_NO);
    this.#markets[ofMarket + ORDERS]!++;
    if (this.#markets[best]! < cents) this.#markets[best] = cents;
    const slot = this.#takeSlot(this.#levelAt(market, level));
    this.#setOrder(order, slot, queue);
    this.#words[slot * SLOT_WORDS + ORDER] = order;
    this.#words[slot * SLOT_WORDS + TURN] = ++this.#turns;
    this.#show(slot, row);
  }

  /** The present place is the noted one. */
  #show(slot: number, row: QueueRow): void {
    const { aheadE2, partE2 } = this.table.col;
    this.#words[slot * SLOT_WORDS + ROW] = row;
    this.#words[slot * SLOT_WORDS + PART] = partE2.get(row);
    this.#sizes[slot * SLOT_SIZES + AHEAD] = aheadE2.get(row);
    this.#sizes[slot * SLOT_SIZES + NOTE_BELOW] = aheadE2.get(row) / 2;
  }

  /** The next slot of a level, for an order. */
  #takeSlot(at: number): number {
    let block = this.#levels[at]!;
    if (block === 0) {
      block = this.#blocks.take(2 * SLOT_WORDS) / SLOT_WORDS;
      this.#seeBlocks();
      const words = block * SLOT_WORDS;
      this.#words[words + SIZE] = 2;
      this.#words[words + USED] = 1;
      this.#words[words + LIVE] = 0;
    } else if (this.#words[block * SLOT_WORDS + USED] === this.#words[block * SLOT_WORDS + SIZE]) {
      block = this.#doubled(block);
    }
    this.#levels[at] = block;
    this.#words[block * SLOT_WORDS + LIVE]!++;
    return block + this.#words[block * SLOT_WORDS + USED]!++;
  }

  #doubled(from: Block): Block {
    const size = this.#words[from * SLOT_WORDS + SIZE]!;
    const block = this.#blocks.doubled(from * SLOT_WORDS, size * SLOT_WORDS) / SLOT_WORDS;
    this.#seeBlocks();
    this.#words[block * SLOT_WORDS + SIZE] = size * 2;
    this.#moveTogether(block);
    return block;
  }

  /** The orders of a block follow each other, in the same order. */
  #moveTogether(block: Block): void {
    const words = this.#words;
    const end = this.endOf(block);
    let to = block + 1;
    for (let slot = block + 1; slot < end; slot++) {
      const order = this.orderAt(slot);
      if (order === NO_ROW) continue;
      const from = slot * SLOT_WORDS;
      if (slot !== to) words.copyWithin(to * SLOT_WORDS, from, from + SLOT_WORDS);
      this.#orders[order * ORDER_WORDS + SLOT] = to++;
    }
    words[block * SLOT_WORDS + USED] = to - block;
  }

  /** Nobody waits at a price any more. */
  #emptied(market: MarketNumber, at: number, block: Block): void {
    this.#blocks.give(block * SLOT_WORDS, this.#words[block * SLOT_WORDS + SIZE]! * SLOT_WORDS);
    this.#levels[at] = 0;
    const first = this.#levelAt(market, 0);
    const isYes = at - first < PAYOUT_CENTS;
    const ofSide = isYes ? first : first + PAYOUT_CENTS;
    const best = market * MARKET_WORDS + (isYes ? BEST_YES : BEST_NO);
    if (this.#markets[best] !== at - ofSide) return;
    let cents = at - ofSide - 1;
    while (cents > 0 && this.#levels[ofSide + cents] === 0) cents--;
    this.#markets[best] = cents;
  }

  #takePage(market: MarketNumber): void {
    const at = market * MARKET_WORDS;
    if (at >= this.#markets.length) {
      const length = Math.max(at + MARKET_WORDS, this.#markets.length * 2, 1024);
      this.#markets = grown(this.#markets, new Int32Array(length));
    }
    const page = this.#freePages.pop() ?? ++this.#pages;
    if (page * BIDS > this.#levels.length) {
      const length = Math.max(page * BIDS, this.#levels.length * 2);
      this.#levels = grown(this.#levels, new Int32Array(length));
    }
    this.#markets[at + PAGE] = page;
  }

  #releasePage(market: MarketNumber): void {
    const at = market * MARKET_WORDS;
    this.#freePages.push(this.#markets[at + PAGE]!);
    this.#markets[at + PAGE] = 0;
  }

  #setOrder(order: OrderRow, slot: number, queue: number): void {
    const at = order * ORDER_WORDS;
    if (at >= this.#orders.length) {
      const length = Math.max(at + ORDER_WORDS, this.#orders.length * 2, 256);
      this.#orders = grown(this.#orders, new Int32Array(length));
    }
    this.#orders[at + SLOT] = slot;
    this.#orders[at + QUEUE] = queue;
  }
}
