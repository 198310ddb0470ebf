/** Where the engine's time comes from. CONTRACT.md section 8, PAPERBOOK_CLOCK. */
import type { EpochMs } from '../core/units.ts';

/** Never goes back. */
export interface Clock {
  nowMs(): EpochMs;
  /** A tick of that time was fed. */
  heard(atMs: EpochMs): void;
  /** The engine was at that time when it last stopped, whatever the machine's clock says now. */
  startFrom(atMs: EpochMs): void;
}

/**
 * The machine's time. Where that steps back, time goes on from where it was: if it stood still, no
 * quote would grow old and no minute of a trade limit would end until the machine has caught up.
 */
export function wallClock(): Clock {
  let newestMs = 0;
  /** Where the machine is behind: which time it was at which of its steady milliseconds. */
  let ahead: { fromMs: EpochMs; sinceMs: number } | null = null;
  return {
    nowMs() {
      const machineMs = Date.now();
      if (machineMs >= newestMs) {
        ahead = null;
        newestMs = machineMs;
        return newestMs;
      }
      ahead ??= { fromMs: newestMs, sinceMs: performance.now() };
      newestMs = ahead.fromMs + Math.floor(performance.now() - ahead.sinceMs);
      return newestMs;
    },
    heard() {},
    startFrom(atMs) {
      if (atMs <= newestMs) return;
      ahead = null;
      newestMs = atMs;
    },
  };
}

/** The newest time fed: a replayed day trades, expires and settles as it did. */
export function feedClock(): Clock {
  let newestMs = 0;
  const goOnTo = (atMs: EpochMs) => {
    newestMs = Math.max(newestMs, atMs);
  };
  return { nowMs: () => newestMs, heard: goOnTo, startFrom: goOnTo };
}
