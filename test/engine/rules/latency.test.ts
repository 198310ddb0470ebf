/** Orders and cancels that meet the book later than they were accepted. */
import test from 'ava';
import { audit } from '../../../engine/audit/audit.ts';
import { FILL_MODELS } from '../../../engine/base/units.ts';
import { PRESETS, type Realism } from '../../../engine/rules/realism.ts';
import { createNaiveEngine } from '../../model/naive-engine.ts';
import { createRandomInput } from '../../model/random-input.ts';
import {
  ALICE,
  BOB,
  HOME,
  HOUR_MS,
  MAX_AGE_MS,
  type Scenario,
  scenarioTest,
  WIN,
} from '../../model/scenario.ts';
import { CATALOG, NOON_MS, placeOrder, quoteTick, uuidOf } from '../fixtures.ts';
import { createMemoryEngine } from '../memory-engine.ts';

const MODELS = ['top_of_book', 'book_depth'] as const;
const under = (ms: number): { realism: Realism } => {
  return { realism: { ...PRESETS.simple, latencyMs: { min: ms, max: ms } } };
};
const LATE = under(150);

type Order = Record<string, unknown>;

function orderOf({ body }: { body: Record<string, unknown> }): Order {
  return body.order as Order;
}

function isoAt(scenario: Scenario, inMs: number): string {
  return new Date(scenario.nowMs + inMs).toISOString();
}

/** Time passes without a message of a venue. */
function pass(scenario: Scenario, ms: number): void {
  scenario.nowMs += ms;
  scenario.tick({ kind: 'time' });
}

const stateOf = ({ status, cancelReason, filledContracts, pendingUntil }: Order) => {
  return [status, cancelReason, filledContracts, pendingUntil];
};

