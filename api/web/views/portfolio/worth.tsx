/** The worth of the account at the present quotes, and its part in cash. */
import type { ComponentChildren } from 'preact';
import type { Portfolio } from '../../../client/generated.js';
import { Money } from '../../parts/money.tsx';
import { When } from '../../parts/when.tsx';
import { counted } from '../../state/format.ts';
import { useQuotes } from '../../state/quotes.ts';
import { totalsOf } from '../../state/totals.ts';

export function Worth({ portfolio }: { portfolio: Portfolio }) {
  const { account, positions, positionsCount, ordersCount, venueData } = portfolio;
  const quotes = useQuotes(positions.map(({ instrumentId }) => instrumentId));
  const totals = totalsOf(portfolio, quotes);
  if (account === null || totals === null) return null;
  const { run, runStartedAt } = account;
  return (
    <section aria-label="Net worth">
      <dl class="worth">
        <Amount name="Net worth" isMain>
          <Money dollars={totals.netWorthDollars} />
        </Amount>
        <Amount
          name={run === 1 ? 'P&L' : 'P&L since the reset'}
          hint={
            <>
              Run {run}, since <When iso={runStartedAt} />
            </>
          }
        >
          <Money dollars={totals.pnlSinceResetDollars} signed />
        </Amount>
        {run > 1 && (
          <Amount name="P&L of all runs" hint={counted(account.resets, 'reset')}>
            <Money dollars={totals.lifetimePnlDollars} signed />
          </Amount>
        )}
        <Amount name="Cash" hint="To spend">
          <Money dollars={totals.balanceDollars} />
        </Amount>
        <Amount name="Held" hint={`By ${counted(ordersCount, 'resting order')}`}>
          <Money dollars={totals.heldDollars} />
        </Amount>
        <Amount name="Open stake" hint={`Cost of ${counted(positionsCount, 'position')}`}>
          <Money dollars={totals.openStakeDollars} />
        </Amount>
      </dl>
      {!venueData && <p class="hint">Venue data is off, so positions count at their cost.</p>}
    </section>
  );
}

type AmountProps = {
  name: string;
  hint?: ComponentChildren;
  isMain?: boolean;
  children: ComponentChildren;
};

function Amount({ name, hint, isMain = false, children }: AmountProps) {
  return (
    <div class={isMain ? 'is-main' : ''}>
      <dt>{name}</dt>
      <dd>
        {children}
        {hint !== undefined && <span class="hint">{hint}</span>}
      </dd>
    </div>
  );
}
