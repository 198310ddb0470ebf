/** The recent failures of each caller. In memory and bounded. Rule I37 (api/RULES.md). */
import type { EpochMs } from '../../engine/base/units.ts';

/** Enough for a crowd. Beyond it the oldest failures are dropped. */
const TRIERS_MAX = 50_000;

export class Failures {
  /** Ordered by the newest failure of each. */
  readonly #times = new Map<string, EpochMs[]>();
  readonly #kept: number;
  readonly #withinMs: number;

  /** Keeps the latest `kept` failures of each caller. */
  constructor(kept: number, withinMs: number) {
    this.#kept = kept;
    this.#withinMs = withinMs;
  }

  /** The failures within the period, the latest at the end. */
  of(who: string, nowMs: EpochMs): EpochMs[] {
    const times = this.#times.get(who) ?? [];
    return times.filter((atMs) => nowMs - atMs < this.#withinMs);
  }

  add(who: string, nowMs: EpochMs): void {
    const times = [...this.of(who, nowMs), nowMs].slice(-this.#kept);
    this.#times.delete(who);
    this.#times.set(who, times);
    for (const [oldest, itsTimes] of this.#times) {
      const isOver = nowMs - itsTimes.at(-1)! >= this.#withinMs;
      if (!isOver && this.#times.size <= TRIERS_MAX) return;
      this.#times.delete(oldest);
    }
  }

  /** Drops the failures of a caller who has succeeded. */
  forget(who: string): void {
    this.#times.delete(who);
  }
}
