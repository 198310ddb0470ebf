/**
 * The thread that owns the connections to the venues: sockets, JSON, books, and the ticks that
 * follow. live-feeds.ts is its other end. Rules C7 (engine/RULES.md), W60, W70 (feeds/FORMATS.md).
 */
import { parentPort, workerData } from 'node:worker_threads';
import { type EpochMs, type MarketNumber, venueOf } from '../../engine/base/units.ts';
import { Endpoint } from '../../engine/ring/endpoint.ts';
import type { Tick } from '../../engine/rules/messages.ts';
import { WatchedMarkets } from '../../feeds/catalog/watched-markets.ts';
import { QuotingFeeds } from '../../feeds/connection/awaiting-quote.ts';
import { wordsByVenue } from '../../feeds/connection/channel-words.ts';
import type { Feed } from '../../feeds/connection/feed.ts';
import { ChangedQuotes } from '../../feeds/ingest/changed-quotes.ts';
import { ChangedStates } from '../../feeds/ingest/changed-states.ts';
import { createIngest } from '../../feeds/ingest/ingest.ts';
import { ToldResults } from '../../feeds/ingest/told-results.ts';
import type { Log } from '../base/logger.ts';
import { connectFeed } from './connect-feed.ts';
import type { FeedThreadInput, FromFeedThread, ToFeedThread } from './feed-thread-messages.ts';
import { sharedTime } from './shared-time.ts';
import { TickBatches } from './tick-batches.ts';

/** How often the data for operators is renewed. */
const STATUSES_EVERY_MS = 100;
/** The last ticks have so long to be taken. */
const CLOSING_MS = 1000;
const CLOSING_EVERY_MS = 5;
/** The last millisecond of the year 9999. */
const LAST_DATE_MS = Date.UTC(10_000, 0) - 1;

class FeedThread {
  readonly #markets: WatchedMarkets;
  readonly #batches: TickBatches;
  readonly #changed: ChangedQuotes;
  readonly #states: ChangedStates;
  readonly #feeds: Feed[] = [];
  readonly #timer: NodeJS.Timeout;

