/** Counts that several threads add to. */
import { Worker } from 'node:worker_threads';
import test from 'ava';
import { CountSlots, countsMemory, SharedCount } from '../../../api/limits/shared-counts.ts';
import { uuidOf } from '../../engine/fixtures.ts';

const [A, B] = [uuidOf(1), uuidOf(2)];
const MONTH = '2026-11';
const MINUTE = 29_000_000;

test('Q28: a count of several threads has every request once', async (t) => {
  const memory = countsMemory();
  const slots = new CountSlots(memory);
  const slot = slots.of(A)!;
  const times = 20_000;
  const code = `
    import { workerData } from 'node:worker_threads';
    const { SharedCount } = await import(workerData.module);
    const words = new BigInt64Array(workerData.memory);
    const count = new SharedCount('${A}', '${MONTH}', words, workerData.slot);
    for (let n = 0; n < ${times}; n++) {
      count.add(2, ${MINUTE});
      count.takeBack(1, ${MINUTE});
    }
  `;
  const url = new URL(`data:text/javascript,${encodeURIComponent(code)}`);
  const module = new URL('../../../api/limits/shared-counts.ts', import.meta.url).href;
  const workers = [1, 2].map(() => new Worker(url, { workerData: { memory, slot, module } }));
  const own = new SharedCount(A, MONTH, new BigInt64Array(memory), slot);
  for (let n = 0; n < times; n++) own.add(1, MINUTE);
  await Promise.all(
    workers.map((worker) => new Promise((resolve) => worker.once('exit', resolve))),
  );
  t.is(own.inMonth, 3 * times);
  t.is(own.within(MINUTE), 3 * times);
});

test('Q28, Q3: another minute or month begins at nothing, and takes nothing back of the one before', (t) => {
  const slots = new CountSlots(countsMemory());
  const slot = slots.of(A)!;
  const november = slots.count(A, MONTH, slot, { id: A, inMonth: 7, minute: MINUTE, inMinute: 2 });
  t.deepEqual([november.inMonth, november.within(MINUTE)], [7, 2]);
  november.add(1, MINUTE);
  t.deepEqual([november.monthAfter, november.minuteAfter], [8, 3]);
  november.add(5, MINUTE + 1);
  t.deepEqual([november.inMonth, november.within(MINUTE), november.inMinute], [13, 0, 5]);
  november.takeBack(3, MINUTE);
  t.deepEqual([november.inMonth, november.inMinute], [10, 5], 'of the minute before');
  const december = slots.count(A, '2026-12', slot, undefined);
  t.is(december.inMonth, 0);
  december.add(1, MINUTE + 2);
  t.deepEqual([december.inMonth, november.inMonth], [1, 0]);
  november.takeBack(1, MINUTE + 2);
  t.is(december.inMonth, 1);
  t.is(december.inMinute, 0);
});

test('Q28: a stored count is taken over once, and not over requests that were counted since', (t) => {
  const slots = new CountSlots(countsMemory());
  const stored = { id: A, inMonth: 7, minute: MINUTE, inMinute: 2 };
  const first = slots.count(A, MONTH, slots.of(A)!, stored);
  first.add(1, MINUTE);
  t.is(slots.count(A, MONTH, slots.of(A)!, stored).inMonth, 8);
});

test('Q28: a count keeps its place, the memory grows, and beyond its end there is none', (t) => {
  const slots = new CountSlots(countsMemory(1500));
  t.is(slots.of(A), 0);
  t.is(slots.of(B), 1);
  const before = new SharedCount(B, MONTH, new BigInt64Array(slots.memory), 1);
  const given = Array.from({ length: 1498 }, (_, n) => slots.of(uuidOf(100 + n)));
  t.is(given.at(-1), 1499);
  t.is(slots.of(uuidOf(5000)), null);
  t.is(slots.of(A), 0);
  const last = new SharedCount(A, MONTH, new BigInt64Array(slots.memory), 1499);
  last.add(3, MINUTE);
  before.add(1, MINUTE);
  t.deepEqual([last.inMonth, before.inMonth], [3, 1]);
});
