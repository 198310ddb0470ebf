/** A result that an operator replaces, on the engine and the model beside it. */
import test from 'ava';
import type { Uuid } from '../../../engine/base/units.ts';
import { ByteReader } from '../../../engine/format/bytes.ts';
import { readFact } from '../../../engine/format/fact-layouts.ts';
import type { TradeCorrectedFact } from '../../../engine/rules/facts.ts';
import type { MarketOutcome } from '../../../engine/rules/messages.ts';
import {
  ALICE,
  AWAY,
  BOB,
  catalog,
  HOME,
  HOUR_MS,
  type Scenario,
  scenarioTest,
  TOTAL,
  WIN,
} from '../../model/scenario.ts';
import { NOON_MS, placeOrder, quoteTick } from '../fixtures.ts';
import { createMemoryEngine, type MemoryEngine } from '../memory-engine.ts';

const YES: Result = ['yes', 100, 0];
const NO: Result = ['no', 0, 100];
const VOID: Result = ['void', 0, 0];
const VALUE: Result = ['scalar', 62, 38];
type Result = [outcome: MarketOutcome, yesPayoutCents: number, noPayoutCents: number];

/** @param correction its number; null: it is the first result */
function settle(
  scenario: Scenario,
  [outcome, yesPayoutCents, noPayoutCents]: Result,
  correction: number | null = null,
  market = WIN,
) {
  const reply = scenario.engine.command({
    ...{ kind: 'settle', atMs: scenario.nowMs, market, outcome, correction },
    ...{ yesPayoutCents, noPayoutCents },
  });
  return reply.ok ? JSON.parse(reply.body) : reply.code;
}

type ShownTrade = Record<string, unknown> & { tradeId: Uuid };
function tradesOf(scenario: Scenario, status: string | null = null): ShownTrade[] {
  const page = { limit: 100, before: null, instrumentId: null, fromMs: null, toMs: null };
  const { body } = scenario.ask({
    ...{ kind: 'trades', account: ALICE, organizationSlug: null, ...page },
    status: status as never,
  });
  return body.trades as ShownTrade[];
}

const tradeIn = ({ body }: { body: Record<string, unknown> }) => {
  return (body.trade as { tradeId: Uuid }).tradeId;
};
const balanceOf = (scenario: Scenario) => scenario.account().balanceDollars;
const COST_DOLLARS = 4.3;
const BOUGHT_DOLLARS = 100_000 - COST_DOLLARS;

scenarioTest(
  'S20, S21: a result is replaced by another, again and again: trade, balance and pick follow',
  (t, createScenario) => {
    const scenario = createScenario();
    scenario.quote(WIN, 41, 43);
    scenario.buy(10);
    scenario.buy(10, { side: 'no', account: BOB });
    const soldBefore = tradeIn(scenario.buy(5));
    scenario.sell(soldBefore);
    t.is(settle(scenario, NO, 1), 'invalid_request', 'there is nothing to replace');
    settle(scenario, YES);
    const closedAt = tradesOf(scenario)[1]!.closedAt;
    const sold = tradesOf(scenario)[0];
    scenario.nowMs += 60_000;
    t.is(settle(scenario, NO), 'market_resolved', 'without a number it is a second result');
    const before = balanceOf(scenario) as number;
    const steps: [Result, string, string | null, number][] = [
      [NO, 'settled', 'no', 0],
      [VOID, 'void', null, COST_DOLLARS],
      [VALUE, 'settled', null, 6.2],
      [YES, 'settled', 'yes', 10],
      [VALUE, 'settled', null, 6.2],
    ];
    for (const [at, [result, status, resolvedOutcome, paidDollars]] of steps.entries()) {
      t.like(settle(scenario, result, at + 1), { isNew: true, correctedTrades: 2 });
      const [, trade] = tradesOf(scenario);
      const pnlDollars = Math.round(100 * (paidDollars - COST_DOLLARS)) / 100;
      t.like(trade, { status, resolvedOutcome, closedAt, pnlDollars });
      t.is(balanceOf(scenario), Math.round(100 * (before - 10 + paidDollars)) / 100);
      t.deepEqual(tradesOf(scenario)[0], sold, 'a trade that was sold keeps its end');
      const [byStatus] = tradesOf(scenario, status).slice(-1);
      t.is(byStatus?.tradeId, trade!.tradeId, `it is listed as ${status}`);
      t.is(tradesOf(scenario, status === 'void' ? 'settled' : 'void').length, 0);
    }
    t.like(settle(scenario, VALUE, 6), { isNew: false, correctedTrades: 0 });
    t.like(settle(scenario, NO, 3), { isNew: false }, 'an earlier one comes again');
  },
);

