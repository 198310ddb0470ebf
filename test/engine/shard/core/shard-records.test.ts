import test from 'ava';
import type { PlaceOrder, Reply } from '../../../../engine/rules/messages.ts';
import {
  AWAY,
  accountRow,
  CATALOG,
  NOON_MS,
  placeOrder,
  quoteTick,
  uuidOf,
} from '../../fixtures.ts';
import { createMemoryEngine } from '../../memory-engine.ts';

function engineThatTraded() {
  const engine = createMemoryEngine({ quoteMaxAgeMs: 15_000, routingBandCents: 10 });
  engine.command({ kind: 'catalog', atMs: NOON_MS, catalog: CATALOG });
  engine.tick(quoteTick());
  return engine;
}

const body = (reply: Reply) => JSON.parse(reply.ok ? reply.body : 'null');

/** Moves what is in memory to a run, or leaves it there. */
const WHERE = { 'in memory': false, 'in a run': true } as const;

for (const [where, isSealed] of Object.entries(WHERE)) {
  test(`T91: what is kept of a placement comes back whole, by key and by id, ${where}`, (t) => {
    const engine = engineThatTraded();
    const limit = {
      timeInForce: 'ioc',
      limitPriceCents: 3,
      expiresAtMs: null,
    } as const;
    const orders = Array.from({ length: 300 }, (_, n) =>
      placeOrder({ account: uuidOf(1 + (n % 7)), ...(n % 2 === 0 ? limit : {}), contracts: 1 + n }),
    );
    for (const order of orders) t.true(engine.command(order).ok);
    if (isSealed) engine.checkpoint();
    const { records, accountIds } = engine.state();
    for (const order of orders) {
      const account = accountIds.find(order.account);
      const placed = records.orderByKey(account, order.idempotencyKey)!;
      const { orderId, contracts, limitPriceCents, timeInForce, atMs } = order;
      t.like(placed, { orderId, account, contracts, atMs });
      t.like(placed.terms, { limitPriceCents, timeInForce });
      const ended = records.endedOrder(account, orderId);
      t.is(ended?.placed.orderId, limitPriceCents === null ? undefined : orderId);
      t.is(
        records.ended(placed).outcome.status,
        limitPriceCents === null ? 'executed' : 'canceled',
      );
      const other = accountRow((account + 1) % 7);
      t.is(records.orderByKey(other, order.idempotencyKey), undefined);
      t.is(records.endedOrder(other, orderId), undefined);
    }
    t.is(records.endedOrder(accountRow(0), uuidOf(5_000_000)), undefined);
  });
}

test('T90: a key is the account\u2019s own, and any text', (t) => {
  const engine = engineThatTraded();
  const keys = ['!', 'a', 'ab', '~', 'x'.repeat(128)];
  const orders = new Map<string, PlaceOrder>();
  for (const idempotencyKey of keys) {
    for (const account of [uuidOf(1), uuidOf(2)]) {
      const order = placeOrder({ account, idempotencyKey });
      t.true(engine.command(order).ok);
      orders.set(account + idempotencyKey, order);
    }
  }
  const { records, accountIds } = engine.state();
  for (const order of orders.values()) {
    const found = records.orderByKey(accountIds.find(order.account), order.idempotencyKey);
    t.is(found?.orderId, order.orderId);
  }
  t.is(records.orderByKey(accountRow(0), 'abc'), undefined);
});

test('A42, P5: pages of orders and trades of one status alone, newest first, over memory and runs', (t) => {
  const engine = engineThatTraded();
  const account = uuidOf(1);
  const ids = { executed: [] as string[], canceled: [] as string[], resting: [] as string[] };
  const closed: string[] = [];
  for (let n = 0; n < 90; n++) {
    const atMs = NOON_MS + n;
    const limitPriceCents = n % 3 === 0 ? 99 : 3;
    const timeInForce = n % 3 === 1 ? 'ioc' : 'gtc';
    const over = {
      account,
      atMs,
      limitPriceCents,
      timeInForce,
      contracts: 1,
    } as const;
    const { status, trade, order } = body(
      engine.command(placeOrder({ ...over, instrumentId: AWAY })),
    );
    ids[status as keyof typeof ids].unshift(order.orderId);
    if (trade !== null && n % 2 === 0) {
      const sell = {
        account,
        atMs,
        action: 'sell',
        tradeId: trade.tradeId,
        instrumentId: null,
      } as const;
      t.true(engine.command(placeOrder({ ...sell, side: null, contracts: null })).ok);
      closed.unshift(trade.tradeId);
    }
    if (n % 40 === 20) engine.checkpoint();
  }
  const pages = (kind: 'orders' | 'trades', status: string | null) => {
    const found: string[] = [];
    for (let before: string | null = null; ; ) {
      const page = { limit: 7, before, status, organizationSlug: null };
      const answer = body(engine.query({ kind, atMs: NOON_MS, account, ...page } as never));
      for (const row of answer[kind]) found.push(row.orderId ?? row.tradeId);
      if (answer.nextCursor === null) return found;
      t.is(answer[kind].length, 7, 'a page is whole where there is another');
      before = found.at(-1)!;
    }
  };
  for (const [status, wanted] of Object.entries(ids)) t.deepEqual(pages('orders', status), wanted);
  const all = Object.values(ids).flat().sort().reverse();
  t.deepEqual(pages('orders', null), all);
  t.deepEqual(pages('trades', 'closed'), closed);
  t.is(pages('trades', null).length, ids.executed.length);
  t.deepEqual(pages('orders', 'expired'), []);
});
