import test from 'ava';
import { audit } from '../../../engine/audit/audit.ts';
import type { ChangeOrderGroup, MakeOrderGroup, Reply } from '../../../engine/rules/messages.ts';
import { ORDER_GROUPS_MAX } from '../../../engine/rules/order-groups.ts';
import { PRESETS } from '../../../engine/rules/realism.ts';
import { ALICE, BOB, type Scenario, scenarioTest, WIN } from '../../model/scenario.ts';
import { AWAY, CATALOG, NOON_MS, placeOrder, quoteTick, uuidOf } from '../fixtures.ts';
import { createMemoryEngine } from '../memory-engine.ts';

type Row = Record<string, unknown>;
type Read = { code: string | null; body: Row };

const orderOf = ({ body }: { body: Row }) => body.order as Row;
const idOf = (reading: { body: Row }) => orderOf(reading).orderId as string;

function read(reply: Reply): Read {
  if (!reply.ok) return { code: reply.code, body: {} };
  return { code: null, body: JSON.parse(reply.body) as Row };
}

let groups = 0;

/** A group of 10 contracts in 15 seconds, by default. */
function makeGroup({ engine, nowMs }: Scenario, over: Partial<MakeOrderGroup> = {}): Read {
  const group = uuidOf(5000 + groups++, nowMs);
  const of = { account: ALICE, group, contractsLimit: 10, windowSeconds: 15, counting: null };
  const latches = false;
  return read(engine.command({ kind: 'make_order_group', atMs: nowMs, ...of, latches, ...over }));
}

const groupIdOf = ({ body }: Read) => (body.orderGroup as { orderGroupId: string }).orderGroupId;

function remove({ engine, nowMs }: Scenario, group: string, account = ALICE): Read {
  const of = { atMs: nowMs, account, group, counting: null };
  return read(engine.command({ kind: 'remove_order_group', ...of }));
}

const listed = (scenario: Scenario, account = ALICE) =>
  scenario.ask({ kind: 'order_groups', account }).body.orderGroups as Row[];

const CANCELED = { status: 'canceled', cancelReason: 'order_group_limit' };

scenarioTest('T217, T220: once its orders have traded the limit, the others end', (t, create) => {
  const scenario = create();
  scenario.quote(WIN, 40, 43);
  const orderGroupId = groupIdOf(makeGroup(scenario));
  const best = scenario.limitBuy(42, 4, { orderGroupId });
  const second = scenario.limitBuy(41, 6, { orderGroupId });
  const third = scenario.limitBuy(40, 6, { orderGroupId });
  const free = scenario.limitBuy(40, 6);
  scenario.quote(WIN, 40, 42);
  t.like(scenario.order(idOf(best)), { status: 'executed', orderGroupId });
  t.like(listed(scenario)[0]!, { tradedContracts: 4, isReached: false });
  // One quote reaches all: the second fill is the last.
  scenario.quote(WIN, 39, 40);
  t.like(scenario.order(idOf(second)), { status: 'executed' });
  t.like(scenario.order(idOf(third)), { ...CANCELED, filledContracts: 0, holdDollars: 0 });
  t.like(scenario.order(idOf(free)), { status: 'executed' });
  t.like(listed(scenario)[0]!, { tradedContracts: 10, isReached: true });
  t.like(scenario.account(), { heldDollars: 0, restingOrders: 0 });
});

scenarioTest('T220: in a queue, one print does not fill beyond the limit', (t, create) => {
  const scenario = create({ fillModel: 'queue' });
  const on = { source: 0, market: WIN };
  scenario.book(WIN, [[40, 20]], [[43, 100]]);
  const levels = { yes: [[4000, 0] as const], no: [[5700, 10_000] as const] };
  scenario.tick({ kind: 'levels', ...on, levels, repeats: false });
  const orderGroupId = groupIdOf(makeGroup(scenario));
  const orders = [5, 5, 5].map((count) => idOf(scenario.limitBuy(40, count, { orderGroupId })));
  const print = { side: 'yes', price: 3900, contracts: 5000, decrease: 0 } as const;
  scenario.tick({ kind: 'print', ...on, ...print });
  t.like(scenario.order(orders[1]!), { status: 'executed' });
  t.like(scenario.order(orders[2]!), { ...CANCELED, filledContracts: 0 });
});

