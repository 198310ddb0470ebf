/**
 * The lag of a connection after its venue, by the venue's own times. The two clocks may differ by
 * any amount, so a lag counts from the smallest one seen. Rule W13 (feeds/FORMATS.md).
 *
 * Only frames with a price are judged, because a result or a trade may be published late. A
 * market's first price on a connection is not judged, nor a price with the market's last time.
 * Venues send whole states with the time of their last change.
 */
import type { EpochMs } from '../../engine/base/units.ts';
import type { FrameReading, VenueTick } from '../reading/venue.ts';

/** For so long a connection that follows one dropped for its lag is measured by the same minimum. */
const KEPT_MS = 60_000;

export class VenueLag {
  readonly #maxMs: number;
  /** By market: the venue's time of its last price, in place. */
  readonly #last = new Map<string, { atMs: EpochMs }>();
  #leastMs = Number.POSITIVE_INFINITY;
  /** Since when every price judged was late, over connections; null: the last one was in time. */
  #lateSinceMs: number | null = null;

  /** The lag of the last judged frame. */
  #behindMs: number | null = null;

  /** `maxMs` beyond the minimum is late; null: nothing is. */
  constructor(maxMs: number | null) {
    this.#maxMs = maxMs ?? Number.POSITIVE_INFINITY;
  }

  /**
   * How many milliseconds beyond the minimum the frame is late; null: it is in time, or is not
   * judged. `steadyMs` is of a clock that nobody sets.
   */
  lateByMs({ ticks, venueAtMs }: FrameReading, steadyMs: number): number | null {
    this.#behindMs = null;
    if (venueAtMs === null || this.#maxMs === Number.POSITIVE_INFINITY) return null;
    let isJudged = false;
    let hasPrice = false;
    for (const tick of ticks) {
      if (!isPrice(tick)) continue;
      const last = this.#last.get(tick.market);
      hasPrice = true;
      if (last === undefined) this.#last.set(tick.market, { atMs: venueAtMs });
      else {
        isJudged ||= last.atMs !== venueAtMs;
        last.atMs = venueAtMs;
      }
    }
    if (!hasPrice) return null;
    const lagMs = steadyMs - venueAtMs;
    this.#leastMs = Math.min(this.#leastMs, lagMs);
    if (!isJudged) return null;
    const behindMs = lagMs - this.#leastMs;
    this.#behindMs = Math.round(behindMs);
    if (behindMs <= this.#maxMs) {
      this.#lateSinceMs = null;
      return null;
    }
    this.#lateSinceMs ??= steadyMs;
    if (steadyMs - this.#lateSinceMs < KEPT_MS) return Math.round(behindMs);
    this.#lateSinceMs = null;
    this.#leastMs = lagMs;
    return null;
  }

  /**
   * The bound, for prices without a time: pings must measure them (W18). Undefined: nothing must.
   */
  probeWithinMs({ ticks, venueAtMs }: FrameReading): number | undefined {
    if (venueAtMs !== null || this.#maxMs === Number.POSITIVE_INFINITY) return undefined;
    return ticks.some(isPrice) ? this.#maxMs : undefined;
  }

  /** The lag of the frame that was just judged beyond the minimum; null: it was not judged. */
  get behindMs(): number | null {
    return this.#behindMs;
  }

  /**
   * The connection ended. The minimum is its own, except if it ended because it was late. A venue
   * that is still late must not pass for a venue with a slow clock. After a minute it does.
   */
  lost(): void {
    this.#last.clear();
    if (this.#lateSinceMs === null) this.#leastMs = Number.POSITIVE_INFINITY;
  }
}

/** An unknown book is no price, whatever frame it follows from. */
function isPrice(tick: VenueTick): tick is Extract<VenueTick, { kind: 'book' }> {
  return tick.kind === 'book' && !tick.unknown;
}
