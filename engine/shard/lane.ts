/**
 * The way to one shard's thread and back. What arrives in one turn of the event loop travels as
 * one batch; while batches are in flight the next one grows. Bounded: past the bound the caller is
 * told to come back, and quotes of one market replace each other.
 */
import { Piscina } from 'piscina';
import type { Command, Query, Reply, Tick } from '../core/messages.ts';
import { EngineBusy } from './busy.ts';
import { type Message, messagesCodec, repliesCodec } from './codec.ts';
import type { OpenReport, ShardConfig } from './shard.ts';
import type { Task } from './worker.ts';

/** A batch this large is sent while others are in flight; a smaller one waits for their return. */
const BATCH_FULL = 96;
const BATCH_MAX = 256;
const IN_FLIGHT_MAX = 4;
const TICKS_MAX = 50_000;
const RESTART_DELAY_MS = 250;

export type LaneOptions = {
  config: ShardConfig;
  /** Requests that may wait or be in flight before callers are refused. */
  queueDepthMax: number;
  /** What a shard must be told before anything else, at every start of its thread. */
  prelude: () => Message[];
  log: Log;
};
export type Log = {
  info(details: object, message: string): void;
  error(details: object, message: string): void;
};

type Waiter = { resolve: (reply: Reply) => void; reject: (error: Error) => void };
type LaneState = 'opening' | 'open' | 'restarting' | 'closed';

export class Lane {
  readonly #options: LaneOptions;
  readonly #pool: Piscina<Task, unknown>;
  #state: LaneState = 'opening';
  #messages: Message[] = [];
  #waiters: Waiter[] = [];
  /** Where in `#messages` the newest quote of a market waits. */
  #quoteAt = new Map<number, number>();
  #depth = 0;
  #inFlight = 0;
  #scheduled = false;
  readonly #whenIdle: (() => void)[] = [];

