/**
 * How long the batches of the last minutes took until they were on disk, as counts by duration: a
 * window for each minute, in memory that two threads share. One thread writes. Rule O18 (api/RULES.md).
 */
import { invariant } from '../../base/invariant.ts';
import type { EpochMs } from '../../base/units.ts';

/** `p50Ms`: half of them took no longer. Null: there was no batch. */
export type BatchTimesShown = { batches: number; p50Ms: number | null; p99Ms: number | null };

/** The minutes that are summed, the current one included. */
export const BATCH_MINUTES = 5;
const MINUTE_MS = 60_000;

/** Durations double every eight buckets, from a hundredth of a millisecond to ten seconds. */
const SHORTEST_MS = 0.01;
const BUCKETS_A_DOUBLING = 8;
const BUCKETS = 20 * BUCKETS_A_DOUBLING + 1;
/** The minute, then its counts. */
const WINDOW_WORDS = 1 + BUCKETS;

export const BATCH_TIMES_BYTES = BATCH_MINUTES * WINDOW_WORDS * Uint32Array.BYTES_PER_ELEMENT;

export class BatchTimes {
  readonly #words: Uint32Array;

  /** `BATCH_TIMES_BYTES` of the memory from `offset` on. */
  constructor(memory: SharedArrayBuffer, offset: number) {
    this.#words = new Uint32Array(memory, offset, BATCH_MINUTES * WINDOW_WORDS);
  }

  note(tookMs: number, nowMs: EpochMs): void {
    invariant(tookMs >= 0, 'a batch took less than no time');
    const minute = Math.floor(nowMs / MINUTE_MS);
    const window = (minute % BATCH_MINUTES) * WINDOW_WORDS;
    if (this.#words[window] !== minute) {
      this.#words.fill(0, window, window + WINDOW_WORDS);
      this.#words[window] = minute;
    }
    this.#words[window + 1 + bucketOf(tookMs)]!++;
  }

  read(nowMs: EpochMs): BatchTimesShown {
    const newest = Math.floor(nowMs / MINUTE_MS);
    const counts = new Array<number>(BUCKETS).fill(0);
    let batches = 0;
    for (let window = 0; window < this.#words.length; window += WINDOW_WORDS) {
      const minute = this.#words[window]!;
      if (minute > newest || minute <= newest - BATCH_MINUTES) continue;
      for (let bucket = 0; bucket < BUCKETS; bucket++) {
        const count = this.#words[window + 1 + bucket]!;
        counts[bucket]! += count;
        batches += count;
      }
    }
    return {
      batches,
      p50Ms: quantile(counts, batches, 0.5),
      p99Ms: quantile(counts, batches, 0.99),
    };
  }
}

function bucketOf(tookMs: number): number {
  const doublings = Math.log2(Math.max(tookMs, SHORTEST_MS) / SHORTEST_MS);
  return Math.min(BUCKETS - 1, Math.ceil(doublings * BUCKETS_A_DOUBLING));
}

/** The upper end of the bucket that it falls in, so at most a tenth too long. */
function quantile(counts: readonly number[], total: number, share: number): number | null {
  if (total === 0) return null;
  let before = 0;
  const bucket = counts.findIndex((count) => {
    before += count;
    return before >= total * share;
  });
  invariant(bucket !== -1, 'the counts of batches are fewer than their sum');
  return Number((SHORTEST_MS * 2 ** (bucket / BUCKETS_A_DOUBLING)).toPrecision(2));
}
