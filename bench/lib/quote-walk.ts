/** Quotes of one market as venues send them: the price rarely moves, a size often does. */

import type { EpochMs } from '../../engine/base/units.ts';
import { TickBatch } from '../../engine/history/tick-batch.ts';
import type { QuoteTick } from '../../engine/rules/messages.ts';
import { type Random, seededRandom } from './random.ts';

export class QuoteWalk {
  readonly #random: Random;
  readonly #everyMs: number;
  readonly #market: number;
  #atMs: EpochMs;
  #bid = 45;
  #bidSize = 900;
  #askSize = 700;

  constructor(seed: number, startMs: EpochMs, everyMs: number, market = 0) {
    this.#random = seededRandom(seed);
    this.#atMs = startMs;
    this.#everyMs = everyMs;
    this.#market = market;
  }

  next(): QuoteTick {
    const random = this.#random;
    this.#atMs += 1 + random.below(2 * this.#everyMs - 1);
    const roll = random.below(10);
    if (roll === 0) this.#bid = 10 + ((this.#bid - 10 + random.below(3) - 1 + 80) % 80);
    else if (roll < 6) this.#bidSize = this.#moved(this.#bidSize);
    else this.#askSize = this.#moved(this.#askSize);
    return {
      kind: 'quote',
      atMs: this.#atMs,
      source: 0,
      market: this.#market,
      yesBidCents: this.#bid,
      yesBidContracts: this.#bidSize,
      yesAskCents: this.#bid + 2,
      yesAskContracts: this.#askSize,
      crossed: false,
    };
  }

  /** By an order of up to a hundred contracts. */
  #moved(size: number): number {
    return 1 + ((size + this.#random.below(201) - 100 + 3000) % 3000);
  }
}

const batch = new TickBatch();

/** The next quotes, as the history's thread gets them. */
export function packedQuotes(walk: QuoteWalk, quotes: number): ArrayBuffer {
  for (let at = 0; at < quotes; at++) batch.add(walk.next());
  return batch.take();
}
