/**
 * Finds the places of an account's names in the log: keys, orders and trades. New entries are in
 * memory. Each checkpoint seals them: writes them as one sorted run, in steps, while newer ones go
 * to a new part of memory. Rules T90, D40, D41 (engine/RULES.md).
 */
import { crc32 } from 'node:zlib';
import { invariant } from '../base/invariant.ts';
import { ChunkCache } from './chunk-cache.ts';
import { CursorHeap, type EntryCursor } from './cursor-heap.ts';
import {
  type EntryKey,
  type FactPlace,
  INDEX_CLASS,
  type IndexClass,
  type IndexedPlace,
  indexedPlaceAt,
  LIST_ORDER,
  type ListBound,
  listBound,
  type NameWords,
} from './entry.ts';
import { type KeySeed, nameOfKey } from './key-hash.ts';
import { Leftovers, runsIn } from './leftovers.ts';
import { MemoryPart } from './memory-part.ts';
import { Merges } from './merges.ts';
import { Run, type RunHead } from './run.ts';
import { type EachEntry, problemsOfRun } from './run-check.ts';
import type { RunStore } from './run-store.ts';
import { runSteps, writeRun } from './run-writer.ts';

/** The index's part of a checkpoint head: plain numbers. */
export type IndexHead = {
  seed: number[];
  /** No run has this number or a higher one. */
  nextRun: number;
  runs: RunHead[];
};

export type Seal = {
  /** The most steps that `write` takes. */
  readonly steps: number;
  /** Each step writes at most `STEP_BYTES_MAX`, or removes some pieces. */
  readonly write: Generator<void>;
  /** The head of the checkpoint, once `write` is done. */
  readonly head: IndexHead;
};

type Sealing = { part: MemoryPart; fresh: Run | null; isWritten: boolean };

/** Removal keeps pace with writing, and continues when little is written. */
const SWEEP_STEPS_MIN = 64;

export class RecordIndex {
  readonly #store: RunStore;
  readonly #cache: ChunkCache;
  readonly #merges: Merges;
  readonly #leftovers: Leftovers;
  readonly #name = new Uint32Array(4);
  #seed: readonly number[];
  #nextRun = 0;
  /** The runs that the newest head on disk names. */
  #runs: Run[] = [];
  #memory = new MemoryPart();
  #sealing: Sealing | null = null;

  /**
   * @param seed four secret random words; `load` replaces them by the words in the head
   * @param cache of chunks: a larger one where the whole index is looked up
   */
  constructor(store: RunStore, seed: KeySeed, cache = new ChunkCache()) {
    invariant(seed.length === 4, 'a seed of keys is four words');
    this.#store = store;
    this.#cache = cache;
    this.#seed = Array.from(seed);
    this.#merges = new Merges({ store, cache: this.#cache });
    this.#leftovers = new Leftovers(store);
    this.#takeStock();
  }

  /** The number of entries that the next seal writes. */
  get unsealed(): number {
    return this.#memory.count;
  }

