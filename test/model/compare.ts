/** The engine against the naive model: the same random input, step by step the same. */
import { deepStrictEqual } from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import type { FillModelName, Uuid } from '../../engine/base/units.ts';
import { liquidityMemory, MarketLiquidity } from '../../engine/memory/market-liquidity.ts';
import type { CoreConfig } from '../../engine/rules/reference-data.ts';
import { sumOfSettled } from '../../engine/shard/callers/merge-reports.ts';
import { shardOfAccount } from '../../engine/shard/callers/shard-of.ts';
import { createMemoryEngine, type MemoryEngine } from '../engine/memory-engine.ts';
import { comparableEndings, readable } from './comparable.ts';
import { createNaiveEngine } from './naive-engine.ts';
import { createRandomInput, type Step } from './random-input.ts';
import { isAudited } from './seeds.ts';
import type { Ending, TradingEngine } from './trading-engine.ts';

const BOUNDS = { quoteMaxAgeMs: 15_000, routingBandCents: 10 };

export type Comparison = {
  seed: number;
  fillModel: FillModelName;
  steps: number;
  /** The consequences of a result beyond so many trades and orders follow later. */
  settledAtOnce?: number;
  /** Accounts choose models and liquidity of their own. */
  perAccount?: boolean;
  latency?: boolean;
  /** The accounts live in so many engines, which share sizes. */
  shards?: number;
};

/** Keys count in one shard, and here they trade in all: none counts. */
const NEVER = 1_000_000_000;

/** Throws if the two differ, or a ledger does not add up, naming the seed and the step. */
export function compareWithModel(comparison: Comparison): void {
  const { seed, fillModel, steps, settledAtOnce = Number.POSITIVE_INFINITY } = comparison;
  const { perAccount = false, latency = false, shards = 1 } = comparison;
  const isSliced = settledAtOnce < Number.POSITIVE_INFINITY;
  const isInOrder = !isSliced && shards === 1;
  const config = { ...BOUNDS, fillModel };
  const naive = createNaiveEngine({ ...config, shards });
  const fast =
    shards === 1
      ? createMemoryEngine(config, settledAtOnce)
      : shardedEngine({ config, settledAtOnce, shards });
  const input = createRandomInput(
    {
      ...{ seed, quoteMaxAgeMs: config.quoteMaxAgeMs, perAccount, latency },
      levels: fillModel === 'queue' || perAccount,
      ...(shards > 1 && { accounts: 4 * shards, countedOneIn: NEVER, apart: true }),
    },
    naive,
  );
  let ended = 0;
  for (let step = 0; step < steps; step++) {
    const next = input.next();
    const where = () => `SEED=${seed}, step ${step}: ${JSON.stringify(next)}`;
    same(apply(fast, next), apply(naive, next), where);
    if (isSliced && everyNth(step, seed, 3)) fast.settleSlice();
    if (isInOrder) {
      const [actual, expected] = [fast, naive].map((engine) =>
        comparableEndings(engine.endings().slice(ended)),
      );
      same(actual, expected, where);
      ended = naive.endings().length;
    }
    if (everyNth(step, seed, 97)) fast.checkpoint();
    if (everyNth(step, seed, 211)) {
      fast.crash();
      naive.forgetMoves();
    }
    if (isAudited(step) || step === steps - 1) {
      same(fast.conservation(), [], where);
      same(naive.conservation(), [], where);
    }
  }
  if (!isInOrder) {
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

type Compared = Pick<
  MemoryEngine,
  'tick' | 'command' | 'query' | 'endings' | 'conservation' | 'settleSlice' | 'checkpoint' | 'crash'
>;

/** Several engines as one: each has some of the accounts, and every tick reaches one by one. */
function shardedEngine(options: {
  config: CoreConfig;
  settledAtOnce: number;
  shards: number;
}): Compared {
  const { config, settledAtOnce, shards } = options;
  const memory = liquidityMemory(shards);
  const engines = Array.from({ length: shards }, (_, shard) => {
    return createMemoryEngine(config, settledAtOnce, new MarketLiquidity(memory, shard));
  });
  const of = (account: Uuid) => engines[shardOfAccount(account, shards)]!;
  const inEach = (run: (engine: MemoryEngine) => void) => {
    for (const engine of engines) run(engine);
  };
  return {
    tick: (tick) => inEach((engine) => engine.tick(tick)),
    command(command) {
      // All shards have one time, as a server's have.
      inEach((engine) => engine.tick({ kind: 'time', atMs: command.atMs }));
      if ('account' in command && command.account !== null) {
        return of(command.account).command(command);
      }
      const replies = engines.map((engine) => engine.command(command));
      const done = replies.filter((reply) => reply.ok);
      if (command.kind !== 'settle' || done.length < shards) return done[0] ?? replies[0]!;
      return { ok: true, body: sumOfSettled(done.map(({ body }) => body)) };
    },
    query(query) {
      const account =
        query.kind === 'preview' ? query.order.account : 'account' in query && query.account;
      if (query.kind === 'digest') inEach((engine) => engine.query(query));
      return (account ? of(account) : engines[0]!).query(query);
    },
    endings: () => engines.flatMap((engine) => engine.endings()),
    conservation: () => engines.flatMap((engine) => engine.conservation()),
    settleSlice: () => inEach((engine) => engine.settleSlice()),
    checkpoint: () => inEach((engine) => engine.checkpoint()),
    crash: () => inEach((engine) => engine.crash()),
  };
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

function apply(engine: Pick<TradingEngine, 'tick' | 'command' | 'query'>, step: Step): unknown {
  if (step.on === 'tick') return engine.tick(step.tick);
  return readable(step.on === 'command' ? engine.command(step.command) : engine.query(step.query));
}
