/**
 * The live connections to the venues, as the callers' thread sees them: a thread of their own holds
 * them, and its ticks come in batches through a ring. One that fails is started again; its quotes
 * are lost meanwhile. Rules W60 (feeds/FORMATS.md), D45, D46 (engine/RULES.md).
 */

import { type EpochMs, isoOf, type SourceNumber } from '../../engine/base/units.ts';
import { channelMemory } from '../../engine/ring/endpoint.ts';
import { Restarts } from '../../engine/threads/restarts.ts';
import { workerUrl } from '../../engine/threads/worker-url.ts';
import type { HeldMarkets, MarketsToWatch } from '../../feeds/catalog/watched-markets.ts';
import type { FeedStatus } from '../../feeds/connection/connection-status.ts';
import { feedProblems } from '../../feeds/connection/health.ts';
import type { Log } from '../base/log.ts';
import type { MarketBus } from '../catalog/market-bus.ts';
import type { Config } from '../config/settings.ts';
import { checkFeed } from './connect-feed.ts';
import { FeedThreadLink } from './feed-thread-link.ts';
import type { FromFeedThread, ToFeedThread } from './feed-thread-messages.ts';
import { type SharedTime, sharedTime, timeMemory } from './shared-time.ts';
import type { TickIntake } from './tick-intake.ts';

export type LiveFeedsOptions = {
  config: Pick<
    Config,
    'feeds' | 'clock' | 'feedLagMaxMs' | 'feedQuietMs' | 'fillModel' | 'settleOn'
  >;
  /** The catalog as it is now. */
  markets(): MarketsToWatch;
  intake: Pick<TickIntake, 'batch' | 'take'>;
  /** The engine's time. */
  nowMs(): EpochMs;
  log: Log;
  /** The thread's module; another one in tests. */
  module?: URL;
};

/** How often the engine's time is shared, beside each batch. */
const TIME_EVERY_MS = 250;
const MODULE = workerUrl(import.meta.url, './feed-thread');

export class LiveFeeds {
  readonly #options: LiveFeedsOptions;
  readonly #isFeedClock: boolean;
  readonly #timeMemory = timeMemory();
  readonly #time: SharedTime;
  readonly #timer: NodeJS.Timeout;
  readonly #restarts = new Restarts();
  /** Null: none runs. */
  #thread: FeedThreadLink | null = null;
  /** Called with the first statuses of a thread, or with what it failed at before. */
  #started: (failure: string | null) => void = () => {};
  #statuses: readonly FeedStatus[] = [];
  /** Connections that have said something, of this thread and of those before. */
  readonly #live = new Set<SourceNumber>();
  /** Of the next thread: none that had a number before has it again. */
  #nextSource: SourceNumber = 0;
  /** The last thread has ended, and no other has begun to dial. */
  #failure: { reason: string; sinceMs: EpochMs } | null = null;
  #doOthersQuote = false;
  #held: HeldMarkets = { markets: [], maybeOver: [] };

  constructor(options: LiveFeedsOptions) {
    this.#options = options;
    this.#isFeedClock = options.config.clock === 'feed';
    this.#time = sharedTime(this.#timeMemory, this.#isFeedClock);
    this.#timer = setInterval(() => this.#time.share(options.nowMs()), TIME_EVERY_MS);
    this.#timer.unref();
  }

  /**
   * Resolves once the thread dials; rejects when it cannot start.
   * @throws ConfigError when an entry of PAPERBOOK_FEEDS cannot be used.
   */
  async start(): Promise<void> {
    const { feeds, fillModel, settleOn } = this.#options.config;
    if (feeds.length === 0) return;
    for (const feed of feeds) checkFeed(feed, { depth: fillModel === 'book_depth', settleOn });
    const failure = await new Promise<string | null>((resolve) => {
      this.#started = resolve;
      this.#open();
    });
    if (failure === null) return;
    this.#restarts.cancel();
    throw new Error(`the thread of the feeds did not start: ${failure}`);
  }

