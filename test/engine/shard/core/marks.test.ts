import { isoOf } from '../../../../engine/base/units.ts';
import { ALICE, type Scenario, scenarioTest, WIN } from '../../../model/scenario.ts';

type Row = Record<string, unknown>;

function position(scenario: Scenario): Row {
  const query = { kind: 'portfolio', account: ALICE, organizationSlug: null } as const;
  return (scenario.ask(query).body.positions as Row[])[0]!;
}

function lastTrade(scenario: Scenario): Row {
  const page = { account: ALICE, organizationSlug: null, limit: 1, before: null, status: null };
  return (scenario.ask({ kind: 'trades', ...page }).body.trades as Row[])[0]!;
}

scenarioTest('A78: a position shows its bid, its value and what it has made', (t, create) => {
  const scenario = create();
  scenario.quote(WIN, 40, 43);
  scenario.buy(10);
  t.like(position(scenario), { markCents: 40, valueDollars: 4, unrealizedPnlDollars: -0.3 });
  scenario.quote(WIN, 50, 52);
  t.like(position(scenario), { markCents: 50, valueDollars: 5, unrealizedPnlDollars: 0.7 });
  const { netWorthDollars, balanceDollars } = scenario.account() as Record<string, number>;
  t.is(netWorthDollars, balanceDollars! + 5);
  scenario.quote(WIN, 0, 52);
  t.like(position(scenario), { markCents: null, valueDollars: 4.3, unrealizedPnlDollars: 0 });
});

scenarioTest('A78, A80, V3: while venue data is off none of it is there', (t, create) => {
  const scenario = create({ venueData: false });
  scenario.quote(WIN, 40, 43);
  const { trade } = scenario.buy(10).body as { trade: Row };
  const shown = position(scenario);
  for (const name of ['markCents', 'valueDollars', 'unrealizedPnlDollars']) {
    t.false(name in shown, name);
  }
  scenario.sell(trade.tradeId as string);
  t.false('exitCents' in trade);
  t.false('exitCents' in lastTrade(scenario));
});

scenarioTest('A80: a trade shows what its contracts brought, sold', (t, create) => {
  const scenario = create();
  scenario.quote(WIN, 40, 43);
  const { trade } = scenario.buy(10).body as { trade: Row };
  t.is(trade.exitCents, null);
  scenario.sell(trade.tradeId as string);
  t.is(lastTrade(scenario).exitCents, 40);
});

scenarioTest('A80: of a trade that is sold in parts, the average rounded down', (t, create) => {
  const scenario = create({ fillModel: 'book_depth' });
  scenario.book(WIN, [[40, 100]], [[43, 100]]);
  const { trade } = scenario.buy(4).body as { trade: Row };
  scenario.book(WIN, [[50, 1]], [[60, 100]]);
  scenario.sell(trade.tradeId as string, { limitPriceCents: 40, timeInForce: 'gtc' });
  t.is(lastTrade(scenario).exitCents, null, 'some of it is open');
  scenario.book(WIN, [[41, 3]], [[60, 100]]);
  // 50 + 3 x 41 of 4 is 43.25.
  t.like(lastTrade(scenario), { status: 'closed', exitCents: 43 });
});

for (const [outcome, yesPayoutCents, noPayoutCents, exitCents] of [
  ['yes', 100, 0, 100],
  ['no', 0, 100, 0],
  ['scalar', 64, 35, 64],
  ['void', 0, 0, 43],
] as const) {
  scenarioTest(`A80: of a market that ends ${outcome}, what a contract got`, (t, create) => {
    const scenario = create();
    scenario.quote(WIN, 40, 43);
    scenario.buy(10);
    const payouts = { yesPayoutCents, noPayoutCents };
    scenario.tick({ kind: 'result', source: 0, market: WIN, outcome, ...payouts });
    t.is(lastTrade(scenario).exitCents, exitCents);
  });
}

scenarioTest('A81: an order shows when it ended, and how', (t, create) => {
  const scenario = create();
  scenario.quote(WIN, 40, 43);
  const at = (ms: number) => isoOf(startMs + ms);
  const startMs = scenario.nowMs;
  const place = (price: number, over = {}) =>
    (scenario.limitBuy(price, 1, over).body.order as Row).orderId as string;
  const filled = place(41);
  const canceled = place(20);
  const expired = place(21, { expiresAtMs: startMs + 1500 });
  const now = place(43);
  const none = { executedAt: null, canceledAt: null };
  t.like(scenario.order(filled), { status: 'resting', ...none, updatedAt: at(0) });
  t.like(scenario.order(now), { ...none, executedAt: at(0), updatedAt: at(0) });
  scenario.nowMs += 1000;
  scenario.quote(WIN, 40, 41);
  scenario.cancel(canceled);
  scenario.nowMs += 1000;
  scenario.tick({ kind: 'time' });
  t.like(scenario.order(filled), { ...none, executedAt: at(1000), updatedAt: at(1000) });
  t.like(scenario.order(canceled), { ...none, canceledAt: at(1000), updatedAt: at(1000) });
  t.like(scenario.order(expired), { status: 'expired', ...none, updatedAt: at(1500) });
  t.is(scenario.order(filled).createdAt, at(0));
});

scenarioTest('A81: a part that trades does not change the status', (t, create) => {
  const scenario = create({ fillModel: 'book_depth' });
  scenario.book(WIN, [[40, 100]], [[43, 100]]);
  const { order } = scenario.limitBuy(41, 10).body as { order: Row };
  scenario.nowMs += 1000;
  scenario.book(WIN, [[40, 100]], [[41, 4]]);
  const shown = scenario.order(order.orderId as string);
  t.like(shown, { filledContracts: 4, executedAt: null, updatedAt: order.createdAt });
});
