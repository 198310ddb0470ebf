/**
 * The books of a connection whose frames change them. Both sides are kept as bids: an ask of yes is
 * a bid of no at 1 minus its price. Rules B14, B16, W12, W24, W25 (feeds/FORMATS.md).
 */

import type { ContractsE2, PriceE4, Side } from '../../../engine/base/units.ts';
import type { Depth } from '../../../engine/rules/messages.ts';
import { BidLadder } from '../../reading/bid-ladder.ts';
import { bookTick } from '../../reading/book.ts';
import type { BookLevels, BookTick, Level } from '../../reading/venue.ts';

/** Far above any real catalog. The bound keeps a venue's frames from filling the memory. */
const BOOKS_MAX = 100_000;
/**
 * Over all books: 200 levels in each of 10,000 markets. A book takes 2 KB, and more where its prices
 * are finer than a cent.
 */
const LEVELS_MAX = 2_000_000;

class Book implements BookLevels {
  readonly yes = new BidLadder('bids');
  readonly no = new BidLadder('asks');
  #isNew = true;

  get yesBids(): Level[] {
    return this.yes.levels();
  }

  get yesAsks(): Level[] {
    return this.no.levels().map(asAsk);
  }

  get shown(): Depth {
    return { yesBids: this.yes.shown(), yesAsks: this.no.shown() };
  }

  takeChange(): Depth | null {
    const yesBids = this.yes.takeChanges();
    const yesAsks = this.no.takeChanges();
    const isNew = this.#isNew;
    this.#isNew = false;
    return isNew ? null : { yesBids, yesAsks };
  }
}

export class KeptBooks {
  readonly #depth: boolean;
  readonly #books = new Map<string, Book>();
  /** Over all books. */
  #levels = 0;

  /** `depth`: ticks carry the levels too. */
  constructor(depth: boolean) {
    this.#depth = depth;
  }

  get size(): number {
    return this.#books.size;
  }

  has(market: string): boolean {
    return this.#books.has(market);
  }

  /** A whole book in place of the one before. Null: kept; a text tells why it is not. */
  replace(market: string, yesBids: readonly Level[], noBids: readonly Level[]): string | null {
    this.forget(market);
    if (this.#books.size >= BOOKS_MAX) return 'too many markets';
    if (this.#levels + yesBids.length + noBids.length > LEVELS_MAX) return 'too many levels';
    const book = new Book();
    for (const { price, size } of yesBids) book.yes.add(price, size);
    for (const { price, size } of noBids) book.no.add(price, size);
    this.#books.set(market, book);
    this.#levels += levelsOf(book);
    return null;
  }

  /**
   * Changes the size of an existing book's bid by `delta`. False: that took it below zero, or above
   * the most that a venue can show; the level is gone.
   */
  add(market: string, side: Side, price: PriceE4, delta: ContractsE2): boolean {
    const ladder = this.#books.get(market)![side];
    const before = ladder.length;
    const kept = ladder.add(price, delta);
    this.#levels += ladder.length - before;
    return kept;
  }

  /** Of a book that is there. */
  sizeAt(market: string, side: Side, price: PriceE4): ContractsE2 {
    return this.#books.get(market)![side].sizeAt(price);
  }

  /** Sets the size of a bid of a book that is there; 0 takes it away. */
  set(market: string, side: Side, price: PriceE4, size: ContractsE2): void {
    this.add(market, side, price, size - this.sizeAt(market, side, price));
  }

  get isOverfull(): boolean {
    return this.#levels > LEVELS_MAX;
  }

  /** The top of an existing book. */
  tickOf(market: string): BookTick {
    const book = this.#books.get(market)!;
    const best = book.no.best();
    const tick = bookTick(market, book.yes.best(), best === null ? null : asAsk(best));
    if (this.#depth) tick.depth = book;
    return tick;
  }

  /** The best prices that frames state beside an existing book. Rule B14. */
  agrees(market: string, stated: BestPrices): boolean {
    const { yes, no } = this.#books.get(market)!;
    const ask = no.best();
    return (
      isSame(stated.bid, yes.best()?.price ?? null) &&
      isSame(stated.ask, ask === null ? null : 10_000 - ask.price)
    );
  }

  /** Removes the levels of an existing book that are not on the venue's grid of yes prices. */
  keepGrid(market: string, isOnGrid: (yesPrice: PriceE4) => boolean): void {
    const { yes, no } = this.#books.get(market)!;
    for (const { price } of yes.levels()) {
      if (!isOnGrid(price)) this.set(market, 'yes', price, 0);
    }
    for (const { price } of no.levels()) {
      if (!isOnGrid(10_000 - price)) this.set(market, 'no', price, 0);
    }
  }

  forget(market: string): void {
    const book = this.#books.get(market);
    if (book === undefined) return;
    this.#levels -= levelsOf(book);
    this.#books.delete(market);
  }

  clear(): void {
    this.#books.clear();
    this.#levels = 0;
  }
}

/** Null: an empty side; undefined: it is not stated. */
export type BestPrices = { bid: PriceE4 | null | undefined; ask: PriceE4 | null | undefined };

function isSame(stated: PriceE4 | null | undefined, kept: PriceE4 | null): boolean {
  return stated === undefined || stated === kept;
}

/** A bid of no as the equal ask of yes, and the other way round. */
export function asAsk({ price, size }: Level): Level {
  return { price: 10_000 - price, size };
}

function levelsOf({ yes, no }: Book): number {
  return yes.length + no.length;
}
