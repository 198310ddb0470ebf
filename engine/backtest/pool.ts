/**
 * The threads of backtests: few, of low priority, and none while no backtest is asked. A few run at
 * once, one per account, each within a limit of time and heap. Rules Z12 (engine/RULES.md), Q18
 * (api/RULES.md).
 */
import { availableParallelism } from 'node:os';
import { type Answered, type Asked, takeAnswer } from '../threads/answer-questions.ts';
import { type Asker, FairTurns } from '../threads/fair-turns.ts';
import type { Log } from '../threads/logger.ts';
import { SupervisedWorker } from '../threads/supervised-worker.ts';
import { Unavailable } from '../threads/unavailable.ts';
import { workerUrl } from '../threads/worker-url.ts';
import type { BacktestTask } from './task.ts';

/** The limit over all accounts, and the limit of one account, including the backtests that wait. */
export const BACKTESTS_MAX = 10;
/** The system shares few cores among them, so a short backtest need not wait for long ones. */
const THREADS_MIN = 4;
/** The threads of a pool. */
export const BACKTEST_THREADS = Math.min(
  BACKTESTS_MAX,
  Math.max(THREADS_MIN, availableParallelism() - 1),
);
const RETRY_AFTER_SECONDS = 5;
const HEAP_MIB = 512;
/** An idle thread ends after this time. */
const IDLE_MS = 10_000;

type Task = BacktestTask & { withPrices: boolean };
type Prepare = () => Promise<Task>;
type BacktestThread = SupervisedWorker<Asked<Task>, Answered<string>>;

export type PoolOptions = {
  log: Log;
  /** From its turn to its answer. */
  withinMs?: number;
  /** Of each thread. */
  heapMib?: number;
  /** The module of its threads; tests name another. */
  module?: URL;
};

const WITHIN_MS = 60_000;
const DOWN = new Unavailable('the threads of backtests are starting again', RETRY_AFTER_SECONDS);
const CLOSED = new Unavailable('the engine is stopping');

export class BacktestPool {
  readonly #withinMs: number;
  readonly #threads: readonly BacktestThread[];
  /** Threads without a task. The last of them was busy most recently and most likely still runs. */
  readonly #free: BacktestThread[];
  /** Tasks without a thread, the oldest first. */
  readonly #waiting = new Set<(thread: BacktestThread) => void>();
  readonly #turns = new FairTurns({
    of: 'backtest',
    atOnce: BACKTESTS_MAX,
    eachMax: BACKTESTS_MAX,
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });

  constructor(options: PoolOptions) {
    this.#withinMs = options.withinMs ?? WITHIN_MS;
    this.#threads = Array.from({ length: BACKTEST_THREADS }, () => threadOf(options));
    this.#free = [...this.#threads];
  }

  /** The problem on one line; null: there is none. All threads do the same. */
  get problem(): string | null {
    return this.#threads.find(({ problem }) => problem !== null)?.problem ?? null;
  }

  /**
   * The answer as JSON text. `prepare` makes the task, within the same time. Rejects with
   * `Unavailable` if the account has too many backtests, or if this one takes too much time or
   * memory.
   */
  run(asker: Asker, prepare: Prepare): Promise<string> {
    return this.#turns.take(asker, () => this.#run(prepare));
  }

  async #run(prepare: Prepare): Promise<string> {
    const late = new AbortController();
    const timer = setTimeout(() => {
      late.abort(tooMuch(`takes more than ${this.#withinMs / 1000} seconds`));
    }, this.#withinMs);
    try {
      const task = await orAborted(prepare(), late.signal);
      return await this.#onThread(task, late.signal);
    } finally {
      clearTimeout(timer);
    }
  }

  /** A thread that is late is ended. */
  async #onThread(task: Task, late: AbortSignal): Promise<string> {
    const thread = await this.#freeThread(late);
    const stop = () => thread.stop(late.reason);
    late.addEventListener('abort', stop);
    try {
      return await thread.ask<string>((id) => ({ kind: 'ask', id, question: task }));
    } finally {
      late.removeEventListener('abort', stop);
      this.#release(thread);
    }
  }

  #freeThread(late: AbortSignal): Promise<BacktestThread> {
    const free = this.#takeFree();
    if (free !== null) return Promise.resolve(free);
    return new Promise((resolve, reject) => {
      const take = (thread: BacktestThread) => {
        late.removeEventListener('abort', leave);
        resolve(thread);
      };
      const leave = () => {
        this.#waiting.delete(take);
        reject(late.reason);
      };
      this.#waiting.add(take);
      late.addEventListener('abort', leave);
    });
  }

  /** A free thread, best one that will not be restarted first. Null: all have a task. */
  #takeFree(): BacktestThread | null {
    const works = this.#free.findLastIndex(({ problem, isUp }) => isUp || problem === null);
    return this.#free.splice(works, 1)[0] ?? null;
  }

  #release(thread: BacktestThread): void {
    const [next] = this.#waiting;
    if (next === undefined) return void this.#free.push(thread);
    this.#waiting.delete(next);
    next(thread);
  }

  /** Ends the threads during their work. */
  async close(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.close(null)));
  }
}

function threadOf({ log, module, heapMib = HEAP_MIB }: PoolOptions): BacktestThread {
  const thread: BacktestThread = new SupervisedWorker({
    name: 'backtest',
    module: module ?? workerUrl(import.meta.url, './worker'),
    workerData: () => null,
    log,
    down: DOWN,
    closed: CLOSED,
    heap: { mib: heapMib, over: tooMuch('needs too much memory') },
    idleMs: IDLE_MS,
    take: (message) => takeAnswer(thread, message),
  });
  return thread;
}

/** Settles as `answer` does, or rejects with the reason of the signal, whichever happens first. */
async function orAborted<A>(answer: Promise<A>, signal: AbortSignal): Promise<A> {
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(signal.reason);
  signal.addEventListener('abort', abort);
  try {
    return await Promise.race([answer, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

function tooMuch(problem: string): Unavailable {
  return new Unavailable(`the backtest ${problem}: ask for fewer markets`, RETRY_AFTER_SECONDS);
}
