/**
 * The history as its callers see it: it takes ticks and answers questions, and neither ever waits
 * here. A separate thread does the work. Ticks that it cannot take in time are left out and show as
 * a gap. Rules H1 to H4, Q18 (api/RULES.md).
 */
import { invariant } from '../base/invariant.ts';
import type { EpochMs, MarketNumber } from '../base/units.ts';
import type { Tick } from '../rules/messages.ts';
import { type Asker, FairTurns } from '../threads/fair-turns.ts';
import type { Log } from '../threads/logger.ts';
import { SupervisedWorker } from '../threads/supervised-worker.ts';
import { Unavailable } from '../threads/unavailable.ts';
import { workerUrl } from '../threads/worker-url.ts';
import { ChangedTops } from './changed-tops.ts';
import type { Closings } from './market-watch.ts';
import type {
  HistoryAnswer,
  MarketTops,
  Question,
  StoredQuestion,
  StoredRows,
  TopsQuestion,
} from './questions.ts';
import type { RecorderConfig } from './recorder.ts';
import { TickBatch } from './tick-batch.ts';
import type { FromHistory, ToHistory } from './worker.ts';

export type HistoryOptions = Omit<RecorderConfig, 'nowMs'> & {
  /** The engine's time. */
  nowMs(): EpochMs;
  log: Log;
  /** Called once, when the files exist. */
  made?: (atMs: EpochMs) => void;
  /** Ticks that may wait for the thread. Further ticks are left out. 32 MiB when left out. */
  queueBytesMax?: number;
};

/** Ticks are sent once there are so many. */
const BATCH_BYTES = 60 * 1024;
/** Or after this time. */
const BATCH_MS = 100;
/** How often the thread gets the time when no tick carries it. */
const TIME_EVERY_MS = 1000;
const QUEUE_BYTES_MAX = 32 * 2 ** 20;
/** One question is answered while the answer of another is on its way. */
const AT_ONCE = 2;
const DOWN = new Unavailable('the history is starting');

type Answer = Extract<FromHistory, { kind: 'answer' }>['answer'];

export class History {
  readonly #options: HistoryOptions;
  readonly #batch = new TickBatch();
  readonly #tops = new ChangedTops(this.#batch);
  readonly #thread: SupervisedWorker<ToHistory, FromHistory>;
  readonly #turns = new FairTurns({ of: 'history', atOnce: AT_ONCE });
  readonly #timer: NodeJS.Timeout;
  #queuedBytes = 0;
  #hasMissed = false;
  #sentAtMs = 0;
  #closings: Closings = { closings: [], games: new Map() };
  #resolved: readonly MarketNumber[] = [];
  /** Null: the files do not exist yet. */
  #madeAtMs: EpochMs | null;
  /** Damage that was found and not taken away since. */
  #damage: readonly string[] = [];

