/**
 * Markets that were asked for and have no quote yet, over connections that end before one comes.
 * Rule W9 (feeds/FORMATS.md).
 */
import type { EpochMs } from '../engine/rules/units.ts';
import type { FrameReading, VenueTick } from './venue.ts';

/** A ticker that the venue does not know stays here; nothing else would show that. */
export class Unquoted {
  readonly #sinceMs = new Map<string, EpochMs>();

  /** By market: when it was asked for. */
  get markets(): ReadonlyMap<string, EpochMs> {
    return this.#sinceMs;
  }

  /** One that waits already goes on waiting: a new connection is no answer. */
  ask(market: string, atMs: EpochMs): void {
    if (!this.#sinceMs.has(market)) this.#sinceMs.set(market, atMs);
  }

  /** Forgets the markets that no quote is awaited of anymore. */
  keepOnly(awaited: readonly string[]): void {
    const kept = new Set(awaited);
    for (const market of this.#sinceMs.keys()) if (!kept.has(market)) this.#sinceMs.delete(market);
  }

  take({ rejected, ticks }: Pick<FrameReading, 'rejected' | 'ticks'>): void {
    if (rejected !== null || this.#sinceMs.size === 0) return;
    for (const tick of ticks) if (isAnswer(tick)) this.#sinceMs.delete(tick.market);
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
