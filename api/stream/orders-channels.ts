/**
 * The channel `orders` of each account: its portfolio, then each event of its log, once and in
 * order. A connection that returns gets the events that it has missed. Rules J21 to J24, J37
 * (api/RULES.md).
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { EpochMs, Uuid } from '../../engine/base/units.ts';
import type { AccountEventSource } from '../../engine/readers/account-event-source.ts';
import { type AccountEvent, eventIdOf } from '../../engine/readers/account-events.ts';
import type { Engine } from '../base/engine.ts';
import type { Log } from '../base/logger.ts';
import type { PaperAccount } from '../identity/accounts.ts';
import type { Switches } from '../identity/switches.ts';
import {
  type Channel,
  elsewhere,
  gapText,
  type Member,
  messageText,
  type Numbering,
  SharedChannel,
} from './channel.ts';
import { ORDERS } from './messages.ts';

/** A client that lacks more events gets a snapshot. */
const REPLAYED_MAX = 10_000;
/** After so many the thread does other work. */
const REPLAYED_A_TURN = 50;
const RETRY_MS = 500;

export type OrdersChannelsOptions = {
  engine: Pick<Engine, 'ask' | 'nowMs'>;
  events: AccountEventSource;
  switches: Switches;
  numbering: Numbering;
  log: Log;
};

export class OrdersChannels {
  readonly #options: OrdersChannelsOptions;
  readonly #channels = new Map<Uuid, OrdersChannel>();

