/** Orders that pay their venues' fees, with figures worked out by hand or published by a venue. */
import test from 'ava';
import type { FeeEntry, FeeSchedule } from '../../../engine/rules/fees.ts';
import type { PlaceOrder } from '../../../engine/rules/messages.ts';
import { PRESETS } from '../../../engine/rules/realism.ts';
import { publishedFees } from '../../../feeds/venues/shared/published-fees.ts';
import {
  ALICE,
  createEngineScenario,
  HOME,
  type Scenario,
  scenarioTest,
  WIN,
  WIN_B,
} from '../../model/scenario.ts';

const OCTOBER = Date.UTC(2026, 9, 5);
const DEPTH = { fillModel: 'book_depth', startMs: OCTOBER } as const;
const TOP = { startMs: OCTOBER } as const;
const ON = { realism: { ...PRESETS.simple, fees: 'venue' } } as const;
const START = 100_000;

type Row = Record<string, unknown>;
const orderOf = ({ body }: { body: Row }) => body.order as Row;
const tradeOf = ({ body }: { body: Row }) => body.trade as Row;

function chargeBy(scenario: Scenario, ...lines: FeeEntry[]): void {
  scenario.engine.command({ kind: 'fees', atMs: scenario.nowMs, lines });
}

const line = (over: Partial<FeeEntry>): FeeEntry => {
  return { ...publishedFees('kalshi', 'venue_a')[0]!, ...over };
};

function balanceOf(scenario: Scenario): number {
  return scenario.account().balanceDollars as number;
}

scenarioTest('T64: an order that walks levels costs their exact sum', (t, createScenario) => {
  const scenario = createScenario(DEPTH);
  scenario.book(
    WIN,
    [
      [39, 30],
      [30, 100],
    ],
    [
      [41, 10],
      [44, 7],
      [50, 100],
    ],
  );
  const bought = scenario.buy(18);
  // 410 + 308 + 50 cents for 18: 42.67 a contract.
  t.like(tradeOf(bought), { costDollars: 7.68, entryCents: 43, feesDollars: null });
  t.is(bought.body.fillPriceCents, 43);
  t.is(balanceOf(scenario), START - 7.68);
  const more = scenario.buy(2, { timeInForce: 'ioc', limitPriceCents: 50 });
  t.like(tradeOf(more), { costDollars: 1, entryCents: 50 });
  // 18 at 39, and the other 12 of that level are free for the second.
  const sold = scenario.sell(tradeOf(bought).tradeId as string);
  t.like(tradeOf(sold), { pnlDollars: -0.66, costDollars: 7.68, exitCents: 39 });
  t.is(balanceOf(scenario), 99_998.34);
});

scenarioTest('T64, T72: a sale over several levels brings their exact sum', (t, createScenario) => {
  const scenario = createScenario(DEPTH);
  scenario.book(
    WIN,
    [
      [39, 3],
      [31, 2],
      [30, 100],
    ],
    [[41, 100]],
  );
  const { tradeId } = tradeOf(scenario.buy(7));
  const sold = scenario.sell(tradeId as string);
  // 117 + 62 + 60 cents for 7: 34.14 a contract.
  t.is(sold.body.fillPriceCents, 34);
  t.like(tradeOf(sold), { pnlDollars: -0.48, costDollars: 2.87, exitCents: 34 });
  t.is(balanceOf(scenario), START - 0.48);
});

scenarioTest('T64, M4: what walks levels and rests is exact in both parts', (t, createScenario) => {
  const scenario = createScenario(DEPTH);
  scenario.book(
    WIN,
    [[39, 3]],
    [
      [41, 2],
      [44, 1],
    ],
  );
  const placed = scenario.limitBuy(45, 10);
  t.like(orderOf(placed), { filledContracts: 3, fillPriceCents: 42, holdDollars: 3.15 });
  t.is(balanceOf(scenario), 99_995.59);
  const of = { kind: 'trades', account: ALICE, limit: 9, before: null } as const;
  const { body } = scenario.ask({ ...of, status: null, organizationSlug: null });
  t.like((body.trades as Row[])[0], { costDollars: 1.26, entryCents: 42 });
});

