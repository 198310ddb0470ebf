/**
 * Sends messages to one shard's thread and passes on its answers. Messages of one turn are sent
 * together. Both directions are bounded: above the bound callers get 503, and quotes of one market
 * replace each other. Rules D6 to D10 (engine/RULES.md).
 */

import type { Control, Packed } from '../../format/codec.ts';
import { checkLmdbFile, missingFile } from '../../lmdb/lmdb-file.ts';
import { DiskFull, problemText } from '../../log/disk-full.ts';
import type { Command, Reply, Tick } from '../../rules/messages.ts';
import type { Query } from '../../rules/queries.ts';
import { Restarts } from '../../threads/restarts.ts';
import { AT_ITS_LIMIT, Unavailable } from '../../threads/unavailable.ts';
import { isCommand, isJournaled, isTick } from '../core/message-kinds.ts';
import { countsOf, type OpenReport } from '../store/open-report.ts';
import { isDamage } from '../thread/shard-damage.ts';
import { CheckpointRepair } from './checkpoint-repair.ts';
import { QueueBound } from './queue-bound.ts';
import { type ReplyHandler, SendQueue } from './send-queue.ts';
import type { ShardClientOptions } from './shard-client-options.ts';
import { ShardLink } from './shard-link.ts';
import type { ShardStatus } from './shard-status.ts';
import { ShardThread } from './thread.ts';

/** Messages published to the shard at a time: it decides the first while the next are packed. */
const SENT_TOGETHER = 64;
const TICKS_MAX = 50_000;

export class ShardClient {
  readonly #options: ShardClientOptions;
  readonly #thread: ShardThread;
  readonly #queue = new SendQueue(TICKS_MAX);
  /** Why no order can be placed here now; null: orders can be placed. */
  #problem: string | null = null;
  #state: ShardStatus['state'] = 'opening';
  readonly #bound: QueueBound;
  #scheduled = false;
  /** Null: no thread is served. */
  #link: ShardLink | null = null;
  /** Resolves once the shard is closed; rejects when its thread fails. */
  #ended = Promise.resolve();
  readonly #restarts = new Restarts();
  readonly #repair: CheckpointRepair;
  #wasMade: boolean;

