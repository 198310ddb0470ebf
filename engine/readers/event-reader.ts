/**
 * The events of accounts, read from the shards' logs by a separate thread: pages of past events,
 * and new events while an account is watched. It reads only the part of a log that is on disk, and
 * costs a shard nothing. Rule D60 (engine/RULES.md).
 */
import { setImmediate as others } from 'node:timers/promises';
import type { Uuid } from '../base/units.ts';
import { type AccountEvent, AccountEvents } from './account-events.ts';
import { AccountLog, factsOf, type PageBounds } from './account-log.ts';
import type { FactSource } from './read-facts.ts';
import { type OrderReceipt, type ReceiptQuestion, readReceipt } from './receipts.ts';

/** The questions to the reader. Every question except `unwatch` is answered. */
export type EventQuestion =
  /** The first events after a number. */
  | { kind: 'page'; id: number; shard: number; account: Uuid; bounds: PageBounds }
  /**
   * From now on the account's new events are sent. Earlier events after `after` are in a page;
   * null: none. `from`: a number that the log has reached.
   */
  | {
      kind: 'watch';
      id: number;
      shard: number;
      account: Uuid;
      from: number;
      bounds: Omit<PageBounds, 'upTo'> | null;
    }
  | { kind: 'unwatch'; shard: number; account: Uuid }
  /** What is known of the fills of an order, or of the order that opened a trade. */
  | ({ kind: 'receipt'; id: number; shard: number } & ReceiptQuestion);

export type EventAnswer =
  /** `isThere`: the log reaches the number of the event before them. */
  | { kind: 'page'; id: number; events: AccountEvent[]; last: number; isThere: boolean }
  /**
   * Events after `last` are sent when they happen. `events` null: there are more than were asked
   * for.
   */
  | { kind: 'watched'; id: number; events: AccountEvent[] | null; last: number }
  | { kind: 'news'; account: Uuid; events: AccountEvent[] }
  /** Null: the account has no such order or trade. */
  | { kind: 'receipt'; id: number; receipt: OrderReceipt | null };

/**
 * The bytes of a log that are read for one question, before others have their turn. Rule Q20
 * (api/RULES.md).
 */
const SLICE_BYTES = 4 * 2 ** 20;

export class EventReader {
  readonly #dataDir: string;
  readonly #send: (answer: EventAnswer) => void;
  readonly #shards = new Map<number, ShardEvents>();

  constructor(dataDir: string, send: (answer: EventAnswer) => void) {
    this.#dataDir = dataDir;
    this.#send = send;
  }

  take(question: EventQuestion): void {
    const { shard } = question;
    let events = this.#shards.get(shard);
    if (events === undefined) {
      events = new ShardEvents({ dataDir: this.#dataDir, shard }, this.#send);
      this.#shards.set(shard, events);
    }
    if (question.kind === 'unwatch') events.unwatch(question.account);
    else if (question.kind === 'page') void events.page(question);
    else if (question.kind === 'receipt') void events.receipt(question);
    else events.watch(question);
  }
}

type Watch = Extract<EventQuestion, { kind: 'watch' }>;
type Page = Extract<EventQuestion, { kind: 'page' }>;

class ShardEvents {
  readonly #log: AccountLog;
  readonly #send: (answer: EventAnswer) => void;
  readonly #watched = new Map<Uuid, AccountEvents>();
  /** News up to this number were sent. Following continues from here. */
  #last = 0;
  #following: AbortController | null = null;
  /** The watches that wait until the log was followed up to their number. */
  #waiting: Watch[] = [];

  constructor(source: FactSource, send: (answer: EventAnswer) => void) {
    this.#log = new AccountLog(source);
    this.#send = send;
  }

  /** Other questions are answered between two slices. */
  async page({ id, account, bounds }: Page): Promise<void> {
    const made = new AccountEvents(this.#log);
    const events: AccountEvent[] = [];
    let { after } = bounds;
    for (let read = 0; read < bounds.bytesMax; read += SLICE_BYTES) {
      const bytesMax = Math.min(SLICE_BYTES, bounds.bytesMax - read);
      const limit = bounds.limit - events.length;
      const within = { ...bounds, after, limit, bytesMax };
      const { taken, last } = this.#log.page(account, within, (fact) => made.eventOf(fact));
      events.push(...taken);
      if (last === after) break;
      after = last;
      await others();
    }
    const isThere = after > bounds.after || this.#log.has(bounds.after);
    this.#send({ kind: 'page', id, events, last: after, isThere });
  }

  async receipt({ id, account, of }: Extract<EventQuestion, { kind: 'receipt' }>): Promise<void> {
    const receipt = await readReceipt(this.#log, { account, of }, others);
    this.#send({ kind: 'receipt', id, receipt });
  }

  watch(question: Watch): void {
    if (this.#following === null) {
      this.#last = question.from;
      this.#following = new AbortController();
      void this.#follow(this.#following.signal);
    }
    this.#waiting.push(question);
    this.#answerWaiting();
  }

  unwatch(account: Uuid): void {
    this.#watched.delete(account);
    if (this.#watched.size > 0 || this.#waiting.length > 0) return;
    this.#following?.abort();
    this.#following = null;
  }

  async #follow(signal: AbortSignal): Promise<void> {
    for await (const record of this.#log.follow(this.#last, signal)) {
      if (signal.aborted) return;
      if (record.isLandmark) this.#log.learn(record);
      for (const [account, events] of this.#watched) {
        const news = [];
        for (const found of factsOf(record, account)) {
          const event = found.number > this.#last ? events.eventOf(found) : null;
          if (event !== null) news.push(event);
        }
        if (news.length > 0) this.#send({ kind: 'news', account, events: news });
      }
      this.#last = Math.max(this.#last, record.firstNumber + record.count - 1);
      this.#answerWaiting();
    }
  }

  #answerWaiting(): void {
    const ready = this.#waiting.filter(({ from }) => from <= this.#last);
    this.#waiting = this.#waiting.filter(({ from }) => from > this.#last);
    for (const { id, account, bounds } of ready) {
      const last = this.#last;
      // Earlier watchers have already seen these orders begin.
      if (!this.#watched.has(account)) this.#watched.set(account, new AccountEvents(this.#log));
      const events = bounds === null ? [] : this.#allOf(account, { ...bounds, upTo: last });
      this.#send({ kind: 'watched', id, events, last });
    }
  }

  /** Null: they exceed the bounds, or the log does not reach so far. */
  #allOf(account: Uuid, bounds: PageBounds): AccountEvent[] | null {
    const { events, last } = this.#eventsOf(account, bounds);
    return last === bounds.upTo ? events : null;
  }

  #eventsOf(account: Uuid, bounds: PageBounds): { events: AccountEvent[]; last: number } {
    const events = new AccountEvents(this.#log);
    const page = this.#log.page(account, bounds, (fact) => events.eventOf(fact));
    return { events: page.taken, last: page.last };
  }
}
