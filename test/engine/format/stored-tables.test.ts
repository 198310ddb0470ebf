/**
 * What a checkpoint writes of the tables, as it was first written: where each column lies, and
 * what the numbers in it stand for (bits of flags, codes of VIA and VENUES). A directory whose
 * layouts are others is refused; one whose numbers mean something else would be misread.
 */
import { readFileSync } from 'node:fs';
import test from 'ava';
import { takeRow } from '../../../engine/memory/row-pages.ts';
import { PRESETS, type Realism } from '../../../engine/rules/realism.ts';
import { tablesOf } from '../../../engine/rules/state.ts';
import type { StoredState } from '../../../engine/shard/core/create-state.ts';
import {
  AWAY,
  CATALOG,
  HOME,
  NOON_MS,
  placeOrder,
  quoteTick,
  ROUTED,
  uuidOf,
} from '../fixtures.ts';
import { createMemoryEngine, rowsOf } from '../memory-engine.ts';

type Stored = { layout: string; rows: string[] };

const GOLDEN = new URL('../../golden/format/tables.json', import.meta.url);
const QUEUED = new URL('../../golden/format/queue-tables.json', import.meta.url);

const NETTED = new URL('../../golden/format/net-tables.json', import.meta.url);

const LATCHED = new URL('../../golden/format/latch-tables.json', import.meta.url);
const MARKED = new URL('../../golden/format/mark-tables.json', import.meta.url);
const REALISTIC = new URL('../../golden/format/realism-tables.json', import.meta.url);

/** Every row in use of the pages that a checkpoint takes, by table. */
function storedIn(state: StoredState): Record<string, Stored> {
  const stored = tablesOf(state).map((table): [string, Stored] => {
    const words = Number(/(\d+) bytes$/.exec(table.layout)![1]) / 4;
    const page = rowsOf(table, 1);
    const found = new Map<number, string>();
    for (let at = 0; at < page.length; ) {
      const row = new Uint32Array(words);
      const number = page[at]!;
      at = takeRow(page, at, row, 0, words);
      found.set(number, Buffer.from(row.buffer).toString('hex'));
    }
    const rows = [...table.rows()].map((row) => found.get(row)!);
    return [table.name, { layout: table.layout, rows }];
  });
  return Object.fromEntries(stored);
}

/** One order or position for each bit and each code that a row can have. */
function tradedState(): StoredState {
  const engine = createMemoryEngine({ quoteMaxAgeMs: 15_000, routingBandCents: 10 });
  const ask = (over: Parameters<typeof placeOrder>[0] & { number: number }) => {
    const { number, ...order } = over;
    const orderId = uuidOf(100 + number);
    const reply = engine.command(
      placeOrder({ orderId, idempotencyKey: `key-${number}`, placedPrivate: false, ...order }),
    );
    return reply.ok ? (JSON.parse(reply.body) as { trade: { tradeId: string } | null }) : null;
  };
  engine.command({ kind: 'catalog', atMs: NOON_MS, catalog: CATALOG });
  engine.tick(quoteTick({ market: 0 }));
  engine.tick(quoteTick({ market: 1 }));
  engine.tick(quoteTick({ market: 2, source: 1, yesBidCents: 36, yesAskCents: 38 }));
  const counting = {
    keyId: uuidOf(9),
    keyLimits: { newPerMinute: 10, newPerDay: 10, closingPerMinute: 10 },
    accountLimits: { newPerMinute: 10, newPerDay: 10, closingPerMinute: 10 },
    elsewhere: null,
  };
  const open = ask({ number: 1, instrumentId: AWAY, counting })!.trade!;
  const limit = { limitPriceCents: 3 } as const;
  ask({ number: 2, action: 'sell', tradeId: open.tradeId, ...limit, limitPriceCents: 90 });
  ask({ number: 3, instrumentId: AWAY, side: 'no', ...limit, placedVia: 'web', contracts: 77 });
  ask({ number: 4, instrumentId: HOME, side: 'no', ...limit, placedVia: 'cli', statedProbPct: 12 });
  ask({ number: 5, instrumentId: ROUTED, ...limit, routing: 'best' });
  const expiresAtMs = NOON_MS + 5;
  const ends = { expiresAtMs, connection: NOON_MS + 7 };
  ask({ number: 6, ...limit, account: uuidOf(2), ...ends, placedPrivate: true });
  ask({ number: 7, instrumentId: ROUTED, routing: 'best', placedVia: 'cli', contracts: 5 });
  return engine.state();
}