for (const fillModel of MODELS) {
  scenarioTest(
    `T160, T161: a market order fills at the price of its arrival, ${fillModel}`,
    (t, createScenario) => {
      const scenario = createScenario({ fillModel });
      scenario.book(WIN, [[40, 100]], [[42, 100]]);
      const soon = scenario.buy(1, { account: BOB, ...under(1) });
      t.is(soon.body.status, 'resting', 'a millisecond is latency');
      pass(scenario, 2);
      const placed = scenario.buy(10, LATE);
      t.like(placed.body, { status: 'resting', trade: null, type: 'market' });
      const order = orderOf(placed);
      const pendingUntil = isoAt(scenario, 150);
      t.like(order, { status: 'resting', pendingUntil, holdDollars: 9.9, limitCents: null });
      t.like(scenario.account(), { heldDollars: 9.9, balanceDollars: 99_990.1, restingOrders: 1 });
      scenario.nowMs += 100;
      scenario.book(WIN, [[43, 100]], [[45, 100]]);
      t.is(scenario.order(order.orderId as string).status, 'resting', 'no quote fills it before');
      scenario.nowMs += 50;
      scenario.book(WIN, [[44, 100]], [[46, 100]]);
      t.is(
        scenario.order(order.orderId as string).status,
        'resting',
        'this very moment is not over',
      );
      scenario.nowMs += 1;
      scenario.book(WIN, [[50, 100]], [[52, 100]]);
      const filled = scenario.order(order.orderId as string);
      t.like(filled, {
        status: 'executed',
        fillPriceCents: 46,
        pendingUntil: null,
        holdDollars: 0,
      });
      t.is(filled.executedAt, new Date(scenario.nowMs - 1).toISOString());
      t.like(scenario.account(), { heldDollars: 0, balanceDollars: 99_995.4, openPositions: 1 });
    },
  );

  scenarioTest(
    `T161: a market order without a price then, or beyond its bound, ends, ${fillModel}`,
    (t, createScenario) => {
      const scenario = createScenario({ fillModel });
      scenario.book(WIN, [[40, 100]], [[42, 100]]);
      const bounded = orderOf(scenario.buy(10, { ...LATE, boundPriceCents: 43 }));
      t.is(bounded.holdDollars, 4.3);
      scenario.nowMs += 10;
      const unbounded = orderOf(scenario.buy(10, LATE));
      scenario.nowMs += 100;
      scenario.book(WIN, [[43, 100]], [[45, 100]]);
      scenario.nowMs += 45;
      scenario.book(WIN, [[43, 100]], []);
      pass(scenario, 100);
      const ends = [bounded, unbounded].map(({ orderId }) => {
        return stateOf(scenario.order(orderId as string));
      });
      t.deepEqual(ends[0], ['canceled', 'price_moved', 0, null]);
      t.deepEqual(ends[1], ['canceled', 'no_liquidity', 0, null]);
      t.like(scenario.account(), { heldDollars: 0, balanceDollars: 100_000 });
    },
  );

  scenarioTest(
    `T161: limit orders rest, fill or end as they arrive, ${fillModel}`,
    (t, createScenario) => {
      const scenario = createScenario({ fillModel });
      scenario.book(WIN, [[40, 100]], [[42, 100]]);
      const ids = (['gtc', 'ioc', 'fok'] as const).map((timeInForce) => {
        return orderOf(scenario.limitBuy(41, 10, { ...LATE, timeInForce })).orderId as string;
      });
      const crossing = orderOf(scenario.limitBuy(42, 10, LATE)).orderId as string;
      pass(scenario, 151);
      t.deepEqual(
        ids.map((id) => stateOf(scenario.order(id))),
        [
          ['resting', null, 0, null],
          ['canceled', 'ioc_not_filled', 0, null],
          ['canceled', 'fok_not_filled', 0, null],
        ],
      );
      t.like(scenario.order(crossing), { status: 'executed', fillPriceCents: 42 });
      scenario.book(WIN, [[39, 100]], [[41, 100]]);
      t.like(scenario.order(ids[0]!), { status: 'executed', fillPriceCents: 41 });
    },
  );

  scenarioTest(
    `T160: at a price, orders that met the book earlier are first, ${fillModel}`,
    (t, createScenario) => {
      const scenario = createScenario({ fillModel });
      scenario.book(WIN, [[40, 100]], [[44, 100]]);
      const slow = orderOf(scenario.limitBuy(42, 10, under(500))).orderId as string;
      const fast = orderOf(scenario.limitBuy(42, 10, under(0))).orderId as string;
      pass(scenario, 501);
      scenario.book(WIN, [[40, 100]], [[42, 12]]);
      t.is(scenario.order(fast).filledContracts, 10);
      t.is(scenario.order(slow).filledContracts, fillModel === 'book_depth' ? 2 : 10);
    },
  );

  scenarioTest(
    `T162: a cancel meets the book later, and the order may fill until then, ${fillModel}`,
    (t, createScenario) => {
      const scenario = createScenario({ fillModel });
      scenario.book(WIN, [[40, 100]], [[44, 100]]);
      const [kept, filled] = [0, 1].map(() => {
        return orderOf(scenario.limitBuy(42, 10, LATE)).orderId as string;
      });
      pass(scenario, 151);
      const canceled = orderOf(scenario.cancel(kept!));
      t.like(canceled, { status: 'resting', pendingUntil: isoAt(scenario, 150) });
      t.like(orderOf(scenario.cancel(kept!)), canceled, 'a second cancel changes nothing');
      pass(scenario, 100);
      scenario.cancel(filled!);
      t.is(scenario.order(kept!).status, 'resting');
      pass(scenario, 51);
      t.deepEqual(stateOf(scenario.order(kept!)), ['canceled', 'canceled_by_owner', 0, null]);
      t.is(scenario.cancel(kept!).code, 'already_closed');
      scenario.book(WIN, [[40, 100]], [[42, 100]]);
      pass(scenario, 200);
      t.deepEqual(stateOf(scenario.order(filled!)), ['executed', null, 10, null]);
    },
  );

  scenarioTest(
    `T161: a sell ends the resting order of its position at once, ${fillModel}`,
    (t, createScenario) => {
      const scenario = createScenario({ fillModel });
      scenario.book(WIN, [[40, 100]], [[42, 100]]);
      const trade = scenario.buy(10).body.trade as { tradeId: string };
      const resting = orderOf(
        scenario.sell(trade.tradeId, { limitPriceCents: 60, timeInForce: 'gtc' }),
      );
      const sold = orderOf(scenario.sell(trade.tradeId, LATE)).orderId as string;
      t.is(scenario.order(resting.orderId as string).cancelReason, 'position_closed');
      const gtc = { limitPriceCents: 61, timeInForce: 'gtc' } as const;
      t.is(scenario.sell(trade.tradeId, gtc).code, 'already_closed');
      pass(scenario, 151);
      t.like(scenario.order(sold), { status: 'executed', fillPriceCents: 40 });
    },
  );

  scenarioTest(
    `T162: a result, an expiry and a reset end a pending order, ${fillModel}`,
    (t, createScenario) => {
      const scenario = createScenario({ fillModel });
      scenario.book(WIN, [[40, 100]], [[42, 100]]);
      const expiring = { ...under(1000), expiresAtMs: scenario.nowMs + 1000 };
      const expired = orderOf(scenario.limitBuy(42, 10, expiring)).orderId as string;
      pass(scenario, 1001);
      t.is(scenario.order(expired).status, 'expired');
      const settled = orderOf(scenario.buy(10, { ...LATE, account: BOB })).orderId as string;
      const payouts = { yesPayoutCents: 100, noPayoutCents: 0 };
      scenario.tick({ kind: 'result', market: WIN, source: 0, outcome: 'yes', ...payouts });
      const ended = scenario.ask({
        ...{ kind: 'order', account: BOB, organizationSlug: null, orderId: settled },
      });
      t.is(orderOf(ended).cancelReason, 'market_resolved');
      t.like(scenario.account(BOB), { heldDollars: 0, balanceDollars: 100_000 });
      pass(scenario, HOUR_MS);
      t.like(scenario.account(ALICE), { heldDollars: 0, balanceDollars: 100_000 });
    },
  );

  scenarioTest(
    `T161: what no price decides is refused at once, ${fillModel}`,
    (t, createScenario) => {
      const scenario = createScenario({ fillModel });
      scenario.book(WIN, [[40, 100]], [[42, 100]]);
      t.is(scenario.buy(101_011, LATE).code, 'insufficient_balance', 'it could cost 99 cents each');
      t.is(scenario.limitBuy(42, 240_000, LATE).code, 'insufficient_balance');
      scenario.tick({ kind: 'status', market: WIN, source: 0, status: 'paused' });
      t.is(scenario.buy(10, LATE).code, 'market_not_open');
    },
  );

  scenarioTest(
    `T163, M15: a preview says the latency, the hold, and what the present book would do, ${fillModel}`,
    (t, createScenario) => {
      const scenario = createScenario({ fillModel });
      scenario.book(WIN, [[40, 100]], [[42, 100]]);
      const placed = scenario.buy(1).body;
      const preview = (over: object) => {
        const order = {
          ...{ kind: 'place', atMs: scenario.nowMs, account: ALICE, orderId: ALICE },
          ...{ idempotencyKey: 'p', action: 'buy', routing: 'venue_a', timeInForce: null },
          ...{
            limitPriceCents: null,
            boundPriceCents: null,
            statedProbPct: null,
            placedVia: 'api',
          },
          ...{ placedPrivate: true, expiresAtMs: null, connection: null, instrumentId: HOME },
          ...{ ticker: null, side: 'yes', contracts: 10, tradeId: null, mayOpen: true },
          ...{ mayTrade: true, rejectIfLaterThanMs: null, counting: null },
          ...{ netting: null, postOnly: false, orderGroupId: null, ...LATE, ...over },
        };
        return scenario.ask({ kind: 'preview', order: order as never }).body;
      };
      t.is(placed.status, 'executed');
      const latencyMs = { min: 150, max: 150 };
      t.like(preview({}), { would: 'execute', costCents: 420, holdCents: 990, latencyMs });
      t.like(preview({ boundPriceCents: 41 }), { would: 'cancel', holdCents: 410, code: null });
      // 10 x (99 + 1.75) cents held; 17.052 cents if it met the book now.
      const charged = preview({ realism: { ...LATE.realism, fees: 'venue' } });
      t.like(charged, { would: 'execute', costCents: 420, holdCents: 1008, feeCents: 18 });
      const gtc = { limitPriceCents: 41, timeInForce: 'gtc' };
      t.like(preview(gtc), { would: 'rest', fill: null, holdCents: 410 });
      t.like(preview({ realism: null }), { would: 'execute', latencyMs: null, holdCents: 0 });
      t.like(preview({ contracts: 200_000 }), { would: 'refuse', code: 'insufficient_balance' });
    },
  );
}

