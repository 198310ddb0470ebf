/**
 * Asks the thread that reads the events of accounts, which is started once it is needed. Rules D60
 * (engine/RULES.md), Q18 (api/RULES.md).
 */
import { Worker } from 'node:worker_threads';
import type { Uuid } from '../base/units.ts';
import { shardOfAccount } from '../shard/callers/shard-of.ts';
import { type Asker, FairTurns } from '../threads/fair-turns.ts';
import type { Log } from '../threads/log.ts';
import { WaitingAnswers } from '../threads/pending-requests.ts';
import { EngineBusy } from '../threads/unavailable.ts';
import { moduleBeside } from '../threads/worker-url.ts';
import type { AccountEvent } from './account-events.ts';
import type { EventAnswer, EventQuestion } from './event-reader.ts';
import type { EventsData } from './events-thread.ts';

type Options = { dataDir: string; shards: number; log: Log };
/** `isThere`: the log reaches the number that they come after. */
type Page = { events: AccountEvent[]; last: number; isThere: boolean };
/** Null: there are more events than were asked for, or the log is shorter. */
type Watched = { events: AccountEvent[] | null; last: number };

/** New events of a watched account, in their order. */
type OnNews = (account: Uuid, events: AccountEvent[]) => void;

/** The thread reads some of the log of each by turns. */
const AT_ONCE = 32;
/** Of an account: each of its connections may begin to follow some accounts at once. */
const EACH_MAX = 256;
/** At most so many bytes of a log are read for one question: a fraction of a second. */
const BYTES_MAX = 128 * 2 ** 20;

export class AccountEventSource {
  readonly #options: Options;
  #thread: Worker | null = null;
  readonly #waiting = new WaitingAnswers();
  readonly #turns = new FairTurns({ of: 'events', atOnce: AT_ONCE, eachMax: EACH_MAX });
  #onNews: OnNews = () => {};
  #onLost: () => void = () => {};
  #isClosed = false;

  constructor(options: Options) {
    this.#options = options;
  }

  /** @param onLost the thread ended: nothing is watched any more */
  listen(onNews: OnNews, onLost: () => void): void {
    this.#onNews = onNews;
    this.#onLost = onLost;
  }

  /**
   * At most `limit` events after a number. All up to `last` were read; fewer than `limit` may come
   * although there are more. Rejects with `EngineBusy`.
   */
  page(asker: Asker, account: Uuid, after: number, limit: number): Promise<Page> {
    const bounds = { after, upTo: Number.POSITIVE_INFINITY, limit, bytesMax: BYTES_MAX };
    const shard = this.#shardOf(account);
    return this.#ask<Page>(asker, (id) => ({ kind: 'page', id, shard, account, bounds }));
  }

  /**
   * Watches the account from now on; does so already: waits until its news up to `from` have come,
   * a number that the log has. The events after `after`, if all of them are at most `limit`.
   */
  watch(
    account: Uuid,
    from: number,
    bounds: { after: number; limit: number } | null,
  ): Promise<Watched> {
    const within = bounds === null ? null : { ...bounds, bytesMax: BYTES_MAX };
    const shard = this.#shardOf(account);
    return this.#ask<Watched>(account, (id) => ({
      kind: 'watch',
      id,
      shard,
      account,
      from,
      bounds: within,
    }));
  }

  unwatch(account: Uuid): void {
    this.#thread?.postMessage({ kind: 'unwatch', shard: this.#shardOf(account), account });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const thread = this.#thread;
    this.#end('the engine is stopping');
    await thread?.terminate();
  }

  #shardOf(account: Uuid): number {
    return shardOfAccount(account, this.#options.shards);
  }

  #ask<A>(asker: Asker, question: (id: number) => EventQuestion): Promise<A> {
    return this.#turns.take(asker, () => this.#askNow<A>(question));
  }

  #askNow<A>(question: (id: number) => EventQuestion): Promise<A> {
    if (this.#isClosed) return Promise.reject(new EngineBusy('the engine is stopping'));
    this.#thread ??= this.#start();
    const thread = this.#thread;
    return this.#waiting.ask<A>((id) => thread.postMessage(question(id)));
  }

  #start(): Worker {
    const { dataDir, log } = this.#options;
    const workerData: EventsData = { dataDir };
    const thread = new Worker(moduleBeside(import.meta.url, './events-thread'), { workerData });
    thread.unref();
    // What one that was ended still says answers nobody.
    thread.on('message', (answer: EventAnswer) => this.#thread === thread && this.#take(answer));
    thread.on('error', (error) => {
      if (this.#thread !== thread) return;
      log.error({ err: error }, 'the thread that reads events failed');
      this.#end('the events of accounts are being read anew');
      this.#onLost();
    });
    return thread;
  }

  #take(answer: EventAnswer): void {
    if (answer.kind === 'news') return this.#onNews(answer.account, answer.events);
    this.#waiting.resolve(answer.id, answer);
  }

  #end(reason: string): void {
    this.#thread = null;
    this.#waiting.rejectAll(new EngineBusy(reason));
  }
}
