/** Long work of the thread that answers requests, some at a time, so that no request waits long. */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

const SLICE_MS = 2;
/** Between two slices: the work has a sixth of the thread. */
const PAUSE_MS = 10;
/** Reading the clock costs more than a step. */
const STEPS_AT_ONCE = 64;

export class BackgroundTask {
  readonly #stop = new AbortController();
  readonly #begins: Promise<void>;

  /** Its work begins with this at the earliest. */
  constructor(begins: Promise<void> = Promise.resolve()) {
    this.#begins = begins;
  }

  /**
   * The result of the work; null when it was stopped before its end. Rejects if the work throws.
   */
  async run<T>(work: Generator<undefined, T>): Promise<T | null> {
    try {
      const { signal } = this.#stop;
      if (!signal.aborted) await Promise.race([this.#begins, once(signal, 'abort')]);
      for (;;) {
        // Waits first, so that its caller continues before it.
        await sleep(PAUSE_MS, undefined, { ref: false, signal: this.#stop.signal });
        const untilMs = performance.now() + SLICE_MS;
        do {
          for (let step = 0; step < STEPS_AT_ONCE; step++) {
            const { done, value } = work.next();
            if (done === true) return value;
          }
        } while (performance.now() < untilMs);
      }
    } catch (error) {
      if (this.#stop.signal.aborted) return null;
      throw error;
    } finally {
      // The work releases its resources.
      work.return(undefined as T);
    }
  }

  /** Stops all work within one turn of the event loop. */
  stop(): void {
    this.#stop.abort();
  }
}
