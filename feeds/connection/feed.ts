/**
 * One entry of PAPERBOOK_FEEDS: as many connections as its markets need, and the venue's REST API
 * for missed events. Rules W1, W15, W17, W70, W109, W114 (feeds/FORMATS.md).
 */
import type { EpochMs, SourceNumber, Venue } from '../../engine/base/units.ts';
import type { Ingest, IngestSession } from '../ingest/ingest.ts';
import type { FrameReading, StateTick, VenueAdapter } from '../reading/venue.ts';
import type { Unquoted } from './awaiting-quote.ts';
import { ChannelWords } from './channel-words.ts';
import { openConnection } from './connection.ts';
import { ConnectionCounter } from './connection-counts.ts';
import type { ConnectionTiming } from './connection-options.ts';
import type { Connection, FeedStatus } from './connection-status.ts';
import { StatusPoller } from './status-poller.ts';

const NOTHING_HELD: ReadonlyMap<string, boolean> = new Map();
/** Venues count connections too. Markets beyond the bound have no quote, and are shown as such. */
const CONNECTIONS_MAX = 64;

export type FeedOptions = {
  /** Of PAPERBOOK_FEEDS; 0 when left out. */
  entry?: number;
  /** `ws:` or `wss:`. */
  url: string;
  venue: Venue;
  /** A new one for each connection. */
  newAdapter(): VenueAdapter;
  /** The markets to subscribe to now, in the venue's own names. */
  markets(): readonly string[];
  /** Whether the market still needs a quote, and a result. */
  awaitsQuote(market: string): boolean;
  /** The set of a connection's markets without a quote. */
  newUnquoted?(): Unquoted;
  /** The markets that accounts hold or have orders on; true: it may be over by the catalog. */
  held?(): ReadonlyMap<string, boolean>;
  /** Markets that nobody holds and that have started; true: it may be over by the catalog. */
  unheld?(): ReadonlyMap<string, boolean>;
  /** Markets with a result that their venue has not told since the start. */
  untold(): ReadonlySet<string>;
  /** Another feed of the venue has a REST API. */
  othersAsk?: boolean;
  /** The words of the venue's channels, shared by its feeds; left out: there is one feed. */
  words?: ChannelWords;
  ingest: Ingest;
  /** A number for a source of ticks that no other has. */
  newSource(): SourceNumber;
  /** The base of the venue's REST API; null: missed statuses and results are not asked for. */
  restUrl: URL | null;
  /** The time of a frame's arrival. */
  nowMs(): EpochMs;
  /** A connection is open, lost, or dialed again. */
  onState?(): void;
  log: { info(fields: object, message: string): void; warn(fields: object, message: string): void };
  timing?: Partial<ConnectionTiming>;
  /** At most so many connections; 64 when left out. */
  connectionsMax?: number;
  /** How often markets that have stopped are asked for their result. */
  askAgainMs?: number;
};

export type Feed = {
  /** One for each connection. */
  statuses(): FeedStatus[];
  /** The catalog changed: subscribes to new markets of `markets()`. */
  marketsChanged(): void;
  /** Ends every connection and timer at once. */
  close(): void;
};

/** @throws when `url` is not a ws: or wss: address. The message does not repeat the address. */
export function openFeed(options: FeedOptions): Feed {
  return new VenueFeed(options);
}

/** A connection and the markets that it has to bring. */
type ConnectionSlot = {
  adapter: VenueAdapter;
  markets: Set<string>;
  /** The venue has refused a market here as one too many. */
  isFull: boolean;
  counter: ConnectionCounter;
  connection: Connection | null;
};

class VenueFeed implements Feed {
  readonly #options: FeedOptions;
  readonly #slots: ConnectionSlot[] = [];
  readonly #words: ChannelWords;
  /** Its number among the feeds of the venue. */
  readonly #number: number;
  readonly #states: StatusPoller;
  #isClosed = false;

  constructor(options: FeedOptions) {
    this.#options = options;
    this.#words = options.words ?? new ChannelWords();
    this.#number = this.#words.newFeed();
    const adapter = options.newAdapter();
    this.#states = this.#statesBy(adapter);
    const first = this.#newSlot(adapter);
    this.#assign();
    this.#open(first);
  }

