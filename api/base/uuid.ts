/**
 * New version 7 uuids. Their random bits are drawn from the system in blocks, since a block costs
 * as much as a single draw.
 */
import { createHash, randomFillSync } from 'node:crypto';
import type { EpochMs, Uuid } from '../../engine/base/units.ts';
import { uuidOfWords } from '../../engine/memory/uuid-words.ts';

const WORDS_PER_ID = 3;
const pool = new Uint32Array(WORDS_PER_ID * 1024);
let next = pool.length;

/** The first of the three random words of the next id, in `pool`. */
function drawn(): number {
  if (next === pool.length) {
    randomFillSync(pool);
    next = 0;
  }
  next += WORDS_PER_ID;
  return next - WORDS_PER_ID;
}

/** A uuid v7 with `atMs` in its first 48 bits, followed by 74 random bits. RFC 9562. */
export function newUuid(atMs: EpochMs): Uuid {
  const at = drawn();
  return uuidOf(atMs, pool[at]! & 0xfff, pool[at + 1]! & 0x3fffffff, pool[at + 2]!);
}

const COUNTER_BITS = 26;
/** The time `atMs`, and the number of its ids so far, counted from a random number. */
let counted = { atMs: -1, count: 0 };

/**
 * The id of a new order. It is made as `newUuid` does, and is greater than the id before in its
 * millisecond, by a counter in its first 26 random bits (RFC 9562, 6.2). Rule P7 (api/RULES.md).
 */
export function newOrderId(atMs: EpochMs): Uuid {
  const at = drawn();
  // The highest bit is left to the counter.
  if (counted.atMs !== atMs) counted = { atMs, count: pool[at]! >>> (33 - COUNTER_BITS) };
  else counted.count++;
  const { count } = counted;
  const low = ((count & 0x3fff) << 16) | (pool[at + 1]! & 0xffff);
  return uuidOf(atMs, (count >>> 14) & 0xfff, low, pool[at + 2]!);
}

/** @param a 12 bits after the version. @param b 30 bits after the variant. */
function uuidOf(atMs: EpochMs, a: number, b: number, last: number): Uuid {
  const timeLow = atMs % 0x10000;
  return uuidOfWords(
    Math.floor(atMs / 0x10000),
    ((timeLow << 16) | 0x7000 | a) >>> 0,
    (0x80000000 | b) >>> 0,
    last,
  );
}

/** The same uuid each time for the same text: its hash, in the form of version 7. */
export function uuidOfText(text: string): Uuid {
  const digest = createHash('sha256').update(text).digest();
  const [first, second, third, fourth] = [0, 4, 8, 12].map((at) => digest.readUInt32BE(at));
  const version = ((second! & 0xffff0fff) | 0x7000) >>> 0;
  const variant = ((third! & 0x3fffffff) | 0x80000000) >>> 0;
  return uuidOfWords(first!, version, variant, fourth!);
}
