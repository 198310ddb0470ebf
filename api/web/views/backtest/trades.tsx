/** The trades of a backtest, in the order of their opening. */

import { useState } from 'preact/hooks';
import type { BacktestTrade } from '../../../client/generated.js';
import { Money } from '../../parts/money.tsx';
import { MoreButton } from '../../parts/more-button.tsx';
import { InstrumentLabel } from '../../parts/name.tsx';
import { Price } from '../../parts/price.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { When } from '../../parts/when.tsx';
import { cents, counted, money, whole } from '../../state/format.ts';
import { RESULTS } from './backtest-words.ts';

const PAGE_ROWS = 100;

export function Trades({ trades }: { trades: readonly BacktestTrade[] }) {
  const [shown, setShown] = useState(PAGE_ROWS);
  const hasPrices = trades.some(({ entryCents }) => entryCents !== undefined);
  return (
    <>
      {!hasPrices && (
        <p class="hint">
          Venue data is off on this server: trades are shown without the prices of entry and exit.
        </p>
      )}
      <Table
        caption="Trades"
        columns={hasPrices ? [...TERMS, ...PRICES, ...RESULT] : [...TERMS, ...RESULT]}
        rows={trades.slice(0, shown)}
        keyOf={({ instrumentId, openedAt }) => `${instrumentId} ${openedAt}`}
      />
      {shown < trades.length && (
        <MoreButton
          what={`more of ${whole(trades.length)} trades`}
          onMore={() => setShown(shown + PAGE_ROWS)}
        />
      )}
    </>
  );
}

const TERMS: readonly Column<BacktestTrade>[] = [
  {
    head: 'Market',
    isHead: true,
    cell: (trade) => <Market {...trade} />,
  },
  { head: 'Side', isWide: true, cell: ({ side }) => side },
  { head: 'Contracts', isNumber: true, isWide: true, cell: ({ contracts }) => whole(contracts) },
];

const PRICES: readonly Column<BacktestTrade>[] = [
  {
    head: 'Entry',
    isNumber: true,
    isWide: true,
    cell: ({ entryCents }) => <Price price={entryCents ?? null} />,
  },
  {
    head: 'Exit',
    isNumber: true,
    isWide: true,
    cell: ({ exitCents }) => <Price price={exitCents ?? null} />,
  },
];

const RESULT: readonly Column<BacktestTrade>[] = [
  { head: 'Result', isWide: true, cell: ({ result }) => RESULTS[result] },
  { head: 'P&L', isNumber: true, cell: ({ pnlDollars }) => <Money dollars={pnlDollars} signed /> },
  {
    head: 'Fees',
    isNumber: true,
    isWide: true,
    cell: ({ feesDollars }) => <Money dollars={feesDollars} />,
  },
  { head: 'Opened', isWide: true, cell: ({ openedAt }) => <When iso={openedAt} /> },
  { head: 'Closed', isWide: true, cell: ({ closedAt }) => <When iso={closedAt} /> },
];

/** If columns have no room, most of them are here. */
function Market(trade: BacktestTrade) {
  const { instrumentId, label, side, contracts, entryCents, exitCents, result, feesDollars } =
    trade;
  const prices =
    entryCents === undefined || exitCents === undefined
      ? []
      : [`in at ${cents(entryCents)}, out at ${cents(exitCents)}`];
  const fees = feesDollars === 0 ? [] : [`fees ${money(feesDollars)}`];
  const parts = [`${counted(contracts, 'contract')} of ${side}`, ...prices, ...fees];
  return (
    <>
      <InstrumentLabel id={instrumentId} text={label} />
      <span class="second-line only-narrow">{parts.join(' · ')}</span>
      <span class="second-line only-narrow">
        {RESULTS[result]}, <When iso={trade.openedAt} /> to <When iso={trade.closedAt} />
      </span>
    </>
  );
}
