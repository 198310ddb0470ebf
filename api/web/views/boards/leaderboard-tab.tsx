/** The leaderboard. */
import { useEffect } from 'preact/hooks';
import type { LeaderboardRow } from '../../../client/generated.js';
import { SelectField } from '../../parts/field.tsx';
import { Loading, Skeleton } from '../../parts/loading.tsx';
import { Money } from '../../parts/money.tsx';
import { MoreButton } from '../../parts/more-button.tsx';
import { Empty } from '../../parts/notice.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { leaderboard } from '../../state/boards.ts';
import { counted, money, signedMoney, signedPercent, whole } from '../../state/format.ts';
import { BoardState } from './board-state.tsx';
import { KINDS, type Kind } from './board-words.ts';
import { TraderLink } from './trader-link.tsx';
import { type Counted, FillsField, FillsHint, WindowField } from './window-field.tsx';

type Props = Counted & {
  kind: Kind;
  onKind(kind: Kind): void;
};

export function LeaderboardTab({ window, fills, kind, onWindow, onFills, onKind }: Props) {
  const load = () => void leaderboard.load(window, kind, fills);
  useEffect(() => {
    load();
    return () => leaderboard.clear();
  }, [window, kind, fills]);
  return (
    <div class="board">
      <div class="board-filters">
        <SelectField label="Ranked by" value={kind} options={KINDS} onPick={onKind} />
        <WindowField window={window} onPick={onWindow} />
        <FillsField fills={fills} onPick={onFills} />
      </div>
      <p class="hint">{KINDS.find(({ value }) => value === kind)!.meaning}</p>
      <FillsHint fills={fills} />
      <Loading
        of={leaderboard.now.value}
        skeleton={<Skeleton lines={10} of="the leaderboard" />}
        again={load}
      >
        {({ rows, nextCursor, asOf, kind: ranked }) => (
          <>
            <BoardState asOf={asOf} onRefresh={load} />
            {rows.length === 0 ? (
              <Empty>
                Nobody is on this board. Public traders come here with a trade that closed in the
                window. A longer window may have some. You are private until you say otherwise in
                the settings.
              </Empty>
            ) : (
              <Table
                caption="Leaderboard"
                columns={columnsOf(ranked)}
                rows={rows}
                keyOf={({ traderId }) => traderId}
              />
            )}
            {nextCursor !== null && (
              <MoreButton
                what="more traders"
                isComing={leaderboard.isMoreComing.value}
                onMore={() => void leaderboard.more()}
              />
            )}
          </>
        )}
      </Loading>
    </div>
  );
}

function columnsOf(ranked: Kind): readonly Column<LeaderboardRow>[] {
  const head = (kind: Kind, text: string) => (kind === ranked ? <strong>{text}</strong> : text);
  const only = (kind: Kind) => ({ isWide: kind !== ranked });
  const count = (text: string, of: (row: LeaderboardRow) => number): Column<LeaderboardRow> => {
    return { head: text, isNumber: true, isWide: true, cell: (row) => whole(of(row)) };
  };
  return [
    { head: 'Rank', isNumber: true, cell: ({ rank }) => rank },
    { head: 'Trader', isHead: true, cell: (row) => <Trader row={row} ranked={ranked} /> },
    {
      ...only('pnl'),
      head: head('pnl', 'P&L'),
      isNumber: true,
      cell: ({ pnlDollars }) => <Money dollars={pnlDollars} signed />,
    },
    {
      ...only('roi'),
      head: head('roi', 'ROI'),
      isNumber: true,
      cell: ({ roiPct }) => roiText(roiPct),
    },
    {
      ...only('net_worth'),
      head: head('net_worth', 'Net worth'),
      isNumber: true,
      cell: ({ netWorthDollars }) => <Money dollars={netWorthDollars} />,
    },
    count('Picks', ({ settledPicks }) => settledPicks),
    count('Won', ({ won }) => won),
    count('Lost', ({ lost }) => lost),
    count('Void', ({ void: voided }) => voided),
    count('Resets', ({ resets }) => resets),
    count('Busts', ({ busts }) => busts),
  ];
}

/** If columns have no room, all but the ranked one are here. */
function Trader({ row, ranked }: { row: LeaderboardRow; ranked: Kind }) {
  const { pnlDollars, roiPct, netWorthDollars, won, lost, void: voided, resets, busts } = row;
  const numbers = [
    ...(ranked === 'pnl' ? [] : [signedMoney(pnlDollars)]),
    ...(ranked === 'roi' || roiPct === null ? [] : [`ROI ${roiText(roiPct)}`]),
    ...(ranked === 'net_worth' ? [] : [`worth ${money(netWorthDollars)}`]),
  ];
  return (
    <>
      <TraderLink {...row} />
      <span class="second-line only-narrow">{numbers.join(' · ')}</span>
      <span class="second-line only-narrow">
        {whole(won)} won, {whole(lost)} lost, {whole(voided)} void
        {resets + busts > 0 && `, ${counted(resets, 'reset')}, ${counted(busts, 'bust')}`}
      </span>
    </>
  );
}

function roiText(roiPct: number | null): string {
  return roiPct === null ? 'none' : signedPercent(roiPct);
}
