/** Resets: what they end, what they leave, and when they are blocked. */
import { isoOf } from '../../../engine/base/units.ts';
import {
  ALICE,
  BOB,
  HOUR_MS,
  type Scenario,
  scenarioTest,
  TOTAL,
  WIN,
} from '../../model/scenario.ts';

const DAYS_30_MS = 30 * 24 * HOUR_MS;

function enable(scenario: Scenario, venueData = true): void {
  const { engine, nowMs: atMs } = scenario;
  engine.command({ kind: 'switches', atMs, venueData, selfReset: true });
}

/** Null: it was accepted. */
function reset(scenario: Scenario, account = ALICE): string | null {
  const reply = scenario.engine.command({ kind: 'reset', atMs: scenario.nowMs, account });
  return reply.ok ? null : reply.code;
}

scenarioTest('M33: a reset ends all orders and trades and begins a run', (t, createScenario) => {
  const scenario = createScenario();
  enable(scenario);
  scenario.quote(WIN, 41, 43);
  const { trade } = scenario.buy(100).body as { trade: { tradeId: string } };
  scenario.sell(trade.tradeId, { timeInForce: 'gtc', limitPriceCents: 90 });
  scenario.limitBuy(10, 50);
  scenario.quote(TOTAL, 20, 22);
  scenario.buy(10, { ticker: 'TOTAL' });
  scenario.quote(TOTAL, 0, 22);
  scenario.nowMs += 1000;
  t.is(reset(scenario), null);
  t.like(scenario.account(), {
    balanceDollars: 100_000,
    netWorthDollars: 100_000,
    heldDollars: 0,
    openStakeDollars: 0,
    openPositions: 0,
    restingOrders: 0,
    run: 2,
    resets: 1,
    runStartedAt: isoOf(scenario.nowMs),
    lastResetAt: isoOf(scenario.nowMs),
    pnlSinceResetDollars: 0,
    // 100 sold at the bid, 2 cents below what they cost; no bid: at cost.
    lifetimePnlDollars: -2,
  });
  const list = { account: ALICE, organizationSlug: null, status: null, limit: 10, before: null };
  const { trades } = scenario.ask({ kind: 'trades', ...list }).body as {
    trades: Record<string, unknown>[];
  };
  t.deepEqual(
    trades.map(({ status, closeReason, pnlDollars, resolvedOutcome }) => [
      status,
      closeReason,
      pnlDollars,
      resolvedOutcome,
    ]),
    [
      ['reset', 'account_reset', 0, null],
      ['reset', 'account_reset', -2, null],
    ],
  );
  const { orders } = scenario.ask({ kind: 'orders', ...list }).body as {
    orders: Record<string, unknown>[];
  };
  t.deepEqual(
    orders.map(({ status, cancelReason }) => [status, cancelReason]),
    [
      ['canceled', 'account_reset'],
      ['canceled', 'account_reset'],
    ],
  );
  t.deepEqual(scenario.engine.conservation(), []);
});

scenarioTest('M33: what a reset has closed is never settled or filled', (t, createScenario) => {
  const scenario = createScenario({ fillModel: 'book_depth' });
  enable(scenario);
  scenario.book(WIN, [[41, 100]], [[43, 100]]);
  const { trade } = scenario.buy(100).body as { trade: { tradeId: string } };
  scenario.sell(trade.tradeId, { timeInForce: 'gtc', limitPriceCents: 44 });
  scenario.book(WIN, [[44, 30]], [[46, 100]]);
  scenario.book(WIN, [[41, 100]], [[43, 100]]);
  scenario.limitBuy(10, 50);
  reset(scenario);
  scenario.quote(WIN, 5, 8);
  const payouts = { yesPayoutCents: 100, noPayoutCents: 0 };
  scenario.tick({ kind: 'result', source: 0, market: WIN, outcome: 'yes', ...payouts });
  // 30 were sold a cent above their price before, and the reset sells 70 for 2 cents less.
  const lifetimePnlDollars = -1.1;
  t.like(scenario.account(), { balanceDollars: 100_000, lifetimePnlDollars, openPositions: 0 });
});

