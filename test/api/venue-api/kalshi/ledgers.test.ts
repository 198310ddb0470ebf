/** Which reads of an account go through the log. */
import test from 'ava';
import type { Caller } from '../../../../api/dispatch/access.ts';
import { newUser } from '../../../../api/identity/users.ts';
import { Ledgers, type LedgersParts } from '../../../../api/venue-api/kalshi/ledgers.ts';
import {
  type PortfolioContext,
  portfolioRoutes,
} from '../../../../api/venue-api/kalshi/portfolio-routes.ts';

const ACCOUNT = { balanceDollars: 90, netWorthDollars: 120, heldDollars: 10 };

test('A225: balances and what rests read no log, orders and fills read it once', async (t) => {
  const trailed: number[] = [];
  const ledgers = new Ledgers({
    engine: {
      nowMs: () => 0,
      ask: (_account, _query, waiter) => {
        const portfolio = { account: ACCOUNT, positions: [] };
        waiter.resolve({ ok: true, body: JSON.stringify({ number: 7, portfolio }) });
      },
    },
    events: {
      trail: async (_account, _sinceMs, from) => void trailed.push(from),
      untrail: () => {},
      listenToTrails: () => {},
    },
    isFeedClock: true,
  } as LedgersParts);
  const switches = { requireVenueData: () => {} };
  const routes = portfolioRoutes({ ledgers, switches, nowMs: () => 0 } as PortfolioContext);
  const user = newUser({ email: 'reader@example.com', plan: 'basic' }, 0);
  const read = async (path: string) => {
    const route = routes.find((one) => one.path === `/v2${path}`)!;
    const call = { caller: { user } as Caller, param: '', query: route.readQuery('') };
    const waiter = { resolve: () => t.fail(), reject: (error: Error) => t.fail(error.message) };
    return JSON.parse((await route.run(call as Parameters<typeof route.run>[0], waiter)) as string);
  };
  t.like(await read('/portfolio/balance'), { balance: 9000, portfolio_value: 2000 });
  const resting = '/portfolio/summary/total_resting_order_value';
  t.like(await read(resting), { total_resting_order_value: 1000 });
  t.is((await read('/portfolio/subaccounts/balances')).subaccount_balances[0].balance, '90.0000');
  t.deepEqual(await read('/portfolio/deposits'), { deposits: [], cursor: '' });
  t.deepEqual(trailed, []);
  t.deepEqual(await read('/portfolio/fills'), { cursor: '', fills: [] });
  t.deepEqual(trailed, [7]);
});