scenarioTest('M14, T172: a fee moves the balance on entry and on sale', (t, createScenario) => {
  const scenario = createScenario(TOP);
  chargeBy(scenario, ...publishedFees('kalshi', 'venue_a'));
  scenario.quote(WIN, 48, 50);
  const bought = scenario.buy(100, ON);
  t.like(tradeOf(bought), { costDollars: 50, feesDollars: 1.75, pnlDollars: null });
  t.is(balanceOf(scenario), START - 51.75);
  t.like(scenario.account(), { openStakeDollars: 50, pnlSinceResetDollars: -3.75 });
  // 0.07 · 100 · 0.48 · 0.52 = 1.7472.
  const sold = scenario.sell(tradeOf(bought).tradeId as string, ON);
  t.like(tradeOf(sold), { costDollars: 50, feesDollars: 3.5, pnlDollars: -5.5 });
  t.is(balanceOf(scenario), START - 5.5);
  t.is(scenario.account().lifetimePnlDollars, -5.5);
});

for (const [outcome, pnl] of [
  ['yes', 48.25],
  ['no', -51.75],
  ['void', -1.75],
] as const) {
  scenarioTest(`M14, M18: the result ${outcome} charges no fee`, (t, createScenario) => {
    const scenario = createScenario(TOP);
    scenario.quote(WIN, 48, 50);
    scenario.buy(100, ON);
    const [yesPayoutCents, noPayoutCents] = outcome === 'yes' ? [100, 0] : [0, 100];
    const paid =
      outcome === 'void'
        ? { yesPayoutCents: 0, noPayoutCents: 0 }
        : { yesPayoutCents, noPayoutCents };
    scenario.tick({ kind: 'result', source: 0, market: WIN, outcome, ...paid });
    const of = { kind: 'trades', account: ALICE, limit: 9, before: null } as const;
    const { body } = scenario.ask({ ...of, status: null, organizationSlug: null });
    t.like((body.trades as Row[])[0], { pnlDollars: pnl, feesDollars: 1.75, costDollars: 50 });
    t.is(balanceOf(scenario), START + pnl);
  });
}

scenarioTest('M14: orders of one account pay or do not, each by itself', (t, createScenario) => {
  const scenario = createScenario(TOP);
  scenario.quote(WIN, 48, 50);
  const free = tradeOf(scenario.buy(100));
  t.like(free, { feesDollars: null });
  const sold = scenario.sell(free.tradeId as string, ON);
  t.like(tradeOf(sold), { feesDollars: 1.75, pnlDollars: -3.75 });
});

scenarioTest(
  'M15: a resting buy holds its worst fees, and gets the rest back',
  (t, createScenario) => {
    const scenario = createScenario(TOP);
    chargeBy(scenario, line({ maker: '0.0175' }));
    scenario.quote(WIN, 40, 70);
    const placed = scenario.limitBuy(60, 100, ON);
    // The dearest price up to 60 is 50, and a taker pays more: 1.75.
    t.like(orderOf(placed), { holdDollars: 61.75, feesDollars: 0 });
    t.like(scenario.account(), { heldDollars: 61.75, balanceDollars: START - 61.75 });
    scenario.quote(WIN, 55, 60);
    // The maker's fee of 100 at 60 cents is 0.42.
    t.like(scenario.account(), { heldDollars: 0, balanceDollars: START - 60.42 });
    t.like(scenario.order(orderOf(placed).orderId as string), {
      feesDollars: 0.42,
      holdDollars: 0,
    });
  },
);