/** Two orders in queues, of which one has traded in part, and trades. */
function queuedState(): StoredState {
  const config = { quoteMaxAgeMs: 15_000, routingBandCents: 10, fillModel: 'queue' } as const;
  const engine = createMemoryEngine(config);
  engine.command({ kind: 'catalog', atMs: NOON_MS, catalog: CATALOG });
  engine.tick(quoteTick({ market: 0 }));
  engine.tick(quoteTick({ market: 1 }));
  const [yes, no] = [[[300, 12_345] as const], []];
  const on = { atMs: NOON_MS, source: 0, market: 0 };
  engine.tick({ kind: 'levels', ...on, levels: { yes, no }, repeats: false });
  const limit = { limitPriceCents: 3, contracts: 7 };
  for (const [number, order] of [limit, { instrumentId: AWAY, ...limit }, {}].entries()) {
    const ids = { orderId: uuidOf(200 + number), idempotencyKey: `key-${number}` };
    engine.command(placeOrder({ ...ids, placedPrivate: false, ...order }));
  }
  const print = { kind: 'print', ...on, side: 'yes', price: 300, decrease: 0 } as const;
  engine.tick({ ...print, contracts: 12_345 + 250 });
  return engine.state();
}

/** An order that is post-only, one of a group whose fill counts, and one that was changed. */
function markedState(): StoredState {
  const engine = createMemoryEngine({ quoteMaxAgeMs: 15_000, routingBandCents: 10 });
  engine.command({ kind: 'catalog', atMs: NOON_MS, catalog: CATALOG });
  engine.tick(quoteTick({ market: 0 }));
  engine.tick(quoteTick({ market: 1 }));
  const { account } = placeOrder();
  const made = { account, group: uuidOf(400), contractsLimit: 250, windowSeconds: 15 };
  const latches = false;
  engine.command({ kind: 'make_order_group', atMs: NOON_MS, ...made, latches, counting: null });
  const limit = { instrumentId: AWAY, limitPriceCents: 3, timeInForce: 'gtc' } as const;
  const orders = [{ ...limit, postOnly: true }, limit, { ...limit, limitPriceCents: 90 }];
  for (const [number, order] of orders.entries()) {
    const ids = { orderId: uuidOf(401 + number), idempotencyKey: `key-${number}` };
    const orderGroupId = number === 0 ? null : made.group;
    engine.command(placeOrder({ ...ids, placedPrivate: false, ...order, orderGroupId }));
  }
  const change = { orderId: uuidOf(402), idempotencyKey: 'change', contracts: null };
  const may = { mayOpen: true, mayTrade: true, counting: null };
  engine.command({ kind: 'amend', atMs: NOON_MS, account, ...change, limitPriceCents: 4, ...may });
  return engine.state();
}

test('T205, T209, T217, D107: pages note marks of orders, and groups with their fills', (t) => {
  const golden = JSON.parse(readFileSync(MARKED, 'utf8')) as Record<string, Stored>;
  const { order_marks, order_groups, group_fills } = storedIn(markedState());
  t.deepEqual({ order_marks, order_groups, group_fills }, golden);
});

