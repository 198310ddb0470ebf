import test from 'ava';
import { audit } from '../../../engine/audit/audit.ts';
import type { AmendOrder, Reply } from '../../../engine/rules/messages.ts';
import { PRESETS } from '../../../engine/rules/realism.ts';
import { ACCOUNT_LIMITS, KEY_LIMITS } from '../../../engine/rules/trade-limits.ts';
import { ALICE, BOB, type Scenario, scenarioTest, WIN } from '../../model/scenario.ts';
import { CATALOG, NOON_MS, placeOrder, quoteTick, uuidOf } from '../fixtures.ts';
import { createMemoryEngine, type MemoryEngine } from '../memory-engine.ts';

type Row = Record<string, unknown>;
type Changed = { code: string | null; order: Row };

const orderOf = ({ body }: { body: Row }) => body.order as Row;
const idOf = (reading: { body: Row }) => orderOf(reading).orderId as string;

function read(reply: Reply): Changed {
  if (!reply.ok) return { code: reply.code, order: {} };
  return { code: null, order: (JSON.parse(reply.body) as { order: Row }).order };
}

let changes = 0;

/** A change of an order by its owner. */
function amend({ engine, nowMs }: Scenario, orderId: string, over: Partial<AmendOrder>): Changed {
  changes++;
  return read(
    engine.command({
      kind: 'amend',
      atMs: nowMs,
      account: ALICE,
      orderId,
      idempotencyKey: `change-${changes}`,
      ...{ contracts: null, limitPriceCents: null, mayOpen: true, mayTrade: true, counting: null },
      ...over,
    }),
  );
}

scenarioTest('T205: a post-only order rests, and is refused where it would take', (t, create) => {
  const scenario = create();
  scenario.quote(WIN, 40, 43);
  t.is(scenario.limitBuy(43, 5, { postOnly: true }).code, 'would_take');
  t.is(scenario.limitBuy(57, 5, { side: 'no', postOnly: true, ticker: 'WIN' }).code, null);
  t.is(scenario.limitBuy(60, 5, { side: 'no', postOnly: true, ticker: 'WIN' }).code, 'would_take');
  const rests = scenario.limitBuy(42, 5, { postOnly: true });
  t.like(orderOf(rests), { status: 'resting', postOnly: true, filledContracts: 0 });
  const { tradeId } = scenario.buy(5).body.trade as { tradeId: string };
  const sell = { timeInForce: 'gtc', postOnly: true } as const;
  t.is(scenario.sell(tradeId, { ...sell, limitPriceCents: 40 }).code, 'would_take');
  t.is(scenario.sell(tradeId, { ...sell, limitPriceCents: 41 }).code, null);
  // It is filled as any other that rests.
  scenario.quote(WIN, 40, 42);
  t.like(scenario.order(idOf(rests)), { status: 'executed', filledContracts: 5 });
});

scenarioTest(
  'T206: a post-only order under latency is canceled where it would take',
  (t, create) => {
    const scenario = create();
    scenario.quote(WIN, 40, 43);
    const realism = { ...PRESETS.simple, latencyMs: { min: 100, max: 100 } };
    const first = scenario.limitBuy(42, 5, { postOnly: true, realism });
    const second = scenario.limitBuy(41, 5, { postOnly: true, realism });
    scenario.nowMs += 50;
    scenario.quote(WIN, 40, 42);
    scenario.nowMs += 100;
    scenario.quote(WIN, 40, 42);
    const canceled = { status: 'canceled', cancelReason: 'would_take', filledContracts: 0 };
    t.like(scenario.order(idOf(first)), canceled);
    t.like(scenario.order(idOf(second)), { status: 'resting', pendingUntil: null });
    t.like(scenario.account(), { heldDollars: 2.05 });
  },
);

