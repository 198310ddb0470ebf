/** One user: plan, limits, the account with its positions and trades, keys. Rule A247 (api/RULES.md). */

import { useEffect, useState } from 'preact/hooks';
import type { Key, Plan, Portfolio, Position, Trade, User } from '../../schemas/admin-types.ts';
import { Confirm } from '../parts/confirm.tsx';
import { CopyButton } from '../parts/copy-button.tsx';
import { SelectField } from '../parts/field.tsx';
import { Loading, Skeleton } from '../parts/loading.tsx';
import { Money } from '../parts/money.tsx';
import { Name } from '../parts/name.tsx';
import { Empty } from '../parts/notice.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { ViewHead } from '../parts/view-head.tsx';
import { When } from '../parts/when.tsx';
import { cents, counted, whole } from '../state/format.ts';
import { Pages } from './pages.tsx';
import { placeHref } from './place-text.ts';
import { changePlan, keys, moreKeys, moreTrades, portfolio, trades, user } from './state.ts';
import { nameOf } from './users.tsx';
import { limitLines, PLAN_WORDS } from './words.ts';

export function UserView({ id }: { id: string }) {
  useEffect(() => {
    for (const of of [user, keys, portfolio, trades]) {
      of.clear();
      void of.load(id);
    }
  }, [id]);
  return (
    <>
      <ViewHead title="User">
        <a href={placeHref('users')}>All users</a>
      </ViewHead>
      <Loading
        of={user.now.value}
        skeleton={<Skeleton lines={6} of="the user" />}
        again={() => void user.load(id)}
      >
        {(found) => (
          <>
            <Person key={found.id} of={found} />
            <PlanForm key={`${found.id} ${found.plan}`} of={found} />
            <Limits of={found} />
          </>
        )}
      </Loading>
      {user.now.value.state !== 'failed' && <Belongings id={id} />}
    </>
  );
}

/** Not of a user who is not there. */
function Belongings({ id }: { id: string }) {
  return (
    <>
      <h2>Account</h2>
      <Loading
        of={portfolio.now.value}
        skeleton={<Skeleton lines={5} of="the account" />}
        again={() => void portfolio.load(id)}
      >
        {(found) => <Holdings of={found} />}
      </Loading>
      <h2>Trades</h2>
      <Loading
        of={trades.now.value}
        skeleton={<Skeleton lines={3} of="the trades" />}
        again={() => void trades.load(id)}
      >
        {(rows) => (
          <Pages
            caption="Trades, newest first"
            name="trades"
            columns={TRADE_COLUMNS}
            of={rows}
            empty="This user has no trades yet."
            more={(cursor) => moreTrades(id, cursor)}
          />
        )}
      </Loading>
      <h2>Keys</h2>
      <Loading
        of={keys.now.value}
        skeleton={<Skeleton lines={3} of="the keys" />}
        again={() => void keys.load(id)}
      >
        {(rows) => (
          <Pages
            caption="Keys, newest first"
            name="keys"
            columns={KEY_COLUMNS}
            of={rows}
            empty={
              <>
                This user has no keys. They are created in the user’s settings, or by{' '}
                <code>paperbook admin key create --user {id}</code>
              </>
            }
            more={(cursor) => moreKeys(id, cursor)}
          />
        )}
      </Loading>
    </>
  );
}

function Person({ of: person }: { of: User }) {
  const { id, displayName, createdAt } = person;
  return (
    <section class="panel" aria-label="Person">
      <h2>{nameOf(person)}</h2>
      <dl class="terms">
        <dt>Name</dt>
        <dd>{displayName ?? 'none'}</dd>
        <dt>On the boards</dt>
        <dd>{person.private ? 'no: private' : 'yes'}</dd>
        <dt>Since</dt>
        <dd>
          <When iso={createdAt} />
        </dd>
        <dt>Id</dt>
        <dd>
          <code>{id}</code> <CopyButton text={id} of="the id" />
        </dd>
      </dl>
    </section>
  );
}

const PLANS = (Object.entries(PLAN_WORDS) as [Plan, string][]).map(([value, text]) => {
  return { value, text };
});

function PlanForm({ of: { id, plan } }: { of: User }) {
  const [wanted, setWanted] = useState<Plan>(plan);
  const [isAsking, setAsking] = useState(false);
  const submit = (event: Event) => {
    event.preventDefault();
    setAsking(true);
  };
  return (
    <section class="panel" aria-label="Plan">
      <form class="form" onSubmit={submit}>
        <SelectField<Plan>
          label="Plan"
          value={wanted}
          options={PLANS}
          hint={`Now: ${plan}.`}
          onPick={setWanted}
        />
        <button type="submit" class="button" disabled={wanted === plan}>
          Change the plan…
        </button>
      </form>
      {isAsking && (
        <Confirm
          title="Change the plan?"
          action={`Change to ${wanted}`}
          onConfirm={() => changePlan(id, wanted)}
          onClose={() => setAsking(false)}
        >
          <p>
            The plan changes from {plan} to {wanted}, and its limits from the next request on.
            Orders and positions stay.
          </p>
        </Confirm>
      )}
    </section>
  );
}

