/** The book_depth fill model by example; every figure is worked out beside it. */
import test from 'ava';
import { DisplayedSide } from '../../../engine/rules/displayed-side.ts';
import {
  ALICE,
  BOB,
  HOUR_MS,
  idOfOrder,
  idOfTrade,
  orderOf,
  type Scenario,
  scenarioTest,
  TOTAL,
  tradeOf,
  WIN,
  WIN_B,
} from '../../model/scenario.ts';

type Row = Record<string, unknown>;
const filled = (scenario: Scenario, orderId: string) => scenario.order(orderId).filledContracts;
const openTrades = (scenario: Scenario, account = ALICE) => {
  const page = { limit: 50, before: null, organizationSlug: null, status: null };
  return scenario.ask({ kind: 'trades', account, ...page }).body.trades as Row[];
};

const DEPTH = { fillModel: 'book_depth' } as const;

const BIDS: [number, number][] = [
  [41, 100],
  [40, 50],
  [37, 1000],
];
const ASKS: [number, number][] = [
  [43, 100],
  [45, 50],
  [50, 1000],
];

test('T62: a side that displays a price of one cent alone is not empty', (t) => {
  const side = new DisplayedSide();
  t.true(side.isEmpty);
  side.set(1, 5, { lowMs: 0, highMs: 0 });
  t.false(side.isEmpty);
});

scenarioTest('T62: a top of one contract is a level of one', (t, createScenario) => {
  const scenario = createScenario(DEPTH);
  const top = { yesBidCents: 41, yesBidContracts: 1, yesAskCents: 43, yesAskContracts: 1 };
  scenario.tick({ kind: 'quote', source: 0, market: WIN, ...top, crossed: false });
  t.is(scenario.buy(2).code, 'no_liquidity');
  t.is(scenario.buy(1).body.fillPriceCents, 43);
  t.is(scenario.buy(1, { side: 'no' }).body.fillPriceCents, 59);
});

scenarioTest('T62: walks the displayed levels of the side traded', (t, createScenario) => {
  const cases = [
    // Yes asks up: 100 at 43 and 20 at 45 are 5200 / 120 = 43.33, up to 44.
    { side: 'yes', contracts: 120, fillPriceCents: 44, costDollars: 52 },
    // Yes bids down, at 100 minus the bid: 100 at 59 and 20 at 60 are 7100 / 120, up to 60.
    { side: 'no', contracts: 120, fillPriceCents: 60, costDollars: 71 },
    { side: 'yes', contracts: 100, fillPriceCents: 43, costDollars: 43 },
  ] as const;
  for (const { side, contracts, fillPriceCents, costDollars } of cases) {
    const scenario = createScenario(DEPTH);
    scenario.book(WIN, BIDS, ASKS);
    const bought = scenario.buy(contracts, { side });
    t.is(bought.body.fillPriceCents, fillPriceCents);
    t.like(tradeOf(bought), { contracts, costDollars, entryCents: fillPriceCents });
  }
});

scenarioTest('T64: the average is rounded against the trader', (t, createScenario) => {
  const scenario = createScenario(DEPTH);
  scenario.book(WIN, BIDS, ASKS);
  const yes = idOfTrade(scenario.buy(120));
  const no = idOfTrade(scenario.buy(120, { side: 'no' }));
  scenario.book(
    WIN,
    [...BIDS].map(([cents, size]) => [cents, size + 1]),
    ASKS.map(([c, s]) => [c, s + 1]),
  );
  // 101 at 41 and 19 at 40 are 4901 / 120 = 40.84, down to 40.
  t.is(scenario.sell(yes).body.fillPriceCents, 40);
  // No bids are 100 minus yes asks: 101 at 57 and 19 at 55 are 6802 / 120 = 56.68, down to 56.
  t.is(scenario.sell(no).body.fillPriceCents, 56);
  t.deepEqual(scenario.engine.conservation(), []);
});

scenarioTest('T31, T68: needs all of it, else 409 no_liquidity', (t, createScenario) => {
  const scenario = createScenario(DEPTH);
  scenario.book(WIN, BIDS, ASKS);
  t.is(scenario.buy(1151).code, 'no_liquidity', '1150 are displayed');
  t.is(scenario.account(), null as never, 'nothing was placed');
  const all = scenario.buy(1150);
  t.is(tradeOf(all).contracts, 1150);
  t.is(scenario.sell(idOfTrade(all), { account: ALICE }).body.status, 'executed', '1150 bids');
});

