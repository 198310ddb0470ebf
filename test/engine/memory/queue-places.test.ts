import test from 'ava';
import { BIDS, bidNumber, type OrderRow } from '../../../engine/base/units.ts';
import { QueuePlaces } from '../../../engine/memory/queue-places.ts';
import { createRandomSource } from '../../model/random-source.ts';
import { orderRow } from '../fixtures.ts';

const inOneQueue = () => 3 * BIDS + bidNumber('no', 40);

test('T154: a place is noted, moves, and is noted again', (t) => {
  const places = new QueuePlaces(inOneQueue);
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
  const places = new QueuePlaces(inOneQueue);
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
  places.rebuild((a, b) => a - b);
  t.deepEqual([places.aheadE2(row), places.partE2(row), places.aheadE2(other)], [30, 1, 20]);
  t.not(places.turnOf(row), places.turnOf(other));
  t.is(places.table.live, 2);
});

test('what is no place in a queue is refused', (t) => {
  const places = new QueuePlaces(inOneQueue);
  for (const [ahead, part] of [
    [-1, 0],
    [0, -1],
    [0, 100],
  ] as const) {
    t.throws(() => places.note(orderRow(1), ahead, part), { message: /no such place/ });
  }
  t.throws(() => places.noted(orderRow(1)), { message: /in no queue/ });
});

test('T152: a queue keeps its orders in the order in which they came, also if others leave', (t) => {
  const [MARKETS, ORDERS, STEPS] = [3, 200, 4_000];
  const random = createRandomSource(7);
  const bids = [
    ['yes', 20],
    ['yes', 60],
    ['no', 99],
  ] as const;
  const queues = Array.from({ length: ORDERS }, () => {
    // Most are in one queue, so that its block doubles and is moved together.
    const market = random.oneIn(4) ? random.int(0, MARKETS - 1) : 0;
    const [side, cents] = random.oneIn(4) ? random.pick(bids) : bids[0];
    return { market, side, cents };
  });
  const places = new QueuePlaces((order) => {
    const { market, side, cents } = queues[order]!;
    return market * BIDS + bidNumber(side, cents);
  });
  let waiting: OrderRow[] = [];
  const check = () => {
    for (let market = 0; market <= MARKETS; market++) {
      const ofMarket = waiting.filter((order) => queues[order]!.market === market);
      t.is(places.waits(market), ofMarket.length > 0);
      for (const side of ['yes', 'no'] as const) {
        const ofSide = ofMarket.filter((order) => queues[order]!.side === side);
        const byPrice = ofSide.toSorted((a, b) => queues[b]!.cents - queues[a]!.cents);
        t.deepEqual(places.ordersFrom(market, side, 1), byPrice);
        t.is(places.best(market, side), byPrice.length === 0 ? 0 : queues[byPrice[0]!]!.cents);
        const above = byPrice.filter((order) => queues[order]!.cents >= 60);
        t.deepEqual(places.ordersFrom(market, side, 60), above);
      }
    }
    for (const order of waiting) t.is(places.aheadE2(order), order * 10);
  };
  for (let step = 0; step < STEPS; step++) {
    const order = orderRow(random.int(0, ORDERS - 1));
    // Full and empty in turns.
    const leaves = random.int(0, 9) < (step % 1_000 < 500 ? 2 : 8);
    if (places.has(order) === leaves) {
      if (leaves) places.remove(order);
      else places.note(order, order * 10, 0);
      waiting = waiting.filter((other) => other !== order);
      if (!leaves) waiting.push(order);
    }
    if (step % 100 === 0) check();
  }
  check();
  const at = new Map(waiting.map((order, nth) => [order, nth]));
  places.rebuild((a, b) => at.get(a)! - at.get(b)!);
  check();
  for (const order of waiting.splice(0)) places.remove(order);
  check();
});
