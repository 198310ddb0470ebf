import test from 'ava';
import { resultOf } from '../../../engine/rules/apply-results.ts';
import type { MarketOutcome, MarketResult } from '../../../engine/rules/messages.ts';
import {
  ALICE,
  AWAY,
  BOB,
  type CreateScenario,
  catalog,
  OVER,
  type Scenario,
  scenarioTest,
  TOTAL,
  WIN,
} from '../../model/scenario.ts';
import { CATALOG, NOON_MS, placeOrder, quoteTick } from '../fixtures.ts';
import { createMemoryEngine } from '../memory-engine.ts';

type Row = Record<string, unknown>;

function settle(scenario: Scenario, outcome: MarketOutcome, yesPayoutCents = 0, noPayoutCents = 0) {
  scenario.tick({ kind: 'result', source: 0, market: WIN, outcome, yesPayoutCents, noPayoutCents });
}

function tradesOf(scenario: Scenario, account = ALICE): Row[] {
  const page = { limit: 200, before: null, organizationSlug: null, status: null };
  return scenario.ask({ kind: 'trades', account, ...page }).body.trades as Row[];
}

const ending = (trade: Row) => [
  trade.instrumentSide,
  trade.status,
  trade.closeReason,
  trade.pnlDollars,
  trade.resolvedOutcome,
];

/** Ten contracts each of HOME yes at 43, HOME no at 59 and AWAY yes (the market's no) at 59. */
function holdingThree(createScenario: CreateScenario): Scenario {
  const scenario = createScenario();
  scenario.quote(WIN, 41, 43);
  scenario.buy(10);
  scenario.buy(10, { side: 'no' });
  scenario.buy(10, { instrumentId: AWAY });
  return scenario;
}

scenarioTest('S1: the winner is paid 100, the loser nothing', (t, createScenario) => {
  const scenario = holdingThree(createScenario);
  settle(scenario, 'yes', 100, 0);
  t.deepEqual(tradesOf(scenario).map(ending).reverse(), [
    ['yes', 'settled', 'settled', 5.7, 'yes'],
    ['no', 'settled', 'settled', -5.9, 'yes'],
    ['yes', 'settled', 'settled', -5.9, 'no'],
  ]);
  t.is(scenario.account().balanceDollars, 99_993.9);
  t.is(scenario.account().openPositions, 0);
  t.deepEqual(scenario.engine.conservation(), []);
});

scenarioTest('S2: a void pays the cost back', (t, createScenario) => {
  const scenario = holdingThree(createScenario);
  settle(scenario, 'void');
  for (const trade of tradesOf(scenario)) {
    t.deepEqual(ending(trade).slice(1), ['void', 'voided', 0, null]);
  }
  t.is(scenario.account().balanceDollars, 100_000);
});

scenarioTest('S3: a scalar pays each side its payout', (t, createScenario) => {
  const scenario = holdingThree(createScenario);
  settle(scenario, 'scalar', 62, 37);
  t.deepEqual(tradesOf(scenario).map(ending).reverse(), [
    ['yes', 'settled', 'settled', 1.9, null],
    ['no', 'settled', 'settled', -2.2, null],
    ['yes', 'settled', 'settled', -2.2, null],
  ]);
  t.deepEqual(scenario.engine.conservation(), []);
});

scenarioTest('S6: a trade settles once, whatever arrives later', (t, createScenario) => {
  const scenario = holdingThree(createScenario);
  settle(scenario, 'no', 0, 100);
  const after = scenario.engine.digest();
  settle(scenario, 'yes', 100, 0);
  scenario.tick({ kind: 'game', source: 0, game: 'away-at-home', status: 'cancelled' });
  t.deepEqual(scenario.engine.digest(), after);
});

scenarioTest('S4: resting orders are canceled, holds released', (t, createScenario) => {
  const scenario = createScenario();
  scenario.quote(WIN, 41, 43);
  const trade = scenario.buy(10).body.trade as Row;
  const limit = { timeInForce: 'gtc', limitPriceCents: 60 } as const;
  const sell = scenario.sell(trade.tradeId as string, limit).body.order as Row;
  const buy = scenario.limitBuy(40, 100).body.order as Row;
  settle(scenario, 'yes', 100, 0);
  for (const { orderId } of [sell, buy]) {
    const order = scenario.order(orderId as string);
    t.is(order.status, 'canceled');
    t.is(order.cancelReason, 'market_resolved');
  }
  t.is(scenario.account().balanceDollars, 100_005.7);
  t.is(scenario.account().heldDollars, 0);
});

