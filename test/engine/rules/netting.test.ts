/**
 * Orders that net: what the other side holds is closed first, oldest first and the last in part, and
 * the rest opens.
 */

import test from 'ava';
import { digest } from '../../../engine/audit/digest.ts';
import type { Uuid } from '../../../engine/base/units.ts';
import type { Netting, PlaceOrder } from '../../../engine/rules/messages.ts';
import { PRESETS } from '../../../engine/rules/realism.ts';
import {
  ALICE,
  BOB,
  createEngineScenario,
  HOME,
  idOfOrder,
  idOfTrade,
  orderOf,
  type Scenario,
  scenarioTest,
  tradeOf,
  WIN,
} from '../../model/scenario.ts';
import { createMemoryEngine } from '../memory-engine.ts';

type Row = Record<string, unknown>;

/** An ask of the venue: a buy of no. */
function ask(
  scenario: Scenario,
  contracts: number,
  order: Partial<PlaceOrder> = {},
  netting: Netting = 'net',
) {
  return scenario.buy(contracts, { instrumentId: HOME, side: 'no', netting, ...order });
}

/** A change of a netting order by its owner: the refusal's code, or the order. */
function amend(
  { engine, nowMs }: Scenario,
  orderId: string,
  change: { contracts?: number; limitPriceCents?: number },
): Row {
  const reply = engine.command({
    ...{ kind: 'amend', atMs: nowMs, account: ALICE, orderId, contracts: null },
    ...{ limitPriceCents: null, idempotencyKey: `amend-${changes++}`, mayOpen: true },
    ...{ mayTrade: true, counting: null },
    ...change,
  });
  return reply.ok ? (JSON.parse(reply.body) as { order: Row }).order : { code: reply.code };
}

let changes = 0;

const restsAt = (limitPriceCents: number) => ({ timeInForce: 'gtc', limitPriceCents }) as const;

/** Open trades of the account, the oldest first: side, contracts, cost. */
function openTrades(scenario: Scenario, account: Uuid = ALICE): unknown[] {
  const page = { limit: 50, before: null, organizationSlug: null } as const;
  const { body } = scenario.ask({ kind: 'trades', account, status: 'open', ...page });
  const rows = body.trades as Row[];
  return rows.reverse().map((row) => [row.instrumentSide, row.contracts, row.costDollars]);
}

function closedTrades(scenario: Scenario): Row[] {
  const page = { limit: 50, before: null, organizationSlug: null } as const;
  return scenario.ask({ kind: 'trades', account: ALICE, status: 'closed', ...page }).body
    .trades as Row[];
}

scenarioTest(
  'T190, T191, T199: an ask sells the oldest yes first, the last in part, and its cost is split',
  (t, createScenario) => {
    const scenario = createScenario();
    scenario.quote(WIN, 41, 43);
    const first = idOfTrade(scenario.buy(3));
    scenario.quote(WIN, 30, 32);
    const second = idOfTrade(scenario.buy(7));
    scenario.quote(WIN, 50, 52);
    const sold = ask(scenario, 5);
    t.like(sold.body, { status: 'executed', action: 'buy', fillPriceCents: 50 });
    t.like(orderOf(sold), { orderSide: 'no', contracts: 5, filledContracts: 5, type: 'market' });
    // Two of the second trade are sold, and five stay at their share of the cost.
    t.deepEqual(openTrades(scenario), [['yes', 5, 1.6]]);
    t.is(idOfTrade(sold), second);
    const [closed] = closedTrades(scenario);
    t.like(closed, { tradeId: first, closeReason: 'sold', contracts: 3, exitCents: 50 });
    t.is(closed!.pnlDollars, 0.21);
    // What is left goes, and the trade shows all of its parts.
    ask(scenario, 5);
    t.like(closedTrades(scenario)[0], { tradeId: second, contracts: 7, costDollars: 2.24 });
    t.is(scenario.account().balanceDollars, 100_000 + 10 * 0.5 - 3 * 0.43 - 7 * 0.32);
    t.deepEqual(scenario.engine.conservation(), []);
  },
);

