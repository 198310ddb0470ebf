/**
 * How one thread sleeps and another wakes it. The sleeper raises a flag, looks once more for news,
 * and waits on the flag itself. A thread with news lowers the flag, and wakes the sleeper only if
 * it was up. So no wake-up is spent on a thread that is awake.
 *
 * No wake-up is lost. News is published before the flag is read, and the flag is raised before the
 * sleeper looks for news. So at least one of the two sees the other. If the flag is lowered between
 * the look and the wait, the wait ends at once, because it compares that very flag. A wait on a
 * position of a ring would miss a ringer that lowered the flag first.
 */
import { invariant } from '../base/invariant.ts';

const AWAKE = 0;
const ASLEEP = 1;

export function bellMemory(): SharedArrayBuffer {
  return new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
}

export class Bell {
  readonly #flag: Int32Array;
  #sleeping: Promise<void> | null = null;

  /** Each of the two threads creates one over the same `bellMemory`. */
  constructor(memory: SharedArrayBuffer) {
    this.#flag = new Int32Array(memory);
  }

  /** Wakes the sleeper. Call it after the change that makes its `hasNews` true. */
  ring(): void {
    if (Atomics.exchange(this.#flag, 0, AWAKE) === ASLEEP) Atomics.notify(this.#flag, 0);
  }

  /**
   * Blocks the thread until there may be news, or for `timeoutMs`. Its event loop is blocked too.
   */
  sleep(hasNews: () => boolean, timeoutMs = Number.POSITIVE_INFINITY): void {
    invariant(this.#sleeping === null, 'a thread blocks while it sleeps by its event loop');
    this.#raise();
    if (!hasNews()) Atomics.wait(this.#flag, 0, ASLEEP, timeoutMs);
    Atomics.store(this.#flag, 0, AWAKE);
  }

  /**
   * Resolves when there may be news, or after `timeoutMs`; the thread's event loop runs meanwhile.
   * Null: there is news. If the thread already sleeps, returns that sleep.
   */
  sleepAsync(hasNews: () => boolean, timeoutMs = Number.POSITIVE_INFINITY): Promise<void> | null {
    if (this.#sleeping !== null) return this.#sleeping;
    this.#raise();
    if (hasNews()) {
      Atomics.store(this.#flag, 0, AWAKE);
      return null;
    }
    const waiting = Atomics.waitAsync(this.#flag, 0, ASLEEP, timeoutMs);
    if (!waiting.async) return null;
    this.#sleeping = waiting.value.then(() => {
      this.#sleeping = null;
      Atomics.store(this.#flag, 0, AWAKE);
    });
    return this.#sleeping;
  }

  #raise(): void {
    const before = Atomics.exchange(this.#flag, 0, ASLEEP);
    invariant(before === AWAKE, 'two threads sleep on one bell');
  }
}
