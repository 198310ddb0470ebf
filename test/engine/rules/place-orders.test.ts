import {
  ALICE,
  AWAY,
  BOB,
  HOME,
  HOUR_MS,
  idOfOrder,
  idOfTrade,
  LONELY,
  OVER,
  orderOf,
  type Scenario,
  scenarioTest,
  TOTAL,
  TWICE,
  tradeOf,
  WIN,
} from '../../model/scenario.ts';

type Row = Record<string, unknown>;
const balance = (scenario: Scenario) => scenario.account().balanceDollars;

scenarioTest(
  'T11, T30, T57, M3, M8, M26: buys at the ask of its side, sells at the bid',
  (t, createScenario) => {
    const scenario = createScenario();
    scenario.quote(WIN, 41, 43);

    const yes = scenario.buy(100);
    t.is(yes.body.status, 'executed');
    t.is(yes.body.fillPriceCents, 43);
    t.like(tradeOf(yes), { costDollars: 43, pnlDollars: null });
    const no = scenario.buy(100, { side: 'no' });
    t.is(no.body.fillPriceCents, 59);
    t.is(balance(scenario), 100_000 - 43 - 59);

    const sold = scenario.sell(idOfTrade(yes));
    t.is(sold.body.fillPriceCents, 41);
    t.like(tradeOf(sold), { status: 'closed', closeReason: 'sold', pnlDollars: -2 });
    t.is(scenario.sell(idOfTrade(no)).body.fillPriceCents, 57);
    t.is(balance(scenario), 100_000 - 4);
    t.deepEqual(scenario.engine.conservation(), []);
  },
);

scenarioTest('T61: an order of any size fills whole at the best price', (t, createScenario) => {
  const scenario = createScenario();
  scenario.book(WIN, [[41, 7]], [[43, 5]]);
  const bought = scenario.buy(1000);
  t.like(tradeOf(bought), { contracts: 1000, costDollars: 430 });
  const limit = { limitPriceCents: 41, timeInForce: 'ioc' } as const;
  const sold = scenario.sell(idOfTrade(bought), limit);
  t.like(orderOf(sold), { status: 'executed', filledContracts: 1000, fillPriceCents: 41 });
});

scenarioTest('T4: polarity -1 buys the other side of the market', (t, createScenario) => {
  const scenario = createScenario();
  scenario.quote(WIN, 41, 43);
  const away = tradeOf(scenario.buy(1, { instrumentId: AWAY }));
  t.is(away.instrumentSide, 'yes');
  t.is(away.boughtSide, 'no');
  t.is(away.entryCents, 59);
});

scenarioTest(
  'T18, T125: an instrument is not bought before its opening time',
  (t, createScenario) => {
    const scenario = createScenario();
    scenario.opensAt(HOME, scenario.nowMs + HOUR_MS);
    scenario.quote(WIN, 41, 43);
    t.is(scenario.buy(1).code, 'market_not_open');
    t.is(scenario.limitBuy(40, 1).code, 'market_not_open');
    t.is(scenario.buy(1, { ticker: 'WIN', instrumentId: null }).code, 'market_not_open');
    t.is(scenario.buy(1, { instrumentId: AWAY }).code, null, 'the other instrument names no time');
    scenario.nowMs += HOUR_MS - 1;
    scenario.quote(WIN, 41, 43);
    t.is(scenario.buy(1).code, 'market_not_open');
    scenario.nowMs += 1;
    t.is(scenario.buy(1).code, null, 'open at the very moment');
  },
);

scenarioTest(
  'T143: what the venue says of the close counts, and not the catalog',
  (t, createScenario) => {
    const scenario = createScenario();
    const market = WIN;
    const closing = (closesAtMs: number | null) => {
      scenario.tick({ kind: 'closing', source: 0, market, closesAtMs });
    };
    const code = () => {
      scenario.quote(WIN, 41, 43);
      return scenario.buy(1).code;
    };
    scenario.closesAt(HOME, scenario.nowMs + HOUR_MS);
    scenario.nowMs += HOUR_MS;
    t.is(code(), 'market_not_open', 'nobody has said more');
    closing(scenario.nowMs + HOUR_MS);
    t.is(code(), null, 'moved');
    scenario.nowMs += HOUR_MS;
    t.is(code(), 'market_not_open', 'over at the moved time');
    scenario.tick({ kind: 'status', source: 0, market, status: 'open' });
    t.is(code(), null, 'open past its own time');
    closing(scenario.nowMs - 1);
    t.is(code(), 'market_not_open');
    closing(null);
    t.is(code(), null, 'no time closes it');
  },
);

