import { ACCOUNT_LIMITS, KEY_LIMITS } from '../../../engine/rules/trade-limits.ts';
import { ALICE, BOB, HOME, scenarioTest, WIN } from '../../model/scenario.ts';

scenarioTest('T132: an order is taken at its time, and refused after it', (t, create) => {
  const scenario = create();
  scenario.quote(WIN, 40, 43);
  const inTime = scenario.buy(1, { rejectIfLaterThanMs: scenario.nowMs });
  t.is(inTime.code, null);
  for (const order of [{}, { limitPriceCents: 1, timeInForce: 'gtc' } as const]) {
    const late = { ...order, rejectIfLaterThanMs: scenario.nowMs - 1 };
    t.is(scenario.buy(1, late).code, 'too_late');
  }
  t.like(scenario.account(), { openPositions: 1, restingOrders: 0 });
});

scenarioTest('T132: what counts is the time of the engine', (t, create) => {
  const scenario = create();
  scenario.quote(WIN, 40, 43);
  const sentMs = scenario.nowMs;
  scenario.nowMs += 1000;
  scenario.tick({ kind: 'time' });
  t.is(scenario.buy(1, { atMs: sentMs, rejectIfLaterThanMs: sentMs + 999 }).code, 'too_late');
  t.is(scenario.buy(1, { atMs: sentMs, rejectIfLaterThanMs: sentMs + 1000 }).code, null);
});

scenarioTest(
  'T94, T132: a late order leaves its key unused; a known key is answered late',
  (t, create) => {
    const scenario = create();
    scenario.quote(WIN, 40, 43);
    const order = { idempotencyKey: 'once' };
    const late = { ...order, rejectIfLaterThanMs: scenario.nowMs - 1 };
    t.is(scenario.buy(1, late).code, 'too_late');
    t.false(
      scenario.buy(1, { ...order, rejectIfLaterThanMs: scenario.nowMs }).body.replayed as boolean,
    );
    t.true(scenario.buy(1, late).body.replayed as boolean, 'its time is no part of an order');
    t.true(scenario.buy(1, order).body.replayed as boolean);
    t.is(scenario.buy(2, late).code, 'idempotency_key_reused');
    t.like(scenario.account(), { openPositions: 1 });
  },
);

scenarioTest(
  'T100, T132: a late order counts, after the limits and before the plan',
  (t, create) => {
    const scenario = create();
    const keyLimits = { ...KEY_LIMITS, newPerMinute: 1 };
    const counting = { keyId: BOB, keyLimits, accountLimits: ACCOUNT_LIMITS, elsewhere: null };
    const late = { rejectIfLaterThanMs: scenario.nowMs - 1, mayOpen: false, counting };
    t.is(scenario.buy(1, { ...late, mayTrade: false }).code, 'trading_off');
    t.is(scenario.buy(1, { ...late, expiresAtMs: 1 }).code, 'invalid_request');
    t.is(scenario.buy(1, late).code, 'too_late');
    t.is(scenario.buy(1, late).code, 'rate_limited');
    t.is(scenario.ask({ kind: 'key_use', keyId: BOB }).body.newInMinute, 1);
    t.is(
      scenario.buy(1, { ...late, counting: null, rejectIfLaterThanMs: null }).code,
      'membership_required',
    );
    t.is(scenario.account(ALICE), null as never);
    t.is(scenario.buy(1, { instrumentId: HOME }).code, 'no_liquidity');
  },
);
