/** A result that an operator gives in a venue's place. */
import type { MarketOutcome } from '../../../engine/rules/messages.ts';
import {
  ALICE,
  BOB,
  catalog,
  type Scenario,
  scenarioTest,
  WIN,
  WIN_B,
} from '../../model/scenario.ts';

function settle(scenario: Scenario, outcome: MarketOutcome, yes: number, no: number, market = WIN) {
  const payouts = { yesPayoutCents: yes, noPayoutCents: no };
  const reply = scenario.engine.command({
    ...{ kind: 'settle', atMs: scenario.nowMs, market, outcome },
    ...{ ...payouts, correction: null },
  });
  return reply.ok ? JSON.parse(reply.body) : reply.code;
}

scenarioTest('T140: an operator settles a market once, like its venue', (t, createScenario) => {
  const scenario = createScenario();
  scenario.quote(WIN, 41, 43);
  scenario.buy(10);
  scenario.buy(10, { side: 'no', account: BOB });
  scenario.limitBuy(2, 5);
  t.deepEqual(settle(scenario, 'scalar', 64, 35), {
    isNew: true,
    settledTrades: 2,
    correctedTrades: 0,
    canceledOrders: 1,
  });
  t.is(scenario.account(ALICE).balanceDollars, 100_002.1);
  t.is(scenario.account(BOB).balanceDollars, 99_997.6);
  t.is(scenario.account(ALICE).restingOrders, 0);
  t.deepEqual(settle(scenario, 'scalar', 64, 35), {
    isNew: false,
    settledTrades: 0,
    correctedTrades: 0,
    canceledOrders: 0,
  });
  t.is(settle(scenario, 'scalar', 64, 36), 'market_resolved', 'another value is another result');
  t.is(settle(scenario, 'yes', 100, 0), 'market_resolved');
  t.is(scenario.buy(1).code, 'market_resolved');
  t.deepEqual(scenario.engine.conservation(), []);
});

scenarioTest('T140: whoever comes first settles, venue or operator', (t, createScenario) => {
  const scenario = createScenario();
  scenario.quote(WIN, 41, 43);
  scenario.buy(10);
  const venueSays = (outcome: 'yes' | 'no') => {
    const [yesPayoutCents, noPayoutCents] = outcome === 'yes' ? [100, 0] : [0, 100];
    const payouts = { yesPayoutCents: yesPayoutCents!, noPayoutCents: noPayoutCents! };
    scenario.tick({ kind: 'result', source: 0, market: WIN, outcome, ...payouts });
  };
  t.like(settle(scenario, 'void', 0, 0), { settledTrades: 1 });
  venueSays('yes');
  t.is(scenario.account().balanceDollars, 100_000, 'the cost is back, and no more');

  const other = createScenario();
  other.quote(WIN, 41, 43);
  other.buy(10);
  other.tick({
    ...{ kind: 'result', source: 0, market: WIN, outcome: 'yes' },
    ...{ yesPayoutCents: 100, noPayoutCents: 0 },
  });
  t.is(settle(other, 'no', 0, 100), 'market_resolved');
  t.deepEqual(settle(other, 'yes', 100, 0), {
    isNew: false,
    settledTrades: 0,
    correctedTrades: 0,
    canceledOrders: 0,
  });
});

scenarioTest(
  'T140, S5, S10: another venue’s settles nothing, a dropped one settles',
  (t, createScenario) => {
    const scenario = createScenario();
    scenario.quote(WIN, 41, 43);
    scenario.buy(10);
    t.deepEqual(settle(scenario, 'yes', 100, 0, WIN_B), {
      isNew: true,
      settledTrades: 0,
      correctedTrades: 0,
      canceledOrders: 0,
    });
    t.is(scenario.account().openPositions, 1);
    scenario.engine.command({
      kind: 'catalog',
      atMs: scenario.nowMs,
      catalog: { ...catalog(), games: [], instruments: [] },
    });
    t.deepEqual(settle(scenario, 'yes', 100, 0), {
      isNew: true,
      settledTrades: 1,
      correctedTrades: 0,
      canceledOrders: 0,
    });
    t.is(scenario.account().balanceDollars, 100_005.7);
  },
);
