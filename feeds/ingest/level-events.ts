/**
 * What frames do to the levels of books, in the order of the frames, and which decrease was a trade.
 * That is decided once here, for all shards. Rules W12, W95 to W97 (feeds/FORMATS.md).
 */

import { invariant } from '../../engine/base/invariant.ts';
import type { ContractsE2, EpochMs, MarketNumber, PriceE4, Side } from '../../engine/base/units.ts';
import type {
  ExactLevel,
  LevelsTick,
  LevelTick,
  PrintTick,
  WholeLevels,
} from '../../engine/rules/messages.ts';
import type { TickOrigin } from '../reading/engine-ticks.ts';
import type { BookLevels, Level, LevelsRead, VenueTick } from '../reading/venue.ts';

/** A print and its decrease arrive within this time of each other. */
const APART_MAX_MS = 1000;
/** A book is repeated so often, with its next change: a reader that lost it has it again. */
const WHOLE_EVERY_MS = 10_000;
/** In place of the time at which a book was told whole: it is unknown. */
const UNKNOWN = -1;

/** A decrease or a print, to be found by its other half. */
type Half = {
  market: MarketNumber;
  atMs: EpochMs;
  venueAtMs: EpochMs | null;
  side: Side;
  price: PriceE4;
  contracts: ContractsE2;
};

type Print = Extract<VenueTick, { kind: 'trade' }>;

/** Of one connection. */
export class LevelEvents {
  readonly #sink: (tick: LevelTick | PrintTick | LevelsTick) => void;
  /** By market: when all levels were last told, or `UNKNOWN`. */
  readonly #wholeAtMs: (EpochMs | undefined)[] = [];
  readonly #decreases = new Decreases();
  /** Prints whose decrease has not come. */
  #prints: Half[] = [];

  constructor(sink: (tick: LevelTick | PrintTick | LevelsTick) => void) {
    this.#sink = sink;
  }

  /** `kept`: the book that the frame has changed, whole. */
  level(
    read: Exclude<LevelsRead, { kind: 'unknown' }>,
    origin: TickOrigin,
    venueAtMs: EpochMs | null,
    kept: BookLevels | undefined,
  ): void {
    if (read.kind === 'book') {
      const { yes, no } = read;
      return this.#whole(origin, { yes: yes.map(exact), no: no.map(exact) }, false);
    }
    const wholeAtMs = this.#wholeAtMs[origin.market] ?? UNKNOWN;
    if (wholeAtMs === UNKNOWN) return;
    this.#change(read, origin, venueAtMs);
    const ageMs = origin.atMs - wholeAtMs;
    if (kept === undefined || (ageMs >= 0 && ageMs < WHOLE_EVERY_MS)) return;
    const no = kept.yesAsks.map(({ price, size }): ExactLevel => [10_000 - price, size]);
    this.#whole(origin, { yes: kept.yesBids.map(exact), no }, true);
  }

  /** The taker's side met the bids of the other one. */
  print(print: Print, { atMs, source, market }: TickOrigin, venueAtMs: EpochMs | null): void {
    const { yesPrice, size: contracts, takerSide } = print;
    if (contracts === 0 || this.#wholeAtMs[market] === undefined) return;
    const side = takerSide === 'yes' ? 'no' : 'yes';
    const price = side === 'yes' ? yesPrice : 10_000 - yesPrice;
    const half: Half = { market, atMs, venueAtMs, side, price, contracts };
    const decrease = this.#decreases.takeFirst(half);
    if (decrease === 0) this.#prints.push(half);
    this.#sink({ kind: 'print', atMs, source, market, side, price, contracts, decrease });
  }

  /** Nobody knows the book until it comes whole. */
  unknown(origin: TickOrigin): void {
    if ((this.#wholeAtMs[origin.market] ?? UNKNOWN) === UNKNOWN) return;
    this.#wholeAtMs[origin.market] = UNKNOWN;
    this.#sink({ kind: 'levels', ...origin, levels: null, repeats: false });
  }

  /** The connection starts over. */
  clear(): void {
    this.#wholeAtMs.length = 0;
    this.#prints = [];
    this.#decreases.clear();
  }

  #change(
    { side, price, change, size }: Extract<LevelsRead, { kind: 'change' }>,
    { atMs, source, market }: TickOrigin,
    venueAtMs: EpochMs | null,
  ): void {
    if (change === 0) return;
    const contracts = Math.abs(change);
    const isTraded = change < 0 && this.#isPrinted(market, atMs, venueAtMs, side, price, contracts);
    const what = change > 0 ? 'add' : isTraded ? 'traded' : 'cancel';
    const decrease =
      what === 'cancel' ? this.#decreases.add(market, atMs, venueAtMs, side, price, contracts) : 0;
    this.#sink({
      kind: 'level',
      atMs,
      source,
      market,
      change: what,
      side,
      price,
      contracts,
      size,
      decrease,
    });
  }

