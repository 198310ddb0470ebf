/** What an account could be paid stays within what can be counted, whatever it buys. */
import test from 'ava';
import { FILL_MODELS, type FillModelName } from '../../../engine/base/units.ts';
import { noteCorrections } from '../../../engine/rules/apply-results.ts';
import type { Reply } from '../../../engine/rules/messages.ts';
import {
  ALICE,
  type CreateScenario,
  createEngineScenario,
  OVER,
  type Scenario,
  scenarioTest,
  TOTAL,
  WIN,
} from '../../model/scenario.ts';
import { placeOrder } from '../fixtures.ts';

const COUNT_MAX = 1_000_000_000;
/** 2^53 - 1. */
const MOST_CENTS = 9_007_199_254_740_991;

const adjust = (scenario: Scenario, amountCents: number): Reply =>
  scenario.engine.command({ kind: 'adjust', atMs: scenario.nowMs, account: ALICE, amountCents });

function settle(scenario: Scenario, outcome: 'yes' | 'no'): void {
  const [yesPayoutCents, noPayoutCents] = outcome === 'yes' ? [100, 0] : [0, 100];
  scenario.tick({ kind: 'result', source: 0, market: WIN, outcome, yesPayoutCents, noPayoutCents });
}

/** WIN is offered at a cent, and the account, which has nothing open, has room for so much. */
function scenarioWithRoom(
  createScenario: CreateScenario,
  roomCents: number,
  fillModel: FillModelName = 'top_of_book',
): Scenario {
  const scenario = createScenario({ fillModel });
  scenario.limitBuy(1, 1, { timeInForce: 'ioc' });
  adjust(scenario, scenario.engine.roomCents(ALICE) - roomCents);
  scenario.book(WIN, [], [[1, 10 * COUNT_MAX]]);
  return scenario;
}

for (const fillModel of FILL_MODELS) {
  scenarioTest(
    `M11: what a buy could win can be counted, else 400, ${fillModel}`,
    (t, createScenario) => {
      const scenario = scenarioWithRoom(createScenario, 300 * COUNT_MAX + 99, fillModel);
      t.is(scenario.buy(COUNT_MAX).body.status, 'executed');
      const resting = scenario.limitBuy(1, COUNT_MAX, { side: 'no' });
      t.is(resting.body.status, 'resting');
      t.is(scenario.buy(COUNT_MAX).body.status, 'executed');
      // Each took 100 cents a contract, and gave back the cent that it cost; what rests costs nothing yet.
      const leftCents = 2 * COUNT_MAX + 99;
      t.is(scenario.engine.roomCents(ALICE), leftCents);

      const tooMany = Math.floor(leftCents / 100) + 1;
      for (const timeInForce of ['gtc', 'ioc', 'fok'] as const) {
        t.is(scenario.limitBuy(1, tooMany, { timeInForce }).code, 'invalid_request', timeInForce);
      }
      t.is(scenario.buy(tooMany, { ticker: 'WIN', instrumentId: null }).code, 'invalid_request');
      t.is(scenario.buy(tooMany).code, 'invalid_request');
      t.is(scenario.buy(tooMany - 1).body.status, 'executed');
      settle(scenario, 'yes');
      const { balanceDollars, heldDollars } = scenario.account();
      const cost = 0.01 * (tooMany - 1);
      t.is(heldDollars, 0);
      // Without the resting buy of no, which lost its chance.
      t.is(balanceDollars, (MOST_CENTS - 99 - 100 * COUNT_MAX) / 100 - cost);
      t.deepEqual(scenario.engine.conservation(), []);
    },
  );
}

scenarioTest('M11: what is at stake counts as what it could win', (t, createScenario) => {
  const scenario = createScenario();
  scenario.quote(WIN, 40, 50);
  t.is(scenario.buy(200_000).body.status, 'executed');
  t.like(scenario.account(), { balanceDollars: 0, openStakeDollars: 100_000 });
  t.is(scenario.engine.roomCents(ALICE), MOST_CENTS - 100 * 200_000);
  t.true(adjust(scenario, 1).ok);
  t.is(scenario.engine.roomCents(ALICE), MOST_CENTS - 100 * 200_000 - 1);
});

scenarioTest('M11: a resting buy counts as what it holds and could win', (t, createScenario) => {
  const scenario = createScenario();
  t.is(scenario.limitBuy(50, 100_000).body.status, 'resting');
  t.like(scenario.account(), { balanceDollars: 50_000, heldDollars: 50_000 });
  t.is(scenario.engine.roomCents(ALICE), MOST_CENTS - 10_000_000 - 100 * 100_000);
});

