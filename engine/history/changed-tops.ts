/**
 * The ticks that a history needs. Of a quote it needs the top, and only if the top has changed. A
 * quote with the market's last top shows that its connection lives, once a millisecond. Rules H2,
 * H4 (api/RULES.md).
 */

import type { EpochMs, MarketNumber, SourceNumber } from '../base/units.ts';
import type { QuoteTick, Tick } from '../rules/messages.ts';
import { headOf, NO_HEAD, sourceOf, type TickBatch } from './tick-batch.ts';

/** The first word of a quote, and both sizes. */
const TOP_WORDS = 3;
/** A market with a higher number has no last top here, so each of its quotes is passed on. */
const MARKETS_MAX = 2 ** 20;

export class ChangedTops {
  readonly #batch: TickBatch;
  /**
   * The last top of each market, in words. Most quotes repeat a top, so they read little memory.
   */
  #tops = new Int32Array(1024 * TOP_WORDS).fill(NO_HEAD);
  /** The time of the last tick that was passed on, by connection. */
  readonly #heardMs: EpochMs[] = [];

  /** `batch` takes the ticks that are passed on. */
  constructor(batch: TickBatch) {
    this.#batch = batch;
  }

  /** Adds the tick to the batch, as far as it is new. */
  take(tick: Tick): void {
    if (tick.kind === 'quote') return this.#quote(tick);
    if (tick.kind === 'down') this.#forgetThoseOf(tick.source);
    if (tick.kind !== 'time') this.#heardMs[tick.source] = tick.atMs;
    this.#batch.add(tick);
  }

  /** Nothing that was passed on is known to have arrived. */
  forget(): void {
    this.#tops.fill(NO_HEAD);
    this.#heardMs.length = 0;
  }

  #quote(tick: QuoteTick): void {
    const { source, atMs, yesBidContracts, yesAskContracts } = tick;
    const head = headOf(tick);
    const at = this.#placeOf(tick.market);
    const tops = this.#tops;
    const isKnown =
      head !== NO_HEAD &&
      tops[at] === head &&
      tops[at + 1] === yesBidContracts &&
      tops[at + 2] === yesAskContracts;
    const isHeard = this.#heardMs[source] === atMs;
    this.#heardMs[source] = atMs;
    if (isKnown) {
      if (!isHeard) this.#batch.addHeartbeat(source, atMs);
      return;
    }
    tops[at] = head;
    tops[at + 1] = yesBidContracts;
    tops[at + 2] = yesAskContracts;
    this.#batch.addQuote(tick, head);
  }

  /** Where a market's top is, or would be. */
  #placeOf(market: MarketNumber): number {
    const at = market * TOP_WORDS;
    if (at < this.#tops.length || market >= MARKETS_MAX) return at;
    const grown = new Int32Array(2 ** Math.ceil(Math.log2(market + 1)) * TOP_WORDS).fill(NO_HEAD);
    grown.set(this.#tops);
    this.#tops = grown;
    return at;
  }

  #forgetThoseOf(source: SourceNumber): void {
    const tops = this.#tops;
    for (let at = 0; at < tops.length; at += TOP_WORDS) {
      if (tops[at] !== NO_HEAD && sourceOf(tops[at]!) === source) tops[at] = NO_HEAD;
    }
  }
}
