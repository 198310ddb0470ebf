/**
 * Messages that wait to be sent to a shard, in order. Ticks are bounded: above the bound the newest
 * quote of a market replaces the waiting one, and ticks that only inform are dropped. Rule D7
 * (engine/RULES.md).
 */

import type { Control, Message, Packed, Sent } from '../format/codec.ts';
import { invariant } from '../rules/invariant.ts';
import type { Command, Reply, Tick } from '../rules/messages.ts';
import type { Query } from '../rules/queries.ts';
import { Fifo } from './fifo.ts';

/** Gets the answer once. It is a callback, since every request would pay for a promise. */
export interface Waiter<T = Reply> {
  resolve(answer: T): void;
  reject(error: Error): void;
}

export class Outbox {
  readonly #ticksMax: number;
  readonly #messages = new Fifo<Sent>();
  /** One per message; null: a tick, which has no waiter. */
  readonly #waiters = new Fifo<Waiter | null>();
  /** Messages sent so far: the one at place `p` since the start is at `p - taken` now. */
  #taken = 0;
  /** The place of a market's newest quote, since the start. */
  readonly #quotePlaces = new Map<number, number>();

  constructor(ticksMax: number) {
    this.#ticksMax = ticksMax;
  }

  get length(): number {
    return this.#messages.length;
  }

  addRequest(request: Command | Query | Control, waiter: Waiter): void {
    this.#messages.push(request);
    this.#waiters.push(waiter);
  }

  /** Whoever sends packed ticks waits until they are taken, and so bounds them. */
  addTick(tick: Tick | Packed): void {
    if (tick.kind === 'packed') this.#appendPacked(tick);
    else if (this.#messages.length < this.#ticksMax) this.#append(tick);
    else if (tick.kind === 'quote') this.#replaceQuote(tick);
    // Results, statuses, games and lost connections are few, and true only if they arrive.
    else if (!INFORMS[tick.kind]) this.#append(tick);
  }

  /** The next messages, at most `max`, with the waiters of the requests among them. */
  take(max: number): { messages: Sent[]; waiters: Waiter[] } {
    invariant(max > 0, 'none of the messages that wait are taken');
    const messages: Sent[] = [];
    const waiters: Waiter[] = [];
    for (let taken = 0; taken < max; taken++) {
      const message = this.#messages.shift();
      if (message === undefined) break;
      const waiter = this.#waiters.shift();
      invariant(waiter !== undefined, 'a message has no place for its waiter');
      messages.push(message);
      if (waiter !== null) waiters.push(waiter);
    }
    this.#taken += messages.length;
    return { messages, waiters };
  }

  /** Drops everything; the caller must answer the waiters. */
  clear(): Waiter[] {
    this.#messages.clear();
    this.#quotePlaces.clear();
    return this.#waiters.clear().filter(isWaiter);
  }

  /** Quotes from after them must not come before them. */
  #appendPacked(ticks: Packed): void {
    this.#quotePlaces.clear();
    this.#messages.push(ticks);
    this.#waiters.push(null);
  }

  #append(tick: Tick): void {
    if (tick.kind === 'quote') {
      this.#quotePlaces.set(tick.market, this.#taken + this.#messages.length);
    } else if (!INFORMS[tick.kind]) {
      // A later quote must not overtake it, or orders would trade that it stops.
      if ('market' in tick) this.#quotePlaces.delete(tick.market);
      else this.#quotePlaces.clear();
    }
    this.#messages.push(tick);
    this.#waiters.push(null);
  }

  /** At most one quote a market is added past the bound. */
  #replaceQuote(tick: Extract<Tick, { kind: 'quote' }>): void {
    const at = (this.#quotePlaces.get(tick.market) ?? -1) - this.#taken;
    if (at < 0) return this.#append(tick);
    const replaced = this.#messages.replace(at, tick);
    const isItsQuote = replaced.kind === 'quote' && replaced.market === tick.market;
    invariant(isItsQuote, 'a quote takes the place of something else');
  }
}

const isWaiter = (waiter: Waiter | null): waiter is Waiter => waiter !== null;
/** Every kind of tick; true: it only informs. */
const INFORMS: Readonly<Record<Tick['kind'], boolean>> = {
  quote: false,
  trade: true,
  status: false,
  result: false,
  game: false,
  heartbeat: true,
  down: false,
  time: true,
};

const TICK_KINDS = new Set(Object.keys(INFORMS));

export function isTick(message: Message): message is Tick {
  return TICK_KINDS.has(message.kind);
}
