/**
 * What is decided and not yet carried out: markets with a result and trades to settle, accounts
 * whose reset has trades to close. Each goes on in slices, so that nobody else waits for all of it.
 * The rows say what is left, so that a start finds it again. Rules S1, M33 (engine/RULES.md).
 */
import type { AccountRow, MarketNumber } from './units.ts';

export class Unfinished {
  /** Home markets with a result, the oldest result first; those with nothing left leave it soon. */
  readonly markets = new Set<MarketNumber>();
  readonly accounts = new Set<AccountRow>();
  /** How many more orders and trades this batch may end for them. */
  left = Number.POSITIVE_INFINITY;

  get isEmpty(): boolean {
    return this.markets.size === 0 && this.accounts.size === 0;
  }
}
