/** The engine against the naive model: the same random input, step by step the same. */
import { deepStrictEqual } from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import type { FillModelName } from '../../engine/base/units.ts';
import { createMemoryEngine } from '../engine/memory-engine.ts';
import { comparableEndings, readable } from './comparable.ts';
import { createNaiveEngine } from './naive-engine.ts';
import { createRandomInput, type Step } from './random-input.ts';
import type { Ending, TradingEngine } from './trading-engine.ts';

const BOUNDS = { quoteMaxAgeMs: 15_000, routingBandCents: 10 };

export type Comparison = {
  seed: number;
  fillModel: FillModelName;
  steps: number;
  /** The consequences of a result beyond so many trades and orders follow later. */
  settledAtOnce?: number;
};

/** Throws if the two differ, or a ledger does not add up, naming the seed and the step. */
export function compareWithModel(comparison: Comparison): void {
  const { seed, fillModel, steps, settledAtOnce = Number.POSITIVE_INFINITY } = comparison;
  const isSliced = settledAtOnce < Number.POSITIVE_INFINITY;
  const config = { ...BOUNDS, fillModel };
  const naive = createNaiveEngine(config);
  const fast = createMemoryEngine(config, settledAtOnce);
  const input = createRandomInput({ seed, quoteMaxAgeMs: config.quoteMaxAgeMs }, naive);
  let ended = 0;
  for (let step = 0; step < steps; step++) {
    const next = input.next();
    const where = () => `SEED=${seed}, step ${step}: ${JSON.stringify(next)}`;
    same(apply(fast, next), apply(naive, next), where);
    if (isSliced && everyNth(step, seed, 3)) fast.settleSlice();
    if (!isSliced) {
      const [actual, expected] = [fast, naive].map((engine) =>
        comparableEndings(engine.endings().slice(ended), naive.bookOf),
      );
      same(actual, expected, where);
      ended = naive.endings().length;
    }
    if (everyNth(step, seed, 97)) fast.checkpoint();
    if (everyNth(step, seed, 211)) fast.crash();
    same(fast.conservation(), [], where);
    same(naive.conservation(), [], where);
  }
  if (isSliced) {
    fast.query({ kind: 'digest', atMs: 0, quotes: false });
    deepStrictEqual(sorted(fast.endings()), sorted(naive.endings()), `SEED=${seed}`);
  }
  for (const account of input.accounts) {
    for (const kind of ['orders', 'trades'] as const) {
      const page = { limit: 200, before: null, status: null, organizationSlug: null };
      const query = { kind, atMs: 0, account, ...page } as const;
      deepStrictEqual(readable(fast.query(query)), readable(naive.query(query)), `SEED=${seed}`);
    }
  }
}

/** The text is made only where it is needed: there is one for each step. */
function same(actual: unknown, expected: unknown, where: () => string): void {
  if (!isDeepStrictEqual(actual, expected)) deepStrictEqual(actual, expected, where());
}

/** Between accounts their order is free. */
const sorted = (endings: readonly Ending[]) =>
  [...endings].sort((a, b) => (a.orderId < b.orderId ? -1 : 1));

/** Small and seeded by the step alone, so that a failing seed fails again. */
const everyNth = (step: number, seed: number, n: number) => (step * 7919 + seed * 104729) % n === 0;

function apply(engine: TradingEngine, step: Step): unknown {
  if (step.on === 'tick') return engine.tick(step.tick);
  return readable(step.on === 'command' ? engine.command(step.command) : engine.query(step.query));
}
