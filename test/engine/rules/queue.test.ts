/** The queue fill model by example; sizes and places are in hundredths of a contract. */
import test from 'ava';
import type { FactSink } from '../../../engine/rules/fact-sink.ts';
import type { LevelChange } from '../../../engine/rules/messages.ts';
import { noteMovedPlaces } from '../../../engine/rules/queue-fills.ts';
import { PRESETS } from '../../../engine/rules/realism.ts';
import {
  ALICE,
  BOB,
  createEngineScenario,
  orderOf,
  type Scenario,
  scenarioTest,
  WIN,
  WIN_B,
} from '../../model/scenario.ts';
import { createMemoryEngine, type MemoryEngine } from '../memory-engine.ts';

type Row = Record<string, unknown>;
type Side = 'yes' | 'no';
const QUEUE = { fillModel: 'queue' } as const;
const on = { source: 0, market: WIN };
const idOf = (reading: { body: Row }) => orderOf(reading).orderId as string;
const filled = (scenario: Scenario, reading: { body: Row }, account = ALICE) => {
  const query = { kind: 'order', account, organizationSlug: null } as const;
  const found = scenario.ask({ ...query, orderId: idOf(reading) });
  return (found.body.order as Row).filledContracts;
};

type Levels = [price: number, size: number][];

/** The venue's book of WIN, whose changes are told. */
function venueOf(scenario: Scenario, yes: Levels = [], no: Levels = []) {
  let bids = { yes: new Map(yes), no: new Map(no) };
  let decreases = 0;
  const change = (what: LevelChange, side: Side, price: number, contracts: number) => {
    const size = (bids[side].get(price) ?? 0) + (what === 'add' ? contracts : -contracts);
    bids[side].set(price, size);
    const decrease = what === 'cancel' ? ++decreases : 0;
    const of = { change: what, side, price, contracts, size, decrease };
    scenario.tick({ kind: 'level', ...on, ...of });
    return decrease;
  };
  const venue = {
    /** A quote of its levels in whole cents and contracts, and all levels. */
    book(newYes: Levels, newNo: Levels, { repeats = false, quoted = true } = {}) {
      bids = { yes: new Map(newYes), no: new Map(newNo) };
      const whole = (levels: Levels, of: (cents: number) => number) =>
        levels
          .filter(([price]) => price % 100 === 0)
          .map(([price, size]): [number, number] => [of(price / 100), Math.floor(size / 100)]);
      if (quoted) {
        scenario.book(
          WIN,
          whole(newYes, (cents) => cents),
          whole(newNo, (cents) => 100 - cents),
        );
      }
      const levels = { yes: newYes, no: newNo };
      scenario.tick({ kind: 'levels', ...on, levels, repeats });
    },
    unknown: () => scenario.tick({ kind: 'levels', ...on, levels: null, repeats: false }),
    add: (side: Side, price: number, contracts: number) => change('add', side, price, contracts),
    cancel: (side: Side, price: number, contracts: number) =>
      change('cancel', side, price, contracts),
    traded: (side: Side, price: number, contracts: number) =>
      change('traded', side, price, contracts),
    print: (side: Side, price: number, contracts: number, decrease = 0) =>
      scenario.tick({ kind: 'print', ...on, side, price, contracts, decrease }),
  };
  venue.book(yes, no);
  return venue;
}

/** Ten contracts are bid for at 40 cents, ten at 39, and asked at 43. */
const YES: Levels = [
  [4000, 1000],
  [3900, 1000],
];
const NO: Levels = [[5700, 1000]];

scenarioTest(
  'T144, T152: no quote fills what rests, and a print fills it at its limit',
  (t, create) => {
    const scenario = create(QUEUE);
    const venue = venueOf(scenario, [], NO);
    const bid = scenario.limitBuy(40, 5);
    t.is(bid.body.status, 'resting');
    // Far below the limit, and live.
    scenario.quote(WIN, 10, 20);
    t.is(filled(scenario, bid), 0);
    venue.print('yes', 2000, 300);
    t.like(scenario.order(idOf(bid)), { filledContracts: 3, fillPriceCents: 40 });
  },
);

