import test from 'ava';
import { FILL_MODELS, type Uuid } from '../../../engine/base/units.ts';
import { ByteReader } from '../../../engine/format/bytes.ts';
import type { Message } from '../../../engine/format/codec.ts';
import { readFact } from '../../../engine/format/fact-layouts.ts';
import type { Fact } from '../../../engine/rules/facts.ts';
import { showsHalfSettled } from '../../../engine/rules/settle-before-answer.ts';
import { isCommand, isTick } from '../../../engine/shard/core/message-kinds.ts';
import { createNaiveEngine } from '../../model/naive-engine.ts';
import { createRandomInput } from '../../model/random-input.ts';
import { AWAY, catalog, OVER, TOTAL, WIN } from '../../model/scenario.ts';
import { seedsOfRun } from '../../model/seeds.ts';
import { messageOf } from '../../simulation/answers.ts';
import { NOON_MS, placeOrder, quoteTick, uuidOf } from '../fixtures.ts';
import { createMemoryEngine, type MemoryEngine } from '../memory-engine.ts';

const BOUNDS = { quoteMaxAgeMs: 15_000, routingBandCents: 10 };
const STEPS = 1200;

/** Of every account its facts in their order, without their places in the log. */
function factsOf(engine: MemoryEngine): Map<Uuid, object[]> {
  const facts = new Map<Uuid, object[]>();
  for (const { payload } of engine.records()) {
    const from = new ByteReader(payload);
    while (!from.isAtEnd) {
      const fact = readFact(from);
      if (!('account' in fact)) continue;
      const { placed: _, ...same } = { placed: null, ...fact };
      facts.set(fact.account, [...(facts.get(fact.account) ?? []), same]);
    }
  }
  return facts;
}

let timesLeft = 0;

for (const seed of seedsOfRun(40)) {
  test(`S15: each account has the same facts in the same order, in slices or not, ${seed}`, (t) => {
    const config = { ...BOUNDS, fillModel: FILL_MODELS[seed % FILL_MODELS.length]! };
    const naive = createNaiveEngine(config);
    const whole = createMemoryEngine(config);
    const sliced = createMemoryEngine(config, 1 + (seed % 3));
    const input = createRandomInput({ seed, quoteMaxAgeMs: config.quoteMaxAgeMs }, naive);
    for (let step = 0; step < STEPS; step++) {
      const message: Message = messageOf(input.next());
      for (const engine of [naive, whole, sliced]) {
        if (isCommand(message)) engine.command(message as never);
        else if (isTick(message)) engine.tick(message as never);
      }
      if (sliced.state().positions.live > whole.state().positions.live) timesLeft++;
      if (step % 5 === 0) sliced.settleSlice();
      if (step % 301 === 0) sliced.crash();
    }
    sliced.query({ kind: 'digest', atMs: 0, quotes: false });
    t.deepEqual(factsOf(sliced), factsOf(whole));
    t.deepEqual(sliced.digest(), whole.digest());
    t.deepEqual(sliced.conservation(), []);
  });
}

test.after('S15: something of a settlement was left between messages', (t) => {
  t.true(timesLeft > 0, `${timesLeft} times`);
});

const YES = { outcome: 'yes', yesPayoutCents: 100, noPayoutCents: 0 } as const;
const resultOf = (market: number) =>
  ({ kind: 'result', atMs: NOON_MS, source: 0, market, ...YES }) as const;

/** An engine with prices that settles so much with a result. */
function quoted(settledAtOnce?: number): MemoryEngine {
  const engine = createMemoryEngine({ ...BOUNDS, fillModel: 'top_of_book' }, settledAtOnce);
  engine.command({ kind: 'catalog', atMs: NOON_MS, catalog: catalog() });
  engine.tick(quoteTick());
  engine.tick(quoteTick({ market: TOTAL }));
  return engine;
}

test('S15: with a result no more ends than fits, orders first, and the rest with the next slice', (t) => {
  const engine = quoted(3);
  for (let at = 0; at < 2; at++) {
    for (const limitPriceCents of [20, null]) {
      t.true(engine.command(placeOrder({ instrumentId: AWAY, limitPriceCents })).ok);
    }
  }
  const left = () => [engine.state().orders.live, engine.state().positions.live];
  engine.tick(resultOf(WIN));
  t.deepEqual(left(), [0, 1]);
  engine.settleSlice();
  t.deepEqual(left(), [0, 0]);
});

test('S15: an answer would show half of an account as long as something of it is left', (t) => {
  const engine = quoted(1);
  const shows = (number: number) => {
    const query = { kind: 'account', atMs: NOON_MS, account: uuidOf(number) } as const;
    return showsHalfSettled(engine.state(), query);
  };
  const both = () => [1, 2].map(shows);
  for (const number of [1, 2]) {
    t.true(engine.command(placeOrder({ instrumentId: AWAY, account: uuidOf(number) })).ok);
  }
  t.deepEqual(both(), [false, false]);
  engine.tick(resultOf(WIN));
  t.is(engine.state().positions.live, 1);
  t.deepEqual(both().toSorted(), [false, true]);
  engine.settleSlice();
  t.deepEqual(both(), [false, false]);
});

