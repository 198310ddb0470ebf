/** Times without a known live price, and why. Rules H5, H24, H31 (api/RULES.md). */
import { invariant } from '../base/invariant.ts';
import type { EpochMs, MarketNumber } from '../base/units.ts';
import {
  GAP_MARKS,
  type GapReason,
  INTERVALS,
  type Interval,
  kindOf,
  LOSSES,
  MARKS,
  type MarkedReason,
  markNumber,
  ROWS,
  TRADES,
  UNKNOWN_MARKETS,
} from './kinds.ts';
import type { Series } from './series.ts';

export type Gap = { fromMs: EpochMs; toMs: EpochMs | null; reason: GapReason };

type Window = { fromMs: EpochMs; toMs: EpochMs };

type Store = { series(kind: number, market: MarketNumber): Series | undefined };

/**
 * The losses that count for candles of an interval: losses of these candles, and of the records
 * that they are made of.
 */
export const lostFor = (interval: Interval): readonly number[] => [
  ...[ROWS, TRADES, GAP_MARKS, LOSSES],
  ...INTERVALS.slice(0, INTERVALS.indexOf(interval) + 1).map(kindOf),
];

/**
 * The gaps of a market that overlap a window, oldest first; `toMs` null: still open. `kinds`: whose
 * losses count.
 */
export function* gapsOf(
  store: Store,
  market: MarketNumber,
  window: Window,
  kinds: readonly number[] = [ROWS, GAP_MARKS, LOSSES],
): Generator<Gap> {
  const lost = lossesOf(store, market, window, kinds);
  let next = 0;
  for (const gap of markedGaps(store.series(GAP_MARKS, market), window)) {
    for (; next < lost.length && lost[next]!.fromMs <= gap.fromMs; next++) yield lost[next]!;
    yield gap;
  }
  yield* lost.slice(next);
}

/** The gaps of lost records. They are few, and known in any order. */
function lossesOf(
  store: Store,
  market: MarketNumber,
  { fromMs, toMs }: Window,
  kinds: readonly number[],
): Gap[] {
  const gaps: Gap[] = [];
  const add = (series: Series | undefined, counts: (endMs: EpochMs) => boolean) => {
    for (const { columns, from, end } of series?.forward(0) ?? []) {
      const [, begins, ends, kind] = columns;
      for (let at = from; at < end; at++) {
        const gap = { fromMs: begins![at]!, toMs: ends![at]!, reason: 'damaged' } as const;
        const isWithin = gap.fromMs < toMs && (gap.toMs > fromMs || gap.fromMs >= fromMs);
        const isOfThem = kind![at] === 0 || kinds.includes(kind![at]! - 1);
        if (isWithin && isOfThem && counts(gap.toMs)) gaps.push(gap);
      }
    }
  };
  add(store.series(LOSSES, market), () => true);
  const firstMs = store.series(ROWS, market)?.firstMs ?? Number.POSITIVE_INFINITY;
  add(store.series(LOSSES, UNKNOWN_MARKETS), (endMs) => firstMs >= endMs);
  return joined(gaps.sort((a, b) => a.fromMs - b.fromMs));
}

/** Adjacent gaps become one. */
function joined(sorted: readonly Gap[]): Gap[] {
  const gaps: Gap[] = [];
  for (const gap of sorted) {
    const last = gaps.at(-1);
    if (last !== undefined && gap.fromMs <= last.toMs!) {
      last.toMs = Math.max(last.toMs!, gap.toMs!);
    } else gaps.push({ ...gap });
  }
  return gaps;
}

/** The gaps between marks. A gap of no length is in the window of its moment. Rule H31. */
function* markedGaps(marks: Series | undefined, { fromMs, toMs }: Window): Generator<Gap> {
  if (marks === undefined) return;
  const before = marks.before(fromMs);
  let open = before === null ? null : opened(before[0]!, before[1]!);
  for (const { columns, from, end } of marks.forward(fromMs)) {
    for (let at = from; at < end; at++) {
      const atMs = columns[0]![at]!;
      if (open !== null) {
        // A gap that ends as the window begins does not overlap it.
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
  return isGap ? { fromMs, reason: mark as MarkedReason } : null;
}
