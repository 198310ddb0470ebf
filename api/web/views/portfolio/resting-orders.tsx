/** Orders that wait for their price, and their cancels. */

import { useState } from 'preact/hooks';
import type { Portfolio, RestingOrder } from '../../../client/generated.js';
import { Confirm } from '../../parts/confirm.tsx';
import { InstrumentLabel } from '../../parts/name.tsx';
import { Empty } from '../../parts/notice.tsx';
import { SteadyButton } from '../../parts/steady-button.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { When } from '../../parts/when.tsx';
import { type AccountId, ofAccount } from '../../state/account-id.ts';
import { CallError } from '../../state/call-error.ts';
import { call } from '../../state/calls.ts';
import { counted, limitWords, money, whole } from '../../state/format.ts';
import { report } from '../../state/problems.ts';
import { refreshShown } from '../../state/shown-account.ts';
import { labelOf } from '../../state/trade-words.ts';
import { ReceiptDialog } from './receipt-dialog.tsx';
import { MODEL_WORDS } from './receipt-words.ts';

type Props = { portfolio: Portfolio; account: AccountId };

export function RestingOrders({ portfolio, account }: Props) {
  const { orders, ordersCount, ordersTruncated } = portfolio;
  const [isAsking, setAsking] = useState(false);
  const [asked, setAsked] = useState<RestingOrder | null>(null);
  const cancelAll = async () => {
    await call('cancelOrders', ofAccount(account));
    await refreshShown();
  };
  return (
    <section class="section">
      <div class="section-head">
        <h2>
          Resting orders <span class="count">{whole(ordersCount)}</span>
        </h2>
        {ordersCount > 0 && (
          <button type="button" class="button" onClick={() => setAsking(true)}>
            Cancel all
          </button>
        )}
      </div>
      {orders.length === 0 ? (
        <Empty>
          No order rests. A limit order whose price is not there yet waits here, and fills by
          itself.
        </Empty>
      ) : (
        <Table
          caption="Resting orders"
          columns={columnsOf(account, setAsked)}
          rows={orders}
          keyOf={({ orderId }) => orderId}
        />
      )}
      {ordersTruncated && (
        <p class="hint">
          These are the newest {whole(orders.length)} of {whole(ordersCount)}.
        </p>
      )}
      {asked !== null && (
        <ReceiptDialog
          of={{ orderId: asked.orderId }}
          label={`${asked.action} ${whole(asked.contracts)} ${asked.instrumentSide} of ${labelOf(asked)}`}
          account={account}
          onClose={() => setAsked(null)}
        />
      )}
      {isAsking && (
        <Confirm
          title="Cancel all resting orders"
          action={`Cancel ${counted(ordersCount, 'order')}`}
          onConfirm={cancelAll}
          onClose={() => setAsking(false)}
        >
          <p>
            {cancelAllWords(ordersCount, portfolio.account?.heldDollars ?? 0)} What has filled
            already stays.
          </p>
        </Confirm>
      )}
    </section>
  );
}

/** Sells hold nothing. */
function cancelAllWords(count: number, heldDollars: number): string {
  const isOne = count === 1;
  const what = isOne
    ? 'The only resting order of this account is canceled'
    : `All ${whole(count)} resting orders of this account are canceled`;
  if (heldDollars === 0) return `${what}.`;
  return `${what}, and the ${money(heldDollars)} that ${isOne ? 'it holds' : 'they hold'} can be spent again.`;
}

const columnsOf = (
  account: AccountId,
  ask: (order: RestingOrder) => void,
): readonly Column<RestingOrder>[] => [
  { head: 'Market', isHead: true, cell: (order) => <Named order={order} /> },
  { head: 'Order', isWide: true, cell: (order) => `${order.action} ${order.instrumentSide}` },
  { head: 'Contracts', isNumber: true, isWide: true, cell: contractsText },
  { head: 'Limit', isNumber: true, cell: ({ limitCents }) => limitWords(limitCents) },
  { head: 'Held', isNumber: true, isWide: true, cell: ({ holdDollars }) => money(holdDollars) },
  { head: 'Expires', isWide: true, cell: (order) => <Expiry order={order} /> },
  { head: 'Placed', isWide: true, cell: ({ createdAt }) => <When iso={createdAt} /> },
  {
    head: 'Filled by',
    isWide: true,
    cell: ({ fillModel }) => (fillModel === null ? '' : MODEL_WORDS[fillModel]),
  },
  {
    head: <span class="sr">Receipt</span>,
    cell: (order) => (
      <button type="button" class="button quiet" onClick={() => ask(order)}>
        Why<span class="sr"> this price of {labelOf(order)}</span>?
      </button>
    ),
  },
  {
    head: <span class="sr">Cancel</span>,
    isNumber: true,
    cell: (order) => <CancelButton order={order} account={account} />,
  },
];

function Named({ order }: { order: RestingOrder }) {
  const { instrumentId, action, instrumentSide } = order;
  return (
    <>
      <InstrumentLabel id={instrumentId} text={labelOf(order)} />
      <span class="only-narrow hint">
        {action} {contractsText(order)} {instrumentSide}, expires <Expiry order={order} />
      </span>
      {order.pendingUntil !== null && (
        <span class="hint">
          {' '}
          on its way until <When iso={order.pendingUntil} as="seconds" />
        </span>
      )}
    </>
  );
}

/** `10`, `6 of 10` where a part has filled */
function contractsText({ contracts, remainingContracts }: RestingOrder): string {
  return remainingContracts === contracts
    ? whole(contracts)
    : `${whole(remainingContracts)} of ${whole(contracts)}`;
}

function Expiry({ order: { expiresAt } }: { order: RestingOrder }) {
  return expiresAt === null ? <>never</> : <When iso={expiresAt} />;
}

function CancelButton({ order, account }: { order: RestingOrder; account: AccountId }) {
  const [isSent, setSent] = useState(false);
  const cancel = async () => {
    setSent(true);
    try {
      await call('cancelOrder', { path: { orderId: order.orderId }, ...ofAccount(account) });
      if (account !== null) await refreshShown();
    } catch (error) {
      // Its row goes by itself, and the list of events tells why.
      if (!(error instanceof CallError) || error.code !== 'already_closed') report(error);
      setSent(false);
    }
  };
  return (
    <SteadyButton isOff={isSent} onPress={() => void cancel()}>
      Cancel<span class="sr"> the order on {labelOf(order)}</span>
    </SteadyButton>
  );
}
