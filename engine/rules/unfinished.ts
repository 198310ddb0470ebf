/**
 * Markets with a result and trades to settle. They settle in slices, so that nobody else waits for
 * all of it; who is asked about settles first. The rows say what is left, so that a start goes on
 * with it. Rules S1, S15 (engine/RULES.md).
 */
import type { AccountRow, MarketNumber } from '../base/units.ts';

export class Unfinished {
  /** Home markets with a result, the oldest result first; markets with nothing left leave soon. */
  readonly markets = new Set<MarketNumber>();
  /** Accounts with nothing left on these markets, as far as is known. */
  readonly settledAccounts = new Set<AccountRow>();
  /** How many more orders and trades of these markets this batch may end. */
  left = Number.POSITIVE_INFINITY;
}
