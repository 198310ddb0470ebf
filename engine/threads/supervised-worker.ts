/**
 * A thread beside the shards that is started again when it fails, and the questions that wait for
 * its answers. Rules D10, D60, D105, Y1, Z12 (engine/RULES.md), A95 (api/RULES.md).
 */
import { Worker } from 'node:worker_threads';
import { invariant } from '../base/invariant.ts';
import { HeapWatch, isOfHeap, nodeLimits } from './heap-watch.ts';
import type { Log } from './logger.ts';
import { PendingRequests } from './pending-requests.ts';
import { Restarts } from './restarts.ts';
import type { Unavailable } from './unavailable.ts';

export type SupervisedWorkerOptions<From> = {
  /** As the log and `/healthz` name it. */
  name: string;
  module: URL;
  /** Asked for each thread. */
  workerData(): unknown;
  log: Log;
  /** The error of questions while no thread runs. */
  down: Unavailable;
  /** The error once it is closed; `down` when left out. */
  closed?: Unavailable;
  /** The process may end while this thread runs. */
  isUnref?: boolean;
  /**
   * A thread that uses more memory during a question is ended, and its questions are refused with
   * `over`. A question caused this, and not the thread.
   */
  heap?: { mib: number; over: Unavailable };
  /**
   * Its work has pauses, and no caller waits for it. So it collects its young objects often, and
   * takes less memory.
   */
  isQuiet?: boolean;
  /** Its host starts it again, once everything that it needs is there. */
  isRestartedByHost?: boolean;
  /** Without a question for so long it ends, until the next one. It runs forever when left out. */
  idleMs?: number;
  /** Any message of the thread. */
  take(message: From): void;
  /** Sends a new thread its first messages. */
  started?(): void;
  /**
   * A thread has ended without being asked to, and all its messages were taken. Another one starts
   * later, unless it is closed here.
   */
  ended?(reason: Error): void;
};

/** V8's own bound is 48. */
const QUIET_YOUNG_MIB = 6;

export class SupervisedWorker<To extends { kind: string }, From> {
  readonly #options: SupervisedWorkerOptions<From>;
  readonly #restarts = new Restarts();
  readonly #waiting = new PendingRequests();
  /** Null: none runs. */
  #worker: Worker | null = null;
  #isClosing = false;
  #closed: Promise<void> | null = null;
  /** Resolves once a thread that was ended on purpose has ended. */
  #stopped: Promise<unknown> = Promise.resolve();
  #starts = 0;
  /** The start that has opened last. */
  #opened = 0;
  /** The failure of this thread, until it ends. */
  #fault: Error | null = null;
  /** The failure of the last thread; null: another one has opened. */
  #failure: Error | null = null;
  #idle: NodeJS.Timeout | null = null;
  /** Of the last thread; null: its heap has no limit of its own. */
  #watch: HeapWatch | null = null;

  constructor(options: SupervisedWorkerOptions<From>) {
    this.#options = options;
  }

