/** Quotes of a catalog's markets to a server, as an operator plays frames. */
import { setTimeout as sleep } from 'node:timers/promises';
import { seededRandom } from './random.ts';
import type { Served } from './server.ts';

export type QuoteFeedSizes = { instruments: number; quotesPerSecond: number };

const SLICE_MS = 50;

/** Native quotes through the operator's listener, in slices, at a rate. */
export class QuoteFeed {
  sent = 0;
  seconds = 0;
  readonly #server: Served;
  readonly #sizes: QuoteFeedSizes;
  readonly #random = seededRandom(7);
  #seq = 0;
  #running: Promise<void> | null = null;
  #isStopped = false;

  constructor(server: Served, sizes: QuoteFeedSizes) {
    this.#server = server;
    this.#sizes = sizes;
  }

  /** Every market, once. */
  async quoteAll(): Promise<void> {
    for (let from = 0; from < this.#sizes.instruments; from += 2000) {
      const markets = Array.from(
        { length: Math.min(2000, this.#sizes.instruments - from) },
        (_, at) => from + at,
      );
      await this.#post(markets);
    }
  }

  start(): void {
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    const { instruments, quotesPerSecond } = this.#sizes;
    const startedMs = performance.now();
    while (!this.#isStopped) {
      this.seconds = (performance.now() - startedMs) / 1000;
      const due = Math.floor(this.seconds * quotesPerSecond) - this.sent;
      const markets = Array.from({ length: Math.min(due, 2000) }, () =>
        this.#random.below(instruments),
      );
      if (markets.length > 0) await this.#post(markets);
      this.sent += markets.length;
      await sleep(SLICE_MS);
    }
  }

  async #post(markets: readonly number[]): Promise<void> {
    const at = new Date().toISOString();
    const lines = markets.map((market) => {
      this.#seq++;
      const yesBidCents = 20 + this.#random.below(40);
      const prices = { yesBidCents, yesBidContracts: 10, yesAskCents: yesBidCents + 3 };
      const frame = { type: 'quote', seq: this.#seq, market: `BENCH-${market}`, ...prices };
      const line = { at, venue: 'venue_a', adapter: 'native' };
      return JSON.stringify({ ...line, frame: { ...frame, yesAskContracts: 10 } });
    });
    const { adminUrl, adminToken } = this.#server;
    const headers = { authorization: `Bearer ${adminToken}` };
    const body = lines.join('\n');
    const answer = await fetch(`${adminUrl}/admin/playback`, { method: 'POST', headers, body });
    const text = await answer.text();
    if (answer.status !== 200) throw new Error(`quotes were refused: ${text}`);
    if (JSON.parse(text).ticks < markets.length) throw new Error(`quotes were not taken: ${text}`);
  }
}
