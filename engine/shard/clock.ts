/** Where the engine's time comes from. CONTRACT.md section 8, PAPERBOOK_CLOCK. */
import type { EpochMs } from '../core/units.ts';

/** Never goes back. */
export interface Clock {
  nowMs(): EpochMs;
  /** A tick of that time was fed. */
  heard(atMs: EpochMs): void;
}

/** The machine's time, held where it would step back. */
export function wallClock(): Clock {
  let newestMs = 0;
  return {
    nowMs() {
      newestMs = Math.max(newestMs, Date.now());
      return newestMs;
    },
    heard() {},
  };
}

/** The newest time fed: a replayed day trades, expires and settles as it did. */
export function feedClock(): Clock {
  let newestMs = 0;
  return {
    nowMs: () => newestMs,
    heard(atMs) {
      newestMs = Math.max(newestMs, atMs);
    },
  };
}
