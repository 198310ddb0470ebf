import test from 'ava';
import {
  ALICE,
  AWAY,
  BOB,
  createScene,
  HOME,
  HOUR_MS,
  LONELY,
  OVER,
  type Scene,
  TOTAL,
  TWICE,
  WIN,
} from '../../model/scenario.ts';

type Row = Record<string, unknown>;
const tradeOf = (reading: { body: Row }) => reading.body.trade as Row;
const orderOf = (reading: { body: Row }) => reading.body.order as Row;
const idOfTrade = (reading: { body: Row }) => tradeOf(reading).tradeId as string;
const idOfOrder = (reading: { body: Row }) => orderOf(reading).orderId as string;
const balance = (scene: Scene) => scene.account().balanceDollars;

test('T30: buys at the ask of its side, sells at the bid', (t) => {
  const scene = createScene();
  scene.quote(WIN, 41, 43);

  const yes = scene.buy(100);
  t.is(yes.body.status, 'executed');
  t.is(yes.body.fillPriceCents, 43);
  t.is(tradeOf(yes).costDollars, 43);
  const no = scene.buy(100, { side: 'no' });
  t.is(no.body.fillPriceCents, 59);
  t.is(balance(scene), 100_000 - 43 - 59);

  const sold = scene.sell(idOfTrade(yes));
  t.is(sold.body.fillPriceCents, 41);
  t.is(tradeOf(sold).status, 'closed');
  t.is(tradeOf(sold).closeReason, 'sold');
  t.is(tradeOf(sold).pnlDollars, -2);
  t.is(scene.sell(idOfTrade(no)).body.fillPriceCents, 57);
  t.is(balance(scene), 100_000 - 4);
  t.deepEqual(scene.engine.conservation(), []);
});

test('T4: polarity -1 buys the other side of the market', (t) => {
  const scene = createScene();
  scene.quote(WIN, 41, 43);
  const away = tradeOf(scene.buy(1, { instrumentId: AWAY }));
  t.is(away.instrumentSide, 'yes');
  t.is(away.boughtSide, 'no');
  t.is(away.entryCents, 59);
});

test('T18: an instrument is not bought before its opening time', (t) => {
  const scene = createScene();
  scene.opensAt(HOME, scene.nowMs + HOUR_MS);
  scene.quote(WIN, 41, 43);
  t.is(scene.buy(1).code, 'market_not_open');
  t.is(scene.limitBuy(40, 1).code, 'market_not_open');
  t.is(scene.buy(1, { ticker: 'WIN', instrumentId: null }).code, 'market_not_open');
  t.is(scene.buy(1, { instrumentId: AWAY }).code, null, 'the other instrument names no time');
  scene.nowMs += HOUR_MS - 1;
  scene.quote(WIN, 41, 43);
  t.is(scene.buy(1).code, 'market_not_open');
  scene.nowMs += 1;
  t.is(scene.buy(1).code, null, 'open at the very moment');
});

test('T6: a ticker takes the side of the market', (t) => {
  const scene = createScene();
  scene.quote(WIN, 41, 43);
  scene.quote(TOTAL, 20, 24);

  const straight = tradeOf(scene.buy(1, { ticker: 'WIN', instrumentId: null, side: 'no' }));
  t.is(straight.instrumentId, HOME);
  t.is(straight.instrumentSide, 'no');
  t.is(straight.boughtSide, 'no');
  const upsideDown = tradeOf(scene.buy(1, { ticker: 'TOTAL', instrumentId: null, side: 'yes' }));
  t.is(upsideDown.instrumentId, OVER);
  t.is(upsideDown.instrumentSide, 'no');
  t.is(upsideDown.boughtSide, 'yes');
  t.is(upsideDown.entryCents, 24);
});

test('M5: a better fill gives part of the hold back', (t) => {
  const scene = createScene();
  scene.quote(WIN, 41, 43);
  const resting = scene.limitBuy(40, 1000);
  t.is(resting.body.status, 'resting');
  t.is(orderOf(resting).holdDollars, 400);
  t.is(resting.body.trade, null);
  t.is(balance(scene), 99_600);
  t.is(scene.account().heldDollars, 400);

  scene.quote(WIN, 37, 38);
  t.is(balance(scene), 100_000 - 380);
  t.is(scene.account().heldDollars, 0);
  t.is(scene.account().openStakeDollars, 380);
  const filled = scene.order(idOfOrder(resting));
  t.is(filled.status, 'executed');
  t.is(filled.fillPriceCents, 38);
  t.is(filled.holdDollars, 0);
  t.is(filled.filledContracts, 1000);
  t.is(filled.remainingContracts, 0);
});