scenarioTest('S4, S7: a cancelled game voids what has no result', (t, createScenario) => {
  const scenario = holdingThree(createScenario);
  scenario.quote(TOTAL, 20, 24);
  scenario.buy(10, { instrumentId: OVER });
  const resting = scenario.limitBuy(10, 10, { instrumentId: OVER }).body.order as Row;
  settle(scenario, 'yes', 100, 0);
  scenario.tick({ kind: 'game', source: 0, game: 'away-at-home', status: 'postponed' });
  t.like(scenario.account(), { openPositions: 1, restingOrders: 1 });
  scenario.tick({ kind: 'game', source: 0, game: 'away-at-home', status: 'cancelled' });
  const statuses = tradesOf(scenario).map((trade) => trade.status);
  t.deepEqual(statuses, ['void', 'settled', 'settled', 'settled']);
  const canceled = scenario.order(resting.orderId as string);
  t.like(canceled, { status: 'canceled', cancelReason: 'market_resolved' });
  t.is(scenario.account().heldDollars, 0);
  t.is(scenario.buy(1, { instrumentId: OVER }).code, 'market_resolved');
});

scenarioTest('T124: a game that the catalog calls cancelled voids, too', (t, createScenario) => {
  const scenario = holdingThree(createScenario);
  const buy = scenario.limitBuy(40, 100).body.order as Row;
  scenario.quote(TOTAL, 20, 24);
  const listed = catalog();
  const games = listed.games.map((game) => ({ ...game, status: 'cancelled' as const }));
  const cancelled = { ...listed, games };
  const send = () =>
    scenario.engine.command({ kind: 'catalog', atMs: scenario.nowMs, catalog: cancelled });
  t.true(send().ok);
  for (const trade of tradesOf(scenario)) {
    t.deepEqual(ending(trade).slice(1), ['void', 'voided', 0, null]);
  }
  t.is(scenario.order(buy.orderId as string).cancelReason, 'market_resolved');
  t.is(scenario.account().balanceDollars, 100_000);
  t.is(
    scenario.buy(1, { instrumentId: OVER }).code,
    'market_resolved',
    'nothing fills there any more',
  );
  t.deepEqual(scenario.engine.conservation(), []);

  const after = scenario.engine.digest();
  t.true(send().ok);
  t.deepEqual(scenario.engine.digest(), after, 'every start sends the catalog again');
});

scenarioTest(
  'T124: a catalog that calls a game cancelled leaves results alone',
  (t, createScenario) => {
    const scenario = holdingThree(createScenario);
    settle(scenario, 'yes', 100, 0);
    const before = tradesOf(scenario);
    const listed = catalog();
    const games = listed.games.map((game) => ({ ...game, status: 'cancelled' as const }));
    scenario.engine.command({
      kind: 'catalog',
      atMs: scenario.nowMs,
      catalog: { ...listed, games },
    });
    t.deepEqual(tradesOf(scenario), before);
  },
);

scenarioTest('M31: a bust is counted once a run', (t, createScenario) => {
  const scenario = createScenario();
  scenario.quote(WIN, 41, 50);
  // All of it but 50 cents.
  t.is(scenario.buy(199_999).body.status, 'executed');
  t.is(scenario.account().busts, 0, 'something is open');
  settle(scenario, 'no', 0, 100);
  t.is(scenario.account().balanceDollars, 0.5);
  t.is(scenario.account().busts, 1);

  const give = (amountCents: number) =>
    scenario.engine.command({ kind: 'adjust', atMs: scenario.nowMs, account: ALICE, amountCents });
  t.true(give(1000).ok);
  t.true(give(-1000).ok);
  t.is(scenario.account().busts, 1);
  t.is(scenario.account().adjustmentsInRunDollars, 0);
});

scenarioTest('M31: a bust is below a dollar, not at one', (t, createScenario) => {
  const scenario = createScenario();
  scenario.limitBuy(1, 1, { timeInForce: 'ioc' });
  const adjust = { kind: 'adjust', atMs: scenario.nowMs, account: ALICE } as const;
  t.true(scenario.engine.command({ ...adjust, amountCents: -9_999_900 }).ok);
  t.like(scenario.account(), { balanceDollars: 1, busts: 0 });
  t.true(scenario.engine.command({ ...adjust, amountCents: -1 }).ok);
  t.like(scenario.account(), { balanceDollars: 0.99, busts: 1 });
});

