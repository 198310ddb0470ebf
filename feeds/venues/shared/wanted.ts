/**
 * Which markets a connection subscribed to. Frames of other markets must not cost memory. Rule B10
 * (feeds/FORMATS.md).
 */

import { refused } from '../../reading/frame.ts';
import type { FrameReading } from '../../reading/venue.ts';

const EVERY_MARKET = '*';

export class Wanted {
  readonly #everything: boolean;
  readonly #markets = new Set<string>();

  /** `everything`: every market is wanted, as in a recording. */
  constructor(everything: boolean) {
    this.#everything = everything;
  }

  add(markets: readonly string[]): void {
    for (const market of markets) this.#markets.add(market);
  }

  has(market: string): boolean {
    return this.#everything || this.#markets.has(market) || this.#markets.has(EVERY_MARKET);
  }

  remove(markets: readonly string[]): void {
    for (const market of markets) this.#markets.delete(market);
  }

  clear(): void {
    this.#markets.clear();
  }

  /** The reading, or a refusal if its market was not subscribed to. */
  kept(reading: FrameReading): FrameReading {
    for (const tick of reading.ticks) {
      if (tick.kind !== 'game' && !this.has(tick.market)) return unwanted(reading.type);
    }
    return reading;
  }
}

/** A frame of a market that was not subscribed to. */
export function unwanted(type: string): FrameReading {
  return refused(type, 'unwanted market');
}
