/**
 * Messages that wait to be sent to a shard, in order. Ticks are bounded. Above the bound the newest
 * quote of a market replaces the waiting one, and ticks that only inform are dropped. Rule D7
 * (engine/RULES.md).
 */

import { Fifo } from '../../base/fifo.ts';
import { invariant } from '../../base/invariant.ts';
import { type Control, type Packed, type Sent, ticksIn } from '../../format/codec.ts';
import type { TradeLimitsLeft } from '../../rules/limits-left.ts';
import type {
  Command,
  LevelsTick,
  LevelTick,
  PrintTick,
  Reply,
  Tick,
} from '../../rules/messages.ts';
import type { Query } from '../../rules/queries.ts';
import { onlyInforms } from '../core/message-kinds.ts';
import { wholeQuote } from './merge-quote.ts';

/** Gets the answer once. It is a callback, because every request would pay for a promise. */
export interface ReplyHandler<T = Reply> {
  resolve(answer: T): void;
  reject(error: Error): void;
  /** If it is there, it gets an answer in place of `resolve`: JSON, whose bytes others use later. */
  resolveBytes?(json: Uint8Array, limits: TradeLimitsLeft | null): void;
}

export class SendQueue {
  readonly #ticksMax: number;
  readonly #messages = new Fifo<Sent>();
  /** One per message; null: a tick, which has no waiter. */
  readonly #waiters = new Fifo<ReplyHandler | null>();
  /** Messages sent so far: the message at place `p` since the start is now at `p - taken`. */
  #taken = 0;
  /** Ticks beyond the first in each batch that is packed. */
  #packedTicks = 0;
  /** The place of a market's newest quote, since the start. */
  readonly #quotePlaces = new Map<number, number>();
  /** Markets whose levels were dropped; their readers know that. */
  readonly #levelsLost = new Set<number>();

  constructor(ticksMax: number) {
    this.#ticksMax = ticksMax;
  }

  get length(): number {
    return this.#messages.length;
  }

  addRequest(request: Command | Query | Control, waiter: ReplyHandler): void {
    this.#messages.push(request);
    this.#waiters.push(waiter);
  }

  /** The sender bounds packed ticks that are passed without the ticks themselves. */
  addTick(tick: Tick | Packed): void {
    const isFull = this.#messages.length + this.#packedTicks >= this.#ticksMax;
    if (tick.kind === 'packed') {
      if (!isFull || tick.ticks === null) this.#appendPacked(tick);
      else for (const each of ticksIn(tick.bytes)) this.addTick(each);
    } else if (!isFull) this.#append(tick);
    else if (tick.kind === 'quote') this.#replaceQuote(tick);
    else if (tick.kind === 'level' || tick.kind === 'print' || tick.kind === 'levels') {
      this.#loseLevels(tick);
    }
    // Results, statuses, games and lost connections are few, and no later message replaces them.
    else if (!onlyInforms(tick)) this.#append(tick);
  }

  /** The next messages, at most `max`, with the waiters of the requests among them. */
  take(max: number): { messages: Sent[]; waiters: ReplyHandler[] } {
    invariant(max > 0, 'no waiting message is taken');
    const messages: Sent[] = [];
    const waiters: ReplyHandler[] = [];
    for (let taken = 0; taken < max; taken++) {
      const message = this.#messages.shift();
      if (message === undefined) break;
      const waiter = this.#waiters.shift();
      invariant(waiter !== undefined, 'a message has no place for its waiter');
      messages.push(message);
      if (message.kind === 'packed') this.#packedTicks -= ticksBeyondOne(message);
      if (waiter !== null) waiters.push(waiter);
    }
    this.#taken += messages.length;
    return { messages, waiters };
  }

  /** Drops everything; the caller must answer the waiters. */
  clear(): ReplyHandler[] {
    this.#messages.clear();
    this.#packedTicks = 0;
    this.#quotePlaces.clear();
    this.#levelsLost.clear();
    return this.#waiters.clear().filter(isReplyHandler);
  }

  /** Later quotes must not go before them. */
  #appendPacked(ticks: Packed): void {
    this.#quotePlaces.clear();
    this.#levelsLost.clear();
    this.#packedTicks += ticksBeyondOne(ticks);
    this.#messages.push(ticks);
    this.#waiters.push(null);
  }

  #append(tick: Tick): void {
    // They may be dropped again from here on.
    if (tick.kind === 'levels') this.#levelsLost.delete(tick.market);
    if (tick.kind === 'quote') {
      this.#quotePlaces.set(tick.market, this.#taken + this.#messages.length);
    } else if (!onlyInforms(tick)) {
      // A later quote must not overtake it, or orders would trade that it stops.
      if ('market' in tick) this.#quotePlaces.delete(tick.market);
      else this.#quotePlaces.clear();
    }
    this.#messages.push(tick);
    this.#waiters.push(null);
  }

  /**
   * Levels build on each other. If one has no room, the book is unknown, until all its levels come
   * again (W97, feeds/FORMATS.md). At most one tick a market is added past the bound.
   */
  #loseLevels({ atMs, source, market }: LevelTick | PrintTick | LevelsTick): void {
    if (this.#levelsLost.has(market)) return;
    this.#append({ kind: 'levels', atMs, source, market, levels: null, repeats: false });
    this.#levelsLost.add(market);
  }

  /** At most one quote a market is added past the bound. */
  #replaceQuote(tick: Extract<Tick, { kind: 'quote' }>): void {
    const at = (this.#quotePlaces.get(tick.market) ?? -1) - this.#taken;
    if (at < 0) return this.#append(tick);
    const waiting = this.#messages.at(at);
    const isItsQuote = waiting.kind === 'quote' && waiting.market === tick.market;
    invariant(isItsQuote, 'a quote takes the place of another message');
    this.#messages.replace(at, wholeQuote(tick, waiting));
  }
}

function ticksBeyondOne({ ticks }: Packed): number {
  return Math.max(0, (ticks ?? 0) - 1);
}

const isReplyHandler = (waiter: ReplyHandler | null): waiter is ReplyHandler => waiter !== null;
