/** Version 7 uuids in the form of the API, from seeded random numbers. */
import { uuidOfWords } from '../../engine/memory/uuid-words.ts';
import type { EpochMs, Uuid } from '../../engine/rules/units.ts';
import type { Random } from './random.ts';

export function seededUuid(random: Random, atMs: EpochMs): Uuid {
  const timeHigh = Math.floor(atMs / 0x10000);
  const timeLow = atMs % 0x10000;
  const version = 0x7000 | (random.word() & 0xfff);
  const variant = (0x80000000 | (random.word() & 0x3fffffff)) >>> 0;
  return uuidOfWords(timeHigh, ((timeLow << 16) | version) >>> 0, variant, random.word());
}
