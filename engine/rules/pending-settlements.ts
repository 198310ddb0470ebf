/**
 * Markets with a result and trades to settle, and a result that was corrected. Both are settled in
 * slices, so that no caller waits for all of it. Accounts that are asked about are settled first.
 * The rows and the facts show what is left, so a start can continue. Rules S1, S15, S22
 * (engine/RULES.md).
 */
import type { AccountRow, EpochMs, MarketNumber, Uuid } from '../base/units.ts';
import type { FactPlace } from './facts.ts';
import type { SettledFact, SoldParts } from './finished-records.ts';
import type { MarketResult } from './messages.ts';

/** The trades to correct. */
export type CorrectionLeft = {
  /** In the order in which they were settled. */
  readonly byAccount: Map<AccountRow, SettledFact[]>;
  /** Where the first of them was settled. */
  readonly firstRecord: number;
  /** The parts of trades that were sold before, for accounts that were asked about. */
  readonly sold: Map<AccountRow, ReadonlyMap<Uuid, SoldParts>>;
  /** The last reset of each account since; null: it was not asked. */
  resets: ReadonlyMap<Uuid, FactPlace> | null;
  /** Some of them may be corrected already. */
  readonly isResumed: boolean;
};

export type PendingCorrection = {
  market: MarketNumber;
  atMs: EpochMs;
  /** The result before it. */
  from: MarketResult;
  /** Null after a start, until it is needed: it is read from the log. */
  left: CorrectionLeft | null;
};

export class PendingSettlements {
  /**
   * Home markets with a result, the oldest result first. Markets with nothing left are removed
   * soon.
   */
  readonly markets = new Set<MarketNumber>();
  /** Older than each of `markets`: a correction begins when everything before it has settled. */
  correction: PendingCorrection | null = null;
  /** Accounts that are known to have nothing left on these markets. */
  readonly settledAccounts = new Set<AccountRow>();
  /** How many more orders and trades of these markets this batch may end. */
  left = Number.POSITIVE_INFINITY;

  get isEmpty(): boolean {
    return this.markets.size === 0 && this.correction === null;
  }
}