  /** Takes the first print that waits for this decrease. */
  #isPrinted(
    market: MarketNumber,
    atMs: EpochMs,
    venueAtMs: EpochMs | null,
    side: Side,
    price: PriceE4,
    contracts: ContractsE2,
  ): boolean {
    if (this.#prints.length === 0) return false;
    if (this.#prints[0]!.atMs < atMs - APART_MAX_MS) {
      this.#prints = this.#prints.filter((print) => print.atMs >= atMs - APART_MAX_MS);
    }
    const found = this.#prints.findIndex(
      (print) =>
        print.market === market &&
        print.contracts === contracts &&
        print.price === price &&
        print.side === side &&
        isSameTime(print.venueAtMs, venueAtMs),
    );
    if (found === -1) return false;
    this.#prints.splice(found, 1);
    return true;
  }

  #whole(origin: TickOrigin, levels: WholeLevels, repeats: boolean): void {
    this.#wholeAtMs[origin.market] = origin.atMs;
    this.#sink({ kind: 'levels', ...origin, levels, repeats });
  }
}

const FIRST_CAPACITY = 1024;
/** Far more than a venue sends in a second. The bound keeps its frames from filling the memory. */
const CAPACITY_MAX = 2 ** 20;
const NO_TIME = -1;
const WORDS = 6;
const AT_MS = 0;
const VENUE_AT_MS = 1;
/** Price and side; 0 once a print has explained it. */
const LEVEL = 2;
const CONTRACTS = 3;
const MARKET = 4;
/** The number of the market's decrease before this one; 0: there is none. */
const BEFORE = 5;

/**
 * The decreases of the last second, in a ring by their number: a venue sends hundreds of thousands
 * a minute, and an object each would be garbage.
 */
class Decreases {
  #words = new Float64Array(FIRST_CAPACITY * WORDS);
  /** A power of two. */
  #capacity = FIRST_CAPACITY;
  /** The number of the last one, from 1. No number is given twice. */
  #last = 0;
  /** The ones before it are not searched. */
  #from = 1;
  /** By market, the number of its last one. */
  readonly #lastOf: (number | undefined)[] = [];

  /** @returns its number */
  add(
    market: MarketNumber,
    atMs: EpochMs,
    venueAtMs: EpochMs | null,
    side: Side,
    price: PriceE4,
    contracts: ContractsE2,
  ): number {
    if (this.#last >= this.#capacity) this.#makeRoom(atMs);
    const number = ++this.#last;
    const at = this.#placeOf(number);
    const words = this.#words;
    words[at + AT_MS] = atMs;
    words[at + VENUE_AT_MS] = venueAtMs ?? NO_TIME;
    words[at + LEVEL] = levelOf(side, price);
    words[at + CONTRACTS] = contracts;
    words[at + MARKET] = market;
    words[at + BEFORE] = this.#lastOf[market] ?? 0;
    this.#lastOf[market] = number;
    return number;
  }

  /** The number of the first one that waits for this print, and waits no more; 0: none does. */
  takeFirst({ market, atMs, venueAtMs, side, price, contracts }: Half): number {
    const words = this.#words;
    const level = levelOf(side, price);
    const oldest = Math.max(this.#from, this.#last - this.#capacity + 1);
    let found = 0;
    for (let number = this.#lastOf[market] ?? 0; number >= oldest; ) {
      const at = this.#placeOf(number);
      invariant(words[at + MARKET] === market, 'a decrease is in the chain of another market');
      if (words[at + AT_MS]! < atMs - APART_MAX_MS) break;
      const isSame =
        words[at + LEVEL] === level &&
        words[at + CONTRACTS] === contracts &&
        isSameTime(words[at + VENUE_AT_MS]!, venueAtMs);
      if (isSame) found = number;
      number = words[at + BEFORE]!;
    }
    if (found > 0) words[this.#placeOf(found) + LEVEL] = 0;
    return found;
  }

  clear(): void {
    this.#from = this.#last + 1;
    this.#lastOf.length = 0;
  }

  #placeOf(number: number): number {
    return (number & (this.#capacity - 1)) * WORDS;
  }

  /** If the next number's place is of the last second, the ring grows. */
  #makeRoom(atMs: EpochMs): void {
    const oldest = this.#last - this.#capacity + 1;
    const isNeeded = this.#words[this.#placeOf(oldest) + AT_MS]! >= atMs - APART_MAX_MS;
    if (!isNeeded || this.#capacity === CAPACITY_MAX) return;
    const before = { words: this.#words, capacity: this.#capacity };
    this.#capacity *= 2;
    this.#words = new Float64Array(this.#capacity * WORDS);
    for (let number = Math.max(1, oldest); number <= this.#last; number++) {
      const from = (number & (before.capacity - 1)) * WORDS;
      this.#words.set(before.words.subarray(from, from + WORDS), this.#placeOf(number));
    }
  }
}

/** Above 0. */
function levelOf(side: Side, price: PriceE4): number {
  return 1 + price * 2 + (side === 'yes' ? 0 : 1);
}

/** By the venue's time where both state one. */
function isSameTime(a: EpochMs | null, b: EpochMs | null): boolean {
  return a === b || a === null || b === null || a === NO_TIME;
}

function exact({ price, size }: Level): ExactLevel {
  return [price, size];
}
