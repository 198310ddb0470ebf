/**
 * What intervals say about the order of a board: the range of a row's rank, and whether the row is
 * apart from the one above. Rules Y45, Y46 (engine/RULES.md).
 */
import { invariant } from '../../base/invariant.ts';
import { keysOf, sorted } from '../maths/radix.ts';
import { type Interval, IS_ASCENDING, type Metric } from '../maths/statistics.ts';

/** The intervals of a board's rows in its order; NaN in both: the row has none. */
export type Intervals = { lows: Float64Array; highs: Float64Array };

/** By row; 0 in both: the row has no interval. */
export type RankIntervals = { best: Uint32Array; worst: Uint32Array };

/**
 * `best` is 1 plus the rows entirely above. `worst` counts the rows that are not entirely below,
 * including the row itself. A row without an interval is entirely above or below no row.
 */
export function rankIntervals(metric: Metric, { lows, highs }: Intervals): RankIntervals {
  const rows = lows.length;
  invariant(highs.length === rows, 'a board has ends of intervals that do not match');
  const known = knownRows(lows);
  const byLow = byNumber(known, lows);
  const byHigh = byNumber(known, highs);
  const best = new Uint32Array(rows);
  const worst = new Uint32Array(rows);
  const [above, below] = IS_ASCENDING[metric] ? [best, worst] : [worst, best];
  // Rows whose interval ends before another begins, and the other way round.
  let ended = 0;
  for (const row of byLow) {
    while (highs[byHigh[ended]!]! < lows[row]!) ended++;
    above[row] = ended;
  }
  let begun = 0;
  for (const row of byHigh) {
    while (begun < byLow.length && lows[byLow[begun]!]! <= highs[row]!) begun++;
    below[row] = byLow.length - begun;
  }
  for (const row of known) {
    best[row] = 1 + best[row]!;
    worst[row] = rows - worst[row]!;
  }
  return { best, worst };
}

/** The rows with an interval. */
function knownRows(lows: Float64Array): Uint32Array<ArrayBuffer> {
  const known = new Uint32Array(lows.length);
  let count = 0;
  for (let row = 0; row < lows.length; row++) {
    if (!Number.isNaN(lows[row]!)) known[count++] = row;
  }
  return known.slice(0, count);
}

function byNumber(rows: Uint32Array<ArrayBuffer>, values: Float64Array): Uint32Array {
  const own = new Float64Array(rows.length);
  for (let at = 0; at < rows.length; at++) own[at] = values[rows[at]!]!;
  return sorted({ items: rows.slice(), keys: keysOf(own) }).items;
}

/** Whether two intervals have a value in common; null if one of them is not known. */
export function tiedWithAbove(above: Interval | null, own: Interval | null): boolean | null {
  if (above === null || own === null) return null;
  return above.low <= own.high && own.low <= above.high;
}