scenarioTest('T220: the rest of the order that reaches it ends too', (t, create) => {
  const scenario = create({ fillModel: 'book_depth' });
  scenario.book(WIN, [[40, 100]], [[43, 12]]);
  const orderGroupId = groupIdOf(makeGroup(scenario));
  const waiting = scenario.limitBuy(41, 6, { orderGroupId });
  const placed = scenario.limitBuy(43, 20, { orderGroupId, idempotencyKey: 'takes' });
  t.like(orderOf(placed), { ...CANCELED, filledContracts: 12, holdDollars: 0 });
  t.like(placed.body, { status: 'canceled', fillPriceCents: 43 });
  t.like(scenario.order(idOf(waiting)), CANCELED);
  const again = scenario.limitBuy(43, 20, { orderGroupId, idempotencyKey: 'takes' });
  t.like(again.body, { replayed: true, status: 'canceled' });
});

scenarioTest('T221: new orders are refused until fills have left the window', (t, create) => {
  const scenario = create();
  scenario.quote(WIN, 40, 43);
  const orderGroupId = groupIdOf(makeGroup(scenario));
  t.is(scenario.buy(6, { orderGroupId }).code, null);
  scenario.nowMs += 10_000;
  scenario.quote(WIN, 40, 43);
  t.is(scenario.buy(4, { orderGroupId }).code, null);
  t.is(scenario.buy(1, { orderGroupId }).code, 'order_group_limit');
  t.is(scenario.limitBuy(20, 1, { orderGroupId }).code, 'order_group_limit');
  t.is(scenario.buy(1).code, null);
  scenario.nowMs += 4999;
  t.is(scenario.limitBuy(20, 1, { orderGroupId }).code, 'order_group_limit');
  scenario.nowMs += 1;
  t.is(scenario.limitBuy(20, 1, { orderGroupId }).code, null);
  t.like(listed(scenario)[0]!, { tradedContracts: 4, isReached: false });
});

scenarioTest('T218: a group is of one account', (t, create) => {
  const scenario = create();
  scenario.quote(WIN, 40, 43);
  const orderGroupId = groupIdOf(makeGroup(scenario));
  const unknown = 'order_group_not_found';
  t.is(scenario.buy(1, { account: BOB, orderGroupId }).code, unknown);
  t.is(scenario.buy(1, { orderGroupId: uuidOf(4) }).code, unknown);
  t.is(remove(scenario, orderGroupId, BOB).code, unknown);
  t.deepEqual(listed(scenario, BOB), []);
});

scenarioTest('T219: an account holds a bounded number of groups', (t, create) => {
  const scenario = create();
  const made = Array.from({ length: ORDER_GROUPS_MAX }, () => makeGroup(scenario));
  t.deepEqual(new Set(made.map(({ code }) => code)), new Set([null]));
  t.is(makeGroup(scenario).code, 'order_groups_full');
  t.is(makeGroup(scenario, { account: BOB }).code, null);
  t.is(remove(scenario, groupIdOf(made[3]!)).code, null);
  t.is(makeGroup(scenario).code, null);
  t.is(listed(scenario).length, ORDER_GROUPS_MAX);
});

scenarioTest('T222: a removed group cancels its orders', (t, create) => {
  const scenario = create();
  scenario.quote(WIN, 40, 43);
  const orderGroupId = groupIdOf(makeGroup(scenario));
  const first = idOf(scenario.limitBuy(30, 1, { orderGroupId }));
  const free = idOf(scenario.limitBuy(30, 1));
  const second = idOf(scenario.limitBuy(31, 1, { orderGroupId }));
  const removed = remove(scenario, orderGroupId);
  t.deepEqual(removed.body, { canceled: [first, second], count: 2, mode: 'paper' });
  const canceled = { status: 'canceled', cancelReason: 'canceled_by_owner', orderGroupId };
  t.like(scenario.order(second), canceled);
  t.like(scenario.order(free), { status: 'resting' });
  t.is(remove(scenario, orderGroupId).code, 'order_group_not_found');
  t.is(scenario.buy(1, { orderGroupId }).code, 'order_group_not_found');
});

