/**
 * The live connections to the venues, as the callers' thread sees them. A separate thread holds
 * them, and its ticks arrive in batches through a ring. If it fails, it is started again, and its
 * quotes are lost meanwhile. Rules W60 (feeds/FORMATS.md), D45, D46 (engine/RULES.md).
 */

import {
  type EpochMs,
  isoOf,
  type MarketNumber,
  type SourceNumber,
} from '../../engine/base/units.ts';
import { channelMemory } from '../../engine/ring/endpoint.ts';
import { SupervisedWorker } from '../../engine/threads/supervised-worker.ts';
import { Unavailable } from '../../engine/threads/unavailable.ts';
import { workerUrl } from '../../engine/threads/worker-url.ts';
import type { HeldMarkets, MarketsToWatch } from '../../feeds/catalog/watched-markets.ts';
import type { FeedStatus } from '../../feeds/connection/connection-status.ts';
import { feedProblems } from '../../feeds/connection/health.ts';
import type { Log } from '../base/logger.ts';
import type { MarketBus } from '../catalog/market-bus.ts';
import type { Config } from '../config/settings.ts';
import type { BookNeeds } from './book-needs.ts';
import { FeedBatches } from './feed-batches.ts';
import type { FeedThreadInput, FromFeedThread, ToFeedThread } from './feed-thread-messages.ts';
import { OPERATOR_SOURCE } from './operator-results.ts';
import { type SharedTime, sharedTime, timeMemory } from './shared-time.ts';
import type { TickIntake } from './tick-intake.ts';

export type LiveFeedsOptions = {
  config: Pick<Config, 'feeds' | 'clock' | 'feedLagMaxMs' | 'feedQuietMs' | 'settleOn'>;
  needs: BookNeeds;
  /** The catalog as it is now, for a thread that knows so many names of markets. */
  markets(named: number): MarketsToWatch;
  /** The markets that their venues have closed, without a result. */
  closed(): MarketNumber[];
  intake: Pick<TickIntake, 'batch' | 'take'>;
  /** The engine's time. */
  nowMs(): EpochMs;
  log: Log;
  /** The thread's module; tests name another. */
  module?: URL;
};

/** How often the engine's time is shared, beside each batch. */
const TIME_EVERY_MS = 250;
/** A thread that was asked to end, and has not ended by then, is ended. */
const CLOSING_MS = 3000;
const MODULE = workerUrl(import.meta.url, './feed-thread');
const DOWN = new Unavailable('the thread of the feeds is starting again');

export class LiveFeeds {
  readonly #options: LiveFeedsOptions;
  readonly #isFeedClock: boolean;
  readonly #timeMemory = timeMemory();
  readonly #time: SharedTime;
  readonly #timer: NodeJS.Timeout;
  readonly #thread: SupervisedWorker<ToFeedThread, FromFeedThread>;
  /** The source of the running thread's ticks; null: none runs. */
  #batches: FeedBatches | null = null;
  /** Called with the first statuses of a thread, or with its failure before them. */
  #started: (failure: string | null) => void = () => {};
  #statuses: readonly FeedStatus[] = [];
  /** Connections with at least one frame, of this thread and of earlier ones. */
  readonly #live = new Set<SourceNumber>();
  /** The number of the next thread's first connection. No number is given twice. */
  #nextSource: SourceNumber = 0;
  /** The last thread has ended, and no other has begun to dial. */
  #failure: { reason: string; sinceMs: EpochMs } | null = null;
  #doOthersQuote = false;
  /** How many names of markets the running thread knows. */
  #named = 0;
  #held: HeldMarkets = { markets: [], unheld: [], maybeOver: [] };