/** A pending order, one whose cancel is on its way, and one that has no latency. */
function realisticState(): StoredState {
  const engine = createMemoryEngine({ quoteMaxAgeMs: 15_000, routingBandCents: 10 });
  engine.command({ kind: 'catalog', atMs: NOON_MS, catalog: CATALOG });
  const { simple, realistic } = PRESETS;
  const under: Realism[] = [
    realistic,
    { ...simple, latencyMs: { min: 400, max: 400 } },
    { ...simple, fees: 'venue', liquidity: 'market' },
  ];
  for (const [number, realism] of under.entries()) {
    const ids = { orderId: uuidOf(300 + number), idempotencyKey: `key-${number}`, realism };
    const limit = { limitPriceCents: number === 0 ? null : 3, boundPriceCents: 70 };
    const bound = number === 0 ? limit : { ...limit, boundPriceCents: null };
    const timeInForce = number === 0 ? null : 'gtc';
    engine.command(placeOrder({ ...ids, placedPrivate: false, ...bound, timeInForce }));
  }
  const { account } = placeOrder();
  const orderId = uuidOf(301);
  engine.command({ kind: 'cancel', atMs: NOON_MS, account, orderId, counting: null });
  return engine.state();
}

/** An order that closes and opens, of which both have traded in part, and one that only closes. */
function nettedState(): StoredState {
  const config = { quoteMaxAgeMs: 15_000, routingBandCents: 10, fillModel: 'book_depth' } as const;
  const engine = createMemoryEngine(config);
  engine.command({ kind: 'catalog', atMs: NOON_MS, catalog: CATALOG });
  const shown = { yesBidCents: 40, yesAskCents: 43 };
  engine.tick(quoteTick({ market: 0, ...shown, yesBidContracts: 9, yesAskContracts: 7 }));
  const asks = [
    { contracts: 7 },
    { contracts: 30, side: 'no', limitPriceCents: 60, netting: 'net', timeInForce: 'gtc' },
    { contracts: 8, limitPriceCents: 3, netting: 'close', timeInForce: 'gtc' },
  ] as const;
  for (const [number, order] of asks.entries()) {
    const ids = { orderId: uuidOf(400 + number), idempotencyKey: `key-${number}` };
    engine.command(placeOrder({ ...ids, placedPrivate: false, ...order }));
  }
  return engine.state();
}

test('T190: pages note what an order closes, and what it has traded', (t) => {
  const golden = JSON.parse(readFileSync(NETTED, 'utf8')) as Record<string, Stored>;
  const { nets } = storedIn(nettedState());
  t.deepEqual({ nets }, golden);
});

test('T202: pages note which order groups latch, and whether they are triggered', (t) => {
  const golden = JSON.parse(readFileSync(LATCHED, 'utf8')) as Record<string, Stored>;
  const engine = createMemoryEngine({ quoteMaxAgeMs: 15_000, routingBandCents: 10 });
  const of = { atMs: NOON_MS, account: placeOrder().account, counting: null };
  for (const id of [1, 2]) {
    const made = { group: uuidOf(id), contractsLimit: 250, windowSeconds: 15, latches: true };
    engine.command({ kind: 'make_order_group', ...of, ...made });
  }
  engine.command({ kind: 'change_order_group', ...of, group: uuidOf(2), change: 'trigger' });
  const { group_latches } = storedIn(engine.state());
  t.deepEqual({ group_latches }, golden);
});

test('T158, T160, D107: pages note what orders were placed under, and what is on its way', (t) => {
  const golden = JSON.parse(readFileSync(REALISTIC, 'utf8')) as Record<string, Stored>;
  const { orders, realism } = storedIn(realisticState());
  t.deepEqual({ orders, realism }, golden);
});

test('pages of the tables are written as they always were', (t) => {
  const golden = JSON.parse(readFileSync(GOLDEN, 'utf8')) as Record<string, Stored>;
  t.deepEqual(storedIn(tradedState()), golden);
});

test('T157: pages note the fill model of orders and trades, and the places in queues', (t) => {
  const golden = JSON.parse(readFileSync(QUEUED, 'utf8')) as Record<string, Stored>;
  const { orders, positions, queue } = storedIn(queuedState());
  t.deepEqual({ orders, positions, queue }, golden);
});
