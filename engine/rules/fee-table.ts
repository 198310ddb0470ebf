/**
 * The fee table that a shard charges by: the lines of the catalog in use, found by market. Rules
 * F20, F26 (feeds/FORMATS.md).
 */

import type { EpochMs, MarketNumber } from '../base/units.ts';
import { type FeeEntry, feeEntriesOf, feeEntryFor, NO_TABLE } from './fees.ts';
import type { Market } from './reference-data.ts';

export class FeeTable {
  readonly lines: readonly FeeEntry[];
  /** The lines that name a market, at any moment. */
  readonly #of = new Map<MarketNumber, readonly FeeEntry[]>();

  constructor(lines: readonly FeeEntry[]) {
    this.lines = lines;
  }

  /** The line that counts for a fill; without one, the usual taker's fee. */
  entryOf({ number, venue, ticker: venueMarketId }: Market, atMs: EpochMs): FeeEntry {
    let lines = this.#of.get(number);
    if (lines === undefined) {
      lines = feeEntriesOf(this.lines, { venue, venueMarketId });
      this.#of.set(number, lines);
    }
    return feeEntryFor(lines, { venue, venueMarketId, atMs }) ?? NO_TABLE;
  }
}
