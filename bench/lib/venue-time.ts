/**
 * When a venue sent a quote, as the number of contracts that the quote shows: tenths of a
 * millisecond, for any reading process.
 */
const WRAPS = 100_000_000;

export function nowTenths(): number {
  return Math.floor((performance.timeOrigin + performance.now()) * 10);
}

/** At least 1: a size of 0 is no level. */
export function codeOf(tenths: number): number {
  return (tenths % WRAPS) + 1;
}

/** Milliseconds since the time of a code, which is less than a few hours ago. */
export function msSince(code: number): number {
  return (((nowTenths() % WRAPS) - (code - 1) + WRAPS) % WRAPS) / 10;
}
