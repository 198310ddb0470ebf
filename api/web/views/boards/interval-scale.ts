/** The one scale of all interval plots of a board. Places are in percent of its width. */

type Plotted = { value: number; interval: { low: number; high: number } | null };

export type Scale = {
  low: number;
  high: number;
  /** From `low` to `high`, zero among them. */
  ticks: readonly number[];
  /** How many decimals tell the ticks apart. */
  decimals: number;
};

const TICKS_ABOUT = 4;
const STEPS = [1, 2, 2.5, 5, 10];
/** So drawings at an end are not cut off. */
const MARGIN_PCT = 4;

/** Everything of the rows lies on it, and zero, with which a value is compared. */
export function scaleOf(rows: readonly Plotted[]): Scale {
  const all = rows.flatMap(({ value, interval }) =>
    interval === null ? [value] : [value, interval.low, interval.high],
  );
  const least = Math.min(0, ...all);
  const most = Math.max(0, ...all);
  const step = stepOf(most - least);
  const from = Math.floor(least / step);
  const to = Math.max(from + 1, Math.ceil(most / step));
  const ticks = Array.from({ length: to - from + 1 }, (_, at) => (from + at) * step);
  return { low: from * step, high: to * step, ticks, decimals: decimalsOf(step) };
}

/** Where a value of the scale is. */
export function placeOf({ low, high }: Scale, value: number): number {
  const share = (value - low) / (high - low);
  return round(MARGIN_PCT + share * (100 - 2 * MARGIN_PCT));
}

/** A round number, of which the range has a few. */
function stepOf(range: number): number {
  if (range === 0) return 1;
  const rough = range / TICKS_ABOUT;
  const power = 10 ** Math.floor(Math.log10(rough));
  return STEPS.find((step) => step * power >= rough * (1 - 1e-9))! * power;
}

function decimalsOf(step: number): number {
  for (let decimals = 0; decimals < 10; decimals++) {
    const shown = step * 10 ** decimals;
    if (Math.abs(shown - Math.round(shown)) < 1e-6) return decimals;
  }
  return 10;
}

function round(percent: number): number {
  return Math.round(percent * 100) / 100;
}