scenarioTest(
  'S23: a balance falls below zero, no buy is taken, and what comes in fills it up',
  (t, createScenario) => {
    const scenario = createScenario();
    scenario.quote(WIN, 41, 43);
    scenario.quote(TOTAL, 88, 90);
    scenario.buy(100_000, { instrumentId: AWAY });
    settle(scenario, NO);
    const held = scenario.buy(150_000, { instrumentId: null, ticker: 'TOTAL', side: 'yes' });
    t.is(held.code, null);
    t.is(balanceOf(scenario), 6000);
    t.is(settle(scenario, YES, 1).correctedTrades, 1);
    t.is(balanceOf(scenario), -94_000);
    const again = { instrumentId: null, ticker: 'TOTAL', side: 'yes' } as const;
    t.is(scenario.buy(1, again).code, 'insufficient_balance');
    t.is(scenario.limitBuy(1, 1, again).code, 'insufficient_balance');
    const adjust = (dollars: number) => {
      const amountCents = dollars * 100;
      const of = { kind: 'adjust', atMs: scenario.nowMs, account: ALICE, amountCents } as const;
      return scenario.engine.command(of);
    };
    t.like(adjust(-1), { code: 'insufficient_balance' });
    t.true(adjust(10_000).ok, 'some of what it lacks');
    t.is(scenario.buy(1, again).code, 'insufficient_balance');
    t.is(scenario.sell(tradeIn(held)).code, null, 'a sale brings money in');
    t.is(balanceOf(scenario), -84_000 + 132_000);
    t.is(scenario.buy(1, again).code, null, 'it is above zero again');
  },
);

scenarioTest(
  'S23: of a run that is over the pick takes the result, and no cash moves',
  (t, createScenario) => {
    // At the very moment of the result no time tells the two apart.
    for (const laterMs of [0, 1000]) {
      const scenario = createScenario();
      const switches = { kind: 'switches', atMs: scenario.nowMs, venueData: true, selfReset: true };
      scenario.engine.command(switches as never);
      scenario.quote(WIN, 41, 43);
      scenario.buy(10);
      settle(scenario, YES);
      scenario.nowMs += laterMs;
      scenario.engine.command({ kind: 'reset', atMs: scenario.nowMs, account: ALICE });
      t.is(settle(scenario, NO, 1).correctedTrades, 1);
      t.like(tradesOf(scenario)[0], { resolvedOutcome: 'no', pnlDollars: -COST_DOLLARS });
      t.is(balanceOf(scenario), 100_000);
      t.like(scenario.account(), { lifetimePnlDollars: -COST_DOLLARS, pnlSinceResetDollars: 0 });
    }
  },
);

scenarioTest('S23: a trade of the run that goes on is corrected in it', (t, createScenario) => {
  for (const laterMs of [0, 1000]) {
    const scenario = createScenario();
    const switches = { kind: 'switches', atMs: scenario.nowMs, venueData: true, selfReset: true };
    scenario.engine.command(switches as never);
    scenario.quote(TOTAL, 41, 43);
    const bought = scenario.buy(10, { instrumentId: null, ticker: 'TOTAL' });
    scenario.sell(tradeIn(bought));
    t.true(scenario.engine.command({ kind: 'reset', atMs: scenario.nowMs, account: ALICE }).ok);
    scenario.nowMs += laterMs;
    scenario.quote(WIN, 41, 43);
    scenario.buy(10);
    settle(scenario, YES);
    t.is(settle(scenario, NO, 1).correctedTrades, 1);
    t.is(balanceOf(scenario), BOUGHT_DOLLARS);
    t.like(scenario.account(), {
      pnlSinceResetDollars: -COST_DOLLARS,
      lifetimePnlDollars: -COST_DOLLARS - 10 * 0.02,
    });
  }
});

scenarioTest(
  'S24: what was sold of a trade before keeps its cents, whatever the results are',
  (t, createScenario) => {
    for (const setBackMs of [0, HOUR_MS]) {
      const scenario = createScenario({ fillModel: 'book_depth' });
      scenario.book(WIN, [[42, 4]], [[43, 10]]);
      const tradeId = tradeIn(scenario.buy(10));
      // If the clock is set back, the sale has an earlier id than its trade.
      const { engine, nowMs: atMs } = scenario;
      scenario.nowMs -= setBackMs;
      if (setBackMs > 0) engine.command({ kind: 'clock', atMs, toMs: scenario.nowMs });
      scenario.book(WIN, [[43, 4]], [[45, 10]]);
      // 4 of 10 at what they had cost, so that a void shows no trace of it.
      scenario.sell(tradeId, { timeInForce: 'ioc', limitPriceCents: 43 });
      const soldDollars = 4 * 0.43;
      settle(scenario, VOID);
      t.is(balanceOf(scenario), 100_000);
      settle(scenario, YES, 1);
      t.is(balanceOf(scenario), Math.round(100 * (BOUGHT_DOLLARS + soldDollars + 6)) / 100);
      settle(scenario, VALUE, 2);
      t.is(balanceOf(scenario), Math.round(100 * (BOUGHT_DOLLARS + soldDollars + 3.72)) / 100);
      settle(scenario, VOID, 3);
      t.is(balanceOf(scenario), 100_000);
    }
  },
);