  constructor(options: HistoryOptions) {
    const { directory, quoteMaxAgeMs, days, log } = options;
    this.#options = options;
    this.#madeAtMs = options.madeAtMs ?? null;
    this.#thread = new SupervisedWorker({
      name: 'history',
      module: workerUrl(import.meta.url, './worker'),
      isQuiet: true,
      workerData: (): RecorderConfig => {
        const nowMs = options.nowMs();
        return { directory, quoteMaxAgeMs, days, madeAtMs: this.#madeAtMs, nowMs };
      },
      log,
      down: DOWN,
      take: (message) => this.#take(message),
      started: () => this.#started(),
    });
    this.#timer = setInterval(() => this.#sendInTime(), BATCH_MS);
    this.#timer.unref();
    this.#thread.start();
  }

  /** The problems, one per line. */
  problems(): string[] {
    const { problem } = this.#thread;
    const damage = this.#damage.map((line) => `history: ${line}`);
    return problem === null ? damage : [problem, ...damage];
  }

  /** A venue's tick. Never waits, never fails. */
  tick(tick: Tick): void {
    this.#tops.take(tick);
    if (this.#batch.bytes >= BATCH_BYTES) this.#send();
  }

  /** When markets close, and which of them a game voids, as the catalog has it now. */
  setClosings(closings: Closings): void {
    this.#closings = closings;
    this.#thread.post({ kind: 'closings', closings });
  }

  /** Markets that had their result before this start. */
  setResolved(markets: readonly MarketNumber[]): void {
    this.#resolved = markets;
    this.#thread.post({ kind: 'resolved', markets });
  }

  /**
   * Answers a question. Rejects with `Unavailable` while the history cannot be asked, and with the
   * problem if its data is damaged.
   */
  ask(asker: Asker, question: Question): Promise<HistoryAnswer> {
    return this.#askInTurn(asker, (id) => ({ kind: 'ask', id, question }));
  }

  /** Where the rows of each market lie. Rejects as `ask` does. Rule H22 (api/RULES.md). */
  stored(asker: Asker, question: StoredQuestion): Promise<StoredRows[]> {
    return this.#askInTurn(asker, (id) => ({ kind: 'ask_stored', id, question }));
  }

  /** The tops of each market at its moments. Rejects as `ask` does. Rule H23 (api/RULES.md). */
  tops(asker: Asker, question: TopsQuestion): Promise<MarketTops[]> {
    return this.#askInTurn(asker, (id) => ({ kind: 'ask_tops', id, question }));
  }

  #askInTurn<A extends Answer>(asker: Asker, messageOf: (id: number) => ToHistory): Promise<A> {
    return this.#turns.take(asker, () => this.#ask<A>(messageOf));
  }

  /** Resolves when the thread has taken everything that was passed before. */
  async drained(): Promise<void> {
    await this.#ask((id) => ({ kind: 'barrier', id })).catch(() => undefined);
  }

  /** `A` is the thread's answer to this kind of message. */
  #ask<A extends Answer>(messageOf: (id: number) => ToHistory): Promise<A> {
    // A thread that is still opening its files answers once it has.
    if (this.#thread.isUp) this.#send();
    return this.#thread.ask<A>(messageOf);
  }

  /** All ticks that were passed are on disk on return. */
  async close(): Promise<void> {
    this.#send();
    clearInterval(this.#timer);
    await this.#thread.close({ kind: 'close' });
  }

  #sendInTime(): void {
    const isDue = performance.now() - this.#sentAtMs >= TIME_EVERY_MS;
    if (this.#batch.bytes > 0 || isDue) this.#send();
  }

  #send(): void {
    const { queueBytesMax = QUEUE_BYTES_MAX, nowMs } = this.#options;
    const batch = this.#batch.take();
    const bytes = batch.byteLength;
    const isFull = this.#queuedBytes + bytes > queueBytesMax;
    if (!this.#thread.isUp || isFull) this.#miss(bytes);
    else {
      if (this.#hasMissed) this.#thread.post({ kind: 'missed' });
      this.#hasMissed = false;
      this.#queuedBytes += bytes;
      this.#thread.post({ kind: 'ticks', batch, nowMs: nowMs() }, [batch]);
    }
    this.#sentAtMs = performance.now();
  }

  #miss(bytes: number): void {
    if (bytes === 0) return;
    this.#tops.forget();
    if (!this.#hasMissed && this.#thread.isUp) {
      this.#options.log.error({ queuedBytes: this.#queuedBytes }, 'the history has fallen behind');
    }
    this.#hasMissed = true;
  }

  #started(): void {
    this.#queuedBytes = 0;
    this.#tops.forget();
    this.#thread.post({ kind: 'closings', closings: this.#closings });
    this.#thread.post({ kind: 'resolved', markets: this.#resolved });
  }

  #isMade(): void {
    if (this.#madeAtMs !== null) return;
    this.#madeAtMs = this.#options.nowMs();
    this.#options.made?.(this.#madeAtMs);
  }

  #setDamage(lines: readonly string[]): void {
    const { log } = this.#options;
    for (const line of lines) {
      if (!this.#damage.includes(line)) log.error({ damage: line }, 'the history is damaged');
    }
    this.#damage = lines;
  }

  #take(message: FromHistory): void {
    switch (message.kind) {
      case 'opened':
        this.#setDamage(message.problems);
        this.#isMade();
        return this.#thread.opened();
      case 'damaged':
        return this.#setDamage(message.problems);
      case 'taken':
        this.#queuedBytes -= message.bytes;
        invariant(this.#queuedBytes >= 0, 'the history took more than was sent');
        return;
      case 'answer':
        return this.#thread.answered(message.id, message.answer);
      case 'failed': {
        const { id, message: problem } = message;
        this.#options.log.error({ error: problem }, 'the history cannot answer');
        return this.#thread.refused(id, new Error(problem));
      }
      case 'closed':
        return;
      default:
        message satisfies never;
    }
  }
}
