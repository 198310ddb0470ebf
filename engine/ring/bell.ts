/**
 * How one thread sleeps and another wakes it. The sleeper raises a flag, looks once more whether
 * there is news, and waits on the flag itself. Whoever brings news takes the flag down, and wakes
 * the sleeper only where it was up: a thread that is awake costs nobody a wake-up.
 *
 * No wake-up is lost. News is shown before the flag is looked at, and the flag is raised before news
 * is looked for, so one of the two sees the other. A flag that goes down between the look and the
 * wait ends the wait at once, since the wait compares that very flag. To wait on a position of a
 * ring instead would lose the wake-up of a ringer that took the flag down first.
 */
import { invariant } from '../rules/invariant.ts';

const AWAKE = 0;
const ASLEEP = 1;

export function bellMemory(): SharedArrayBuffer {
  return new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
}

export class Bell {
  readonly #flag: Int32Array;
  #sleeping: Promise<void> | null = null;

  /** Each of the two threads makes one over the same `bellMemory`. */
  constructor(memory: SharedArrayBuffer) {
    this.#flag = new Int32Array(memory);
  }

  /** Wakes the sleeper. To be called behind what makes its `hasNews` true. */
  ring(): void {
    if (Atomics.exchange(this.#flag, 0, AWAKE) === ASLEEP) Atomics.notify(this.#flag, 0);
  }

  /** Blocks the thread until there may be news, or for `timeoutMs`. Its event loop stands still. */
  sleep(hasNews: () => boolean, timeoutMs = Number.POSITIVE_INFINITY): void {
    invariant(this.#sleeping === null, 'a thread blocks while it sleeps by its event loop');
    this.#raise();
    if (!hasNews()) Atomics.wait(this.#flag, 0, ASLEEP, timeoutMs);
    Atomics.store(this.#flag, 0, AWAKE);
  }

  /**
   * Resolves when there may be news, or after `timeoutMs`; the thread's event loop turns meanwhile.
   * Null: there is news. Whoever sleeps already goes on sleeping.
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
    invariant(before === AWAKE, 'two threads sleep by one bell');
  }
}