test('T160, D107: the facts alone lead to the same pending orders and cancels', (t) => {
  const engine = createMemoryEngine({ quoteMaxAgeMs: 15_000, routingBandCents: 10 });
  engine.command({ kind: 'catalog', atMs: NOON_MS, catalog: CATALOG });
  engine.tick(quoteTick({ market: 0, yesAskCents: 43 }));
  const place = (number: number, over: object) => {
    const ids = { orderId: uuidOf(100 + number), idempotencyKey: `key-${number}` };
    return engine.command(placeOrder({ ...ids, ...LATE, ...over }));
  };
  place(1, { boundPriceCents: 44, timeInForce: null, limitPriceCents: null });
  place(2, { limitPriceCents: 20, timeInForce: 'ioc' });
  place(3, { limitPriceCents: 21 });
  engine.tick({ kind: 'time', atMs: NOON_MS + 200 });
  const order = { account: placeOrder().account, orderId: uuidOf(103), counting: null };
  engine.command({ kind: 'cancel', atMs: NOON_MS + 210, ...order });
  t.like(place(4, { atMs: NOON_MS + 220, limitPriceCents: 22 }), { ok: true });
  const [live, folded] = [engine.state(), engine.folded()];
  for (const state of [live, folded]) {
    const due = [state.arrivals.nextMs(), state.cancels.nextMs()];
    t.deepEqual(due, [NOON_MS + 370, NOON_MS + 360]);
    t.deepEqual(audit(state).problems, []);
  }
  const kept = live.realism;
  const row = live.orderIds.find(uuidOf(104));
  const again = folded.realism.of(folded.orderIds.find(uuidOf(104)));
  t.deepEqual(again, kept.of(row));
  t.is(kept.latencyMs(row), 150);
});

