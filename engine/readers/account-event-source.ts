/**
 * Asks the thread that reads the events of accounts. It is started when it is first needed. Rules
 * D10, D60, N151 (engine/RULES.md), Q18 (api/RULES.md).
 */
import type { EpochMs, Uuid } from '../base/units.ts';
import { shardOfAccount } from '../shard/callers/shard-of.ts';
import { type Asker, FairTurns } from '../threads/fair-turns.ts';
import type { Log } from '../threads/logger.ts';
import { SupervisedWorker } from '../threads/supervised-worker.ts';
import { Unavailable } from '../threads/unavailable.ts';
import { workerUrl } from '../threads/worker-url.ts';
import type { AccountEvent } from './account-events.ts';
import type { TrailEntry } from './account-trail.ts';
import type { EventQuestion } from './event-reader.ts';
import type { EventsData, FromEvents } from './events-thread.ts';
import type { OrderReceipt, ReceiptQuestion } from './receipts.ts';

type Options = {
  dataDir: string;
  shards: number;
  log: Log;
  /**
   * Awaited before the log is read for an account: the log has all that callers know then. Left out:
   * it always has. Rejects with `Unavailable`.
   */
  confirm?: ((account: Uuid) => Promise<unknown>) | undefined;
};
/** `isThere`: the log reaches the number of the event before them. */
type Page = { events: AccountEvent[]; last: number; isThere: boolean };
/** Null: there are more events than were asked for, or the log is shorter. */
type Watched = { events: AccountEvent[] | null; last: number };

/** New events of a watched account, in their order. */
type OnNews = (account: Uuid, events: AccountEvent[]) => void;

/** New entries of an account's trail, in their order. */
type OnTrail = (account: Uuid, entries: readonly TrailEntry[]) => void;

/** The thread reads some of the log for each question by turns. */
const AT_ONCE = 32;
/** The limit of an account. Each of its connections may begin to follow some accounts at once. */
const EACH_MAX = 256;
/** At most so many bytes of a log are read for one question: a fraction of a second. */
const BYTES_MAX = 128 * 2 ** 20;
const DOWN = new Unavailable('the thread that reads the events of accounts is starting again');
const CLOSED = new Unavailable('the engine is stopping');

export class AccountEventSource {
  readonly #shards: number;
  readonly #confirm: Options['confirm'];
  readonly #thread: SupervisedWorker<EventQuestion, FromEvents>;
  readonly #turns = new FairTurns({ of: 'events', atOnce: AT_ONCE, eachMax: EACH_MAX });
  #onNews: OnNews = () => {};
  #onLost: () => void = () => {};
  #onTrail: OnTrail = () => {};
  #onTrailsLost: () => void = () => {};
  #isIndexing = false;
  readonly #log: Log;

  constructor({ dataDir, shards, log, confirm }: Options) {
    this.#shards = shards;
    this.#confirm = confirm;
    this.#log = log;
    this.#thread = new SupervisedWorker({
      name: 'events',
      module: workerUrl(import.meta.url, './events-thread'),
      workerData: () => ({ dataDir }) satisfies EventsData,
      log,
      down: DOWN,
      closed: CLOSED,
      isUnref: true,
      take: (message) => this.#take(message),
      ended: () => {
        this.#onLost();
        this.#onTrailsLost();
      },
    });
  }

  /** The problem on one line; null: there is none. */
  get problem(): string | null {
    return this.#thread.problem;
  }

  /** @param onLost the thread ended, so nothing is watched any more */
  listen(onNews: OnNews, onLost: () => void): void {
    this.#onNews = onNews;
    this.#onLost = onLost;
  }

  /** @param onLost the thread ended, so no trail is sent any more */
  listenToTrails(onTrail: OnTrail, onLost: () => void): void {
    this.#onTrail = onTrail;
    this.#onTrailsLost = onLost;
  }

  /**
   * From now on the account's trail since a time is sent. Resolves once all entries up to `from`
   * were sent, a number that the log has. Rejects with `Unavailable`.
   */
  async trail(account: Uuid, sinceMs: EpochMs, from: number): Promise<void> {
    const shard = this.#shardOf(account);
    await this.#ask(account, (id) => ({ kind: 'trail', id, shard, account, sinceMs, from }));
  }

  /**
   * From now on the thread keeps, on disk, which records have facts of an account, so that a first
   * trail reads those alone. Rule A229 (api/RULES.md).
   */
  index(): void {
    if (this.#isIndexing) return;
    this.#isIndexing = true;
    // A thread that starts later begins with it.
    if (this.#thread.isUp) this.#askToIndex();
    else this.#thread.startOnce();
  }

  #askToIndex(): void {
    for (let shard = 0; shard < this.#shards; shard++) this.#thread.post({ kind: 'index', shard });
  }

  untrail(account: Uuid): void {
    this.#thread.post({ kind: 'untrail', shard: this.#shardOf(account), account });
  }

  /**
   * At most `limit` events after a number. All events up to `last` were read. There may be fewer
   * than `limit` although more exist. Rejects with `Unavailable`.
   */
  async page(asker: Asker, account: Uuid, after: number, limit: number): Promise<Page> {
    await this.#confirm?.(account);
    const bounds = { after, upTo: Number.POSITIVE_INFINITY, limit, bytesMax: BYTES_MAX };
    const shard = this.#shardOf(account);
    return await this.#ask<Page>(asker, (id) => ({ kind: 'page', id, shard, account, bounds }));
  }

  /**
   * Watches the account from now on. If it is watched already, waits until its news up to `from`
   * have arrived, a number that the log has. Returns the events after `after` if they are at most
   * `limit`.
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

  /** What is known of an order's fills; null: the account has no such order or trade. */
  async receipt(
    asker: Asker,
    account: Uuid,
    of: ReceiptQuestion['of'],
  ): Promise<OrderReceipt | null> {
    await this.#confirm?.(account);
    const shard = this.#shardOf(account);
    const { receipt } = await this.#ask<{ receipt: OrderReceipt | null }>(asker, (id) => {
      return { kind: 'receipt', id, shard, account, of };
    });
    return receipt;
  }

  unwatch(account: Uuid): void {
    this.#thread.post({ kind: 'unwatch', shard: this.#shardOf(account), account });
  }

  /** Ends the thread, even during a read. */
  async close(): Promise<void> {
    await this.#thread.close(null);
  }

  #shardOf(account: Uuid): number {
    return shardOfAccount(account, this.#shards);
  }

  #ask<A>(asker: Asker, question: (id: number) => EventQuestion): Promise<A> {
    return this.#turns.take(asker, () => {
      this.#thread.startOnce();
      return this.#thread.ask<A>(question);
    });
  }

  #take(message: FromEvents): void {
    if (message.kind === 'opened') {
      this.#thread.opened();
      if (this.#isIndexing) this.#askToIndex();
      return;
    }
    if (message.kind === 'unindexed') {
      const { shard, problem } = message;
      this.#log.error({ shard, problem }, 'the places of accounts in the log cannot be kept');
      return;
    }
    if (message.kind === 'news') return this.#onNews(message.account, message.events);
    if (message.kind === 'trail_news') return this.#onTrail(message.account, message.entries);
    this.#thread.answered(message.id, message);
  }
}
