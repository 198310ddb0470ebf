/**
 * Recently read and checked chunks. The entries of an account in a run fill one chunk or two, and a
 * list searches them for several classes.
 */
import { invariant } from '../base/invariant.ts';
import { PIECES_MAX } from './pieces.ts';

const CHUNKS_MAX = 64;

export class ChunkCache {
  readonly #max: number;
  /** Least recently used first. */
  readonly #chunks = new Map<number, Uint32Array>();

  /** @param max how many chunks of 16 KB it keeps */
  constructor(max = CHUNKS_MAX) {
    this.#max = max;
  }

  get(run: number, chunk: number): Uint32Array | undefined {
    return this.#chunks.get(run * PIECES_MAX + chunk);
  }

  set(run: number, chunk: number, words: Uint32Array): void {
    invariant(chunk >= 0 && chunk < PIECES_MAX, 'a chunk is kept as one of another run');
    if (this.#chunks.size >= this.#max) {
      for (const oldest of this.#chunks.keys()) {
        this.#chunks.delete(oldest);
        break;
      }
    }
    this.#chunks.set(run * PIECES_MAX + chunk, words);
  }
}