scenarioTest('T162, T222: under latency its orders end when their cancels arrive', (t, create) => {
  const scenario = create();
  scenario.quote(WIN, 40, 43);
  const orderGroupId = groupIdOf(makeGroup(scenario));
  const realism = { ...PRESETS.simple, latencyMs: { min: 100, max: 100 } };
  const placed = idOf(scenario.limitBuy(41, 1, { orderGroupId, realism }));
  scenario.nowMs += 150;
  scenario.quote(WIN, 40, 43);
  t.is(remove(scenario, orderGroupId).code, null);
  t.like(scenario.order(placed), { status: 'resting', orderGroupId: null });
  scenario.nowMs += 101;
  scenario.quote(WIN, 40, 43);
  t.like(scenario.order(placed), { status: 'canceled', cancelReason: 'canceled_by_owner' });
});

/** The refusal's code, or null. */
function change(
  { engine, nowMs }: Scenario,
  group: string,
  to: ChangeOrderGroup['change'],
  account = ALICE,
): string | null {
  const of = { atMs: nowMs, account, group, change: to, counting: null };
  return read(engine.command({ kind: 'change_order_group', ...of })).code;
}

scenarioTest('T202, T204: a group that latches refuses orders until it is reset', (t, create) => {
  const scenario = create();
  scenario.quote(WIN, 40, 43);
  const orderGroupId = groupIdOf(makeGroup(scenario, { latches: true }));
  const rests = scenario.limitBuy(30, 6, { orderGroupId });
  scenario.limitBuy(43, 10, { orderGroupId });
  t.like(scenario.order(idOf(rests)), CANCELED);
  t.is(scenario.limitBuy(30, 1, { orderGroupId }).code, 'order_group_limit');
  // Its fills have left the window, and it is still triggered.
  scenario.nowMs += 20_000;
  scenario.quote(WIN, 40, 43);
  t.like(listed(scenario)[0]!, { tradedContracts: 0, isReached: true });
  t.is(scenario.limitBuy(30, 1, { orderGroupId }).code, 'order_group_limit');
  t.is(change(scenario, orderGroupId, 'reset'), null);
  t.like(listed(scenario)[0]!, { tradedContracts: 0, isReached: false });
  // A reset begins the window again, too.
  scenario.limitBuy(43, 9, { orderGroupId });
  t.is(change(scenario, orderGroupId, 'reset'), null);
  t.is(scenario.limitBuy(43, 9, { orderGroupId }).code, null);
  t.like(listed(scenario)[0]!, { tradedContracts: 9, isReached: false });
  t.is(change(scenario, orderGroupId, 'reset', BOB), 'order_group_not_found');
});

scenarioTest('T203: a trigger and a limit that is reached end the orders', (t, create) => {
  const scenario = create();
  scenario.quote(WIN, 40, 43);
  const orderGroupId = groupIdOf(makeGroup(scenario));
  const first = scenario.limitBuy(30, 6, { orderGroupId });
  const free = scenario.limitBuy(30, 6);
  t.is(change(scenario, orderGroupId, 'trigger'), null);
  t.like(scenario.order(idOf(first)), { ...CANCELED, holdDollars: 0 });
  t.like(scenario.order(idOf(free)), { status: 'resting' });
  t.is(scenario.limitBuy(30, 1, { orderGroupId }).code, 'order_group_limit');
  t.is(change(scenario, orderGroupId, 'reset'), null);
  const second = scenario.limitBuy(30, 6, { orderGroupId });
  scenario.limitBuy(43, 8, { orderGroupId });
  t.is(change(scenario, orderGroupId, { contractsLimit: 9 }), null);
  t.like(scenario.order(idOf(second)), { status: 'resting' });
  t.is(change(scenario, orderGroupId, { contractsLimit: 8 }), null);
  t.like(scenario.order(idOf(second)), CANCELED);
  t.like(listed(scenario)[0]!, { contractsLimit: 8, isReached: true });
  // More room alone lets no order in: it is to be reset.
  t.is(change(scenario, orderGroupId, { contractsLimit: 90 }), null);
  t.is(scenario.limitBuy(30, 1, { orderGroupId }).code, 'order_group_limit');
  t.deepEqual(scenario.engine.conservation(), []);
});

