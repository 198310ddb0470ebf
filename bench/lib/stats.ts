/** Statistics over several runs. */

/** Median, extremes, and the number of runs. */
export type Spread = { median: number; min: number; max: number; runs: number };

/** Throws without samples: there is no figure then. */
export function spreadOf(samples: readonly number[]): Spread {
  if (samples.length === 0) throw new Error('no samples');
  const sorted = samples.toSorted((a, b) => a - b);
  return {
    median: percentile(sorted, 50),
    min: sorted[0]!,
    max: sorted.at(-1)!,
    runs: sorted.length,
  };
}

/** The value below which `percent` of the sorted samples lie, between the two nearest ones. */
export function percentile(sorted: ArrayLike<number>, percent: number): number {
  const at = (percent / 100) * (sorted.length - 1);
  const below = Math.floor(at);
  const low = sorted[below]!;
  const high = sorted[Math.min(below + 1, sorted.length - 1)]!;
  return low + (high - low) * (at - below);
}

/** Milliseconds, a great many of them, stored one by one so that percentiles are exact. */
export class Latencies {
  #values = new Float64Array(1024);
  #count = 0;

  get count(): number {
    return this.#count;
  }

  add(ms: number): void {
    if (this.#count === this.#values.length) {
      const grown = new Float64Array(this.#count * 2);
      grown.set(this.#values);
      this.#values = grown;
    }
    this.#values[this.#count++] = ms;
  }

  clear(): void {
    this.#count = 0;
  }

  summary(): LatencySummary {
    if (this.#count === 0) return { p50: 0, p99: 0, p999: 0, max: 0 };
    const sorted = this.#values.slice(0, this.#count).sort();
    return {
      p50: percentile(sorted, 50),
      p99: percentile(sorted, 99),
      p999: percentile(sorted, 99.9),
      max: sorted.at(-1)!,
    };
  }
}

/** In milliseconds. */
export type LatencySummary = { p50: number; p99: number; p999: number; max: number };
