import test from 'ava';
import fc from 'fast-check';
import { Ladders } from '../../../engine/memory/ladder.ts';

const NO_ROWS = { prefetch: () => 0 };

/** What a ladder promises, and nothing about how. */
type Book = {
  add(priceLevel: number, order: number): void;
  remove(order: number): void;
  /** Orders at or above `ask`, best price level first, first placed first. */
  reached(ask: number): number[];
};

function naiveBook(): Book {
  let waiting: { priceLevel: number; order: number }[] = [];
  return {
    add: (priceLevel, order) => waiting.push({ priceLevel, order }),
    remove: (order) => {
      waiting = waiting.filter((row) => row.order !== order);
    },
    // Array.sort is stable: placement order stays within a price level.
    reached: (ask) =>
      waiting
        .filter(({ priceLevel }) => priceLevel >= ask)
        .sort((a, b) => b.priceLevel - a.priceLevel)
        .map(({ order }) => order),
  };
}

type Walk = (ladders: Ladders, ladder: number, priceLevel: number, orders: number[]) => void;

const follow: Walk = (ladders, ladder, priceLevel, orders) => {
  for (let row = ladders.first(ladder, priceLevel); row !== -1; row = ladders.after(row)) {
    orders.push(row);
  }
};
const collect: Walk = (ladders, ladder, priceLevel, orders) =>
  ladders.collect(ladder, priceLevel, orders, NO_ROWS);

function ladderBook(walk: Walk): Book {
  const ladders = new Ladders();
  ladders.ensureLadders(8);
  const ladder = 5;
  return {
    add: (priceLevel, order) => ladders.add(ladder, priceLevel, order),
    remove: (order) => ladders.remove(order),
    reached(ask) {
      const orders: number[] = [];
      let priceLevel = ladders.best(ladder);
      for (
        ;
        priceLevel >= ask && priceLevel > 0;
        priceLevel = ladders.priceLevelBelow(ladder, priceLevel)
      ) {
        walk(ladders, ladder, priceLevel, orders);
      }
      return orders;
    },
  };
}

const WALKS = { followed: follow, collected: collect };
const BOOKS: Record<string, () => Book> = {
  'naive book': naiveBook,
  'ladder that is followed': () => ladderBook(follow),
  'ladder that is collected': () => ladderBook(collect),
};

for (const [name, create] of Object.entries(BOOKS)) {
  test(`T47: a ${name} fills in time order`, (t) => {
    const book = create();
    book.add(50, 1);
    book.add(50, 2);
    book.add(99, 3);
    book.add(1, 4);
    book.add(50, 5);
    t.deepEqual(book.reached(50), [3, 1, 2, 5]);
    book.remove(2);
    book.remove(3);
    t.deepEqual(book.reached(1), [1, 5, 4]);
    t.deepEqual(book.reached(51), []);
    book.add(51, 2);
    t.deepEqual(book.reached(51), [2]);
  });
}

for (const [name, walk] of Object.entries(WALKS)) {
  test(`a ladder that is ${name} answers as the naive book, whatever comes and goes`, (t) => {
    // Few levels, so that many orders wait at one.
    const step = fc.record({ priceLevel: fc.constantFrom(1, 31, 32, 50, 64, 99), pick: fc.nat() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const ladder = ladderBook(walk);
        const naive = naiveBook();
        const waiting: number[] = [];
        for (const [order, { priceLevel, pick }] of steps.entries()) {
          if (pick % 3 === 0 && waiting.length > 0) {
            const [gone] = waiting.splice(pick % waiting.length, 1);
            ladder.remove(gone!);
            naive.remove(gone!);
          } else {
            waiting.push(order);
            ladder.add(priceLevel, order);
            naive.add(priceLevel, order);
          }
          t.deepEqual(ladder.reached(priceLevel), naive.reached(priceLevel));
        }
        t.deepEqual(ladder.reached(1), naive.reached(1));
      }),
      { numRuns: 60 },
    );
  });
}

test('ladders share no levels: each has its own best, and its own orders', (t) => {
  const ladders = new Ladders();
  ladders.ensureLadders(2);
  ladders.add(0, 99, 7);
  ladders.add(1, 1, 8);
  // What was there stays when there are more.
  ladders.ensureLadders(500);
  ladders.add(499, 40, 9);
  const orders: number[] = [];
  for (const ladder of [0, 1, 499]) collect(ladders, ladder, ladders.best(ladder), orders);
  t.deepEqual(orders, [7, 8, 9]);
  t.deepEqual(
    [0, 1, 2, 499].map((ladder) => ladders.best(ladder)),
    [99, 1, 0, 40],
  );
  t.is(ladders.first(0, 1), -1);
  t.is(ladders.priceLevelBelow(0, 99), 0);
  ladders.remove(7);
  t.deepEqual([ladders.best(0), ladders.best(1)], [0, 1]);
  t.deepEqual(
    [7, 8, 9, 10_000].map((order) => ladders.isWaiting(order)),
    [false, true, true, false],
  );
});

test('removing an order that waits nowhere is a broken invariant', (t) => {
  const ladders = new Ladders();
  ladders.ensureLadders(2);
  ladders.add(0, 10, 3);
  ladders.remove(3);
  t.throws(() => ladders.remove(3), { message: /is on no ladder/ });
});
