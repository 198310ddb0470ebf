/** The person's positions, resting orders, and latest events in the market. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Position, RestingOrder } from '../../../client/generated.js';
import { Loading, Skeleton } from '../../parts/loading.tsx';
import { Money } from '../../parts/money.tsx';
import { Empty, Refusal } from '../../parts/notice.tsx';
import { Price } from '../../parts/price.tsx';
import { SteadyButton } from '../../parts/steady-button.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { When } from '../../parts/when.tsx';
import type { AccountId } from '../../state/account-id.ts';
import { eventSentence, instrumentOf } from '../../state/event-words.ts';
import { cents, limitWords, money, whole } from '../../state/format.ts';
import { cancelOrder } from '../../state/ordering.ts';
import { hrefOf } from '../../state/route-text.ts';
import {
  portfolioOf,
  refreshShown,
  SANDBOX_EVERY_MS,
  shownEvents,
  shownPortfolio,
} from '../../state/shown-account.ts';
import type { ShownQuote } from '../../state/shown-quote.ts';
import { markedNow } from '../../state/totals.ts';

type Props = {
  instrumentId: string;
  account: AccountId;
  quote: ShownQuote | null;
  /** It has its result: nothing is bought here any more. */
  isOver: boolean;
  onSell(tradeId: string): void;
};

const EVENTS_SHOWN = 8;

export function Holdings({ instrumentId, account, quote, isOver, onSell }: Props) {
  const isOwn = account === null;
  const portfolio = portfolioOf(account);
  const section = useRef<HTMLElement>(null);
  return (
    <section ref={section} class="holdings" aria-label="Your position" tabIndex={-1}>
      <h2>{isOwn ? 'Your position' : 'The organization’s position'}</h2>
      <Loading
        of={shownPortfolio.value}
        skeleton={<Skeleton lines={2} of="the account" />}
        again={() => void refreshShown()}
      >
        {() => !isOwn && <p class="hint">Asked for every {SANDBOX_EVERY_MS / 1000} s.</p>}
      </Loading>
      {portfolio !== null && (
        <>
          <Positions
            rows={portfolio.positions
              .filter((one) => one.instrumentId === instrumentId)
              .map((one) => markedNow(one, quote))}
            isOver={isOver}
            onSell={onSell}
          />
          <Resting
            rows={portfolio.orders.filter((one) => one.instrumentId === instrumentId)}
            account={account}
            onCanceled={() => section.current?.focus({ preventScroll: true })}
          />
          {(portfolio.positionsTruncated || portfolio.ordersTruncated) && (
            <p class="hint">Only the newest 500 positions and 200 resting orders are looked at.</p>
          )}
        </>
      )}
      <Events instrumentId={instrumentId} />
    </section>
  );
}

type PositionsProps = Pick<Props, 'isOver' | 'onSell'> & { rows: readonly Position[] };

function Positions({ rows, isOver, onSell }: PositionsProps) {
  if (rows.length === 0) {
    return (
      <Empty>
        No position in this market.{' '}
        {isOver ? (
          <a href={hrefOf('portfolio')}>Your trades are in your portfolio</a>
        ) : (
          'Your buys here appear here.'
        )}
      </Empty>
    );
  }
  const isPriced = rows.some(({ markCents }) => markCents !== undefined);
  const columns: readonly Column<Position>[] = [
    POSITION_COLUMN,
    ...(isPriced ? MARK_COLUMNS : []),
    {
      head: <span class="sr">Actions</span>,
      isNumber: true,
      cell: ({ tradeId, contracts, instrumentSide }) => (
        <button type="button" class="button" onClick={() => onSell(tradeId)}>
          Sell<span class="sr"> {`${whole(contracts)} ${instrumentSide}`}</span>
        </button>
      ),
    },
  ];
  return (
    <Table
      caption="Positions"
      isCaptionShown
      columns={columns}
      rows={rows}
      keyOf={({ tradeId }) => tradeId}
    />
  );
}