scenarioTest(
  'T190, T192, T193, T198: beyond what is held it opens, and only that holds money',
  (t, createScenario) => {
    const scenario = createScenario();
    scenario.quote(WIN, 41, 43);
    scenario.buy(10);
    const resting = ask(scenario, 25, restsAt(40));
    // Ten are closed, and fifteen open at 40 cents.
    t.like(orderOf(resting), { status: 'resting', holdDollars: 6, tradeId: null });
    t.is(scenario.account().heldDollars, 6);
    scenario.quote(WIN, 60, 62);
    const id = idOfOrder(resting);
    t.like(scenario.order(id), { status: 'executed', filledContracts: 25, fillPriceCents: 40 });
    t.deepEqual(openTrades(scenario), [['no', 15, 6]]);
    t.like(closedTrades(scenario)[0], { contracts: 10, exitCents: 60, closeReason: 'sold' });
    t.is(scenario.account().heldDollars, 0);
    t.is(scenario.account().balanceDollars, 100_000 - 4.3 + 6 - 6);
    // A bid closes these no first.
    const bid = scenario.buy(20, { netting: 'net' });
    t.like(bid.body, { status: 'executed', fillPriceCents: 62 });
    t.deepEqual(openTrades(scenario), [['yes', 5, 3.1]]);
    t.deepEqual(scenario.engine.conservation(), []);
  },
);

scenarioTest(
  'T192, T198: the split follows what is held at the fill, and frees the hold of what then closes',
  (t, createScenario) => {
    const scenario = createScenario();
    scenario.quote(WIN, 41, 43);
    const resting = idOfOrder(ask(scenario, 10, restsAt(40)));
    t.is(scenario.account().heldDollars, 4);
    scenario.buy(6);
    scenario.quote(WIN, 60, 62);
    t.like(scenario.order(resting), { status: 'executed', holdDollars: 0 });
    t.deepEqual(openTrades(scenario), [['no', 4, 1.6]]);
    t.is(scenario.account().balanceDollars, 100_000 - 6 * 0.43 + 6 * 0.6 - 1.6);
    t.deepEqual(scenario.engine.conservation(), []);
  },
);

scenarioTest(
  'T190, T191: a close takes what is held at most, needs no plan, and is refused if nothing is left',
  (t, createScenario) => {
    const scenario = createScenario();
    scenario.quote(WIN, 41, 43);
    t.is(ask(scenario, 5, restsAt(40), 'close').code, 'already_closed');
    scenario.buy(8);
    t.is(ask(scenario, 9, { mayOpen: false }).code, 'membership_required');
    t.is(ask(scenario, 9, { routing: 'best' }).code, 'invalid_request');
    const placed = { ...restsAt(40), idempotencyKey: 'close', mayOpen: false };
    const resting = ask(scenario, 12, placed, 'close');
    t.like(orderOf(resting), { status: 'resting', contracts: 8, holdDollars: 0 });
    t.is(ask(scenario, 1, restsAt(40), 'close').code, 'already_closed');
    // The same key asks for the same twelve, and not for the eight that were taken.
    t.like(ask(scenario, 12, placed, 'close').body, { replayed: true });
    t.is(ask(scenario, 8, placed, 'close').code, 'idempotency_key_reused');
    t.is(ask(scenario, 12, placed, 'net').code, 'idempotency_key_reused');
    scenario.quote(WIN, 60, 62);
    t.like(scenario.order(idOfOrder(resting)), { status: 'executed', filledContracts: 8 });
    t.deepEqual(openTrades(scenario), []);
    t.deepEqual(scenario.engine.conservation(), []);
  },
);