scenarioTest(
  'S24: a sale before a first result of yes or no keeps its cents, however few',
  (t, createScenario) => {
    for (const [bid, contracts] of [
      [42, 4],
      [1, 1],
    ] as const) {
      for (const [first, then] of [
        [YES, NO],
        [NO, YES],
      ] as const) {
        const scenario = createScenario({ fillModel: 'book_depth' });
        scenario.book(WIN, [[bid, contracts]], [[43, 10]]);
        const tradeId = tradeIn(scenario.buy(10));
        scenario.sell(tradeId, { timeInForce: 'ioc', limitPriceCents: bid });
        const withSale = 10_000_000 - 430 + bid * contracts;
        settle(scenario, first);
        for (const [at, result] of [then, first].entries()) {
          t.is(settle(scenario, result, at + 1).correctedTrades, 1);
          const wonCents = result === YES ? 100 * (10 - contracts) : 0;
          t.is(balanceOf(scenario), (withSale + wonCents) / 100);
        }
      }
    }
  },
);

scenarioTest(
  'S23: a trade of the moment of a reset is of the new run, though its result has an earlier time',
  (t, createScenario) => {
    const scenario = createScenario();
    const { engine, nowMs: atMs } = scenario;
    engine.command({ kind: 'switches', atMs, venueData: true, selfReset: true } as never);
    scenario.quote(TOTAL, 41, 43);
    scenario.sell(tradeIn(scenario.buy(10, { instrumentId: null, ticker: 'TOTAL' })));
    t.true(engine.command({ kind: 'reset', atMs, account: ALICE }).ok);
    scenario.quote(WIN, 41, 43);
    scenario.buy(10);
    scenario.nowMs -= HOUR_MS;
    engine.command({ kind: 'clock', atMs, toMs: scenario.nowMs });
    settle(scenario, YES);
    t.is(settle(scenario, NO, 1).correctedTrades, 1);
    t.is(balanceOf(scenario), BOUGHT_DOLLARS);
  },
);

const BOUNDS = { quoteMaxAgeMs: 15_000, routingBandCents: 10, fillModel: 'top_of_book' } as const;
const ACCOUNTS = Array.from({ length: 9 }, (_, at) => `019ca8d0-0000-7000-8000-00000000000${at}`);

function correctionOf(
  market: number,
  [outcome, yesPayoutCents, noPayoutCents]: Result,
  correction: number | null,
) {
  const payouts = { yesPayoutCents, noPayoutCents };
  return { kind: 'settle', atMs: NOON_MS, market, outcome, ...payouts, correction } as const;
}

/** Nine accounts with a trade each, and a market with a result. */
function traded(settledAtOnce: number, result: Result = YES): MemoryEngine {
  const engine = createMemoryEngine(BOUNDS, settledAtOnce);
  engine.command({ kind: 'catalog', atMs: NOON_MS, catalog: catalog() });
  engine.tick(quoteTick());
  for (const [at, account] of ACCOUNTS.entries()) {
    const id = `019ca8d0-0000-7000-8000-0000000001${at}0`;
    const key = `key-${at}`;
    engine.command(
      placeOrder({ account, orderId: id, idempotencyKey: key, instrumentId: HOME, side: 'yes' }),
    );
  }
  engine.command(correctionOf(WIN, result, null));
  return engine;
}

function correctionsIn(engine: MemoryEngine): TradeCorrectedFact[] {
  const found: TradeCorrectedFact[] = [];
  for (const { payload } of engine.records()) {
    const from = new ByteReader(payload);
    while (!from.isAtEnd) {
      const fact = readFact(from);
      if (fact.kind === 'trade_corrected') found.push(fact);
    }
  }
  return found;
}