scenarioTest(
  'T144: what crosses takes displayed levels, and the rest joins its queue',
  (t, create) => {
    const scenario = create(QUEUE);
    const venue = venueOf(scenario, YES, NO);
    const taking = scenario.limitBuy(43, 14);
    t.like(orderOf(taking), { status: 'resting', filledContracts: 10, fillPriceCents: 43 });
    t.is(scenario.buy(10).code, 'no_liquidity', 'the ten asks are consumed');
    // No other bid is at 43.
    venue.print('yes', 4300, 400);
    t.is(scenario.order(idOf(taking)).status, 'executed');
  },
);

scenarioTest('T145: buys and sells wait among the bids that they are', (t, create) => {
  const cases = [
    { side: 'yes', limit: 40, waits: 'yes', price: 4000 },
    { side: 'no', limit: 55, waits: 'no', price: 5500 },
  ] as const;
  for (const { side, limit, waits, price } of cases) {
    const scenario = create(QUEUE);
    const venue = venueOf(scenario, [[4000, 100]], [[5500, 100]]);
    const bid = scenario.limitBuy(limit, 2, { side });
    venue.print(waits === 'yes' ? 'no' : 'yes', 100, 50_000);
    venue.print(waits, price, 300);
    t.like(scenario.order(idOf(bid)), { status: 'executed', fillPriceCents: limit });
  }
  const scenario = create(QUEUE);
  const venue = venueOf(scenario, YES, [[5700, 500]]);
  const bought = scenario.buy(2);
  // A sell of yes at 45 is a bid of no at 55.
  const sell = scenario.sell((bought.body.trade as Row).tradeId as string, {
    ...{ limitPriceCents: 45, timeInForce: 'gtc' },
  });
  venue.print('no', 5500, 200);
  t.like(scenario.order(idOf(sell)), { status: 'executed', fillPriceCents: 45 });
});

scenarioTest('T146: what its level displays at arrival is ahead, in exact prices', (t, create) => {
  const scenario = create(QUEUE);
  const venue = venueOf(scenario, [[3950, 5000], ...YES], NO);
  const behind = scenario.limitBuy(40, 1);
  const alone = scenario.limitBuy(38, 1);
  venue.print('yes', 4000, 1000);
  t.is(filled(scenario, behind), 0, 'ten were ahead');
  venue.print('yes', 4000, 100);
  t.is(filled(scenario, behind), 1);
  venue.print('yes', 3800, 100);
  t.is(filled(scenario, alone), 1, 'nothing was displayed at 38');
  // 39.5 is better than 39: a print there is at no order's price.
  const at39 = scenario.limitBuy(39, 1);
  venue.print('yes', 3950, 9000);
  t.is(filled(scenario, at39), 0);
});

scenarioTest(
  'T147, T150: additions come after, and hundredths add up to contracts',
  (t, create) => {
    const scenario = create(QUEUE);
    const venue = venueOf(scenario, YES, NO);
    const bid = scenario.limitBuy(40, 2);
    venue.add('yes', 4000, 50_000);
    venue.print('yes', 4000, 1050);
    t.is(filled(scenario, bid), 0, 'half a contract');
    venue.print('yes', 4000, 40);
    t.is(filled(scenario, bid), 0, 'nine tenths');
    venue.print('yes', 4000, 40);
    t.is(filled(scenario, bid), 1, 'and three tenths of the next');
    venue.print('yes', 4000, 70);
    t.is(scenario.order(idOf(bid)).status, 'executed');
  },
);

scenarioTest(
  'T148: a cancel comes from anywhere in the queue, and leaves at most the level',
  (t, create) => {
    const scenario = create(QUEUE);
    const venue = venueOf(scenario, [[4000, 1000]], NO);
    const bid = scenario.limitBuy(40, 1);
    venue.add('yes', 4000, 500);
    // 1000 × 334 ÷ 1500 is 222 and two thirds: 778 are left ahead.
    venue.cancel('yes', 4000, 334);
    venue.print('yes', 4000, 877);
    t.is(filled(scenario, bid), 0);
    venue.print('yes', 4000, 1);
    t.is(filled(scenario, bid), 1);
    const second = scenario.limitBuy(40, 1);
    // All of the 1166 but 5 go.
    venue.cancel('yes', 4000, 1161);
    venue.print('yes', 4000, 105);
    t.is(filled(scenario, second), 1);
    const third = scenario.limitBuy(40, 1);
    venue.cancel('yes', 4000, 5);
    venue.print('yes', 4000, 100);
    t.is(filled(scenario, third), 1, 'an empty level has nobody ahead');
    venue.add('yes', 4000, 1000);
    const fourth = scenario.limitBuy(40, 1);
    // The print of this trade was missed. A cancel then leaves at most the 50 that are displayed.
    venue.traded('yes', 4000, 900);
    venue.cancel('yes', 4000, 50);
    venue.print('yes', 4000, 150);
    t.is(filled(scenario, fourth), 1);
  },
);

