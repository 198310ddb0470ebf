/** What every trader counts on: whose price, which position, and what changes nothing. */
import {
  ALICE,
  catalog,
  HOME,
  type Scenario,
  scenarioTest,
  TOTAL,
  tradeOf,
  WIN,
  WIN_B,
} from '../../model/scenario.ts';

type Row = Record<string, unknown>;
const tradesOf = (scenario: Scenario) => {
  const page = { limit: 50, before: null, organizationSlug: null, status: null };
  return scenario.ask({ kind: 'trades', account: ALICE, ...page }).body.trades as Row[];
};
const RESULT = { kind: 'result', outcome: 'yes', yesPayoutCents: 100, noPayoutCents: 0 } as const;

scenarioTest('M1: an account begins with its first order that is accepted', (t, createScenario) => {
  const scenario = createScenario();
  t.is(scenario.buy(1).code, 'no_liquidity');
  t.is(scenario.account(), null as never);
  t.is(scenario.limitBuy(40, 1).body.status, 'resting');
  t.like(scenario.account(), { balanceDollars: 99_999.6, heldDollars: 0.4 });
});

scenarioTest('T20: each buy opens a position, a sell closes the one named', (t, createScenario) => {
  const scenario = createScenario();
  scenario.quote(WIN, 41, 43);
  const ids = [1, 2, 3].map((contracts) => tradeOf(scenario.buy(contracts)).tradeId);
  scenario.sell(ids[1] as string);
  t.deepEqual(
    tradesOf(scenario).map(({ tradeId, contracts, status }) => [tradeId, contracts, status]),
    [
      [ids[2], 3, 'open'],
      [ids[1], 2, 'closed'],
      [ids[0], 1, 'open'],
    ],
  );
});

scenarioTest('T10: a quote replaces both sides of the one before', (t, createScenario) => {
  const scenario = createScenario();
  scenario.quote(WIN, 41, 43);
  scenario.quote(WIN, 0, 44);
  t.is(scenario.buy(1, { side: 'no' }).code, 'no_liquidity', 'the bid of 41 is gone');
  t.is(scenario.buy(1).body.fillPriceCents, 44);
});

scenarioTest('T23: a stated probability changes no fill', (t, createScenario) => {
  for (const statedProbPct of [null, 1, 99]) {
    const scenario = createScenario();
    scenario.quote(WIN, 41, 43);
    const bought = scenario.buy(10, { statedProbPct });
    t.is(bought.body.fillPriceCents, 43);
    t.is(tradeOf(bought).statedProbPct, statedProbPct);
  }
});

scenarioTest('T87: the price is venue_a`s, unless another is asked for', (t, createScenario) => {
  const scenario = createScenario();
  scenario.quote(WIN, 41, 43);
  // venue_b is upside down: its bid of 60 is an ask of 40.
  scenario.quote(WIN_B, 60, 62);
  for (const over of [{}, { routing: 'venue_a' }] as const) {
    t.like(scenario.buy(1, over).body, { fillPriceCents: 43, fillVenue: 'venue_a' });
  }
  t.like(scenario.buy(1, { routing: 'best' }).body, { fillPriceCents: 40, fillVenue: 'venue_b' });
});

scenarioTest(
  'T81: a routed sell takes a strictly better bid of another venue',
  (t, createScenario) => {
    const scenario = createScenario();
    scenario.quote(WIN, 41, 43);
    const [first, second, third] = [1, 2, 3].map(() => tradeOf(scenario.buy(1)).tradeId as string);
    // venue_b is upside down: its ask of 59 is a bid of 41, and one of 57 a bid of 43.
    scenario.quote(WIN_B, 57, 59);
    const best = { routing: 'best' } as const;
    t.like(scenario.sell(first!, best).body, { fillPriceCents: 41, fillVenue: 'venue_a' });
    scenario.quote(WIN_B, 55, 57);
    t.like(scenario.sell(second!).body, { fillPriceCents: 41, fillVenue: 'venue_a' });
    t.like(scenario.sell(third!, best).body, { fillPriceCents: 43, fillVenue: 'venue_b' });
  },
);