scenarioTest('M6: what trades and what rests must be paid together', (t, createScenario) => {
  const place = (contracts: number) => {
    const scenario = createScenario(DEPTH);
    scenario.book(WIN, BIDS, ASKS);
    return scenario.limitBuy(44, contracts);
  };
  // 100 at 43 and 227,175 at 44 are 10,000,000 cents, which is all there is.
  t.is(place(227_276).code, 'insufficient_balance');
  t.is(place(227_275).body.status, 'resting');
});

scenarioTest('T32: a cap or floor bounds the price of the fill', (t, createScenario) => {
  const scenario = createScenario(DEPTH);
  scenario.book(WIN, BIDS, ASKS);
  t.is(scenario.buy(120, { boundPriceCents: 43 }).code, 'price_moved', 'its average is 44');
  const bought = scenario.buy(120, { boundPriceCents: 44 });
  t.is(bought.body.fillPriceCents, 44);
  // 100 at 41 and 20 at 40, down to 40.
  t.is(scenario.sell(idOfTrade(bought), { boundPriceCents: 41 }).code, 'price_moved');
  t.is(scenario.sell(idOfTrade(bought), { boundPriceCents: 40 }).body.status, 'executed');
});

scenarioTest('T68: a fok needs all of it, else it is canceled', (t, createScenario) => {
  const scenario = createScenario(DEPTH);
  scenario.book(WIN, BIDS, ASKS);
  const fok = { timeInForce: 'fok' } as const;
  // At 45 or better 150 are displayed.
  const none = scenario.limitBuy(45, 151, fok);
  t.is(none.body.status, 'canceled');
  t.like(orderOf(none), { filledContracts: 0, cancelReason: 'fok_not_filled', tradeId: null });
  t.is(scenario.account().balanceDollars, 100_000);
  t.is(scenario.limitBuy(45, 150, fok).body.status, 'executed');
});

scenarioTest('T69: ioc fills what is there and cancels the rest', (t, createScenario) => {
  const scenario = createScenario(DEPTH);
  scenario.book(WIN, BIDS, ASKS);
  const placed = scenario.limitBuy(45, 400, { timeInForce: 'ioc' });
  // 100 at 43 and 50 at 45 are 6550 / 150 = 43.67, up to 44.
  t.like(placed.body, { status: 'executed', fillPriceCents: 44, fillVenue: 'venue_a' });
  t.like(orderOf(placed), {
    status: 'executed',
    cancelReason: 'ioc_not_filled',
    contracts: 400,
    filledContracts: 150,
    remainingContracts: 250,
    holdDollars: 0,
    fillPriceCents: 44,
  });
  t.like(tradeOf(placed), { status: 'open', contracts: 150, costDollars: 65.5 });
  t.is(tradeOf(placed).tradeId, orderOf(placed).tradeId);
  t.is(scenario.account().balanceDollars, 100_000 - 65.5);
});

scenarioTest('M4, T70, T71: gtc rests the rest, holding limit x remaining', (t, createScenario) => {
  const scenario = createScenario(DEPTH);
  scenario.book(WIN, BIDS, ASKS);
  const placed = scenario.limitBuy(44, 250);
  // 100 at 43; 150 rest at 44. The trade is null while it rests.
  t.like(placed.body, { status: 'resting', trade: null, fillPriceCents: 43, fillVenue: 'venue_a' });
  t.like(orderOf(placed), { filledContracts: 100, remainingContracts: 150, holdDollars: 66 });
  t.like(scenario.account(), {
    balanceDollars: 100_000 - 43 - 66,
    heldDollars: 66,
    openStakeDollars: 43,
  });

  // 60 more at 40: what they save of the hold comes back. 6700 / 160 = 41.88, up to 42.
  scenario.book(WIN, [[35, 10]], [[40, 60]]);
  const order = scenario.order(idOfOrder(placed));
  t.like(order, { filledContracts: 160, remainingContracts: 90, holdDollars: 39.6 });
  t.is(order.fillPriceCents, 42);
  t.like(scenario.account(), { heldDollars: 39.6, openStakeDollars: 67, openPositions: 1 });
  t.is(scenario.account().balanceDollars, 100_000 - 67 - 39.6);

  scenario.book(WIN, [[35, 10]], [[44, 5000]]);
  t.like(scenario.order(idOfOrder(placed)), { status: 'executed', filledContracts: 250 });
  const [trade] = openTrades(scenario);
  // One position: 100 at 43, 60 at 40 and 90 at 44 are 10660 / 250 = 42.64, up to 43.
  t.like(trade, { contracts: 250, costDollars: 106.6, entryCents: 43 });
  t.is(trade!.tradeId, scenario.order(idOfOrder(placed)).tradeId);
  t.deepEqual(scenario.engine.conservation(), []);
});

