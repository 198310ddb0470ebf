import test from 'ava';
import { QueuePlaces } from '../../../engine/memory/queue-places.ts';
import { orderRow } from '../fixtures.ts';

test('T154: a place is noted, moves, and is noted again', (t) => {
  const places = new QueuePlaces();
  const order = orderRow(300);
  t.false(places.has(order));
  t.true(places.aheadE2(order) < 0);
  places.note(order, 1000, 0);
  places.setAheadE2(order, 500);
  t.deepEqual([places.isNoted(order), places.isFarFromNoted(order)], [false, false]);
  places.setAheadE2(order, 499);
  t.true(places.isFarFromNoted(order));
  t.deepEqual(places.noted(order), { aheadE2: 1000, partE2: 0 });
  places.note(order, 499, 7);
  t.deepEqual([places.isNoted(order), places.isFarFromNoted(order)], [true, false]);
  places.setPartE2(order, 8);
  t.false(places.isNoted(order));
  t.deepEqual([...places.orders()], [order]);
});

test('an order in the row of an earlier one is another, also after a load', (t) => {
  const places = new QueuePlaces();
  const [row, other] = [orderRow(4), orderRow(5)];
  places.note(row, 10, 0);
  places.note(other, 20, 0);
  const turn = places.turnOf(row);
  places.note(row, 5, 0);
  t.is(places.turnOf(row), turn);
  places.remove(row);
  places.remove(row);
  t.false(places.has(row));
  places.note(row, 30, 1);
  t.not(places.turnOf(row), turn);
  places.setAheadE2(row, 1);
  places.rebuild();
  t.deepEqual([places.aheadE2(row), places.partE2(row), places.aheadE2(other)], [30, 1, 20]);
  t.not(places.turnOf(row), places.turnOf(other));
  t.is(places.table.live, 2);
});

test('what is no place in a queue is refused', (t) => {
  const places = new QueuePlaces();
  for (const [ahead, part] of [
    [-1, 0],
    [0, -1],
    [0, 100],
  ] as const) {
    t.throws(() => places.note(orderRow(1), ahead, part), { message: /no such place/ });
  }
  t.throws(() => places.noted(orderRow(1)), { message: /in no queue/ });
});
