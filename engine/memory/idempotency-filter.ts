/**
 * Knows nearly every new idempotency key as new, so that few orders look for theirs on disk. It is
 * a Bloom filter of `BYTES`, whose bits for one key lie in one word. It never calls a used key new.
 * The more keys it has, the more often it calls a new key used: Rule T90 (engine/RULES.md).
 *
 *     millions of keys          1     4     8    16    32
 *     new, and called used    0.1%    1%    4%   15%   45%
 *
 * Keys come as hashes. The archive keeps the hashes too, so a start does not read the keys.
 */
import { invariant } from '../rules/invariant.ts';

const BYTES = 8 * 1024 * 1024;
const WORD_BITS = 21;

/** At most `KEY_HASHES_MAX` hashes of keys, and the seed that they were made with. */
export type KeyHashes = { seed: number; hashes: Int32Array };
export const KEY_HASHES_MAX = 480;

export class IdempotencyFilter {
  #seed: number;
  readonly #words = new Int32Array(BYTES / Int32Array.BYTES_PER_ELEMENT);

  /** @param seed a random one, so that nobody outside can know which keys have equal hashes */
  constructor(seed: number) {
    this.#seed = seed;
  }

  get seed(): number {
    return this.#seed;
  }

  /** Loads what was stored. Only before the first hash is made here. */
  load(stored: Iterable<KeyHashes>): void {
    let isFirst = true;
    for (const { seed, hashes } of stored) {
      invariant(isFirst || seed === this.#seed, 'keys were hashed with another seed');
      this.#seed = seed;
      isFirst = false;
      for (let at = 0; at < hashes.length; at++) this.add(hashes[at]!);
    }
  }

  hashOf(account: number, key: string): number {
    let hash = Math.imul(account ^ this.#seed, 0x9e3779b1);
    for (let at = 0; at < key.length; at++) {
      hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193);
      hash ^= hash >>> 15;
    }
    hash = Math.imul(hash ^ (hash >>> 13), 0x85ebca6b);
    return hash ^ (hash >>> 16);
  }

  add(hash: number): void {
    this.#words[wordOf(hash)]! |= bitsOf(hash);
  }

  /** False: no key with this hash was added. */
  mayHave(hash: number): boolean {
    const bits = bitsOf(hash);
    return (this.#words[wordOf(hash)]! & bits) === bits;
  }
}

function wordOf(hash: number): number {
  return hash >>> (32 - WORD_BITS);
}

/** Three bits of a word. They follow from bits of the hash that do not choose the word. */
function bitsOf(hash: number): number {
  const mixed = Math.imul(hash, 0x9e3779b1) >>> 17;
  return (1 << mixed) | (1 << (mixed >>> 5)) | (1 << (mixed >>> 10));
}