scenarioTest('M11: winnings that an operator took off leave no more room', (t, createScenario) => {
  const scenario = createScenario();
  scenario.quote(WIN, 0, 1);
  t.is(scenario.buy(10_000_000).body.status, 'executed');
  settle(scenario, 'yes');
  t.is(scenario.account().balanceDollars, 10_000_000);
  t.true(adjust(scenario, -1_000_000_000).ok);
  // 990,000,000 cents were won, and the account has nothing left.
  t.is(scenario.engine.roomCents(ALICE), MOST_CENTS - 990_000_000);
  t.true(adjust(scenario, 300).ok);
  scenario.quote(TOTAL, 0, 2);
  const over = { instrumentId: OVER, side: 'no' } as const;
  t.is(scenario.buy(100, over).body.status, 'executed');
  // It could win 100 x 98 cents more.
  t.is(scenario.engine.roomCents(ALICE), MOST_CENTS - 990_000_000 - 9_800);
  t.deepEqual(scenario.engine.conservation(), []);
});

test('M11: the refusal names count and how many there may be', (t) => {
  const scenario = scenarioWithRoom(createEngineScenario, 12_345);
  const order = {
    atMs: scenario.nowMs,
    account: ALICE,
    contracts: COUNT_MAX,
    idempotencyKey: 'all',
  };
  const reply = scenario.engine.command(placeOrder(order));
  t.like(reply, {
    ok: false,
    code: 'invalid_request',
    message:
      'count must be at most 123 now: an account cannot hold more than 90071992547409.91 dollars',
  });
});

test('M11: the refusal says that there may be none', (t) => {
  const scenario = scenarioWithRoom(createEngineScenario, 99);
  const order = { atMs: scenario.nowMs, account: ALICE, contracts: 1, idempotencyKey: 'one' };
  const reply = scenario.engine.command(placeOrder(order));
  t.regex(reply.ok ? '' : reply.message, /^count must be at most 0 now: /);
});

scenarioTest(
  'M11: a buy that ends, or a position that is sold, makes room',
  (t, createScenario) => {
    const roomCents = 100 * COUNT_MAX;
    const scenario = scenarioWithRoom(createScenario, roomCents);
    const resting = scenario.limitBuy(1, COUNT_MAX, { side: 'no' }).body.order as {
      orderId: string;
    };
    t.is(scenario.buy(1).code, 'invalid_request');
    scenario.cancel(resting.orderId);
    const trade = scenario.buy(COUNT_MAX).body.trade as { tradeId: string };
    t.is(scenario.engine.roomCents(ALICE), COUNT_MAX);
    scenario.book(WIN, [[1, 9 * COUNT_MAX]], [[2, 9 * COUNT_MAX]]);
    scenario.sell(trade.tradeId);
    t.is(scenario.engine.roomCents(ALICE), roomCents);
    t.deepEqual(scenario.engine.conservation(), []);
  },
);

scenarioTest(
  'M11: what an account has, or was adjusted by, stays within what can be counted',
  (t, createScenario) => {
    const scenario = scenarioWithRoom(createScenario, 100 * COUNT_MAX);
    t.like(adjust(scenario, 100 * COUNT_MAX + 1), { ok: false, code: 'invalid_request' });
    t.true(scenario.buy(COUNT_MAX).code === null);
    t.like(
      adjust(scenario, COUNT_MAX + 1),
      { ok: false, code: 'invalid_request' },
      'it may yet win',
    );
    settle(scenario, 'no');
    // A cent a contract is lost: there is room for that again, and it may not be given twice.
    t.is(scenario.engine.roomCents(ALICE), 101 * COUNT_MAX);
    t.like(adjust(scenario, 101 * COUNT_MAX), { ok: false, code: 'invalid_request' });
    t.true(adjust(scenario, 100 * COUNT_MAX).ok);
    t.deepEqual(scenario.engine.conservation(), []);
  },
);

scenarioTest(
  'M11: an adjustment may fill the room to the last cent, and not beyond it',
  (t, createScenario) => {
    const scenario = scenarioWithRoom(createScenario, 500);
    t.like(adjust(scenario, 501), { ok: false, code: 'invalid_request' });
    t.true(adjust(scenario, 500).ok);
    t.is(scenario.engine.roomCents(ALICE), 0);
    t.like(adjust(scenario, 1), { ok: false, code: 'invalid_request' });
  },
);

test('S23: only markets that were corrected let an account owe', (t) => {
  const correctedMarkets = new Set<number>();
  const state = { records: { correctedMarkets } } as never;
  noteCorrections(state, { number: 3 } as never, 0);
  t.deepEqual([...correctedMarkets], []);
  noteCorrections(state, { number: 3 } as never, 1);
  t.deepEqual([...correctedMarkets], [3]);
});