  statuses(): FeedStatus[] {
    const { entry = 0 } = this.#options;
    return this.#slots.flatMap(({ connection, markets, counter }, at) => {
      if (connection === null) return [];
      return {
        ...connection.status(),
        entry,
        subscribed: markets.size,
        counts: counter.counts(),
        missedStatesProblem: at === 0 ? this.#states.problem : null,
        resultProblems: at === 0 ? this.#states.problems() : [],
      };
    });
  }

  marketsChanged(): void {
    this.#assign();
    for (const { connection } of this.#slots) connection?.marketsChanged();
  }

  close(): void {
    this.#isClosed = true;
    this.#states.close();
    for (const { connection } of this.#slots) connection?.close();
  }

  /** Each market gets a connection and keeps it; connections without a market end. */
  #assign(): void {
    const wanted = new Set(this.#options.markets());
    for (const slot of this.#slots) {
      for (const market of slot.markets) {
        // A market of another connection is not wanted here.
        if (wanted.delete(market)) continue;
        slot.markets.delete(market);
        slot.isFull = false;
        this.#states.left(market);
      }
    }
    const opened: ConnectionSlot[] = [];
    const joined: string[] = [];
    for (const market of wanted) {
      let slot = this.#slots.find(hasRoom);
      if (slot === undefined && this.#mayOpen()) {
        slot = this.#newSlot(this.#options.newAdapter());
        opened.push(slot);
      }
      slot ??= this.#slots.at(-1)!;
      slot.markets.add(market);
      if (slot.connection !== null) joined.push(market);
    }
    // The others are asked for when their connection opens.
    if (joined.length > 0) this.#states.ask(joined);
    for (const slot of opened) this.#open(slot);
    for (const slot of this.#slots.filter((one, at) => at > 0 && one.markets.size === 0)) {
      this.#slots.splice(this.#slots.indexOf(slot), 1);
      slot.connection?.close();
      this.#slots[0]!.counter.takeOver(slot.counter);
    }
  }

  #mayOpen(): boolean {
    return this.#slots.length < (this.#options.connectionsMax ?? CONNECTIONS_MAX);
  }

  #newSlot(adapter: VenueAdapter): ConnectionSlot {
    const counter = new ConnectionCounter();
    const slot: ConnectionSlot = {
      adapter,
      markets: new Set(),
      isFull: false,
      counter,
      connection: null,
    };
    this.#slots.push(slot);
    return slot;
  }

  #open(slot: ConnectionSlot): void {
    const { adapter } = slot;
    const { url, venue, ingest, log, nowMs, timing, awaitsQuote } = this.#options;
    const judge = (tick: StateTick) => this.#words.judge(this.#number, tick);
    const sink = ingest.session(venue, adapter, this.#options.newSource(), judge);
    const unquoted = this.#options.newUnquoted?.();
    slot.connection = openConnection({
      url,
      venue,
      adapter,
      markets: () => [...slot.markets],
      subscribe: (markets) => {
        this.#words.startsOver(this.#number, markets, adapter.beginsWithStatus);
        return sink.subscribe(markets, nowMs());
      },
      awaitsQuote,
      onFrame: (text, atMs) => this.#taken(slot, sink.frame(text, atMs)),
      onHeartbeat: (atMs) => sink.heartbeat(atMs),
      onTime: (atMs) => sink.advance(atMs),
      onLost: (atMs) => {
        slot.counter.lost();
        this.#states.lost(slot.markets);
        sink.lost(atMs);
      },
      onOverflow: (markets) => this.#moveOn(slot, markets),
      onMissedStates: (markets) => {
        if (markets !== true) return this.#states.missed(markets);
        this.#words.startsOver(this.#number, slot.markets);
        this.#states.ask([...slot.markets]);
      },
      onState: ({ state }) => {
        if (state === 'open') {
          slot.counter.opened();
          this.#states.ask([...slot.markets]);
        }
        this.#options.onState?.();
      },
      nowMs,
      log,
      ...(unquoted === undefined ? {} : { unquoted }),
      ...(timing === undefined ? {} : { timing }),
    });
  }

  #taken({ counter }: ConnectionSlot, reading: FrameReading): FrameReading {
    counter.took(reading);
    this.#states.saw(reading.ticks);
    return reading;
  }

  /** Markets that this connection cannot bring go to another one. */
  #moveOn(slot: ConnectionSlot, markets: readonly string[]): void {
    if (this.#isClosed) return;
    const { venue, log } = this.#options;
    for (const market of markets) slot.markets.delete(market);
    const isAlone = slot.markets.size === 0;
    slot.isFull = true;
    if (isAlone || !(this.#mayOpen() || this.#slots.some(hasRoom))) {
      // No other connection takes them either. They wait for the next connection here, and show as
      // unquoted.
      for (const market of markets) slot.markets.add(market);
      const names = markets.slice(0, 5);
      log.warn({ venue, count: markets.length, markets: names }, 'venue refuses markets');
      return;
    }
    log.info({ venue, markets: markets.length }, 'venue takes no more markets on a connection');
    this.marketsChanged();
  }

  #statesBy(adapter: VenueAdapter): StatusPoller {
    const { stateRequests: requests, tellsResults, repeatsStatus } = adapter;
    const { restUrl, venue, ingest, newSource, newAdapter, nowMs, log, askAgainMs } = this.#options;
    if (requests !== null && restUrl === null) {
      log.info({ venue }, 'no restUrl: results during a lost connection are not asked for');
    }
    // A separate source: an answer must not keep the prices of a connection fresh.
    const canAsk = requests !== null && restUrl !== null;
    const sink: IngestSession | null = canAsk
      ? ingest.session(venue, newAdapter(), newSource())
      : null;
    return new StatusPoller({
      base: restUrl,
      requests,
      ...{ tellsResults, repeatsStatus },
      held: this.#options.held ?? (() => NOTHING_HELD),
      unheld: this.#options.unheld ?? (() => NOTHING_HELD),
      untold: this.#options.untold,
      othersAsk: this.#options.othersAsk ?? false,
      isOpen: this.#options.awaitsQuote,
      take: (ticks) => {
        sink?.states(ticks, nowMs());
        for (const { connection } of this.#slots) connection?.learned(ticks);
      },
      log,
      words: this.#words,
      ...(askAgainMs === undefined ? {} : { againMs: askAgainMs }),
    });
  }
}

function hasRoom({ isFull, markets, adapter }: ConnectionSlot): boolean {
  return !isFull && markets.size < adapter.marketsMax;
}
