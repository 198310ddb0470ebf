/**
 * Runs that no head on disk names any more: merges replaced them, or a crash left them
 * half-written. Their pieces are removed a few at a time.
 */
import { invariant } from '../base/invariant.ts';
import type { RunStore } from './run-store.ts';

const PIECES_A_STEP = 64;

/** The runs with pieces in the store. */
export function* runsIn(store: RunStore): Generator<number> {
  for (let at = store.next(0, 0); at !== null; at = store.next(at.run + 1, 0)) yield at.run;
}

export class Leftovers {
  readonly #store: RunStore;
  #runs: number[] = [];
  /** Where the next piece of the first run may be. */
  #piece = 0;

  constructor(store: RunStore) {
    this.#store = store;
  }

  add(runs: Iterable<number>): void {
    this.#runs.push(...runs);
  }

  /** Forgets all runs. */
  clear(): void {
    this.#runs = [];
    this.#piece = 0;
  }

  get isEmpty(): boolean {
    return this.#runs.length === 0;
  }

  /** Removes some pieces. A removed piece may be readable for a while: it never looks back. */
  step(): void {
    for (let count = 0; count < PIECES_A_STEP && !this.isEmpty; count++) {
      const run = this.#runs[0]!;
      const found = this.#store.next(run, this.#piece);
      if (found === null || found.run !== run) {
        this.#runs.shift();
        this.#piece = 0;
        continue;
      }
      invariant(found.piece >= this.#piece, 'a piece of a run is removed twice');
      this.#store.remove(run, found.piece);
      this.#piece = found.piece + 1;
    }
  }
}