scenarioTest(
  'T197: a close is shown as a sell of the other side at 100 minus its limit',
  (t, createScenario) => {
    const scenario = createScenario();
    scenario.quote(WIN, 41, 43);
    const trade = idOfTrade(scenario.buy(8));
    const sale = { action: 'sell', orderSide: 'yes', instrumentSide: 'yes', limitCents: 60 };
    const resting = ask(scenario, 8, restsAt(40), 'close');
    t.like(orderOf(resting), { ...sale, fillPriceCents: null });
    t.is(resting.body.action, 'sell');
    scenario.quote(WIN, 61, 63);
    const done = scenario.order(idOfOrder(resting));
    t.like(done, { ...sale, status: 'executed', fillPriceCents: 61, tradeId: trade });
    // One that is canceled shows the same.
    scenario.buy(8);
    const second = idOfOrder(ask(scenario, 8, restsAt(30), 'close'));
    t.like(orderOf(scenario.cancel(second)), { ...sale, limitCents: 70, status: 'canceled' });
  },
);

scenarioTest(
  'T194, T199: where both sides are held, pairs close at 100 cents together',
  (t, createScenario) => {
    const scenario = createScenario();
    scenario.quote(WIN, 41, 43);
    const yes = idOfTrade(scenario.buy(10));
    scenario.quote(WIN, 48, 50);
    const no = idOfTrade(scenario.buy(4, { instrumentId: HOME, side: 'no' }));
    const resting = ask(scenario, 1, restsAt(10));
    t.like(orderOf(resting), { status: 'resting', holdDollars: 0 });
    // The later one gets its cost back, as if it had sold four of the earlier one at 48.
    t.like(closedTrades(scenario)[0], { tradeId: no, pnlDollars: 0, closeReason: 'sold' });
    t.deepEqual(openTrades(scenario), [['yes', 6, 2.58]]);
    t.is(scenario.account().balanceDollars, 100_000 - 4.3 - 4 * 0.52 + 4);
    scenario.cancel(idOfOrder(resting));
    ask(scenario, 6);
    const closed = closedTrades(scenario).find(({ tradeId }) => tradeId === yes);
    t.like(closed, { closeReason: 'sold', contracts: 10, pnlDollars: 0.5 });
    t.deepEqual(scenario.engine.conservation(), []);
  },
);

scenarioTest(
  'T195: no contract is sold twice: a sell and a netting order exclude each other',
  (t, createScenario) => {
    const scenario = createScenario();
    scenario.quote(WIN, 41, 43);
    const first = idOfTrade(scenario.buy(4));
    const second = idOfTrade(scenario.buy(6));
    const closer = idOfOrder(ask(scenario, 8, restsAt(40), 'close'));
    // Eight of ten are for sale: neither trade can be sold beside that.
    t.is(scenario.sell(first, restsAt(70)).code, 'already_closed');
    t.is(scenario.sell(second, restsAt(70)).code, 'already_closed');
    t.like(orderOf(ask(scenario, 8, restsAt(30), 'close')), { contracts: 2 });
    t.is(ask(scenario, 1, restsAt(30), 'close').code, 'already_closed');
    // A market sell takes its trade, and ends the newest closers first.
    t.like(scenario.sell(first).body, { status: 'executed' });
    t.like(scenario.order(closer), { status: 'canceled', cancelReason: 'position_closed' });
    t.is(scenario.account().restingOrders, 0);
    // What a sell has put on sale is no longer closed.
    scenario.sell(second, restsAt(70));
    t.is(ask(scenario, 1, restsAt(40), 'close').code, 'already_closed');
    const opens = ask(scenario, 1, restsAt(40));
    t.like(orderOf(opens), { status: 'resting', holdDollars: 0.4 });
    t.deepEqual(scenario.engine.conservation(), []);
  },
);

scenarioTest(
  'T195: a sell that leaves enough stays beside a netting order',
  (t, createScenario) => {
    const scenario = createScenario();
    scenario.quote(WIN, 41, 43);
    const [, second] = [4, 6].map((contracts) => idOfTrade(scenario.buy(contracts)));
    const closer = idOfOrder(ask(scenario, 4, restsAt(40), 'close'));
    t.like(orderOf(scenario.sell(second!, restsAt(70))), { status: 'resting' });
    t.like(scenario.order(closer), { status: 'resting' });
    scenario.quote(WIN, 60, 62);
    t.like(scenario.order(closer), { status: 'executed', filledContracts: 4 });
    t.deepEqual(openTrades(scenario), [['yes', 6, 2.58]]);
    t.deepEqual(scenario.engine.conservation(), []);
  },
);

