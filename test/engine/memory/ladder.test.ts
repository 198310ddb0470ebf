import test from 'ava';
import fc from 'fast-check';
import { Ladders } from '../../../engine/memory/ladder.ts';

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

function fastBook(): Book {
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
        for (let row = ladders.first(ladder, priceLevel); row !== -1; row = ladders.after(row)) {
          orders.push(row);
        }
      }
      return orders;
    },
  };
}

for (const [name, create] of Object.entries({ naive: naiveBook, fast: fastBook })) {
  test(`T47: the ${name} book fills in time order`, (t) => {
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

test('the fast book answers as the naive one under random adds and removals', (t) => {
  const step = fc.record({ priceLevel: fc.integer({ min: 1, max: 99 }), pick: fc.nat() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
      const fast = fastBook();
      const naive = naiveBook();
      const waiting: number[] = [];
      for (const [order, { priceLevel, pick }] of steps.entries()) {
        if (pick % 3 === 0 && waiting.length > 0) {
          const [gone] = waiting.splice(pick % waiting.length, 1);
          fast.remove(gone!);
          naive.remove(gone!);
        } else {
          waiting.push(order);
          fast.add(priceLevel, order);
          naive.add(priceLevel, order);
        }
        t.deepEqual(fast.reached(priceLevel), naive.reached(priceLevel));
      }
      t.deepEqual(fast.reached(1), naive.reached(1));
    }),
    { numRuns: 60 },
  );
});

test('removing an order that waits nowhere is a broken invariant', (t) => {
  const ladders = new Ladders();
  ladders.ensureLadders(2);
  ladders.add(0, 10, 3);
  ladders.remove(3);
  t.throws(() => ladders.remove(3), { message: /waits nowhere/ });
});