scenarioTest(
  'T148: a decrease that a print has explained changes the display alone',
  (t, create) => {
    const scenario = create(QUEUE);
    const venue = venueOf(scenario, [[4000, 1000]], NO);
    const bid = scenario.limitBuy(40, 1);
    venue.print('yes', 4000, 400);
    venue.traded('yes', 4000, 400);
    venue.print('yes', 4000, 699);
    t.is(filled(scenario, bid), 0);
    venue.print('yes', 4000, 1);
    t.is(filled(scenario, bid), 1);
    t.is(filled(scenario, scenario.limitBuy(40, 1, { account: BOB }), BOB), 0);
  },
);

scenarioTest(
  'T149: a print gives back what its decrease took, once and within a second',
  (t, create) => {
    const scenario = create(QUEUE);
    const venue = venueOf(scenario, [[4000, 1000]], NO);
    const bid = scenario.limitBuy(40, 1);
    venue.add('yes', 4000, 1000);
    // It takes 200 of the 1000 ahead; the print says that all 400 were ahead.
    const first = venue.cancel('yes', 4000, 400);
    venue.print('yes', 4000, 400, first);
    venue.print('yes', 4000, 699);
    t.is(filled(scenario, bid), 0, '600 were ahead');
    venue.print('yes', 4000, 1, first);
    t.is(filled(scenario, bid), 1);

    const late = create(QUEUE);
    const slow = venueOf(late, [[4000, 1000]], NO);
    const other = late.limitBuy(40, 1);
    const decrease = slow.cancel('yes', 4000, 500);
    late.nowMs += 1001;
    slow.print('yes', 4000, 500, decrease);
    slow.print('yes', 4000, 100);
    t.is(filled(late, other), 1, 'what it took is forgotten');
  },
);

scenarioTest(
  'T152: a volume fills each account once, whoever is between its orders',
  (t, create) => {
    const scenario = create(QUEUE);
    const venue = venueOf(scenario, [], NO);
    const accounts = [ALICE, BOB, ALICE];
    const bids = accounts.map((account) => scenario.limitBuy(40, 5, { account }));
    venue.print('yes', 4000, 700);
    t.deepEqual(
      bids.map((bid, at) => filled(scenario, bid, accounts[at])),
      [5, 5, 2],
    );
  },
);

scenarioTest('T151: whoever sells below a bid would have met it first', (t, create) => {
  const scenario = create(QUEUE);
  const venue = venueOf(scenario, YES, NO);
  const bid = scenario.limitBuy(40, 9);
  venue.print('yes', 3900, 250);
  t.is(filled(scenario, bid), 2);
  // The half contract counts, and nothing is ahead any more.
  venue.print('yes', 4000, 50);
  t.is(filled(scenario, bid), 3);
});

scenarioTest('T151: an addition on the other side that meets a bid fills it', (t, create) => {
  const scenario = create(QUEUE);
  const venue = venueOf(scenario, YES, NO);
  const bid = scenario.limitBuy(40, 9);
  venue.add('no', 5950, 400);
  t.is(filled(scenario, bid), 0, 'an ask at 40.5 is above it');
  venue.add('no', 6000, 250);
  t.is(filled(scenario, bid), 2);
  venue.add('no', 6100, 50);
  t.is(filled(scenario, bid), 3);
  t.is(scenario.order(idOf(bid)).fillPriceCents, 40);
});

scenarioTest('T152, T65: what an addition has filled is consumed of its level', (t, create) => {
  const scenario = create(QUEUE);
  const venue = venueOf(scenario, YES, []);
  scenario.limitBuy(40, 3);
  scenario.book(WIN, [[39, 10]], [[40, 5]]);
  venue.add('no', 6000, 500);
  t.is(scenario.buy(3).code, 'no_liquidity');
  t.is(scenario.buy(2).body.status, 'executed');
  t.is(scenario.buy(5, { account: BOB }).body.status, 'executed', 'of another account none is');
});

