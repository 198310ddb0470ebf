import test from 'ava';
import { placeOfCursor, ROW_ID } from '../../../../../engine/base/cursors.ts';
import { firstUuidAt } from '../../../../../engine/memory/uuid-words.ts';
import type { OrdersQuery, RowFilter } from '../../../../../engine/rules/queries.ts';
import { ALICE, AWAY, HOME, type Scenario, scenarioTest, WIN } from '../../../../model/scenario.ts';
import { CATALOG, NOON_MS, AWAY as PLAIN, placeOrder, ROUTED, uuidOf } from '../../../fixtures.ts';
import { createMemoryEngine } from '../../../memory-engine.ts';

type Row = Record<string, unknown>;

const ALL: RowFilter = { instrumentId: null, idempotencyKey: null, fromMs: null, toMs: null };
const PAGE = { account: ALICE, organizationSlug: null, limit: 50, before: null, status: null };

function ids(scenario: Scenario, kind: 'orders' | 'trades', over: Partial<RowFilter>, page = {}) {
  const query = { ...PAGE, kind, only: { ...ALL, ...over }, ...page };
  const { body } = scenario.ask(query as never);
  return (body[kind] as Row[]).map((row) => row.orderId ?? row.tradeId);
}

const idOf = ({ body }: { body: Row }) => (body.order as { orderId: string }).orderId;

scenarioTest('A79: orders by instrument, time, key and status, resting or ended', (t, create) => {
  const scenario = create();
  scenario.quote(WIN, 40, 43);
  const startMs = scenario.nowMs;
  const placed: string[] = [];
  for (const [price, instrumentId] of [
    [10, HOME],
    [50, HOME],
    [20, AWAY],
    [99, AWAY],
    [30, HOME],
  ] as const) {
    const order = { instrumentId, idempotencyKey: `at-${price}` };
    placed.push(idOf(scenario.limitBuy(price, 5, order)));
    scenario.nowMs += 1000;
  }
  scenario.buy(1, { idempotencyKey: 'market' });
  const [rests, filled, away, awayFilled, last] = placed;
  const list = (over: Partial<RowFilter>, page = {}) => ids(scenario, 'orders', over, page);
  t.deepEqual(list({}), placed.toReversed());
  t.deepEqual(list({ instrumentId: HOME }), [last, filled, rests]);
  t.deepEqual(list({ instrumentId: AWAY }, { status: 'executed' }), [awayFilled]);
  t.deepEqual(list({ instrumentId: 'ins_ZZZZZZZZZZZZ' }), []);
  t.deepEqual(list({ fromMs: startMs + 1000, toMs: startMs + 3000 }), [away, filled]);
  t.deepEqual(list({ fromMs: startMs + 1001 }), [last, awayFilled, away]);
  t.deepEqual(list({ toMs: startMs + 1 }), [rests]);
  t.deepEqual(list({ toMs: -1 }), []);
  t.deepEqual(list({ fromMs: startMs, instrumentId: HOME }, { before: filled }), [rests]);
  t.deepEqual(list({ idempotencyKey: 'at-10' }), [rests]);
  t.deepEqual(list({ idempotencyKey: 'at-50' }), [filled]);
  t.deepEqual(list({ idempotencyKey: 'at-50' }, { status: 'resting' }), []);
  t.deepEqual(list({ idempotencyKey: 'at-50', toMs: startMs + 1000 }), []);
  t.deepEqual(list({ idempotencyKey: 'at-50', fromMs: startMs + 1001 }), []);
  t.deepEqual(list({ idempotencyKey: 'at-50', instrumentId: AWAY }), []);
  t.deepEqual(list({ idempotencyKey: 'at-50' }, { before: filled }), []);
  t.deepEqual(list({ idempotencyKey: 'market' }), [], 'a market order is no order');
  t.deepEqual(list({ idempotencyKey: 'unknown' }), []);
});

