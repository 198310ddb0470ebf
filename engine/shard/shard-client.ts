/**
 * The way to one shard's thread and back. What arrives in one turn of the event loop travels as one
 * batch; while batches are in flight the next one grows. Both ways are bounded: past the bound
 * callers get 503, and quotes of one market replace each other. Rules D6 to D10 (engine/RULES.md).
 */

import { checkLmdbFile, missingFile } from '../lmdb/lmdb-file.ts';
import type { Command, Reply, Tick } from '../rules/messages.ts';
import type { Query } from '../rules/queries.ts';
import { AT_ITS_LIMIT, EngineBusy } from './busy.ts';
import { DiskFull, troubleText } from './disk-full.ts';
import { isCommand, isJournaled } from './message-kinds.ts';
import type { OpenReport } from './open-report.ts';
import { isTick, Outbox, type Waiter } from './outbox.ts';
import { Restarts } from './restarts.ts';
import type { ShardClientOptions } from './shard-client-options.ts';
import { isDamage } from './shard-damage.ts';
import { ShardThread } from './thread.ts';

/** A batch this large is sent while others are in flight; a smaller one waits for their return. */
const BATCH_FULL = 96;
const BATCH_MAX = 256;
/**
 * Enough batches for all that may wait. Under thousands of callers the event loop comes to a
 * shard's answers only now and then, and the shard must not stand still meanwhile.
 */
const IN_FLIGHT_MAX = 32;
const TICKS_MAX = 50_000;

type ClientState = 'opening' | 'open' | 'restarting' | 'closed';

export class ShardClient {
  readonly #options: ShardClientOptions;
  readonly #thread: ShardThread;
  readonly #outbox = new Outbox(TICKS_MAX);
  /** Why nothing is placed here now, in words; null: nothing is in the way. */
  #trouble: string | null = null;
  #state: ClientState = 'opening';
  #depth = 0;
  #inFlight = 0;
  #scheduled = false;
  readonly #restarts = new Restarts();
  #wasMade: boolean;
  readonly #whenIdle: (() => void)[] = [];

