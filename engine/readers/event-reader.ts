/**
 * The events of accounts, read from the shards' logs by a separate thread: pages of past events,
 * and new events while an account is watched. It reads only the part of a log that is on disk, and
 * costs a shard nothing. Rule D60 (engine/RULES.md).
 */
import { setImmediate as others } from 'node:timers/promises';
import type { EpochMs, Uuid } from '../base/units.ts';
import type { PlacedRecord } from '../log/log-reader.ts';
import { type AccountEvent, AccountEvents } from './account-events.ts';
import { AccountLog, factsOf, type PageBounds } from './account-log.ts';
import { AccountPlaces } from './account-places.ts';
import { type TrailEntry, TrailMaker } from './account-trail.ts';
import type { FactSource } from './read-facts.ts';
import { type OrderReceipt, type ReceiptQuestion, readReceipt } from './receipts.ts';

/** The questions to the reader. All but `unwatch`, `untrail` and `index` are answered. */
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
  /**
   * The account's trail since a time, and then new entries, are sent from now on. It is answered
   * once all entries up to `from` were sent, a number that the log has reached.
   */
  | { kind: 'trail'; id: number; shard: number; account: Uuid; sinceMs: EpochMs; from: number }
  | { kind: 'untrail'; shard: number; account: Uuid }
  /** From now on it knows which records have facts of an account. A trail begins it, too. */
  | { kind: 'index'; shard: number }
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
  | { kind: 'trailed'; id: number }
  | { kind: 'trail_news'; account: Uuid; entries: TrailEntry[] }
  /** Places of accounts cannot be kept any more, so trails begin with a search of the log. */
  | { kind: 'unindexed'; shard: number; problem: string }
  /** Null: the account has no such order or trade. */
  | { kind: 'receipt'; id: number; receipt: OrderReceipt | null };

/**
 * The bytes of a log that are read for one question, before others have their turn. Rule Q20
 * (api/RULES.md).
 */
const SLICE_BYTES = 4 * 2 ** 20;
/** The same where every fact is read, which takes more time a byte. */
const PLACED_BYTES = 2 ** 20;

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
    else if (question.kind === 'untrail') events.untrail(question.account);
    else if (question.kind === 'trail') events.trail(question);
    else if (question.kind === 'index') events.index();
    else if (question.kind === 'page') void events.page(question);
    else if (question.kind === 'receipt') void events.receipt(question);
    else events.watch(question);
  }
}

type Watch = Extract<EventQuestion, { kind: 'watch' }>;
type Page = Extract<EventQuestion, { kind: 'page' }>;
type TrailQuestion = Extract<EventQuestion, { kind: 'trail' }>;

/** An account whose trail is sent. */
type Trail = {
  maker: TrailMaker;
  /** Every entry up to this number was sent, and of a trail that is followed, every entry. */
  last: number;
  isFollowed: boolean;
  /** The questions that wait for their numbers. */
  waiting: TrailQuestion[];
};

class ShardEvents {
  readonly #source: FactSource;
  readonly #log: AccountLog;
  readonly #send: (answer: EventAnswer) => void;
  readonly #watched = new Map<Uuid, AccountEvents>();
  /** News up to this number were sent. Following continues from here. */
  #last = 0;
  #following: AbortController | null = null;
  readonly #trails = new Map<Uuid, Trail>();
  /** Null: nobody has asked for them. */
  #places: AccountPlaces | null = null;
  /** `follows`: they have all that was followed. `ended`: they could not be kept. */
  #indexing: 'catches up' | 'follows' | 'ended' = 'catches up';
  /** The watches that wait until the log was followed up to their number. */
  #waiting: Watch[] = [];

  constructor(source: FactSource, send: (answer: EventAnswer) => void) {
    this.#source = source;
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
    this.#followFrom(question.from);
    this.#waiting.push(question);
    this.#answerWaiting();
  }

  unwatch(account: Uuid): void {
    this.#watched.delete(account);
    this.#rest();
  }

