/**
 * A chart over time: lines, or steps, with gaps where there is no value. uPlot draws it, and is
 * loaded with the first chart. Arrow keys move along it, and its values are read in words.
 */
import { useEffect, useRef, useState } from 'preact/hooks';
import { report } from '../state/problems.ts';
import type { ChartData, ChartShade, Plot } from './chart-plot.ts';

type Props = ChartData & {
  /** The shown data. */
  label: string;
  /** Its main message, in a sentence. */
  summary: string;
  heightPx?: number;
  /** `19:05` of a time in milliseconds. */
  timeText(atMs: number): string;
  /** The meaning of its shades, by their colors. */
  shadeKey?: readonly { color: ChartShade['color']; text: string }[];
};

const HEIGHT_PX = 240;
const STEPS: Readonly<Record<string, number>> = { ArrowLeft: -1, ArrowRight: 1 };

export function Chart({
  label,
  summary,
  heightPx = HEIGHT_PX,
  timeText,
  shadeKey = [],
  ...data
}: Props) {
  const { timesMs, series } = data;
  const [at, setAt] = useState<number | null>(null);
  const { place, plot } = usePlot(data, heightPx, setAt);
  const onKeyDown = (event: KeyboardEvent) => {
    const end = { Home: 0, End: timesMs.length - 1 }[event.key];
    const step = STEPS[event.key];
    if (end === undefined && step === undefined) return;
    event.preventDefault();
    const next = end ?? (at ?? timesMs.length - 1) + step!;
    plot.current?.point(Math.min(Math.max(next, 0), timesMs.length - 1));
  };
  const values = at === null ? null : valuesAt(data, at, timeText);
  return (
    <figure class="chart">
      <div
        ref={place}
        class="chart-place"
        role="img"
        aria-label={`${label}. ${summary} Arrow keys read its values.`}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it is read by keyboard
        tabIndex={0}
        onKeyDown={onKeyDown}
        style={{ height: `${heightPx}px` }}
      />
      <figcaption>
        <ChartKey series={series} shadeKey={shadeKey} />
        {/* A value that the user asks for is read aloud, and not each new price. */}
        <p class="chart-values">
          <span aria-live="polite">{values}</span>
          {values === null && summary}
        </p>
      </figcaption>
    </figure>
  );
}

/** Draws it for as long as the component is there. @param onPoint as of `drawPlot` */
function usePlot(data: ChartData, heightPx: number, onPoint: (index: number | null) => void) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<Plot | null>(null);
  const latest = useRef(data);
  latest.current = data;

  useEffect(() => {
    const element = place.current!;
    let isGone = false;
    import('./chart-plot.ts').then(({ drawPlot }) => {
      // An element is removed a moment before the effects of its component end.
      if (isGone || !element.isConnected) return;
      plot.current = drawPlot(element, latest.current, heightPx, onPoint);
    }, report);
    return () => {
      isGone = true;
      plot.current?.end();
      plot.current = null;
    };
  }, [heightPx]);
  useEffect(() => plot.current?.show(data));
  return { place, plot };
}

function ChartKey({ series, shadeKey }: Required<Pick<Props, 'series' | 'shadeKey'>>) {
  return (
    <ul class="chart-key">
      {series.map(({ name, color }) => (
        <li key={name} class={`key-${color}`}>
          {name}
        </li>
      ))}
      {shadeKey.map(({ color, text }) => (
        <li key={text} class={`key-${color} is-shade`}>
          {text}
        </li>
      ))}
    </ul>
  );
}

/** `19:05: Bid 43¢, Ask none`; null: the data has changed since. */
function valuesAt(
  { timesMs, series, valueText }: ChartData,
  at: number,
  timeText: Props['timeText'],
): string | null {
  const atMs = timesMs[at];
  if (atMs === undefined) return null;
  const each = series.map(({ name, values }) => {
    const value = values[at] ?? null;
    return `${name} ${value === null ? 'none' : valueText(value)}`;
  });
  return `${timeText(atMs)}: ${each.join(', ')}`;
}
