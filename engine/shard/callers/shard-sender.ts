/**
 * One thread's messages to a shard, and the shard's answers. Messages of one turn are sent together.
 * Both directions are bounded. Rules D6, D7 (engine/RULES.md).
 */
import {
  answerBytes,
  answerLimits,
  type Control,
  type FrameDecoder,
  isAnswered,
  type Packed,
} from '../../format/codec.ts';
import type { Frame } from '../../format/frame.ts';
import type { Endpoint } from '../../ring/endpoint.ts';
import type { Command, Tick } from '../../rules/messages.ts';
import type { Query } from '../../rules/queries.ts';
import { AT_ITS_LIMIT, Unavailable } from '../../threads/unavailable.ts';
import { QueueBound } from './queue-bound.ts';
import { type ReplyHandler, SendQueue } from './send-queue.ts';
import { ShardLink } from './shard-link.ts';

/** Messages published to the shard at a time: it decides the first while the next are packed. */
const SENT_TOGETHER = 64;
const TICKS_MAX = 50_000;
const RESTARTING = new Unavailable('the engine is restarting');

export type ShardSenderOptions = {
  /** Requests that may wait or be in flight before callers are refused. */
  queueDepthMax: number;
  /** The error of a command that the shard's disk has no room for. */
  diskFull(): Error;
  /** Called when the shard may have news, before messages are sent. */
  onNews?(): void;
};

export class ShardSender {
  readonly #options: ShardSenderOptions;
  readonly #queue = new SendQueue(TICKS_MAX);
  readonly #bound: QueueBound;
  #scheduled = false;
  /** Null: no thread is served. */
  #link: ShardLink | null = null;

  constructor(options: ShardSenderOptions) {
    this.#options = options;
    this.#bound = new QueueBound(options.queueDepthMax);
  }

  get isLinked(): boolean {
    return this.#link !== null;
  }

  /** Requests that wait or are in flight. */
  get waiting(): number {
    return this.#bound.waiting;
  }

  /** Requests that may wait now. */
  get waitingMax(): number {
    return Math.floor(this.#bound.requests);
  }

  /** Why the queue takes no request now; null: it takes them. */
  refusal(): Unavailable | null {
    return this.#bound.waiting >= this.#bound.requests ? AT_ITS_LIMIT : null;
  }

  /** A thread serves the shard over these rings. */
  link(end: Endpoint): void {
    this.#link = new ShardLink(end, () => this.#takeNews());
  }

  /** The thread is served no more. Answers the remaining requests, so that none waits forever. */
  unlink(reason = RESTARTING): void {
    const waiters = [...(this.#link?.end(this.#answer) ?? []), ...this.#queue.clear()];
    this.#link = null;
    this.#bound.lost(waiters.length);
    for (const waiter of waiters) waiter.reject(reason);
  }

  send(request: Command | Query | Control, waiter: ReplyHandler): void {
    this.#bound.came();
    this.#queue.addRequest(request, waiter);
    this.#schedule();
  }

  tick(tick: Tick | Packed): void {
    this.#queue.addTick(tick);
    this.#schedule();
  }

  /** Resolves when the shard has processed everything sent so far, or has lost it. */
  drained(): Promise<void> {
    if (this.#link === null) return Promise.resolve();
    return new Promise((resolve) => {
      this.send({ kind: 'barrier' }, { resolve: () => resolve(), reject: () => resolve() });
    });
  }

  /** Sends messages of one turn together; in a flood many are sent before its end. */
  #schedule(): void {
    if (this.#queue.length >= SENT_TOGETHER) this.#flush();
    if (this.#scheduled || this.#link === null) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#flush();
    });
  }

  /** Sends waiting messages, as far as there is room. */
  #flush(): void {
    this.#options.onNews?.();
    const link = this.#link;
    while (link !== null && !link.isFull && this.#queue.length > 0) {
      const { messages, waiters } = this.#queue.take(SENT_TOGETHER);
      link.send(messages, waiters);
    }
  }

  /** Sends waiting messages before answers are passed on, so that both threads work. */
  #takeNews(): void {
    this.#flush();
    this.#link?.receive(this.#answer);
    this.#bound.measure();
  }

  readonly #answer = (waiter: ReplyHandler, frame: Frame, decoder: FrameDecoder): void => {
    this.#bound.answered();
    if (waiter.resolveBytes !== undefined && isAnswered(frame)) {
      waiter.resolveBytes(answerBytes(frame), answerLimits(frame));
      return;
    }
    const reply = decoder.reply(frame);
    if (reply === null) waiter.reject(this.#options.diskFull());
    else waiter.resolve(reply);
  };
}
