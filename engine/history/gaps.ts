/** Times without a live price, and why. Rules H5, H31 (api/RULES.md). */
import { invariant } from '../rules/invariant.ts';
import type { EpochMs } from '../rules/units.ts';
import { type GapReason, MARKS, markNumber } from './kinds.ts';
import type { Series } from './series.ts';

export type Gap = { fromMs: EpochMs; toMs: EpochMs | null; reason: GapReason };

type Window = { fromMs: EpochMs; toMs: EpochMs };

/**
 * The gaps of a series of marks that overlap a window, oldest first; `toMs` null: still open. One of
 * no length overlaps the window that its moment is in. Rule H31 (api/RULES.md).
 */
export function* gapsIn(marks: Series | undefined, { fromMs, toMs }: Window): Generator<Gap> {
  if (marks === undefined) return;
  const before = marks.before(fromMs);
  let open = before === null ? null : opened(before[0]!, before[1]!);
  for (const { columns, from, end } of marks.forward(fromMs)) {
    for (let at = from; at < end; at++) {
      const atMs = columns[0]![at]!;
      if (open !== null) {
        // What ends as the window begins does not overlap it.
        if (atMs > fromMs || open.fromMs >= fromMs) yield { ...open, toMs: atMs };
        open = null;
      }
      if (atMs >= toMs) return;
      open = opened(atMs, columns[1]![at]!);
    }
  }
  if (open !== null && open.fromMs < toMs) yield { ...open, toMs: null };
}

/** The gap that a mark begins; null: it begins none. */
function opened(fromMs: EpochMs, number: number): Omit<Gap, 'toMs'> | null {
  const mark = MARKS[number];
  invariant(mark !== undefined, 'a mark is of no known kind');
  const isGap = number !== markNumber('live') && number !== markNumber('resolved');
  return isGap ? { fromMs, reason: mark as GapReason } : null;
}
