/**
 * Books that are followed level by level, in the venue's precision. Both sides are bids: an ask of
 * yes is a bid of no at 1 minus its price. Rules T145, T146 (engine/RULES.md).
 */

import {
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

/** The levels of one book. */
export class ExactBook {
  /** The last connection that told all its levels, the connection's epoch, and when. */
  source: SourceNumber;
  epoch: number;
  atMs: EpochMs;
  /** False: something was missed, and the levels may be wrong. */
  isKnown = false;
  /** Since when nobody knows its levels; null: they are known. Rule T188 (engine/RULES.md). */
  lostAtMs: EpochMs | null = null;
  /** By cents, yes before no. */
  readonly #atCents = new Float64Array(2 * PAYOUT_CENTS);
  /** Of prices between cents; null: there is none. */
  #finer: Record<Side, Map<PriceE4, ContractsE2>> | null = null;

  constructor({ source, atMs }: Pick<LevelsTick, 'source' | 'atMs'>, epoch: number) {
    this.source = source;
    this.epoch = epoch;
    this.atMs = atMs;
  }

  set(side: Side, price: PriceE4, size: ContractsE2): void {
    if (price % FINER === 0) {
      this.#atCents[price / FINER + (side === 'yes' ? 0 : PAYOUT_CENTS)] = size;
      return;
    }
    if (size === 0) {
      this.#finer?.[side].delete(price);
      return;
    }
    this.#finer ??= { yes: new Map(), no: new Map() };
    this.#finer[side].set(price, size);
  }

  /** The size at a whole cent. */
  sizeAt(side: Side, cents: number): ContractsE2 {
    return this.#atCents[side === 'yes' ? cents : PAYOUT_CENTS + cents]!;
  }

  replace(levels: WholeLevels): void {
    this.#atCents.fill(0);
    this.#finer = null;
    for (const [price, size] of levels.yes) this.set('yes', price, size);
    for (const [price, size] of levels.no) this.set('no', price, size);
    this.isKnown = true;
    this.lostAtMs = null;
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

/** The followed books by market, in memory only. */
export class FollowedLevels {
  readonly #books: (ExactBook | undefined)[] = [];
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
    if (this.#books[market] !== undefined) this.#books[market] = undefined;
  }

  /** The book of a market whose levels were ever told; undefined: they never were. */
  of(market: MarketNumber): ExactBook | undefined {
    return this.#books[market];
  }

  /**
   * The book that a change or a print belongs to; undefined: another connection has told the book,
   * or this one was lost since then.
   */
  followedBy(
    { market, source }: Pick<LevelTick, 'market' | 'source'>,
    epoch: number,
  ): ExactBook | undefined {
    const book = this.#books[market];
    return book !== undefined && book.source === source && book.epoch === epoch ? book : undefined;
  }

  /** @returns whether the book was known without a gap until now */
  replace(tick: LevelsTick, epoch: number): boolean {
    const followed = this.followedBy(tick, epoch);
    const wasKnown = followed?.isKnown === true;
    if (tick.levels === null) {
      if (followed !== undefined) {
        followed.isKnown = false;
        followed.lostAtMs ??= tick.atMs;
      }
      return wasKnown;
    }
    const book = this.#books[tick.market] ?? new ExactBook(tick, epoch);
    this.#books[tick.market] = book;
    book.source = tick.source;
    book.epoch = epoch;
    book.atMs = tick.atMs;
    book.replace(tick.levels);
    return wasKnown;
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
