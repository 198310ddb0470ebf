/**
 * How long after an event its frame was received. Quantiles take bounded memory: lags up to 16 s
 * are exact to the millisecond, longer ones to within 1 %. Rule X5 (feeds/FORMATS.md).
 */

const EXACT_MS = 16_384;

export type LagSummary = {
  /** Frames that state a time of their own. */
  count: number;
  medianMs: number | null;
  p99Ms: number | null;
  /** Frames whose own time lies after the receipt. */
  negative: number;
};

export class LagHistogram {
  readonly #counts = new Map<number, number>();
  #count = 0;
  #negative = 0;

  add(lagMs: number): void {
    const bucket = bucketOf(lagMs);
    this.#counts.set(bucket, (this.#counts.get(bucket) ?? 0) + 1);
    this.#count++;
    if (lagMs < 0) this.#negative++;
  }

  /**
   * Quantiles by nearest rank: the smallest lag that at least this share of frames does not exceed.
   */
  summary(): LagSummary {
    const sorted = [...this.#counts].sort(([a], [b]) => a - b);
    const quantile = (percent: number): number | null => {
      let left = Math.ceil((this.#count * percent) / 100);
      for (const [lagMs, count] of sorted) {
        left -= count;
        if (left <= 0) return lagMs;
      }
      return null;
    };
    return {
      count: this.#count,
      medianMs: quantile(50),
      p99Ms: quantile(99),
      negative: this.#negative,
    };
  }
}

/** The lag itself, or its first eight binary digits when it is a long one. */
function bucketOf(lagMs: number): number {
  const size = Math.abs(lagMs);
  if (size < EXACT_MS) return lagMs;
  const step = 2 ** (Math.floor(Math.log2(size)) - 7);
  return Math.trunc(lagMs / step) * step;
}