scenarioTest('T143: a status alone takes the place of the catalog', (t, createScenario) => {
  const scenario = createScenario();
  scenario.tick({ kind: 'status', source: 0, market: WIN, status: 'open' });
  scenario.closesAt(HOME, scenario.nowMs + HOUR_MS);
  scenario.nowMs += HOUR_MS;
  scenario.quote(WIN, 41, 43);
  t.is(scenario.buy(1).code, null);
});

scenarioTest('T129: a market past its closing time trades no more', (t, createScenario) => {
  const scenario = createScenario();
  scenario.quote(WIN, 41, 43);
  const held = idOfTrade(scenario.buy(1));
  const resting = scenario.limitBuy(40, 1);
  t.is(resting.body.status, 'resting');
  scenario.closesAt(HOME, scenario.nowMs + HOUR_MS);
  scenario.nowMs += HOUR_MS - 1;
  scenario.quote(WIN, 41, 43);
  t.is(scenario.buy(1).code, null, 'open until then');
  scenario.nowMs += 1;
  scenario.quote(WIN, 30, 35);
  for (const late of [scenario.buy(1), scenario.limitBuy(50, 1), scenario.sell(held)]) {
    t.is(late.code, 'market_not_open');
  }
  t.is(scenario.buy(1, { instrumentId: AWAY }).code, 'market_not_open', 'the same market');
  const { restingOrders } = scenario.account();
  t.is(restingOrders, 1, 'no fill at 35 of the buy at 40');
  const quote = scenario.ask({ kind: 'instrument_quote', instrumentId: HOME }).body;
  const [omitted] = quote.omitted as { note: string }[];
  t.is(omitted?.note, 'market closed');
  scenario.tick({
    kind: 'result',
    source: 0,
    market: WIN,
    outcome: 'yes',
    yesPayoutCents: 100,
    noPayoutCents: 0,
  });
  t.is(scenario.account().restingOrders, 0);
  t.deepEqual(scenario.engine.conservation(), []);
});

scenarioTest('T6: a ticker takes the side of the market', (t, createScenario) => {
  const scenario = createScenario();
  scenario.quote(WIN, 41, 43);
  scenario.quote(TOTAL, 20, 24);

  const straight = tradeOf(scenario.buy(1, { ticker: 'WIN', instrumentId: null, side: 'no' }));
  t.is(straight.instrumentId, HOME);
  t.is(straight.instrumentSide, 'no');
  t.is(straight.boughtSide, 'no');
  const upsideDown = tradeOf(scenario.buy(1, { ticker: 'TOTAL', instrumentId: null, side: 'yes' }));
  t.is(upsideDown.instrumentId, OVER);
  t.is(upsideDown.instrumentSide, 'no');
  t.is(upsideDown.boughtSide, 'yes');
  t.is(upsideDown.entryCents, 24);
});

scenarioTest('M5: a better fill gives part of the hold back', (t, createScenario) => {
  const scenario = createScenario();
  scenario.quote(WIN, 41, 43);
  const resting = scenario.limitBuy(40, 1000);
  t.is(resting.body.status, 'resting');
  t.is(orderOf(resting).holdDollars, 400);
  t.is(resting.body.trade, null);
  t.is(balance(scenario), 99_600);
  t.is(scenario.account().heldDollars, 400);

  scenario.quote(WIN, 37, 38);
  t.is(balance(scenario), 100_000 - 380);
  t.is(scenario.account().heldDollars, 0);
  t.is(scenario.account().openStakeDollars, 380);
  const filled = scenario.order(idOfOrder(resting));
  t.is(filled.status, 'executed');
  t.is(filled.fillPriceCents, 38);
  t.is(filled.holdDollars, 0);
  t.is(filled.filledContracts, 1000);
  t.is(filled.remainingContracts, 0);
});

scenarioTest(
  'T40: fills at once at the live price, whatever its time in force',
  (t, createScenario) => {
    for (const timeInForce of ['gtc', 'ioc', 'fok'] as const) {
      const scenario = createScenario();
      scenario.quote(WIN, 41, 43);
      const placed = scenario.limitBuy(50, 10, { timeInForce });
      t.is(placed.body.status, 'executed');
      t.is(placed.body.fillPriceCents, 43);
      t.is(balance(scenario), 100_000 - 4.3);
    }
  },
);