  constructor(options: LiveFeedsOptions) {
    this.#options = options;
    this.#isFeedClock = options.config.clock === 'feed';
    this.#time = sharedTime(this.#timeMemory, this.#isFeedClock);
    this.#thread = new SupervisedWorker({
      name: 'thread of all feeds',
      module: options.module ?? MODULE,
      workerData: () => this.#input(),
      log: options.log,
      down: DOWN,
      take: (message) => this.#take(message),
      started: () => this.#tell(),
      ended: (reason) => this.#failed(reason),
    });
    this.#timer = setInterval(() => this.#time.share(options.nowMs()), TIME_EVERY_MS);
    this.#timer.unref();
    options.needs.onRaised(() => this.#reopen());
  }

  /** Resolves once the thread dials; rejects when it cannot start. */
  async start(): Promise<void> {
    if (this.#options.config.feeds.length === 0) return;
    const failure = await new Promise<string | null>((resolve) => {
      this.#started = resolve;
      this.#thread.start();
    });
    if (failure === null) return;
    await this.#thread.close(null);
    throw new Error(`the thread of the feeds did not start: ${failure}`);
  }

  /** Tells the thread which markets to watch from now on. @returns the function that ends it */
  follow(bus: MarketBus): () => void {
    const ends = [
      bus.subscribe(['result'], ({ market, source }) => {
        this.#post({ kind: 'settled', market, byVenue: source !== OPERATOR_SOURCE });
      }),
      bus.subscribe(['catalog'], () => {
        this.#post({ kind: 'markets', markets: this.#markets(this.#named) });
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

  /** The problems of the feeds, one per line. `nowMs` is of the wall clock. */
  problems(nowMs: EpochMs): string[] {
    const { problem } = this.#thread;
    const lines = feedProblems(this.statuses(), nowMs);
    return problem === null ? lines : [problem, ...lines];
  }

  /** Markets that accounts hold or have orders on. Rule W70 (feeds/FORMATS.md). */
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

  /** Ends the connections; their last ticks are taken. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#thread.close({ kind: 'close' }, CLOSING_MS);
    this.#lose();
  }

  /** Another thread tells more of the books. Their quotes are lost until it has connected. */
  #reopen(): void {
    if (!this.#thread.isUp) return;
    this.#thread.stop(DOWN);
    this.#lose();
    this.#thread.start();
  }

  #markets(named: number): MarketsToWatch {
    const markets = this.#options.markets(named);
    this.#named = named + markets.marketNames.length;
    return markets;
  }

  #post(message: ToFeedThread): void {
    this.#thread.post(message);
  }

  #input(): FeedThreadInput {
    const { config, needs, nowMs } = this.#options;
    this.#time.share(nowMs());
    const channel = channelMemory();
    this.#batches = new FeedBatches(channel, (bytes) => this.#batch(bytes));
    return {
      feeds: config.feeds,
      markets: this.#markets(0),
      closed: this.#options.closed(),
      ...{ depth: needs.depth, levels: needs.levels },
      settleOn: config.settleOn,
      isFeedClock: this.#isFeedClock,
      lagMaxMs: config.feedLagMaxMs,
      quietMs: config.feedQuietMs,
      firstSource: this.#nextSource,
      time: this.#timeMemory,
      channel,
    };
  }

  /** The state that a new thread does not know yet. */
  #tell(): void {
    this.#post({ kind: 'held', held: this.#held });
    if (this.#doOthersQuote) this.#post({ kind: 'others_quote', do: true });
  }

  #take(message: FromFeedThread): void {
    const { log, nowMs } = this.#options;
    if (message.kind === 'log') return log[message.level](message.fields, message.message);
    this.#statuses = message.statuses;
    this.#thread.opened();
    this.#started(null);
    if (this.#failure === null) return;
    this.#failure = null;
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

  #failed({ message: reason }: Error): void {
    this.#lose();
    this.#failure = { reason, sinceMs: Date.now() };
    this.#started(reason);
  }

  /** The thread has ended, and its connections with it. Its earlier ticks are taken. */
  #lose(): void {
    const { intake, nowMs } = this.#options;
    this.#batches?.end();
    this.#batches = null;
    const atMs = nowMs();
    for (const source of this.#live) {
      intake.take({ kind: 'down', atMs, source });
    }
    this.#live.clear();
  }
}
