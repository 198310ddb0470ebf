/**
 * New version 7 uuids. Their random bits are drawn from the system in blocks, since a block costs
 * as much as a single draw.
 */
import { createHash, randomFillSync } from 'node:crypto';
import { uuidOfWords } from '../engine/memory/uuid-words.ts';
import type { EpochMs, Uuid } from '../engine/rules/units.ts';

const WORDS_PER_ID = 3;
const pool = new Uint32Array(WORDS_PER_ID * 1024);
let next = pool.length;

/** A uuid v7 with `atMs` in its first 48 bits, followed by 74 random bits. RFC 9562. */
export function newUuid(atMs: EpochMs): Uuid {
  if (next === pool.length) {
    randomFillSync(pool);
    next = 0;
  }
  const timeHigh = Math.floor(atMs / 0x10000);
  const timeLow = atMs % 0x10000;
  const version = 0x7000 | (pool[next]! & 0xfff);
  const variant = 0x80000000 | (pool[next + 1]! & 0x3fffffff);
  const id = uuidOfWords(
    timeHigh,
    ((timeLow << 16) | version) >>> 0,
    variant >>> 0,
    pool[next + 2]!,
  );
  next += WORDS_PER_ID;
  return id;
}

/** The same uuid each time for the same text: its hash, in the form of version 7. */
export function uuidOfText(text: string): Uuid {
  const digest = createHash('sha256').update(text).digest();
  const [first, second, third, fourth] = [0, 4, 8, 12].map((at) => digest.readUInt32BE(at));
  const version = ((second! & 0xffff0fff) | 0x7000) >>> 0;
  const variant = ((third! & 0x3fffffff) | 0x80000000) >>> 0;
  return uuidOfWords(first!, version, variant, fourth!);
}
