/**
 * Reports nearly every key name that a run lacks as absent, so that a new key reads no chunk. It is
 * a blocked Bloom filter: the bits of a name are in one block of 256 bytes, four cache lines. It
 * never reports an added name as absent. Rule T90 (engine/RULES.md).
 *
 * The rate of false positives grows with the run: keys × 10⁻¹⁰, between 0.001% and 1%. So all runs
 * of an index together have at most 1% at 100 million keys, however many runs there are. A small
 * run uses more bits per key than a large one, and so the bits are where they help most.
 */
import { invariant } from '../base/invariant.ts';

const FALSE_RATE_A_KEY = 1e-10;
const FALSE_RATE_MIN = 1e-5;
const FALSE_RATE_MAX = 1e-2;
const BLOCK_WORDS = 64;
const BLOCK_BITS = BLOCK_WORDS * 32;
/** The top bits of a word choose a bit of a block. */
const BIT_SHIFT = 32 - Math.log2(BLOCK_BITS);
const WORD = 2 ** 32;
const BLOCKS_MAX = 2 ** 24;

export type FilterSize = { blocks: number; probes: number };

/** The share of absent names that the filter of a run with so many keys may report as present. */
export function falseRateOf(keys: number): number {
  return Math.min(Math.max(keys * FALSE_RATE_A_KEY, FALSE_RATE_MIN), FALSE_RATE_MAX);
}

/** Bits per key and probes that reach `falseRateOf`, fitted to measured rates of such blocks. */
export function filterSizeOf(keys: number): FilterSize {
  const bitsAKey = 1.6 * Math.log2(1 / falseRateOf(keys)) - 0.85;
  const probes = Math.floor(0.66 * bitsAKey);
  return { blocks: Math.ceil((keys * bitsAKey) / BLOCK_BITS), probes };
}

export class KeyFilter {
  readonly #blocks: number;
  readonly #probes: number;
  readonly words: Uint32Array;

  constructor(
    { blocks, probes }: FilterSize,
    words: Uint32Array = new Uint32Array(blocks * BLOCK_WORDS),
  ) {
    invariant(words.length === blocks * BLOCK_WORDS, 'a filter has not the size of its head');
    invariant(blocks <= BLOCKS_MAX, 'a filter is larger than a run can be');
    this.#blocks = blocks;
    this.#probes = probes;
    this.words = words;
  }

  /** Words of a filter of this size. */
  static wordsOf({ blocks }: FilterSize): number {
    return blocks * BLOCK_WORDS;
  }

  add(w0: number, w1: number, w2: number, w3: number): void {
    const block = Math.floor((w0 / WORD) * this.#blocks) * BLOCK_WORDS;
    let bits = w1;
    for (let probe = this.#probes; probe > 0; probe--) {
      const bit = bits >>> BIT_SHIFT;
      this.words[block + (bit >>> 5)]! |= 1 << (bit & 31);
      bits = nextBits(bits, probe, w2, w3);
    }
  }

  /** False: this name was never added. */
  mayHave(w0: number, w1: number, w2: number, w3: number): boolean {
    if (this.#blocks === 0) return false;
    const block = Math.floor((w0 / WORD) * this.#blocks) * BLOCK_WORDS;
    let bits = w1;
    for (let probe = this.#probes; probe > 0; probe--) {
      const bit = bits >>> BIT_SHIFT;
      if ((this.words[block + (bit >>> 5)]! & (1 << (bit & 31))) === 0) return false;
      bits = nextBits(bits, probe, w2, w3);
    }
    return true;
  }
}

/** The word that chooses the next bit: mixes in the words of the name in turn. */
function nextBits(bits: number, probe: number, w2: number, w3: number): number {
  return (Math.imul(bits, 0x9e3779b1) + ((probe & 1) === 0 ? w2 : w3)) | 0;
}
