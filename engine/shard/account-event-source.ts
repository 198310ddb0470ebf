/**
 * Asks the thread that reads the events of accounts, which is started once it is needed. Rule D60
 * (engine/RULES.md).
 */
import { Worker } from 'node:worker_threads';
import { invariant } from '../rules/invariant.ts';
import type { Uuid } from '../rules/units.ts';
import type { AccountEvent } from './account-events.ts';
import { moduleBeside } from './beside.ts';
import { EngineBusy } from './busy.ts';
import type { EventAnswer, EventQuestion } from './event-reader.ts';
import type { EventsData } from './events-thread.ts';
import type { Log } from './log.ts';
import { shardOfAccount } from './shard-of.ts';

type Options = { dataDir: string; shards: number; log: Log };
type Asked = { resolve(answer: Page | Watched): void; reject(error: Error): void };
type Page = { events: AccountEvent[]; last: number };
/** Null: there are more events than were asked for, or the log is shorter. */
type Watched = { events: AccountEvent[] | null; last: number };

/** New events of a watched account, in their order. */
type OnNews = (account: Uuid, events: AccountEvent[]) => void;

/** At most so many bytes of a log are read for one question: a fraction of a second. */
const BYTES_MAX = 128 * 2 ** 20;

export class AccountEventSource {
  readonly #options: Options;
  #thread: Worker | null = null;
  readonly #asked = new Map<number, Asked>();
  #ids = 0;
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
  page(account: Uuid, after: number, limit: number): Promise<Page> {
    const bounds = { after, upTo: Number.POSITIVE_INFINITY, limit, bytesMax: BYTES_MAX };
    const page = this.#ask((id) => ({
      kind: 'page',
      id,
      shard: this.#shardOf(account),
      account,
      bounds,
    }));
    return page as Promise<Page>;
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
    return this.#ask((id) => ({ kind: 'watch', id, shard, account, from, bounds: within }));
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

  #ask(question: (id: number) => EventQuestion): Promise<Page | Watched> {
    if (this.#isClosed) return Promise.reject(new EngineBusy('the engine is stopping'));
    this.#thread ??= this.#start();
    const thread = this.#thread;
    this.#ids++;
    const id = this.#ids;
    return new Promise((resolve, reject) => {
      this.#asked.set(id, { resolve, reject });
      thread.postMessage(question(id));
    });
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
    const asked = this.#asked.get(answer.id);
    invariant(asked !== undefined, 'the thread of events answers what it was not asked');
    this.#asked.delete(answer.id);
    asked.resolve(answer);
  }

  #end(reason: string): void {
    this.#thread = null;
    const busy = new EngineBusy(reason);
    for (const { reject } of this.#asked.values()) reject(busy);
    this.#asked.clear();
  }
}
