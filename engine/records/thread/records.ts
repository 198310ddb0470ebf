/**
 * The records as the callers' thread asks them: a thread of their own reads the logs and answers;
 * it is started again when it fails. Rules D96, Y1, Y5 to Y7, Y23 (engine/RULES.md),
 * Q18 (api/RULES.md).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { EpochMs } from '../../base/units.ts';
import { type Asker, FairTurns } from '../../threads/fair-turns.ts';
import type { Log } from '../../threads/logger.ts';
import { SupervisedWorker } from '../../threads/supervised-worker.ts';
import { Unavailable } from '../../threads/unavailable.ts';
import { workerUrl } from '../../threads/worker-url.ts';
import type { Closing, WantedClosing } from '../projection/closing-lines.ts';
import type { Profile } from '../store/profiles.ts';
import type { AnswerOf, QuestionName, QuestionOf } from './questions.ts';
import type { FromRecords, RecordsData, ToRecords } from './worker.ts';

export type RecordsOptions = RecordsData & {
  nowMs: () => EpochMs;
  log: Log;
  /** The thread starts with this, or with the first question; left out: at once. */
  begins?: Promise<void>;
  /** Everyone, some at a time: asked for each time the thread has started. */
  everyone: () => AsyncIterable<readonly Profile[]>;
  /** The history's closing lines of a start; null: it cannot tell now. */
  closingOf: (wanted: WantedClosing) => Promise<Closing | null>;
};

/** One question is answered while the answer of another is on its way. */
const AT_ONCE = 2;
/** How often the thread gets the time, and may ask for closing lines. */
const TIME_EVERY_MS = 1000;
/**
 * The history is asked for a closing line again after this time, and each time after twice as long.
 */
const CLOSING_RETRY_MS = 1000;
const CLOSING_RETRY_MAX_MS = 60_000;
const DOWN = new Unavailable('the records are being made');

export class Records {
  readonly #options: RecordsOptions;
  readonly #thread: SupervisedWorker<ToRecords, FromRecords>;
  readonly #turns = new FairTurns({ of: 'records', atOnce: AT_ONCE });
  readonly #timer: NodeJS.Timeout;
  /** Of the logs. */
  #problems: readonly string[] = [];
  /** The problems of the closing lines, as the thread has found and repaired them. */
  #closings: readonly string[] = [];
  /** Why the file was made again since this process started, and whether that is done. */
  #damage: { why: string; isMadeAnew: boolean } | null = null;

  constructor(options: RecordsOptions) {
    const { dataDir, directory, shards, log } = options;
    this.#options = options;
    this.#thread = new SupervisedWorker({
      name: 'records',
      module: workerUrl(import.meta.url, './worker'),
      isQuiet: true,
      workerData: () => ({ dataDir, directory, shards }) satisfies RecordsData,
      log,
      down: DOWN,
      take: (message) => this.#take(message),
      started: () => void this.#sayEveryone(),
    });
    this.#timer = setInterval(() => this.#sayTime(), TIME_EVERY_MS);
    this.#timer.unref();
    if (options.begins === undefined) this.#thread.start();
    else void options.begins.then(() => this.#thread.startOnce());
  }

  /** The problems, one per line. */
  problems(): readonly string[] {
    const { problem } = this.#thread;
    const logs = problem === null ? this.#problems : [problem];
    const closings = this.#closings.map((line) => `records: ${line}`);
    if (this.#damage === null) return [...logs, ...closings];
    const { why, isMadeAnew } = this.#damage;
    const became = isMadeAnew ? 'was made again' : 'is being made again';
    return [...logs, `records: ${why}: it ${became} from the facts`, ...closings];
  }

  /** Rejects with `Unavailable` while the records are being made, or the thread starts. */
  ask<Name extends QuestionName>(
    asker: Asker,
    name: Name,
    question: QuestionOf<Name>,
  ): Promise<AnswerOf<Name>> {
    return this.#turns.take(asker, () => {
      this.#thread.startOnce();
      return this.#thread.ask<AnswerOf<Name>>((id) => ({ kind: 'ask', id, name, question }));
    });
  }

  /** A person is new, or has changed what others see. */
  changed(profile: Profile): void {
    this.#thread.post({ kind: 'profiles', profiles: [profile], areAll: false });
  }

  /** Live bids for the next questions, as `Bids`; null: open trades count at cost. */
  setBids(bids: Uint8Array | null): void {
    this.#thread.post({ kind: 'bids', bids });
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#thread.close({ kind: 'close' });
  }

  #sayTime(): void {
    this.#thread.post({ kind: 'time', nowMs: this.#options.nowMs() });
  }

  async #sayEveryone(): Promise<void> {
    const { starts } = this.#thread;
    try {
      for await (const profiles of this.#options.everyone()) {
        if (this.#thread.starts !== starts) return;
        this.#thread.post({ kind: 'profiles', profiles: [...profiles], areAll: false });
      }
      if (this.#thread.starts !== starts) return;
      this.#thread.post({ kind: 'profiles', profiles: [], areAll: true });
    } catch (error) {
      if (this.#thread.starts === starts) this.#thread.fail(error as Error);
    }
  }

  #take(message: FromRecords): void {
    switch (message.kind) {
      case 'opened':
        this.#thread.opened();
        return this.#opened(message);
      case 'damaged':
        this.#damage = { why: message.why, isMadeAnew: false };
        return;
      case 'current':
        this.#problems = message.problems;
        if (this.#damage !== null) this.#damage.isMadeAnew = true;
        return this.#sayTime();
      case 'wants_closings':
        for (const wanted of message.wanted) void this.#findClosing(wanted);
        return;
      case 'answer':
        return this.#thread.answered(message.id, message.answer);
      case 'busy':
        return this.#thread.refused(message.id, DOWN);
      case 'closed':
        return;
      default:
        message satisfies never;
    }
  }

  #opened({ remade, closings }: Extract<FromRecords, { kind: 'opened' }>): void {
    const { log } = this.#options;
    // A later thread finds the closing lines as the first one has left them.
    this.#closings = [...new Set([...this.#closings, ...closings])];
    for (const line of closings) log.error({}, line);
    if (remade === null) return;
    log.error({ why: remade.why }, 'the records are made again from the facts');
    if (remade.isDamage) this.#damage = { why: remade.why, isMadeAnew: false };
  }

  /** Asks until the history can tell. */
  async #findClosing(wanted: WantedClosing): Promise<void> {
    const thread = this.#thread;
    const { starts } = thread;
    for (let waitMs = CLOSING_RETRY_MS; thread.isUp && thread.starts === starts; waitMs *= 2) {
      const closing = await this.#options.closingOf(wanted).catch(() => null);
      if (closing !== null) return thread.post({ kind: 'closing', closing });
      await sleep(Math.min(waitMs, CLOSING_RETRY_MAX_MS), undefined, { ref: false });
    }
  }
}
