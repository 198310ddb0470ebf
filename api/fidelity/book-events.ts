/**
 * A recording as what happened to each level of its books, with hindsight: which decrease was a
 * trade is known when the print beside it is. Rule X10 (feeds/FORMATS.md).
 */
import type { ContractsE2, EpochMs, PriceE4, Side } from '../../engine/base/units.ts';
import { readFeed } from '../../feeds/file/feed-file.ts';
import { RecordedAdapters } from '../../feeds/file/recorded-adapters.ts';
import type { FrameReading, Level } from '../../feeds/reading/venue.ts';

/** `side` and `price` name a level of bids; a bid of no is an ask of yes at 1 minus its price. */
export type BookEvent =
  | { kind: 'book'; atMs: EpochMs; market: string; yes: readonly Level[]; no: readonly Level[] }
  | { kind: 'unknown'; atMs: EpochMs; market: string }
  | ({ kind: 'add' | 'cancel' } & OfLevel)
  /** Of resting orders at this level. `isShown`: the level lost as much. */
  | ({ kind: 'trade'; isShown: boolean } & OfLevel);

export type OfLevel = {
  atMs: EpochMs;
  market: string;
  side: Side;
  price: PriceE4;
  contracts: ContractsE2;
};

/** A print and its decrease arrive within this time of each other. */
const APART_MAX_MS = 1000;

/** The events of one file, in the order of its frames. @throws FeedFileError as `readFeed` */
export async function* bookEvents(path: string): AsyncGenerator<BookEvent> {
  const pairing = new Pairing();
  const adapters = new RecordedAdapters({ levels: true });
  let nowMs = 0;
  for await (const batch of readFeed(path)) {
    for (const line of batch) {
      nowMs = Math.max(nowMs, line.atMs);
      const reading = adapters.read(line);
      if (reading !== null) pairing.add(nowMs, reading);
      yield* pairing.takeBefore(nowMs - APART_MAX_MS);
    }
  }
  yield* pairing.takeBefore(Number.POSITIVE_INFINITY);
}

/** An event that may still find the other half of it, until it is gone out. */
type Held = { event: BookEvent; isGone: boolean };

class Pairing {
  #held: Held[] = [];
  #from = 0;
  /** Without their other half, by time of the venue, level and size. */
  readonly #decreases = new Map<string, Held[]>();
  readonly #prints = new Map<string, Held[]>();

  add(atMs: EpochMs, { levels, ticks, venueAtMs }: FrameReading): void {
    if (levels?.kind === 'change') {
      const { market, side, price, change } = levels;
      const contracts = Math.abs(change);
      const of = { atMs, market, side, price, contracts };
      if (change > 0) this.#hold({ kind: 'add', ...of });
      if (change >= 0) return;
      const print = take(this.#prints, keyOf(venueAtMs, of), atMs);
      if (print?.event.kind === 'trade') print.event.isShown = true;
      else put(this.#decreases, keyOf(venueAtMs, of), this.#hold({ kind: 'cancel', ...of }));
      return;
    }
    if (levels !== undefined) this.#hold({ atMs, ...levels });
    for (const tick of ticks) {
      if (tick.kind !== 'trade') continue;
      const { market, yesPrice, size: contracts, takerSide } = tick;
      const side = takerSide === 'yes' ? 'no' : 'yes';
      const price = side === 'yes' ? yesPrice : 10_000 - yesPrice;
      const of = { atMs, market, side, price, contracts } as const;
      const decrease = take(this.#decreases, keyOf(venueAtMs, of), atMs);
      if (decrease === null) {
        const held = this.#hold({ kind: 'trade', isShown: false, ...of });
        put(this.#prints, keyOf(venueAtMs, of), held);
      } else {
        decrease.event = { ...(decrease.event as OfLevel), kind: 'trade', isShown: true };
      }
    }
  }

  *takeBefore(atMs: EpochMs): Generator<BookEvent> {
    while (this.#from < this.#held.length && this.#held[this.#from]!.event.atMs < atMs) {
      const held = this.#held[this.#from++]!;
      held.isGone = true;
      yield held.event;
    }
    if (this.#from < 1000) return;
    this.#held = this.#held.slice(this.#from);
    this.#from = 0;
    for (const waiting of [this.#decreases, this.#prints]) {
      for (const [key, of] of waiting) {
        if (of.every(({ isGone }) => isGone)) waiting.delete(key);
      }
    }
  }

  #hold(event: BookEvent): Held {
    const held = { event, isGone: false };
    this.#held.push(held);
    return held;
  }
}

function keyOf(venueAtMs: EpochMs | null, { market, side, price, contracts }: OfLevel): string {
  return `${venueAtMs} ${side} ${price} ${contracts} ${market}`;
}

function put(waiting: Map<string, Held[]>, key: string, held: Held): void {
  const known = waiting.get(key);
  if (known === undefined) waiting.set(key, [held]);
  else known.push(held);
}

/** The first that arrived at most a second before; null: none. */
function take(waiting: Map<string, Held[]>, key: string, atMs: EpochMs): Held | null {
  const known = waiting.get(key);
  while (known !== undefined && known.length > 0) {
    const held = known.shift()!;
    if (known.length === 0) waiting.delete(key);
    if (!held.isGone && atMs - held.event.atMs <= APART_MAX_MS) return held;
  }
  return null;
}
