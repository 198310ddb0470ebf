/** The own settled picks with their scores, and which of them count. */

import { useEffect, useState } from 'preact/hooks';
import type { EvalPick, OwnEval } from '../../../client/generated.js';
import { Loading, Skeleton } from '../../parts/loading.tsx';
import { Money } from '../../parts/money.tsx';
import { MoreButton } from '../../parts/more-button.tsx';
import { InstrumentLabel } from '../../parts/name.tsx';
import { Empty, Notice } from '../../parts/notice.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { When } from '../../parts/when.tsx';
import { needTradeLabels, ownEval, tradeLabels } from '../../state/boards.ts';
import { whole } from '../../state/format.ts';
import { scoreText } from '../../state/score-text.ts';
import { sentence, slateReason } from './board-words.ts';
import { type Counted, FillsField, FillsHint, WindowField } from './window-field.tsx';

const PAGE_ROWS = 50;

export function OwnEvalTab({ window, fills, onWindow, onFills }: Counted) {
  const load = () => void ownEval.load(window, fills);
  useEffect(() => {
    load();
    return () => ownEval.clear();
  }, [window, fills]);
  return (
    <div class="board">
      <div class="board-filters">
        <WindowField window={window} onPick={onWindow} />
        <FillsField fills={fills} onPick={onFills} />
      </div>
      <FillsHint fills={fills} />
      <p class="hint">
        This list has your picks that ended in the window, also picks placed while private. The
        means on the board count only the slate. On each market, this is your first pick that was
        placed before the game and has an outcome.
      </p>
      <Loading
        of={ownEval.now.value}
        skeleton={<Skeleton lines={10} of="your picks" />}
        again={load}
      >
        {(answer) => <Picks {...answer} />}
      </Loading>
    </div>
  );
}

function Picks({ picks, notes }: OwnEval) {
  const [shown, setShown] = useState(PAGE_ROWS);
  const rows = picks.slice(0, shown);
  useEffect(() => void needTradeLabels(rows), [picks, shown]);
  const counted = new Set(
    picks.flatMap((pick) => (pick.inSlate && pick.instrumentId !== null ? pick.instrumentId : [])),
  );
  if (picks.length === 0) {
    return (
      <Empty>
        None of your picks ended in this window. A pick comes here when its market has a result. A
        trade that you sell before that does not.
      </Empty>
    );
  }
  return (
    <>
      {notes.map((note) => (
        <Notice key={note}>
          <p>{sentence(note)}</p>
        </Notice>
      ))}
      <Table
        caption="Your evaluation"
        columns={columnsOf(counted)}
        rows={rows}
        keyOf={({ tradeId }) => tradeId}
      />
      {shown < picks.length && (
        <MoreButton
          what={`more of ${whole(picks.length)} picks`}
          onMore={() => setShown(shown + PAGE_ROWS)}
        />
      )}
    </>
  );
}

function columnsOf(counted: ReadonlySet<string>): readonly Column<EvalPick>[] {
  return [
    {
      head: 'Market',
      isHead: true,
      cell: (pick) => <Market pick={pick} reason={slateReason(pick, counted)} />,
    },
    { head: 'Side', isWide: true, cell: ({ side }) => side },
    { head: 'Ended', isWide: true, cell: ({ closedAt }) => <When iso={closedAt} /> },
    { head: 'Forecast', isNumber: true, isWide: true, cell: (pick) => <Forecast {...pick} /> },
    { head: 'Outcome', isWide: true, cell: outcomeText },
    { head: 'Brier', isNumber: true, isWide: true, cell: ({ brier }) => score('brier', brier) },
    {
      head: 'Log loss',
      isNumber: true,
      isWide: true,
      cell: ({ logLoss }) => score('log_loss', logLoss),
    },
    { head: 'CLV', isNumber: true, isWide: true, cell: ({ clvCents }) => score('clv', clvCents) },
    {
      head: 'P&L',
      isNumber: true,
      isWide: true,
      cell: ({ pnlDollars }) => <Money dollars={pnlDollars} signed />,
    },
    {
      head: 'After fees',
      isNumber: true,
      cell: ({ pnlAfterFeesDollars }) => <Money dollars={pnlAfterFeesDollars} signed />,
    },
    { head: 'In the slate', isWide: true, cell: (pick) => slateReason(pick, counted) ?? 'Yes' },
  ];
}

function score(metric: 'brier' | 'log_loss' | 'clv', value: number | null): string {
  return value === null ? 'none' : scoreText(metric, value);
}

/** If columns have no room, most of them are here. */
function Market({ pick, reason }: { pick: EvalPick; reason: string | null }) {
  const { tradeId, instrumentId, side, brier, logLoss, clvCents } = pick;
  const label = tradeLabels.value.get(tradeId) ?? '';
  const text = label === '' ? (instrumentId ?? 'No longer listed') : label;
  return (
    <>
      <InstrumentLabel id={instrumentId} text={text} />
      <span class="second-line only-narrow">
        {side}, {forecastText(pick)}, {outcomeText(pick)}
      </span>
      <span class="second-line only-narrow">
        Brier {score('brier', brier)} · log loss {score('log_loss', logLoss)} · CLV{' '}
        {score('clv', clvCents)}
      </span>
      <span class="second-line only-narrow">{reason ?? 'In the slate.'}</span>
    </>
  );
}

function Forecast({ forecastProb, forecastSource }: EvalPick) {
  const source = forecastSource === 'stated' ? 'stated' : 'price paid';
  // A price is not shown while venue data is off.
  if (forecastProb === null) return <>{source}</>;
  return (
    <>
      {Math.round(forecastProb * 100)}%<span class="second-line">{source}</span>
    </>
  );
}

function forecastText({ forecastProb, forecastSource }: EvalPick): string {
  const source = forecastSource === 'stated' ? 'stated' : 'price paid';
  return forecastProb === null ? source : `${Math.round(forecastProb * 100)}% ${source}`;
}

function outcomeText({ outcome }: EvalPick): string {
  if (outcome === null) return 'no outcome';
  return outcome === 1 ? 'happened' : 'did not happen';
}
