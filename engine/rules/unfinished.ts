/**
 * Markets with a result and trades to settle. The rows say what is left, so that a start finds it
 * again. Rule S1 (engine/RULES.md).
 */
import type { MarketNumber } from './units.ts';

export class Unfinished {
  /** Home markets with a result, the oldest result first; those with nothing left leave it soon. */
  readonly markets = new Set<MarketNumber>();
  /** How many more orders and trades of these markets this batch may end. */
  left = Number.POSITIVE_INFINITY;
}