scenarioTest(
  'T193: a trade of a netting order that was sold in part grows no more',
  (t, createScenario) => {
    const scenario = createScenario({ fillModel: 'book_depth' });
    scenario.book(WIN, [[40, 10]], [[43, 5]]);
    const bid = scenario.limitBuy(43, 15, { netting: 'net' });
    t.like(orderOf(bid), { status: 'resting', filledContracts: 5, holdDollars: 4.3 });
    scenario.book(WIN, [[40, 10]], [[43, 6]]);
    t.deepEqual(openTrades(scenario), [['yes', 11, 4.73]]);
    ask(scenario, 2);
    scenario.book(WIN, [[40, 10]], [[43, 7]]);
    t.deepEqual(openTrades(scenario), [
      ['yes', 9, 3.87],
      ['yes', 4, 1.72],
    ]);
    t.like(scenario.order(idOfOrder(bid)), { status: 'executed', fillPriceCents: 43 });
    t.deepEqual(scenario.engine.conservation(), []);
  },
);

scenarioTest(
  'T193: a netting order whose trade has ended opens another one, whoever has its place',
  (t, createScenario) => {
    const scenario = createScenario({ fillModel: 'book_depth' });
    scenario.book(WIN, [[40, 10]], [[43, 5]]);
    const bid = scenario.limitBuy(43, 15, { netting: 'net' });
    ask(scenario, 5);
    t.deepEqual(openTrades(scenario), []);
    scenario.book(WIN, [[40, 10]], [[44, 3]]);
    scenario.buy(3, { account: BOB });
    scenario.book(WIN, [[40, 10]], [[43, 7]]);
    t.is(scenario.order(idOfOrder(bid)).filledContracts, 12);
    t.deepEqual(openTrades(scenario), [['yes', 7, 3.01]]);
    t.deepEqual(openTrades(scenario, BOB), [['yes', 3, 1.32]]);
    t.deepEqual(scenario.engine.conservation(), []);
  },
);

scenarioTest(
  'T192, T196: under book_depth each part takes the next levels, the closing part the best',
  (t, createScenario) => {
    const scenario = createScenario({ fillModel: 'book_depth' });
    scenario.book(WIN, [[40, 10]], [[43, 100]]);
    scenario.buy(4);
    scenario.book(
      WIN,
      [
        [50, 3],
        [45, 9],
      ],
      [[60, 1]],
    );
    // Yes is sold at 50, 50, 50 and 45; six no are bought at 55.
    const sold = ask(scenario, 10, { timeInForce: 'ioc', limitPriceCents: 55 });
    t.like(sold.body, { status: 'executed', fillPriceCents: 54 });
    t.like(closedTrades(scenario)[0], { contracts: 4, pnlDollars: 0.23 });
    t.deepEqual(openTrades(scenario), [['no', 6, 3.3]]);
    t.deepEqual(scenario.engine.conservation(), []);
  },
);

scenarioTest(
  'T196: under latency it reserves what it closes, and closes it when it meets the book',
  (t, createScenario) => {
    const scenario = createScenario();
    scenario.quote(WIN, 41, 43);
    const trade = idOfTrade(scenario.buy(5));
    const realism = { ...PRESETS.simple, latencyMs: { min: 100, max: 100 } };
    const late = ask(scenario, 5, { realism }, 'close');
    t.like(orderOf(late), { status: 'resting', type: 'market', holdDollars: 0 });
    t.is(scenario.sell(trade, restsAt(70)).code, 'already_closed');
    scenario.nowMs += 101;
    scenario.quote(WIN, 50, 52);
    t.like(scenario.order(idOfOrder(late)), { status: 'executed', fillPriceCents: 41 });
    t.deepEqual(openTrades(scenario), []);
  },
);