scenarioTest('T91, T205: the same key without post-only is another order', (t, create) => {
  const scenario = create();
  scenario.quote(WIN, 40, 43);
  const key = { idempotencyKey: 'one' };
  t.is(scenario.limitBuy(42, 5, { ...key, postOnly: true }).code, null);
  t.is(scenario.limitBuy(42, 5, key).code, 'idempotency_key_reused');
  t.like(scenario.limitBuy(42, 5, { ...key, postOnly: true }).body, { replayed: true });
});

scenarioTest('T209, T210: fewer contracts keep id and place, and free their hold', (t, create) => {
  const scenario = create({ fillModel: 'book_depth' });
  scenario.book(WIN, [[40, 100]], [[43, 100]]);
  const first = scenario.limitBuy(41, 50);
  const second = scenario.limitBuy(41, 50);
  const changed = amend(scenario, idOf(first), { contracts: 30 });
  t.like(changed.order, { orderId: idOf(first), contracts: 30, holdDollars: 12.3 });
  t.like(scenario.account(), { heldDollars: 32.8 });
  scenario.book(WIN, [[40, 100]], [[41, 40]]);
  t.like(scenario.order(idOf(first)), { status: 'executed', contracts: 30 });
  t.like(scenario.order(idOf(second)), { status: 'resting', filledContracts: 10 });
});

scenarioTest('T210: in a queue, what is ahead of it stays', (t, create) => {
  const scenario = create({ fillModel: 'queue' });
  const on = { source: 0, market: WIN };
  scenario.book(WIN, [[40, 20]], [[43, 100]]);
  const levels = { yes: [[4000, 2000] as const], no: [[5700, 10_000] as const] };
  scenario.tick({ kind: 'levels', ...on, levels, repeats: false });
  const less = idOf(scenario.limitBuy(40, 10));
  const more = idOf(scenario.limitBuy(40, 10));
  const print = (contracts: number) => {
    const of = { side: 'yes', price: 4000, contracts, decrease: 0 } as const;
    scenario.tick({ kind: 'print', ...on, ...of });
  };
  print(1500);
  t.is(amend(scenario, less, { contracts: 4 }).code, null);
  t.is(amend(scenario, more, { contracts: 11 }).code, null);
  // Five were ahead of both; the one that grew has the whole level ahead again.
  print(700);
  t.like(scenario.order(less), { filledContracts: 2, contracts: 4 });
  t.like(scenario.order(more), { filledContracts: 0, contracts: 11 });
});

scenarioTest('T211: more contracts or another limit rest last', (t, create) => {
  for (const change of [{ contracts: 60 }, { limitPriceCents: 42 }]) {
    const scenario = create({ fillModel: 'book_depth' });
    scenario.book(WIN, [[40, 100]], [[45, 100]]);
    const first = scenario.limitBuy(41, 50);
    if ('limitPriceCents' in change) scenario.limitBuy(42, 50);
    const second = 'contracts' in change ? scenario.limitBuy(41, 50) : null;
    t.is(amend(scenario, idOf(first), change).code, null);
    scenario.book(WIN, [[40, 100]], [[41, 55]]);
    const filledContracts = 5;
    t.like(scenario.order(idOf(first)), { status: 'resting', filledContracts });
    if (second !== null) t.like(scenario.order(idOf(second)), { status: 'executed' });
  }
});

scenarioTest('T211: it takes where the new limit crosses, in part too', (t, create) => {
  const scenario = create({ fillModel: 'book_depth' });
  scenario.book(WIN, [[40, 100]], [[43, 30]]);
  const placed = scenario.limitBuy(41, 50);
  const changed = amend(scenario, idOf(placed), { limitPriceCents: 44 });
  const half = { status: 'resting', filledContracts: 30, fillPriceCents: 43, holdDollars: 8.8 };
  t.like(changed.order, half);
  t.like(scenario.account(), { heldDollars: 8.8, openStakeDollars: 12.9, openPositions: 1 });
  // The rest takes what is left, and the order ends.
  scenario.book(WIN, [[40, 100]], [[44, 100]]);
  t.like(scenario.order(idOf(placed)), { status: 'executed', limitCents: 44, fillPriceCents: 44 });
});