scenarioTest(
  'T42, T43: ioc and fok that do not fill are canceled, nothing spent',
  (t, createScenario) => {
    for (const timeInForce of ['ioc', 'fok'] as const) {
      const scenario = createScenario();
      scenario.quote(WIN, 41, 43);
      // More than the balance: it needs none, since it does not fill.
      const placed = scenario.limitBuy(42, 1_000_000_000, { timeInForce });
      t.is(placed.body.status, 'canceled');
      t.is(orderOf(placed).cancelReason, `${timeInForce}_not_filled`);
      t.is(orderOf(placed).holdDollars, 0);
      t.is(balance(scenario), 100_000);
    }
  },
);

scenarioTest('T41: gtc rests without a live price, fills with one', (t, createScenario) => {
  const scenario = createScenario();
  const resting = scenario.limitBuy(45, 10);
  t.is(resting.body.status, 'resting');
  scenario.quote(WIN, 41, 43);
  t.is(scenario.order(idOfOrder(resting)).fillPriceCents, 43);
});

scenarioTest(
  'T5, T100, S9: every refusal of a buy, in the order of the rules',
  (t, createScenario) => {
    const scenario = createScenario();
    const market = { instrumentId: HOME, side: 'yes' } as const;
    const far = scenario.nowMs + 365 * 24 * HOUR_MS + 1;
    const huge = 1_000_000_000;
    t.is(
      scenario.limitBuy(50, huge, { instrumentId: 'ins_ZZZZZZZZZZZZ', expiresAtMs: far }).code,
      'invalid_request',
    );
    t.is(scenario.limitBuy(50, 1, { expiresAtMs: scenario.nowMs }).code, 'invalid_request');
    t.is(scenario.buy(huge, { instrumentId: 'ins_ZZZZZZZZZZZZ' }).code, 'instrument_not_found');
    t.is(scenario.buy(huge, { instrumentId: LONELY }).code, 'no_tradable_listing');
    t.is(scenario.buy(huge, { instrumentId: TWICE }).code, 'no_tradable_listing');
    t.is(scenario.buy(huge, { ticker: 'WIN-B', instrumentId: null }).code, 'no_tradable_listing');
    t.is(scenario.buy(huge, market).code, 'no_liquidity');
    scenario.quote(WIN, 41, 43);
    t.is(scenario.buy(huge, { ...market, boundPriceCents: 42 }).code, 'price_moved');
    t.is(scenario.buy(huge, { ...market, boundPriceCents: 43 }).code, 'insufficient_balance');
    scenario.tick({ kind: 'status', source: 0, market: WIN, status: 'paused' });
    t.is(scenario.buy(huge).code, 'market_not_open');
    t.is(scenario.limitBuy(1, 1).code, 'market_not_open');
    scenario.tick({
      kind: 'result',
      source: 0,
      market: WIN,
      outcome: 'yes',
      yesPayoutCents: 100,
      noPayoutCents: 0,
    });
    t.is(scenario.buy(huge).code, 'market_resolved');
    t.is(scenario.account(), null as never, 'a refused order opens no account');
  },
);

scenarioTest('T55, T100: refusals of a sell', (t, createScenario) => {
  const scenario = createScenario();
  scenario.quote(WIN, 41, 43);
  t.is(scenario.sell('019ca8d0-0000-7000-8000-0000000000ff').code, 'trade_not_found');
  const trade = idOfTrade(scenario.buy(10));
  t.is(scenario.sell(trade, { account: BOB }).code, 'trade_not_found', 'also another account');
  t.is(scenario.sell(trade, { boundPriceCents: 42 }).code, 'price_moved');
  scenario.quote(WIN, 0, 43);
  t.is(scenario.sell(trade).code, 'no_liquidity', 'no bid');
  scenario.quote(WIN, 41, 43);
  t.is(scenario.sell(trade, { boundPriceCents: 41 }).body.status, 'executed');
  t.is(scenario.sell(trade).code, 'already_closed');
});

scenarioTest('M6: the balance covers hold or cost', (t, createScenario) => {
  const scenario = createScenario();
  scenario.quote(WIN, 39, 40);
  t.is(scenario.limitBuy(30, 333_334).code, 'insufficient_balance');
  t.is(scenario.limitBuy(50, 250_001).code, 'insufficient_balance');
  // 50 x 250000 would be above the balance, 40 x 250000 is all of it.
  t.is(scenario.limitBuy(50, 250_000).body.status, 'executed');
  t.is(balance(scenario), 0);
});

