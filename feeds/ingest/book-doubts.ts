/**
 * Signs that a book differs from the venue's: best prices that frames state beside it, and a cross
 * that does not end. Rules B14, B15 (feeds/FORMATS.md).
 */
import type { EpochMs } from '../../engine/base/units.ts';
import type { StatedTop } from '../reading/venue.ts';

/** A venue may state the prices of a moment before or after, but not for so long. */
const CONTRADICTED_MS = 250;
const CROSSED_MS = 5_000;

export class BookDoubts {
  /** By market: since when each frame has contradicted its book. */
  readonly #contradictedMs = new Map<string, EpochMs>();
  /** By market: since when its book is crossed; the longest first. */
  readonly #crossedMs = new Map<string, EpochMs>();

  /** @returns the markets whose book is refuted */
  refuted(stated: readonly StatedTop[], atMs: EpochMs): string[] {
    const refuted: string[] = [];
    for (const { market, agrees } of stated) {
      if (agrees) {
        if (this.#contradictedMs.size > 0) this.#contradictedMs.delete(market);
        continue;
      }
      const sinceMs = this.#contradictedMs.get(market);
      // Time may be set back.
      if (sinceMs === undefined || sinceMs > atMs) this.#contradictedMs.set(market, atMs);
      else if (atMs - sinceMs >= CONTRADICTED_MS) refuted.push(market);
    }
    for (const market of refuted) this.#contradictedMs.delete(market);
    return refuted;
  }

  /** The book of a market, as a frame has left it. */
  shown(market: string, isCrossed: boolean, atMs: EpochMs): void {
    if (!isCrossed) {
      if (this.#crossedMs.size > 0) this.#crossedMs.delete(market);
    } else if (!this.#crossedMs.has(market)) this.#crossedMs.set(market, atMs);
  }

  /** @returns the markets whose books have been crossed for too long; each once */
  stuck(atMs: EpochMs): readonly string[] {
    if (this.#crossedMs.size === 0) return NONE;
    const stuck: string[] = [];
    for (const [market, sinceMs] of this.#crossedMs) {
      if (sinceMs > atMs) this.#crossedMs.set(market, atMs);
      if (atMs - sinceMs < CROSSED_MS) continue;
      stuck.push(market);
      this.#crossedMs.delete(market);
    }
    return stuck;
  }

  /** The connection starts over. */
  clear(): void {
    this.#contradictedMs.clear();
    this.#crossedMs.clear();
  }
}

const NONE: readonly string[] = [];
