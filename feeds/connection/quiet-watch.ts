/**
 * Whether an open connection still brings the venue's data. If it answers pings and has no market
 * data for long, it is asked for its books. The answer is compared with the kept books. Rule W87
 * (feeds/FORMATS.md).
 */
import type { BookTick, FrameReading, VenueTick } from '../reading/venue.ts';
import type { SocketTimers } from './socket-timers.ts';

/** The longest time between checks; a small bound shortens it. */
const LOOK_MS = 1000;

export type QuietOptions = {
  /** They belong to the socket and end with it. */
  timers: SocketTimers;
  /** Without market data for so long it is asked; 0: never. */
  quietMs: number;
  /** For the answer. */
  answerMs: number;
  /** The types of messages that answer. */
  wholeBooks: ReadonlySet<string>;
  /** Asks for the books of these markets. */
  ask(markets: readonly string[]): void;
  /** The venue has news that the connection does not bring, or brings nothing. */
  failed(reason: string): void;
};

export class QuietWatch {
  readonly #options: QuietOptions;
  /** The last shown top of markets with a price. */
  readonly #shown = new Map<string, BookTick>();
  /** Markets whose answer is awaited. */
  readonly #asked = new Set<string>();
  #deadline: NodeJS.Timeout | null = null;
  #heardMs = 0;

  constructor(options: QuietOptions) {
    this.#options = options;
  }

  /** The socket is open. */
  start(): void {
    const { quietMs, timers } = this.#options;
    if (quietMs === 0) return;
    this.#heardMs = performance.now();
    timers.every(Math.min(LOOK_MS, Math.max(1, quietMs / 4)), () => this.#look());
  }

  took({ type, ticks }: FrameReading): void {
    if (this.#options.quietMs === 0) return;
    for (const tick of ticks) this.#take(type, tick);
  }

  /** The socket has ended, and its timers with it. */
  ended(): void {
    this.#shown.clear();
    this.#asked.clear();
    this.#deadline = null;
  }

  #take(type: string, tick: VenueTick): void {
    if (tick.kind === 'trade' || tick.kind === 'book') this.#heardMs = performance.now();
    if (tick.kind === 'result') this.#forget(tick.market);
    if (tick.kind !== 'book') return;
    const { market } = tick;
    const before = this.#shown.get(market);
    if (tick.unknown || (tick.yesBid === null && tick.yesAsk === null)) this.#shown.delete(market);
    else this.#shown.set(market, tick);
    if (!this.#asked.has(market)) return;
    this.#answered(market);
    // A change is news: the connection brings it.
    if (!this.#options.wholeBooks.has(type) || before === undefined || isSame(before, tick)) return;
    this.#fail('the venue answered another book');
  }

  #forget(market: string): void {
    this.#shown.delete(market);
    this.#answered(market);
  }

  #answered(market: string): void {
    if (!this.#asked.delete(market) || this.#asked.size > 0 || this.#deadline === null) return;
    this.#options.timers.end(this.#deadline);
    this.#deadline = null;
  }

  #look(): void {
    const { quietMs, answerMs, timers, ask } = this.#options;
    if (this.#deadline !== null || this.#shown.size === 0) return;
    if (performance.now() - this.#heardMs < quietMs) return;
    const markets = [...this.#shown.keys()];
    for (const market of markets) this.#asked.add(market);
    this.#deadline = timers.after(answerMs, () => {
      this.#fail(`the venue answered nothing for ${answerMs} ms`);
    });
    ask(markets);
  }

  #fail(reason: string): void {
    this.#options.failed(`no market data for ${this.#options.quietMs} ms, and ${reason}`);
  }
}

function isSame(before: BookTick, now: BookTick): boolean {
  return (
    before.yesBid === now.yesBid &&
    before.yesAsk === now.yesAsk &&
    before.yesBidSize === now.yesBidSize &&
    before.yesAskSize === now.yesAskSize
  );
}