  /** Keeps the places of accounts from now on. Rule A229 (api/RULES.md). */
  index(): void {
    if (this.#places !== null) return;
    this.#places = new AccountPlaces(this.#source, this.#log);
    if (this.#following === null) this.#followFrom(this.#log.numberAt(Number.POSITIVE_INFINITY));
    void this.#catchUpPlaces(this.#places);
  }

  trail(question: TrailQuestion): void {
    const { account, sinceMs } = question;
    this.#followFrom(question.from);
    this.index();
    let trail = this.#trails.get(account);
    if (trail === undefined) {
      trail = { maker: new TrailMaker(account), last: 0, isFollowed: false, waiting: [] };
      this.#trails.set(account, trail);
      void this.#catchUp(account, sinceMs, trail);
    }
    trail.waiting.push(question);
    this.#answerTrail(trail);
  }

  untrail(account: Uuid): void {
    this.#trails.delete(account);
    this.#rest();
  }

  /** Takes the records of before, a slice at a time, until those that are followed come. */
  async #catchUpPlaces(places: AccountPlaces): Promise<void> {
    this.#indexing = 'catches up';
    while (this.#indexing === 'catches up') {
      let read = 0;
      for (const record of this.#log.recordsAfter(places.covered)) {
        if (record.firstNumber > this.#last || read >= PLACED_BYTES) break;
        this.#place(places, record);
        read += record.payload.length;
      }
      if (this.#indexing === 'catches up' && places.covered >= this.#last)
        this.#indexing = 'follows';
      await others();
    }
  }

  #place(places: AccountPlaces, record: PlacedRecord): void {
    if (this.#indexing === 'ended') return;
    try {
      places.take(record);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
      this.#indexing = 'ended';
      const { shard } = this.#source;
      this.#send({ kind: 'unindexed', shard, problem: (error as Error).message });
    }
  }

  /** Sends the entries of before, a slice at a time, until those that are followed come. */
  async #catchUp(account: Uuid, sinceMs: EpochMs, trail: Trail): Promise<void> {
    if (!(await this.#catchUpByPlaces(account, trail))) return;
    if (trail.last < this.#last) trail.last = Math.max(trail.last, this.#log.numberAt(sinceMs));
    while (this.#trails.get(account) === trail) {
      const upTo = this.#last;
      const entries: TrailEntry[] = [];
      let read = 0;
      // The places may have all of it.
      const records = trail.last < upTo ? this.#log.recordsAfter(trail.last) : [];
      for (const record of records) {
        if (record.firstNumber > upTo) break;
        entries.push(...trail.maker.entriesOf(record, trail.last));
        trail.last = record.firstNumber + record.count - 1;
        read += record.payload.length;
        if (read >= SLICE_BYTES) break;
      }
      if (entries.length > 0) this.#send({ kind: 'trail_news', account, entries });
      if (trail.last >= this.#last) {
        trail.isFollowed = true;
        this.#answerTrail(trail);
        return;
      }
      await others();
    }
  }

  /** Sends the entries of the records that are known to be the account's. False: nobody wants them any more. */
  async #catchUpByPlaces(account: Uuid, trail: Trail): Promise<boolean> {
    const places = this.#places!;
    const positions = places.of(account);
    const upTo = places.covered;
    // A file of them was damaged.
    if (this.#indexing === 'follows' && upTo < this.#last) void this.#catchUpPlaces(places);
    let [read, entries]: [number, TrailEntry[]] = [0, []];
    const send = () => {
      if (entries.length > 0) this.#send({ kind: 'trail_news', account, entries });
      [read, entries] = [0, []];
    };
    for (const position of positions) {
      const record = this.#log.recordAt(position);
      if (record.firstNumber > upTo) break;
      entries.push(...trail.maker.entriesOf(record, trail.last));
      trail.last = record.firstNumber + record.count - 1;
      read += record.payload.length;
      if (read < SLICE_BYTES) continue;
      send();
      await others();
      if (this.#trails.get(account) !== trail) return false;
    }
    send();
    trail.last = Math.max(trail.last, upTo);
    return true;
  }

  #answerTrail(trail: Trail): void {
    const reached = trail.isFollowed ? Math.max(trail.last, this.#last) : trail.last;
    const ready = trail.waiting.filter(({ from }) => from <= reached);
    trail.waiting = trail.waiting.filter(({ from }) => from > reached);
    for (const { id } of ready) this.#send({ kind: 'trailed', id });
  }

  #followFrom(number: number): void {
    if (this.#following !== null) return;
    this.#last = number;
    this.#following = new AbortController();
    void this.#follow(this.#following.signal);
  }

  /** Nobody follows the log any more. */
  #rest(): void {
    if (this.#watched.size > 0 || this.#waiting.length > 0 || this.#trails.size > 0) return;
    if (this.#places !== null) return;
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
      const last = Math.max(this.#last, record.firstNumber + record.count - 1);
      for (const [account, trail] of this.#trails) {
        if (!trail.isFollowed) continue;
        const entries = trail.maker.entriesOf(record, Math.max(trail.last, this.#last));
        if (entries.length > 0) this.#send({ kind: 'trail_news', account, entries });
        trail.last = Math.max(trail.last, last);
      }
      if (this.#indexing === 'follows') this.#place(this.#places!, record);
      this.#last = last;
      this.#answerWaiting();
      for (const trail of this.#trails.values()) this.#answerTrail(trail);
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