scenarioTest('M6, M15: the balance must cover cost and fees', (t, createScenario) => {
  for (const [cents, order] of [
    [51_75, {}],
    [51_75, { limitPriceCents: 50, timeInForce: 'gtc' }],
    [41_68, { limitPriceCents: 40, timeInForce: 'gtc' }],
  ] as const) {
    const scenario = createScenario(TOP);
    chargeBy(scenario, line({ taker: '0.07' }));
    scenario.quote(WIN, 48, 50);
    const drain = { kind: 'adjust', atMs: scenario.nowMs, account: ALICE } as const;
    scenario.buy(1, { side: 'no' });
    const spendable = Math.round(balanceOf(scenario) * 100);
    scenario.engine.command({ ...drain, amountCents: cents - 1 - spendable });
    t.is(scenario.buy(100, { ...ON, ...order }).code, 'insufficient_balance');
    t.is(scenario.buy(100, order).code, null, 'without fees it is enough');
    const again = createScenario(TOP);
    chargeBy(again, line({ taker: '0.07' }));
    again.quote(WIN, 48, 50);
    again.buy(1, { side: 'no' });
    again.engine.command({ ...drain, atMs: again.nowMs, amountCents: cents - spendable });
    t.is(again.buy(100, { ...ON, ...order }).code, null);
    t.is(balanceOf(again), 0);
  }
});

scenarioTest('M16: a fee below a cent is charged once, whatever the parts', (t, createScenario) => {
  const scenario = createScenario(DEPTH);
  chargeBy(scenario, line({ maker: '0.0175' }));
  scenario.book(WIN, [[40, 9]], [[60, 9]]);
  const { orderId } = orderOf(scenario.limitBuy(50, 4, ON));
  const paid = [];
  // 0.4375 cents each: 0.4375, 0.875, 1.3125, 1.75.
  for (const size of [1, 2, 3, 4]) {
    scenario.book(
      WIN,
      [[40, 9]],
      [
        [50, 1],
        [60, size],
      ],
    );
    scenario.book(WIN, [[40, 9]], [[60, size]]);
    paid.push(scenario.order(orderId as string).feesDollars);
  }
  t.deepEqual(paid, [0.01, 0.01, 0.02, 0.02]);
  t.is(balanceOf(scenario), START - 2.02);
  // A sale in parts, too. One of four is sold, for 0.4233 cents.
  const { tradeId } = scenario.order(orderId as string);
  scenario.sell(tradeId as string, { ...ON, timeInForce: 'gtc', limitPriceCents: 41 });
  scenario.book(WIN, [[41, 1]], [[60, 9]]);
  t.is(balanceOf(scenario), START - 2.02 + 0.41 - 0.01);
});

scenarioTest('M17: a newer table takes what is there, and no more', (t, createScenario) => {
  for (const netting of [null, 'net'] as const) {
    const scenario = createScenario(TOP);
    chargeBy(scenario, line({ taker: '0.07', maker: '0' }));
    scenario.quote(WIN, 40, 70);
    // A netting order closes these trades first.
    const closed = netting === null ? [] : [4, 6];
    for (const contracts of closed) scenario.buy(contracts, { instrumentId: HOME, side: 'no' });
    scenario.limitBuy(50, 100, { ...ON, netting });
    leaveCents(scenario, 3);
    chargeBy(scenario, line({ maker: '1' }));
    scenario.quote(WIN, 45, 50);
    // 25.00 by the new table; 1.75 is held, and 3 cents are left. Ten that close bring 2.50 beyond their fee.
    const openStakeDollars = netting === null ? 50 : 45;
    t.like(scenario.account(), { balanceDollars: 0, heldDollars: 0, openStakeDollars });
    t.deepEqual(scenario.engine.conservation(), []);
  }
});

