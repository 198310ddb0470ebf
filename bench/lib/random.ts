/** Seeded random numbers: the same seed gives the same numbers on every machine. */

/** Whole numbers of 0..2^32-1, by xorshift128. */
export type Random = {
  word(): number;
  /** A whole number below `limit`. */
  below(limit: number): number;
};

export function seededRandom(seed: number): Random {
  let a = (seed ^ 0x9e3779b9) >>> 0 || 1;
  let b = 0x243f6a88;
  let c = 0xb7e15162;
  let d = 0xdeadbeef;
  const word = () => {
    let t = d;
    t ^= t << 11;
    t ^= t >>> 8;
    d = c;
    c = b;
    b = a;
    a = (t ^ a ^ (a >>> 19)) >>> 0;
    return a;
  };
  // The first words still resemble the seed.
  for (let round = 0; round < 32; round++) word();
  return { word, below: (limit) => Math.floor((word() / 2 ** 32) * limit) };
}