scenarioTest(
  'T200: what closes pays for what opens, and what only closes needs no cash',
  (t, createScenario) => {
    const scenario = createScenario();
    scenario.quote(WIN, 49, 50);
    // All cash is in yes; its sale at 49 buys as many no at 51 and no more.
    scenario.buy(200_000);
    t.is(scenario.account().balanceDollars, 0);
    t.is(ask(scenario, 400_000).code, 'insufficient_balance');
    const { engine, nowMs: atMs } = scenario;
    engine.command({ kind: 'adjust', atMs, account: ALICE, amountCents: 6 });
    t.is(ask(scenario, 200_000 + 192_157).code, 'insufficient_balance', 'a cent is lacking');
    const turned = ask(scenario, 200_000 + 192_156);
    t.like(turned.body, { status: 'executed' });
    t.is(scenario.account().balanceDollars, 0.5);
    t.like(scenario.buy(192_156, { netting: 'close' }).body, { status: 'executed' });
    t.deepEqual(openTrades(scenario), []);
    t.deepEqual(scenario.engine.conservation(), []);
  },
);

scenarioTest('T192: each part pays the fee of a fill of its own', (t, createScenario) => {
  const scenario = createScenario();
  scenario.quote(WIN, 50, 52);
  const realism = { ...PRESETS.simple, fees: 'venue' } as const;
  scenario.buy(10, { realism });
  const sold = ask(scenario, 30, { realism });
  // Seven per cent of a quarter of a dollar a contract, rounded up over the order: 30 x 0.0175.
  t.like(orderOf(sold), { feesDollars: 0.53 });
  t.like(tradeOf(sold), { feesDollars: 0.35, contracts: 20 });
  t.like(closedTrades(scenario)[0], { feesDollars: 0.18 + 0.18 });
  t.deepEqual(scenario.engine.conservation(), []);
});

scenarioTest(
  'T191, T195: a buy that rests in part ends where an order that nets closes its trade',
  (t, createScenario) => {
    const scenario = createScenario({ fillModel: 'book_depth' });
    scenario.book(WIN, [[40, 10]], [[43, 5]]);
    const bought = idOfOrder(scenario.limitBuy(43, 15));
    const resting = ask(scenario, 4, restsAt(40));
    t.like(orderOf(resting), { status: 'resting', holdDollars: 0 });
    t.like(scenario.order(bought), { status: 'canceled', cancelReason: 'position_closed' });
    // A later one is no part of what it may close, until it is done.
    scenario.cancel(idOfOrder(resting));
    const wide = idOfOrder(ask(scenario, 9, restsAt(40)));
    scenario.book(WIN, [[40, 10]], [[43, 6]]);
    const later = idOfOrder(scenario.limitBuy(43, 20));
    t.like(scenario.order(later), { status: 'resting', filledContracts: 6 });
    scenario.book(WIN, [[60, 90]], [[70, 1]]);
    t.like(scenario.order(wide), { status: 'executed', filledContracts: 9 });
    t.deepEqual(openTrades(scenario), [
      ['yes', 6, 2.58],
      ['no', 4, 1.6],
    ]);
    t.like(scenario.order(later), { status: 'resting', filledContracts: 6 });
    t.deepEqual(scenario.engine.conservation(), []);
  },
);

scenarioTest(
  'T194, T195: pairs leave what another order closes, though a buy that rests holds more',
  (t, createScenario) => {
    const scenario = createScenario({ fillModel: 'book_depth' });
    scenario.book(WIN, [[40, 50]], [[43, 5]]);
    scenario.buy(5);
    const closer = idOfOrder(ask(scenario, 5, restsAt(40)));
    scenario.book(WIN, [[40, 50]], [[44, 4]]);
    scenario.limitBuy(44, 10);
    scenario.buy(3, { side: 'no' });
    // All of the yes that no buy works on is for the first order.
    ask(scenario, 2, restsAt(40));
    t.deepEqual(scenario.engine.conservation(), []);
    t.like(scenario.order(closer), { status: 'resting', remainingContracts: 5 });
    t.deepEqual(openTrades(scenario), [
      ['yes', 5, 2.15],
      ['yes', 4, 1.76],
      ['no', 3, 1.8],
    ]);
  },
);

