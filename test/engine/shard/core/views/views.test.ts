import test from 'ava';
import { cursorOf, ROW_ID } from '../../../../../engine/base/cursors.ts';
import { tradeIdOf } from '../../../../../engine/rules/ids.ts';
import {
  ALICE,
  AWAY,
  catalog,
  HOME,
  idOf,
  MAX_AGE_MS,
  type Scenario,
  scenarioTest,
  WIN,
} from '../../../../model/scenario.ts';
import { CATALOG, NOON_MS, placeOrder, quoteTick, ROUTED } from '../../../fixtures.ts';
import { createMemoryEngine } from '../../../memory-engine.ts';

type Row = Record<string, unknown>;
const NOON = '2026-03-01T12:00:00.000Z';

/** The id of the scenario's n-th order, and of the trade that it opens at the same time. */
const orderId = (scenario: Scenario, number: number) => {
  const time = scenario.nowMs.toString(16).padStart(12, '0');
  return idOf(`${time.slice(0, 8)}-${time.slice(8)}`, number * 16);
};

scenarioTest(
  'A40, A5, A7, I63, M2, M12, M30, M32, portfolio: account, positions and resting orders, newest first',
  (t, createScenario) => {
    const scenario = createScenario();
    scenario.quote(WIN, 41, 43);
    const first = orderId(scenario, 1);
    scenario.buy(100, { instrumentId: AWAY, statedProbPct: 61, placedPrivate: true });
    const opened = tradeIdOf(first, scenario.nowMs);
    const second = orderId(scenario, 2);
    scenario.limitBuy(40, 200, { placedVia: 'web', expiresAtMs: scenario.nowMs + 3_600_000 });
    scenario.limitBuy(1, 1);

    const { body } = scenario.ask({ kind: 'portfolio', account: ALICE, organizationSlug: 'acme' });
    const orders = body.orders as Row[];
    t.is(orders.length, 2);
    t.deepEqual(orders[1], {
      orderId: second,
      action: 'buy',
      instrumentId: HOME,
      instrumentLabel: 'Home wins',
      instrumentSide: 'yes',
      orderSide: 'yes',
      contracts: 200,
      filledContracts: 0,
      remainingContracts: 200,
      limitCents: 40,
      holdDollars: 80,
      timeInForce: 'gtc',
      expiresAt: '2026-03-01T13:00:00.000Z',
      status: 'resting',
      pendingUntil: null,
      createdAt: NOON,
      executedAt: null,
      canceledAt: null,
      updatedAt: NOON,
      statedProbPct: null,
      placedVia: 'web',
      placedPrivate: false,
      fillModel: 'top_of_book',
      feesDollars: null,
      orderGroupId: null,
      postOnly: false,
      marketTicker: 'WIN',
    });
    t.deepEqual(body.positions, [
      {
        tradeId: opened,
        instrumentId: AWAY,
        instrumentLabel: 'Away wins',
        instrumentSide: 'yes',
        boughtSide: 'no',
        contracts: 100,
        costDollars: 59,
        statedProbPct: 61,
        placedVia: 'api',
        placedPrivate: true,
        parlayId: null,
        fillVenue: 'venue_a',
        fillModel: 'top_of_book',
        feesDollars: null,
        openedAt: NOON,
        marketTicker: 'WIN',
        entryCents: 59,
        markCents: 57,
        valueDollars: 57,
        unrealizedPnlDollars: -2,
      },
    ]);
    t.deepEqual(body.account, {
      balanceDollars: 99_860.99,
      netWorthDollars: 99_998,
      openStakeDollars: 59,
      heldDollars: 80.01,
      openPositions: 1,
      restingOrders: 2,
      run: 1,
      runStartedAt: NOON,
      startBalanceDollars: 100_000,
      adjustmentsInRunDollars: 0,
      pnlSinceResetDollars: -2,
      selfResetEnabled: false,
      resetBlockedBy: 'reset_not_enabled',
      nextResetAt: null,
      lifetimePnlDollars: -2,
      resets: 0,
      busts: 0,
      lastResetAt: null,
    });
    const { account: _a, positions: _p, orders: _o, ...rest } = body;
    t.deepEqual(rest, {
      positionsCount: 1,
      positionsTruncated: false,
      ordersCount: 2,
      ordersTruncated: false,
      asOf: NOON,
      venueData: true,
      mode: 'paper',
      organization: { slug: 'acme' },
    });
  },
);