const LATER_MS = NOON_MS + 1000;
const dropped = {
  ...catalog(),
  instruments: catalog().instruments.filter(({ id }) => id !== OVER),
};

for (const [ends, end] of Object.entries({
  fills: (engine) => {
    engine.tick(quoteTick({ atMs: LATER_MS, market: TOTAL, yesBidCents: 85, yesAskCents: 88 }));
  },
  expires: (engine) => engine.tick({ kind: 'time', atMs: LATER_MS + 1 }),
  'is dropped': (engine) => {
    engine.command({ kind: 'catalog', atMs: NOON_MS, catalog: dropped });
  },
} satisfies Record<string, (engine: MemoryEngine) => void>)) {
  test(`S15: what an account has left settles before one of its orders ${ends}`, (t) => {
    const engine = quoted(0);
    engine.command(placeOrder({ instrumentId: AWAY }));
    const rests = { instrumentId: OVER, limitPriceCents: 20, expiresAtMs: LATER_MS + 1 };
    engine.command(placeOrder(rests));
    engine.tick(resultOf(WIN));
    end(engine);
    const kinds = [...factsOf(engine).values()].flat().map((fact) => (fact as Fact).kind);
    const last = ends === 'fills' ? ['order_filled', 'trade_opened'] : ['order_ended'];
    t.deepEqual(kinds.slice(-1 - last.length), ['trade_settled', ...last]);
  });
}

test('S15: who is asked about has its orders canceled in the order of all', (t) => {
  const placed = [20, 41, 30, 41].flatMap((limitPriceCents, at) => {
    const routing = at % 2 === 0 ? ('venue_a' as const) : ('best' as const);
    return (['yes', 'no'] as const).map((side) => {
      return placeOrder({ instrumentId: AWAY, limitPriceCents, side, routing });
    });
  });
  const facts = [undefined, 0].map((settledAtOnce) => {
    const engine = quoted(settledAtOnce);
    for (const order of placed) t.true(engine.command(order).ok);
    engine.tick(resultOf(WIN));
    const { account } = placed[0]!;
    engine.query({ kind: 'portfolio', atMs: NOON_MS, account, organizationSlug: null });
    return factsOf(engine);
  });
  t.deepEqual(facts[1], facts[0]);
});

test('S15: an account that is settled has something left again after another result', (t) => {
  const engine = quoted(0);
  const order = placeOrder({ instrumentId: AWAY });
  const other = placeOrder({ instrumentId: OVER });
  for (const each of [order, other]) t.true(engine.command(each).ok);
  const open = (market: number) => {
    engine.tick(resultOf(market));
    const asked = { atMs: NOON_MS, account: order.account, organizationSlug: null };
    const reply = engine.query({ kind: 'portfolio', ...asked });
    return JSON.parse(reply.ok ? reply.body : '{}').positionsCount;
  };
  t.deepEqual([open(WIN), open(TOTAL)], [1, 0]);
});

for (const [asks, ask] of Object.entries({
  'a look': (engine, account) => engine.query({ kind: 'settled', atMs: NOON_MS, account }),
  'a preview': (engine) =>
    engine.query({ kind: 'preview', atMs: NOON_MS, order: placeOrder({ instrumentId: OVER }) }),
  'a mark of its trade by the id alone': (engine) => {
    const state = engine.state();
    const [position] = state.positions.rows();
    const trade = state.positionIds.idOf(position!);
    const marks = { account: null, parlay: null, combine: true };
    return engine.command({ kind: 'mark', atMs: NOON_MS, trade, ...marks });
  },
  'a start without its connection': (engine) =>
    engine.command({ kind: 'connected', atMs: NOON_MS, connections: [] }),
  'a digest': (engine) => engine.query({ kind: 'digest', atMs: NOON_MS, quotes: false }),
  'time that goes back': (engine) =>
    engine.command({ kind: 'clock', atMs: NOON_MS, toMs: NOON_MS - 1000 }),
} satisfies Record<string, (engine: MemoryEngine, account: Uuid) => void>)) {
  test(`S15: what an account has left settles before ${asks}`, (t) => {
    const engine = quoted(0);
    const order = placeOrder({ instrumentId: AWAY });
    t.true(engine.command(order).ok);
    const tied = { instrumentId: OVER, limitPriceCents: 20, connection: 7 };
    t.true(engine.command(placeOrder(tied)).ok);
    engine.tick(resultOf(WIN));
    t.is(engine.state().positions.live, 1);
    ask(engine, order.account);
    t.is(engine.state().positions.live, 0);
    const kinds = [...factsOf(engine).values()].flat().map((fact) => (fact as Fact).kind);
    const after = kinds.slice(kinds.indexOf('trade_settled') + 1);
    t.deepEqual(after, asks === 'a start without its connection' ? ['order_ended'] : []);
  });
}
