/**
 * How often a thread has failed in a row, and how long its next start waits. A start counts as good
 * only once it has lasted. A feed, a caller or the disk may send again what made a thread fail. A
 * thread that fails at it each time must not look healthy. Rule D10 (engine/RULES.md).
 */
import type { EpochMs } from '../base/units.ts';

const DELAY_MS = 250;
const DELAY_MAX_MS = 10_000;
/** A thread that has been open for this long counts as repaired. */
const LASTED_MS = 60_000;

/** When its thread ended or did not start, on the machine's clock, and why. */
export type ShardFailure = { atMs: EpochMs; reason: string };

export class Restarts {
  /** In milliseconds of a clock that never goes back. */
  readonly #now: () => number;
  #failures = 0;
  #last: ShardFailure | null = null;
  /** Null: it is not open. */
  #openedAtMs: number | null = null;
  #timer: NodeJS.Timeout | null = null;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** `repaired`: its data was wrong and is right now, so earlier failures count no more. */
  opened(repaired: boolean): void {
    if (repaired || this.#hasLasted()) this.#failures = 0;
    this.#openedAtMs = this.#now();
  }

  /** Notes that the thread ended or could not start. @returns how long the next start waits, ms. */
  failed(reason: string): number {
    if (this.#hasLasted()) this.#failures = 0;
    this.#openedAtMs = null;
    this.#last = { atMs: Date.now(), reason };
    this.#failures++;
    return Math.min(DELAY_MS * 2 ** (this.#failures - 1), DELAY_MAX_MS);
  }

  /** `failed`, and the next start after that wait; nothing if a start is waiting already. */
  later(reason: string, start: () => void): void {
    if (this.#timer !== null) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      start();
    }, this.failed(reason));
  }

  /** No further start. */
  cancel(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  /** A next start is to follow. */
  get isWaiting(): boolean {
    return this.#timer !== null;
  }

  /** In this process; null: it has not failed. */
  get last(): ShardFailure | null {
    return this.#last;
  }

  /** From the second failure in a row on: `failed 3 times in a row: REASON`; null: nothing to say. */
  get problem(): string | null {
    if (this.#failures < 2 || this.#hasLasted()) return null;
    return `failed ${this.#failures} times in a row: ${this.#last?.reason}`;
  }

  #hasLasted(): boolean {
    return this.#openedAtMs !== null && this.#now() - this.#openedAtMs >= LASTED_MS;
  }
}