scenarioTest(
  'M21, M27: positions are marked at the live bid, else at cost',
  (t, createScenario) => {
    const scenario = createScenario();
    scenario.quote(WIN, 41, 43);
    scenario.buy(100);
    scenario.quote(WIN, 51, 53);
    t.is(scenario.account().netWorthDollars, 100_008);
    t.is(scenario.account().lifetimePnlDollars, 8);
    scenario.nowMs += MAX_AGE_MS + 1;
    t.is(scenario.account().netWorthDollars, 100_000, 'stale');
  },
);

scenarioTest(
  'M22, M23, M24, M25: what is held, at stake and marked, after a sale and an adjustment',
  (t, createScenario) => {
    const scenario = createScenario();
    scenario.quote(WIN, 41, 43);
    const sold = scenario.buy(100).body.trade as Row;
    scenario.buy(10, { side: 'no' }); // 5.90 at stake
    scenario.buy(200); // 86 at stake
    scenario.limitBuy(40, 50); // holds 20
    scenario.quote(WIN, 45, 50);
    scenario.sell(sold.tradeId as string); // 45 for 43
    const adjust = { kind: 'adjust', atMs: scenario.nowMs, account: ALICE } as const;
    t.true(scenario.engine.command({ ...adjust, amountCents: 700 }).ok);
    // 200 yes are worth 45 each, 10 no 100 - 50 = 50 each: 95 in all, for 91.90.
    t.like(scenario.account(), {
      openStakeDollars: 91.9,
      heldDollars: 20,
      balanceDollars: 100_000 - 91.9 - 20 + 2 + 7,
      netWorthDollars: 100_000 + 2 + 7 + 3.1,
      adjustmentsInRunDollars: 7,
      pnlSinceResetDollars: 5.1,
      lifetimePnlDollars: 5.1,
    });
    scenario.quote(WIN, 46, 50);
    t.like(scenario.account(), { netWorthDollars: 100_014.1, openStakeDollars: 91.9 });
  },
);

scenarioTest(
  'V3, V5, M21, switch off: no ticker and no price, positions at cost',
  (t, createScenario) => {
    const scenario = createScenario({ venueData: false });
    scenario.quote(WIN, 41, 43);
    const { body } = scenario.limitBuy(50, 100);
    t.is(body.venueData, false);
    t.false('fillPriceCents' in body);
    t.false('fillPriceCents' in (body.order as Row));
    t.false('marketTicker' in (body.order as Row));
    t.false('marketTicker' in (body.trade as Row));
    t.false('entryCents' in (body.trade as Row));
    t.is((body.trade as Row).costDollars, 43);
    t.is((body.order as Row).limitCents, 50);
    t.is(scenario.account().netWorthDollars, 100_000);
  },
);

scenarioTest(
  'A36, T26, T28, I63, placement result: limit, then its sale by market',
  (t, createScenario) => {
    const scenario = createScenario();
    scenario.quote(WIN, 41, 43);
    const bought = orderId(scenario, 1);
    const tradeId = tradeIdOf(bought, scenario.nowMs);
    const { body } = scenario.limitBuy(50, 100);
    const { order, trade, ...rest } = body;
    t.deepEqual(rest, {
      status: 'executed',
      action: 'buy',
      type: 'limit',
      idempotencyKey: 'key-1',
      replayed: false,
      originalCreatedAt: null,
      fillVenue: 'venue_a',
      mode: 'paper',
      venueData: true,
      fillPriceCents: 43,
    });
    const { type, cancelReason, fillPriceCents, tradeId: opened } = order as Row;
    t.deepEqual(
      { type, cancelReason, fillPriceCents, opened },
      {
        type: 'limit',
        cancelReason: null,
        fillPriceCents: 43,
        opened: tradeId,
      },
    );

    scenario.nowMs += 1000;
    const sold = scenario.sell(tradeId).body;
    t.is(sold.order, null);
    const closed = sold.trade as Row;
    t.deepEqual(closed, {
      ...(trade as Row),
      status: 'closed',
      closedAt: '2026-03-01T12:00:01.000Z',
      closeReason: 'sold',
      pnlDollars: -2,
      resolvedOutcome: null,
      exitCents: 41,
    });
  },
);

