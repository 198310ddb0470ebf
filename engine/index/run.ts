/**
 * A sorted run of entries on disk. Its fences (the first entry of each chunk) and the filter of its
 * keys are in memory. So a search reads one chunk, and a search for a new key usually none.
 */
import { invariant } from '../base/invariant.ts';
import type { ChunkCache } from './chunk-cache.ts';
import type { EntryCursor } from './cursor-heap.ts';
import {
  compareToKey,
  ENTRY_WORDS,
  type EntryKey,
  type FactPlace,
  INDEX_CLASS,
  isOf,
  type ListBound,
  lowerBound,
  placeAt,
} from './entry.ts';
import { KeyFilter } from './key-filter.ts';
import { CHUNK_ENTRIES, PIECES_MAX, RunDamage, readPiece, readPieces } from './pieces.ts';
import type { RunStore } from './run-store.ts';

/** A run's part of a checkpoint head. */
export type RunHead = {
  run: number;
  /** Eight runs of a level are merged into one of the next. */
  level: number;
  entries: number;
  /** How many of the entries are keys. */
  keys: number;
  filterBlocks: number;
  filterProbes: number;
};

export class Run {
  readonly head: RunHead;
  readonly fences: Uint32Array;
  readonly filter: KeyFilter;
  readonly #store: RunStore;
  readonly #cache: ChunkCache;

  constructor(
    { store, cache }: { store: RunStore; cache: ChunkCache },
    head: RunHead,
    { fences, filter }: { fences: Uint32Array; filter: KeyFilter },
  ) {
    this.head = head;
    this.fences = fences;
    this.filter = filter;
    this.#store = store;
    this.#cache = cache;
  }

  /** Reads fences and filter. Throws `RunDamage`. */
  static load(on: { store: RunStore; cache: ChunkCache }, head: RunHead): Run {
    checkHead(head);
    const { run } = head;
    const size = { blocks: head.filterBlocks, probes: head.filterProbes };
    const fences = readPieces(on.store, run, 'fences', chunksOf(head.entries) * ENTRY_WORDS);
    const words = readPieces(on.store, run, 'filter', KeyFilter.wordsOf(size));
    return new Run(on, head, { fences, filter: new KeyFilter(size, words) });
  }

  get chunks(): number {
    return chunksOf(this.head.entries);
  }

  /** Adds the place of each entry with this key to `found`. Throws `RunDamage`. */
  find(key: EntryKey, found: FactPlace[]): void {
    const isKey = key.class === INDEX_CLASS.key;
    if (isKey && !this.filter.mayHave(key.w0, key.w1, key.w2, key.w3)) return;
    // Entries with the same key may continue in the next chunk.
    for (let chunk = this.#chunkBefore(key); chunk < this.chunks; chunk++) {
      const words = this.chunk(chunk);
      const count = words.length / ENTRY_WORDS;
      let entry = lowerBound(words, count, key);
      for (; entry < count; entry++) {
        if (compareToKey(words, entry * ENTRY_WORDS, key) !== 0) return;
        found.push(placeAt(words, entry * ENTRY_WORDS));
      }
    }
  }

  /** Descends from the last entry of the class before its bound; null: there is none. */
  below(bound: ListBound): EntryCursor | null {
    const { below } = bound;
    if (compareToKey(this.fences, 0, below) >= 0) return null;
    const chunk = this.#chunkBefore(below);
    const words = this.chunk(chunk);
    const entry = lowerBound(words, words.length / ENTRY_WORDS, below) - 1;
    invariant(entry >= 0, 'a chunk does not begin with its fence');
    if (!isOf(words, entry * ENTRY_WORDS, bound)) return null;
    return new DownCursor(this, { chunk, entry }, bound);
  }

  /**
   * All entries in order. Reads each chunk once, past the cache, so that other chunks stay in it.
   */
  ascending(): EntryCursor {
    return new UpCursor(this);
  }

  /** The entries of a chunk. Throws `RunDamage`. */
  chunk(chunk: number): Uint32Array {
    const cached = this.#cache.get(this.head.run, chunk);
    if (cached !== undefined) return cached;
    const words = this.readChunk(chunk);
    this.#cache.set(this.head.run, chunk, words);
    return words;
  }

  readChunk(chunk: number): Uint32Array {
    const { run, entries } = this.head;
    const words = readPiece(this.#store, run, chunk);
    const count = Math.min(CHUNK_ENTRIES, entries - chunk * CHUNK_ENTRIES);
    if (words.length !== count * ENTRY_WORDS) {
      throw new RunDamage(run, chunk, `has ${words.length / ENTRY_WORDS} entries, not ${count}`);
    }
    return words;
  }

  /** The last chunk that begins before the key, or the first chunk. */
  #chunkBefore(key: EntryKey): number {
    return Math.max(lowerBound(this.fences, this.chunks, key) - 1, 0);
  }
}

export function chunksOf(entries: number): number {
  return Math.ceil(entries / CHUNK_ENTRIES);
}

function checkHead(head: RunHead): void {
  const { run, level, entries, keys, filterBlocks, filterProbes } = head;
  for (const count of [run, level, entries, keys, filterBlocks, filterProbes]) {
    invariant(Number.isSafeInteger(count) && count >= 0, 'the head of a run lacks a number');
  }
  invariant(entries > 0 && keys <= entries, `run ${run} has more keys than entries`);
  invariant(chunksOf(entries) < PIECES_MAX, `run ${run} is larger than a run can be`);
}

class UpCursor implements EntryCursor {
  readonly #run: Run;
  #chunk = 0;
  words: Uint32Array;
  at = 0;

  constructor(run: Run) {
    this.#run = run;
    this.words = run.readChunk(0);
  }

  next(): boolean {
    this.at += ENTRY_WORDS;
    if (this.at < this.words.length) return true;
    if (++this.#chunk === this.#run.chunks) return false;
    this.words = this.#run.readChunk(this.#chunk);
    this.at = 0;
    return true;
  }
}

class DownCursor implements EntryCursor {
  readonly #run: Run;
  readonly #bound: ListBound;
  #chunk: number;
  words: Uint32Array;
  at: number;

  constructor(run: Run, { chunk, entry }: { chunk: number; entry: number }, bound: ListBound) {
    this.#run = run;
    this.#bound = bound;
    this.#chunk = chunk;
    this.words = run.chunk(chunk);
    this.at = entry * ENTRY_WORDS;
  }

  next(): boolean {
    this.at -= ENTRY_WORDS;
    if (this.at < 0) {
      if (this.#chunk === 0) return false;
      this.words = this.#run.chunk(--this.#chunk);
      this.at = this.words.length - ENTRY_WORDS;
    }
    return isOf(this.words, this.at, this.#bound);
  }
}
