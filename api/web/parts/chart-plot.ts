/** Draws a chart by uPlot, in the colors of the page. */
import uPlot from 'uplot';

export type ChartSeries = {
  name: string;
  color: 'accent' | 'gain' | 'loss' | 'muted';
  /** As many as times; null: there is no value, and the line has a gap. */
  values: readonly (number | null)[];
  /** A value holds until the next one. */
  isStepped?: boolean;
};
/** A stretch of time with another background. */
export type ChartShade = { fromMs: number; toMs: number; color: ChartSeries['color'] | 'warning' };
/** A moment with a value of its own: an own trade. */
export type ChartMark = { atMs: number; value: number; kind: 'buy' | 'sell' };
export type ChartData = {
  /** Rising. */
  timesMs: readonly number[];
  series: readonly ChartSeries[];
  /** Filled between two series, which it names. */
  band?: { upper: string; lower: string };
  shades?: readonly ChartShade[];
  marks?: readonly ChartMark[];
  /** The ends of the axis of values; left out: by the values. */
  range?: readonly [number, number];
  /** `43¢` */
  valueText(value: number): string;
};

export type Plot = {
  show(data: ChartData): void;
  /** Moves the cursor to a value. */
  point(index: number): void;
  end(): void;
};

const LINE_PX = 1.5;
const LETTER_PX = 12;
/** From one time to the next. */
const TIME_SPACE_PX = 76;
/** The width of the axis: of its longest text, and a space. */
const AXIS_PX_MIN = 60;
const DIGIT_PX = 7;
const AXIS_SPACE_PX = 16;
/** So narrow a shade can still be seen. */
const SHADE_PX_MIN = 2;
const SHADE_ALPHA = 0.22;
const MARK_PX = 5;
const BAND_ALPHA = 0.14;

/** @param onPoint the value under the cursor; null: there is none */
export function drawPlot(
  place: HTMLElement,
  first: ChartData,
  heightPx: number,
  onPoint: (index: number | null) => void,
): Plot {
  const dark = matchMedia('(prefers-color-scheme: dark)');
  let data = first;
  let plot = create();

  function create(): uPlot {
    const options = optionsOf(place, data, heightPx, onPoint);
    options.hooks!.drawClear = [(drawn) => drawShades(drawn, place, data.shades ?? [])];
    options.hooks!.draw = [(drawn) => drawMarks(drawn, place, data.marks ?? [])];
    return new uPlot(options, alignedOf(data), place);
  }
  function createAgain(): void {
    plot.destroy();
    plot = create();
  }
  const sizes = new ResizeObserver(() => {
    plot.setSize({ width: place.clientWidth, height: heightPx });
  });
  sizes.observe(place);
  dark.addEventListener('change', createAgain);
  return {
    show(next) {
      const isSame = shapeOf(next) === shapeOf(data);
      if (
        next.timesMs === data.timesMs &&
        next.series === data.series &&
        next.shades === data.shades &&
        next.marks === data.marks
      ) {
        return;
      }
      data = next;
      if (isSame) plot.setData(alignedOf(next));
      else createAgain();
    },
    point(index) {
      const left = plot.valToPos(plot.data[0][index]!, 'x');
      plot.setCursor({ left, top: heightPx / 2 });
    },
    end() {
      sizes.disconnect();
      dark.removeEventListener('change', createAgain);
      plot.destroy();
    },
  };
}

/** The parts of a plot that new data cannot change. */
function shapeOf({ series, band, range }: ChartData): string {
  const each = series.map(({ name, color, isStepped }) => `${name} ${color} ${isStepped}`);
  return [...each, band?.upper, band?.lower, ...(range ?? [])].join();
}

function alignedOf({ timesMs, series }: ChartData): uPlot.AlignedData {
  const seconds = timesMs.map((ms) => ms / 1000);
  return [seconds, ...series.map(({ values }) => [...values])];
}

function optionsOf(
  place: HTMLElement,
  { series, band, range, valueText }: ChartData,
  height: number,
  onPoint: (index: number | null) => void,
): uPlot.Options {
  const styles = getComputedStyle(place);
  const colorOf = (name: string) => resolved(place, `var(--${name})`);
  const axis = {
    stroke: colorOf('muted'),
    grid: { stroke: colorOf('rule'), width: 1 },
    ticks: { stroke: colorOf('rule'), width: 1 },
    font: `${LETTER_PX}px ${styles.fontFamily}`,
  };
  return {
    width: place.clientWidth,
    height,
    legend: { show: false },
    cursor: { y: false, points: { size: 6 } },
    scales: {
      x: { time: true },
      ...(range === undefined ? {} : { y: { range: [...range] as [number, number] } }),
    },
    ...(band === undefined ? {} : { bands: [bandOf(series, band, colorOf('accent'))] }),
    axes: [
      { ...axis, space: TIME_SPACE_PX, incrs: TIME_STEPS, values: TIME_VALUES },
      {
        ...axis,
        size: (_plot, texts) => axisPx(texts ?? []),
        values: (_plot, splits) => splits.map((value) => valueText(value)),
      },
    ],
    series: [
      {},
      ...series.map(({ name, color, isStepped = false }): uPlot.Series => {
        const steps = isStepped ? uPlot.paths.stepped?.({ align: 1 }) : undefined;
        return {
          label: name,
          stroke: colorOf(color),
          width: LINE_PX,
          spanGaps: false,
          points: { show: false },
          ...(steps === undefined ? {} : { paths: steps }),
        };
      }),
    ],
    hooks: { setCursor: [({ cursor }) => onPoint(cursor.idx ?? null)] },
  };
}

