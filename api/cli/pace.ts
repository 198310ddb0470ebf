/** Sets how fast feed time passes in a replay. Rule R13 (feeds/FORMATS.md). */
import type { EpochMs } from '../../engine/rules/units.ts';

/** Node fires a longer timer at once. */
const TIMER_MAX_MS = 2 ** 31 - 1;

/** Delays frames so that feed time passes at the requested speed. */
export function paceOf(speed: number | null): (atMs: EpochMs) => Promise<void> {
  if (speed === null) return async () => {};
  let first: { atMs: EpochMs; wallMs: number } | null = null;
  return async (atMs) => {
    first ??= { atMs, wallMs: performance.now() };
    for (;;) {
      const aheadMs = (atMs - first.atMs) / speed - (performance.now() - first.wallMs);
      if (aheadMs <= 1) return;
      await new Promise((resolve) => setTimeout(resolve, Math.min(aheadMs, TIMER_MAX_MS)));
    }
  };
}
