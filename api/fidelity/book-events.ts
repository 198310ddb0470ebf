/**
 * A recording as what happened to each level of its books, with hindsight: which decrease was a
 * trade is known when the print beside it is. Rule X10 (feeds/FORMATS.md).
 */
import type { ContractsE2, EpochMs, PriceE4, Side } from '../../engine/base/units.ts';
import { Fifo } from '../../engine/threads/fifo.ts';
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
      yield* pairing.takeBefore(nowMs - APART_MAX_MS);
      const reading = adapters.read(line);
      if (reading !== null) pairing.add(nowMs, reading);
    }
  }
  yield* pairing.takeBefore(Number.POSITIVE_INFINITY);
}

/** An event that may still meet its other half: among `halves` under `key`, if it waits for one. */
type Held = { event: BookEvent; halves: Halves | null; key: string };

/** Decreases or prints without their other half, by the venue's time, level and size. */
class Halves {
  readonly #byKey = new Map<string, Held[]>();

  add(held: Held): void {
    const known = this.#byKey.get(held.key);
    if (known === undefined) this.#byKey.set(held.key, [held]);
    else known.push(held);
  }

  /** Removes the first that waits; undefined: none does. */
  take(key: string): Held | undefined {
    const known = this.#byKey.get(key);
    const held = known?.shift();
    if (known?.length === 0) this.#byKey.delete(key);
    if (held !== undefined) held.halves = null;
    return held;
  }
}

/** Holds events for as long as their other half may arrive. */
class Pairing {
  readonly #held = new Fifo<Held>();
  readonly #decreases = new Halves();
  readonly #prints = new Halves();

  add(atMs: EpochMs, { levels, ticks, venueAtMs }: FrameReading): void {
    if (levels?.kind === 'change') {
      const { market, side, price, change } = levels;
      const contracts = Math.abs(change);
      const of = { atMs, market, side, price, contracts };
      if (change > 0) this.#hold({ kind: 'add', ...of });
      if (change >= 0) return;
      const key = keyOf(venueAtMs, of);
      const print = this.#prints.take(key);
      if (print?.event.kind === 'trade') print.event.isShown = true;
      else this.#hold({ kind: 'cancel', ...of }, this.#decreases, key);
      return;
    }
    if (levels !== undefined) this.#hold({ atMs, ...levels });
    for (const tick of ticks) {
      if (tick.kind !== 'trade') continue;
      const { market, yesPrice, size: contracts, takerSide } = tick;
      const side = takerSide === 'yes' ? 'no' : 'yes';
      const price = side === 'yes' ? yesPrice : 10_000 - yesPrice;
      const of = { atMs, market, side, price, contracts } as const;
      const key = keyOf(venueAtMs, of);
      const decrease = this.#decreases.take(key);
      if (decrease === undefined) {
        this.#hold({ kind: 'trade', isShown: false, ...of }, this.#prints, key);
      } else decrease.event = { ...(decrease.event as OfLevel), kind: 'trade', isShown: true };
    }
  }

  /** The events from before this time, which wait no more. */
  *takeBefore(atMs: EpochMs): Generator<BookEvent> {
    for (let held = this.#held.first; held !== undefined; held = this.#held.first) {
      if (held.event.atMs >= atMs) return;
      this.#held.shift();
      // Of one key they wait in their order, so this is the first.
      held.halves?.take(held.key);
      yield held.event;
    }
  }

  #hold(event: BookEvent, halves: Halves | null = null, key = ''): void {
    const held = { event, halves, key };
    this.#held.push(held);
    halves?.add(held);
  }
}

function keyOf(venueAtMs: EpochMs | null, { market, side, price, contracts }: OfLevel): string {
  return `${venueAtMs} ${side} ${price} ${contracts} ${market}`;
}
