/**
 * The threads of backtests: few, of low priority, and none while nobody asks. So many run at once,
 * each within a time and a heap. Rule Z12 (engine/RULES.md).
 */
import { availableParallelism } from 'node:os';
import { Piscina } from 'piscina';
import { moduleBeside } from '../shard/beside.ts';
import { EngineBusy } from '../shard/busy.ts';
import type { BacktestTask } from './task.ts';

export const BACKTESTS_MAX = 10;
const RETRY_AFTER_SECONDS = 5;
const HEAP_MIB = 512;
/** A thread that nobody needs ends after this. */
const IDLE_MS = 10_000;

export type PoolOptions = {
  /** From its acceptance to its answer. */
  withinMs?: number;
};

const WITHIN_MS = 60_000;

export class BacktestPool {
  readonly #pool: Piscina<BacktestTask & { withPrices: boolean }, string>;
  readonly #withinMs: number;
  #running = 0;

  constructor({ withinMs = WITHIN_MS }: PoolOptions = {}) {
    this.#withinMs = withinMs;
    this.#pool = new Piscina({
      filename: moduleBeside(import.meta.url, './worker').href,
      name: 'backtest',
      minThreads: 0,
      maxThreads: Math.min(BACKTESTS_MAX, Math.max(1, availableParallelism() - 1)),
      idleTimeout: IDLE_MS,
      atomics: 'disabled',
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB },
    });
    // Its task is rejected with the same error.
    this.#pool.on('error', () => undefined);
  }

  /**
   * The answer as JSON text. `prepare` makes the task, within the same time. Rejects with
   * `EngineBusy` where as many run as may, and where it takes too long or too much memory.
   */
  async run(prepare: () => Promise<BacktestTask & { withPrices: boolean }>): Promise<string> {
    if (this.#running === BACKTESTS_MAX) {
      throw new EngineBusy(`${BACKTESTS_MAX} backtests are running`, RETRY_AFTER_SECONDS);
    }
    this.#running++;
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
      this.#running--;
    }
  }

  async close(): Promise<void> {
    await this.#pool.destroy();
  }
}

function tooMuch(problem: string): EngineBusy {
  return new EngineBusy(`the backtest ${problem}: ask for fewer markets`, RETRY_AFTER_SECONDS);
}