scenarioTest('M6: cost and hold together are within the balance', (t, createScenario) => {
  const scenario = createScenario(DEPTH);
  scenario.book(WIN, [], [[40, 100_000]]);
  // 100,000 at 40 and 119,999 or 120,000 more held at 50: 100,000 dollars are the balance.
  t.is(scenario.limitBuy(50, 220_001).code, 'insufficient_balance');
  t.is(scenario.limitBuy(50, 220_000).body.status, 'resting');
  t.is(scenario.account().balanceDollars, 0);
});

scenarioTest(
  'T65: a displayed size counts once for an account, until it changes',
  (t, createScenario) => {
    const scenario = createScenario(DEPTH);
    scenario.book(WIN, BIDS, ASKS);
    const resting = idOfOrder(scenario.limitBuy(43, 500));
    t.is(filled(scenario, resting), 100);
    t.is(scenario.buy(60).body.fillPriceCents, 46, 'the 43s are taken: 50 at 45 and 10 at 50');

    scenario.tick({ kind: 'heartbeat', source: 0 });
    scenario.book(WIN, BIDS, ASKS);
    scenario.book(WIN, [[39, 1]], ASKS);
    t.is(filled(scenario, resting), 100, 'shown again as it was');
    scenario.book(WIN, BIDS, [[43, 130]]);
    t.is(filled(scenario, resting), 230, 'another size is a new level');
    scenario.book(WIN, BIDS, [[44, 130]]);
    scenario.book(WIN, BIDS, [[43, 130]]);
    t.is(filled(scenario, resting), 360, 'so is one that was gone');
  },
);

scenarioTest('T65, C6: it counts once also when the clock is set back', (t, createScenario) => {
  const scenario = createScenario(DEPTH);
  // No market before this one has a book.
  scenario.book(TOTAL, BIDS, ASKS);
  const buy = () => scenario.buy(100, { ticker: 'TOTAL' }).body.fillPriceCents;
  t.is(buy(), 43);
  const { engine, nowMs: atMs } = scenario;
  scenario.nowMs -= HOUR_MS;
  engine.command({ kind: 'clock', atMs, toMs: scenario.nowMs });
  scenario.book(TOTAL, BIDS, ASKS);
  t.is(buy(), 48, '50 at 45 and 50 at 50');
});

scenarioTest('T65: accounts do not take from each other', (t, createScenario) => {
  const scenario = createScenario(DEPTH);
  scenario.book(WIN, BIDS, ASKS);
  for (const account of [ALICE, BOB]) {
    t.is(scenario.buy(100, { account }).body.fillPriceCents, 43);
  }
});

scenarioTest('T66: in time order within a price, as far as sizes go', (t, createScenario) => {
  const scenario = createScenario(DEPTH);
  const first = idOfOrder(scenario.limitBuy(43, 80));
  const dearer = idOfOrder(scenario.limitBuy(44, 30, { routing: 'best' }));
  const second = idOfOrder(scenario.limitBuy(43, 80));
  scenario.book(WIN, BIDS, ASKS);
  t.deepEqual(
    [dearer, first, second].map((id) => filled(scenario, id)),
    [30, 70, 0],
  );
  scenario.book(WIN, BIDS, [[43, 50]]);
  t.deepEqual(
    [dearer, first, second].map((id) => filled(scenario, id)),
    [30, 80, 40],
  );
});

