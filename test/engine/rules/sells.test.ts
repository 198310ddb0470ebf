/** A sell beside one that rests for the same position. */
import { scenarioTest, WIN } from '../../model/scenario.ts';

type Row = Record<string, unknown>;
const tradeOf = (reading: { body: Row }) => reading.body.trade as Row;
const orderOf = (reading: { body: Row }) => reading.body.order as Row;
const idOfTrade = (reading: { body: Row }) => tradeOf(reading).tradeId as string;
const idOfOrder = (reading: { body: Row }) => orderOf(reading).orderId as string;

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
