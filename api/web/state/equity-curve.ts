/** Net worth over time as lines: one for the present run, one for earlier runs. */
import type { Equity, EquityPoint } from '../../client/generated.js';
import { counted, money, signedMoney } from './format.ts';

export type EquityWindow = '1d' | '7d' | '30d' | 'all';
export const EQUITY_WINDOWS: readonly { name: EquityWindow; text: string; words: string }[] = [
  { name: '1d', text: '1 day', words: 'the last day' },
  { name: '7d', text: '7 days', words: 'the last 7 days' },
  { name: '30d', text: '30 days', words: 'the last 30 days' },
  { name: 'all', text: 'All', words: 'all time' },
];

type Line = { name: string; color: 'accent' | 'muted'; values: readonly (number | null)[] };
export type EquityCurve = {
  timesMs: readonly number[];
  lines: readonly Line[];
  /** The runs that begin within it; the first one only if it is at the beginning. */
  runs: readonly { run: number; at: string }[];
  /** Its main message, in a sentence. */
  summary: string;
};

/** @param points at least one */
export function equityCurve(
  { points, run: present }: Pick<Equity, 'points' | 'run'>,
  window: EquityWindow,
): EquityCurve {
  const timesMs: number[] = [];
  const now: (number | null)[] = [];
  const former: (number | null)[] = [];
  const runs: { run: number; at: string }[] = [];
  for (const [index, point] of points.entries()) {
    const atMs = Date.parse(point.at);
    const before = points[index - 1];
    if (before !== undefined && before.run !== point.run) {
      runs.push({ run: point.run, at: point.at });
      // No line leads from one run to the next.
      timesMs.push((Date.parse(before.at) + atMs) / 2);
      now.push(null);
      former.push(null);
    }
    timesMs.push(atMs);
    now.push(point.run === present ? point.netWorthDollars : null);
    former.push(point.run === present ? null : point.netWorthDollars);
  }
  const lines: Line[] = [{ name: nameOf(present), color: 'accent', values: now }];
  if (former.some((one) => one !== null)) {
    lines.push({ name: 'Former runs', color: 'muted', values: former });
  }
  return { timesMs, lines, runs, summary: summaryOf(points, runs.length, window) };
}

function nameOf(run: number | null): string {
  return run === null || run === 1 ? 'Net worth' : `Net worth, run ${run}`;
}

function summaryOf(points: readonly EquityPoint[], resets: number, window: EquityWindow): string {
  const words = EQUITY_WINDOWS.find(({ name }) => name === window)!.words;
  const all = points.map(({ netWorthDollars }) => netWorthDollars);
  const [first] = all as [number];
  const last = all.at(-1)!;
  const cents = Math.round((last - first) * 100);
  const course =
    resets > 0
      ? `Net worth is ${money(last)}, after ${counted(resets, 'reset')} in ${words}`
      : `Net worth went from ${money(first)} to ${money(last)} (${signedMoney(cents / 100)}) in ${words}`;
  return `${course}. Lowest ${money(Math.min(...all))}, highest ${money(Math.max(...all))}.`;
}
