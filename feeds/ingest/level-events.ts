/**
 * What frames do to the levels of books, in the order of the frames, and which decrease was a trade.
 * That is decided once here, for all shards. Rules W95 to W97 (feeds/FORMATS.md).
 */

import { Fifo } from '../../engine/base/fifo.ts';
import type { ContractsE2, EpochMs, PriceE4, Side } from '../../engine/base/units.ts';
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

/** A decrease or a print that waits for its other half. */
type Half = {
  atMs: EpochMs;
  venueAtMs: EpochMs | null;
  side: Side;
  price: PriceE4;
  contracts: ContractsE2;
  /** Of a decrease. */
  decrease: number;
  /** Its other half has come. */
  isMet: boolean;
};

type Followed = {
  readonly decreases: Fifo<Half>;
  readonly prints: Fifo<Half>;
  /** When all its levels were last told; null: its book is unknown. */
  wholeAtMs: EpochMs | null;
};

type Print = Extract<VenueTick, { kind: 'trade' }>;

/** Of one connection. */
export class LevelEvents {
  readonly #sink: (tick: LevelTick | PrintTick | LevelsTick) => void;
  /** By market. */
  readonly #followed = new Map<number, Followed>();
  #decreases = 0;

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
    const followed = this.#of(origin.market);
    if (read.kind === 'book') {
      const { yes, no } = read;
      return this.#whole(followed, origin, { yes: yes.map(exact), no: no.map(exact) }, false);
    }
    if (followed.wholeAtMs === null) return;
    this.#change(followed, read, origin, venueAtMs);
    const ageMs = origin.atMs - followed.wholeAtMs;
    if (kept === undefined || (ageMs >= 0 && ageMs < WHOLE_EVERY_MS)) return;
    const no = kept.yesAsks.map(({ price, size }): ExactLevel => [10_000 - price, size]);
    this.#whole(followed, origin, { yes: kept.yesBids.map(exact), no }, true);
  }

  /** The taker's side met the bids of the other one. */
  print(print: Print, origin: TickOrigin, venueAtMs: EpochMs | null): void {
    const { yesPrice, size: contracts, takerSide } = print;
    if (contracts === 0) return;
    const followed = this.#followed.get(origin.market);
    if (followed === undefined) return;
    const side = takerSide === 'yes' ? 'no' : 'yes';
    const price = side === 'yes' ? yesPrice : 10_000 - yesPrice;
    const of = { side, price, contracts } as const;
    const half = { atMs: origin.atMs, venueAtMs, ...of, decrease: 0, isMet: false };
    const decrease = meet(followed.decreases, half);
    if (decrease === null) keep(followed.prints, half);
    this.#sink({ kind: 'print', ...origin, ...of, decrease: decrease?.decrease ?? 0 });
  }

  /** Nobody knows the book until it comes whole. */
  unknown(origin: TickOrigin): void {
    const followed = this.#followed.get(origin.market);
    if (followed === undefined || followed.wholeAtMs === null) return;
    followed.wholeAtMs = null;
    this.#sink({ kind: 'levels', ...origin, levels: null, repeats: false });
  }

  /** The connection starts over. */
  clear(): void {
    this.#followed.clear();
  }

  #of(market: number): Followed {
    const known = this.#followed.get(market);
    if (known !== undefined) return known;
    const followed = { decreases: new Fifo<Half>(), prints: new Fifo<Half>(), wholeAtMs: null };
    this.#followed.set(market, followed);
    return followed;
  }

  #change(
    { decreases, prints }: Followed,
    { side, price, change, size }: Extract<LevelsRead, { kind: 'change' }>,
    origin: TickOrigin,
    venueAtMs: EpochMs | null,
  ): void {
    if (change === 0) return;
    const contracts = Math.abs(change);
    const of = { side, price, contracts } as const;
    const level = { kind: 'level', ...origin, ...of, size } as const;
    if (change > 0) return this.#sink({ ...level, change: 'add', decrease: 0 });
    const { atMs } = origin;
    const half = { atMs, venueAtMs, ...of, decrease: 0, isMet: false };
    if (meet(prints, half) !== null) {
      return this.#sink({ ...level, change: 'traded', decrease: 0 });
    }
    half.decrease = ++this.#decreases;
    keep(decreases, half);
    this.#sink({ ...level, change: 'cancel', decrease: half.decrease });
  }

  #whole(followed: Followed, origin: TickOrigin, levels: WholeLevels, repeats: boolean): void {
    followed.wholeAtMs = origin.atMs;
    this.#sink({ kind: 'levels', ...origin, levels, repeats });
  }
}

/** The first that waits for this half; it waits no more. */
function meet(waiting: Fifo<Half>, half: Half): Half | null {
  dropOlder(waiting, half.atMs - APART_MAX_MS);
  for (let at = 0; at < waiting.length; at++) {
    const other = waiting.at(at);
    if (other.isMet || !isSame(other, half)) continue;
    other.isMet = true;
    return other;
  }
  return null;
}

function keep(waiting: Fifo<Half>, half: Half): void {
  dropOlder(waiting, half.atMs - APART_MAX_MS);
  waiting.push(half);
}

function dropOlder(waiting: Fifo<Half>, atMs: EpochMs): void {
  for (let { first } = waiting; first !== undefined; { first } = waiting) {
    if (first.atMs >= atMs && !first.isMet) return;
    waiting.shift();
  }
}

/** By the venue's time too, where both state one. */
function isSame(a: Half, b: Half): boolean {
  return (
    a.contracts === b.contracts &&
    a.price === b.price &&
    a.side === b.side &&
    (a.venueAtMs === b.venueAtMs || a.venueAtMs === null || b.venueAtMs === null)
  );
}

function exact({ price, size }: Level): ExactLevel {
  return [price, size];
}