  /** Tells the thread which markets to watch from now on. @returns what ends it */
  follow(bus: MarketBus): () => void {
    const ends = [
      bus.subscribe(['result'], ({ market }) => this.#post({ kind: 'settled', market })),
      bus.subscribe(['catalog'], () => {
        this.#post({ kind: 'markets', markets: this.#options.markets() });
      }),
    ];
    return () => {
      for (const end of ends) end();
    };
  }

  /** One for each connection, at most a moment old. */
  statuses(): FeedStatus[] {
    const failure = this.#failure;
    if (failure === null) return [...this.#statuses];
    return this.#statuses.map((status) => ({
      ...status,
      state: 'waiting',
      sinceMs: failure.sinceMs,
      downSinceMs: status.downSinceMs ?? failure.sinceMs,
      books: 0,
      lastProblem: `the feed thread failed: ${failure.reason}`,
      lastProblemMs: failure.sinceMs,
    }));
  }

  /** What is wrong with the feeds, a line each. `nowMs` is of the wall clock. */
  problems(nowMs: EpochMs): string[] {
    const { problem } = this.#restarts;
    const failed =
      this.#failure === null ? null : `failed, and starts again: ${this.#failure.reason}`;
    const ofThread = problem ?? failed;
    const lines = feedProblems(this.statuses(), nowMs);
    return ofThread === null ? lines : [`the thread of all feeds ${ofThread}`, ...lines];
  }

  /** What somebody holds or has orders on. Rule W70 (feeds/FORMATS.md). */
  hold(held: HeldMarkets): void {
    this.#held = held;
    this.#post({ kind: 'held', held });
  }

  /** Others quote markets of the feeds, or no longer do. */
  othersQuote(isSo: boolean): void {
    if (this.#doOthersQuote === isSo) return;
    this.#doOthersQuote = isSo;
    this.#post({ kind: 'others_quote', do: isSo });
  }

  /** Ends the connections; what they have said is taken. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#restarts.cancel();
    await this.#thread?.close();
  }

  #post(message: ToFeedThread): void {
    this.#thread?.post(message);
  }

  #open(): void {
    const { config, markets, nowMs, module = MODULE } = this.#options;
    this.#time.share(nowMs());
    const input = {
      feeds: config.feeds,
      markets: markets(),
      depth: config.fillModel === 'book_depth',
      settleOn: config.settleOn,
      isFeedClock: this.#isFeedClock,
      lagMaxMs: config.feedLagMaxMs,
      quietMs: config.feedQuietMs,
      firstSource: this.#nextSource,
      time: this.#timeMemory,
      channel: channelMemory(),
    };
    this.#thread = new FeedThreadLink(module, input, {
      message: (message) => this.#take(message),
      batch: (bytes) => this.#batch(bytes),
      ended: (reason) => this.#ended(reason),
    });
    this.#post({ kind: 'held', held: this.#held });
    if (this.#doOthersQuote) this.#post({ kind: 'others_quote', do: true });
  }

  #take(message: FromFeedThread): void {
    const { log, nowMs } = this.#options;
    if (message.kind === 'log') return log[message.level](message.fields, message.message);
    this.#statuses = message.statuses;
    this.#started(null);
    if (this.#failure === null) return;
    this.#failure = null;
    this.#restarts.opened(false);
    log.info({ at: isoOf(nowMs()) }, 'the feed thread is back');
  }

  #batch(bytes: Buffer): void {
    const { intake, nowMs } = this.#options;
    for (const tick of intake.batch(bytes)) {
      if (tick.kind === 'time') continue;
      if (tick.kind === 'down') this.#live.delete(tick.source);
      else this.#live.add(tick.source);
      this.#nextSource = Math.max(this.#nextSource, tick.source + 2);
    }
    this.#time.share(nowMs());
  }

  /** Its connections are lost with it. `reason` is null where it was asked to end. */
  #ended(reason: string | null): void {
    const { intake, nowMs, log } = this.#options;
    this.#thread = null;
    const atMs = nowMs();
    for (const source of this.#live) {
      intake.take({ kind: 'down', atMs, source });
    }
    this.#live.clear();
    if (reason === null) return;
    this.#failure = { reason, sinceMs: Date.now() };
    this.#started(reason);
    log.error({ error: reason }, 'the feed thread failed; starting it again');
    this.#restarts.later(reason, () => this.#open());
  }
}