scenarioTest(
  'T110, T45: an order that filled in part is canceled or expires',
  (t, createScenario) => {
    const scenario = createScenario(DEPTH);
    scenario.book(WIN, BIDS, ASKS);
    const canceled = scenario.cancel(idOfOrder(scenario.limitBuy(43, 500)));
    t.like(orderOf(canceled), {
      status: 'canceled',
      filledContracts: 100,
      remainingContracts: 400,
    });
    t.like(orderOf(canceled), {
      cancelReason: 'canceled_by_owner',
      fillPriceCents: 43,
      holdDollars: 0,
    });
    t.is(orderOf(canceled).tradeId, openTrades(scenario)[0]!.tradeId as string);

    const expiresAtMs = scenario.nowMs + HOUR_MS;
    const expiring = idOfOrder(scenario.limitBuy(45, 500, { expiresAtMs }));
    scenario.nowMs = expiresAtMs;
    scenario.tick({ kind: 'time' });
    t.like(scenario.order(expiring), {
      status: 'expired',
      filledContracts: 50,
      fillPriceCents: 45,
    });
    t.like(scenario.account(), { heldDollars: 0, openStakeDollars: 43 + 22.5, openPositions: 2 });
  },
);

scenarioTest(
  'T72, T73: a sell in parts keeps the trade open until all is sold',
  (t, createScenario) => {
    const scenario = createScenario(DEPTH);
    scenario.book(WIN, BIDS, ASKS);
    const trade = idOfTrade(scenario.buy(120)); // 100 at 43 and 20 at 45: 52.00
    const limit = { limitPriceCents: 41 } as const;
    const ioc = scenario.sell(trade, { ...limit, timeInForce: 'ioc' });
    t.like(ioc.body, { status: 'executed', fillPriceCents: 41 });
    t.like(orderOf(ioc), { contracts: 120, filledContracts: 100, cancelReason: 'ioc_not_filled' });
    // 100 of 120 carry 5200 x 100 / 120 = 4333 of the cost away.
    t.like(tradeOf(ioc), { status: 'open', contracts: 20, costDollars: 8.67, pnlDollars: null });
    t.is(scenario.account().balanceDollars, 100_000 - 52 + 41);

    const resting = scenario.sell(trade, { ...limit, timeInForce: 'gtc' });
    t.like(orderOf(resting), { status: 'resting', contracts: 20, filledContracts: 0 });
    scenario.book(WIN, [[42, 7]], []);
    t.like(scenario.order(idOfOrder(resting)), { filledContracts: 7, remainingContracts: 13 });
    t.is(scenario.sell(trade, { ...limit, timeInForce: 'gtc' }).code, 'already_closed');
    scenario.book(WIN, [[41, 500]], []);
    // 7 at 42 and 13 at 41 are 827 / 20 = 41.35, down to 41.
    t.like(scenario.order(idOfOrder(resting)), { status: 'executed', fillPriceCents: 41 });
    const [closed] = openTrades(scenario);
    // 41.00 and 8.27 for 52.00.
    t.like(closed, { status: 'closed', contracts: 120, costDollars: 52, pnlDollars: -2.73 });
    t.is(scenario.account().balanceDollars, 100_000 - 2.73);
    t.deepEqual(scenario.engine.conservation(), []);
  },
);

scenarioTest(
  'T72: the cost of a part is rounded down, the last part takes the rest',
  (t, createScenario) => {
    const scenario = createScenario(DEPTH);
    scenario.book(WIN, [[32, 1]], [[33, 1]]);
    const buy = idOfOrder(scenario.limitBuy(35, 3));
    scenario.book(WIN, [[31, 1]], [[35, 2]]);
    const trade = scenario.order(buy).tradeId as string; // 33 + 35 + 35 are 103
    const ioc = { limitPriceCents: 1, timeInForce: 'ioc' } as const;
    // 103 / 3 is 34.33: 34 go, 69 stay; then half of 69.
    t.is(tradeOf(scenario.sell(trade, ioc)).costDollars, 0.69);
    scenario.book(WIN, [[30, 1]], []);
    t.is(tradeOf(scenario.sell(trade, ioc)).costDollars, 0.35);
    scenario.book(WIN, [[29, 1]], []);
    // 31 + 30 + 29 for 103.
    t.is(tradeOf(scenario.sell(trade, ioc)).pnlDollars, -0.13);
    t.deepEqual(scenario.engine.conservation(), []);
  },
);

