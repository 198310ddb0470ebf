/** The results of the search: instruments, each with its live price. */

import type { Instrument } from '../../../client/generated.js';
import { Loading, Skeleton } from '../../parts/loading.tsx';
import { Label } from '../../parts/name.tsx';
import { Empty } from '../../parts/notice.tsx';
import { Price } from '../../parts/price.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { When } from '../../parts/when.tsx';
import type { GameFilter } from '../../state/game-list.ts';
import { found, search } from '../../state/markets.ts';
import { useQuote } from '../../state/quotes.ts';
import { hrefOf } from '../../state/route-text.ts';

const COLUMNS: readonly Column<Instrument>[] = [
  {
    head: 'Market',
    isHead: true,
    cell: ({ id, label, startsAt }) => (
      <>
        <a href={hrefOf('market', id)}>
          <Label text={label} />
        </a>
        <span class="only-narrow hint">
          Starts <When iso={startsAt} />
        </span>
      </>
    ),
  },
  { head: 'Starts', isWide: true, cell: ({ startsAt }) => <When iso={startsAt} /> },
  { head: 'Bid', isNumber: true, cell: ({ id }) => <Side id={id} side="bid" /> },
  { head: 'Ask', isNumber: true, cell: ({ id }) => <Side id={id} side="ask" /> },
];

type Props = { text: string; filter: GameFilter };

export function Found({ text, filter }: Props) {
  const isFiltered = filter.league !== null || filter.status !== null;
  return (
    <Loading
      of={found.value}
      skeleton={<Skeleton lines={8} of="the results" />}
      again={() => void search(text, filter)}
    >
      {(rows) =>
        rows.length === 0 ? (
          <Empty>
            Nothing is called “{text}”{isFiltered ? ' with these filters' : ''}. Try the name of a
            team, or a part of it{isFiltered ? ', or another league or status' : ''}.
          </Empty>
        ) : (
          <Table caption="Markets found" columns={COLUMNS} rows={rows} keyOf={({ id }) => id} />
        )
      }
    </Loading>
  );
}

function Side({ id, side }: { id: string; side: 'bid' | 'ask' }) {
  const quote = useQuote(id);
  if (quote === null) return <Price price={null} />;
  const { bidCents, bidMove, askCents, askMove, note } = quote;
  return side === 'bid' ? (
    <Price price={bidCents} move={bidMove} why={note} />
  ) : (
    <Price price={askCents} move={askMove} why={note} />
  );
}
