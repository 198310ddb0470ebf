/**
 * Limits how often one caller may try something within a period. In memory and bounded. Rule I39
 * (api/RULES.md).
 */
import type { EpochMs } from '../../engine/base/units.ts';

type Window = { count: number; endsAtMs: EpochMs };

/** Enough for a crowd; above it the windows that end first are dropped. */
const TRIERS_MAX = 100_000;

export class Attempts {
  /** Ordered by their ends: all are equally long, and a new one is added at the back. */
  readonly #windows = new Map<string, Window>();
  readonly #max: number;
  readonly #windowMs: number;

  constructor(max: number, windowMs: number) {
    this.#max = max;
    this.#windowMs = windowMs;
  }

  /** Counts one attempt. Returns 0, or the seconds to wait when there were too many. */
  take(who: string, nowMs: EpochMs): number {
    this.#dropEnded(nowMs);
    let window = this.#windows.get(who);
    if (window === undefined) {
      window = { count: 0, endsAtMs: nowMs + this.#windowMs };
      this.#windows.set(who, window);
    }
    if (window.count === this.#max) return Math.max(1, Math.ceil((window.endsAtMs - nowMs) / 1000));
    window.count++;
    return 0;
  }

  #dropEnded(nowMs: EpochMs): void {
    for (const [who, { endsAtMs }] of this.#windows) {
      if (endsAtMs > nowMs && this.#windows.size < TRIERS_MAX) return;
      this.#windows.delete(who);
    }
  }
}