scenarioTest('M16, M17: of a part, the hold of what waits is kept', (t, createScenario) => {
  const scenario = createScenario(DEPTH);
  chargeBy(scenario, line({ taker: '0.07', maker: '0' }));
  scenario.book(WIN, [[40, 9]], [[70, 9]]);
  scenario.limitBuy(50, 4, ON);
  leaveCents(scenario, 0);
  chargeBy(scenario, line({ maker: '0.35' }));
  scenario.book(WIN, [[40, 9]], [[50, 3]]);
  // 26.25 cents are the fee, so 0.75 of 27 would be charged before. The last contract holds 50 and one.
  t.like(scenario.account(), { balanceDollars: 0, heldDollars: 0.51, openStakeDollars: 1.5 });
});

/** An operator takes all else of the balance. */
function leaveCents(scenario: Scenario, cents: number): void {
  const of = { kind: 'adjust', atMs: scenario.nowMs, account: ALICE } as const;
  scenario.engine.command({ ...of, amountCents: cents - Math.round(balanceOf(scenario) * 100) });
}

scenarioTest('M15, M16: makers are given rebates, which no hold expects', (t, createScenario) => {
  const scenario = createScenario(TOP);
  chargeBy(scenario, { ...publishedFees('polymarket_us', 'venue_a')[0]!, taker: '-0.01' });
  scenario.quote(WIN, 40, 70);
  t.like(orderOf(scenario.limitBuy(50, 1000, ON)), { holdDollars: 500 });
  scenario.quote(WIN, 45, 50);
  t.is(balanceOf(scenario), START - 500 + 3.12);
});

scenarioTest('T171: the venue of the price decides the fee', (t, createScenario) => {
  const scenario = createScenario(TOP);
  chargeBy(scenario, line({ taker: '0.07' }), ...publishedFees('polymarket_us', 'venue_b'));
  scenario.quote(WIN, 48, 50);
  scenario.quote(WIN_B, 55, 60);
  const bought = scenario.buy(1000, { ...ON, routing: 'best' });
  // 0.0695 · 1000 · 0.45 · 0.55 = 17.20125.
  t.like(tradeOf(bought), { costDollars: 450, feesDollars: 17.2, fillVenue: 'venue_b' });
});

scenarioTest('T171: the table of the day of the fill counts', (t, createScenario) => {
  const scenario = createScenario(TOP);
  const from = new Date(OCTOBER + 60_000).toISOString();
  chargeBy(scenario, line({ maker: '0' }), line({ from, maker: '0.0175' }));
  scenario.quote(WIN, 40, 70);
  const { orderId } = orderOf(scenario.limitBuy(60, 100, ON));
  scenario.nowMs += 60_000;
  scenario.quote(WIN, 55, 60);
  t.is(scenario.order(orderId as string).feesDollars, 0.42);
});

scenarioTest('M14, T170: a preview says the fee of the order and its hold', (t, createScenario) => {
  const scenario = createScenario(DEPTH);
  scenario.book(
    WIN,
    [[40, 9]],
    [
      [50, 1],
      [51, 1],
    ],
  );
  const order = {
    ...blank(scenario),
    limitPriceCents: 51,
    timeInForce: 'gtc',
    contracts: 4,
  } as const;
  const { body } = scenario.ask({ kind: 'preview', order });
  // 1.75 + 1.7493 cents, and for each of the rest 1.75 of which 0.5007 cents are paid.
  t.like(body, { costCents: 101, feeCents: 4, holdCents: 102 + 3, would: 'rest' });
  scenario.place(order);
  t.like(scenario.account(), { heldDollars: 1.05, balanceDollars: START - 2.1 });
});

function blank({ nowMs }: Scenario): PlaceOrder {
  const kept: PlaceOrder[] = [];
  const scenario = createEngineScenario({ startMs: nowMs }, () => ({
    ...NO_ENGINE,
    command: (command) => {
      if (command.kind === 'place') kept.push(command);
      return { ok: true, body: '{}' };
    },
  }));
  scenario.place({ ...ON, action: 'buy', instrumentId: HOME, side: 'yes' });
  return kept[0]!;
}

const NO_ENGINE = {
  tick() {},
  query: () => ({ ok: true, body: '{}' }) as const,
  conservation: () => [],
  endings: () => [],
  digest: () => null,
  roomCents: () => 0,
};

