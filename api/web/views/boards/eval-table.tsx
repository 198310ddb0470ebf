/** The rows of the board of evaluation. A narrow screen shows each in three lines. */
import type { EvalRow } from '../../../client/generated.js';
import { money, whole } from '../../state/format.ts';
import {
  decimal,
  intervalText,
  type Metric,
  scoreText,
  skillText,
} from '../../state/score-text.ts';
import { METRICS, rankText, sentence, tieText } from './board-words.ts';
import { IntervalAxis, IntervalPlot } from './interval-plot.tsx';
import { type Scale, scaleOf } from './interval-scale.ts';
import { TraderLink } from './trader-link.tsx';

export function EvalTable({ rows, metric }: { rows: readonly EvalRow[]; metric: Metric }) {
  const scale = scaleOf(rows);
  return (
    <table class="table eval">
      <caption class="sr">Evaluation</caption>
      <thead>
        <tr>
          <th scope="col" class="is-number">
            Rank
          </th>
          <th scope="col">Trader</th>
          <th scope="col" class="is-number">
            {METRICS.find(({ value }) => value === metric)!.text}
          </th>
          <th scope="col" class="eval-plot">
            Interval of 95%
            <IntervalAxis scale={scale} textOf={(tick) => tickText(metric, scale, tick)} />
          </th>
          <th scope="col" class="is-number">
            Skill
          </th>
          <th scope="col" class="is-number">
            Picks
          </th>
          <th scope="col" class="is-number">
            Games
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <Row key={row.traderId} row={row} metric={metric} scale={scale} />
        ))}
      </tbody>
    </table>
  );
}

function Row({ row, metric, scale }: { row: EvalRow; metric: Metric; scale: Scale }) {
  const { rank, value, interval, intervalNote, skill, picks, games } = row;
  return (
    <tr>
      <td class="is-number eval-rank">
        {rank}
        <span class="second-line">
          <span class="sr">, or by the intervals: </span>
          {rankText(row)}
        </span>
      </td>
      <th scope="row" class="eval-trader">
        <TraderLink {...row} />
        <span class="second-line">{tieText(row)}</span>
      </th>
      <td class="is-number eval-value">{scoreText(metric, value)}</td>
      <td class="eval-plot">
        <IntervalPlot scale={scale} value={value} interval={interval} />
        <span class="second-line">
          {interval === null ? sentence(intervalNote ?? '') : intervalText(metric, interval)}
        </span>
      </td>
      <td class="is-number eval-more">
        <span class="eval-name">Skill </span>
        {skill === null ? 'none' : skillText(skill)}
      </td>
      <td class="is-number eval-more">
        <span class="eval-name">Picks </span>
        {whole(picks)}
      </td>
      <td class="is-number eval-more">
        <span class="eval-name">Games </span>
        {whole(games)}
      </td>
    </tr>
  );
}

/** `0.25`, `−5¢`, `$20.00`, as short as the ticks can be told apart. */
function tickText(metric: Metric, { decimals }: Scale, tick: number): string {
  if (metric === 'pnl') return decimals === 0 ? money(tick).replace(/\.00$/, '') : money(tick);
  const text = decimal(tick, decimals);
  return metric === 'clv' ? `${text}¢` : text;
}
