/** Version 7 uuids in the form of the API, from seeded random numbers. */

import type { EpochMs, Uuid } from '../../engine/base/units.ts';
import { uuidOfWords } from '../../engine/memory/uuid-words.ts';
import type { Random } from './random.ts';

export function seededUuid(random: Random, atMs: EpochMs): Uuid {
  return uuidOf(random, atMs, random.word() & PLACE_MAX);
}

/** After the time of an id, 26 bits place it within its millisecond. */
const PLACE_MAX = 2 ** 26 - 1;
let made = 0;

/**
 * The id of an order as a server makes it: after the last id of its millisecond. So the id of the
 * trade that it opens is known before. Rules P7 (api/RULES.md), T7 (engine/RULES.md).
 */
export function orderUuid(random: Random, atMs: EpochMs): Uuid {
  made = made === PLACE_MAX ? 0 : made + 1;
  return uuidOf(random, atMs, made);
}

function uuidOf(random: Random, atMs: EpochMs, place: number): Uuid {
  const timeHigh = Math.floor(atMs / 0x10000);
  const timeLow = atMs % 0x10000;
  const version = 0x7000 | (place >>> 14);
  const variant = (0x8000 | (place & 0x3fff)) * 0x10000 + (random.word() & 0xffff);
  return uuidOfWords(timeHigh, ((timeLow << 16) | version) >>> 0, variant, random.word());
}