scenarioTest('T205, T211: a post-only order does not become one that takes', (t, create) => {
  const scenario = create();
  scenario.quote(WIN, 40, 43);
  const placed = scenario.limitBuy(41, 50, { postOnly: true });
  const before = scenario.account();
  t.is(amend(scenario, idOf(placed), { limitPriceCents: 43 }).code, 'would_take');
  t.deepEqual(scenario.account(), before);
  t.like(amend(scenario, idOf(placed), { limitPriceCents: 42 }).order, { status: 'resting' });
});

scenarioTest('T212: the contracts are more than have traded', (t, create) => {
  const scenario = create({ fillModel: 'book_depth' });
  scenario.book(WIN, [[40, 100]], [[43, 10]]);
  const placed = scenario.limitBuy(43, 50);
  t.like(orderOf(placed), { filledContracts: 10 });
  for (const contracts of [1, 10]) {
    t.is(amend(scenario, idOf(placed), { contracts }).code, 'invalid_request');
  }
  const { order } = amend(scenario, idOf(placed), { contracts: 11 });
  t.like(order, { contracts: 11, filledContracts: 10, remainingContracts: 1, holdDollars: 0.43 });
});

scenarioTest('T212: a sell covers its position, and may get another limit', (t, create) => {
  const scenario = create();
  scenario.quote(WIN, 40, 43);
  const { tradeId } = scenario.buy(5).body.trade as { tradeId: string };
  const placed = scenario.sell(tradeId, { timeInForce: 'gtc', limitPriceCents: 60 });
  t.is(amend(scenario, idOf(placed), { contracts: 4 }).code, 'invalid_request');
  t.is(amend(scenario, idOf(placed), { contracts: 6 }).code, 'invalid_request');
  const changed = amend(scenario, idOf(placed), { limitPriceCents: 40, contracts: 5 });
  t.like(changed.order, { status: 'executed', limitCents: 40, fillPriceCents: 40 });
});

scenarioTest('T213: a change that costs too much changes nothing', (t, create) => {
  const scenario = create();
  scenario.quote(WIN, 40, 43);
  const placed = scenario.limitBuy(40, 200_000);
  const before = [scenario.account(), scenario.order(idOf(placed))];
  const over = amend(scenario, idOf(placed), { contracts: 250_001 });
  t.is(over.code, 'insufficient_balance');
  t.deepEqual([scenario.account(), scenario.order(idOf(placed))], before);
  t.is(amend(scenario, idOf(placed), { contracts: 250_000 }).code, null);
  t.like(scenario.account(), { balanceDollars: 0, heldDollars: 100_000 });
  // At a lower limit, what is held pays for more.
  t.is(amend(scenario, idOf(placed), { contracts: 500_000, limitPriceCents: 20 }).code, null);
  t.like(scenario.account(), { balanceDollars: 0, heldDollars: 100_000 });
  const aCentMore = { contracts: 10_000_001, limitPriceCents: 1 };
  t.is(amend(scenario, idOf(placed), aCentMore).code, 'insufficient_balance');
});

