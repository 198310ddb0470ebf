/**
 * Merges eight runs of a level into one of the next. A merge advances along with several seals, a
 * few steps for each chunk that a seal writes; a crash restarts it. The lowest level is merged
 * first: its runs are short, and there are most of them. Rule D41 (engine/RULES.md).
 */
import { invariant } from '../base/invariant.ts';
import type { ChunkCache } from './chunk-cache.ts';
import type { Run } from './run.ts';
import type { RunStore } from './run-store.ts';
import { type RunPlan, runSteps, writeRun } from './run-writer.ts';

export const MERGE_RUNS = 8;
/** The least steps per seal, so that small seals merge too. */
const STEPS_MIN = 64;

type Merge = {
  level: number;
  inputs: readonly Run[];
  stepsLeft: number;
  write: Generator<void, Run>;
  /** The run, once it is written. */
  output: Run | null;
};

export class Merges {
  readonly #on: { store: RunStore; cache: ChunkCache };
  /** At most one per level, the lowest first. */
  #merges: Merge[] = [];

  constructor(on: { store: RunStore; cache: ChunkCache }) {
    this.#on = on;
  }

  /** Begins a merge wherever `runs`, all on disk, are enough for one. */
  plan(runs: readonly Run[], nextRun: () => number): void {
    const levels = new Set(runs.map(({ head }) => head.level));
    for (const level of levels) {
      if (this.#merges.some((merge) => merge.level === level)) continue;
      const inputs = runs.filter(({ head }) => head.level === level).slice(0, MERGE_RUNS);
      if (inputs.length < MERGE_RUNS) continue;
      this.#merges.push(this.#begin(level, inputs, nextRun()));
    }
    this.#merges.sort((one, other) => one.level - other.level);
  }

  /**
   * How many steps to take along with a seal of so many steps. Each entry is merged once per level,
   * so one step more than the number of levels catches up.
   */
  stepsBeside(sealSteps: number, runs: readonly Run[]): number {
    const levels = Math.max(0, ...runs.map(({ head }) => head.level)) + 1;
    const left = this.#merges.reduce((sum, { stepsLeft }) => sum + stepsLeft, 0);
    return Math.min(left, Math.max(STEPS_MIN, sealSteps * (levels + 1)));
  }

  /** Takes a step of the lowest unwritten merge; false: all are written. */
  step(): boolean {
    const merge = this.#merges.find(({ output }) => output === null);
    if (merge === undefined) return false;
    const { done, value } = merge.write.next();
    merge.stepsLeft--;
    if (done === true) merge.output = value;
    invariant(merge.stepsLeft >= 0, 'a merge takes more steps than it has pieces');
    return true;
  }

  /** The runs after the written merges, and the runs that they replace. */
  replaced(runs: readonly Run[]): { runs: Run[]; gone: Run[] } {
    const written = this.#merges.filter(({ output }) => output !== null);
    const gone = written.flatMap(({ inputs }) => inputs);
    for (const run of gone) invariant(runs.includes(run), 'a merge replaces a run that is gone');
    const kept = runs.filter((run) => !gone.includes(run));
    return { runs: [...written.map(({ output }) => output!), ...kept], gone };
  }

  /** Call this once the head that names the written merges is on disk. */
  forgetWritten(): void {
    this.#merges = this.#merges.filter(({ output }) => output === null);
  }

  #begin(level: number, inputs: readonly Run[], run: number): Merge {
    const sum = (of: 'entries' | 'keys') => inputs.reduce((all, { head }) => all + head[of], 0);
    const plan: RunPlan = { run, level: level + 1, entries: sum('entries'), keys: sum('keys') };
    const rows = () => inputs.map((input) => input.ascending());
    const write = writeRun(this.#on, plan, lazily(rows));
    return { level, inputs, stepsLeft: runSteps(plan), write, output: null };
  }
}

/** Opens the sequences at the first step. */
function* lazily<T>(rows: () => Iterable<T>): Generator<T> {
  yield* rows();
}