/** Contracts, cents, and the published fee in cents. */
type Example = readonly [contracts: number, priceCents: number, feeCents: number];
const TAKERS: Record<FeeSchedule, readonly Example[]> = {
  // The table of Kalshi's fee schedule.
  kalshi: [
    [1, 1, 1],
    [100, 5, 34],
    [100, 35, 160],
    [100, 50, 175],
    [1, 90, 1],
  ],
  // The examples of docs.polymarket.us.
  polymarket_us: [
    [1000, 10, 626],
    [1000, 65, 1581],
    [1000, 30, 1460],
    [1000, 90, 626],
    [1000, 50, 1738],
  ],
  // 0.05 · C · p · (1 - p), as docs.polymarket.com tabulates 100 shares: 0.48, 0.80, 1.05, 1.20, 1.25.
  polymarket: [
    [100, 10, 45],
    [100, 20, 80],
    [100, 30, 105],
    [100, 40, 120],
    [100, 50, 125],
  ],
};

for (const [schedule, examples] of Object.entries(TAKERS)) {
  scenarioTest(`T170: published examples of ${schedule}, taken`, (t, createScenario) => {
    const scenario = createScenario(TOP);
    chargeBy(scenario, publishedFees(schedule as FeeSchedule, 'venue_a')[0]!);
    for (const [contracts, cents, feeCents] of examples) {
      scenario.quote(WIN, cents - 1, cents);
      const bought = scenario.buy(contracts, ON);
      t.is(tradeOf(bought).feesDollars, feeCents / 100, `${contracts} at ${cents}`);
    }
  });
}

const MAKERS: readonly (readonly [FeeSchedule, string, readonly Example[]])[] = [
  // A quarter of the taker's rate, on games: 0.0175 · C · p · (1 - p), up to the cent.
  [
    'kalshi',
    'KXMLBGAME',
    [
      [100, 5, 9],
      [100, 35, 40],
      [100, 50, 44],
      [1, 50, 1],
      [100, 90, 16],
    ],
  ],
  [
    'polymarket_us',
    '',
    [
      [1000, 10, -112],
      [1000, 65, -284],
      [1000, 30, -262],
      [1000, 90, -112],
      [1000, 50, -312],
    ],
  ],
  [
    'polymarket',
    '',
    [
      [100, 10, 0],
      [100, 20, 0],
      [100, 30, 0],
      [100, 40, 0],
      [100, 50, 0],
    ],
  ],
];

for (const [schedule, series, examples] of MAKERS) {
  scenarioTest(`T170: published examples of ${schedule}, made`, (t, createScenario) => {
    const scenario = createScenario(TOP);
    const lines = publishedFees(schedule, 'venue_a');
    const made = lines.find((one) => (one.series ?? '') === series)!;
    chargeBy(scenario, { ...made, series: null });
    for (const [contracts, cents, feeCents] of examples) {
      scenario.quote(WIN, 1, 99);
      const { orderId } = orderOf(scenario.limitBuy(cents, contracts, ON));
      scenario.quote(WIN, cents - 1, cents);
      t.is(
        scenario.order(orderId as string).feesDollars,
        feeCents / 100,
        `${contracts} at ${cents}`,
      );
    }
  });
}

test('M19: the largest rates and rebates leave nobody below nothing', (t) => {
  for (const schedule of ['kalshi', 'polymarket_us', 'polymarket'] as const) {
    for (const rate of ['1', '-1']) {
      const scenario = createEngineScenario(TOP);
      chargeBy(scenario, line({ schedule, taker: rate, maker: rate }));
      for (const cents of [1, 2, 50, 99]) {
        scenario.quote(WIN, cents, cents + 1 > 99 ? 0 : cents + 1);
        const bought = cents === 99 ? null : scenario.buy(3, ON);
        if (bought !== null) scenario.sell(tradeOf(bought).tradeId as string, ON);
        t.deepEqual(scenario.engine.conservation(), []);
      }
      t.true(balanceOf(scenario) >= START - 20);
    }
  }
});