scenarioTest('T214: a repeated key changes nothing more', (t, create) => {
  const scenario = create();
  scenario.quote(WIN, 40, 43);
  const placed = scenario.limitBuy(40, 10, { idempotencyKey: 'placed' });
  const other = scenario.limitBuy(40, 10);
  const change = { idempotencyKey: 'once', contracts: 5 };
  t.is(amend(scenario, idOf(placed), change).code, null);
  t.is(amend(scenario, idOf(placed), { contracts: 3 }).code, null);
  t.like(amend(scenario, idOf(placed), change), { code: null, order: { contracts: 3 } });
  const reused = 'idempotency_key_reused';
  t.is(amend(scenario, idOf(placed), { ...change, contracts: 4 }).code, reused);
  t.is(amend(scenario, idOf(placed), { ...change, limitPriceCents: 40 }).code, reused);
  t.is(amend(scenario, idOf(other), change).code, reused);
  t.is(amend(scenario, idOf(placed), { idempotencyKey: 'placed', contracts: 2 }).code, reused);
  t.is(scenario.limitBuy(40, 10, { idempotencyKey: 'once' }).code, reused);
  // The placement is compared with what was placed, and answered with what it is now.
  const again = scenario.limitBuy(40, 10, { idempotencyKey: 'placed' });
  t.like(again.body, { replayed: true, order: { contracts: 3 } });
  t.is(scenario.cancel(idOf(placed)).code, null);
  t.like(amend(scenario, idOf(placed), change).order, { status: 'canceled', contracts: 3 });
});

scenarioTest('T215: who may change what', (t, create) => {
  const scenario = create();
  scenario.quote(WIN, 40, 43);
  const placed = idOf(scenario.limitBuy(40, 10));
  t.is(amend(scenario, placed, { account: BOB, contracts: 5 }).code, 'order_not_found');
  t.is(amend(scenario, uuidOf(77), { contracts: 5 }).code, 'order_not_found');
  const off = { mayTrade: false };
  t.is(amend(scenario, placed, { ...off, limitPriceCents: 39 }).code, 'trading_off');
  t.is(amend(scenario, placed, { ...off, contracts: 9 }).code, null);
  const visitor = { mayOpen: false };
  t.is(amend(scenario, placed, { ...visitor, contracts: 10 }).code, 'membership_required');
  t.is(amend(scenario, placed, { ...visitor, contracts: 8 }).code, null);
  scenario.tick({ kind: 'status', source: 0, market: WIN, status: 'paused' });
  t.is(amend(scenario, placed, { limitPriceCents: 41 }).code, 'market_not_open');
  t.is(amend(scenario, placed, { contracts: 7 }).code, null);
  scenario.cancel(placed);
  t.is(amend(scenario, placed, { contracts: 5 }).code, 'already_closed');
});

scenarioTest('T160, T211: under latency it meets the book again, later', (t, create) => {
  const scenario = create();
  scenario.quote(WIN, 40, 43);
  const realism = { ...PRESETS.simple, latencyMs: { min: 100, max: 100 } };
  const placed = idOf(scenario.limitBuy(41, 5, { realism }));
  scenario.nowMs += 150;
  scenario.quote(WIN, 40, 43);
  t.like(scenario.order(placed), { pendingUntil: null });
  const changed = amend(scenario, placed, { limitPriceCents: 43 });
  t.is(changed.order.pendingUntil, new Date(scenario.nowMs + 100).toISOString());
  // It is on no book until then.
  scenario.quote(WIN, 40, 41);
  t.like(scenario.order(placed), { status: 'resting' });
  // Fewer contracts count at once.
  t.like(amend(scenario, placed, { contracts: 4 }).order, { contracts: 4 });
  scenario.nowMs += 101;
  scenario.quote(WIN, 40, 42);
  t.like(scenario.order(placed), { status: 'executed', fillPriceCents: 41, contracts: 4 });
  // After its cancel was accepted nothing changes it.
  const other = idOf(scenario.limitBuy(30, 5, { realism }));
  scenario.cancel(other);
  t.is(amend(scenario, other, { contracts: 4 }).code, 'already_closed');
});

scenarioTest('T212: what rests at no limit of its own is not changed', (t, create) => {
  const scenario = create();
  scenario.quote(WIN, 40, 43);
  const realism = { ...PRESETS.simple, latencyMs: { min: 100, max: 100 } };
  const market = idOf(scenario.buy(5, { realism }));
  const ioc = idOf(scenario.limitBuy(43, 5, { realism, timeInForce: 'ioc' }));
  for (const id of [market, ioc]) {
    t.is(amend(scenario, id, { contracts: 4 }).code, 'invalid_request');
    t.is(amend(scenario, id, { limitPriceCents: 4 }).code, 'invalid_request');
  }
});