test('T160: a clock that is set back makes no order wait longer than its latency', (t) => {
  const engine = createMemoryEngine({ quoteMaxAgeMs: 15_000, routingBandCents: 10 });
  engine.command({ kind: 'catalog', atMs: NOON_MS, catalog: CATALOG });
  engine.command(placeOrder({ ...LATE, limitPriceCents: 20 }));
  engine.command({ kind: 'clock', atMs: NOON_MS, toMs: NOON_MS - HOUR_MS });
  t.is(engine.state().arrivals.nextMs(), NOON_MS - HOUR_MS + 150);
  t.is(engine.folded().arrivals.nextMs(), NOON_MS - HOUR_MS + 150);
});

for (const fillModel of FILL_MODELS) {
  test(`T160 to T163: generated orders under latency end as in the model, ${fillModel}`, (t) => {
    const options = { quoteMaxAgeMs: MAX_AGE_MS, routingBandCents: 10, fillModel };
    const naive = createNaiveEngine(options);
    const engine = createMemoryEngine(options);
    const of = { seed: 5, quoteMaxAgeMs: MAX_AGE_MS, latency: true };
    const input = createRandomInput({ ...of, levels: fillModel === 'queue' }, naive);
    let pending = 0;
    for (let step = 0; step < 1200; step++) {
      const next = input.next();
      if (next.on === 'tick') {
        naive.tick(next.tick);
        engine.tick(next.tick);
      } else if (next.on === 'command' || next.on === 'query') {
        const [wanted, found] = [naive, engine].map((each) => {
          return next.on === 'command' ? each.command(next.command) : each.query(next.query);
        });
        t.is(found!.ok, wanted!.ok);
        if (!found!.ok || !wanted!.ok) continue;
        t.deepEqual(JSON.parse(found!.body), JSON.parse(wanted!.body));
        if (found!.body.includes('"pendingUntil":"')) pending++;
      }
    }
    t.true(pending > 10, `${pending}`);
    t.deepEqual(audit(engine.state()).problems, []);
  });
}
