/**
 * The records as the callers' thread asks them: a thread of their own reads the logs and answers; it
 * is started again when it fails. Rules Y1, Y5 to Y7, Y23 (engine/RULES.md).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { EpochMs } from '../rules/units.ts';
import { moduleBeside } from '../shard/beside.ts';
import { EngineBusy } from '../shard/busy.ts';
import type { Log } from '../shard/log.ts';
import { WaitingAnswers } from '../shard/waiting-answers.ts';
import type { Closing, WantedClosing } from './closings.ts';
import type { Profile } from './profiles.ts';
import type { AnswerOf, QuestionName, QuestionOf } from './questions.ts';
import type { FromRecords, RecordsData, ToRecords } from './worker.ts';

export type RecordsOptions = RecordsData & {
  nowMs: () => EpochMs;
  log: Log;
  /** Everyone, some at a time: asked for each time the thread has started. */
  everyone: () => AsyncIterable<readonly Profile[]>;
  /** What the history knows of a start; null: it cannot say now. */
  closingOf: (wanted: WantedClosing) => Promise<Closing | null>;
};

const QUESTIONS_MAX = 256;
/** How often the thread gets the time, and may ask for closing lines. */
const TIME_EVERY_MS = 1000;
const RESTART_MS = 1000;
const RESTART_MAX_MS = 60_000;
const BUSY = new EngineBusy('the records have as many questions as they take');
const DOWN = new EngineBusy('the records are being made');

export class Records {
  readonly #options: RecordsOptions;
  readonly #waiting = new WaitingAnswers();
  readonly #timer: NodeJS.Timeout;
  #worker: Worker | null = null;
  #isClosing = false;
  #restartMs = RESTART_MS;
  #problem: string | null = null;
  #problems: readonly string[] = [];

  constructor(options: RecordsOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#sayTime(), TIME_EVERY_MS);
    this.#timer.unref();
    this.#start();
  }

  /** What is wrong, a line each. */
  problems(): readonly string[] {
    return this.#problem === null ? this.#problems : [this.#problem];
  }

  /** Rejects with `EngineBusy` while the records are being made, or the thread starts. */
  ask<Name extends QuestionName>(name: Name, question: QuestionOf<Name>): Promise<AnswerOf<Name>> {
    if (this.#waiting.size >= QUESTIONS_MAX) return Promise.reject(BUSY);
    if (this.#worker === null || this.#isClosing) return Promise.reject(DOWN);
    return this.#waiting.ask((id) => this.#post({ kind: 'ask', id, name, question }));
  }

  /** Somebody is new, or has changed what others see. */
  changed(profile: Profile): void {
    this.#post({ kind: 'profiles', profiles: [profile], areAll: false });
  }

  /** Live bids for what is asked next: `Bids`. */
  setBids(bids: Uint8Array | null): void {
    this.#post({ kind: 'bids', bids });
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    clearInterval(this.#timer);
    const worker = this.#worker;
    if (worker === null) return;
    const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
    this.#post({ kind: 'close' });
    await ended;
  }

  #sayTime(): void {
    this.#post({ kind: 'time', nowMs: this.#options.nowMs() });
  }

  #post(message: ToRecords): void {
    this.#worker?.postMessage(message);
  }

  #start(): void {
    const { dataDir, directory, shards } = this.#options;
    const worker = new Worker(moduleBeside(import.meta.url, './worker'), {
      workerData: { dataDir, directory, shards } satisfies RecordsData,
    });
    this.#worker = worker;
    worker.on('message', (message: FromRecords) => this.#take(message));
    worker.on('error', (error) => this.#failed(error));
    worker.on('exit', () => this.#ended());
    void this.#sayEveryone(worker);
  }

  async #sayEveryone(to: Worker): Promise<void> {
    try {
      for await (const profiles of this.#options.everyone()) {
        if (this.#worker !== to) return;
        this.#post({ kind: 'profiles', profiles: [...profiles], areAll: false });
      }
      if (this.#worker === to) this.#post({ kind: 'profiles', profiles: [], areAll: true });
    } catch (error) {
      this.#failed(error);
    }
  }

  #take(message: FromRecords): void {
    switch (message.kind) {
      case 'opened':
        this.#problem = null;
        if (message.remade !== null) {
          const { log } = this.#options;
          log.error({ why: message.remade }, 'the records are made anew from the facts');
        }
        return;
      case 'current':
        this.#restartMs = RESTART_MS;
        this.#problems = message.problems;
        return this.#sayTime();
      case 'wants_closings':
        for (const wanted of message.wanted) void this.#findClosing(wanted);
        return;
      case 'answer':
        return this.#waiting.resolve(message.id, message.answer);
      case 'busy':
        return this.#waiting.reject(message.id, DOWN);
      case 'closed':
        return;
      default:
        message satisfies never;
    }
  }

  /** Asks until the history can say. */
  async #findClosing(wanted: WantedClosing): Promise<void> {
    const worker = this.#worker;
    for (let waitMs = RESTART_MS; this.#worker === worker && !this.#isClosing; waitMs *= 2) {
      const closing = await this.#options.closingOf(wanted).catch(() => null);
      if (closing !== null) return this.#post({ kind: 'closing', closing });
      await sleep(Math.min(waitMs, RESTART_MAX_MS), undefined, { ref: false });
    }
  }

  #failed(error: unknown): void {
    this.#problem = `records: ${(error as Error).message}`;
    this.#options.log.error({ err: error }, 'the records have failed, and start again');
  }

  #ended(): void {
    this.#worker = null;
    this.#waiting.rejectAll(DOWN);
    if (!this.#isClosing) void this.#restart();
  }

  async #restart(): Promise<void> {
    const waitMs = this.#restartMs;
    this.#restartMs = Math.min(2 * waitMs, RESTART_MAX_MS);
    await sleep(waitMs, undefined, { ref: false });
    if (!this.#isClosing) this.#start();
  }
}