const LATE = {
  realism: { ...PRESETS.simple, fees: 'venue', latencyMs: { min: 150, max: 150 } },
} as const;

scenarioTest(
  'M15, T161: a pending buy holds its worst fees, and takes as it arrives',
  (t, createScenario) => {
    const scenario = createScenario(DEPTH);
    chargeBy(scenario, line({ maker: '0.0175' }));
    scenario.book(WIN, [[40, 100]], [[42, 100]]);
    // Without a limit: 10 x (99 + 1.75) cents.
    const market = orderOf(scenario.buy(10, LATE));
    t.like(market, { holdDollars: 10.08, feesDollars: 0 });
    // 20 x (42 + 1.7052) cents.
    const resting = orderOf(scenario.limitBuy(42, 20, LATE));
    t.like(resting, { holdDollars: 8.75, feesDollars: 0 });
    t.is(balanceOf(scenario), START - 10.08 - 8.75);
    scenario.nowMs += 10;
    scenario.book(WIN, [[40, 100]], [[42, 15]]);
    scenario.nowMs += 200;
    scenario.book(WIN, [[30, 100]], [[50, 100]]);
    // 10 at 42: 17.052 cents.
    const filled = scenario.order(market.orderId as string);
    t.like(filled, { status: 'executed', fillPriceCents: 42, feesDollars: 0.18, holdDollars: 0 });
    // 5 at 42: 8.526 cents, of which 0.474 are in advance; 15 x (42 + 1.7052) less that.
    const part = scenario.order(resting.orderId as string);
    t.like(part, { status: 'resting', filledContracts: 5, feesDollars: 0.09, holdDollars: 6.56 });
    t.is(balanceOf(scenario), 99_986.87);
    // It made the rest: 15 at 42 are 6.3945 cents, less what was paid in advance.
    scenario.book(WIN, [[30, 100]], [[42, 100]]);
    const made = scenario.order(resting.orderId as string);
    t.like(made, { status: 'executed', feesDollars: 0.15, holdDollars: 0 });
    t.is(balanceOf(scenario), START - 12.6 - 0.18 - 0.15);
    t.deepEqual(scenario.engine.conservation(), []);
  },
);

scenarioTest(
  'M15, T161: a pending buy that trades nothing gives the hold of its fees back',
  (t, createScenario) => {
    const scenario = createScenario(DEPTH);
    scenario.book(WIN, [[40, 100]], [[42, 100]]);
    const { orderId } = orderOf(scenario.buy(10, { ...LATE, boundPriceCents: 43 }));
    scenario.nowMs += 10;
    scenario.book(WIN, [[43, 100]], [[45, 100]]);
    scenario.nowMs += 200;
    scenario.book(WIN, [[43, 100]], [[45, 100]]);
    const ended = scenario.order(orderId as string);
    t.like(ended, { status: 'canceled', cancelReason: 'price_moved', feesDollars: 0 });
    t.is(balanceOf(scenario), START);
  },
);

scenarioTest(
  'M17: a newer table charges an order that arrives no more than there is',
  (t, createScenario) => {
    const scenario = createScenario(TOP);
    scenario.quote(WIN, 49, 50);
    const { orderId } = orderOf(scenario.limitBuy(50, 190_000, LATE));
    const left = balanceOf(scenario);
    chargeBy(scenario, line({ taker: '1' }));
    scenario.nowMs += 10;
    scenario.quote(WIN, 49, 50);
    scenario.nowMs += 200;
    scenario.quote(WIN, 49, 50);
    const filled = scenario.order(orderId as string);
    t.is(filled.status, 'executed');
    t.is(left, 1675);
    t.is(balanceOf(scenario), 0);
    t.deepEqual(scenario.engine.conservation(), []);
  },
);