const POSITION_COLUMN: Column<Position> = {
  head: 'Position',
  isHead: true,
  cell: ({ contracts, instrumentSide, entryCents, costDollars }) => (
    <>
      {whole(contracts)} {instrumentSide}
      {entryCents === undefined ? '' : ` at ${cents(entryCents)}`}
      <small>cost {money(costDollars)}</small>
    </>
  ),
};
const MARK_COLUMNS: readonly Column<Position>[] = [
  { head: 'Bid now', isNumber: true, cell: ({ markCents }) => <Price price={markCents ?? null} /> },
  {
    head: 'P&L',
    isNumber: true,
    cell: ({ unrealizedPnlDollars = 0 }) => <Money dollars={unrealizedPnlDollars} signed />,
  },
];

type RestingProps = {
  rows: readonly RestingOrder[];
  account: AccountId;
  /** Its row, and so the button that had the focus, is gone. */
  onCanceled(): void;
};

function Resting({ rows, account, onCanceled }: RestingProps) {
  const [error, setError] = useState<unknown>(null);
  const [ending, setEnding] = useState<string | null>(null);
  if (rows.length === 0 && error === null) return null;
  const cancel = async (orderId: string) => {
    setEnding(orderId);
    setError(null);
    await cancelOrder(orderId, account).then(onCanceled, setError);
    setEnding(null);
  };
  const columns: readonly Column<RestingOrder>[] = [
    ...RESTING_COLUMNS,
    {
      head: <span class="sr">Actions</span>,
      isNumber: true,
      cell: (order) => (
        <SteadyButton isOff={ending === order.orderId} onPress={() => void cancel(order.orderId)}>
          Cancel<span class="sr"> {restingText(order)}</span>
        </SteadyButton>
      ),
    },
  ];
  return (
    <>
      {rows.length > 0 && (
        <Table
          caption="Resting orders"
          isCaptionShown
          columns={columns}
          rows={rows}
          keyOf={({ orderId }) => orderId}
        />
      )}
      {error !== null && <Refusal error={error} />}
    </>
  );
}

const RESTING_COLUMNS: readonly Column<RestingOrder>[] = [
  {
    head: 'Order',
    isHead: true,
    cell: (order) => (
      <>
        {restingText(order)} at {limitWords(order.limitCents)}
        <small>
          {whole(order.filledContracts)} of {whole(order.contracts)} filled
          {order.holdDollars > 0 && `, holds ${money(order.holdDollars)}`}
          {order.pendingUntil !== null && (
            <>
              , on its way until <When iso={order.pendingUntil} as="seconds" />
            </>
          )}
        </small>
      </>
    ),
  },
  {
    head: 'Expires',
    cell: ({ expiresAt }) => (expiresAt === null ? 'never' : <When iso={expiresAt} />),
  },
];

function restingText({ action, contracts, instrumentSide }: RestingOrder): string {
  return `${action === 'buy' ? 'Buy' : 'Sell'} ${whole(contracts)} ${instrumentSide}`;
}

function Events({ instrumentId }: { instrumentId: string }) {
  const rows = shownEvents.value
    .filter((event) => instrumentOf(event) === instrumentId)
    .slice(0, EVENTS_SHOWN);
  // Read aloud when they arrive.
  const latest = rows[0];
  return (
    <>
      {rows.length > 0 && <h3>In this visit</h3>}
      <ul class="events">
        {rows.map((event) => (
          <li key={event.eventId}>
            <When iso={event.at} as="seconds" /> {eventSentence(event)}
          </li>
        ))}
      </ul>
      <Announced text={latest === undefined ? '' : eventSentence(latest)} />
    </>
  );
}

/** Only of this visit to the view: earlier events are no news. */
function Announced({ text }: { text: string }) {
  const [before] = useState(text);
  const [isNew, setNew] = useState(false);
  useEffect(() => {
    if (text !== before) setNew(true);
  }, [text, before]);
  return (
    <p class="sr" role="status">
      {isNew ? text : ''}
    </p>
  );
}
