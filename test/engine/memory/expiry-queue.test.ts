import test from 'ava';
import fc from 'fast-check';
import { ExpiryQueue } from '../../../engine/memory/expiry-queue.ts';

function fakeOrders() {
  const live = new Set<number>();
  const sequence = new Float64Array(10_000);
  return {
    col: { sequence: { get: (row: number) => sequence[row]! } },
    isLive: (row: number) => live.has(row),
    get live() {
      return live.size;
    },
    start: (row: number, placed: number) => {
      live.add(row);
      sequence[row] = placed;
    },
    end: (row: number) => live.delete(row),
  };
}

test('T45: orders expire in order of expiry, then of placement', (t) => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 50 }), { maxLength: 200 }), (times) => {
      const orders = fakeOrders();
      const queue = new ExpiryQueue(orders);
      for (const [row, expiresAtMs] of times.entries()) {
        orders.start(row, row + 1);
        queue.add({ expiresAtMs, sequence: row + 1, order: row });
      }
      const expected = [...times.keys()].sort((a, b) => times[a]! - times[b]! || a - b);
      const seen: number[] = [];
      for (let order = queue.nextDue(50); order !== -1; order = queue.nextDue(50)) {
        seen.push(order);
        orders.end(order);
      }
      t.deepEqual(seen, expected);
    }),
    { numRuns: 50 },
  );
});

test('an order that ended early never expires, nor does the next user of its row', (t) => {
  const orders = fakeOrders();
  const queue = new ExpiryQueue(orders);
  orders.start(3, 1);
  queue.add({ expiresAtMs: 10, sequence: 1, order: 3 });
  orders.end(3);
  orders.start(3, 2);
  t.is(queue.nextDue(100), -1);
});

test('orders that end early do not pile up in the queue', (t) => {
  const orders = fakeOrders();
  const queue = new ExpiryQueue(orders);
  for (let placed = 1; placed < 20_000; placed++) {
    const row = placed % 100;
    orders.start(row, placed);
    queue.add({ expiresAtMs: 1e12 + placed, sequence: placed, order: row });
  }
  t.true(queue.size < 2100, `${queue.size} entries for 100 orders`);
});
