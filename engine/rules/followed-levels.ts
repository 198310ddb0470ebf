/**
 * Books that are followed level by level, in the venue's precision. Both sides are bids: an ask of
 * yes is a bid of no at 1 minus its price. Rules T145, T146 (engine/RULES.md).
 */

import { grown } from '../base/typed-arrays.ts';
import {
  BIDS,
  bidNumber,
  type ContractsE2,
  type EpochMs,
  type MarketNumber,
  type OrderRow,
  PAYOUT_CENTS,
  type PriceE4,
  type Side,
  type SourceNumber,
} from '../base/units.ts';
import type { ExactLevel, LevelsTick, LevelTick, WholeLevels } from './messages.ts';

const FINER = 100;

/** The words of a market: one more than its page (0: its levels were never told), who told them. */
const MARKET_WORDS = 4;
const PAGE = 0;
const SOURCE = 1;
const EPOCH = 2;
/** 1: all levels are known. */
const KNOWN = 3;

/**
 * The followed books by market, in memory only. A change of a level reads the market's words and the
 * level's size. So these lie in arrays, and not in an object for each book.
 */
export class FollowedLevels {
  #markets = new Int32Array(0);
  /** By page: sizes by whole cents, yes before no. */
  #sizes = new Float64Array(0);
  readonly #books: (ExactBook | undefined)[] = [];
  #pages = 0;
  readonly #freePages: number[] = [];
  readonly #taken = new Map<SourceNumber, TakenPlaces>();

  /** What decreases of a connection took. */
  takenBy(source: SourceNumber): TakenPlaces {
    const known = this.#taken.get(source);
    if (known !== undefined) return known;
    const taken = new TakenPlaces();
    this.#taken.set(source, taken);
    return taken;
  }

