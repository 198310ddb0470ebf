/** Writes a run from sorted sequences of entries, a bounded number of pieces per step. */
import { invariant } from '../base/invariant.ts';
import type { ChunkCache } from './chunk-cache.ts';
import { CursorHeap, type EntryCursor } from './cursor-heap.ts';
import { classAt, compareEntries, ENTRY_WORDS, INDEX_CLASS, RUN_ORDER } from './entry.ts';
import { filterSizeOf, KeyFilter } from './key-filter.ts';
import { CHUNK_ENTRIES, PIECE_BYTES, piecesOf, putPiece, putPieces } from './pieces.ts';
import { chunksOf, Run, type RunHead } from './run.ts';
import type { RunStore } from './run-store.ts';

/** A step merges the entries of one chunk, or writes so many finished pieces. */
const READY_PIECES_A_STEP = 4;
/** The most bytes that a step writes. */
export const STEP_BYTES_MAX = READY_PIECES_A_STEP * PIECE_BYTES;

/** A run to be written. */
export type RunPlan = Pick<RunHead, 'run' | 'level' | 'entries' | 'keys'>;

/** The steps of a run, including two at its start and one that detects its end. */
export function runSteps({ entries, keys }: Pick<RunPlan, 'entries' | 'keys'>): number {
  const filter = piecesOf(KeyFilter.wordsOf(filterSizeOf(keys)));
  const fences = piecesOf(chunksOf(entries) * ENTRY_WORDS);
  const ready = (pieces: number) => Math.ceil(pieces / READY_PIECES_A_STEP);
  return chunksOf(entries) + ready(fences) + ready(filter) + 3;
}

/**
 * Writes the run, and returns it once all its pieces are put. It is readable once they are stored.
 */
export function* writeRun(
  on: { store: RunStore; cache: ChunkCache },
  plan: RunPlan,
  rows: Iterable<EntryCursor>,
): Generator<void, Run> {
  const { store } = on;
  const { run, entries, keys } = plan;
  const size = filterSizeOf(keys);
  const filter = new KeyFilter(size);
  const fences = new Uint32Array(chunksOf(entries) * ENTRY_WORDS);
  yield;
  const merged = new CursorHeap(rows, RUN_ORDER, 'up');
  yield;
  const buffer = new Uint32Array(CHUNK_ENTRIES * ENTRY_WORDS);
  let keysLeft = keys;
  for (let chunk = 0; chunk < chunksOf(entries); chunk++) {
    const count = Math.min(CHUNK_ENTRIES, entries - chunk * CHUNK_ENTRIES);
    const words = buffer.subarray(0, count * ENTRY_WORDS);
    keysLeft -= fillChunk(words, merged, filter);
    const isBehind =
      chunk === 0 || compareEntries(fences, (chunk - 1) * ENTRY_WORDS, words, 0) <= 0;
    invariant(isBehind, 'a run is not in order');
    fences.set(words.subarray(0, ENTRY_WORDS), chunk * ENTRY_WORDS);
    putPiece(store, run, chunk, words);
    yield;
  }
  invariant(merged.first === undefined, 'a run has more entries than were counted');
  invariant(keysLeft === 0, 'a run has other keys than were counted');
  yield* putReady(store, run, { fences, filter: filter.words });
  const head = { ...plan, filterBlocks: size.blocks, filterProbes: size.probes };
  return new Run(on, head, { fences, filter });
}

/** Copies the next entries into a chunk, and returns how many of them are keys. */
function fillChunk(words: Uint32Array, merged: CursorHeap, filter: KeyFilter): number {
  let keys = 0;
  for (let at = 0; at < words.length; at += ENTRY_WORDS) {
    const { first } = merged;
    invariant(first !== undefined, 'a run has fewer entries than were counted');
    copyEntry(words, at, first);
    const isOrdered = at === 0 || compareEntries(words, at - ENTRY_WORDS, words, at) <= 0;
    invariant(isOrdered, 'the entries of a run are not in order');
    if (classAt(words, at) === INDEX_CLASS.key) {
      keys++;
      filter.add(words[at + 2]!, words[at + 3]!, words[at + 4]!, words[at + 5]!);
    }
    merged.advance();
  }
  return keys;
}

function copyEntry(to: Uint32Array, at: number, { words, at: from }: EntryCursor): void {
  for (let word = 0; word < ENTRY_WORDS; word++) to[at + word] = words[from + word]!;
}

function* putReady(
  store: RunStore,
  run: number,
  ready: { fences: Uint32Array; filter: Uint32Array },
): Generator<void> {
  for (const kind of ['fences', 'filter'] as const) {
    const words = ready[kind];
    for (let from = 0; from < piecesOf(words.length); from += READY_PIECES_A_STEP) {
      putPieces(store, run, { kind, words, from, count: READY_PIECES_A_STEP });
      yield;
    }
  }
}
