/** All trades, newest first: filtered, page by page, and as a file. */

import { useEffect, useState } from 'preact/hooks';
import type { Trade } from '../../../client/generated.js';
import { Loading, Skeleton } from '../../parts/loading.tsx';
import { Money } from '../../parts/money.tsx';
import { InstrumentLabel } from '../../parts/name.tsx';
import { Empty } from '../../parts/notice.tsx';
import { SteadyButton } from '../../parts/steady-button.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { When } from '../../parts/when.tsx';
import type { AccountId } from '../../state/account-id.ts';
import { cents, money, whole } from '../../state/format.ts';
import type { ViewProps } from '../../state/route-text.ts';
import { isBackwards, isFiltered, type TradeFilter } from '../../state/trade-list.ts';
import { holdingWords, labelOf, outcomeOf } from '../../state/trade-words.ts';
import {
  followTrades,
  forgetTrades,
  loadMoreTrades,
  reloadTrades,
  tradesOf,
} from '../../state/trades.ts';
import { ReceiptDialog } from './receipt-dialog.tsx';
import { MODEL_WORDS } from './receipt-words.ts';
import { TradeFilters } from './trade-filters.tsx';
import { TradesDownload } from './trades-download.tsx';

type Props = Pick<ViewProps, 'query'> & { account: AccountId; filter: TradeFilter };

export function Trades({ account, filter, query }: Props) {
  const { status, instrumentId, from, to } = filter;
  const isEmptySpan = isBackwards(filter);
  useEffect(() => {
    if (!isEmptySpan) return followTrades(account, filter);
  }, [account, status, instrumentId, from, to]);
  useEffect(() => forgetTrades, []);
  const [asked, setAsked] = useState<Trade | null>(null);
  return (
    <section class="section">
      <div class="section-head">
        <h2>Trades</h2>
        <TradesDownload account={account} filter={filter} isOff={isEmptySpan} />
      </div>
      <TradeFilters filter={filter} query={query} />
      {!isEmptySpan && (
        <Loading
          of={tradesOf(account, filter)}
          skeleton={<Skeleton lines={6} of="trades" />}
          again={() => void reloadTrades()}
        >
          {({ rows, nextCursor }) => (
            <>
              {rows.length === 0 ? (
                <Empty>{emptyWords(filter, nextCursor !== null)}</Empty>
              ) : (
                <Table
                  caption="Trades"
                  columns={columnsOf(rows, setAsked)}
                  rows={rows}
                  keyOf={({ tradeId }) => tradeId}
                />
              )}
              {nextCursor !== null && <More />}
            </>
          )}
        </Loading>
      )}
      {asked !== null && (
        <ReceiptDialog
          of={{ tradeId: asked.tradeId }}
          label={`Bought: ${holdingWords(asked)}`}
          account={account}
          onClose={() => setAsked(null)}
        />
      )}
    </section>
  );
}

function emptyWords(filter: TradeFilter, hasMore: boolean): string {
  if (hasMore) return 'No trade among the newest ones matches these filters.';
  return isFiltered(filter)
    ? 'No trade matches these filters. Remove one of them.'
    : 'There are no trades yet. Your first filled buy appears here.';
}

function More() {
  const [isSent, setSent] = useState(false);
  const load = async () => {
    setSent(true);
    await loadMoreTrades();
    setSent(false);
  };
  return (
    <p class="buttons">
      <SteadyButton isOff={isSent} onPress={() => void load()}>
        Show older trades
      </SteadyButton>
    </p>
  );
}

const COLUMNS: readonly Column<Trade>[] = [
  { head: 'Market', isHead: true, cell: (trade) => <Named trade={trade} /> },
  { head: 'Side', isWide: true, cell: ({ instrumentSide }) => instrumentSide },
  { head: 'Contracts', isNumber: true, isWide: true, cell: ({ contracts }) => whole(contracts) },
  { head: 'Entry', isNumber: true, isWide: true, cell: ({ entryCents }) => priceText(entryCents) },
  { head: 'Exit', isNumber: true, isWide: true, cell: ({ exitCents }) => priceText(exitCents) },
  { head: 'Cost', isNumber: true, isWide: true, cell: ({ costDollars }) => money(costDollars) },
  {
    head: 'P&L',
    isNumber: true,
    cell: ({ pnlDollars }) =>
      pnlDollars === null ? <None /> : <Money dollars={pnlDollars} signed />,
  },
  { head: 'Outcome', cell: outcomeOf },
  { head: 'Opened', isWide: true, cell: ({ openedAt }) => <When iso={openedAt} /> },
  {
    head: 'Closed',
    isWide: true,
    cell: ({ closedAt }) => (closedAt === null ? <None /> : <When iso={closedAt} />),
  },
];

/** Fees only where a trade pays some. Rule U50 (api/RULES.md). */
function columnsOf(
  trades: readonly Trade[],
  ask: (trade: Trade) => void,
): readonly Column<Trade>[] {
  const hasFees = trades.some(({ feesDollars }) => feesDollars !== null);
  return [...COLUMNS, ...(hasFees ? [FEES_COLUMN] : []), filledColumn(ask)];
}

const FEES_COLUMN: Column<Trade> = {
  head: 'Fees',
  isNumber: true,
  isWide: true,
  cell: ({ feesDollars }) => (feesDollars === null ? <None /> : money(feesDollars)),
};

const filledColumn = (ask: (trade: Trade) => void): Column<Trade> => ({
  head: (
    <>
      <span class="only-wide">Filled by</span>
      <span class="only-narrow sr">Receipt</span>
    </>
  ),
  cell: (trade) => (
    <>
      {trade.fillModel !== null && <span class="only-wide">{MODEL_WORDS[trade.fillModel]} </span>}
      <button type="button" class="button quiet" onClick={() => ask(trade)}>
        Why<span class="sr"> this price of {labelOf(trade)}</span>?
      </button>
    </>
  ),
});

function Named({ trade }: { trade: Trade }) {
  const { instrumentId, instrumentSide, contracts, entryCents, exitCents, openedAt } = trade;
  return (
    <>
      <InstrumentLabel id={instrumentId} text={labelOf(trade)} />
      <span class="only-narrow hint">
        {whole(contracts)} {instrumentSide}
        {entryCents !== undefined && ` at ${cents(entryCents)}`}
        {typeof exitCents === 'number' && `, out at ${cents(exitCents)}`}, <When iso={openedAt} />
      </span>
    </>
  );
}

function None() {
  return (
    <>
      <span aria-hidden="true">–</span>
      <span class="sr">none</span>
    </>
  );
}

function priceText(price: number | null | undefined) {
  return typeof price === 'number' ? cents(price) : <None />;
}
