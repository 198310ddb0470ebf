/**
 * How often boards are made again. After each making, a board rests for some times as long as it
 * took. All of them together take at most half of the thread. Rule Y21 (engine/RULES.md).
 */
import { invariant } from '../../base/invariant.ts';

const REST_FACTOR = 3;
const REST_MIN_MS = 1000;
/** Making takes up to 1.2 s at both ends, so a board is at most 5 s old. */
const REST_MAX_MS = 2400;
/**
 * After this time it no longer waits for the others: no request asked for it, or others were always
 * first.
 */
const OLD_MS = REST_MAX_MS + 1200;
/** So the ten boards that are kept take half of the thread, too. */
const OLD_FACTOR = 20;

/** How long a board has taken so far, and when it may be made again. */
export type Freshness = { tookMs: number; madeAtMs: number; untilMs: number };

export class RefreshBudget {
  /** In milliseconds, of this process. */
  readonly #clock: () => number;
  #restsUntilMs = Number.NEGATIVE_INFINITY;

  constructor(clock: () => number) {
    this.#clock = clock;
  }

  /** Whether an existing board is to be made again now. */
  isDue({ tookMs, madeAtMs, untilMs }: Freshness): boolean {
    const nowMs = this.#clock();
    const isOld = nowMs - madeAtMs >= Math.max(OLD_FACTOR * tookMs, OLD_MS);
    return nowMs >= untilMs && (isOld || nowMs >= this.#restsUntilMs);
  }

  /** Makes a board, or continues a board that was made in part: `before` then is its freshness. */
  make<T>(make: () => T, before: Freshness | null = null): { made: T; freshness: Freshness } {
    const beganMs = this.#clock();
    const made = make();
    const endedMs = this.#clock();
    const tookMs = endedMs - beganMs + (before?.tookMs ?? 0);
    invariant(tookMs >= 0, 'the clock of a process went back');
    const madeAtMs = before?.madeAtMs ?? endedMs;
    const restMs = Math.min(Math.max(REST_FACTOR * tookMs, REST_MIN_MS), REST_MAX_MS);
    // The remaining rest is taken later.
    this.#restsUntilMs = Math.max(beganMs, this.#restsUntilMs) + 2 * (endedMs - beganMs);
    return { made, freshness: { tookMs, madeAtMs, untilMs: madeAtMs + restMs } };
  }
}