  /** The connection is lost. */
  forget(source: SourceNumber, atMs: EpochMs): void {
    this.#taken.delete(source);
    for (const book of this.#books) if (book?.source === source) book.lostAtMs ??= atMs;
  }

  /** The market is past. */
  drop(market: MarketNumber): void {
    if (this.#books[market] === undefined) return;
    const at = market * MARKET_WORDS;
    this.#books[market] = undefined;
    this.#freePages.push(this.#markets[at + PAGE]!);
    this.#markets[at + PAGE] = 0;
  }

  /** The book of a market whose levels were ever told; undefined: they never were. */
  of(market: MarketNumber): ExactBook | undefined {
    return this.#books[market];
  }

  /**
   * Whether a change or a print belongs to the book. False: another connection has told the book,
   * or this one was lost since then.
   */
  isFollowed({ market, source }: OfMarket, epoch: number): boolean {
    const at = market * MARKET_WORDS;
    const words = this.#markets;
    if (at >= words.length || words[at + PAGE] === 0) return false;
    return words[at + SOURCE] === source && words[at + EPOCH] === epoch;
  }

  /** Shows the change of a level. @returns whether it belongs to the book, and that is known */
  show(tick: LevelTick, epoch: number): boolean {
    const { market, side, price, size } = tick;
    if (!this.isFollowed(tick, epoch) || !this.isKnown(market)) return false;
    const level = bidNumber(side, price / FINER);
    if (price % FINER === 0) this.#sizes[this.#firstOf(market) + level] = size;
    else this.#books[market]!.setFiner(side, price, size);
    return true;
  }

  /** @returns whether the book was known without a gap until now */
  replace(tick: LevelsTick, epoch: number): boolean {
    const { market, source, levels } = tick;
    const isFollowed = this.isFollowed(tick, epoch);
    const wasKnown = isFollowed && this.isKnown(market);
    if (levels === null) {
      if (isFollowed) {
        this.#markets[market * MARKET_WORDS + KNOWN] = 0;
        this.#books[market]!.lostAtMs ??= tick.atMs;
      }
      return wasKnown;
    }
    const book = this.#books[market] ?? this.#newBook(market);
    const at = market * MARKET_WORDS;
    this.#markets[at + SOURCE] = source;
    this.#markets[at + EPOCH] = epoch;
    this.#markets[at + KNOWN] = 1;
    const first = this.#firstOf(market);
    this.#sizes.fill(0, first, first + BIDS);
    book.told(tick.atMs);
    for (const side of ['yes', 'no'] as const) {
      for (const [price, size] of levels[side]) {
        if (price % FINER === 0) this.#sizes[first + bidNumber(side, price / FINER)] = size;
        else book.setFiner(side, price, size);
      }
    }
    return wasKnown;
  }

  /** Of a book: whether nothing was missed, so that its levels are right. */
  isKnown(market: MarketNumber): boolean {
    return this.#markets[market * MARKET_WORDS + KNOWN] === 1;
  }

  /** Of a book: the last connection that told all its levels. */
  sourceOf(market: MarketNumber): SourceNumber {
    return this.#markets[market * MARKET_WORDS + SOURCE]!;
  }

  /** Of a book: the size at a whole cent. */
  sizeAt(market: MarketNumber, side: Side, cents: number): ContractsE2 {
    return this.#sizes[this.#firstOf(market) + bidNumber(side, cents)]!;
  }

  #firstOf(market: MarketNumber): number {
    return (this.#markets[market * MARKET_WORDS + PAGE]! - 1) * BIDS;
  }

  #newBook(market: MarketNumber): ExactBook {
    const at = market * MARKET_WORDS;
    if (at >= this.#markets.length) {
      const length = Math.max(at + MARKET_WORDS, this.#markets.length * 2, 1024);
      this.#markets = grown(this.#markets, new Int32Array(length));
    }
    const page = this.#freePages.pop() ?? ++this.#pages;
    this.#markets[at + PAGE] = page;
    if (page * BIDS > this.#sizes.length) {
      const length = Math.max(page * BIDS, this.#sizes.length * 2);
      this.#sizes = grown(this.#sizes, new Float64Array(length));
    }
    const book = new ExactBook(this, market);
    this.#books[market] = book;
    return book;
  }
}

type OfMarket = Pick<LevelTick, 'market' | 'source'>;

/** The levels of one book. */
export class ExactBook {
  readonly #levels: FollowedLevels;
  readonly #market: MarketNumber;
  /** When all its levels were told last. */
  atMs: EpochMs = 0;
  /** Since when nobody knows its levels; null: they are known. Rule T188 (engine/RULES.md). */
  lostAtMs: EpochMs | null = null;
  /** Of prices between cents; null: there is none. */
  #finer: Record<Side, Map<PriceE4, ContractsE2>> | null = null;

  constructor(levels: FollowedLevels, market: MarketNumber) {
    this.#levels = levels;
    this.#market = market;
  }

  /** The last connection that told all its levels. */
  get source(): SourceNumber {
    return this.#levels.sourceOf(this.#market);
  }

  /** False: something was missed, and the levels may be wrong. */
  get isKnown(): boolean {
    return this.#levels.isKnown(this.#market);
  }

  /** All levels come now. */
  told(atMs: EpochMs): void {
    this.atMs = atMs;
    this.lostAtMs = null;
    this.#finer = null;
  }

  /** Of a price between cents. */
  setFiner(side: Side, price: PriceE4, size: ContractsE2): void {
    if (size === 0) {
      this.#finer?.[side].delete(price);
      return;
    }
    this.#finer ??= { yes: new Map(), no: new Map() };
    this.#finer[side].set(price, size);
  }

  /** The size at a whole cent. */
  sizeAt(side: Side, cents: number): ContractsE2 {
    return this.#levels.sizeAt(this.#market, side, cents);
  }

  levels(): WholeLevels {
    return { yes: this.#side('yes'), no: this.#side('no') };
  }

  /** By rising price. */
  #side(side: Side): ExactLevel[] {
    const levels: ExactLevel[] = [];
    for (let cents = 1; cents < PAYOUT_CENTS; cents++) {
      const size = this.sizeAt(side, cents);
      if (size > 0) levels.push([cents * FINER, size]);
    }
    for (const [price, size] of this.#finer?.[side] ?? []) levels.push([price, size]);
    return levels.sort(([a], [b]) => a - b);
  }
}

const WORDS = 5;
const DECREASE = 0;
const AT_MS = 1;
const ORDER = 2;
const TURN = 3;
const TAKEN = 4;
/** A print comes within this time after its decrease. Rule W96 (feeds/FORMATS.md). */
const REMEMBERED_MS = 1000;

/**
 * What the last decreases of one connection took from what is ahead of orders, a row for each, by
 * rising number of the decrease. A print gives it back. Rule T149 (engine/RULES.md).
 */
export class TakenPlaces {
  #words = new Float64Array(64 * WORDS);
  /** Rows in use lie between them. */
  #first = 0;
  #end = 0;

  note(decrease: number, atMs: EpochMs, order: OrderRow, turn: number, takenE2: ContractsE2): void {
    if (this.#end * WORDS === this.#words.length) this.#makeRoom(atMs - REMEMBERED_MS);
    const at = this.#end++ * WORDS;
    const words = this.#words;
    words[at + DECREASE] = decrease;
    words[at + AT_MS] = atMs;
    words[at + ORDER] = order;
    words[at + TURN] = turn;
    words[at + TAKEN] = takenE2;
  }

  /** Gives what a decrease took to `give`, once. */
  giveBack(
    decrease: number,
    atMs: EpochMs,
    give: (order: OrderRow, turn: number, takenE2: ContractsE2) => void,
  ): void {
    const words = this.#words;
    let low = this.#first;
    let high = this.#end;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (words[middle * WORDS + DECREASE]! < decrease) low = middle + 1;
      else high = middle;
    }
    for (; low < this.#end && words[low * WORDS + DECREASE] === decrease; low++) {
      const at = low * WORDS;
      if (atMs - words[at + AT_MS]! <= REMEMBERED_MS) {
        give(words[at + ORDER]! as OrderRow, words[at + TURN]!, words[at + TAKEN]!);
      }
      words[at + TAKEN] = 0;
    }
  }

  /** Moves the rows from a time on to the front, into twice the room where they fill most of it. */
  #makeRoom(fromMs: EpochMs): void {
    while (this.#first < this.#end && this.#words[this.#first * WORDS + AT_MS]! < fromMs) {
      this.#first++;
    }
    const rows = this.#words.subarray(this.#first * WORDS, this.#end * WORDS);
    if (rows.length * 2 > this.#words.length) {
      const words = new Float64Array(this.#words.length * 2);
      words.set(rows);
      this.#words = words;
    } else this.#words.copyWithin(0, this.#first * WORDS, this.#end * WORDS);
    this.#end -= this.#first;
    this.#first = 0;
  }
}
