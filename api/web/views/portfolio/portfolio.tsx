/** The holdings, the worth and the past of an account; live. */
import { useEffect } from 'preact/hooks';
import { Loading, Skeleton } from '../../parts/loading.tsx';
import { Empty } from '../../parts/notice.tsx';
import { ViewHead } from '../../parts/view-head.tsx';
import { EQUITY_WINDOWS } from '../../state/equity-curve.ts';
import { hrefOf, type ViewProps } from '../../state/route-text.ts';
import { followAccount, refreshShown, shownPortfolio } from '../../state/shown-account.ts';
import { tradeFilterOf } from '../../state/trade-list.ts';
import { AccountSwitch, SandboxNotice } from './account-switch.tsx';
import { EquitySection } from './equity-section.tsx';
import { Happened } from './happened.tsx';
import { Positions } from './positions.tsx';
import { RestingOrders } from './resting-orders.tsx';
import { Trades } from './trades.tsx';
import { Worth } from './worth.tsx';

const DEFAULT_WINDOW = '30d';

export function PortfolioView({ query }: ViewProps) {
  const account = query.org ?? null;
  const window = EQUITY_WINDOWS.find(({ name }) => name === query.window)?.name ?? DEFAULT_WINDOW;
  useEffect(() => followAccount(account), [account]);
  return (
    <>
      <ViewHead title="Portfolio">
        <AccountSwitch query={query} />
      </ViewHead>
      <SandboxNotice account={account} />
      <Loading
        of={shownPortfolio.value}
        skeleton={<Skeleton lines={14} of="the portfolio" />}
        again={() => void refreshShown()}
      >
        {(portfolio) =>
          portfolio.account === null ? (
            <NothingYet account={account} />
          ) : (
            <>
              <Worth portfolio={portfolio} />
              {account === null && (
                <p class="hint">
                  Skill or luck? <a href={hrefOf('boards', '', { tab: 'verdict' })}>Your edge</a>
                </p>
              )}
              <div class="beside">
                <EquitySection account={account} window={window} query={query} />
                <Happened account={account} />
              </div>
              <Positions portfolio={portfolio} account={account} />
              <RestingOrders portfolio={portfolio} account={account} />
              <Trades account={account} filter={tradeFilterOf(query)} query={query} />
            </>
          )
        }
      </Loading>
    </>
  );
}

function NothingYet({ account }: { account: string | null }) {
  return (
    <Empty>
      <p>
        {account === null
          ? 'You have not traded yet. You begin with $100,000.00 on paper: your cash, positions, orders and trades are here from the first order on.'
          : 'Nobody has traded in this sandbox yet. It begins with $100,000.00 on paper.'}
      </p>
      <p>
        <a href={hrefOf('markets')}>Choose a market</a> and buy what you think costs too little.
      </p>
    </Empty>
  );
}