test('T204, D3: a restart knows which groups are triggered, with and without a checkpoint', (t) => {
  const engine = createMemoryEngine({ quoteMaxAgeMs: 15_000, routingBandCents: 10 });
  const { account } = placeOrder();
  const of = { atMs: NOON_MS, account, counting: null };
  for (const id of [1, 2, 3]) {
    const made = { group: uuidOf(id), contractsLimit: id, windowSeconds: 15, latches: id > 1 };
    engine.command({ kind: 'make_order_group', ...of, ...made });
  }
  const triggers = { kind: 'change_order_group', ...of, change: 'trigger' } as const;
  engine.command({ ...triggers, group: uuidOf(2) });
  const before = engine.digest();
  engine.crash();
  t.deepEqual(engine.digest(), before);
  engine.checkpoint();
  engine.crash();
  t.deepEqual(engine.digest(), before);
  engine.command({ kind: 'remove_order_group', ...of, group: uuidOf(2) });
  // It takes the row of the removed one, and nothing of it.
  const again = { group: uuidOf(4), contractsLimit: 4, windowSeconds: 15, latches: false };
  engine.command({ kind: 'make_order_group', ...of, ...again });
  engine.crash();
  const query = { kind: 'order_groups', atMs: NOON_MS, account } as const;
  const reply = engine.query(query);
  t.true(reply.ok);
  const { orderGroups } = JSON.parse((reply as { body: string }).body);
  t.deepEqual(
    orderGroups.map((group: Row) => [group.contractsLimit, group.isReached]),
    [
      [1, false],
      [3, false],
      [4, false],
    ],
  );
});

test('T217, D3: groups are the same after a restart, in whatever rows they are', (t) => {
  const engine = createMemoryEngine({ quoteMaxAgeMs: 15_000, routingBandCents: 10 });
  const { account } = placeOrder();
  const of = { atMs: NOON_MS, account, counting: null };
  const make = (id: number) => {
    const limits = { contractsLimit: id, windowSeconds: 15, latches: id === 2 };
    const made = engine.command({ kind: 'make_order_group', ...of, group: uuidOf(id), ...limits });
    t.true(made.ok);
  };
  for (const id of [1, 2, 3]) make(id);
  t.true(engine.command({ kind: 'remove_order_group', ...of, group: uuidOf(1) }).ok);
  // It takes the row of the removed one.
  make(4);
  const before = engine.digest();
  engine.checkpoint();
  engine.crash();
  t.deepEqual(engine.digest(), before);
});

test('T217, D3: a restart knows groups, their orders and their fills', (t) => {
  const engine = createMemoryEngine({ quoteMaxAgeMs: 15_000, routingBandCents: 10 });
  engine.command({ kind: 'catalog', atMs: NOON_MS, catalog: CATALOG });
  engine.tick(quoteTick({ market: 0 }));
  engine.tick(quoteTick({ market: 1 }));
  const { account } = placeOrder();
  const made = { account, group: uuidOf(9), contractsLimit: 10, windowSeconds: 15, counting: null };
  engine.command({ kind: 'make_order_group', atMs: NOON_MS, ...made, latches: false });
  const order = { instrumentId: AWAY, timeInForce: 'gtc', orderGroupId: made.group } as const;
  t.true(engine.command(placeOrder({ ...order, limitPriceCents: 90, contracts: 9 })).ok);
  const waits = placeOrder({ ...order, limitPriceCents: 3, contracts: 9, postOnly: true });
  t.true(engine.command(waits).ok);
  for (const at of ['log', 'checkpoint'] as const) {
    if (at === 'checkpoint') engine.checkpoint();
    engine.crash();
    engine.tick(quoteTick({ market: 0 }));
    engine.tick(quoteTick({ market: 1 }));
    t.deepEqual(audit(engine.state()).problems, []);
    const { body } = read(engine.query({ kind: 'order_groups', atMs: NOON_MS, account }));
    t.like(body.orderGroups as Row[], [{ tradedContracts: 9, isReached: false }] as never);
  }
  const last = engine.command(placeOrder({ ...order, limitPriceCents: 90, contracts: 1 }));
  t.true(last.ok);
  const query = { kind: 'order', atMs: NOON_MS, account, organizationSlug: null } as const;
  const found = read(engine.query({ ...query, orderId: waits.orderId }));
  t.like(found.body.order as Row, { ...CANCELED, postOnly: true });
});
