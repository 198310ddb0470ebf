/** Operators' marks of trades, and what the log says of privacy. */
import test from 'ava';
import { ByteReader } from '../../../engine/format/bytes.ts';
import { readFact } from '../../../engine/format/fact-layouts.ts';
import type { Fact } from '../../../engine/rules/facts.ts';
import {
  ALICE,
  BOB,
  catalog,
  HOME,
  type Scenario,
  scenarioTest,
  WIN,
} from '../../model/scenario.ts';
import { placeOrder, quoteTick, uuidOf } from '../fixtures.ts';
import { createMemoryEngine, type MemoryEngine } from '../memory-engine.ts';

const PARLAY = uuidOf(77);

type Mark = { trade: string; account?: string | null; parlay?: string | null; combine?: boolean };

function mark(scenario: Scenario, { trade, account = null, parlay = null, combine = false }: Mark) {
  const { nowMs: atMs } = scenario;
  const command = { kind: 'mark', atMs, trade, account, parlay, combine } as const;
  const reply = scenario.engine.command(command);
  return reply.ok ? JSON.parse(reply.body) : reply.code;
}

function parlayIds(scenario: Scenario): unknown[] {
  const list = { account: ALICE, organizationSlug: null, status: null, limit: 10, before: null };
  const { body } = scenario.ask({ kind: 'trades', ...list });
  return (body.trades as { parlayId: unknown }[]).map(({ parlayId }) => parlayId);
}

scenarioTest('T141: a mark adds to the marks of the trade, open or closed', (t, createScenario) => {
  const scenario = createScenario();
  scenario.quote(WIN, 41, 43);
  const { tradeId: trade } = scenario.buy(10).body.trade as { tradeId: string };
  t.deepEqual(parlayIds(scenario), [null]);
  t.deepEqual(mark(scenario, { trade, combine: true }), { parlay: null, combine: true });
  t.deepEqual(mark(scenario, { trade, parlay: PARLAY }), { parlay: PARLAY, combine: true });
  t.deepEqual(parlayIds(scenario), [PARLAY]);
  scenario.sell(trade);
  t.deepEqual(parlayIds(scenario), [PARLAY]);
  t.is(mark(scenario, { trade, combine: true }), 'trade_not_found', 'whose it was must be said');
  t.is(mark(scenario, { trade, account: BOB, combine: true }), 'trade_not_found');
  const other = uuidOf(78);
  t.deepEqual(mark(scenario, { trade, account: ALICE, parlay: other }), {
    parlay: other,
    combine: true,
  });
  t.deepEqual(parlayIds(scenario), [other]);
  t.is(mark(scenario, { trade: uuidOf(5), account: ALICE, combine: true }), 'trade_not_found');
});

function factsOf(engine: MemoryEngine): Fact[] {
  return engine.records().flatMap(({ payload }) => {
    const from = new ByteReader(payload);
    const facts: Fact[] = [];
    while (!from.isAtEnd) facts.push(readFact(from));
    return facts;
  });
}

function tradingEngine(): MemoryEngine {
  const engine = createMemoryEngine({ quoteMaxAgeMs: 15_000, routingBandCents: 10 });
  engine.command({ kind: 'catalog', atMs: 1000, catalog: catalog() });
  engine.tick(quoteTick({ atMs: 1000, market: WIN }));
  return engine;
}

test('T141: the same mark again is no fact, and a closed trade says its parlay', (t) => {
  const engine = tradingEngine();
  const order = placeOrder({ atMs: 1000, instrumentId: HOME, account: ALICE });
  const reply = engine.command(order);
  const { tradeId: trade } = JSON.parse((reply as { body: string }).body).trade;
  const command = { kind: 'mark', atMs: 1000, trade, account: null, parlay: PARLAY } as const;
  engine.command({ ...command, combine: false });
  engine.command({ ...command, combine: false });
  engine.crash();
  const payouts = { yesPayoutCents: 100, noPayoutCents: 0 };
  engine.tick({ kind: 'result', atMs: 1000, source: 0, market: WIN, outcome: 'yes', ...payouts });
  const facts = factsOf(engine);
  t.is(facts.filter(({ kind }) => kind === 'trade_marked').length, 1);
  t.like(facts.at(-1), { kind: 'trade_settled', parlay: PARLAY });
});

test('M36: an account is private until a fact says otherwise, at its opening at the earliest', (t) => {
  const engine = tradingEngine();
  const set = (isPrivate: boolean) =>
    engine.command({ kind: 'set_privacy', atMs: 1000, account: ALICE, private: isPrivate });
  const place = (number: number, placedPrivate: boolean) => {
    const ids = { orderId: uuidOf(number), idempotencyKey: `key-${number}` };
    const who = { account: ALICE, placedPrivate, instrumentId: HOME };
    engine.command(placeOrder({ atMs: 1000, ...ids, ...who }));
  };
  const said = () =>
    factsOf(engine).flatMap((fact) =>
      fact.kind === 'privacy_changed' || fact.kind === 'account_opened'
        ? [fact.kind === 'account_opened' ? 'opened' : fact.private]
        : [],
    );
  set(false);
  t.deepEqual(said(), [], 'there is no account yet');
  place(101, false);
  t.deepEqual(said(), ['opened', false]);
  set(false);
  place(102, false);
  t.deepEqual(said(), ['opened', false], 'what is known is not said again');
  set(true);
  engine.crash();
  set(true);
  t.deepEqual(said(), ['opened', false, true]);
  place(103, false);
  t.deepEqual(said(), ['opened', false, true, false], 'an order says what a change did not');
});