function Limits({ of: person }: { of: User }) {
  const lines = limitLines(person);
  return (
    <section class="panel" aria-label="Limits">
      <h2>Limits</h2>
      {lines.length === 0 ? (
        <p>The plan’s limits apply. The account has none of its own.</p>
      ) : (
        <ul>
          {lines.map((line) => (
            <li key={line}>{line}</li>
          ))}
        </ul>
      )}
    </section>
  );
}

/** The balance of the personal account, and what is open. */
function Holdings({ of: { account, positions, positionsCount, ordersCount } }: { of: Portfolio }) {
  if (account === null) {
    return <Empty>This user has not traded yet. The account begins with the first order.</Empty>;
  }
  return (
    <>
      <section class="panel" aria-label="Account">
        <dl class="terms">
          <dt>Balance</dt>
          <dd>
            <Money dollars={account.balanceDollars} />
          </dd>
          <dt>Net worth</dt>
          <dd>
            <Money dollars={account.netWorthDollars} />
          </dd>
          <dt>Held by resting orders</dt>
          <dd>
            <Money dollars={account.heldDollars} /> in {counted(ordersCount, 'order')}
          </dd>
          <dt>Profit or loss of this run</dt>
          <dd>
            <Money dollars={account.pnlSinceResetDollars} signed />
          </dd>
          <dt>Adjustments in this run</dt>
          <dd>
            <Money dollars={account.adjustmentsInRunDollars} signed />
          </dd>
        </dl>
      </section>
      {positions.length === 0 ? (
        <Empty>Nothing is open.</Empty>
      ) : (
        <Table
          caption="Open positions"
          isCaptionShown
          columns={POSITION_COLUMNS}
          rows={positions}
          keyOf={({ tradeId }) => tradeId}
        />
      )}
      {positionsCount > positions.length && (
        <p>
          The first {whole(positions.length)} of {whole(positionsCount)} are shown.
        </p>
      )}
    </>
  );
}

type Subject = Pick<Trade, 'instrumentLabel' | 'marketTicker' | 'instrumentSide' | 'contracts'>;

/** Columns of everything that is held, or was. */
const SUBJECT_COLUMNS = [
  {
    head: 'Market',
    isHead: true,
    cell: ({ instrumentLabel, marketTicker }: Subject) => (
      <span class="two-lines">
        <Name text={instrumentLabel ?? 'no longer listed'} />
        {marketTicker !== undefined && <code class="hint">{marketTicker}</code>}
      </span>
    ),
  },
  { head: 'Side', cell: ({ instrumentSide }: Subject) => instrumentSide },
  { head: 'Contracts', isNumber: true, cell: ({ contracts }: Subject) => whole(contracts) },
];

const POSITION_COLUMNS: readonly Column<Position>[] = [
  ...SUBJECT_COLUMNS,
  { head: 'Cost', isNumber: true, cell: ({ costDollars }) => <Money dollars={costDollars} /> },
  { head: 'Bid now', isNumber: true, cell: ({ markCents }) => priceOr(markCents, 'no bid') },
  {
    head: 'Profit or loss',
    isNumber: true,
    cell: ({ unrealizedPnlDollars: dollars }) =>
      dollars === undefined ? '' : <Money dollars={dollars} signed />,
  },
  { head: 'Opened', cell: ({ openedAt }) => <When iso={openedAt} /> },
];

const TRADE_COLUMNS: readonly Column<Trade & { id: string }>[] = [
  ...SUBJECT_COLUMNS,
  { head: 'Status', cell: ({ status }) => status },
  { head: 'Cost', isNumber: true, cell: ({ costDollars }) => <Money dollars={costDollars} /> },
  {
    head: 'Profit or loss',
    isNumber: true,
    cell: ({ pnlDollars }) => (pnlDollars === null ? '' : <Money dollars={pnlDollars} signed />),
  },
  { head: 'Opened', cell: ({ openedAt }) => <When iso={openedAt} /> },
  { head: 'Closed', cell: ({ closedAt }) => whenOr(closedAt, '') },
  { head: 'Trade', cell: ({ tradeId }) => <code class="id">{tradeId}</code> },
];

function priceOr(price: number | null | undefined, words: string) {
  return price === null || price === undefined ? words : cents(price);
}

const KEY_COLUMNS: readonly Column<Key>[] = [
  {
    head: 'Key',
    isHead: true,
    cell: ({ label }) => (label ? <Name text={label} /> : 'without a label'),
  },
  { head: 'Begins with', cell: ({ tokenPrefix }) => <code class="id">{tokenPrefix}…</code> },
  { head: 'Status', cell: ({ status }) => status },
  { head: 'Scopes', cell: ({ scopes }) => scopes.join(', ') },
  { head: 'Created', cell: ({ createdAt }) => <When iso={createdAt} /> },
  { head: 'Last used', cell: ({ lastUsedAt }) => whenOr(lastUsedAt, 'not yet') },
  { head: 'Expires', cell: ({ expiresAt }) => whenOr(expiresAt, 'never') },
];

function whenOr(iso: string | null, words: string) {
  return iso === null ? words : <When iso={iso} />;
}