scenarioTest(
  'T201: a netting order whose new limit trades closes first, and opens what is left',
  (t, createScenario) => {
    const scenario = createScenario();
    scenario.quote(WIN, 41, 43);
    scenario.buy(4);
    const id = idOfOrder(ask(scenario, 10, restsAt(40)));
    // Bought since then: it is free, so it is closed, too.
    scenario.buy(3);
    t.is(scenario.account().heldDollars, 2.4);
    t.like(amend(scenario, id, { limitPriceCents: 60 }), {
      ...{ status: 'executed', filledContracts: 10, fillPriceCents: 59, limitCents: 60 },
    });
    t.deepEqual(openTrades(scenario), [['no', 3, 1.77]]);
    t.is(scenario.account().heldDollars, 0);
    t.is(scenario.account().balanceDollars, 100_000 - 7 * 0.43 + 7 * 0.41 - 1.77);
    // Three of nine close. Of fewer contracts those that open go first, and more open.
    const fewer = idOfOrder(scenario.buy(9, { ...restsAt(30), netting: 'net' }));
    const held = [9, 5, 2, 4].map((contracts) => {
      if (contracts < 9) amend(scenario, fewer, { contracts });
      return scenario.account().heldDollars;
    });
    t.deepEqual(held, [1.8, 0.6, 0, 0.6]);
    scenario.quote(WIN, 28, 30);
    t.is(scenario.account().heldDollars, 0);
    t.deepEqual(scenario.engine.conservation(), []);
  },
);

scenarioTest(
  'T201: what another order closes is not closed, and what is left waits at the new limit',
  (t, createScenario) => {
    const scenario = createScenario({ fillModel: 'book_depth' });
    scenario.book(WIN, [[40, 50]], [[43, 50]]);
    scenario.buy(10);
    const other = idOfOrder(ask(scenario, 4, restsAt(30), 'close'));
    const id = idOfOrder(ask(scenario, 5, restsAt(35)));
    scenario.book(WIN, [[40, 8]], [[43, 50]]);
    // Six are free of the other one: eight trade, of which two open, and four wait.
    const changed = amend(scenario, id, { contracts: 12, limitPriceCents: 60 });
    t.like(changed, { status: 'resting', filledContracts: 8, holdDollars: 2.4 });
    t.deepEqual(openTrades(scenario), [
      ['yes', 4, 1.72],
      ['no', 2, 1.2],
    ]);
    t.like(scenario.order(other), { status: 'resting', remainingContracts: 4 });
    t.deepEqual(scenario.engine.conservation(), []);
    scenario.book(WIN, [[41, 9]], [[43, 50]]);
    t.like(scenario.order(id), { status: 'executed', filledContracts: 12 });
    t.deepEqual(scenario.engine.conservation(), []);
  },
);

scenarioTest(
  'T201: a close that trades as it is changed opens nothing, needs no cash, and pays each fee',
  (t, createScenario) => {
    const scenario = createScenario();
    scenario.quote(WIN, 49, 50);
    scenario.buy(200_000);
    const realism = { ...PRESETS.simple, fees: 'venue' } as const;
    const wide = idOfOrder(ask(scenario, 200_000, { ...restsAt(40), realism }));
    t.is(scenario.account().balanceDollars, 0);
    // 100,000 more would cost 51,000 dollars and a fee, of which the sale brings 98,000.
    t.is(amend(scenario, wide, { contracts: 400_000, limitPriceCents: 51 }).code, SHORT);
    t.like(amend(scenario, wide, { contracts: 300_000, limitPriceCents: 51 }), {
      ...{ status: 'executed', filledContracts: 300_000 },
    });
    t.deepEqual(scenario.engine.conservation(), []);
    const close = idOfOrder(scenario.buy(100_000, { ...restsAt(40), netting: 'close' }));
    t.is(amend(scenario, close, { contracts: 100_001, limitPriceCents: 50 }).code, BAD);
    t.like(amend(scenario, close, { limitPriceCents: 50 }), { status: 'executed', action: 'sell' });
    t.deepEqual(openTrades(scenario), []);
    // Another limit has another fee: 0.07 · 100 · 0.1 · 0.9, and 0.07 · 100 · 0.4 · 0.6.
    const charged = idOfOrder(scenario.buy(100, { ...restsAt(10), netting: 'net', realism }));
    t.is(scenario.account().heldDollars, 10.63);
    t.is(amend(scenario, charged, { limitPriceCents: 40 }).holdDollars, 41.68);
    t.deepEqual(scenario.engine.conservation(), []);
  },
);

