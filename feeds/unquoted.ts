/** Markets that a connection asked for and has no quote of yet. Rule W9 (feeds/FORMATS.md). */
import type { EpochMs } from '../engine/rules/units.ts';
import type { FrameReading, VenueTick } from './venue.ts';

/** A ticker that the venue does not know stays here; nothing else would show that. */
export class Unquoted {
  readonly #sinceMs = new Map<string, EpochMs>();

  /** By market: when it was asked for. */
  get markets(): ReadonlyMap<string, EpochMs> {
    return this.#sinceMs;
  }

  ask(market: string, atMs: EpochMs): void {
    this.#sinceMs.set(market, atMs);
  }

  take({ rejected, ticks }: Pick<FrameReading, 'rejected' | 'ticks'>): void {
    if (rejected !== null || this.#sinceMs.size === 0) return;
    for (const tick of ticks) if (isAnswer(tick)) this.#sinceMs.delete(tick.market);
  }

  clear(): void {
    this.#sinceMs.clear();
  }
}

/** A quote, also an empty one, or that there will be none: paused, closed, resolved. */
function isAnswer(
  tick: VenueTick,
): tick is Extract<VenueTick, { kind: 'book' | 'status' | 'result' }> {
  return (
    tick.kind === 'book' ||
    tick.kind === 'result' ||
    (tick.kind === 'status' && tick.status !== 'open')
  );
}