  start(): void {
    invariant(this.#worker === null, 'a thread is started beside another');
    const { module, workerData, take, started, isUnref = false, heap, isQuiet } = this.#options;
    const worker = new Worker(module, {
      workerData: workerData(),
      // The present environment, so that NODE_OPTIONS set while the process ran counts too.
      env: process.env,
      resourceLimits: {
        ...(heap === undefined ? {} : nodeLimits(heap.mib)),
        ...(isQuiet === true ? { maxYoungGenerationSizeMb: QUIET_YOUNG_MIB } : {}),
      },
    });
    this.#worker = worker;
    this.#watch =
      heap === undefined
        ? null
        : new HeapWatch(worker, heap.mib, (error) => this.#failed(worker, error));
    this.#starts++;
    if (isUnref) worker.unref();
    this.#fault = null;
    // Messages of a thread that was ended on purpose are ignored.
    worker.on('message', (message: From) => {
      if (worker === this.#worker) take(message);
    });
    worker.on('error', (error) => this.#failed(worker, error as Error));
    worker.on('exit', (code) => this.#ended(worker, code));
    started?.();
    this.#attend();
  }

  /** Starts the first thread, for a host that needs none before its first question. */
  startOnce(): void {
    if (this.#starts === 0 && !this.#isClosing) this.start();
  }

  /** Another number means another thread. */
  get starts(): number {
    return this.#starts;
  }

  /** Whether messages reach a thread, which may still be opening its files. */
  get isUp(): boolean {
    return this.#worker !== null && !this.#isClosing;
  }

  /** Questions without an answer. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** The problem on one line; null: there is none. */
  get problem(): string | null {
    const problem = this.#restarts.problem ?? this.#failure?.message ?? null;
    return problem === null ? null : `${this.#options.name}: ${problem}`;
  }

  /**
   * The thread reports that it works. If its failure is heard before its first report, it has
   * failed.
   */
  opened(): void {
    if (this.#opened === this.#starts || this.#fault !== null) return;
    this.#opened = this.#starts;
    this.#restarts.opened(false);
    this.#failure = null;
  }

  /**
   * Does nothing if no thread runs. @param moved buffers that the message moves and does not copy
   */
  post(message: To, moved: ArrayBuffer[] = []): void {
    this.#worker?.postMessage(message, moved);
  }

  /**
   * Resolves with the answer to a question of that number; rejects while no thread runs. A thread
   * that ended for lack of questions, or because of a question, is started.
   */
  ask<A>(messageOf: (id: number) => To): Promise<A> {
    if (this.#isAtRest) this.start();
    if (!this.isUp) return Promise.reject(this.#refusal);
    const answer = this.#waiting.ask<A>((id) => this.post(messageOf(id)));
    this.#attend();
    return answer;
  }

  answered(id: number, answer: unknown): void {
    this.#waiting.resolve(id, answer);
    this.#attend();
  }

  refused(id: number, error: Error): void {
    this.#waiting.reject(id, error);
    this.#attend();
  }

  /** Ends a thread that cannot work, as if it had failed. */
  fail(error: Error): void {
    const worker = this.#worker;
    if (worker === null) return;
    this.#failed(worker, error);
    void worker.terminate();
  }

  /** Ends the thread at once, until the next question. Its questions are refused with `reason`. */
  stop(reason: Error): void {
    const worker = this.#worker;
    if (worker === null || this.#isClosing) return;
    this.#worker = null;
    this.#stopped = Promise.all([this.#stopped, worker.terminate()]);
    this.#waiting.rejectAll(reason);
    this.#attend();
  }

  /**
   * Resolves once the thread has ended; a second call waits for the same end. @param last the
   * message that ends the thread, after everything sent before; null: it ends at once @param
   * withinMs a thread that has not ended by then is ended
   */
  async close(last: To | null, withinMs?: number): Promise<void> {
    this.#closed ??= this.#close(last, withinMs);
    await this.#closed;
  }

  async #close(last: To | null, withinMs?: number): Promise<void> {
    this.#isClosing = true;
    this.#restarts.cancel();
    this.#attend();
    await this.#stopped;
    const worker = this.#worker;
    if (worker === null) return;
    const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
    if (last === null) void worker.terminate();
    else this.post(last);
    const end = () => void worker.terminate();
    const timer = withinMs === undefined ? undefined : setTimeout(end, withinMs);
    await ended;
    clearTimeout(timer);
  }

  /** None runs and none will start by itself; the next question starts it. */
  get #isAtRest(): boolean {
    const { idleMs } = this.#options;
    const isNone = this.#worker === null && !this.#isClosing;
    return isNone && idleMs !== undefined && !this.#restarts.isWaiting;
  }

  /** Watches the heap during questions. Without one, counts the time without from now on. */
  #attend(): void {
    const { idleMs } = this.#options;
    if (this.#waiting.size > 0 && this.#worker !== null) this.#watch?.begin();
    else this.#watch?.end();
    if (idleMs === undefined) return;
    if (this.#idle !== null) clearTimeout(this.#idle);
    this.#idle = null;
    if (this.#waiting.size > 0 || !this.isUp) return;
    this.#idle = setTimeout(() => this.stop(this.#refusal), idleMs);
    this.#idle.unref();
  }

  get #refusal(): Unavailable {
    const { down, closed = down } = this.#options;
    return this.#isClosing ? closed : down;
  }

  /** The thread has failed, and ends. */
  #failed(worker: Worker, error: Error): void {
    if (worker !== this.#worker) return;
    const { name, log, heap } = this.#options;
    if (heap !== undefined && isOfHeap(error)) {
      log.error({ err: error }, `the ${name} needed too much memory, and was ended`);
      return this.stop(heap.over);
    }
    this.#fault = error;
    this.#failure = error;
    log.error({ err: error }, `the ${name} has failed, and starts again`);
  }

  #ended(worker: Worker, code: number): void {
    if (worker !== this.#worker) return;
    if (this.#fault === null && !this.#isClosing) {
      this.#failed(worker, new Error(`the thread ended with code ${code}`));
    }
    this.#worker = null;
    this.#waiting.rejectAll(this.#refusal);
    this.#attend();
    if (this.#isClosing) return;
    const failure = this.#fault;
    invariant(failure !== null, 'a thread ended without a reason');
    const { ended, isRestartedByHost = false } = this.#options;
    ended?.(failure);
    if (!this.#isClosing && !isRestartedByHost)
      this.#restarts.later(failure.message, () => this.start());
  }
}