  constructor(options: LaneOptions) {
    this.#options = options;
    this.#pool = new Piscina({
      filename: new URL('./worker.ts', import.meta.url).href,
      workerData: options.config,
      minThreads: 1,
      maxThreads: 1,
      concurrentTasksPerWorker: IN_FLIGHT_MAX,
      // The longest a timer takes: Infinity would be no time at all.
      idleTimeout: 2 ** 31 - 1,
      atomics: 'disabled',
    });
    // A thread that ends reports it on its tasks; here it only must not end the process.
    this.#pool.on('error', (error) => {
      options.log.error({ path: options.config.path, error: String(error) }, 'shard thread ended');
    });
  }

  get isOpen(): boolean {
    return this.#state === 'open';
  }

  /** Requests waiting or in flight. */
  get depth(): number {
    return this.#depth;
  }

  /** Starts the thread; rejects when the shard's data cannot be read. */
  async open(): Promise<OpenReport> {
    const report = (await this.#pool.run('open')) as OpenReport;
    await this.#deliver(this.#options.prelude());
    this.#state = 'open';
    return report;
  }

  /** Resolves when what the answer shows is durable. Rejects with `EngineBusy`. */
  call(request: Command | Query): Promise<Reply> {
    return new Promise((resolve, reject) => {
      if (this.#state !== 'open') return reject(new EngineBusy(`the engine is ${this.#state}`));
      if (this.#depth >= this.#options.queueDepthMax) {
        return reject(new EngineBusy('the engine is at its limit'));
      }
      this.#depth++;
      this.#messages.push(request);
      this.#waiters.push({ resolve, reject });
      this.#schedule();
    });
  }

  /** Ticks are not answered. A shard that restarts gets the newest ones with its prelude. */
  tick(tick: Tick): void {
    if (this.#state !== 'open') return;
    if (this.#messages.length >= TICKS_MAX && !this.#replaceQuote(tick)) return;
    if (tick.kind === 'quote') this.#quoteAt.set(tick.market, this.#messages.length);
    this.#messages.push(tick);
    this.#schedule();
  }

  async checkpoint(): Promise<void> {
    await this.#pool.run('checkpoint');
  }

  /** Resolves when nothing waits and nothing is in flight. */
  drained(): Promise<void> {
    if (this.#isIdle()) return Promise.resolve();
    return new Promise((resolve) => this.#whenIdle.push(resolve));
  }

  /** Answers what is queued, writes a checkpoint, ends the thread. */
  async close(): Promise<void> {
    const wasOpen = this.#state === 'open';
    this.#state = 'closed';
    await this.drained();
    if (wasOpen) await this.#pool.run('close');
    await this.#pool.destroy();
  }

  /** Past the bound only the newest price of a market counts. False: keep the tick anyway. */
  #replaceQuote(tick: Tick): boolean {
    // Results, statuses and lost connections are few and must not be lost.
    if (tick.kind === 'status' || tick.kind === 'result' || tick.kind === 'game') return true;
    if (tick.kind === 'down') return true;
    const at = tick.kind === 'quote' ? this.#quoteAt.get(tick.market) : undefined;
    if (at !== undefined) this.#messages[at] = tick;
    return false;
  }

  #schedule(): void {
    if (this.#scheduled || !this.#maySend()) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#flush();
    });
  }

  #flush(): void {
    while (this.#messages.length > 0 && this.#maySend()) {
      const messages = this.#messages.slice(0, BATCH_MAX);
      const rest = this.#messages.slice(BATCH_MAX);
      const asked = messages.filter((message) => !isTick(message)).length;
      const waiters = this.#waiters.slice(0, asked);
      this.#messages = rest;
      this.#waiters = this.#waiters.slice(asked);
      this.#quoteAt.clear();
      this.#inFlight++;
      this.#deliver(messages).then(
        (replies) => this.#answered(waiters, replies),
        (error: Error) => this.#failed(error, waiters),
      );
    }
  }

  /** The next batch leaves before these answers are passed on: both threads work meanwhile. */
  #answered(waiters: Waiter[], replies: Reply[]): void {
    this.#inFlight--;
    this.#depth -= waiters.length;
    this.#flush();
    for (const [index, waiter] of waiters.entries()) waiter.resolve(replies[index]!);
    this.#tellIfIdle();
  }

  #tellIfIdle(): void {
    if (this.#isIdle()) for (const resolve of this.#whenIdle.splice(0)) resolve();
  }

  /** At once when nothing is under way; else only what fills a batch, so that commits are shared. */
  #maySend(): boolean {
    if (this.#inFlight === 0) return true;
    return this.#inFlight < IN_FLIGHT_MAX && this.#messages.length >= BATCH_FULL;
  }

  #isIdle(): boolean {
    return this.#messages.length === 0 && this.#inFlight === 0;
  }

  async #deliver(messages: Message[]): Promise<Reply[]> {
    const bytes = messagesCodec.pack(messages);
    const answer = await this.#pool.run(bytes, { transferList: [bytes.buffer] });
    return repliesCodec.unpack(answer as Uint8Array);
  }

  /** The thread ended. Nobody knows what of these batches is on disk: a retry will find out. */
  #failed(error: Error, waiters: Waiter[]): void {
    const busy = new EngineBusy('the engine is restarting');
    this.#inFlight--;
    this.#depth -= waiters.length;
    for (const waiter of waiters) waiter.reject(busy);
    this.#tellIfIdle();
    if (this.#state !== 'open') return;
    this.#state = 'restarting';
    const { config, log } = this.#options;
    log.error({ path: config.path, error: String(error) }, 'shard failed; starting it again');
    for (const waiter of this.#waiters.splice(0)) {
      waiter.reject(busy);
      this.#depth--;
    }
    this.#messages = [];
    this.#quoteAt.clear();
    this.#tellIfIdle();
    setTimeout(() => this.#restart(), RESTART_DELAY_MS);
  }

  #restart(): void {
    if (this.#state !== 'restarting') return;
    const { config, log } = this.#options;
    this.open().then(
      (report) => log.info({ path: config.path, ...report }, 'shard is back'),
      (error: unknown) => {
        log.error({ path: config.path, error: String(error) }, 'shard did not start; trying again');
        setTimeout(() => this.#restart(), 20 * RESTART_DELAY_MS);
      },
    );
  }
}

const TICK_KINDS = new Set(['quote', 'trade', 'status', 'result', 'game', 'heard', 'down', 'time']);

function isTick(message: Message): boolean {
  return TICK_KINDS.has(message.kind);
}
