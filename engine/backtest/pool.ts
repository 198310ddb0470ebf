/**
 * The threads of backtests: few, of low priority, and none while nobody asks. So many run at once,
 * one of an account, each within a time and a heap. Rules Z12 (engine/RULES.md), Q18
 * (api/RULES.md).
 */
import { availableParallelism } from 'node:os';
import { Piscina } from 'piscina';
import { type Asker, FairTurns } from '../threads/fair-turns.ts';
import { Unavailable } from '../threads/unavailable.ts';
import { workerUrl } from '../threads/worker-url.ts';
import type { BacktestTask } from './task.ts';

/** Over all accounts; and of one account, including the backtests that wait. */
export const BACKTESTS_MAX = 10;
/** The system shares few cores among them, so that a short one need not wait for long ones. */
const THREADS_MIN = 4;
const RETRY_AFTER_SECONDS = 5;
const HEAP_MIB = 512;
/** A thread that nobody needs ends after this. */
const IDLE_MS = 10_000;

type Prepare = () => Promise<BacktestTask & { withPrices: boolean }>;

export type PoolOptions = {
  /** From its turn to its answer. */
  withinMs?: number;
};

const WITHIN_MS = 60_000;

export class BacktestPool {
  readonly #pool: Piscina<BacktestTask & { withPrices: boolean }, string>;
  readonly #withinMs: number;
  readonly #turns = new FairTurns({
    of: 'backtest',
    atOnce: BACKTESTS_MAX,
    eachMax: BACKTESTS_MAX,
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });

  constructor({ withinMs = WITHIN_MS }: PoolOptions = {}) {
    this.#withinMs = withinMs;
    this.#pool = new Piscina({
      filename: workerUrl(import.meta.url, './worker').href,
      name: 'backtest',
      minThreads: 0,
      maxThreads: Math.min(BACKTESTS_MAX, Math.max(THREADS_MIN, availableParallelism() - 1)),
      idleTimeout: IDLE_MS,
      atomics: 'disabled',
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB },
    });
    // Its task is rejected with the same error.
    this.#pool.on('error', () => undefined);
  }

  /**
   * The answer as JSON text. `prepare` makes the task, within the same time. Rejects with
   * `Unavailable` where the account has as many as it may, and where it takes too long or too much
   * memory.
   */
  run(asker: Asker, prepare: Prepare): Promise<string> {
    return this.#turns.take(asker, () => this.#run(prepare));
  }

  async #run(prepare: Prepare): Promise<string> {
    const abort = new AbortController();
    const timer = setTimeout(() => abort.abort(), this.#withinMs);
    const late = new Promise<never>((_, reject) => {
      abort.signal.addEventListener('abort', () => reject(new Error('late')));
    });
    const answer = prepare().then((task) => this.#pool.run(task, { signal: abort.signal }));
    try {
      return await Promise.race([answer, late]);
    } catch (error) {
      // What comes of it now interests nobody.
      answer.catch(() => undefined);
      if (abort.signal.aborted) throw tooMuch(`takes more than ${this.#withinMs / 1000} seconds`);
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ERR_WORKER_OUT_OF_MEMORY') throw tooMuch('needs too much memory');
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  async close(): Promise<void> {
    await this.#pool.destroy();
  }
}

function tooMuch(problem: string): Unavailable {
  return new Unavailable(`the backtest ${problem}: ask for fewer markets`, RETRY_AFTER_SECONDS);
}
