/**
 * What intervals say of the order of a board: where a row may stand, and whether it is apart from
 * the one above. Rules Y45, Y46 (engine/RULES.md).
 */
import { invariant } from '../rules/invariant.ts';
import type { Interval, Metric } from './statistics.ts';

/** Whether the least value comes first. Rule Y44 (engine/RULES.md). */
export const IS_ASCENDING: Readonly<Record<Metric, boolean>> = {
  brier: true,
  log_loss: true,
  clv: false,
  pnl: false,
};

/** The intervals of a board's rows in its order; NaN in both: the row has none. */
export type Intervals = { lows: Float64Array; highs: Float64Array };

/** By row; 0 in both: the row has no interval. */
export type RankIntervals = { best: Uint32Array; worst: Uint32Array };

/**
 * `best` is 1 and the rows wholly above, `worst` the rows not wholly below, the row itself among
 * them. A row without an interval is wholly above or below of none. O(n log n).
 */
export function rankIntervals(metric: Metric, { lows, highs }: Intervals): RankIntervals {
  const rows = lows.length;
  invariant(highs.length === rows, 'a board has ends of intervals that do not match');
  // NaN sorts behind every number.
  const sortedLows = lows.slice().sort();
  const sortedHighs = highs.slice().sort();
  const known = firstAt(sortedLows, (value) => Number.isNaN(value));
  const best = new Uint32Array(rows);
  const worst = new Uint32Array(rows);
  for (let row = 0; row < rows; row++) {
    const low = lows[row]!;
    const high = highs[row]!;
    if (Number.isNaN(low)) continue;
    const less = firstAt(sortedHighs, (value) => !(value < low));
    const more =
      known -
      Math.min(
        known,
        firstAt(sortedLows, (value) => !(value <= high)),
      );
    const [above, below] = IS_ASCENDING[metric] ? [less, more] : [more, less];
    best[row] = 1 + above;
    worst[row] = rows - below;
  }
  return { best, worst };
}

/** Whether two intervals have a value in common; null where one of them is not known. */
export function tiedWithAbove(above: Interval | null, own: Interval | null): boolean | null {
  if (above === null || own === null) return null;
  return above.low <= own.high && own.low <= above.high;
}

/** The first index whose value matches, where all behind it match too. */
function firstAt(sorted: Float64Array, matches: (value: number) => boolean): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (matches(sorted[middle]!)) high = middle;
    else low = middle + 1;
  }
  return low;
}
