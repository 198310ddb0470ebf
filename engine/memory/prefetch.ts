/**
 * Memory that is needed soon, asked for all at once. Who reads one far row after the other waits
 * for each; who first reads a word of every row waits for all of them together, and once.
 */
const kept = { value: 0 };

export interface Prefetchable<Row extends number> {
  /** Reads a word of each end of a row, since they may lie apart. */
  prefetch(row: Row): number;
}

/** Takes what was read for no other use: without one, the engine would leave the reads out. */
export function prefetched(value: number): void {
  kept.value = value;
}
