/** How fast feed time passes in a replay. Rule R13 (feeds/FORMATS.md). */
import { setTimeout as sleep } from 'node:timers/promises';
import type { EpochMs } from '../../engine/base/units.ts';

/** A longer timer would end at once. */
const TIMER_MAX_MS = 2 ** 31 - 1;

type PaceOptions = {
  /** A wait of a frame that is due; feed time stops meanwhile. Null: no wait. */
  hold?(): Promise<void> | null;
  /** Ends every wait. */
  signal?: AbortSignal;
};

/** Holds frames back so that feed time passes at `speed` feed seconds per second; null: at once. */
export function paceOf(
  speed: number | null,
  { hold = () => null, signal }: PaceOptions = {},
): (atMs: EpochMs) => Promise<void> | null {
  if (speed === null) return hold;
  let first: { atMs: EpochMs; wallMs: number } | null = null;
  return async (atMs) => {
    first ??= { atMs, wallMs: performance.now() };
    for (;;) {
      const aheadMs = (atMs - first.atMs) / speed - (performance.now() - first.wallMs);
      if (aheadMs <= 1 || signal?.aborted === true) break;
      const waitMs = Math.min(aheadMs, TIMER_MAX_MS);
      await sleep(waitMs, undefined, { signal }).catch(() => undefined);
    }
    const held = hold();
    if (held === null) return;
    const heldMs = performance.now();
    await held;
    first.wallMs += performance.now() - heldMs;
  };
}
