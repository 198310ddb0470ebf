import test from 'ava';
import { OrderQueue } from '../../../api/fidelity/order-queue.ts';

/** Orders of these sizes at places 1, 2, 3, ... */
function queueOf(reading: 'from_the_back' | 'from_the_front', ...sizes: number[]): OrderQueue {
  const queue = new OrderQueue(reading);
  for (const [at, size] of sizes.entries()) queue.add(at + 1, size);
  return queue;
}

const sizesOf = (queue: OrderQueue, orders: number) =>
  Array.from({ length: orders }, (_, at) => queue.ahead(at + 2) - queue.ahead(at + 1));

for (const reading of ['from_the_back', 'from_the_front'] as const) {
  test(`X12, ${reading}: a cancel is the one order of its size, wherever it is`, (t) => {
    const queue = queueOf(reading, 500, 700, 900);
    t.is(queue.cancel(700), 1);
    t.deepEqual(sizesOf(queue, 3), [500, 0, 900]);
  });

  test(`X12, ${reading}: a trade takes the first in turn, also in part`, (t) => {
    const queue = queueOf(reading, 500, 700, 900);
    queue.trade(800);
    t.deepEqual(sizesOf(queue, 3), [0, 400, 900]);
    // A part is no order of its first size any more.
    t.is(queue.cancel(400), 1);
    t.deepEqual(sizesOf(queue, 3), [0, 0, 900]);
  });

  test(`X12, ${reading}: more than there is leaves nothing`, (t) => {
    const queue = queueOf(reading, 500, 700);
    t.is(queue.cancel(9999), 0);
    t.is(queue.ahead(9), 0);
  });
}

test('X12: of several orders of its size a cancel is the last, or the first', (t) => {
  const [back, front] = [
    queueOf('from_the_back', 500, 700, 500),
    queueOf('from_the_front', 500, 700, 500),
  ];
  t.is(back.cancel(500), 2);
  t.is(front.cancel(500), 2);
  t.deepEqual(sizesOf(back, 3), [500, 700, 0]);
  t.deepEqual(sizesOf(front, 3), [0, 700, 500]);
});

test('X12: a cancel of no order of its size takes from the back, or from the front', (t) => {
  const [back, front] = [queueOf('from_the_back', 500, 700), queueOf('from_the_front', 500, 700)];
  t.is(back.cancel(600), 0);
  t.is(front.cancel(600), 0);
  t.deepEqual(sizesOf(back, 2), [500, 100]);
  t.deepEqual(sizesOf(front, 2), [0, 600]);
});
