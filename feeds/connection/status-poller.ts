/**
 * Asks a venue's REST API for what happened to markets while nobody listened: statuses and results.
 * Rule W15 (feeds/FORMATS.md).
 */

import type { StateTick, VenueAdapter, VenueTick } from '../reading/venue.ts';
import { safeUrlOf } from './endpoint.ts';
import { type AskOptions, askRest } from './rest.ts';

/** How often a market that has stopped is asked for its result, and a failure is tried again. */
const AGAIN_MS = 60_000;
/** Questions under way at a time: venues count requests. */
const AT_ONCE = 4;

export type MissedStatesOptions = {
  /** The base of the REST API. */
  base: URL;
  requests: NonNullable<VenueAdapter['stateRequests']>;
  /** Whether the market has no result yet. */
  isOpen(market: string): boolean;
  take(ticks: readonly StateTick[]): void;
  log: { info(fields: object, message: string): void; warn(fields: object, message: string): void };
  againMs?: number;
  rest?: AskOptions;
};

export class MissedStates {
  readonly #options: MissedStatesOptions;
  readonly #abort = new AbortController();
  /** Asked for while a round is under way, or to be asked for again. */
  #waiting = new Set<string>();
  /** Statuses that came by the connection since they were asked for: newer than the answer. */
  readonly #changed = new Set<string>();
  /** Markets that have stopped and have no result yet. */
  readonly #stopped = new Set<string>();
  #isAsking = false;
  #timer: NodeJS.Timeout | undefined;
  #problem: string | null = null;

  constructor(options: MissedStatesOptions) {
    this.#options = options;
  }

  /** Asks for these markets now, or after the markets that are asked for already. */
  ask(markets: readonly string[]): void {
    for (const market of markets) this.#waiting.add(market);
    if (!this.#isAsking && !this.#abort.signal.aborted) void this.#askAll();
  }

  /** Why the last question failed, without its address; null: it was answered. */
  get problem(): string | null {
    return this.#problem;
  }

  /** What came by a connection. */
  saw(ticks: readonly VenueTick[]): void {
    for (const tick of ticks) {
      if (tick.kind !== 'status' && tick.kind !== 'result') continue;
      if (this.#isAsking) this.#changed.add(tick.market);
      this.#follow(tick);
    }
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#abort.abort();
  }

  async #askAll(): Promise<void> {
    this.#isAsking = true;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const failed = new Set<string>();
    while (this.#waiting.size > 0) {
      const markets = [...this.#waiting].filter((market) => this.#options.isOpen(market));
      this.#waiting.clear();
      this.#changed.clear();
      await this.#askRound(markets, failed);
    }
    this.#isAsking = false;
    if (this.#abort.signal.aborted) return;
    for (const market of [...failed, ...this.#stopped]) this.#waiting.add(market);
    this.#planRound();
  }

  async #askRound(markets: readonly string[], failed: Set<string>): Promise<void> {
    const requests = [...this.#options.requests(this.#options.base, markets)];
    const askSome = async () => {
      for (let next = requests.shift(); next !== undefined; next = requests.shift()) {
        try {
          const answer = await askRest(next.url, {
            ...this.#options.rest,
            signal: this.#abort.signal,
          });
          this.#take(next.read(answer));
          this.#noteSuccess();
        } catch (error) {
          if (this.#abort.signal.aborted) return;
          for (const market of next.markets) failed.add(market);
          this.#noteFailure(error as Error, next.url);
        }
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, askSome));
  }

  #take(ticks: readonly StateTick[]): void {
    if (this.#abort.signal.aborted) return;
    const news = ticks.filter(({ kind, market }) => {
      return kind === 'result' || !this.#changed.has(market);
    });
    for (const tick of news) this.#follow(tick);
    this.#options.take(news);
  }

  /** What has stopped gets a result some time, and not every venue says so by itself. */
  #follow(tick: StateTick): void {
    const { market } = tick;
    if (tick.kind === 'closing') return;
    if (tick.kind !== 'status' || tick.status !== 'closed') this.#stopped.delete(market);
    else if (this.#options.isOpen(market)) {
      this.#stopped.add(market);
      if (this.#isAsking) return;
      this.#waiting.add(market);
      this.#planRound();
    }
  }

  #planRound(): void {
    if (this.#waiting.size === 0) return;
    this.#timer ??= setTimeout(() => this.ask([]), this.#options.againMs ?? AGAIN_MS);
  }

  /** @param url of the question */
  #noteFailure(error: Error, url: URL): void {
    const wasNone = this.#problem === null;
    this.#problem = error.message.replace(`${safeUrlOf(url)}: `, '');
    if (!wasNone) return;
    const rest = safeUrlOf(this.#options.base);
    this.#options.log.warn({ rest, reason: error.message }, 'missed results cannot be asked for');
  }

  #noteSuccess(): void {
    if (this.#problem === null) return;
    this.#problem = null;
    const rest = safeUrlOf(this.#options.base);
    this.#options.log.info({ rest }, 'missed results can be asked for again');
  }
}