  constructor(options: ShardClientOptions) {
    this.#options = options;
    this.#wasMade = options.wasMade;
    this.#bound = new QueueBound(options.queueDepthMax);
    const { config, rebuild, log } = options;
    this.#repair = new CheckpointRepair({ shard: config.shard, rebuild, log });
    this.#thread = new ShardThread(config, (error) => {
      log.error({ path: config.path, error: String(error) }, 'shard thread ended');
    });
  }

  get isOpen(): boolean {
    return this.#state === 'open';
  }

  get status(): ShardStatus {
    return {
      state: this.#state,
      problem: this.#problem,
      restartProblem: this.#restarts.problem,
      repaired: this.#repair.done,
      lastFailure: this.#restarts.last,
      queued: this.#bound.waiting,
      queuedMax: Math.floor(this.#bound.requests),
      progress: this.#thread.gauges.read(),
      batches: this.#thread.gauges.batches.read(Date.now()),
    };
  }

  /** Starts the thread; rejects when the shard's data cannot be read. */
  async open(): Promise<OpenReport> {
    // Checked here, not in the thread, because LMDB would end the whole process.
    const { path } = this.#options.config;
    if (checkLmdbFile(path) === null && this.#wasMade) throw missingFile(path);
    const report = await this.#thread.open();
    if (this.#state === 'closed') throw new Unavailable('the engine is stopping');
    this.#wasMade = true;
    this.#serve();
    // In one step: later messages must queue up after the messages that the shard gets first.
    this.#state = 'open';
    this.#restarts.opened(this.#problem !== null);
    this.#problem = null;
    this.#options.opened(report);
    await this.#sendStartupMessages();
    return report;
  }

  /**
   * `open`, except for damaged data: then it answers null, and retries until the data can be read.
   */
  async openOrLater(): Promise<OpenReport | null> {
    return await this.open().catch((error: unknown) => {
      if (!isDamage(error)) throw error;
      const { config, log } = this.#options;
      this.#state = 'restarting';
      this.#problem = error.message;
      this.#repair.refused(error);
      log.error({ path: config.path, error: error.message }, 'shard is out of order');
      this.#restartLater(error.message);
      return null;
    });
  }

  #serve(): void {
    const { end, ended } = this.#thread.serve();
    const link = new ShardLink(end, () => this.#takeNews());
    this.#link = link;
    this.#ended = ended;
    ended.then(
      () => this.#unlink(link),
      (error: Error) => this.#failed(error, link),
    );
  }

  async #sendStartupMessages(): Promise<void> {
    const delivered = this.#options.startupMessages().map((message) => {
      if (isTick(message)) this.tick(message);
      return isCommand(message) ? this.deliver(message) : null;
    });
    for (const reply of await Promise.all(delivered)) {
      if (reply?.ok === false) throw new Error(reply.message);
    }
  }

  /** Why no request is taken now; null: requests are taken. */
  refusal(): Unavailable | null {
    if (this.#state !== 'open') {
      return new Unavailable(this.#problem ?? `the engine is ${this.#state}`);
    }
    return this.#bound.waiting >= this.#bound.requests ? AT_ITS_LIMIT : null;
  }

  /** Answers once all that the answer shows is durable; or with `Unavailable`, maybe at once. */
  ask(request: Command | Query, waiter: ReplyHandler): undefined {
    const refusal = this.#refusalOf(request);
    if (refusal === null) this.#send(request, waiter);
    else waiter.reject(refusal);
  }

  call(request: Command | Query): Promise<Reply> {
    return new Promise((resolve, reject) => this.ask(request, { resolve, reject }));
  }

  #refusalOf(request: Command | Query): Unavailable | null {
    const refusal = this.refusal();
    if (refusal !== null || this.#problem === null || !isJournaled(request)) return refusal;
    return new DiskFull(this.#thread.disk.errno, 0);
  }

  /**
   * Sends the shard its current startup messages, even past the bound of the queue. Null: it is not
   * open, and gets them at its next start.
   */
  async deliver(command: Command): Promise<Reply | null> {
    if (this.#state !== 'open') return null;
    return new Promise<Reply>((resolve, reject) => {
      this.#send(command, { resolve, reject });
    }).catch((error: unknown) => {
      if (error instanceof Unavailable) return null;
      throw error;
    });
  }

  /** Ticks are not answered. A shard that restarts gets the newest ones with its startup messages. */
  tick(tick: Tick | Packed): void {
    if (this.#state !== 'open') return;
    this.#queue.addTick(tick);
    this.#schedule();
  }

  #send(request: Command | Query | Control, waiter: ReplyHandler): void {
    this.#bound.came();
    this.#queue.addRequest(request, waiter);
    this.#schedule();
  }

  /** Resolves when the shard has processed everything sent so far, or has lost it. */
  drained(): Promise<void> {
    if (this.#link === null) return Promise.resolve();
    return new Promise((resolve) => {
      this.#send({ kind: 'barrier' }, { resolve: () => resolve(), reject: () => resolve() });
    });
  }

  /** Answers the queued requests, writes a checkpoint, ends the thread. */
  async close(): Promise<void> {
    this.#state = 'closed';
    this.#restarts.cancel();
    this.#repair.close();
    try {
      if (this.#link === null) return;
      // The shard's last message. Its thread ends instead of an answer.
      this.#send({ kind: 'close' }, { resolve() {}, reject() {} });
      await this.#ended;
    } finally {
      await this.#thread.destroy();
    }
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
    this.#noteDisk();
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

  readonly #answer = (waiter: ReplyHandler, reply: Reply | null): void => {
    this.#bound.answered();
    if (reply === null) waiter.reject(new DiskFull(this.#thread.disk.errno, 0));
    else waiter.resolve(reply);
  };

  /** The disk has space again: sends the shard the ticks that it could only show. */
  #noteDisk(): void {
    const { errno } = this.#thread.disk;
    const problem = errno === 0 ? null : problemText(errno);
    if (problem === this.#problem) return;
    this.#problem = problem;
    const { config, log } = this.#options;
    if (problem !== null) {
      log.error({ path: config.path, error: problem }, 'shard only reads now');
      return;
    }
    log.info({ path: config.path }, 'shard writes again');
    this.#sendStartupMessages().catch((error: unknown) => {
      log.error(
        { path: config.path, error: String(error) },
        'shard did not get its missed messages',
      );
    });
  }

  /** The thread is served no more. Answers the remaining requests, so that none waits forever. */
  #unlink(link: ShardLink): void {
    const waiters = [...link.end(this.#answer), ...this.#queue.clear()];
    this.#link = null;
    const busy = new Unavailable('the engine is restarting');
    this.#bound.lost(waiters.length);
    for (const waiter of waiters) waiter.reject(busy);
  }

  /** The thread ended. Its last requests may be on disk: a retry with the same key finds out. */
  #failed(error: Error, link: ShardLink): void {
    const { config, log } = this.#options;
    const reason = this.#thread.faultOf(error);
    if (this.#state === 'open') {
      this.#state = 'restarting';
      this.#repair.failed(reason);
      log.error({ path: config.path, error: reason }, 'shard failed; starting it again');
      this.#restartLater(reason);
    }
    this.#unlink(link);
  }

  #restartLater(reason: string): void {
    this.#restarts.later(reason, async () => {
      await this.#repair.run((problem) => {
        this.#problem = problem;
      });
      if (this.#state === 'restarting') this.#restart();
    });
  }

  #restart(): void {
    const { config, log } = this.#options;
    this.open().then(
      (report) => {
        // It may have failed again at its first messages.
        if (this.#state !== 'open') return;
        log.info({ path: config.path, ...countsOf(report) }, 'shard is back');
      },
      (error: unknown) => {
        if (this.#state === 'closed') return;
        const damage = isDamage(error) ? this.#repair.shown(error.message) : null;
        // A damaged file is retried often, and logged once.
        if (damage === null || damage !== this.#problem) {
          const details = { path: config.path, error: String(error) };
          log.error(details, 'shard did not start; trying again');
        }
        this.#problem = damage ?? this.#problem;
        this.#repair.refused(error as Error);
        this.#state = 'restarting';
        this.#restartLater(String(error));
      },
    );
  }
}