for (const [when, stop] of Object.entries({
  'a crash': (engine: MemoryEngine) => engine.crash(),
  'a checkpoint and a crash': (engine: MemoryEngine) => {
    engine.checkpoint();
    engine.crash();
  },
  'a question about an account': (engine: MemoryEngine) => {
    const of = { account: ACCOUNTS[5]!, organizationSlug: null };
    engine.query({ kind: 'portfolio', atMs: NOON_MS, ...of });
  },
  'the next correction': (engine: MemoryEngine) => {
    engine.command(correctionOf(WIN, VOID, 2));
  },
  nothing: () => undefined,
})) {
  test(`S22: a correction in slices, with ${when} between, corrects each trade once and in order`, (t) => {
    const [sliced, whole] = [traded(2), traded(Number.POSITIVE_INFINITY)];
    // The first settlement is still running.
    t.true(sliced.state().pendingSettlements.markets.size > 0);
    for (const engine of [sliced, whole]) engine.command(correctionOf(WIN, NO, 1));
    t.true(correctionsIn(sliced).length < ACCOUNTS.length);
    for (let slice = 0; slice < 12; slice++) {
      stop(sliced);
      stop(whole);
      sliced.settleSlice();
      t.deepEqual(sliced.conservation(), []);
    }
    const byTrade = (engine: MemoryEngine) => {
      return Map.groupBy(correctionsIn(engine), ({ trade }) => trade);
    };
    t.deepEqual([...byTrade(sliced)].sort(), [...byTrade(whole)].sort());
    t.is(byTrade(sliced).size, ACCOUNTS.length);
    t.deepEqual(sliced.digest(), whole.digest());
    t.true(sliced.state().pendingSettlements.isEmpty);
  });
}

test('S15, S22: a slice corrects as many trades as it may settle, and no more', (t) => {
  const engine = traded(2);
  for (let slice = 0; slice < ACCOUNTS.length; slice++) engine.settleSlice();
  engine.command(correctionOf(WIN, NO, 1));
  const counts = [correctionsIn(engine).length];
  while (counts.at(-1)! < ACCOUNTS.length && counts.length < ACCOUNTS.length) {
    engine.settleSlice();
    counts.push(correctionsIn(engine).length);
  }
  t.deepEqual(counts, [2, 4, 6, 8, 9]);
});

test('S22, S23: a reset between two slices of a settlement, of one moment, ends the run of what it follows', (t) => {
  const engine = traded(2);
  const account = ACCOUNTS[0]!;
  engine.command({ kind: 'switches', atMs: NOON_MS, venueData: true, selfReset: true });
  t.true(engine.command({ kind: 'reset', atMs: NOON_MS, account }).ok);
  for (let slice = 0; slice < ACCOUNTS.length; slice++) engine.settleSlice();
  engine.command(correctionOf(WIN, NO, 1));
  for (let slice = 0; slice < ACCOUNTS.length; slice++) engine.settleSlice();
  const changed = correctionsIn(engine).map(({ account: of, cashCents }) => [of, cashCents]);
  const [[, ofOthers]] = changed.filter(([of]) => of !== account) as [[string, number]];
  t.true(ofOthers < 0);
  const wanted = ACCOUNTS.map((of) => [of, of === account ? 0 : ofOthers]);
  t.deepEqual(changed.sort(), wanted);
});

test('M11, S25: a correction is taken up to the last cent that can be counted', (t) => {
  const [account] = ACCOUNTS as [string];
  const gainOf = () => {
    const engine = traded(Number.POSITIVE_INFINITY, VALUE);
    engine.command(correctionOf(WIN, YES, 1));
    return correctionsIn(engine)[0]!.changedByCents;
  };
  const gainCents = gainOf();
  for (const lackCents of [0, 1]) {
    const engine = traded(Number.POSITIVE_INFINITY, VALUE);
    const amountCents = engine.roomCents(account) - gainCents + lackCents;
    t.true(engine.command({ kind: 'adjust', atMs: NOON_MS, account, amountCents }).ok);
    t.is(engine.command(correctionOf(WIN, YES, 1)).ok, lackCents === 0);
  }
});

test('S25: a correction that could not be counted is refused, and changes nothing', (t) => {
  const engine = traded(Number.POSITIVE_INFINITY, NO);
  const [account] = ACCOUNTS as [string];
  const amountCents = engine.roomCents(account) - 500;
  t.true(engine.command({ kind: 'adjust', atMs: NOON_MS, account, amountCents }).ok);
  const before = engine.digest();
  const refused = engine.command(correctionOf(WIN, YES, 1));
  t.like(refused, { ok: false, code: 'invalid_request' });
  t.true(!refused.ok && refused.message.includes(account));
  t.deepEqual(engine.digest(), before);
  t.deepEqual(engine.conservation(), []);
});
