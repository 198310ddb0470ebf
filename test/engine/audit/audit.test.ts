import test from 'ava';
import { audit } from '../../../engine/audit/audit.ts';
import { NO_ROW } from '../../../engine/base/units.ts';
import { ladderOf } from '../../../engine/rules/pricing.ts';
import { bookOf } from '../../../engine/rules/resting.ts';
import type { ShardState } from '../../../engine/rules/state.ts';
import {
  accountRow,
  CATALOG,
  NOON_MS,
  orderRow,
  placeOrder,
  positionRow,
  quoteTick,
  uuidOf,
} from '../fixtures.ts';
import { createMemoryEngine } from '../memory-engine.ts';

/** Order rows 0 (expires), 1 and 2 (sells position 0) rest; one account. */
function tradedState(): ShardState {
  const engine = createMemoryEngine({
    quoteMaxAgeMs: 15_000,
    routingBandCents: 10,
    fillModel: 'top_of_book',
  });
  engine.command({ kind: 'catalog', atMs: NOON_MS, catalog: CATALOG });
  engine.tick(quoteTick());
  const expiring = { limitPriceCents: 20, expiresAtMs: NOON_MS + 1000 } as const;
  const opened = engine.command(placeOrder());
  const { trade } = JSON.parse(opened.ok ? opened.body : '');
  engine.command(placeOrder(expiring));
  engine.command(placeOrder({ limitPriceCents: 20 }));
  const sell = { action: 'sell', limitPriceCents: 90 } as const;
  engine.command(placeOrder({ ...sell, tradeId: trade.tradeId }));
  return engine.state();
}

type Planted = [what: string, change: (state: ShardState) => void, breach: RegExp];
const PLANTED: Planted[] = [
  [
    'an order that waits on no book',
    (state) => state.ladders.remove(orderRow(1)),
    /^account \S+: order row 1 waits on no book$/,
  ],
  [
    'a book out of time order',
    ({ orders }) => {
      const { sequence } = orders.change(orderRow(1));
      sequence.set(orderRow(1), sequence.get(orderRow(0)));
    },
    /^ladder \d+: priceLevel 20 is out of time order$/,
  ],
  [
    'a queue out of time order',
    ({ queue }) => {
      queue.note(orderRow(1), 100, 0);
      queue.note(orderRow(0), 100, 0);
    },
    /^book \d+: its queues have another order than its ladders$/,
  ],
  [
    'a queue of an order that waits on no book',
    ({ queue, ladders }) => {
      queue.note(orderRow(1), 100, 0);
      ladders.remove(orderRow(1));
    },
    /^book \d+: its queues have another order than its ladders$/,
  ],
  [
    'an order on the book of another market',
    (state) => {
      const other = bookOf(state, state.markets[1]!, null);
      state.ladders.remove(orderRow(1));
      state.ladders.add(ladderOf(other, 'yes'), 20, orderRow(1));
    },
    /^book \d+: order row 1 is of another market$/,
  ],
  [
    'an account that counts one order too few',
    (state) => state.ordersOfAccount.remove(accountRow(0)),
    /^account \S+: miscounts its resting orders$/,
  ],
  [
    'a market that lost its position',
    (state) => state.positionsOfMarket.remove(0),
    /^positions: some are in no market, or in two$/,
  ],
  [
    'a position that knows nothing of its order',
    ({ positions }) => {
      positions.derived.resting.set(positionRow(0), NO_ROW);
    },
    /^account \S+: order row 2 has no position$/,
  ],
  [
    'an id that finds nothing',
    ({ orderIds }) => orderIds.remove(orderRow(0)),
    /^orders: the index of ids has another size$/,
  ],
  [
    'an expiry that nothing waits for',
    ({ orders }) => {
      orders.change(orderRow(1)).expiresAtMs.set(orderRow(1), NOON_MS + 5000);
    },
    /^orders row 1: expires, and nothing waits for it$/,
  ],
  [
    'an expiry in the past',
    (state) => {
      state.nowMs = NOON_MS + 1000;
    },
    /^orders row 0: has expired and still rests$/,
  ],
  [
    'an order on a market that has its result',
    ({ markets }) => {
      markets[0]!.outcome = 'yes';
    },
    /^market 0: has its result, and order row \d rests$/,
  ],
  [
    'a balance that a cent is missing from',
    ({ accounts }) => {
      accounts.change(accountRow(0)).balanceCents.add(accountRow(0), -1);
    },
    /^account \S+: does not add up$/,
  ],
  [
    'a hold that no resting buy explains',
    ({ accounts }) => {
      accounts.change(accountRow(0)).heldCents.add(accountRow(0), 1);
      accounts.change(accountRow(0)).balanceCents.add(accountRow(0), -1);
    },
    /^account \S+: has a hold that is not the sum of its resting buys$/,
  ],
];

test('M20: a sound state has no breach', (t) => {
  t.deepEqual(audit(tradedState()), {
    accounts: 1,
    restingOrders: 3,
    openPositions: 1,
    problems: [],
  });
});

for (const [what, change, breach] of PLANTED) {
  test(`M20: the audit names ${what}`, (t) => {
    const state = tradedState();
    change(state);
    const { problems } = audit(state);
    t.true(
      problems.some((problem) => breach.test(problem)),
      `found: ${problems.join('; ')}`,
    );
  });
}

test('an audit of a million breaches lists some and counts the rest', (t) => {
  const state = tradedState();
  for (let n = 0; n < 300; n++) {
    state.accountIds.set(state.accounts.claim(), uuidOf(100 + n));
  }
  const { problems } = audit(state);
  t.is(problems.length, 201);
  t.regex(problems.at(-1)!, /^and \d+ more$/);
});