scenarioTest(
  'T152: one volume counts once for an account, best price and first placed first',
  (t, create) => {
    const scenario = create(QUEUE);
    const venue = venueOf(scenario, [[4000, 100]], NO);
    const first = scenario.limitBuy(40, 3);
    const second = scenario.limitBuy(40, 3);
    const better = scenario.limitBuy(41, 1);
    const others = scenario.limitBuy(40, 3, { account: BOB });
    venue.print('yes', 4000, 500);
    // Five: one of the better bid, then one ahead and three of the first.
    t.is(filled(scenario, better), 1);
    t.is(filled(scenario, first), 3);
    t.is(filled(scenario, second), 0);
    t.is(filled(scenario, others, BOB), 3, 'for another account all of it counts');
  },
);

scenarioTest(
  'T238: what earlier orders of an account take of a print takes nothing ahead of later ones',
  (t, create) => {
    const shared = { ...PRESETS.simple, liquidity: 'market' } as const;
    for (const [earlierUnder, laterUnder] of [
      [null, null],
      [shared, shared],
      [shared, null],
      [null, shared],
    ] as const) {
      const scenario = create(QUEUE);
      const venue = venueOf(scenario, [[4000, 500]], NO);
      const first = scenario.limitBuy(40, 1, { realism: earlierUnder });
      venue.add('yes', 4000, 200);
      const later = scenario.limitBuy(40, 1, { realism: laterUnder });
      const others = scenario.limitBuy(40, 1, { realism: laterUnder, account: BOB });
      // Five before the first, the first, two, the later one: nine in all.
      venue.print('yes', 4000, 600);
      t.is(filled(scenario, first), 1);
      venue.print('yes', 4000, 200);
      t.is(filled(scenario, later), 0);
      t.is(filled(scenario, others, BOB), 1, 'nobody else is ahead of it');
      venue.print('yes', 4000, 100);
      t.is(filled(scenario, later), 1);
    }
    // An order at a better price takes its part first, too.
    const scenario = create(QUEUE);
    const venue = venueOf(scenario, YES, NO);
    scenario.limitBuy(41, 4);
    const at40 = scenario.limitBuy(40, 1);
    venue.print('yes', 4000, 1000);
    venue.print('yes', 4000, 499);
    t.is(filled(scenario, at40), 0, 'six of the ten ahead, then four');
    venue.print('yes', 4000, 1);
    t.is(filled(scenario, at40), 1);
  },
);

scenarioTest(
  'T153: after a gap a whole book bounds what is ahead, and repeats change nothing',
  (t, create) => {
    const scenario = create(QUEUE);
    const venue = venueOf(scenario, [[4000, 1000]], NO);
    const bid = scenario.limitBuy(40, 4);
    venue.book([[4000, 300]], NO, { repeats: true });
    venue.print('yes', 4000, 400);
    t.is(filled(scenario, bid), 0, 'ten were ahead');
    venue.book([[4000, 300]], NO);
    venue.print('yes', 4000, 400);
    t.is(filled(scenario, bid), 1, 'three were ahead');
    scenario.book(WIN, [], [[39, 2]]);
    const crossed = { repeats: true, quoted: false };
    venue.book([], [[6100, 200]], crossed);
    t.is(filled(scenario, bid), 1, 'nothing was missed, so its addition would have met the bid');
    venue.book([], [[6100, 200]], { ...crossed, repeats: false });
    t.is(filled(scenario, bid), 3, 'after a gap the two asks meet it');
    venue.book([], [[6100, 200]], { ...crossed, repeats: false });
    t.is(filled(scenario, bid), 3, 'the account has consumed them');
    t.is(scenario.order(idOf(bid)).fillPriceCents, 40);
  },
);

scenarioTest(
  'T153: a larger whole book after a gap puts nothing ahead of an order',
  (t, create) => {
    const scenario = create(QUEUE);
    const venue = venueOf(scenario, [[4000, 300]], NO);
    const bid = scenario.limitBuy(40, 1);
    venue.book([[4000, 900]], NO);
    venue.print('yes', 4000, 399);
    t.is(filled(scenario, bid), 0);
    venue.print('yes', 4000, 1);
    t.is(filled(scenario, bid), 1, 'three were ahead');
  },
);

