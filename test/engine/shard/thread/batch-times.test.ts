import test from 'ava';
import { BATCH_TIMES_BYTES, BatchTimes } from '../../../../engine/shard/thread/batch-times.ts';

const MINUTE_MS = 60_000;
const NOON_MS = Date.UTC(2026, 10, 21, 12);

/** Two ends of one memory. */
function batchTimes() {
  const memory = new SharedArrayBuffer(8 + BATCH_TIMES_BYTES);
  return { written: new BatchTimes(memory, 8), read: new BatchTimes(memory, 8) };
}

test('O18: the median and the 99th percentile of batches, at most a tenth too long', (t) => {
  const { written, read } = batchTimes();
  t.deepEqual(read.read(NOON_MS), { batches: 0, p50Ms: null, p99Ms: null });
  for (let ms = 1; ms <= 200; ms++) written.note(ms / 10, NOON_MS);
  const { batches, p50Ms, p99Ms } = read.read(NOON_MS);
  t.is(batches, 200);
  t.true(p50Ms! >= 10 && p50Ms! <= 11, String(p50Ms));
  t.true(p99Ms! >= 19.8 && p99Ms! <= 22, String(p99Ms));
});

test('O18: what takes no time, and what takes for ever, counts at the ends', (t) => {
  const { written, read } = batchTimes();
  written.note(0, NOON_MS);
  t.like(read.read(NOON_MS), { p50Ms: 0.01, p99Ms: 0.01 });
  written.note(3_600_000, NOON_MS);
  t.like(read.read(NOON_MS), { batches: 2, p50Ms: 0.01, p99Ms: 10_000 });
});

test('O18: of five minutes, whatever stood in their place before', (t) => {
  const { written, read } = batchTimes();
  for (let minute = 0; minute < 12; minute++) written.note(1, NOON_MS + minute * MINUTE_MS);
  const newestMs = NOON_MS + 11 * MINUTE_MS;
  t.is(read.read(newestMs).batches, 5);
  t.is(read.read(newestMs + 2 * MINUTE_MS).batches, 3, 'nothing came for two minutes');
  t.is(read.read(newestMs + 60 * MINUTE_MS).batches, 0);
  t.is(read.read(NOON_MS).batches, 0, 'a clock that was set back knows none of later');
});