  constructor(options: OrdersChannelsOptions) {
    this.#options = options;
    options.events.listen(
      (account, events) => this.#channels.get(account)?.take(events),
      () => {
        for (const channel of this.#channels.values()) channel.beginAgain();
      },
    );
  }

  channel(account: PaperAccount): OrdersChannel {
    const { id } = account;
    let channel = this.#channels.get(id);
    if (channel === undefined) {
      channel = new OrdersChannel(account, this.#options, () => this.#channels.delete(id));
      this.#channels.set(id, channel);
    }
    return channel.taken();
  }
}

type Numbered = { event: AccountEvent; seq: number };
/** A connection that has not had its snapshot yet, and the news since it came. */
type Start = { after: number | null; news: Numbered[] };
type Snapshot = { number: number; portfolio: string; venueData: boolean };

class OrdersChannel extends SharedChannel implements Channel {
  readonly name = ORDERS;
  readonly #account: PaperAccount;
  readonly #options: OrdersChannelsOptions;
  /** In `Numbering` each account's channel has its own name. */
  readonly #numbered: string;
  /** Null: it is sent the news at once. */
  readonly #members = new Map<Member, Start | null>();
  /** Members to start, one after the other, so that members who come and go do not pile up work. */
  readonly #toStart = new Set<Member>();
  #isStarting = false;
  readonly #drop: () => void;
  /** The number from which news arrive; null: nothing is watched. */
  #watched: Promise<number> | null = null;
  /** The number of the last event that was numbered, or the number from which news arrive. */
  #last = 0;

  constructor(account: PaperAccount, options: OrdersChannelsOptions, drop: () => void) {
    super();
    this.#account = account;
    this.#options = options;
    this.#numbered = `${ORDERS} ${account.id}`;
    this.#drop = drop;
  }

  get seq(): number {
    return this.#options.numbering.last(this.#numbered);
  }

  protected override lastReleased(): void {
    if (!this.#isStarting) this.#leave();
  }

  begin(member: Member, after: number | null = null): void {
    this.#members.set(member, { after, news: [] });
    this.#toStart.add(member);
    if (!this.#isStarting) void this.#startAll();
  }

  pause(member: Member): void {
    this.#members.delete(member);
    this.#toStart.delete(member);
  }

  /** News may be missing. */
  beginAgain(): void {
    this.#watched = null;
    for (const member of [...this.#members.keys()]) {
      member.send(gapText(this.name));
      this.begin(member);
    }
  }

  /** Events in their order; known events are left out. */
  take(events: readonly AccountEvent[]): void {
    for (const event of events) {
      if (event.number <= this.#last) continue;
      this.#last = event.number;
      const news = { event, seq: this.#options.numbering.next(this.#numbered) };
      for (const [member, start] of this.#members) {
        if (start !== null) start.news.push(news);
        else if (member.permits(this)) member.send(this.#text(event, news.seq));
      }
    }
  }

  #leave(): void {
    this.#options.events.unwatch(this.#account.id);
    this.#drop();
  }

  async #startAll(): Promise<void> {
    this.#isStarting = true;
    for (const member of this.#toStart) {
      this.#toStart.delete(member);
      await this.#start(member);
    }
    this.#isStarting = false;
    if (!this.isHeld) this.#leave();
  }

  async #start(member: Member): Promise<void> {
    const start = this.#members.get(member);
    if (start === undefined || start === null) return;
    const isCurrent = () => this.#members.get(member) === start;
    try {
      await this.#catchUp(member, start, () => isCurrent() && member.permits(this) && isCurrent());
    } catch (error) {
      const why = elsewhere(error);
      if (why !== null) {
        if (isCurrent()) member.end(this, why);
        return;
      }
      this.#options.log.warn({ err: error }, 'a subscription of orders is tried again');
      const again = () => {
        if (isCurrent()) this.begin(member, start.after);
      };
      setTimeout(again, RETRY_MS).unref();
    }
  }

  async #catchUp(member: Member, start: Start, isCurrent: () => boolean): Promise<void> {
    const { after } = start;
    const from = await this.#watch();
    if (!isCurrent()) return;
    const { id } = this.#account;
    if (after !== null) {
      const bounds = { after, limit: REPLAYED_MAX };
      const { events, last } = await this.#options.events.watch(id, from, bounds);
      if (!isCurrent()) return;
      if (events !== null) {
        for (const [at, event] of events.entries()) {
          if (at > 0 && at % REPLAYED_A_TURN === 0) {
            await nextTurn();
            if (!isCurrent()) return;
          }
          member.send(this.#text(event, null));
        }
        return this.#goOn(member, start, last);
      }
      member.send(gapText(this.name));
    }
    const snapshot = await this.#snapshot();
    // All events of the snapshot have then arrived, and have their numbers.
    await this.#options.events.watch(id, snapshot.number, null);
    if (!isCurrent()) return;
    // Venue data was turned off meanwhile.
    if (snapshot.venueData && !this.#options.switches.venueData) throw new Error('too late');
    const later = start.news.filter(({ event }) => event.number > snapshot.number);
    const { name, epoch } = { name: this.name, epoch: this.#options.numbering.epoch };
    const seq = this.seq - later.length;
    const nowMs = this.#options.engine.nowMs();
    const marks = `"snapshot":true,"eventId":"${eventIdOf(snapshot.number)}",`;
    member.send(messageText({ name, epoch, seq }, nowMs, marks, snapshot.portfolio));
    this.#goOn(member, start, snapshot.number);
  }

  /** It has everything up to a number, and gets all later events. */
  #goOn(member: Member, { news }: Start, last: number): void {
    this.#members.set(member, null);
    for (const { event, seq } of news) {
      if (event.number > last) member.send(this.#text(event, seq));
    }
  }

  /** Begins to watch the account, once. */
  #watch(): Promise<number> {
    this.#watched ??= this.#watchNow().catch((error: unknown) => {
      this.#watched = null;
      throw error;
    });
    return this.#watched;
  }

  async #watchNow(): Promise<number> {
    const { number } = await this.#snapshot();
    const bounds = { after: number, limit: REPLAYED_MAX };
    const { events } = await this.#options.events.watch(this.#account.id, number, bounds);
    if (events === null) throw new Error('too many events at once');
    this.#last = Math.max(this.#last, number);
    this.take(events);
    return number;
  }

  async #snapshot(): Promise<Snapshot> {
    const { engine } = this.#options;
    const { id: account, organizationSlug } = this.#account;
    const atMs = engine.nowMs();
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    engine.ask(
      account,
      { kind: 'account_snapshot', atMs, account, organizationSlug },
      {
        resolve: (reply) => (reply.ok ? resolve(reply.body) : reject(new Error(reply.message))),
        reject,
      },
    );
    const { number, portfolio } = JSON.parse(await promise);
    const { venueData } = portfolio;
    return { number, portfolio: JSON.stringify(portfolio), venueData };
  }

  #text(event: AccountEvent, seq: number | null): string {
    const { numbering, switches } = this.#options;
    const { epoch } = numbering;
    const data = switches.venueData ? event.on : event.off;
    const marks = seq === null ? '"replayed":true,' : '';
    return messageText({ name: this.name, epoch, seq }, event.atMs as EpochMs, marks, data);
  }
}