scenarioTest('A79: trades by instrument and time, open or closed', (t, create) => {
  const scenario = create();
  scenario.quote(WIN, 40, 43);
  const startMs = scenario.nowMs;
  const trades = [HOME, AWAY, HOME].map((instrumentId) => {
    const { trade } = scenario.buy(1, { instrumentId }).body as { trade: { tradeId: string } };
    scenario.nowMs += 1000;
    return trade.tradeId;
  });
  scenario.sell(trades[0]!);
  const list = (over: Partial<RowFilter>, page = {}) => ids(scenario, 'trades', over, page);
  t.deepEqual(list({ instrumentId: HOME }), [trades[2], trades[0]]);
  t.deepEqual(list({ instrumentId: HOME }, { status: 'open' }), [trades[2]]);
  t.deepEqual(list({ fromMs: startMs + 1000 }), [trades[2], trades[1]]);
  t.deepEqual(list({ toMs: startMs + 1000 }), [trades[0]]);
});

test('A79: a bound of time lies between ids of this time and those before', (t) => {
  for (const atMs of [1, NOON_MS, Date.parse('9999-12-31T23:59:59.999Z')]) {
    t.true(firstUuidAt(atMs) < uuidOf(0, atMs));
    t.true(firstUuidAt(atMs) > uuidOf(0xffff, atMs - 1));
  }
});

test('P6: a page looks at a bounded number of rows, and the next continues after them', (t) => {
  const engine = createMemoryEngine({ quoteMaxAgeMs: 15_000, routingBandCents: 10 });
  engine.command({ kind: 'catalog', atMs: NOON_MS, catalog: CATALOG });
  const place = (instrumentId: string) => {
    const order = placeOrder({ instrumentId, limitPriceCents: 1, timeInForce: 'ioc' });
    t.true(engine.command(order).ok);
    return order.orderId;
  };
  const wanted = [place(ROUTED)];
  for (let n = 0; n < 1100; n++) place(PLAIN);
  wanted.unshift(place(ROUTED));
  const page = (limit: number, before: string | null) => {
    const only = { ...ALL, instrumentId: ROUTED };
    const list = { ...PAGE, account: uuidOf(1), limit, before, only } as Omit<OrdersQuery, 'atMs'>;
    const reply = engine.query({ ...list, kind: 'orders', atMs: NOON_MS });
    const { orders, nextCursor } = JSON.parse(reply.ok ? reply.body : '');
    const at = nextCursor === null ? null : placeOfCursor('', nextCursor, ROW_ID);
    return { found: orders.map(({ orderId }: Row) => orderId) as string[], at, nextCursor };
  };
  for (const limit of [1, 50]) {
    const found: string[] = [];
    let pages = 0;
    for (let before: string | null = null; ; pages++) {
      const { found: some, at, nextCursor } = page(limit, before);
      found.push(...some);
      if (nextCursor === null) break;
      t.true(at !== null && (before === null || at < before), 'it gets on');
      before = at;
    }
    t.deepEqual(found, wanted);
    t.is(pages, 2);
  }
});

scenarioTest(
  'T7, P7: trades of one moment are listed by their opening, not their orders',
  (t, create) => {
    const scenario = create();
    scenario.quote(WIN, 60, 63);
    for (const [contracts, price] of [
      [1, 30],
      [2, 50],
      [3, 40],
      [4, 20],
    ] as const) {
      scenario.limitBuy(price, contracts);
      scenario.nowMs += 1000;
    }
    type Listed = { tradeId: string; contracts: number };
    const listed = (status: string | null = null) => {
      const query = { ...PAGE, kind: 'trades', only: ALL, status };
      return scenario.ask(query as never).body.trades as Listed[];
    };
    const contracts = (trades: readonly Listed[]) => trades.map((trade) => trade.contracts);
    // The highest price comes first.
    scenario.quote(WIN, 28, 30);
    t.deepEqual(contracts(listed()), [1, 3, 2]);
    // Of the same moment, also where the last one is closed again.
    scenario.sell(listed()[0]!.tradeId);
    scenario.buy(5);
    scenario.quote(WIN, 18, 20);
    scenario.buy(6);
    t.deepEqual(contracts(listed()), [6, 4, 5, 1, 3, 2]);
    t.deepEqual(contracts(listed('open')), [6, 4, 5, 3, 2]);
    scenario.nowMs += 1;
    scenario.buy(7);
    t.deepEqual(contracts(listed()), [7, 6, 4, 5, 1, 3, 2]);
  },
);