scenarioTest(
  'T146, T153: if the book is unknown, the next whole one says what is ahead',
  (t, create) => {
    const scenario = create(QUEUE);
    const venue = venueOf(scenario, [[4000, 1000]], NO);
    venue.unknown();
    const bid = scenario.limitBuy(40, 1);
    venue.cancel('yes', 4000, 1000);
    venue.print('yes', 4000, 90_000);
    t.is(filled(scenario, bid), 0);
    venue.book([[4000, 700]], NO);
    venue.print('yes', 4000, 799);
    t.is(filled(scenario, bid), 0);
    venue.print('yes', 4000, 1);
    t.is(filled(scenario, bid), 1);
  },
);

scenarioTest(
  'T153: a lost connection, and another one, tell no book that they have not told whole',
  (t, create) => {
    const scenario = create(QUEUE);
    const venue = venueOf(scenario, [], NO);
    const bid = scenario.limitBuy(40, 1);
    const other = { source: 5, market: WIN, side: 'yes', price: 4000 } as const;
    scenario.tick({ kind: 'print', ...other, contracts: 900, decrease: 0 });
    t.is(filled(scenario, bid), 0, 'another connection');
    scenario.tick({ kind: 'down', source: 0 });
    venue.print('yes', 4000, 900);
    t.is(filled(scenario, bid), 0, 'the lost one');
    venue.book([], NO);
    venue.print('yes', 4000, 900);
    t.is(filled(scenario, bid), 1);
  },
);

scenarioTest('T155: a pause fills nothing, and places move meanwhile', (t, create) => {
  const scenario = create(QUEUE);
  const venue = venueOf(scenario, YES, NO);
  const bid = scenario.limitBuy(40, 1);
  scenario.tick({ kind: 'status', ...on, status: 'paused' });
  venue.print('yes', 3900, 1500);
  venue.add('no', 6500, 900);
  venue.print('yes', 4000, 300);
  venue.book([[4000, 600]], [[6500, 900]]);
  venue.print('yes', 4000, 100);
  t.is(filled(scenario, bid), 0);
  scenario.tick({ kind: 'status', ...on, status: 'open' });
  t.is(filled(scenario, bid), 0);
  venue.print('yes', 4000, 599);
  t.is(filled(scenario, bid), 0, 'of the ten ahead five are left');
  venue.print('yes', 4000, 1);
  t.is(filled(scenario, bid), 1);
});

scenarioTest(
  'T156: without levels or sizes, and with routing best, another model fills',
  (t, create) => {
    const scenario = create(QUEUE);
    const modelOf = (reading: { body: Row }) => orderOf(reading).fillModel;
    t.is(modelOf(scenario.limitBuy(5, 1)), 'book_depth', 'nobody has said anything');
    const top = { yesBidCents: 41, yesBidContracts: 0, yesAskCents: 43, yesAskContracts: 0 };
    scenario.tick({ kind: 'quote', ...on, ...top, crossed: false });
    const unsized = scenario.limitBuy(40, 900);
    t.is(modelOf(unsized), 'top_of_book');
    scenario.book(WIN, [[39, 10]], [[41, 5]]);
    const sized = scenario.limitBuy(40, 9);
    t.is(modelOf(sized), 'book_depth');
    const venue = venueOf(scenario, YES, NO);
    const queued = scenario.limitBuy(40, 3);
    t.is(modelOf(queued), 'queue');
    t.is(modelOf(scenario.limitBuy(30, 3, { routing: 'best' })), 'book_depth');
    scenario.quote(WIN_B, 3, 97);
    venue.book([], [[6200, 200]], { repeats: true });
    t.is(filled(scenario, unsized), 900, 'of any size, at the best price');
    t.is(filled(scenario, sized), 2, 'as much as is displayed');
    t.is(filled(scenario, queued), 0, 'no quote fills it');
  },
);

scenarioTest('T157: orders and trades say the model, also once they are over', (t, create) => {
  for (const fillModel of ['top_of_book', 'book_depth', 'queue'] as const) {
    const scenario = create({ fillModel });
    venueOf(scenario, YES, NO);
    const bought = scenario.buy(2);
    t.is((bought.body.trade as Row).fillModel, fillModel);
    const { tradeId } = bought.body.trade as { tradeId: string };
    scenario.sell(tradeId);
    const bid = scenario.limitBuy(2, 1);
    scenario.cancel(idOf(bid));
    t.is(scenario.order(idOf(bid)).fillModel, fillModel);
    const page = { limit: 9, before: null, status: null, organizationSlug: null };
    const listed = scenario.ask({ kind: 'trades', account: ALICE, ...page }).body.trades as Row[];
    t.like(listed, [{ tradeId, status: 'closed', fillModel }]);
  }
});

