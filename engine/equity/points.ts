/**
 * Which moments of an account are shown, and its money at each of them. Rules A93, A94
 * (api/RULES.md).
 */
import { invariant } from '../base/invariant.ts';
import { lowerBound } from '../base/sorted.ts';
import type { Cents, Contracts, EpochMs } from '../base/units.ts';
import { type EquityFold, type HeldSide, MONEY, type Money } from './fold.ts';

/** The point of now is one of them. */
export const POINTS_MAX = 500;
/** Between changes there are no points closer together. */
const BETWEEN_MS = 60_000;
/** The most marks, each of one side at one point. With more sides there are fewer points. */
const MARKS_MAX = 100_000;

export type EquityWindow = {
  fromMs: EpochMs;
  /** All points are earlier. */
  nowMs: EpochMs;
  /**
   * Whether positions are marked. If so, there are points between changes, because prices move
   * there.
   */
  isMarked: boolean;
};

/**
 * Points in order of time, in cents, and the sides of markets that were held at some of them. There
 * are no sides if positions are not marked.
 */
export type EquityPoints = { atMs: EpochMs[]; money: Money; held: HeldAt[] };
/**
 * A side of a market: at these points, by number, the account held so many contracts at that cost.
 */
export type HeldAt = HeldSide & { point: number[]; contracts: Contracts[]; cents: Cents[] };

/** A moment, and the row of the fold that it shows. */
type Moment = { atMs: EpochMs; row: number };

export function equityPoints(fold: EquityFold, window: EquityWindow): EquityPoints {
  const moments = momentsOf(fold, window);
  invariant(moments.length < POINTS_MAX, 'there are more points than the answer may have');
  const money = Object.fromEntries(
    MONEY.map((column) => [column, moments.map(({ row }) => fold.money[column][row]!)]),
  ) as Money;
  const held = window.isMarked ? heldAt(fold, moments) : [];
  return { atMs: moments.map(({ atMs }) => atMs), money, held };
}

/** The changes of the window, evenly chosen. If they are few, moments between them are added. */
function momentsOf(fold: EquityFold, { fromMs, nowMs, isMarked }: EquityWindow): Moment[] {
  const { atMs } = fold;
  const end = lowerBound(atMs, nowMs);
  const begin = Math.min(end, lowerBound(atMs, fromMs));
  // The money at the beginning of the window, if no change begins it.
  const isCarried = begin > 0 && fromMs < nowMs && atMs[begin] !== fromMs;
  const first = isCarried ? begin - 1 : begin;
  const momentAt = (row: number): Moment => ({ atMs: Math.max(fromMs, atMs[row]!), row });
  const most = isMarked ? pointsWithMarks(fold.sides, first, end) : POINTS_MAX - 1;
  const count = end - first;
  if (count > most) {
    // The last of all points is now.
    const step = count / most;
    return Array.from({ length: most }, (_, point) => momentAt(first + Math.round(point * step)));
  }
  const changes = Array.from({ length: count }, (_, index) => momentAt(first + index));
  if (!isMarked || count === 0) return changes;
  const taken = new Set(changes.map((moment) => moment.atMs));
  const between = evenMoments(changes[0]!.atMs, nowMs, most - count)
    .map((at) => ({ atMs: at, row: lowerBound(atMs, at + 1) - 1 }))
    .filter(({ atMs: at, row }) => !taken.has(at) && fold.sides[row]! > 0);
  return [...changes, ...between].sort((a, b) => a.atMs - b.atMs);
}

/** How many points before now may be marked. */
function pointsWithMarks(sides: readonly number[], first: number, end: number): number {
  let most = 1;
  for (let row = first; row < end; row++) most = Math.max(most, sides[row]!);
  return Math.max(1, Math.min(POINTS_MAX - 1, Math.floor(MARKS_MAX / most)));
}

/** At most so many, evenly between two others, a minute apart at least. */
function evenMoments(fromMs: EpochMs, toMs: EpochMs, most: number): EpochMs[] {
  const count = Math.max(0, Math.min(most, Math.floor((toMs - fromMs) / BETWEEN_MS) - 1));
  const stepMs = (toMs - fromMs) / (count + 1);
  return Array.from({ length: count }, (_, index) => Math.floor(fromMs + (index + 1) * stepMs));
}

/** The holdings of each moment, from the changes before it. */
function heldAt({ changes, holdings }: EquityFold, moments: readonly Moment[]): HeldAt[] {
  const held = holdings.map(({ market, side }): HeldAt => {
    return { market, side, point: [], contracts: [], cents: [] };
  });
  /** The last change of each holding that is not empty. */
  const open = new Map<number, number>();
  let next = 0;
  for (const [point, { row }] of moments.entries()) {
    for (; next < changes.row.length && changes.row[next]! <= row; next++) {
      const holding = changes.holding[next]!;
      if (changes.contracts[next] === 0) open.delete(holding);
      else open.set(holding, next);
    }
    for (const [holding, change] of open) {
      const to = held[holding]!;
      to.point.push(point);
      to.contracts.push(changes.contracts[change]!);
      to.cents.push(changes.cents[change]!);
    }
  }
  return held.filter(({ point }) => point.length > 0);
}
