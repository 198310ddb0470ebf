/** Seeded chance for generated input: the same seed gives the same sequence on every machine. */

import type { EpochMs, Uuid } from '../../engine/base/units.ts';

export type RandomSource = {
  /** A whole number, both ends included. */
  int(from: number, to: number): number;
  /** True once in `n` times. */
  oneIn(n: number): boolean;
  pick<T>(choices: readonly T[]): T;
  /** One of the names, as often as its weight says. */
  weighted<Name extends string>(weights: Record<Name, number>): Name;
  /** A new uuid v7 of that time; later ones of the same millisecond sort later. */
  uuid(atMs: EpochMs): Uuid;
};

export function createRandomSource(seed: number): RandomSource {
  const next = sfc32(seed);
  const int = (from: number, to: number) => from + Math.floor(next() * (to - from + 1));
  const hex = (digits: number) =>
    Array.from({ length: digits }, () => int(0, 15).toString(16)).join('');
  let uuidMs = 0;
  let uuidsThisMs = 0;
  return {
    int,
    oneIn: (n) => int(1, n) === 1,
    pick: (choices) => {
      if (choices.length === 0) throw new Error('nothing to pick from');
      return choices[int(0, choices.length - 1)]!;
    },
    weighted: (weights) => {
      const entries = Object.entries<number>(weights);
      let left = next() * entries.reduce((total, [, weight]) => total + weight, 0);
      for (const [name, weight] of entries) {
        left -= weight;
        if (left < 0) return name as keyof typeof weights;
      }
      return entries.at(-1)![0] as keyof typeof weights;
    },
    uuid: (atMs) => {
      uuidsThisMs = atMs === uuidMs ? uuidsThisMs + 1 : 0;
      uuidMs = atMs;
      const time = atMs.toString(16).padStart(12, '0');
      const count = uuidsThisMs.toString(16).padStart(3, '0');
      const variant = int(8, 11).toString(16);
      return `${time.slice(0, 8)}-${time.slice(8)}-7${count}-${variant}${hex(3)}-${hex(12)}`;
    },
  };
}

/** The generator sfc32 (small fast counting), as fractions in [0, 1). */
function sfc32(seed: number): () => number {
  let a = 0x9e3779b9;
  let b = 0x243f6a88;
  let c = seed | 0;
  let counter = 1;
  const next = () => {
    const sum = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (c << 21) | (c >>> 11);
    c = (c + sum) | 0;
    return (sum >>> 0) / 2 ** 32;
  };
  for (let round = 0; round < 15; round += 1) next();
  return next;
}
