import test from 'ava';
import type { Connected, Disconnected } from '../../../engine/rules/messages.ts';
import { ACCOUNT_LIMITS, KEY_LIMITS } from '../../../engine/rules/trade-limits.ts';
import { ALICE, AWAY, BOB, type Scenario, scenarioTest, WIN } from '../../model/scenario.ts';
import { CATALOG, NOON_MS, placeOrder, uuidOf } from '../fixtures.ts';
import { createMemoryEngine } from '../memory-engine.ts';

const CONNECTION = 1_763_726_400_007;
const OTHER = CONNECTION + 1;

function end(scenario: Scenario, said: Partial<Disconnected> = {}) {
  const { engine, nowMs } = scenario;
  const about = { account: ALICE, connection: CONNECTION, ...said };
  return endingsOf(scenario, () => {
    return engine.command({ kind: 'disconnected', atMs: nowMs, ...about });
  });
}

function keep(scenario: Scenario, connections: Connected['connections']) {
  const { engine, nowMs } = scenario;
  return endingsOf(scenario, () => engine.command({ kind: 'connected', atMs: nowMs, connections }));
}

/** The orders that it ends, in their order. */
function endingsOf({ engine }: Scenario, say: () => unknown): string[] {
  const before = engine.endings().length;
  say();
  const ended = engine.endings().slice(before);
  for (const { status, reason } of ended) {
    if (status !== 'canceled' || reason !== 'disconnected') throw new Error(`${status} ${reason}`);
  }
  return ended.map(({ orderId }) => orderId);
}

const idOf = ({ body }: { body: Record<string, unknown> }) =>
  (body.order as { orderId: string }).orderId;

scenarioTest(
  'T134: what rests of a connection ends with it, the first placed first',
  (t, create) => {
    const scenario = create();
    scenario.quote(WIN, 40, 43);
    const mine = { connection: CONNECTION };
    // By price, the second would come first.
    const first = idOf(scenario.limitBuy(10, 5, mine));
    const second = idOf(scenario.limitBuy(30, 5, { ...mine, instrumentId: AWAY }));
    const filled = idOf(scenario.limitBuy(42, 5, mine));
    const canceled = idOf(scenario.limitBuy(11, 5, mine));
    const rests = [
      idOf(scenario.limitBuy(20, 5)),
      idOf(scenario.limitBuy(20, 5, { connection: OTHER })),
    ];
    const bobs = idOf(scenario.limitBuy(10, 5, { ...mine, account: BOB }));
    const bought = scenario.buy(1, mine).body.trade as { tradeId: string };
    const sell = scenario.sell(bought.tradeId, {
      ...{ timeInForce: 'gtc', limitPriceCents: 90 },
      ...mine,
    });
    scenario.cancel(canceled);
    scenario.quote(WIN, 40, 42);
    t.like(scenario.order(filled), { status: 'executed' });
    t.deepEqual(end(scenario), [first, second, idOf(sell)]);
    t.like(scenario.order(first), { status: 'canceled', cancelReason: 'disconnected' });
    for (const id of rests) t.like(scenario.order(id), { status: 'resting' });
    t.like(scenario.account(), { restingOrders: 2, heldDollars: 2, openPositions: 2 });
    t.like(scenario.account(BOB), { restingOrders: 1 });
    t.deepEqual(end(scenario), [], 'said again it ends nothing more');
    t.deepEqual(end(scenario, { account: BOB }), [bobs]);
    t.deepEqual(end(scenario, { account: uuidOf(77) }), [], 'an account that is not known');
  },
);

scenarioTest('T134: of an order that a part of was filled the rest ends', (t, create) => {
  const scenario = create({ fillModel: 'book_depth' });
  scenario.book(WIN, [[40, 100]], [[43, 30]]);
  const id = idOf(scenario.limitBuy(43, 100, { connection: CONNECTION }));
  t.deepEqual(end(scenario), [id]);
  t.like(scenario.order(id), { status: 'canceled', filledContracts: 30, holdDollars: 0 });
  t.like(scenario.account(), { openPositions: 1, heldDollars: 0 });
});

scenarioTest('T134: it counts as no cancel, and T92 does not compare it', (t, create) => {
  const scenario = create();
  scenario.quote(WIN, 40, 43);
  const counting = {
    keyId: BOB,
    keyLimits: { ...KEY_LIMITS, closingPerMinute: 1 },
    accountLimits: ACCOUNT_LIMITS,
    elsewhere: null,
  };
  const order = { idempotencyKey: 'mine', counting };
  scenario.limitBuy(10, 5, { ...order, connection: CONNECTION });
  t.is(end(scenario).length, 1);
  const again = scenario.limitBuy(10, 5, { ...order, connection: OTHER });
  t.like(again.body, { replayed: true, status: 'canceled' });
  const id = idOf(scenario.limitBuy(10, 5, { connection: null }));
  const { nowMs: atMs, engine } = scenario;
  t.true(engine.command({ kind: 'cancel', atMs, account: ALICE, orderId: id, counting }).ok);
});

scenarioTest('T135: orders of open connections rest on, and all others end', (t, create) => {
  const scenario = create();
  scenario.quote(WIN, 40, 43);
  const rests = [
    idOf(scenario.limitBuy(10, 5, { connection: CONNECTION })),
    idOf(scenario.limitBuy(10, 5)),
  ];
  const ends = [
    idOf(scenario.limitBuy(10, 5, { connection: OTHER, account: BOB })),
    idOf(scenario.limitBuy(30, 5, { connection: OTHER + 1 })),
  ];
  t.deepEqual(keep(scenario, [CONNECTION]), ends);
  for (const id of rests) t.like(scenario.order(id), { status: 'resting' });
  t.deepEqual(keep(scenario, []), [rests[0]!]);
});

test('T134, T135: a crash forgets no connection, and the orders of one end in one record', (t) => {
  const engine = createMemoryEngine({ quoteMaxAgeMs: 15_000, routingBandCents: 10 });
  engine.command({ kind: 'catalog', atMs: NOON_MS, catalog: CATALOG });
  for (let n = 0; n < 3000; n++) {
    const limit = { limitPriceCents: 1, timeInForce: 'gtc', contracts: 1 } as const;
    const connection = n < 2500 ? CONNECTION : OTHER;
    t.true(engine.command(placeOrder({ ...limit, connection })).ok);
    if (n === 1000) engine.checkpoint();
  }
  engine.crash();
  const records = engine.records().length;
  const about = { atMs: NOON_MS, account: uuidOf(1), connection: CONNECTION };
  engine.command({ kind: 'disconnected', ...about });
  t.is(engine.endings().filter(({ reason }) => reason === 'disconnected').length, 2500);
  t.is(engine.records().length, records + 1, 'one record of the log');
  engine.crash();
  engine.command({ kind: 'connected', atMs: NOON_MS, connections: [CONNECTION] });
  t.is(engine.endings().filter(({ reason }) => reason === 'disconnected').length, 3000);
  t.deepEqual(engine.conservation(), []);
});