test('T40: fills at once at the live price, whatever its time in force', (t) => {
  for (const timeInForce of ['gtc', 'ioc', 'fok'] as const) {
    const scene = createScene();
    scene.quote(WIN, 41, 43);
    const placed = scene.limitBuy(50, 10, { timeInForce });
    t.is(placed.body.status, 'executed');
    t.is(placed.body.fillPriceCents, 43);
    t.is(balance(scene), 100_000 - 4.3);
  }
});

test('T42, T43: ioc and fok that do not fill are canceled, nothing spent', (t) => {
  for (const timeInForce of ['ioc', 'fok'] as const) {
    const scene = createScene();
    scene.quote(WIN, 41, 43);
    // More than the balance: it needs none, since it does not fill.
    const placed = scene.limitBuy(42, 1_000_000_000, { timeInForce });
    t.is(placed.body.status, 'canceled');
    t.is(orderOf(placed).cancelReason, `${timeInForce}_not_filled`);
    t.is(orderOf(placed).holdDollars, 0);
    t.is(balance(scene), 100_000);
  }
});

test('T41: gtc rests without a live price, fills with one', (t) => {
  const scene = createScene();
  const resting = scene.limitBuy(45, 10);
  t.is(resting.body.status, 'resting');
  scene.quote(WIN, 41, 43);
  t.is(scene.order(idOfOrder(resting)).fillPriceCents, 43);
});

test('T100: every refusal of a buy, in the order of the rules', (t) => {
  const scene = createScene();
  const market = { instrumentId: HOME, side: 'yes' } as const;
  const far = scene.nowMs + 365 * 24 * HOUR_MS + 1;
  const huge = 1_000_000_000;
  t.is(
    scene.limitBuy(50, huge, { instrumentId: 'ins_ZZZZZZZZZZZZ', expiresAtMs: far }).code,
    'invalid_request',
  );
  t.is(scene.limitBuy(50, 1, { expiresAtMs: scene.nowMs }).code, 'invalid_request');
  t.is(scene.buy(huge, { instrumentId: 'ins_ZZZZZZZZZZZZ' }).code, 'instrument_not_found');
  t.is(scene.buy(huge, { instrumentId: LONELY }).code, 'no_tradable_listing');
  t.is(scene.buy(huge, { instrumentId: TWICE }).code, 'no_tradable_listing');
  t.is(scene.buy(huge, { ticker: 'WIN-B', instrumentId: null }).code, 'no_tradable_listing');
  t.is(scene.buy(huge, market).code, 'no_liquidity');
  scene.quote(WIN, 41, 43);
  t.is(scene.buy(huge, { ...market, boundPriceCents: 42 }).code, 'price_moved');
  t.is(scene.buy(huge, { ...market, boundPriceCents: 43 }).code, 'insufficient_balance');
  scene.tick({ kind: 'status', source: 0, market: WIN, status: 'paused' });
  t.is(scene.buy(huge).code, 'market_not_open');
  t.is(scene.limitBuy(1, 1).code, 'market_not_open');
  scene.tick({
    kind: 'result',
    source: 0,
    market: WIN,
    outcome: 'yes',
    yesPayoutCents: 100,
    noPayoutCents: 0,
  });
  t.is(scene.buy(huge).code, 'market_resolved');
  t.is(scene.account(), null as never, 'a refused order opens no account');
});

test('T100: refusals of a sell', (t) => {
  const scene = createScene();
  scene.quote(WIN, 41, 43);
  t.is(scene.sell('019ca8d0-0000-7000-8000-0000000000ff').code, 'trade_not_found');
  const trade = idOfTrade(scene.buy(10));
  t.is(scene.sell(trade, { account: BOB }).code, 'trade_not_found', 'also another account');
  t.is(scene.sell(trade, { boundPriceCents: 42 }).code, 'price_moved');
  scene.quote(WIN, 0, 43);
  t.is(scene.sell(trade).code, 'no_liquidity', 'no bid');
  scene.quote(WIN, 41, 43);
  t.is(scene.sell(trade, { boundPriceCents: 41 }).body.status, 'executed');
  t.is(scene.sell(trade).code, 'already_closed');
});