scenarioTest('M33: no switch hides the price of a reset', (t, createScenario) => {
  const scenario = createScenario({ venueData: false });
  enable(scenario, false);
  scenario.quote(WIN, 41, 43);
  scenario.buy(100);
  t.is(scenario.account().lifetimePnlDollars, 0, 'it is marked at its cost');
  reset(scenario);
  t.is(scenario.account().lifetimePnlDollars, -2, 'it is closed at the bid');
});

scenarioTest('M32: a reset is possible once it is enabled, and every 30 days', (t, create) => {
  const scenario = create();
  t.is(reset(scenario), 'reset_not_available', 'there is no account');
  scenario.quote(WIN, 41, 43);
  scenario.limitBuy(10, 50);
  t.is(reset(scenario), 'reset_not_available', 'it is not enabled');
  t.like(scenario.account(), { resetBlockedBy: 'reset_not_enabled', run: 1, restingOrders: 1 });
  enable(scenario);
  t.is(scenario.account().resetBlockedBy, null);
  t.is(reset(scenario), null);
  const nextResetAt = isoOf(scenario.nowMs + DAYS_30_MS);
  t.is(reset(scenario), 'reset_not_available');
  t.like(scenario.account(), { resetBlockedBy: 'reset_too_soon', nextResetAt, run: 2 });
  scenario.nowMs += DAYS_30_MS - 1;
  t.is(reset(scenario), 'reset_not_available');
  scenario.nowMs += 1;
  t.like(scenario.account(), { resetBlockedBy: null, nextResetAt: null });
  t.is(reset(scenario), null, 'at exactly 30 days it is allowed');
  t.is(scenario.account().run, 3);
});

scenarioTest('M34: each run has its own P&L and adjustments, a lifetime all', (t, create) => {
  const scenario = create();
  enable(scenario);
  const adjust = (amountCents: number) => {
    scenario.engine.command({ kind: 'adjust', atMs: scenario.nowMs, account: ALICE, amountCents });
  };
  scenario.quote(WIN, 41, 43);
  scenario.buy(100);
  adjust(50_000);
  reset(scenario);
  t.like(scenario.account(), { adjustmentsInRunDollars: 0, lifetimePnlDollars: -2 });
  scenario.buy(100);
  adjust(100);
  scenario.quote(WIN, 50, 52);
  t.like(scenario.account(), {
    adjustmentsInRunDollars: 1,
    pnlSinceResetDollars: 7,
    lifetimePnlDollars: 5,
    netWorthDollars: 100_008,
  });
  t.deepEqual(scenario.engine.conservation(), []);
});

scenarioTest('M31: a reset can be what makes a run bust; the next one can be too', (t, create) => {
  const scenario = create();
  enable(scenario);
  const drain = (account: string, leftCents: number) => {
    const { balanceDollars } = scenario.account(account) as { balanceDollars: number };
    const amountCents = leftCents - Math.round(balanceDollars * 100);
    scenario.engine.command({ kind: 'adjust', atMs: scenario.nowMs, account, amountCents });
  };
  scenario.quote(WIN, 41, 43);
  scenario.buy(1, { account: BOB });
  drain(BOB, 10);
  t.is(scenario.account(BOB).busts, 0, 'a trade is open');
  reset(scenario, BOB);
  t.like(scenario.account(BOB), { busts: 1, balanceDollars: 100_000, run: 2 });
  drain(BOB, 10);
  t.is(scenario.account(BOB).busts, 2);
});

scenarioTest('M32, M33: an organization’s sandbox never says that it can be reset', (t, create) => {
  const scenario = create();
  scenario.quote(WIN, 41, 43);
  scenario.buy(1);
  enable(scenario);
  const portfolio = (organizationSlug: string | null) =>
    scenario.ask({ kind: 'portfolio', account: ALICE, organizationSlug }).body.account as object;
  t.like(portfolio(null), { selfResetEnabled: true, resetBlockedBy: null });
  const none = { selfResetEnabled: false, resetBlockedBy: 'reset_not_enabled', nextResetAt: null };
  t.like(portfolio('acme'), none);
  reset(scenario);
  t.like(portfolio('acme'), none);
});
