import test from 'ava';
import { ByteWriter } from '../../../engine/format/bytes.ts';
import { placedRecord } from '../../../engine/format/event-layouts.ts';
import {
  accountAndId,
  accountAndKey,
  compareIds,
  compareKeys,
  isLimit,
  orderIdBytes,
  orderIdWord,
} from '../../../engine/format/placement-bytes.ts';
import { IdempotencyFilter } from '../../../engine/memory/idempotency-filter.ts';
import { KeyIndex } from '../../../engine/memory/key-index.ts';
import type { ClosedTrade, OrderPlaced } from '../../../engine/rules/events.ts';
import { UnarchivedRecords } from '../../../engine/shard/unarchived-records.ts';
import { accountRow, orderRow, uuidOf } from '../fixtures.ts';

const placed = (account: number, n: number, over: Partial<OrderPlaced> = {}): OrderPlaced => ({
  kind: 'order_placed',
  atMs: 1_700_000_000_000 + n,
  order: orderRow(n),
  account: accountRow(account),
  orderId: uuidOf(n),
  idempotencyKey: `key-${n}`,
  action: 'buy',
  type: 'limit',
  market: 3,
  instrument: 4,
  side: 'no',
  instrumentSide: 'yes',
  byTicker: true,
  contracts: 1_000_000,
  position: null,
  tradeId: null,
  limitPriceCents: 99,
  boundPriceCents: null,
  timeInForce: 'gtc',
  expiresAtMs: null,
  routing: 'best',
  statedProbPct: 50,
  placedVia: 'web',
  placedPrivate: true,
  rests: true,
  ...over,
});

const closed = (account: number, n: number): ClosedTrade => ({
  tradeId: uuidOf(n),
  account: accountRow(account),
  market: 3,
  instrument: 4,
  side: 'yes',
  instrumentSide: 'no',
  contracts: 7,
  costCents: Number.MAX_SAFE_INTEGER,
  entryPriceCents: 99,
  statedProbPct: null,
  placedVia: 'cli',
  placedPrivate: false,
  venue: 1,
  openedAtMs: 1_700_000_000_000,
  closedAtMs: 1_700_000_000_001,
  status: 'settled',
  closeReason: 'settled',
  proceedsCents: 700,
  outcome: 'yes',
});

test('SPEC section 2, Order: what is kept of a placement comes back whole, by key and by id', (t) => {
  const records = new UnarchivedRecords(new IdempotencyFilter(0));
  const orders = Array.from({ length: 3000 }, (_, n) => placed(n % 7, n));
  for (const order of orders) records.addPlacement(order);
  for (const order of orders) {
    t.deepEqual(records.placementByKey(order.account, order.idempotencyKey), order);
    t.deepEqual(records.placement(order.orderId), order);
    t.is(records.placementByKey(accountRow(order.account + 1), order.idempotencyKey), undefined);
  }
  t.is(records.placement(uuidOf(3000)), undefined);
  t.is(records.size, 3000);
});

test('SPEC section 8, Idempotency: a key is the account’s own, and any text', (t) => {
  const records = new UnarchivedRecords(new IdempotencyFilter(0));
  const keys = ['', 'a', 'ab', 'é', '😀', 'x'.repeat(200)];
  for (const [n, idempotencyKey] of keys.entries()) {
    records.addPlacement(placed(1, n, { idempotencyKey }));
    records.addPlacement(placed(2, 100 + n, { idempotencyKey, type: 'market' }));
  }
  for (const [n, key] of keys.entries()) {
    t.is(records.placementByKey(accountRow(1), key)?.orderId, uuidOf(n));
    t.is(records.placementByKey(accountRow(2), key)?.orderId, uuidOf(100 + n));
    t.is(records.placement(uuidOf(100 + n)), undefined, 'market orders are not listed');
    t.is(records.placementByKey(accountRow(3), key), undefined);
  }
});

