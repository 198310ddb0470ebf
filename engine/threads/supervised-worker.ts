/**
 * A thread beside the shards that is started again when it fails, and the questions that wait for
 * its answers. Rules D10, Y1 (engine/RULES.md).
 */
import { Worker } from 'node:worker_threads';
import { invariant } from '../base/invariant.ts';
import type { Log } from './log.ts';
import { WaitingAnswers } from './pending-requests.ts';
import { Restarts } from './restarts.ts';
import type { EngineBusy } from './unavailable.ts';

export type KeptThreadOptions<From> = {
  /** As the log and `/healthz` name it. */
  name: string;
  module: URL;
  /** Asked for each thread. */
  workerData(): unknown;
  log: Log;
  /** What questions are rejected with while none runs. */
  down: EngineBusy;
  /** Whatever the thread says. */
  take(message: From): void;
  /** Sends a thread that was just started what it needs first. */
  started(): void;
};

export class KeptThread<To extends { kind: string }, From> {
  readonly #options: KeptThreadOptions<From>;
  readonly #restarts = new Restarts();
  readonly #waiting = new WaitingAnswers();
  #worker: Worker | null = null;
  #isClosing = false;
  #starts = 0;
  /** What the last thread failed at; null: another one has opened. */
  #failure: string | null = null;

  constructor(options: KeptThreadOptions<From>) {
    this.#options = options;
  }

  start(): void {
    invariant(this.#worker === null, 'a thread is started beside another');
    const { module, workerData, take, started } = this.#options;
    const worker = new Worker(module, { workerData: workerData() });
    this.#worker = worker;
    this.#starts++;
    worker.on('message', take);
    worker.on('error', (error) => this.#failed(error));
    worker.on('exit', () => this.#ended());
    started();
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
    const { trouble } = this.#restarts;
    const problem = trouble ?? this.#failure;
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
    if (!this.isUp) return Promise.reject(this.#options.down);
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

  /** @param last what the thread ends at; everything sent before is taken first */
  async close(last: To): Promise<void> {
    this.#isClosing = true;
    this.#restarts.cancel();
    const worker = this.#worker;
    if (worker === null) return;
    const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
    this.post(last);
    await ended;
  }

  /** It has failed at something, and ends. */
  #failed(error: unknown): void {
    const { name, log } = this.#options;
    this.#failure = (error as Error).message;
    log.error({ err: error }, `the ${name} has failed, and starts again`);
  }

  #ended(): void {
    this.#worker = null;
    this.#waiting.rejectAll(this.#options.down);
    if (this.#isClosing) return;
    this.#restarts.later(this.#failure ?? 'the thread ended', () => this.start());
  }
}
