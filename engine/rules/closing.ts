/**
 * When a market closes. The venue's word counts. The catalog's plan counts while the venue has said
 * nothing. Rules T129, T143 (engine/RULES.md).
 */
import type { EpochMs } from '../base/units.ts';
import type { ClosingTick, StatusTick } from './messages.ts';

export type Closing = {
  /** By the catalog; infinite if it has no time. */
  closesAtMs: EpochMs;
  /** By its venue, infinite if no time closes it; null: the venue has not said. */
  venueClosesAtMs: EpochMs | null;
};

/** When it closes; infinite if no time closes it. */
export function closingMs({ closesAtMs, venueClosesAtMs }: Closing): EpochMs {
  return venueClosesAtMs ?? closesAtMs;
}

/** When a market closes by its venue, after this message. @param before its earlier word */
export function venueClosingMs(before: EpochMs | null, tick: StatusTick | ClosingTick): EpochMs {
  if (tick.kind === 'closing') return tick.closesAtMs ?? Number.POSITIVE_INFINITY;
  // A market that is open has outlived the closing time that was stated before.
  const isOutlived = before !== null && tick.status === 'open' && before <= tick.atMs;
  return before === null || isOutlived ? Number.POSITIVE_INFINITY : before;
}
