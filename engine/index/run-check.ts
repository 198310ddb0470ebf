/** Checks every piece of a run, for `verify`. Rule D16 (engine/RULES.md). */
import { classAt, compareEntries, ENTRY_WORDS, INDEX_CLASS } from './entry.ts';
import { FIRST_PIECE, piecesOf, RunDamage, readPiece } from './pieces.ts';
import type { Run } from './run.ts';
import type { RunStore } from './run-store.ts';

/** Gets every entry of the pieces that are whole. */
export type EachEntry = (words: Uint32Array, at: number) => void;

/** A problem, or null for a piece without one. */
export function* problemsOfRun(
  store: RunStore,
  run: Run,
  each: EachEntry,
): Generator<string | null> {
  let last: Uint32Array | null = null;
  let keys = 0;
  let isWhole = true;
  for (let chunk = 0; chunk < run.chunks; chunk++) {
    const words = read(() => run.readChunk(chunk));
    if (words instanceof RunDamage) {
      isWhole = false;
      yield words.message;
      continue;
    }
    const seen = lookAt(run, words, { chunk, last }, each);
    keys += seen.keys;
    last = words;
    yield seen.fault;
  }
  if (isWhole && keys !== run.head.keys) {
    yield `index run ${run.head.run}: has ${keys} keys, and its head says ${run.head.keys}`;
  }
  for (const [kind, words] of [
    ['fences', run.fences],
    ['filter', run.filter.words],
  ] as const) {
    for (let piece = 0; piece < piecesOf(words.length); piece++) {
      const found = read(() => readPiece(store, run.head.run, FIRST_PIECE[kind] + piece));
      yield found instanceof RunDamage ? found.message : null;
    }
  }
}

function read(piece: () => Uint32Array): Uint32Array | RunDamage {
  try {
    return piece();
  } catch (error) {
    if (error instanceof RunDamage) return error;
    throw error;
  }
}

function lookAt(
  run: Run,
  words: Uint32Array,
  { chunk, last }: { chunk: number; last: Uint32Array | null },
  each: EachEntry,
): { keys: number; fault: string | null } {
  let fault: string | null = null;
  let keys = 0;
  const note = (text: string) => {
    fault ??= new RunDamage(run.head.run, chunk, text).message;
  };
  if (compareEntries(words, 0, run.fences, chunk * ENTRY_WORDS) !== 0) note('is not as its fence');
  if (last !== null && compareEntries(last, last.length - ENTRY_WORDS, words, 0) > 0) {
    note('begins before the last one ends');
  }
  for (let at = 0; at < words.length; at += ENTRY_WORDS) {
    each(words, at);
    if (at > 0 && compareEntries(words, at - ENTRY_WORDS, words, at) > 0) note('is not in order');
    if (classAt(words, at) !== INDEX_CLASS.key) continue;
    keys++;
    const isThere = run.filter.mayHave(
      words[at + 2]!,
      words[at + 3]!,
      words[at + 4]!,
      words[at + 5]!,
    );
    if (!isThere) note('has a key that its filter lacks');
  }
  return { keys, fault };
}
