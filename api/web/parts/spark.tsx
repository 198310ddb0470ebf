/** The last day of a market in little room: its line, and its change. Rule U37 (api/RULES.md). */
import { cents } from '../state/format.ts';
import { changeOf, type MarketDay, sparkPoints } from '../state/market-day.ts';

type Props = { day: MarketDay; nowCents: number | null };

const SIZE = { width: 64, height: 18 };

/** Drawn from attributes, because the page's policy allows no inline styles. */
export function Spark({ day, nowCents }: Props) {
  const points = sparkPoints(day, nowCents, SIZE);
  if (points === '') return null;
  return (
    <svg class={`spark ${changeClass(changeOf(day, nowCents))}`} {...SIZE} aria-hidden="true">
      <polyline points={points} />
    </svg>
  );
}

export function Change({ day, nowCents }: Props) {
  const change = changeOf(day, nowCents);
  if (change === null) return null;
  const sign = change > 0 ? '▲' : change < 0 ? '▼' : '';
  return (
    <span class={`change ${changeClass(change)}`} title="In the last 24 hours">
      <span aria-hidden="true">{sign}</span>
      <span class="sr">{change > 0 ? 'up' : change < 0 ? 'down' : 'changed by'}</span>{' '}
      {cents(Math.abs(change))}
    </span>
  );
}

function changeClass(change: number | null): string {
  if (change === null || change === 0) return '';
  return change > 0 ? 'is-gain' : 'is-loss';
}