  /** The name of a key in the class `key`. The next call overwrites the words. */
  nameOfKey(account: number, key: string | Uint8Array): Uint32Array {
    return nameOfKey(this.#seed, account, key, this.#name);
  }

  /** @param record log position of the record; @param offset of the fact in its payload */
  add(
    account: number,
    of: IndexClass,
    w0: number,
    w1: number,
    w2: number,
    w3: number,
    record: number,
    offset: number,
  ): void {
    this.#memory.add(account, of, w0, w1, w2, w3, record, offset);
  }

  /**
   * The places of all entries with this name. Keys may share a name, so the caller checks each.
   * Throws `RunDamage`.
   */
  find(
    account: number,
    of: IndexClass,
    w0: number,
    w1: number,
    w2: number,
    w3: number,
  ): readonly FactPlace[] {
    const key: EntryKey = { account, class: of, w0, w1, w2, w3 };
    const found: FactPlace[] = [];
    this.#memory.find(key, found);
    this.#sealing?.part.find(key, found);
    for (const run of this.#runs) run.find(key, found);
    return found;
  }

  /**
   * The place of an order or a trade, whose name is in one class and occurs there once. Memory is
   * searched first, because recent names are there and no disk is read. Throws `RunDamage`.
   */
  findOne(
    account: number,
    classes: readonly IndexClass[],
    words: NameWords,
  ): FactPlace | undefined {
    const [w0, w1, w2, w3] = words as readonly [number, number, number, number];
    const keys = classes.map((of) => ({ account, class: of, w0, w1, w2, w3 }));
    const parts = [this.#memory, this.#sealing?.part, ...this.#runs.toReversed()];
    const found: FactPlace[] = [];
    for (const part of parts) {
      for (const key of keys) {
        part?.find(key, found);
        if (found.length > 0) return found[0];
      }
    }
    return undefined;
  }

  /**
   * The entries of an account in these classes, by name descending, below `before`. Read it to
   * the end before the index changes. Throws `RunDamage`.
   */
  *newestFirst(
    account: number,
    classes: readonly IndexClass[],
    before: NameWords | null,
  ): Generator<IndexedPlace> {
    const isListed = !classes.includes(INDEX_CLASS.key);
    invariant(isListed, 'keys have no order to be listed in');
    const bounds = classes.map((of) => listBound(account, of, before));
    const merged = new CursorHeap(this.#descending(bounds), LIST_ORDER, 'down');
    for (let { first } = merged; first !== undefined; { first } = merged) {
      yield indexedPlaceAt(first.words, first.at);
      merged.advance();
    }
  }

  /**
   * Seals the entries in memory. Run `write` to its end. Write the head once everything before it
   * is on disk. Then call `endSeal`. Until then the sealed entries are found in memory.
   */
  beginSeal(): Seal {
    invariant(this.#sealing === null, 'a seal begins before the last one ended');
    const part = this.#memory;
    part.close();
    this.#memory = new MemoryPart(part.count);
    const sealing: Sealing = { part, fresh: null, isWritten: false };
    this.#sealing = sealing;
    this.#merges.plan(this.#runs, () => this.#nextRun++);
    const sealSteps = part.count === 0 ? 0 : runSteps(part.entries);
    const mergeSteps = this.#merges.stepsBeside(sealSteps, this.#runs);
    const sweepSteps = this.#leftovers.isEmpty ? 0 : Math.max(SWEEP_STEPS_MIN, sealSteps);
    const headOf = () => this.#headOf(sealing);
    return {
      steps: sweepSteps + sealSteps + mergeSteps,
      write: this.#write(sealing, { mergeSteps, sweepSteps }),
      get head() {
        return headOf();
      },
    };
  }

  /** Call this once the head of the seal is on disk. */
  endSeal(): void {
    const sealing = this.#sealing;
    invariant(sealing?.isWritten === true, 'a seal ends before it is written');
    const { runs, gone } = this.#runsAfter(sealing);
    this.#runs = runs;
    this.#leftovers.add(gone.map(({ head }) => head.run));
    this.#merges.forgetWritten();
    this.#sealing = null;
  }

  /** The CRC-32 of the seed: indexes with another one have other names of the same keys. */
  get seedSum(): number {
    return crc32(Buffer.from(Uint32Array.from(this.#seed).buffer));
  }

  /** Reads fences and filters of the runs in the head. Throws `RunDamage`. */
  load(head: IndexHead): void {
    const isNew = this.#memory.count === 0 && this.#sealing === null && this.#runs.length === 0;
    invariant(isNew, 'an index is loaded once, before it is used');
    invariant(head.seed.length === 4, 'a seed of keys is four words');
    const on = { store: this.#store, cache: this.#cache };
    this.#runs = head.runs.map((run) => Run.load(on, run));
    this.#seed = head.seed;
    this.#nextRun = head.nextRun;
    this.#takeStock();
    for (const run of head.runs)
      invariant(run.run < this.#nextRun, 'a run has a number that is still to be given');
  }

  /** Calls `each` with all entries, in no order. Throws `RunDamage`. */
  forEach(each: EachEntry): void {
    for (const run of this.#runs) {
      const cursor = run.ascending();
      do each(cursor.words, cursor.at);
      while (cursor.next());
    }
    this.#sealing?.part.forEach(each);
    this.#memory.forEach(each);
  }

  /**
   * Problems of the runs; reads all of their pieces. A step reads a chunk. `each` gets all entries of
   * the index, in no order, as `forEach` has them.
   */
  *problems(each: EachEntry = () => {}): Generator<string | null> {
    for (const run of this.#runs) yield* problemsOfRun(this.#store, run, each);
    this.#sealing?.part.forEach(each);
    this.#memory.forEach(each);
  }

  *#write(
    sealing: Sealing,
    { mergeSteps, sweepSteps }: { mergeSteps: number; sweepSteps: number },
  ): Generator<void> {
    // The head on disk is the one of the last seal, which names none of them.
    for (let step = 0; step < sweepSteps && !this.#leftovers.isEmpty; step++) {
      this.#leftovers.step();
      yield;
    }
    const { part } = sealing;
    if (part.count > 0) {
      const on = { store: this.#store, cache: this.#cache };
      const plan = { run: this.#nextRun++, level: 0, ...part.entries };
      sealing.fresh = yield* writeRun(on, plan, part.ascending());
    }
    for (let step = 0; step < mergeSteps && this.#merges.step(); step++) yield;
    sealing.isWritten = true;
  }

  #runsAfter({ fresh }: Sealing): { runs: Run[]; gone: Run[] } {
    const { runs, gone } = this.#merges.replaced(this.#runs);
    return { runs: fresh === null ? runs : [...runs, fresh], gone };
  }

  #headOf(sealing: Sealing): IndexHead {
    invariant(sealing === this.#sealing, 'the head of a seal is asked for after its end');
    invariant(sealing.isWritten, 'the head of a seal is asked for before it is written');
    const { runs } = this.#runsAfter(sealing);
    return { seed: [...this.#seed], nextRun: this.#nextRun, runs: runs.map(({ head }) => head) };
  }

  *#descending(bounds: readonly ListBound[]): Generator<EntryCursor> {
    yield* this.#memory.descending(bounds);
    if (this.#sealing !== null) yield* this.#sealing.part.descending(bounds);
    for (const run of this.#runs) {
      for (const bound of bounds) {
        const row = run.below(bound);
        if (row !== null) yield row;
      }
    }
  }

  /** Finds the pieces in the store that belong to no valid run, to remove them later. */
  #takeStock(): void {
    const named = new Set(this.#runs.map(({ head }) => head.run));
    this.#leftovers.clear();
    for (const run of runsIn(this.#store)) {
      if (!named.has(run)) this.#leftovers.add([run]);
      this.#nextRun = Math.max(this.#nextRun, run + 1);
    }
  }
}