test('L3, L13: a refused change tells the limits that it counts towards', (t) => {
  const { engine, orderId } = changedEngine();
  const { account } = placeOrder();
  const limits = { keyLimits: KEY_LIMITS, accountLimits: ACCOUNT_LIMITS };
  const counting = { keyId: uuidOf(900), ...limits, elsewhere: null };
  const change = { kind: 'amend', atMs: NOON_MS, account, orderId, counting } as const;
  const send = (over: Partial<AmendOrder>, idempotencyKey: string) => {
    const fields = { contracts: null, limitPriceCents: null, mayOpen: true, mayTrade: true };
    return engine.command({ ...change, ...fields, ...over, idempotencyKey });
  };
  const off = { limitPriceCents: 39, mayTrade: false };
  t.like(send(off, 'off'), { code: 'trading_off', limits: { closing: false, keyLeftInDay: 50 } });
  t.like(send({ contracts: 20 }, 'less'), { limits: { closing: true, keyLeftInMinute: 19 } });
  for (let sent = 0; sent < 10; sent++) send({ limitPriceCents: 30 + sent }, `price-${sent}`);
  const over = send({ limitPriceCents: 29 }, 'too-many');
  t.like(over, { code: 'rate_limited', limits: { closing: false, keyLeftInMinute: 0 } });
});

/** An engine whose order was changed twice, by which it has filled in part. */
function changedEngine(): { engine: MemoryEngine; orderId: string } {
  const engine = createMemoryEngine({
    ...{ quoteMaxAgeMs: 15_000, routingBandCents: 10, fillModel: 'book_depth' },
  });
  engine.command({ kind: 'catalog', atMs: NOON_MS, catalog: CATALOG });
  engine.tick({ ...quoteTick({ market: 0 }), yesBidCents: 40, yesAskCents: 43 });
  const limit = { timeInForce: 'gtc', limitPriceCents: 41 } as const;
  const order = placeOrder({ ...limit, contracts: 50, instrumentId: 'ins_4K7Q0R2M9XTB' });
  const placed = engine.command({ ...order, instrumentId: CATALOG.instruments[0]!.id });
  if (!placed.ok) throw new Error(placed.message);
  const { account, orderId } = order;
  for (const [number, contracts] of [40, 30].entries()) {
    engine.command({
      ...{ kind: 'amend', atMs: NOON_MS, account, orderId, contracts, limitPriceCents: null },
      ...{ idempotencyKey: `change-${number}`, mayOpen: true, mayTrade: true, counting: null },
    });
  }
  return { engine, orderId };
}

test('T209, D3: a restart finds the order as it was changed last, and its end says so', (t) => {
  const { engine, orderId } = changedEngine();
  const { account } = placeOrder();
  const of = { atMs: NOON_MS, account, orderId, counting: null };
  for (const at of ['log', 'checkpoint'] as const) {
    if (at === 'checkpoint') engine.checkpoint();
    engine.crash();
    const query = {
      kind: 'order',
      atMs: NOON_MS,
      account,
      orderId,
      organizationSlug: null,
    } as const;
    t.like(read(engine.query(query)).order, { orderId, contracts: 30, status: 'resting' });
    t.deepEqual(audit(engine.state()).problems, []);
  }
  const canceled = read(engine.command({ kind: 'cancel', ...of }));
  t.like(canceled.order, { contracts: 30, status: 'canceled' });
  const list = { kind: 'orders', atMs: NOON_MS, account, status: null, limit: 5 } as const;
  const found = engine.query({ ...list, before: null, organizationSlug: null });
  t.true(found.ok && found.body.includes('"contracts":30'));
});
