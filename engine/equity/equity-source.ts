/**
 * Asks the thread that reads the money of accounts. There is none while no question is asked. Rules
 * A95, Q18 (api/RULES.md), D10 (engine/RULES.md).
 */
import type { Uuid } from '../base/units.ts';
import { shardOfAccount } from '../shard/callers/shard-of.ts';
import { type Answered, type Asked, takeAnswer } from '../threads/answer-questions.ts';
import { type Asker, FairTurns } from '../threads/fair-turns.ts';
import type { Log } from '../threads/log.ts';
import { SupervisedWorker } from '../threads/supervised-worker.ts';
import { Unavailable } from '../threads/unavailable.ts';
import { workerUrl } from '../threads/worker-url.ts';
import type { EquityPoints } from './points.ts';
import type { EquityQuestion } from './reader.ts';

export type EquityOptions = {
  dataDir: string;
  shards: number;
  log: Log;
  /** The longest time that a question reads. 10 seconds when left out. */
  withinMs?: number;
  /** The thread's module; tests name another. */
  module?: URL;
};

const WITHIN_MS = 10_000;
/** The thread reads some of the log for each question by turns. */
const AT_ONCE = 32;
const RETRY_AFTER_SECONDS = 2;
const HEAP_MIB = 1024;
/** After this long without a question the thread ends, and its readings with it. */
const IDLE_MS = 60_000;
const DOWN = busy('the thread that reads the money of accounts is starting again');
const CLOSED = new Unavailable('the engine is stopping');

export class EquitySource {
  readonly #options: EquityOptions;
  readonly #thread: SupervisedWorker<Asked<EquityQuestion>, Answered<EquityPoints | null>>;
  readonly #turns = new FairTurns({
    of: 'equity',
    atOnce: AT_ONCE,
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });

  constructor(options: EquityOptions) {
    this.#options = options;
    this.#thread = new SupervisedWorker({
      name: 'equity',
      module: options.module ?? workerUrl(import.meta.url, './worker'),
      workerData: () => null,
      log: options.log,
      down: DOWN,
      closed: CLOSED,
      isUnref: true,
      heap: { mib: HEAP_MIB, over: busy('the account has too many facts') },
      idleMs: IDLE_MS,
      take: (message) => takeAnswer(this.#thread, message),
    });
  }

  /** The problem on one line; null: there is none. */
  get problem(): string | null {
    return this.#thread.problem;
  }

  /**
   * Answers a question about equity once it is the asker's turn; `points` is a part of it. Rejects
   * as `answer` does, and with `Unavailable` if too many questions of the account wait.
   */
  inTurn<A>(asker: Asker, answer: () => Promise<A>): Promise<A> {
    return this.#turns.take(asker, answer);
  }

  /**
   * The points of an account before now. Rejects with `Unavailable` if there is more to read than
   * the time allows. The next question goes on from there.
   */
  async points(
    account: Uuid,
    window: Pick<EquityQuestion, 'fromMs' | 'nowMs' | 'isMarked'>,
  ): Promise<EquityPoints> {
    const { dataDir, shards, withinMs = WITHIN_MS } = this.#options;
    const shard = shardOfAccount(account, shards);
    const question = { dataDir, shard, account, withinMs, ...window };
    const points = await this.#thread.ask<EquityPoints | null>((id) => ({
      kind: 'ask',
      id,
      question,
    }));
    if (points === null) throw busy('the facts of the account are still being read');
    return points;
  }

  async close(): Promise<void> {
    await this.#thread.close(null);
  }
}

function busy(reason: string): Unavailable {
  return new Unavailable(reason, RETRY_AFTER_SECONDS);
}
