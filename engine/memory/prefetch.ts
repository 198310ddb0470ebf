/**
 * Reads memory that is needed soon. Rows lie far apart, and each read waits for memory. Reads that
 * depend on each other wait one after another; independent reads wait at the same time. So one word
 * of every row is read before the first row is used.
 */
const kept = { value: 0 };

export interface Prefetchable<Row extends number> {
  /** Reads a word at each end of a row, since a row may span two cache lines. */
  prefetch(row: Row): number;
}

/** Uses the words that were read, so that the compiler does not remove the reads. */
export function prefetched(value: number): void {
  kept.value = value;
}
