/** The board of evaluation: means of scores with their intervals. */
import { useEffect } from 'preact/hooks';
import { SelectField } from '../../parts/field.tsx';
import { Loading, Skeleton } from '../../parts/loading.tsx';
import { MoreButton } from '../../parts/more-button.tsx';
import { Empty } from '../../parts/notice.tsx';
import { evalBoard } from '../../state/boards.ts';
import type { Metric } from '../../state/score-text.ts';
import { BoardState } from './board-state.tsx';
import { METRICS } from './board-words.ts';
import { EvalTable } from './eval-table.tsx';
import { type Counted, FillsField, FillsHint, WindowField } from './window-field.tsx';

type Props = Counted & {
  metric: Metric;
  onMetric(metric: Metric): void;
};

export function EvalTab({ window, fills, metric, onWindow, onFills, onMetric }: Props) {
  const load = () => void evalBoard.load(window, metric, fills);
  useEffect(() => {
    load();
    return () => evalBoard.clear();
  }, [window, metric, fills]);
  return (
    <div class="board">
      <div class="board-filters">
        <SelectField label="Metric" value={metric} options={METRICS} onPick={onMetric} />
        <WindowField window={window} onPick={onWindow} />
        <FillsField fills={fills} onPick={onFills} />
      </div>
      <p class="hint">{METRICS.find(({ value }) => value === metric)!.meaning}</p>
      <FillsHint fills={fills} />
      <HowToRead />
      <Loading
        of={evalBoard.now.value}
        skeleton={<Skeleton lines={10} of="the board" />}
        again={load}
      >
        {({ rows, nextCursor, asOf, metric: shown }) => (
          <>
            <BoardState asOf={asOf} onRefresh={load} />
            {rows.length === 0 ? (
              <Empty>
                Nobody is on this board. Public traders come here with a pick of which the metric is
                known. The pick is the first on its market, placed before the game, with an outcome.
              </Empty>
            ) : (
              <EvalTable rows={rows} metric={shown} />
            )}
            {nextCursor !== null && (
              <MoreButton
                what="more traders"
                isComing={evalBoard.isMoreComing.value}
                onMore={() => void evalBoard.more()}
              />
            )}
          </>
        )}
      </Loading>
    </div>
  );
}

function HowToRead() {
  return (
    <details class="hint">
      <summary>How to read this board</summary>
      <ul>
        <li>
          The interval is the 95% interval of the mean. Picks of one game form one cluster, since
          they win and lose together.
        </li>
        <li>
          Below each rank are the best and the worst rank that the intervals allow. If two intervals
          overlap, the order of the two may be chance.
        </li>
        <li>
          If most picks are on a few games, the effective games are fewer. Below 10 effective games
          there is no interval. Profit or loss needs 50.
        </li>
        <li>
          Skill is the Brier score of the prices paid less the trader’s Brier score. It counts picks
          with a stated probability. Above 0 the trader knew more than the market.
        </li>
      </ul>
    </details>
  );
}
