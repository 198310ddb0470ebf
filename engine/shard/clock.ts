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

/** The machine's time, held where it would step back. */
export function wallClock(): Clock {
  let newestMs = 0;
  return {
    nowMs() {
      newestMs = Math.max(newestMs, Date.now());
      return newestMs;
    },
    heard() {},
    startFrom(atMs) {
      newestMs = Math.max(newestMs, atMs);
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