scenarioTest('T84: what venue_b filled is venue_a`s to settle', (t, createScenario) => {
  const scenario = createScenario();
  scenario.quote(WIN, 41, 43);
  scenario.quote(WIN_B, 60, 62);
  const { tradeId, fillVenue } = tradeOf(scenario.buy(10, { routing: 'best' }));
  t.is(fillVenue, 'venue_b');
  t.is(scenario.account().netWorthDollars, 100_000.1, 'marked at the bid of 41');
  scenario.tick({ ...RESULT, source: 0, market: WIN });
  t.like(tradesOf(scenario)[0], { tradeId, status: 'settled', pnlDollars: 6 });
});

scenarioTest('S5: a result of another venue settles nothing', (t, createScenario) => {
  const scenario = createScenario();
  scenario.quote(WIN, 41, 43);
  scenario.quote(WIN_B, 60, 62);
  scenario.buy(10, { routing: 'best' });
  scenario.tick({ ...RESULT, source: 1, market: WIN_B });
  t.is(scenario.account().openPositions, 1);
  const asked = scenario.buy(1, { routing: 'best' });
  t.like(asked.body, { fillPriceCents: 43, fillVenue: 'venue_a' }, 'its price has ended');
});

scenarioTest('S10: a result reaches what the catalog has dropped', (t, createScenario) => {
  const scenario = createScenario();
  scenario.quote(WIN, 41, 43);
  scenario.buy(10);
  const listed = catalog();
  const instruments = listed.instruments.filter(({ id }) => id !== HOME);
  const atMs = scenario.nowMs;
  scenario.engine.command({ kind: 'catalog', atMs, catalog: { ...listed, instruments } });
  t.is(scenario.buy(1).code, 'instrument_not_found');
  scenario.tick({ ...RESULT, source: 0, market: WIN });
  t.like(tradesOf(scenario)[0], { status: 'settled', pnlDollars: 5.7 });
});

scenarioTest('S12: a pause or a close ends no order and no trade', (t, createScenario) => {
  const scenario = createScenario();
  scenario.quote(WIN, 41, 43);
  scenario.buy(10);
  scenario.limitBuy(40, 10);
  for (const status of ['paused', 'closed'] as const) {
    scenario.tick({ kind: 'status', source: 0, market: WIN, status });
    t.is(scenario.buy(1).code, 'market_not_open');
    t.like(scenario.account(), { openPositions: 1, restingOrders: 1 });
  }
});

scenarioTest('T103, C11: a refusal and a question change nothing', (t, createScenario) => {
  const scenario = createScenario();
  scenario.quote(WIN, 41, 43);
  scenario.buy(10);
  scenario.limitBuy(40, 10);
  const before = scenario.engine.digest();
  t.is(scenario.buy(1_000_000_000).code, 'insufficient_balance');
  t.is(scenario.buy(1, { boundPriceCents: 42 }).code, 'price_moved');
  t.is(scenario.buy(1, { instrumentId: null, ticker: 'NONE' }).code, 'no_tradable_listing');
  scenario.ask({ kind: 'portfolio', account: ALICE, organizationSlug: null });
  scenario.ask({ kind: 'instrument_quote', instrumentId: HOME });
  t.deepEqual(scenario.engine.digest(), before);
});

scenarioTest('T22: a buy may be of as many as the balance pays', (t, createScenario) => {
  const scenario = createScenario();
  scenario.quote(TOTAL, 1, 2);
  const over = { instrumentId: null, ticker: 'TOTAL' } as const;
  t.is(scenario.buy(5_000_001, over).code, 'insufficient_balance');
  t.is(tradeOf(scenario.buy(5_000_000, over)).contracts, 5_000_000);
});
