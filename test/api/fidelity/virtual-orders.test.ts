import test from 'ava';
import type { BookEvent } from '../../../api/fidelity/book-events.ts';
import { type Place, VirtualOrders } from '../../../api/fidelity/virtual-orders.ts';
import type { Side } from '../../../engine/base/units.ts';

const MARKET = 'M';

/** Both sides have ten contracts at the best price; yes is drawn, at 1,000 ms. */
function placed(latencyMs = 0) {
  const virtual = new VirtualOrders(0, latencyMs);
  const levels = (...pairs: [number, number][]) =>
    pairs.map(([cents, contracts]) => ({ price: cents * 100, size: contracts * 100 }));
  virtual.take({
    ...{ kind: 'book', atMs: 0, market: MARKET },
    ...{ yes: levels([40, 10], [39, 20]), no: levels([55, 10], [54, 30]) },
  });
  virtual.place(1000, () => 0);
  const of = (place: Place, contracts: number) =>
    virtual.orders.find((order) => order.place === place && order.contracts === contracts)!;
  /** Contracts filled by both readings. */
  const filled = (place: Place, contracts: number) => {
    const { from_the_back: back, from_the_front: front } = of(place, contracts).fills;
    return [back, front].map((fills) => fills.reduce((sum, fill) => sum + fill.contracts / 100, 0));
  };
  type Kind = 'add' | 'cancel' | 'trade';
  const happens = (kind: Kind, side: Side, cents: number, contracts: number, atMs = 2000) => {
    const level = { atMs, market: MARKET, side, price: cents * 100, contracts: contracts * 100 };
    virtual.take({ kind, isShown: true, ...level } as BookEvent);
  };
  return { virtual, of, filled, happens };
}

test('X10: a moment has an order of each place and size, and market orders', (t) => {
  const { virtual } = placed();
  t.deepEqual(
    virtual.orders.map(({ side, limitCents, contracts }) => `${side} ${limitCents} ${contracts}`),
    [40, 41, 39].flatMap((cents) => [1, 10, 100, 1000].map((size) => `yes ${cents} ${size}`)),
  );
  t.deepEqual(
    virtual.takers.map(({ contracts, costCents }) => [contracts, costCents]),
    // Ten at 45, the rest at 46; 100 are not there.
    [
      [1, 45],
      [10, 450],
      [100, null],
      [1000, null],
    ],
  );
});

test('X10: no order is placed where it would take, or where a side is empty', (t) => {
  const virtual = new VirtualOrders();
  virtual.place(0, () => 0);
  virtual.take({
    ...{ kind: 'book', atMs: 0, market: MARKET },
    ...{ yes: [{ price: 4000, size: 100 }], no: [{ price: 5900, size: 100 }] },
  });
  virtual.place(1000, () => 0);
  t.deepEqual([...new Set(virtual.orders.map(({ limitCents }) => limitCents))], [40, 39]);
});

test('X13: a trade fills what is left of it after the orders ahead', (t) => {
  const { filled, happens } = placed();
  happens('trade', 'yes', 40, 8);
  t.deepEqual(filled('joined', 10), [0, 0]);
  happens('add', 'yes', 40, 5);
  happens('trade', 'yes', 40, 6);
  t.deepEqual(filled('joined', 10), [4, 4]);
  t.deepEqual(filled('joined', 1), [1, 1], 'never more than its size');
  t.deepEqual(filled('one_below', 10), [0, 0]);
});

test('X13: a trade at a worse price fills up to its size', (t) => {
  const { filled, happens } = placed();
  happens('trade', 'yes', 39, 30);
  t.deepEqual(filled('joined', 100), [30, 30]);
  t.deepEqual(filled('improved', 100), [30, 30]);
  t.deepEqual(filled('one_below', 100), [10, 10]);
});

test('X13: an addition on the other side that meets its price fills up to its size', (t) => {
  const { filled, happens } = placed();
  happens('add', 'no', 59, 7);
  t.deepEqual(filled('improved', 10), [7, 7]);
  t.deepEqual(filled('joined', 10), [0, 0]);
  happens('add', 'no', 60, 2);
  t.deepEqual(filled('improved', 10), [9, 9]);
  t.deepEqual(filled('joined', 10), [2, 2]);
});

test('X12, X13: a cancel whose order nobody knows is ahead by one reading, and not by the other', (t) => {
  const { filled, happens } = placed();
  happens('add', 'yes', 40, 6);
  // Of no order's size: from the back it is of the six that came later.
  happens('cancel', 'yes', 40, 5);
  happens('trade', 'yes', 40, 10);
  t.deepEqual(filled('joined', 10), [0, 5]);
});

test('X13: an order rests for 60 s', (t) => {
  const { filled, happens } = placed();
  happens('trade', 'yes', 39, 5, 61_000);
  happens('trade', 'yes', 39, 5, 61_001);
  t.deepEqual(filled('joined', 100), [5, 5]);
});

test('X14: the mid is known at each change, and not where a side is empty', (t) => {
  const { virtual, happens } = placed();
  happens('add', 'yes', 42, 1, 3000);
  happens('trade', 'yes', 42, 1, 4000);
  virtual.take({ kind: 'unknown', atMs: 5000, market: MARKET });
  t.deepEqual(virtual.mids(MARKET), [
    { atMs: 0, price: 4250 },
    { atMs: 3000, price: 4350 },
    { atMs: 4000, price: 4250 },
    { atMs: 5000, price: null },
  ]);
});

test('X22: under latency an order meets the book of its arrival: it takes what it reaches, and rests', (t) => {
  const { virtual, filled, happens } = placed(500);
  // At its arrival, three more are offered at 41 cents, and the best bid has five more.
  happens('add', 'no', 59, 3, 1400);
  happens('add', 'yes', 40, 5, 1500);
  t.deepEqual(filled('improved', 10), [0, 0], 'it is on its way');
  happens('add', 'no', 59, 2, 1501);
  t.deepEqual(filled('improved', 1), [1, 1]);
  t.deepEqual(filled('improved', 10), [5, 5], 'what was there, and what came');
  happens('trade', 'yes', 40, 16);
  t.deepEqual(filled('joined', 10), [1, 1], 'fifteen are ahead');
  t.deepEqual(
    virtual.takers.map(({ contracts, costCents }) => [contracts, costCents]),
    // Three at 41, seven at 45.
    [
      [1, 41],
      [10, 438],
      [100, null],
      [1000, null],
    ],
  );
});
