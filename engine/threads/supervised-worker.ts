/**
 * A thread beside the shards that is started again when it fails, and the questions that wait for
 * its answers. Rules D10, D60, Y1
 * (engine/RULES.md).
 */
import { Worker } from 'node:worker_threads';
import { invariant } from '../base/invariant.ts';
import type { Log } from './log.ts';
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
  /** What questions are rejected with while none runs. */
  down: Unavailable;
  /** And once it is closed; `down` when left out. */
  closed?: Unavailable;
  /** The process may end while this thread runs. */
  isUnref?: boolean;
  /** Whatever the thread says. */
  take(message: From): void;
  /** Sends a thread that was just started what it needs first. */
  started?(): void;
  /** A thread has ended without being asked to, and another one starts later. */
  ended?(): void;
};

export class SupervisedWorker<To extends { kind: string }, From> {
  readonly #options: SupervisedWorkerOptions<From>;
  readonly #restarts = new Restarts();
  readonly #waiting = new PendingRequests();
  #worker: Worker | null = null;
  #isClosing = false;
  #closed: Promise<void> | null = null;
  #starts = 0;
  /** What the last thread failed at; null: another one has opened. */
  #failure: string | null = null;

  constructor(options: SupervisedWorkerOptions<From>) {
    this.#options = options;
  }

  start(): void {
    invariant(this.#worker === null, 'a thread is started beside another');
    const { module, workerData, take, started, isUnref = false } = this.#options;
    const worker = new Worker(module, { workerData: workerData() });
    this.#worker = worker;
    this.#starts++;
    if (isUnref) worker.unref();
    worker.on('message', take);
    worker.on('error', (error) => this.#failed(error));
    worker.on('exit', () => this.#ended());
    started?.();
  }

  /** Starts the first thread, for a host that needs none before its first question. */
  startOnce(): void {
    if (this.#starts === 0 && !this.#isClosing) this.start();
  }

  /** Another number: the thread is another. */
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

  /** What is wrong, on one line; null: nothing. */
  get problem(): string | null {
    const ofStarts = this.#restarts.problem;
    const problem = ofStarts ?? this.#failure;
    return problem === null ? null : `${this.#options.name}: ${problem}`;
  }

  /** The thread has said that it works. */
  opened(): void {
    this.#restarts.opened(false);
    this.#failure = null;
  }

  /** Nothing where no thread runs. @param moved what the message takes along, and does not copy */
  post(message: To, moved: ArrayBuffer[] = []): void {
    this.#worker?.postMessage(message, moved);
  }

  /** Resolves with the answer to a question of that number; rejects while no thread runs. */
  ask<A>(messageOf: (id: number) => To): Promise<A> {
    if (!this.isUp) return Promise.reject(this.#refusal);
    return this.#waiting.ask<A>((id) => this.post(messageOf(id)));
  }

  answered(id: number, answer: unknown): void {
    this.#waiting.resolve(id, answer);
  }

  refused(id: number, error: Error): void {
    this.#waiting.reject(id, error);
  }

  /** Ends a thread that cannot work, as if it had failed. */
  fail(error: unknown): void {
    this.#failed(error);
    void this.#worker?.terminate();
  }

  /**
   * Resolves once the thread has ended; closed a second time, it waits for the same end.
   * @param last what the thread ends at, after everything sent before; null: it ends at once
   */
  async close(last: To | null): Promise<void> {
    this.#closed ??= this.#close(last);
    await this.#closed;
  }

  async #close(last: To | null): Promise<void> {
    this.#isClosing = true;
    this.#restarts.cancel();
    const worker = this.#worker;
    if (worker === null) return;
    const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
    if (last === null) void worker.terminate();
    else this.post(last);
    await ended;
  }

  get #refusal(): Unavailable {
    const { down, closed = down } = this.#options;
    return this.#isClosing ? closed : down;
  }

  /** It has failed at something, and ends. */
  #failed(error: unknown): void {
    const { name, log } = this.#options;
    this.#failure = (error as Error).message;
    log.error({ err: error }, `the ${name} has failed, and starts again`);
  }

  #ended(): void {
    this.#worker = null;
    this.#waiting.rejectAll(this.#refusal);
    if (this.#isClosing) return;
    this.#options.ended?.();
    this.#restarts.later(this.#failure ?? 'the thread ended', () => this.start());
  }
}
