import type { PlaceOrder } from '../../../engine/rules/messages.ts';
import { ORDER_TERM_NAMES } from '../../../engine/rules/order-terms.ts';
import {
  BOB,
  HOME,
  HOUR_MS,
  idOfOrder,
  idOfTrade,
  OVER,
  orderOf,
  type Scenario,
  scenarioTest,
  tradeOf,
  WIN,
} from '../../model/scenario.ts';
import { OTHER_TERMS } from '../fixtures.ts';

/** Terms of other orders than limit buys, and terms that say how an order came and not what it asks. */
const OF_OTHERS: ReadonlySet<string> = new Set([
  ...['action', 'boundPriceCents'],
  ...['placedVia', 'placedPrivate', 'connection'],
]);
const balance = (scenario: Scenario) => scenario.account().balanceDollars;

scenarioTest(
  'T91, T93: the same key answers the stored order, or 409 for another',
  (t, createScenario) => {
    const scenario = createScenario();
    scenario.quote(WIN, 41, 43);
    const key = { idempotencyKey: 'mine' };
    const first = scenario.limitBuy(40, 10, key);
    scenario.nowMs += 5000;
    const second = scenario.limitBuy(40, 10, { ...key, placedVia: 'web', placedPrivate: true });
    t.deepEqual(second.body, {
      ...first.body,
      replayed: true,
      originalCreatedAt: '2026-03-01T12:00:00.000Z',
    });
    t.is(scenario.limitBuy(40, 11, key).code, 'idempotency_key_reused');
    t.is(scenario.limitBuy(40, 10, { ...key, routing: 'best' }).code, 'idempotency_key_reused');
    t.is(
      scenario.limitBuy(40, 10, { ...key, account: BOB }).body.replayed,
      false,
      'keys are the account’s',
    );

    scenario.quote(WIN, 37, 38);
    const executed = scenario.limitBuy(40, 10, key);
    t.is(executed.body.status, 'executed');
    t.is(tradeOf(executed).costDollars, 3.8);
    t.is(scenario.account().openPositions, 1);
  },
);

scenarioTest('T92: an order that differs in one thing is another order', (t, createScenario) => {
  const scenario = createScenario();
  scenario.quote(WIN, 41, 43);
  const ofLimitBuys = ORDER_TERM_NAMES.filter((name) => !OF_OTHERS.has(name));
  const held = [1, 2].map(() => idOfTrade(scenario.buy(2)));
  const variants: [Partial<PlaceOrder>, Partial<PlaceOrder>[]][] = [
    [
      { action: 'buy', instrumentId: HOME, side: 'yes', contracts: 10, limitPriceCents: 40 },
      [
        { side: 'no' },
        { contracts: 11 },
        { instrumentId: OVER },
        { instrumentId: null, ticker: 'WIN' },
        ...ofLimitBuys.map((name) => ({ [name]: OTHER_TERMS[name] })),
      ],
    ],
    [
      { action: 'buy', instrumentId: HOME, side: 'yes', contracts: 1, boundPriceCents: 50 },
      [{ boundPriceCents: 49 }, { boundPriceCents: null }],
    ],
    [
      { action: 'buy', ticker: 'WIN', side: 'yes', contracts: 1 },
      [{ side: 'no' }, { ticker: 'TOTAL' }, { instrumentId: HOME, ticker: null }],
    ],
    [{ action: 'sell', tradeId: held[0]! }, [{ tradeId: held[1]! }, { boundPriceCents: 1 }]],
  ];
  for (const [order, others] of variants) {
    const timeInForce = order.limitPriceCents === undefined ? null : 'gtc';
    const same = { timeInForce, idempotencyKey: JSON.stringify(order), ...order } as const;
    t.is(scenario.place(same).code, null);
    for (const other of others) {
      const label = JSON.stringify(other);
      t.is(scenario.place({ ...same, ...other }).code, 'idempotency_key_reused', label);
    }
    t.is(scenario.place(same).body.replayed, true);
  }
});

scenarioTest('T94: a refused order does not use its key up', (t, createScenario) => {
  const scenario = createScenario();
  const key = { idempotencyKey: 'mine' };
  t.is(scenario.buy(1, key).code, 'no_liquidity');
  scenario.quote(WIN, 41, 43);
  t.is(scenario.buy(2, key).body.replayed, false);
});

