/** Open positions, each with its worth at the present quote. */

import { useRef, useState } from 'preact/hooks';
import type { Portfolio, Position } from '../../../client/generated.js';
import { Money } from '../../parts/money.tsx';
import { InstrumentLabel } from '../../parts/name.tsx';
import { Empty } from '../../parts/notice.tsx';
import { Price } from '../../parts/price.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import type { AccountId } from '../../state/account-id.ts';
import { cents, money, whole } from '../../state/format.ts';
import { useQuote } from '../../state/quotes.ts';
import { averageCents, markOf } from '../../state/totals.ts';
import { labelOf } from '../../state/trade-words.ts';
import { SellDialog } from './sell-dialog.tsx';

type Props = { portfolio: Portfolio; account: AccountId };

export function Positions({ portfolio, account }: Props) {
  const { positions, positionsCount, positionsTruncated } = portfolio;
  const heading = useRef<HTMLHeadingElement>(null);
  const [chosen, setChosen] = useState<Position | null>(null);
  const close = () => {
    setChosen(null);
    // The button that has opened it goes with the sold position.
    if (!positions.some(({ tradeId }) => tradeId === chosen?.tradeId)) heading.current?.focus();
  };
  return (
    <section class="section">
      <h2 ref={heading} tabIndex={-1}>
        Positions <span class="count">{whole(positionsCount)}</span>
      </h2>
      {positions.length === 0 ? (
        <Empty>
          No position is open. A position stays here until you sell it or its market has a result.
        </Empty>
      ) : (
        <Table
          caption="Positions"
          columns={columnsOf(setChosen)}
          rows={positions}
          keyOf={({ tradeId }) => tradeId}
        />
      )}
      {positionsTruncated && (
        <p class="hint">
          These are the newest {whole(positions.length)} of {whole(positionsCount)}. The totals
          above cover all of them.
        </p>
      )}
      {chosen !== null && (
        <SellDialog
          key={chosen.tradeId}
          position={positions.find(({ tradeId }) => tradeId === chosen.tradeId) ?? chosen}
          account={account}
          onClose={close}
        />
      )}
    </section>
  );
}

const columnsOf = (onSell: (position: Position) => void): readonly Column<Position>[] => [
  { head: 'Market', isHead: true, cell: (position) => <Named position={position} /> },
  { head: 'Side', isWide: true, cell: ({ instrumentSide }) => instrumentSide },
  {
    head: 'Contracts',
    isNumber: true,
    isWide: true,
    cell: ({ contracts }) => whole(contracts),
  },
  { head: 'Average', isNumber: true, isWide: true, cell: (one) => cents(averageCents(one)) },
  { head: 'Mark', isNumber: true, isWide: true, cell: (one) => <Mark position={one} /> },
  { head: 'Cost', isNumber: true, isWide: true, cell: (one) => money(one.costDollars) },
  { head: 'Value', isNumber: true, isWide: true, cell: (one) => <Value position={one} /> },
  { head: 'P&L', isNumber: true, cell: (one) => <Pnl position={one} /> },
  {
    head: <span class="sr">Sell</span>,
    isNumber: true,
    cell: (position) => (
      <button type="button" class="button" onClick={() => onSell(position)}>
        Sell<span class="sr"> {labelOf(position)}</span>
      </button>
    ),
  },
];

function Named({ position }: { position: Position }) {
  const { instrumentId, instrumentSide, contracts } = position;
  return (
    <>
      <InstrumentLabel id={instrumentId} text={labelOf(position)} />
      <span class="only-narrow hint">
        {whole(contracts)} {instrumentSide} at {cents(averageCents(position))}, worth{' '}
        <Value position={position} />
      </span>
    </>
  );
}

function useMark(position: Position) {
  return markOf(position, useQuote(position.instrumentId));
}

function Mark({ position }: { position: Position }) {
  const { markCents } = useMark(position);
  return <Price price={markCents} why="There is no bid now: it counts at its cost." />;
}

function Value({ position }: { position: Position }) {
  return <Money dollars={useMark(position).valueDollars} />;
}

function Pnl({ position }: { position: Position }) {
  return <Money dollars={useMark(position).pnlDollars} signed />;
}
