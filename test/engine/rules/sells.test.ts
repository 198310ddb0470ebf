/** What a sell is of, what it costs, and where; and a sell beside one that rests for the position. */
import {
  catalog,
  HOME,
  idOfOrder,
  idOfTrade,
  OVER,
  orderOf,
  scenarioTest,
  TOTAL,
  tradeOf,
  WIN,
} from '../../model/scenario.ts';

for (const timeInForce of ['ioc', 'fok'] as const) {
  scenarioTest(
    `T52: ${timeInForce} beside a resting sell replaces it where it fills`,
    (t, createScenario) => {
      const scenario = createScenario();
      scenario.quote(WIN, 41, 43);
      const trade = idOfTrade(scenario.buy(10));
      const limit = { timeInForce: 'gtc', limitPriceCents: 60 } as const;
      const resting = idOfOrder(scenario.sell(trade, limit));
      const missed = scenario.sell(trade, { ...limit, timeInForce, limitPriceCents: 42 });
      t.like(missed.body, { status: 'canceled', trade: null });
      t.is(orderOf(missed).cancelReason, `${timeInForce}_not_filled`);
      t.like(scenario.order(resting), {
        status: 'resting',
        tradeId: trade,
        remainingContracts: 10,
      });
      // One that would rest is refused, whether it would fill at once or not.
      t.is(scenario.sell(trade, { ...limit, limitPriceCents: 41 }).code, 'already_closed');

      const sold = scenario.sell(trade, { ...limit, timeInForce, limitPriceCents: 41 });
      t.like(sold.body, { status: 'executed', fillPriceCents: 41 });
      t.like(tradeOf(sold), { tradeId: trade, status: 'closed', closeReason: 'sold' });
      t.like(scenario.order(resting), { status: 'canceled', cancelReason: 'position_closed' });
      t.is(scenario.account().restingOrders, 0);
      t.deepEqual(scenario.engine.conservation(), []);
    },
  );
}

scenarioTest(
  'T50, T53: a sell is of all that is held, holds nothing and needs no plan',
  (t, createScenario) => {
    const scenario = createScenario();
    scenario.quote(WIN, 41, 43);
    const trades = [10, 20].map((contracts) => idOfTrade(scenario.buy(contracts)));
    const before = scenario.account();
    t.is(scenario.buy(1, { mayOpen: false }).code, 'membership_required');
    const limit = { timeInForce: 'gtc', limitPriceCents: 60, mayOpen: false } as const;
    const resting = scenario.sell(trades[1]!, limit);
    t.like(orderOf(resting), { status: 'resting', contracts: 20, holdDollars: 0 });
    const { balanceDollars, heldDollars } = before;
    t.like(scenario.account(), { balanceDollars, heldDollars, restingOrders: 1 });
    t.like(tradeOf(scenario.sell(trades[0]!, { mayOpen: false })), {
      status: 'closed',
      contracts: 10,
    });
    scenario.quote(WIN, 60, 62);
    t.like(scenario.order(idOfOrder(resting)), { status: 'executed', filledContracts: 20 });
    t.is(scenario.account().openPositions, 0);
  },
);

scenarioTest('T56: a position is sold where it was bought', (t, createScenario) => {
  const scenario = createScenario();
  scenario.quote(WIN, 41, 43);
  scenario.quote(TOTAL, 71, 73);
  const trades = [1, 2, 3].map((contracts) => idOfTrade(scenario.buy(contracts)));
  const listed = catalog();
  const [total] = listed.instruments.find(({ id }) => id === OVER)!.listings;
  const moved = listed.instruments.map((one) => {
    return one.id === HOME ? { ...one, listings: [{ ...total!, polarity: 1 } as const] } : one;
  });
  const dropped = listed.instruments.filter(({ id }) => id !== HOME);
  for (const instruments of [moved, dropped]) {
    const atMs = scenario.nowMs;
    scenario.engine.command({ kind: 'catalog', atMs, catalog: { ...listed, instruments } });
    t.is(scenario.sell(trades.pop()!).body.fillPriceCents, 41);
  }
  t.is(scenario.buy(1).code, 'instrument_not_found');
  t.deepEqual(scenario.engine.conservation(), []);
});

const ASKS: [number, number][] = [
  [43, 100],
  [45, 50],
];

scenarioTest('T52: an ioc sell that fills in part ends the resting one', (t, createScenario) => {
  const scenario = createScenario({ fillModel: 'book_depth' });
  scenario.book(WIN, [[41, 100]], ASKS);
  const trade = idOfTrade(scenario.buy(120));
  const limit = { limitPriceCents: 42 } as const;
  const resting = idOfOrder(scenario.sell(trade, { ...limit, timeInForce: 'gtc' }));
  scenario.book(WIN, [[44, 30]], [[46, 100]]);
  t.like(scenario.order(resting), { filledContracts: 30, fillPriceCents: 44 });

  // It does not fill, and what the resting one has sold, and for what, stays so.
  const missed = scenario.sell(trade, { ...limit, limitPriceCents: 60, timeInForce: 'ioc' });
  t.like(orderOf(missed), { status: 'canceled', contracts: 90, filledContracts: 0 });
  const fok = scenario.sell(trade, { ...limit, limitPriceCents: 41, timeInForce: 'fok' });
  t.is(orderOf(fok).cancelReason, 'fok_not_filled');
  t.like(scenario.order(resting), { status: 'resting', filledContracts: 30, fillPriceCents: 44 });

  // 20 of the 90 that are left at 41, below the resting one's limit: the others stay, unsold.
  scenario.book(WIN, [[41, 20]], ASKS);
  const part = scenario.sell(trade, { ...limit, limitPriceCents: 41, timeInForce: 'ioc' });
  t.like(part.body, { status: 'executed', fillPriceCents: 41 });
  t.like(orderOf(part), { cancelReason: 'ioc_not_filled', filledContracts: 20 });
  t.like(tradeOf(part), { status: 'open', contracts: 70 });
  t.like(scenario.order(resting), { status: 'canceled', cancelReason: 'position_closed' });
  t.like(scenario.order(resting), { filledContracts: 30, fillPriceCents: 44 });
  t.is(scenario.account().restingOrders, 0);
  t.deepEqual(scenario.engine.conservation(), []);
});
