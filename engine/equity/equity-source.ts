/**
 * Asks the thread that reads the money of accounts; there is none while nobody asks. Rules A95, Q18
 * (api/RULES.md).
 */
import { Piscina } from 'piscina';
import type { Uuid } from '../base/units.ts';
import { shardOfAccount } from '../shard/callers/shard-of.ts';
import { type Asker, FairTurns } from '../threads/fair-turns.ts';
import { Unavailable } from '../threads/unavailable.ts';
import { workerUrl } from '../threads/worker-url.ts';
import type { EquityPoints } from './points.ts';
import type { EquityQuestion } from './reader.ts';

export type EquityOptions = {
  dataDir: string;
  shards: number;
  /** How long a question reads at most. 10 seconds when left out. */
  withinMs?: number;
};

const WITHIN_MS = 10_000;
/** The thread reads some of the log of each by turns. */
const AT_ONCE = 32;
const RETRY_AFTER_SECONDS = 2;
const HEAP_MIB = 1024;
/** The thread ends, and with it what it has kept, after this long without a question. */
const IDLE_MS = 60_000;

export class EquitySource {
  readonly #options: EquityOptions;
  readonly #pool: Piscina<EquityQuestion, EquityPoints | null>;
  readonly #turns = new FairTurns({
    of: 'equity',
    atOnce: AT_ONCE,
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });

  constructor(options: EquityOptions) {
    this.#options = options;
    this.#pool = new Piscina({
      filename: workerUrl(import.meta.url, './worker').href,
      name: 'points',
      minThreads: 0,
      maxThreads: 1,
      concurrentTasksPerWorker: AT_ONCE,
      idleTimeout: IDLE_MS,
      atomics: 'disabled',
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB },
    });
    // Its tasks are rejected with the same error.
    this.#pool.on('error', () => undefined);
  }

  /**
   * Answers a question about equity, of which `points` is a part, once it is the asker's turn. Rejects
   * with `Unavailable` where too many of its questions wait, and as `answer` does.
   */
  inTurn<A>(asker: Asker, answer: () => Promise<A>): Promise<A> {
    return this.#turns.take(asker, answer);
  }

  /**
   * The points of an account before now. Rejects with `Unavailable` where there is more to read than
   * is possible in time: asked again, it goes on from there.
   */
  async points(
    account: Uuid,
    window: Pick<EquityQuestion, 'fromMs' | 'nowMs' | 'isMarked'>,
  ): Promise<EquityPoints> {
    const { dataDir, shards, withinMs = WITHIN_MS } = this.#options;
    try {
      const shard = shardOfAccount(account, shards);
      const points = await this.#pool.run({ dataDir, shard, account, withinMs, ...window });
      if (points === null) throw busy('the facts of the account are still being read');
      return points;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ERR_WORKER_OUT_OF_MEMORY') throw busy('the account has too many facts');
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.#pool.destroy();
  }
}

function busy(reason: string): Unavailable {
  return new Unavailable(reason, RETRY_AFTER_SECONDS);
}