/** An engine with a bid of five contracts, after a hundred. */
function queued(): { engine: MemoryEngine; scenario: Scenario; bid: { body: Row } } {
  let engine: MemoryEngine | undefined;
  const scenario = createEngineScenario(QUEUE, (options) => {
    engine = createMemoryEngine(options);
    return engine;
  });
  venueOf(scenario, [[4000, 10_000]], NO);
  return { engine: engine!, scenario, bid: scenario.limitBuy(40, 5) };
}

const placesIn = (engine: MemoryEngine) => {
  const { queue } = engine.state();
  return Array.from(queue.orders(), (order) => [queue.aheadE2(order), queue.partE2(order)]);
};
const print = (contracts: number) => {
  return { kind: 'print', ...on, side: 'yes', price: 4000, contracts, decrease: 0 } as const;
};

for (const withCheckpoint of [false, true]) {
  const from = withCheckpoint ? 'a checkpoint and the log' : 'the log';
  test(`T154: after a crash an order has the place that was noted last, from ${from}`, (t) => {
    const { engine, scenario, bid } = queued();
    scenario.tick(print(5_000));
    scenario.tick(print(1));
    scenario.tick(print(2_000));
    t.deepEqual(placesIn(engine), [[2_999, 0]]);
    if (withCheckpoint) engine.checkpoint();
    engine.crash();
    t.deepEqual(placesIn(engine), [[4_999, 0]], 'less than half was ahead');
    scenario.tick(print(5_150));
    t.is(filled(scenario, bid), 1, 'and half of the next');
    engine.crash();
    t.deepEqual(placesIn(engine), [[0, 51]], 'a part has filled');
    scenario.tick(print(70));
    engine.crash();
    t.deepEqual(placesIn(engine), [[0, 21]], 'and another one');
    scenario.cancel(idOf(bid));
    engine.crash();
    t.deepEqual(placesIn(engine), []);
  });
}

test('T154: a decrease notes a place once less than half is left ahead', (t) => {
  const { engine, scenario } = queued();
  const decrease = (contracts: number, size: number) => {
    const of = { change: 'cancel', side: 'yes', price: 4000, decrease: size } as const;
    scenario.tick({ kind: 'level', ...on, ...of, contracts, size });
    const { queue } = engine.folded();
    return Array.from(queue.orders(), (order) => queue.noted(order).aheadE2);
  };
  t.deepEqual(decrease(4_000, 6_000), [10_000]);
  t.deepEqual(decrease(2_000, 4_000), [4_000]);
});

test('T154: the log alone leads to the same places', (t) => {
  const { engine, scenario } = queued();
  scenario.tick(print(9_000));
  scenario.tick(print(1_120));
  const { queue, ...state } = engine.folded();
  const noted = Array.from(queue.orders(), (order) => queue.noted(order));
  t.deepEqual(noted, [{ aheadE2: 0, partE2: 20 }]);
  t.is(state.orders.live, 1);
});

test('T154: places that have moved are noted before an end, a few at once', (t) => {
  const { engine, scenario } = queued();
  for (const contracts of [5, 5]) scenario.limitBuy(40, contracts);
  scenario.tick(print(1));
  const state = engine.state();
  const noted: number[] = [];
  const facts: FactSink = {
    ...{ record: 0, offset: 0 },
    add: (_, event) => void noted.push((event as { order: number }).order),
  };
  t.true(noteMovedPlaces(state, facts, 2));
  t.is(noted.length, 2);
  t.false(noteMovedPlaces(state, facts, 2));
  t.deepEqual(noted, [...state.queue.orders()]);
  t.false(noteMovedPlaces(state, facts, 2));
  t.is(noted.length, 3);
});

test('W95: a server of another model keeps nothing of levels', (t) => {
  for (const fillModel of ['top_of_book', 'book_depth'] as const) {
    const scenario = createEngineScenario({ fillModel });
    const venue = venueOf(scenario, YES, NO);
    const bid = scenario.limitBuy(40, 1);
    venue.print('yes', 1000, 90_000);
    t.is(filled(scenario, bid), 0);
    t.is(orderOf(bid).fillModel, fillModel);
  }
});
