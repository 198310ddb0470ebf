/** The callers' end of one feed thread, from its start to its end. */
import { Worker } from 'node:worker_threads';
import { Endpoint } from '../../engine/ring/endpoint.ts';
import type { FeedThreadInput, FromFeedThread, ToFeedThread } from './feed-thread-messages.ts';

export type FeedThreadListener = {
  message(message: FromFeedThread): void;
  /** Packed ticks, in memory of their own. */
  batch(bytes: Buffer): void;
  /** It has ended, and all that it sent before was handed over. Null: as it was asked to. */
  ended(reason: string | null): void;
};

/** Batches handed over before the event loop serves callers. */
const BATCHES_A_TURN = 8;
/** A thread that was asked to end and has not by then is ended. */
const CLOSING_MS = 3000;

export class FeedThreadLink {
  readonly #worker: Worker;
  readonly #end: Endpoint;
  readonly #listener: FeedThreadListener;
  readonly #ended: Promise<void>;
  #reason: string | null = null;
  #isClosing = false;
  #isEnded = false;

  constructor(module: URL, input: FeedThreadInput, listener: FeedThreadListener) {
    this.#listener = listener;
    this.#end = new Endpoint(input.channel, 'shard');
    this.#worker = new Worker(module, { workerData: input });
    this.#worker.on('message', (message: FromFeedThread) => listener.message(message));
    this.#worker.on('error', (error) => {
      this.#reason = String(error);
    });
    this.#ended = new Promise((resolve) => {
      this.#worker.once('exit', (code) => {
        this.#finish(this.#reason ?? (this.#isClosing ? null : `it ended with code ${code}`));
        resolve();
      });
    });
    this.#end.whenNews(this.#wake);
  }

  post(message: ToFeedThread): void {
    this.#worker.postMessage(message);
  }

  /** Resolves once the thread has ended. */
  async close(): Promise<void> {
    this.#isClosing = true;
    this.post({ kind: 'close' });
    const timer = setTimeout(() => void this.#worker.terminate(), CLOSING_MS);
    await this.#ended;
    clearTimeout(timer);
  }

  readonly #wake = (): void => {
    if (this.#isEnded) return;
    this.#receive(BATCHES_A_TURN);
    this.#end.whenNews(this.#wake);
  };

  #receive(atMost: number): void {
    for (let batches = 0; batches < atMost && this.#end.isReady(); batches++) {
      const { bytes, at, end } = this.#end.next();
      this.#listener.batch(Buffer.from(bytes.subarray(at, end)));
    }
  }

  #finish(reason: string | null): void {
    this.#receive(Number.POSITIVE_INFINITY);
    this.#isEnded = true;
    // A sleeper would keep the memory of the ring for ever.
    this.#end.wakeOwn();
    this.#listener.ended(reason);
  }
}