  constructor(input: FeedThreadInput) {
    const { feeds, markets, depth, levels, settleOn, isFeedClock, lagMaxMs, quietMs } = input;
    const told = new ToldResults();
    this.#markets = new WatchedMarkets(markets, told);
    this.#batches = new TickBatches(new Endpoint(input.channel, 'caller'), isFeedClock);
    this.#changed = new ChangedQuotes(this.#batches.add);
    const sharedClock = sharedTime(input.time, isFeedClock);
    const time = isFeedClock ? new FeedTime(sharedClock.nowMs) : sharedClock;
    const askedVenues = new Set(feeds.filter((feed) => feed.restUrl).map(({ venue }) => venue));
    // Where no answer comes, the frames alone say what is open.
    const isAsked = (market: MarketNumber) => {
      return askedVenues.has(venueOf(markets.marketNames[market]!)!);
    };
    const ingest = createIngest({
      // On the feed's clock a live frame moves the time, so it carries the wall's and cannot be
      // late.
      ...(time instanceof FeedTime ? { timeOf: (atMs) => this.#timeOf(time, atMs) } : { lagMaxMs }),
      marketNumber: (venue, market) => this.#markets.marketNumber(venue, market),
      isGame: (slug) => this.#markets.isGame(slug),
      closed: input.closed.filter(isAsked),
      sink: (tick) => this.#take(tick),
      quoteSink: this.#changed.takeQuote,
      levels,
      told,
      log: ({ reason, detail }) => LOG.warn({ reason, detail }, 'feed input not used'),
    });
    this.#states = new ChangedStates({
      sink: this.#changed.take,
      nowMs: time.nowMs,
      // A second of the feed's clock may be less than one here, or more.
      ...(isFeedClock && { steadyMs: () => performance.now() + time.nowMs() }),
    });
    let sources = input.firstSource;
    const newSource = () => {
      sources += 2;
      return sources - 2;
    };
    const { nowMs } = time;
    const onState = () => void setImmediate(() => this.#postStatuses());
    const catalog = this.#markets;
    const quoting = new QuotingFeeds();
    const words = wordsByVenue();
    const ofAdapters = { depth, levels, settleOn };
    const ofAll = {
      ingest,
      catalog,
      quoting,
      words,
      askedVenues,
      newSource,
      nowMs,
      onState,
      log: LOG,
    };
    const parts = { ...ofAll, ...ofAdapters, quietMs };
    for (const [entry, feed] of feeds.entries()) this.#feeds.push(connectFeed(feed, entry, parts));
    this.#timer = setInterval(() => {
      this.#states.advance();
      this.#postStatuses();
    }, STATUSES_EVERY_MS);
    this.#postStatuses();
  }

  take(message: ToFeedThread): void {
    switch (message.kind) {
      case 'markets':
        this.#markets.take(message.markets);
        // Other books may now follow the same quotes.
        this.#changed.forget();
        this.#states.forget();
        for (const feed of this.#feeds) feed.marketsChanged();
        return;
      case 'settled':
        this.#markets.settle(message.market, message.byVenue);
        if (!message.byVenue) this.#states.resultGiven(message.market);
        // None of them waits for its quote any more.
        for (const feed of this.#feeds) feed.marketsChanged();
        return;
      case 'held':
        return this.#markets.hold(message.held);
      case 'others_quote':
        this.#changed.isOn = !message.do;
        this.#states.forget();
        return;
      case 'close':
        return this.#close();
      default:
        message satisfies never;
    }
  }

  /** A state that has waited is passed on before the frame that moves the time past its wait. */
  #timeOf(time: FeedTime, venueAtMs: EpochMs | null): EpochMs {
    const atMs = time.of(venueAtMs);
    this.#states.advance();
    return atMs;
  }

  #take(tick: Tick): void {
    if (tick.kind === 'result') this.#markets.settle(tick.market, true);
    const isState = tick.kind === 'game' || tick.kind === 'status' || tick.kind === 'result';
    if (!isState) return this.#changed.take(tick);
    const { atMs, source } = tick;
    // A tick without news shows that its connection is alive.
    if (!this.#states.take(tick)) this.#changed.take({ kind: 'heartbeat', atMs, source });
  }

  #postStatuses(): void {
    const statuses = this.#feeds.flatMap((feed) => feed.statuses());
    post({ kind: 'statuses', statuses });
  }

  #close(): void {
    clearInterval(this.#timer);
    for (const feed of this.#feeds) feed.close();
    this.#states.end();
    const endsMs = performance.now() + CLOSING_MS;
    const end = () => {
      if (this.#batches.flush() || performance.now() > endsMs) parentPort!.close();
      else setTimeout(end, CLOSING_EVERY_MS);
    };
    end();
  }
}

/**
 * On the feed's clock a frame is taken at the venue's own time. If it states none or an older one,
 * it is taken at the present. Rule C7 (engine/RULES.md).
 */
class FeedTime {
  readonly #engineMs: () => EpochMs;
  /** Of the frames here; the engine may not know it yet. */
  #newestMs: EpochMs = 0;

  constructor(engineMs: () => EpochMs) {
    this.#engineMs = engineMs;
  }

  readonly nowMs = (): EpochMs => Math.max(this.#newestMs, this.#engineMs());

  readonly of = (venueAtMs: EpochMs | null): EpochMs => {
    const nowMs = this.nowMs();
    if (venueAtMs !== null && venueAtMs > nowMs && venueAtMs <= LAST_DATE_MS) {
      this.#newestMs = venueAtMs;
      return venueAtMs;
    }
    return nowMs;
  };
}

const LOG: Log = {
  info: (fields, message) => post({ kind: 'log', level: 'info', fields, message }),
  warn: (fields, message) => post({ kind: 'log', level: 'warn', fields, message }),
  error: (fields, message) => post({ kind: 'log', level: 'error', fields, message }),
};

function post(message: FromFeedThread): void {
  parentPort!.postMessage(message);
}

const thread = new FeedThread(workerData as FeedThreadInput);
parentPort!.on('message', (message: ToFeedThread) => thread.take(message));