  constructor(options: ShardClientOptions) {
    this.#options = options;
    this.#wasMade = options.wasMade;
    const { config, log } = options;
    this.#thread = new ShardThread(config, IN_FLIGHT_MAX, (error) => {
      log.error({ path: config.path, error: String(error) }, 'shard thread ended');
    });
  }

  get isOpen(): boolean {
    return this.#state === 'open';
  }

  /** What is wrong with the shard's data; null: nothing. */
  get trouble(): string | null {
    return this.#trouble;
  }

  /** Says that the shard fails again and again; null: it does not. */
  get failing(): string | null {
    return this.#restarts.trouble;
  }

  /** Requests waiting or in flight. */
  get depth(): number {
    return this.#depth;
  }

  /** Starts the thread; rejects when the shard's data cannot be read. */
  async open(): Promise<OpenReport> {
    // Here, and not in the thread: LMDB would end the whole process.
    const { path } = this.#options.config;
    if (checkLmdbFile(path) === null && this.#wasMade) throw missingFile(path);
    const report = await this.#thread.open();
    this.#wasMade = true;
    // In one step, so that later messages queue up behind those that the shard must get first.
    this.#state = 'open';
    this.#restarts.opened(this.#trouble !== null);
    this.#trouble = null;
    this.#options.opened(report);
    await this.#tellPrelude();
    return report;
  }

  /** `open`, again and again until the data can be read. */
  openLater(trouble: string): void {
    const { config, log } = this.#options;
    this.#state = 'restarting';
    this.#trouble = trouble;
    log.error({ path: config.path, error: trouble }, 'shard is out of order');
    this.#restartLater(trouble);
  }

  async #tellPrelude(): Promise<void> {
    const delivered = this.#options.startupMessages().map((message) => {
      if (isTick(message)) this.tick(message);
      return isCommand(message) ? this.deliver(message) : null;
    });
    for (const reply of await Promise.all(delivered)) {
      if (reply?.ok === false) throw new Error(reply.message);
    }
  }

  /** Why no request is taken now; null: one is. */
  refusal(): EngineBusy | null {
    if (this.#state !== 'open') {
      return new EngineBusy(this.#trouble ?? `the engine is ${this.#state}`);
    }
    return this.#depth >= this.#options.queueDepthMax ? AT_ITS_LIMIT : null;
  }

  /**
   * Answers the waiter once what the answer shows is durable. Or with `EngineBusy`, maybe at once.
   */
  ask(request: Command | Query, waiter: Waiter): undefined {
    const refusal = this.#refusalOf(request);
    if (refusal === null) this.#send(request, waiter);
    else waiter.reject(refusal);
  }

  /** `ask` as a promise. */
  call(request: Command | Query): Promise<Reply> {
    return new Promise((resolve, reject) => this.ask(request, { resolve, reject }));
  }

  #refusalOf(request: Command | Query): EngineBusy | null {
    const refusal = this.refusal();
    if (refusal !== null || this.#trouble === null || !isJournaled(request)) return refusal;
    return new DiskFull(this.#thread.disk.errno, 0);
  }

  /**
   * Sends the shard what its startup messages hold from now on, past the bound of the queue. Null:
   * it is not open, and gets it at its next start.
   */
  async deliver(command: Command): Promise<Reply | null> {
    if (this.#state !== 'open') return null;
    return new Promise<Reply>((resolve, reject) => {
      this.#send(command, { resolve, reject });
    }).catch((error: unknown) => {
      if (error instanceof EngineBusy) return null;
      throw error;
    });
  }

  /** Ticks are not answered. A shard that restarts gets the newest ones with its startup messages. */
  tick(tick: Tick): void {
    if (this.#state !== 'open') return;
    this.#outbox.addTick(tick);
    this.#schedule();
  }

  #send(request: Command | Query, waiter: Waiter): void {
    this.#depth++;
    this.#outbox.addRequest(request, waiter);
    this.#schedule();
  }

  async checkpoint(): Promise<void> {
    await this.#thread.checkpoint();
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
    this.#restarts.cancel();
    await this.drained();
    await this.#thread.close(wasOpen);
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
    while (this.#outbox.length > 0 && this.#maySend()) {
      const { messages, waiters } = this.#outbox.take(BATCH_MAX);
      this.#inFlight++;
      this.#thread.take(messages).then(
        (replies) => this.#answered(waiters, replies),
        (error: Error) => this.#failed(error, waiters),
      );
    }
  }

  /** The next batch leaves before these answers are passed on: both threads work meanwhile. */
  #answered(waiters: Waiter[], replies: (Reply | null)[]): void {
    this.#inFlight--;
    this.#depth -= waiters.length;
    this.#noteDisk();
    this.#flush();
    for (let at = 0; at < waiters.length; at++) {
      const reply = replies[at]!;
      if (reply === null) waiters[at]!.reject(new DiskFull(this.#thread.disk.errno, 0));
      else waiters[at]!.resolve(reply);
    }
    this.#tellIfIdle();
  }

  /**
   * The disk has space again: the shard goes on by itself, and gets again what it could only show.
   */
  #noteDisk(): void {
    const { errno } = this.#thread.disk;
    const trouble = errno === 0 ? null : troubleText(errno);
    if (trouble === this.#trouble) return;
    this.#trouble = trouble;
    const { config, log } = this.#options;
    if (trouble !== null) {
      log.error({ path: config.path, error: trouble }, 'shard only reads now');
      return;
    }
    log.info({ path: config.path }, 'shard writes again');
    this.#tellPrelude().catch((error: unknown) => {
      log.error({ path: config.path, error: String(error) }, 'shard was not told what it missed');
    });
  }

  #tellIfIdle(): void {
    if (this.#isIdle()) for (const resolve of this.#whenIdle.splice(0)) resolve();
  }

  /** Sends at once when nothing is in flight, else only a full batch: requests share commits. */
  #maySend(): boolean {
    if (this.#inFlight === 0) return true;
    return this.#inFlight < IN_FLIGHT_MAX && this.#outbox.length >= BATCH_FULL;
  }

  #isIdle(): boolean {
    return this.#outbox.length === 0 && this.#inFlight === 0;
  }

  /** The thread ended. Whether these batches are on disk, a retry under the same key finds out. */
  #failed(error: Error, waiters: Waiter[]): void {
    const busy = new EngineBusy('the engine is restarting');
    this.#inFlight--;
    const { config, log } = this.#options;
    if (this.#state === 'open') {
      this.#state = 'restarting';
      const reason = this.#thread.faultOf(error);
      log.error({ path: config.path, error: reason }, 'shard failed; starting it again');
      waiters.push(...this.#outbox.clear());
      this.#restartLater(reason);
    }
    this.#depth -= waiters.length;
    for (const waiter of waiters) waiter.reject(busy);
    this.#tellIfIdle();
  }

  #restartLater(reason: string): void {
    this.#restarts.later(reason, () => {
      if (this.#state === 'restarting') this.#restart();
    });
  }

  #restart(): void {
    const { config, log } = this.#options;
    this.open().then(
      (report) => {
        // It may have failed again at its first messages.
        if (this.#state !== 'open') return;
        const { accounts, restingOrders, replayedBatches } = report;
        const found = { accounts, restingOrders, replayedBatches };
        log.info({ path: config.path, ...found }, 'shard is back');
      },
      (error: unknown) => {
        if (this.#state === 'closed') return;
        const damage = isDamage(error) ? error.message : null;
        // A damaged file is tried again and again, and logged once.
        if (damage === null || damage !== this.#trouble) {
          const details = { path: config.path, error: String(error) };
          log.error(details, 'shard did not start; trying again');
        }
        this.#trouble = damage ?? this.#trouble;
        this.#state = 'restarting';
        this.#restartLater(String(error));
      },
    );
  }
}