test('SPEC section 2, Trade: closed trades and limit orders are listed by account', (t) => {
  const records = new UnarchivedRecords(new IdempotencyFilter(0));
  for (let n = 0; n < 300; n++) records.addClosedTrade(closed(n % 3, n));
  for (let n = 0; n < 30; n++) {
    records.addPlacement(placed(n % 3, n, { type: n % 2 === 0 ? 'limit' : 'market' }));
  }
  const trades = [...records.closedTradesOf(accountRow(1))];
  t.is(trades.length, 100);
  t.deepEqual(trades[0], closed(1, 298));
  t.deepEqual(records.closedTrade(uuidOf(5)), closed(2, 5));
  const orders = [...records.limitOrdersOf(accountRow(1))].map(({ order }) => order);
  t.deepEqual(orders, [28, 22, 16, 10, 4].map(orderRow));
  t.deepEqual([...records.limitOrdersOf(accountRow(9))], []);
});

test('rows whose keys have equal hashes are told apart by their keys', (t) => {
  const index = new KeyIndex();
  index.add(1, 5);
  index.add(2, 5);
  t.is(
    index.find(5, (row) => row === 2),
    2,
  );
  t.is(
    index.find(5, () => false),
    -1,
  );
  t.deepEqual([...index.hashes()], [5, 5]);
});

test('SPEC section 8, Idempotency: a used key is told as used, also after a start, and a new one seldom', (t) => {
  const used = new IdempotencyFilter(7);
  const hashes = Array.from({ length: 200_000 }, (_, n) => used.hashOf(n % 9, `key-${n}`));
  for (const hash of hashes) used.add(hash);
  const later = new IdempotencyFilter(8);
  later.load([
    { seed: used.seed, hashes: Int32Array.from(hashes.slice(0, 500)) },
    { seed: used.seed, hashes: Int32Array.from(hashes.slice(500)) },
  ]);
  t.true(hashes.every((hash) => used.mayHave(hash)));
  t.true(hashes.every((_, n) => later.mayHave(later.hashOf(n % 9, `key-${n}`))));
  const isNew = (_: number, n: number) => !later.mayHave(later.hashOf(n % 9, `new-${n}`));
  t.true(hashes.filter(isNew).length > 0.99 * hashes.length);
  const parts = [used.seed, used.seed + 1].map((seed) => ({ seed, hashes: new Int32Array(1) }));
  t.throws(() => later.load(parts), { message: /another seed/ });
});

test('what a checkpoint sorts and names placements by is read from their bytes as it was written', (t) => {
  const keys = ['b', 'ab', 'a', '', 'é', 'a\u{1f600}', 'x'.repeat(300)];
  const orders = keys.map((idempotencyKey, n) =>
    placed(7 + n, 1000 - n, { idempotencyKey, type: n % 2 === 0 ? 'limit' : 'market' }),
  );
  const bytes = orders.map((order) => {
    const writer = new ByteWriter();
    placedRecord.write(writer, order);
    return writer.copy();
  });
  for (const [n, order] of orders.entries()) {
    const account = Buffer.from([0, 0, 0, order.account]);
    const id = Buffer.from(order.orderId.replaceAll('-', ''), 'hex');
    t.is(isLimit(bytes[n]!), order.type === 'limit');
    t.deepEqual(Buffer.from(orderIdBytes(bytes[n]!)), id);
    t.is(orderIdWord(bytes[n]!, 3), id.readUInt32BE(12));
    t.deepEqual(accountAndId(bytes[n]!), Buffer.concat([account, id]));
    const key = Buffer.from(order.idempotencyKey);
    t.deepEqual(accountAndKey(bytes[n]!), Buffer.concat([account, key]));
  }
  const byKey = keys.map((key) => Buffer.from(key)).sort(Buffer.compare);
  const sorted = [...bytes].sort(compareKeys).map((one) => accountAndKey(one).subarray(4));
  t.deepEqual(sorted, byKey);
  const ids = [...bytes].sort(compareIds).map((one) => Buffer.from(orderIdBytes(one)));
  t.deepEqual(ids, [...ids].sort(Buffer.compare));
});