scenarioTest('T54: a sell ends what is left of the buy first', (t, createScenario) => {
  const sells = [
    {},
    { limitPriceCents: 41, timeInForce: 'gtc' },
    { limitPriceCents: 60, timeInForce: 'gtc' },
  ] as const;
  for (const sell of sells) {
    const scenario = createScenario(DEPTH);
    scenario.book(WIN, BIDS, ASKS);
    const buy = idOfOrder(scenario.limitBuy(43, 500));
    const trade = scenario.order(buy).tradeId as string;
    const sold = scenario.sell(trade, sell);
    t.like(scenario.order(buy), { status: 'canceled', cancelReason: 'position_closed' });
    t.like(scenario.order(buy), { filledContracts: 100, holdDollars: 0 });
    if ('limitPriceCents' in sell) t.is(orderOf(sold).contracts, 100, 'the whole position');
    scenario.book(WIN, BIDS, [[43, 7]]);
    t.is(filled(scenario, buy), 100, 'it grows no more');
    t.deepEqual(scenario.engine.conservation(), []);
  }
  const scenario = createScenario(DEPTH);
  scenario.book(WIN, BIDS, ASKS);
  const buy = idOfOrder(scenario.limitBuy(43, 500));
  const trade = scenario.order(buy).tradeId as string;
  scenario.sell(trade, { limitPriceCents: 60, timeInForce: 'ioc' });
  t.is(scenario.order(buy).status, 'resting', 'a sell that neither trades nor rests ends nothing');
});

scenarioTest('T73: parts that were sold stay sold', (t, createScenario) => {
  const outcomes = [
    // 20 left pay 100 each: 41 + 20 for 52.00.
    { outcome: 'yes', yesPayoutCents: 100, noPayoutCents: 0, status: 'settled', pnlDollars: 9 },
    // 20 left give their cost back: 41 + 8.67 for 52.00.
    { outcome: 'void', yesPayoutCents: 0, noPayoutCents: 0, status: 'void', pnlDollars: -2.33 },
  ] as const;
  for (const { status, pnlDollars, ...result } of outcomes) {
    const scenario = createScenario(DEPTH);
    scenario.book(WIN, BIDS, ASKS);
    const trade = idOfTrade(scenario.buy(120));
    const sell = { limitPriceCents: 41, timeInForce: 'gtc' } as const;
    const resting = idOfOrder(scenario.sell(trade, sell));
    scenario.tick({ kind: 'result', source: 0, market: WIN, ...result });
    t.like(scenario.order(resting), { status: 'canceled', cancelReason: 'market_resolved' });
    t.is(filled(scenario, resting), 100);
    t.like(openTrades(scenario)[0], { status, contracts: 120, costDollars: 52, pnlDollars });
    t.is(scenario.account().balanceDollars, 100_000 + pnlDollars);
  }
});

scenarioTest('T67: the venue that fills more, then the better price', (t, createScenario) => {
  const best = { routing: 'best' } as const;
  const fillOf = (contracts: number, order = {}) => {
    const scenario = createScenario(DEPTH);
    // HOME is the no of WIN-B: its ask there is 100 minus the yes bid.
    scenario.book(
      WIN,
      [[40, 100]],
      [
        [44, 100],
        [46, 300],
      ],
    );
    scenario.book(
      WIN_B,
      [
        [58, 60],
        [57, 20],
        [56, 1000],
      ],
      [[61, 100]],
    );
    const placed = scenario.buy(contracts, { ...best, ...order });
    return placed.code ?? [placed.body.fillPriceCents, placed.body.fillVenue];
  };
  t.deepEqual(fillOf(60), [42, 'venue_b']);
  // 60 at 42 and 20 at 43, up to 43.
  t.deepEqual(fillOf(80), [43, 'venue_b']);
  // 44 at venue_b is no better than venue_a's 44, so only 80 are there.
  t.deepEqual(fillOf(100), [44, 'venue_a']);
  t.is(fillOf(401), 'no_liquidity');
  // An ioc of 200 at 44: 100 at venue_a are more than 80 at venue_b.
  const ioc = { limitPriceCents: 44, timeInForce: 'ioc' };
  t.deepEqual(fillOf(200, ioc), [44, 'venue_a']);
});

scenarioTest('T62: where only a top is known, it is the whole book', (t, createScenario) => {
  const scenario = createScenario(DEPTH);
  scenario.quote(WIN, 41, 43); // 200 at the ask
  t.is(scenario.buy(201).code, 'no_liquidity');
  t.is(scenario.buy(200).body.fillPriceCents, 43);
});