scenarioTest('T51, T52: one resting sell; a market sell cancels it first', (t, createScenario) => {
  const scenario = createScenario();
  scenario.quote(WIN, 41, 43);
  const trade = idOfTrade(scenario.buy(10));
  const limit = { timeInForce: 'gtc', limitPriceCents: 60 } as const;
  const resting = scenario.sell(trade, limit);
  t.is(resting.body.status, 'resting');
  t.is(orderOf(resting).holdDollars, 0);
  t.is(orderOf(resting).tradeId, trade);
  t.is(scenario.sell(trade, limit).code, 'already_closed');
  t.is(scenario.sell(trade, { boundPriceCents: 50 }).code, 'price_moved');
  t.is(scenario.order(idOfOrder(resting)).status, 'resting', 'a refused sell cancels nothing');

  t.is(scenario.sell(trade).body.status, 'executed');
  t.is(scenario.order(idOfOrder(resting)).cancelReason, 'position_closed');
  t.is(scenario.account().restingOrders, 0);
});

scenarioTest('T46: a resting sell fills when the bid reaches it', (t, createScenario) => {
  const scenario = createScenario();
  scenario.quote(WIN, 41, 43);
  const trade = idOfTrade(scenario.buy(10, { side: 'no' }));
  const resting = scenario.sell(trade, { timeInForce: 'gtc', limitPriceCents: 70 });
  scenario.quote(WIN, 29, 31);
  t.is(scenario.order(idOfOrder(resting)).status, 'resting', 'no bid is 69');
  scenario.quote(WIN, 25, 28);
  t.is(scenario.order(idOfOrder(resting)).fillPriceCents, 72);
  t.is(balance(scenario), 100_000 + 10 * 0.72 - 10 * 0.59);
});

scenarioTest('T47: best level first, in time order within a level', (t, createScenario) => {
  const scenario = createScenario();
  scenario.quote(WIN, 48, 52);
  const yes = idOfTrade(scenario.buy(1));
  const no = idOfTrade(scenario.buy(1, { side: 'no' }));
  const limit = { timeInForce: 'gtc' } as const;
  const names = new Map<string, string>();
  const rest = (name: string, placed: { body: Row }) => names.set(idOfOrder(placed), name);
  // Levels are prices of yes. Waiting for the ask to fall: buys of yes and sells of no.
  rest('ask 40, first', scenario.limitBuy(40, 1));
  rest('ask 45', scenario.limitBuy(45, 1, { account: BOB }));
  rest('ask 40, second', scenario.sell(no, { ...limit, limitPriceCents: 60 }));
  rest('ask 40, third', scenario.limitBuy(40, 1));
  // Waiting for the bid to rise: buys of no and sells of yes.
  rest('bid 60, first', scenario.sell(yes, { ...limit, limitPriceCents: 60 }));
  rest('bid 55', scenario.limitBuy(45, 1, { side: 'no' }));
  rest('bid 60, second', scenario.limitBuy(40, 1, { side: 'no' }));

  scenario.quote(WIN, 38, 40);
  scenario.quote(WIN, 60, 62);
  const order = scenario.engine.endings().flatMap(({ orderId }) => names.get(orderId) ?? []);
  t.deepEqual(order, [
    'ask 45',
    'ask 40, first',
    'ask 40, second',
    'ask 40, third',
    'bid 55',
    'bid 60, first',
    'bid 60, second',
  ]);
  t.is(scenario.account(ALICE).restingOrders, 0);
  t.deepEqual(scenario.engine.conservation(), []);
});

scenarioTest('T47: in one tick asks that fell come before bids', (t, createScenario) => {
  const scenario = createScenario();
  const no = (scenario.limitBuy(55, 1, { side: 'no' }).body.order as Row).orderId;
  const yes = (scenario.limitBuy(50, 1).body.order as Row).orderId;
  scenario.quote(WIN, 46, 48);
  t.deepEqual(
    scenario.engine.endings().map(({ orderId }) => orderId),
    [yes, no] as string[],
  );
});

scenarioTest('T48: plain orders of a market fill before its routed ones', (t, createScenario) => {
  const scenario = createScenario();
  const routed = idOfOrder(scenario.limitBuy(50, 1, { routing: 'best' }));
  const plain = idOfOrder(scenario.limitBuy(45, 1));
  scenario.quote(WIN, 38, 40);
  t.deepEqual(
    scenario.engine.endings().map(({ orderId }) => orderId),
    [plain, routed],
  );
});
