/**
 * Open positions by market, with their worth at the present quote and a total. Rule U42
 * (api/RULES.md).
 */

import { useRef, useState } from 'preact/hooks';
import type { Portfolio, Position } from '../../../client/generated.js';
import { Money } from '../../parts/money.tsx';
import { InstrumentLabel } from '../../parts/name.tsx';
import { Empty } from '../../parts/notice.tsx';
import { Price } from '../../parts/price.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import type { AccountId } from '../../state/account-id.ts';
import { cents, counted, money, whole } from '../../state/format.ts';
import { useQuote, useQuotes } from '../../state/quotes.ts';
import { averageCents, byMarket, type MarketPositions, markOfAll } from '../../state/totals.ts';
import { labelOf } from '../../state/trade-words.ts';
import { SellAllDialog } from './sell-all-dialog.tsx';
import { SellDialog } from './sell-dialog.tsx';

type Props = { portfolio: Portfolio; account: AccountId };

export function Positions({ portfolio, account }: Props) {
  const { positions, positionsCount, positionsTruncated } = portfolio;
  const heading = useRef<HTMLHeadingElement>(null);
  const [chosen, setChosen] = useState<readonly Position[]>([]);
  const [first] = chosen;
  const close = () => {
    setChosen([]);
    // The button that has opened it goes with the sold position.
    const isThere = positions.some(({ tradeId }) => tradeId === first?.tradeId);
    if (!isThere) heading.current?.focus();
  };
  return (
    <section class="section">
      <div class="section-head">
        <h2 ref={heading} tabIndex={-1}>
          Positions <span class="count">{whole(positionsCount)}</span>
        </h2>
        {positions.length > 1 && (
          <button type="button" class="button" onClick={() => setChosen(positions)}>
            Sell all
          </button>
        )}
      </div>
      {positions.length === 0 ? (
        <Empty>
          No position is open. A position stays here until you sell it or its market has a result.
        </Empty>
      ) : (
        <>
          <Table
            caption="Positions"
            columns={columnsOf(setChosen)}
            rows={byMarket(positions)}
            keyOf={({ all }) => all.at(-1)!.tradeId}
          />
          <Total positions={positions} />
        </>
      )}
      {positionsTruncated && (
        <p class="hint">
          These are the newest {whole(positions.length)} of {whole(positionsCount)}. The totals
          above cover all of them.
        </p>
      )}
      {chosen.length === 1 && first !== undefined && (
        <SellDialog
          key={first.tradeId}
          position={positions.find(({ tradeId }) => tradeId === first.tradeId) ?? first}
          account={account}
          onClose={close}
        />
      )}
      {chosen.length > 1 && <SellAllDialog positions={chosen} account={account} onClose={close} />}
    </section>
  );
}

function Total({ positions }: { positions: readonly Position[] }) {
  const quotes = useQuotes(positions.map(({ instrumentId }) => instrumentId));
  const { valueDollars, pnlDollars } = markOfAll(positions, quotes);
  return (
    <p class="positions-total">
      In total <Money dollars={valueDollars} />, <Money dollars={pnlDollars} signed />
    </p>
  );
}

type OnSell = (positions: readonly Position[]) => void;

const columnsOf = (onSell: OnSell): readonly Column<MarketPositions>[] => [
  { head: 'Market', isHead: true, cell: (group) => <Named group={group} /> },
  {
    head: 'Side',
    isWide: true,
    cell: ({ first: { instrumentSide } }) => (
      <strong class={`side is-${instrumentSide}`}>{instrumentSide === 'yes' ? 'Yes' : 'No'}</strong>
    ),
  },
  {
    head: 'Contracts',
    isNumber: true,
    isWide: true,
    cell: ({ sum }) => whole(sum.contracts),
  },
  { head: 'Average', isNumber: true, isWide: true, cell: ({ sum }) => cents(averageCents(sum)) },
  { head: 'Bid now', isNumber: true, isWide: true, cell: (group) => <Mark group={group} /> },
  { head: 'Cost', isNumber: true, isWide: true, cell: ({ sum }) => money(sum.costDollars) },
  { head: 'Value', isNumber: true, isWide: true, cell: (group) => <Value group={group} /> },
  { head: 'P&L', isNumber: true, cell: (group) => <Pnl group={group} /> },
  {
    head: <span class="sr">Sell</span>,
    isNumber: true,
    cell: ({ first, all }) => (
      <button type="button" class="button" onClick={() => onSell(all)}>
        Sell<span class="sr"> {labelOf(first)}</span>
      </button>
    ),
  },
];

type GroupProps = { group: MarketPositions };

function Named({ group }: GroupProps) {
  const { first, all, sum } = group;
  const { instrumentId, instrumentSide } = first;
  return (
    <>
      <InstrumentLabel id={instrumentId} text={labelOf(first)} />
      {all.length > 1 && <span class="second-line"> in {counted(all.length, 'buy')}</span>}
      <span class="only-narrow hint">
        {whole(sum.contracts)} {instrumentSide} at {cents(averageCents(sum))}, worth{' '}
        <Value group={group} />
      </span>
    </>
  );
}

function useMark({ first, all }: MarketPositions) {
  const quote = useQuote(first.instrumentId);
  return markOfAll(
    all,
    all.map(() => quote),
  );
}

function Mark({ group }: GroupProps) {
  const { markCents } = useMark(group);
  return <Price price={markCents} why="There is no bid now: it counts at its cost." />;
}

function Value({ group }: GroupProps) {
  return <Money dollars={useMark(group).valueDollars} />;
}

function Pnl({ group }: GroupProps) {
  return <Money dollars={useMark(group).pnlDollars} signed />;
}