scenarioTest('A42: lists page newest first, by status, limit orders only', (t, createScenario) => {
  const scenario = createScenario();
  scenario.quote(WIN, 41, 43);
  const ids: string[] = [];
  const limit = (price: number) =>
    ids.push((scenario.limitBuy(price, 1).body.order as Row).orderId as string);
  limit(40);
  limit(50);
  scenario.buy(1);
  limit(39);
  limit(38);
  const list = (query: { limit: number; before: string | null; status: 'resting' | null }) =>
    scenario.ask({ kind: 'orders', account: ALICE, organizationSlug: null, ...query }).body;
  const idsOf = (body: Row) => (body.orders as Row[]).map((order) => order.orderId);

  const first = list({ limit: 3, before: null, status: null });
  t.deepEqual(idsOf(first), [ids[3], ids[2], ids[1]]);
  t.is(first.nextCursor, cursorOf('', ids[1]!, ROW_ID));
  t.is(first.mode, 'paper');
  t.is(first.venueData, true);
  t.false('organization' in first);
  const second = list({ limit: 3, before: ids[1]!, status: null });
  t.deepEqual(idsOf(second), [ids[0]]);
  t.is(second.nextCursor, null);
  t.deepEqual(idsOf(list({ limit: 50, before: null, status: 'resting' })), [
    ids[3],
    ids[2],
    ids[0],
  ]);

  const exact = list({ limit: 4, before: null, status: null });
  t.is(exact.nextCursor, null, 'a full last page is the last one');
  const trades = scenario.ask({
    kind: 'trades',
    account: ALICE,
    organizationSlug: 'acme',
    status: 'open',
    limit: 1,
    before: null,
  }).body;
  const shown = trades.trades as Row[];
  t.is(trades.nextCursor, cursorOf('', shown[0]!.tradeId as string, ROW_ID));
  t.deepEqual(trades.organization, { slug: 'acme' });
  t.deepEqual(Object.keys(trades), ['trades', 'nextCursor', 'mode', 'venueData', 'organization']);
});

scenarioTest('A43, T113: market orders and strangers are order_not_found', (t, createScenario) => {
  const scenario = createScenario();
  scenario.quote(WIN, 41, 43);
  const market = orderId(scenario, 1);
  scenario.buy(1);
  const query = { kind: 'order', account: ALICE, organizationSlug: null } as const;
  t.is(scenario.ask({ ...query, orderId: market }).code, 'order_not_found');
  t.is(scenario.cancel(market).code, 'order_not_found');
});

scenarioTest(
  'T121: what a later catalog drops keeps its label and is bought no more',
  (t, createScenario) => {
    const scenario = createScenario();
    scenario.quote(WIN, 41, 43);
    scenario.buy(1);
    const marketNames = [
      'venue_a/WIN',
      'venue_b/WIN-B',
      'venue_c/WIN-C',
      'venue_a/TOTAL',
      'venue_a/X',
      'venue_a/Y',
    ];
    const { instrumentIds } = catalog();
    const emptied = { games: [], instruments: [], marketNames, instrumentIds };
    scenario.engine.command({ kind: 'catalog', atMs: scenario.nowMs, catalog: emptied });
    const { body } = scenario.ask({ kind: 'portfolio', account: ALICE, organizationSlug: null });
    t.is((body.positions as Row[])[0]!.instrumentLabel, 'Home wins');
    t.is(scenario.buy(1).code, 'instrument_not_found');
    const query = { kind: 'instrument_quote', instrumentId: instrumentIds[0]! } as const;
    t.is(scenario.ask(query).code, 'instrument_not_found');
    const pays = { outcome: 'yes', yesPayoutCents: 100, noPayoutCents: 0 } as const;
    scenario.engine.tick({ kind: 'result', atMs: scenario.nowMs, source: 0, market: WIN, ...pays });
    t.is(scenario.buy(1).code, 'market_resolved', 'it is over, and known by its id');
    t.is(scenario.ask(query).code, null);
  },
);

