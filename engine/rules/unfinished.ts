/**
 * Markets with a result and trades to settle, and a result that was corrected. Both go in slices, so
 * that nobody else waits for all of it; who is asked about goes first. The rows, and the facts, say
 * what is left, so that a start goes on with it. Rules S1, S15, S22 (engine/RULES.md).
 */
import type { AccountRow, EpochMs, MarketNumber } from '../base/units.ts';
import type { TradeCorrected } from './events.ts';
import type { MarketResult } from './messages.ts';

/** What a correction changes for a trade. */
export type TradeChange = Omit<TradeCorrected, 'kind' | 'atMs' | 'account' | 'correction'>;
/** The trades to correct, in the order in which they were settled, by account. */
export type CorrectionLeft = Map<AccountRow, TradeChange[]>;

export type UnfinishedCorrection = {
  market: MarketNumber;
  atMs: EpochMs;
  /** The result before it. */
  from: MarketResult;
  /** Null after a start, until it is needed: it is read from the log. */
  left: CorrectionLeft | null;
};

export class Unfinished {
  /** Home markets with a result, the oldest result first; markets with nothing left leave soon. */
  readonly markets = new Set<MarketNumber>();
  /** Older than each of `markets`: one begins when everything before it has settled. */
  correction: UnfinishedCorrection | null = null;
  /** Accounts with nothing left on these markets, as far as is known. */
  readonly settledAccounts = new Set<AccountRow>();
  /** How many more orders and trades of these markets this batch may end. */
  left = Number.POSITIVE_INFINITY;

  get isEmpty(): boolean {
    return this.markets.size === 0 && this.correction === null;
  }
}