scenarioTest('M31: no bust while an order rests', (t, createScenario) => {
  const scenario = createScenario();
  scenario.limitBuy(1, 50, { instrumentId: OVER, expiresAtMs: scenario.nowMs + 1000 });
  const adjust = { kind: 'adjust', atMs: scenario.nowMs, account: ALICE } as const;
  scenario.engine.command({ ...adjust, amountCents: -9_999_950 });
  t.is(scenario.account().balanceDollars, 0);
  t.is(scenario.account().busts, 0);
  scenario.nowMs += 1000;
  scenario.tick({ kind: 'time' });
  t.is(scenario.account().balanceDollars, 0.5);
  t.is(scenario.account().busts, 1);
});

scenarioTest('M9: an unknown account, and more than there is, are refused', (t, createScenario) => {
  const scenario = createScenario();
  scenario.limitBuy(40, 1);
  const adjust = { kind: 'adjust', atMs: scenario.nowMs } as const;
  const code = (account: string, amountCents: number) => {
    const reply = scenario.engine.command({ ...adjust, account, amountCents });
    return reply.ok ? null : reply.code;
  };
  t.is(code(BOB, 100), 'account_not_found');
  t.is(code(ALICE, -10_000_000), 'insufficient_balance', '40 cents are held');
  t.is(code(ALICE, -Number.MAX_SAFE_INTEGER), 'insufficient_balance', 'it can be counted (M11)');
  t.is(code(ALICE, 250), null);
  t.is(scenario.account().adjustmentsInRunDollars, 2.5);
  t.is(scenario.account().pnlSinceResetDollars, 0);
  t.deepEqual(scenario.engine.conservation(), []);
});

test('T128: a game that no catalog lists is not kept', (t) => {
  const engine = createMemoryEngine({ quoteMaxAgeMs: 15_000, routingBandCents: 10 });
  engine.command({ kind: 'catalog', atMs: NOON_MS, catalog: CATALOG });
  const tick = { kind: 'game', atMs: NOON_MS, source: 0, status: 'inprogress' } as const;
  for (let n = 0; n < 100; n++) engine.tick({ ...tick, game: `somewhere-${n}` });
  t.is(engine.state().games.size, 0);
  engine.tick({ ...tick, game: 'awy-hom' });
  t.is(engine.state().games.size, 1);
});

test('S11: a result is known as it came, for a shard that a crash kept it from', (t) => {
  const cases: MarketResult[] = [
    { outcome: 'yes', yesPayoutCents: 100, noPayoutCents: 0 },
    { outcome: 'no', yesPayoutCents: 0, noPayoutCents: 100 },
    { outcome: 'void', yesPayoutCents: 0, noPayoutCents: 0 },
    { outcome: 'scalar', yesPayoutCents: 63, noPayoutCents: 36 },
  ];
  for (const result of cases) {
    const engine = createMemoryEngine({ quoteMaxAgeMs: 15_000, routingBandCents: 10 });
    engine.command({ kind: 'catalog', atMs: NOON_MS, catalog: CATALOG });
    const known = () => resultOf(engine.state().markets[0]!);
    t.is(known(), null);
    engine.tick({ kind: 'result', atMs: NOON_MS, source: 0, market: 0, ...result });
    t.deepEqual(known(), result);
    engine.crash();
    t.deepEqual(known(), result, 'also after a start');
  }
});

test('S1: nothing is kept of the positions of a settled market', (t) => {
  const engine = createMemoryEngine({ quoteMaxAgeMs: 15_000, routingBandCents: 10 });
  engine.command({ kind: 'catalog', atMs: NOON_MS, catalog: CATALOG });
  engine.tick(quoteTick());
  for (let n = 0; n < 3; n++) engine.command(placeOrder());
  const { positionsOfMarket, markets } = engine.state();
  t.is(positionsOfMarket.count(markets[0]!.number), 3);
  const won = { outcome: 'yes', yesPayoutCents: 100, noPayoutCents: 0 } as const;
  engine.tick({ kind: 'result', atMs: NOON_MS, source: 0, market: 0, ...won });
  t.is(positionsOfMarket.count(markets[0]!.number), 0);
});
