/**
 * The records as the callers' thread asks them: a thread of their own reads the logs and answers; it
 * is started again when it fails. Rules Y1, Y5 to Y7, Y23 (engine/RULES.md).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { EpochMs } from '../rules/units.ts';
import { moduleBeside } from '../shard/beside.ts';
import { EngineBusy } from '../shard/busy.ts';
import { KeptThread } from '../shard/kept-thread.ts';
import type { Log } from '../shard/log.ts';
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
/** The history is asked again for a closing line after this, and twice as long each time. */
const CLOSING_RETRY_MS = 1000;
const CLOSING_RETRY_MAX_MS = 60_000;
const BUSY = new EngineBusy('the records have as many questions as they take');
const DOWN = new EngineBusy('the records are being made');

export class Records {
  readonly #options: RecordsOptions;
  readonly #thread: KeptThread<ToRecords, FromRecords>;
  readonly #timer: NodeJS.Timeout;
  #problems: readonly string[] = [];

  constructor(options: RecordsOptions) {
    const { dataDir, directory, shards, log } = options;
    this.#options = options;
    this.#thread = new KeptThread({
      name: 'records',
      module: moduleBeside(import.meta.url, './worker'),
      workerData: () => ({ dataDir, directory, shards }) satisfies RecordsData,
      log,
      down: DOWN,
      take: (message) => this.#take(message),
      started: () => void this.#sayEveryone(),
    });
    this.#timer = setInterval(() => this.#sayTime(), TIME_EVERY_MS);
    this.#timer.unref();
    this.#thread.start();
  }

  /** What is wrong, a line each. */
  problems(): readonly string[] {
    const { problem } = this.#thread;
    return problem === null ? this.#problems : [problem];
  }

  /** Rejects with `EngineBusy` while the records are being made, or the thread starts. */
  ask<Name extends QuestionName>(name: Name, question: QuestionOf<Name>): Promise<AnswerOf<Name>> {
    if (this.#thread.waiting >= QUESTIONS_MAX) return Promise.reject(BUSY);
    return this.#thread.ask((id) => ({ kind: 'ask', id, name, question }));
  }

  /** Somebody is new, or has changed what others see. */
  changed(profile: Profile): void {
    this.#thread.post({ kind: 'profiles', profiles: [profile], areAll: false });
  }

  /** Live bids for what is asked next: `Bids`. */
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
      if (this.#thread.starts === starts) this.#thread.fail(error);
    }
  }

  #take(message: FromRecords): void {
    switch (message.kind) {
      case 'opened':
        this.#thread.opened();
        if (message.remade !== null) {
          const { log } = this.#options;
          log.error({ why: message.remade }, 'the records are made anew from the facts');
        }
        return;
      case 'current':
        this.#problems = message.problems;
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

  /** Asks until the history can say. */
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