test('M6: the balance covers hold or cost', (t) => {
  const scene = createScene();
  scene.quote(WIN, 39, 40);
  t.is(scene.limitBuy(30, 333_334).code, 'insufficient_balance');
  t.is(scene.limitBuy(50, 250_001).code, 'insufficient_balance');
  // 50 x 250000 would be above the balance, 40 x 250000 is all of it.
  t.is(scene.limitBuy(50, 250_000).body.status, 'executed');
  t.is(balance(scene), 0);
});

test('T51, T52: one resting sell; a market sell cancels it first', (t) => {
  const scene = createScene();
  scene.quote(WIN, 41, 43);
  const trade = idOfTrade(scene.buy(10));
  const limit = { type: 'limit', timeInForce: 'gtc', limitPriceCents: 60 } as const;
  const resting = scene.sell(trade, limit);
  t.is(resting.body.status, 'resting');
  t.is(orderOf(resting).holdDollars, 0);
  t.is(orderOf(resting).tradeId, trade);
  t.is(scene.sell(trade, limit).code, 'already_closed');
  t.is(scene.sell(trade, { boundPriceCents: 50 }).code, 'price_moved');
  t.is(scene.order(idOfOrder(resting)).status, 'resting', 'a refused sell cancels nothing');

  t.is(scene.sell(trade).body.status, 'executed');
  t.is(scene.order(idOfOrder(resting)).cancelReason, 'position_closed');
  t.is(scene.account().restingOrders, 0);
});

test('T46: a resting sell fills when the bid reaches it', (t) => {
  const scene = createScene();
  scene.quote(WIN, 41, 43);
  const trade = idOfTrade(scene.buy(10, { side: 'no' }));
  const resting = scene.sell(trade, { type: 'limit', timeInForce: 'gtc', limitPriceCents: 70 });
  scene.quote(WIN, 29, 31);
  t.is(scene.order(idOfOrder(resting)).status, 'resting', 'no bid is 69');
  scene.quote(WIN, 25, 28);
  t.is(scene.order(idOfOrder(resting)).fillPriceCents, 72);
  t.is(balance(scene), 100_000 + 10 * 0.72 - 10 * 0.59);
});

test('T47: best level first, in time order within a level', (t) => {
  const scene = createScene();
  scene.quote(WIN, 48, 52);
  const yes = idOfTrade(scene.buy(1));
  const no = idOfTrade(scene.buy(1, { side: 'no' }));
  const limit = { type: 'limit', timeInForce: 'gtc' } as const;
  const names = new Map<string, string>();
  const rest = (name: string, placed: { body: Row }) => names.set(idOfOrder(placed), name);
  // Levels are prices of yes. Waiting for the ask to fall: buys of yes and sells of no.
  rest('ask 40, first', scene.limitBuy(40, 1));
  rest('ask 45', scene.limitBuy(45, 1, { account: BOB }));
  rest('ask 40, second', scene.sell(no, { ...limit, limitPriceCents: 60 }));
  rest('ask 40, third', scene.limitBuy(40, 1));
  // Waiting for the bid to rise: buys of no and sells of yes.
  rest('bid 60, first', scene.sell(yes, { ...limit, limitPriceCents: 60 }));
  rest('bid 55', scene.limitBuy(45, 1, { side: 'no' }));
  rest('bid 60, second', scene.limitBuy(40, 1, { side: 'no' }));

  scene.quote(WIN, 38, 40);
  scene.quote(WIN, 60, 62);
  const order = scene.engine.endings().flatMap(({ orderId }) => names.get(orderId) ?? []);
  t.deepEqual(order, [
    'ask 45',
    'ask 40, first',
    'ask 40, second',
    'ask 40, third',
    'bid 55',
    'bid 60, first',
    'bid 60, second',
  ]);
  t.is(scene.account(ALICE).restingOrders, 0);
  t.deepEqual(scene.engine.conservation(), []);
});

test('T47: in one tick asks that fell come before bids', (t) => {
  const scene = createScene();
  const no = (scene.limitBuy(55, 1, { side: 'no' }).body.order as Row).orderId;
  const yes = (scene.limitBuy(50, 1).body.order as Row).orderId;
  scene.quote(WIN, 46, 48);
  t.deepEqual(
    scene.engine.endings().map(({ orderId }) => orderId),
    [yes, no] as string[],
  );
});