scenarioTest(
  'A3: whatever keys, labels and tickers are made of, answers are JSON',
  (t, createScenario) => {
    const scenario = createScenario();
    const strange = 'a "b" \\ é \u2028 </script>';
    const instruments = catalog().instruments.map((one) => ({ ...one, label: strange }));
    scenario.engine.command({
      kind: 'catalog',
      atMs: scenario.nowMs,
      catalog: { ...catalog(), instruments },
    });
    scenario.quote(WIN, 41, 43);
    const key = '"\\\'{}';
    const { body } = scenario.limitBuy(50, 100, { idempotencyKey: key });
    t.is(body.idempotencyKey, key);
    t.is((body.trade as Row).instrumentLabel, strange);
    scenario.limitBuy(2, 1);
    const query = { atMs: scenario.nowMs, account: ALICE, organizationSlug: strange };
    const page = { ...query, status: null, before: null, limit: 9 };
    for (const reply of [
      scenario.engine.query({ ...query, kind: 'portfolio' }),
      scenario.engine.query({ ...page, kind: 'orders' }),
      scenario.engine.query({ ...page, kind: 'trades' }),
    ]) {
      const text = reply.ok ? reply.body : '';
      t.is(text, JSON.stringify(JSON.parse(text)));
      t.is(JSON.parse(text).organization.slug, strange);
    }
  },
);

test('M32: what keeps an account from being reset, and until when', (t) => {
  const engine = createMemoryEngine({ quoteMaxAgeMs: 15_000, routingBandCents: 10 });
  engine.command({ kind: 'catalog', atMs: NOON_MS, catalog: CATALOG });
  engine.tick(quoteTick());
  const { account } = placeOrder();
  t.true(engine.command(placeOrder({ account })).ok);
  const { accounts, accountIds } = engine.state();
  const row = accountIds.find(account);
  const reset = (atMs: number, selfReset: boolean, lastResetAtMs: number) => {
    engine.command({ kind: 'switches', atMs, venueData: true, selfReset });
    accounts.change(row).lastResetAtMs.set(row, lastResetAtMs);
    const reply = engine.query({ kind: 'portfolio', atMs, account, organizationSlug: null });
    const said = JSON.parse((reply as { body: string }).body).account;
    return [said.selfResetEnabled, said.resetBlockedBy, said.nextResetAt];
  };
  const endMs = NOON_MS + 30 * 86_400_000;
  const end = new Date(endMs).toISOString();
  t.deepEqual(reset(NOON_MS, false, 0), [false, 'reset_not_enabled', null]);
  t.deepEqual(reset(NOON_MS, true, 0), [true, null, null]);
  t.deepEqual(reset(NOON_MS, false, NOON_MS), [false, 'reset_not_enabled', null]);
  t.deepEqual(reset(endMs - 1, true, NOON_MS), [true, 'reset_too_soon', end]);
  t.deepEqual(reset(endMs, true, NOON_MS), [true, null, null]);
});

test('S17: the markets in which somebody holds a trade or has an order', (t) => {
  const engine = createMemoryEngine({ quoteMaxAgeMs: MAX_AGE_MS, routingBandCents: 10 });
  const held = () => {
    const reply = engine.query({ kind: 'held_markets', atMs: NOON_MS });
    return reply.ok && Buffer.from(JSON.parse(reply.body).held, 'base64')[0];
  };
  engine.command({ kind: 'catalog', atMs: NOON_MS, catalog: CATALOG });
  for (const market of [0, 1, 2])
    engine.tick(quoteTick({ market, yesBidCents: 41, yesAskCents: 43 }));
  t.is(held(), 0);
  engine.command(placeOrder());
  t.is(held(), 0b001, 'a trade');
  const resting = { limitPriceCents: 5, timeInForce: 'gtc' } as const;
  engine.command(placeOrder({ instrumentId: ROUTED, routing: 'best', ...resting }));
  t.is(held(), 0b111, 'an order that waits for two markets');
  const no = { outcome: 'no', yesPayoutCents: 0, noPayoutCents: 100 } as const;
  engine.tick({ kind: 'result', atMs: NOON_MS, source: 0, market: 0, ...no });
  t.is(held(), 0b110, 'over');
});