function axisPx(texts: readonly string[]): number {
  const longest = Math.max(0, ...texts.map(({ length }) => length));
  return Math.max(AXIS_PX_MIN, longest * DIGIT_PX + AXIS_SPACE_PX);
}

const [SECOND, MINUTE, HOUR, DAY] = [1, 60, 3600, 86_400];
/** From one time to the next, in seconds: of less than one the texts would be the same. */
const TIME_STEPS = [
  ...[1, 2, 5, 10, 15, 30].map((count) => count * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * MINUTE),
  ...[1, 2, 3, 4, 6, 8, 12].map((count) => count * HOUR),
  ...[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 15].map((count) => count * DAY),
  // As uPlot counts months and years.
  ...[1, 2, 3, 4, 6].map((count) => count * 30 * DAY),
  ...[1, 2, 5, 10, 25, 50, 100].map((count) => count * 365 * DAY),
];

/** By the distance of its splits in seconds; 24 hours, as everywhere on the page. */
const TIME_VALUES: uPlot.Axis.Values = [
  [31_536_000, '{YYYY}', null, null, null, null, null, null, 1],
  [86_400, '{D} {MMM}', '\n{YYYY}', null, null, null, null, null, 1],
  [60, '{HH}:{mm}', '\n{D} {MMM}', null, '\n{D} {MMM}', null, null, null, 1],
  [1, '{HH}:{mm}:{ss}', '\n{D} {MMM}', null, '\n{D} {MMM}', null, null, null, 1],
];

function bandOf(
  series: readonly ChartSeries[],
  { upper, lower }: NonNullable<ChartData['band']>,
  color: string,
): uPlot.Band {
  // The first of uPlot's series are the times.
  const numberOf = (name: string) => series.findIndex((one) => one.name === name) + 1;
  return { series: [numberOf(upper), numberOf(lower)], fill: seeThrough(color, BAND_ALPHA) };
}

function drawShades(plot: uPlot, place: HTMLElement, shades: readonly ChartShade[]): void {
  const { ctx, bbox } = plot;
  const right = bbox.left + bbox.width;
  const xOf = (ms: number) => {
    const x = plot.valToPos(ms / 1000, 'x', true);
    return Math.min(Math.max(x, bbox.left), right);
  };
  ctx.save();
  ctx.globalAlpha = SHADE_ALPHA;
  for (const { fromMs, toMs, color } of shades) {
    ctx.fillStyle = resolved(place, `var(--${color})`);
    const [from, to] = [xOf(fromMs), xOf(toMs)];
    ctx.fillRect(from, bbox.top, Math.max(to - from, SHADE_PX_MIN), bbox.height);
  }
  ctx.restore();
}

/** A triangle at each: upwards for a buy, downwards for a sale. */
function drawMarks(plot: uPlot, place: HTMLElement, marks: readonly ChartMark[]): void {
  const { ctx, bbox } = plot;
  const size = MARK_PX * devicePixelRatio;
  ctx.save();
  for (const { atMs, value, kind } of marks) {
    const x = plot.valToPos(atMs / 1000, 'x', true);
    if (x < bbox.left || x > bbox.left + bbox.width) continue;
    const y = plot.valToPos(value, 'y', true);
    const up = kind === 'buy' ? 1 : -1;
    ctx.beginPath();
    ctx.moveTo(x, y);
    ctx.lineTo(x - size, y + up * 1.8 * size);
    ctx.lineTo(x + size, y + up * 1.8 * size);
    ctx.closePath();
    ctx.fillStyle = resolved(place, 'var(--accent)');
    ctx.fill();
    ctx.lineWidth = devicePixelRatio;
    ctx.strokeStyle = resolved(place, 'var(--paper)');
    ctx.stroke();
  }
  ctx.restore();
}

/** `rgb(1, 2, 3)` with an alpha. */
function seeThrough(color: string, alpha: number): string {
  return color.replace('rgb(', 'rgba(').replace(')', `, ${alpha})`);
}

/** A color as the canvas takes it: without variables, of the scheme that is shown. */
function resolved(place: HTMLElement, color: string): string {
  const probe = document.createElement('span');
  probe.style.color = color;
  place.append(probe);
  const { color: found } = getComputedStyle(probe);
  probe.remove();
  return found;
}
