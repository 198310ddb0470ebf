/** A trader's settled picks, the newest first. */

import { useEffect } from 'preact/hooks';
import type { Pick, Trader } from '../../../client/generated.js';
import { Loading, Skeleton } from '../../parts/loading.tsx';
import { Money } from '../../parts/money.tsx';
import { MoreButton } from '../../parts/more-button.tsx';
import { InstrumentLabel } from '../../parts/name.tsx';
import { Empty } from '../../parts/notice.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { When } from '../../parts/when.tsx';
import { money } from '../../state/format.ts';
import type { TraderState } from '../../state/trader.ts';
import { labelText, RESULTS, shownText } from './trader-words.ts';

type Props = { of: Trader; state: TraderState; isOwn: boolean };

export function Picks({ of: { id }, state: { picks }, isOwn }: Props) {
  const load = () => void picks.load(id);
  useEffect(load, [id]);
  return (
    <section class="section">
      <h2>Picks</h2>
      <Loading of={picks.now.value} skeleton={<Skeleton lines={6} of="the picks" />} again={load}>
        {({ rows, nextCursor }) =>
          rows.length === 0 ? (
            <Empty>
              {isOwn
                ? 'None of your trades has a result yet. A trade appears here when its market settles. A trade that you sell earlier does not.'
                : 'No settled picks are shown. A trade appears here when its market settles.'}
            </Empty>
          ) : (
            <>
              <Table
                caption="Picks"
                columns={isOwn ? [...COLUMNS, SHOWN] : COLUMNS}
                rows={rows}
                keyOf={({ pickId }) => pickId}
              />
              {nextCursor !== null && (
                <MoreButton
                  what="earlier picks"
                  isComing={picks.isMoreComing.value}
                  onMore={() => void picks.more()}
                />
              )}
            </>
          )
        }
      </Loading>
    </section>
  );
}

const COLUMNS: readonly Column<Pick>[] = [
  { head: 'Market', isHead: true, cell: (pick) => <Market {...pick} /> },
  { head: 'Side', isWide: true, cell: ({ side }) => side },
  { head: 'Result', isWide: true, cell: ({ result }) => RESULTS[result] },
  {
    head: 'Stake',
    isNumber: true,
    isWide: true,
    cell: ({ stakeDollars }) =>
      stakeDollars === null ? 'not shown' : <Money dollars={stakeDollars} />,
  },
  { head: 'P&L', isNumber: true, cell: ({ pnlDollars }) => <Money dollars={pnlDollars} signed /> },
  { head: 'Opened', isWide: true, cell: ({ openedAt }) => <When iso={openedAt} /> },
  { head: 'Ended', isWide: true, cell: ({ closedAt }) => <When iso={closedAt} /> },
];

const SHOWN: Column<Pick> = { head: 'Visibility', isWide: true, cell: (pick) => shownText(pick) };

/** If columns have no room, all but the result in dollars are here. */
function Market(pick: Pick) {
  const { instrumentId, side, result, stakeDollars, closedAt } = pick;
  const text = labelText(pick);
  const stake = stakeDollars === null ? '' : ` · ${money(stakeDollars)}`;
  return (
    <>
      <InstrumentLabel id={instrumentId} text={text} />
      <span class="second-line only-narrow">
        {side} · {RESULTS[result]}
        {stake} · <When iso={closedAt} />
      </span>
      <span class="second-line only-narrow">{shownText(pick)}</span>
    </>
  );
}
