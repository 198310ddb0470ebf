/**
 * Values with their intervals on one scale. They are drawn from attributes, because the page's
 * policy allows no inline styles. Each row expresses its plot in words, and so does the axis of the
 * scale.
 */
import { placeOf, type Scale } from './interval-scale.ts';

const HEIGHT = 22;
const MIDDLE = HEIGHT / 2;
const END = 4;
const RADIUS = 4.5;
const AXIS_HEIGHT = 18;
const AXIS_TEXT = 12;

type Props = { scale: Scale; value: number; interval: { low: number; high: number } | null };

export function IntervalPlot({ scale, value, interval }: Props) {
  const at = `${placeOf(scale, value)}%`;
  return (
    <svg class="plot" width="100%" height={HEIGHT} aria-hidden="true">
      <Grid scale={scale} height={HEIGHT} />
      {interval !== null && <Range scale={scale} {...interval} />}
      <circle
        class={interval === null ? 'plot-alone' : 'plot-value'}
        cx={at}
        cy={MIDDLE}
        r={RADIUS}
      />
    </svg>
  );
}

function Range({ scale, low, high }: { scale: Scale; low: number; high: number }) {
  const [from, to] = [`${placeOf(scale, low)}%`, `${placeOf(scale, high)}%`];
  return (
    <g class="plot-range">
      <line x1={from} x2={to} y1={MIDDLE} y2={MIDDLE} />
      <line x1={from} x2={from} y1={MIDDLE - END} y2={MIDDLE + END} />
      <line x1={to} x2={to} y1={MIDDLE - END} y2={MIDDLE + END} />
    </g>
  );
}

function Grid({ scale, height }: { scale: Scale; height: number }) {
  return (
    <>
      {scale.ticks.map((tick) => {
        const at = `${placeOf(scale, tick)}%`;
        return (
          <line
            key={tick}
            class={tick === 0 ? 'plot-zero' : 'plot-grid'}
            x1={at}
            x2={at}
            y1={0}
            y2={height}
          />
        );
      })}
    </>
  );
}

/** @param textOf `0.25` of a tick */
export function IntervalAxis({ scale, textOf }: { scale: Scale; textOf(tick: number): string }) {
  return (
    <svg class="plot" width="100%" height={AXIS_HEIGHT} aria-hidden="true">
      {scale.ticks.map((tick) => (
        <text
          key={tick}
          class="plot-text"
          x={`${placeOf(scale, tick)}%`}
          y={AXIS_TEXT}
          text-anchor="middle"
        >
          {textOf(tick)}
        </text>
      ))}
    </svg>
  );
}