scenarioTest(
  'T201, T213: a change needs what it holds and pays, to the cent',
  (t, createScenario) => {
    const scenario = createScenario();
    scenario.quote(WIN, 49, 50);
    const one = idOfOrder(ask(scenario, 1, restsAt(40)));
    const many = idOfOrder(ask(scenario, 100_000, restsAt(40)));
    t.is(amend(scenario, many, { contracts: 250_000 }).code, SHORT);
    t.is(amend(scenario, many, { contracts: 249_999 }).holdDollars, 99_999.6);
    t.is(scenario.account().balanceDollars, 0);
    t.is(amend(scenario, one, { limitPriceCents: 41 }).code, SHORT);
    scenario.engine.command({
      ...{ kind: 'adjust', atMs: scenario.nowMs, account: ALICE, amountCents: 11 },
    });
    // It is asked at 51.
    t.like(amend(scenario, one, { limitPriceCents: 51 }), { status: 'executed' });
    t.is(scenario.account().balanceDollars, 0);
  },
);

const SHORT = 'insufficient_balance';
const BAD = 'invalid_request';

test('T195, T198: what would close more than is held, or holds for it, fails the audit', (t) => {
  const engine = createMemoryEngine({ quoteMaxAgeMs: 15_000, routingBandCents: 10 });
  const nets = () => engine.state().nets;
  const scenario = createEngineScenario({}, () => engine);
  scenario.quote(WIN, 41, 43);
  scenario.buy(5);
  ask(scenario, 8, restsAt(40));
  t.deepEqual(engine.conservation(), []);
  const [order] = [...nets().orders()];
  const [row] = [...nets().table.rows()];
  nets().table.change(row!).closes.set(row!, 6);
  t.is(nets().closes(order!), 6);
  t.deepEqual(
    engine.conservation().map((line) => line.replace(/^account \S+: /, '')),
    [
      'closes 1 contracts of market 0 yes that it does not hold',
      'has a hold that is not the sum of its resting buys',
    ],
  );
});

test('T192: a crash and a checkpoint keep what an order closes, and its fills', (t) => {
  const config = { quoteMaxAgeMs: 15_000, routingBandCents: 10, fillModel: 'book_depth' } as const;
  const engine = createMemoryEngine(config);
  const scenario = createEngineScenario({ fillModel: 'book_depth' }, () => engine);
  scenario.book(WIN, [[40, 10]], [[43, 9]]);
  scenario.buy(3);
  scenario.buy(4);
  scenario.book(WIN, [[50, 5]], [[60, 9]]);
  const id = idOfOrder(ask(scenario, 20, restsAt(50)));
  t.like(scenario.order(id), { filledContracts: 5, remainingContracts: 15, holdDollars: 6.5 });
  const before = engine.digest();
  engine.checkpoint();
  engine.crash();
  t.deepEqual(engine.digest(), before);
  t.deepEqual(engine.conservation(), []);
  scenario.book(WIN, [[51, 6]], [[60, 9]]);
  t.like(scenario.order(id), { filledContracts: 11, holdDollars: 4.5 });
  // Without the checkpoint, from the facts alone.
  engine.crash();
  t.deepEqual(digest(engine.folded()).accounts, engine.digest());
  t.deepEqual(openTrades(scenario), [['no', 4, 1.96]]);
});
