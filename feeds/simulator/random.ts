/**
 * Seeded randomness without state: every draw is a pure function of a key, a lane (its purpose) and
 * a number (a time, or a place in a list). So a restarted simulator continues at the clock's time.
 */

/** One stream of draws, for example one per market. */
export type DrawKey = number;

/** FNV-1a of the name, mixed with the seed. */
export function keyOf(seed: number, name: string): DrawKey {
  let hash = 0x811c9dc5 ^ seed;
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193);
  return mix(hash);
}

/** A number in 0 <= x < 1. `n` is a non-negative safe integer. */
export function draw(key: DrawKey, lane: number, n: number): number {
  const low = mix(key ^ Math.imul(lane + 1, 0x9e3779b1));
  const high = Math.floor(n / 2 ** 32);
  return mix(mix(low ^ high) ^ (n >>> 0)) / 2 ** 32;
}

/** A whole number in `from..to`, both included. */
export function drawBetween(
  key: DrawKey,
  lane: number,
  n: number,
  from: number,
  to: number,
): number {
  return from + Math.floor(draw(key, lane, n) * (to - from + 1));
}

/**
 * Smooth noise in -1..1: random values `periodMs` apart, and smooth steps between them. It is
 * bounded, so a price that it moves returns to its mean.
 */
export function noise(key: DrawKey, lane: number, atMs: number, periodMs: number): number {
  const cell = Math.floor(atMs / periodMs);
  const t = atMs / periodMs - cell;
  const eased = t * t * (3 - 2 * t);
  const from = draw(key, lane, cell) * 2 - 1;
  const to = draw(key, lane, cell + 1) * 2 - 1;
  return from + (to - from) * eased;
}

/** The 32-bit finalizer of MurmurHash3. */
function mix(value: number): number {
  let x = value >>> 0;
  x = Math.imul(x ^ (x >>> 16), 0x85ebca6b);
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35);
  return (x ^ (x >>> 16)) >>> 0;
}