scenarioTest('C8, T45: an order expires before anything else happens then', (t, createScenario) => {
  const scenario = createScenario();
  scenario.quote(WIN, 41, 43);
  const expiresAtMs = scenario.nowMs + 1000;
  const resting = scenario.limitBuy(40, 10, { expiresAtMs, idempotencyKey: 'mine' });
  scenario.nowMs += 999;
  scenario.tick({ kind: 'time' });
  t.is(scenario.order(idOfOrder(resting)).status, 'resting');
  scenario.nowMs += 1;
  scenario.quote(WIN, 37, 38);
  const expired = scenario.order(idOfOrder(resting));
  t.is(expired.status, 'expired');
  t.is(expired.cancelReason, 'expired');
  t.is(balance(scenario), 100_000);
  const replayed = scenario.limitBuy(40, 10, { expiresAtMs, idempotencyKey: 'mine' });
  t.is(replayed.body.status, 'canceled');
  t.is(replayed.body.replayed, true);
});

scenarioTest('T44: an expiry of 365 days is the last one', (t, createScenario) => {
  const scenario = createScenario();
  const expiresAtMs = scenario.nowMs + 365 * 24 * HOUR_MS;
  t.is(scenario.limitBuy(40, 10, { expiresAtMs }).body.status, 'resting');
});

scenarioTest(
  'M7, T110, T111: a cancel gives the hold back, once, to its owner',
  (t, createScenario) => {
    const scenario = createScenario();
    scenario.quote(WIN, 41, 43);
    const order = idOfOrder(scenario.limitBuy(40, 10));
    t.is(scenario.cancel(order, BOB).code, 'order_not_found');
    const canceled = scenario.cancel(order);
    t.is(orderOf(canceled).status, 'canceled');
    t.is(orderOf(canceled).cancelReason, 'canceled_by_owner');
    t.is(balance(scenario), 100_000);
    t.is(scenario.cancel(order).code, 'already_closed');
  },
);

scenarioTest('C1: engine time never goes back', (t, createScenario) => {
  const scenario = createScenario();
  scenario.quote(WIN, 41, 43);
  scenario.nowMs += 1000;
  scenario.tick({ kind: 'time' });
  const expiresAtMs = scenario.nowMs;
  scenario.nowMs -= 500;
  t.is(scenario.limitBuy(40, 10, { expiresAtMs }).code, 'invalid_request');
  t.is(
    orderOf(scenario.limitBuy(40, 10)).createdAt,
    '2026-03-01T12:00:00.500Z',
    "its caller's time",
  );
});

scenarioTest(
  'T95, T112, V6: trading off: new orders are refused, known ones answered, cancels go through',
  (t, createScenario) => {
    const scenario = createScenario();
    scenario.quote(WIN, 41, 43);
    const off = { mayTrade: false };
    const mine = { idempotencyKey: 'mine' };
    const rests = scenario.limitBuy(40, 10, mine);
    t.is(scenario.buy(1, off).code, 'trading_off');
    t.is(scenario.buy(1, { ...off, mayOpen: false }).code, 'trading_off', 'before the plan');
    t.is(
      scenario.limitBuy(40, 10, { ...off, expiresAtMs: 1 }).code,
      'invalid_request',
      'after the body',
    );
    t.is(scenario.limitBuy(40, 10, { ...mine, ...off }).body.replayed, true);
    t.is(scenario.limitBuy(40, 11, { ...mine, ...off }).code, 'idempotency_key_reused');
    const bought = scenario.buy(1);
    t.is(scenario.sell(tradeOf(bought).tradeId as string, off).code, 'trading_off');
    t.is(orderOf(scenario.cancel(idOfOrder(rests))).status, 'canceled');
  },
);

scenarioTest(
  'A38, membership_required: to open, not to sell nor to read a replay',
  (t, createScenario) => {
    const scenario = createScenario();
    scenario.quote(WIN, 41, 43);
    t.is(scenario.buy(1, { mayOpen: false }).code, 'membership_required');
    const bought = scenario.buy(1, { idempotencyKey: 'mine' });
    const again = scenario.buy(1, { idempotencyKey: 'mine', mayOpen: false });
    t.is(again.body.replayed, true, 'a replay opens nothing');
    const { tradeId } = bought.body.trade as { tradeId: string };
    t.is(scenario.sell(tradeId, { mayOpen: false }).body.status, 'executed');
  },
);
