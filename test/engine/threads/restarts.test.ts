import test from 'ava';
import { Restarts } from '../../../engine/threads/restarts.ts';

const MINUTE_MS = 60_000;

function restarts() {
  let nowMs = 0;
  const passes = (ms: number) => {
    nowMs += ms;
  };
  return { restarts: new Restarts(() => nowMs), passes };
}

test('each failure in a row makes the next start wait longer, up to ten seconds', (t) => {
  const { restarts: tried } = restarts();
  const waits = Array.from({ length: 8 }, () => {
    const waitMs = tried.failed('it broke');
    tried.opened(false);
    return waitMs;
  });
  t.deepEqual(waits, [250, 500, 1000, 2000, 4000, 8000, 10_000, 10_000]);
});

test('D10: a shard that failed twice in a row is listed until it lasts', (t) => {
  const { restarts: tried, passes } = restarts();
  tried.failed('Error: first');
  t.is(tried.problem, null, 'once is put right by a start');
  tried.opened(false);
  passes(MINUTE_MS - 1);
  tried.failed('Error: second');
  t.is(tried.problem, 'failed 2 times in a row: Error: second');
  tried.failed('Error: third');
  tried.opened(false);
  passes(MINUTE_MS - 1);
  t.is(
    tried.problem,
    'failed 3 times in a row: Error: third',
    'it is open, and has not lasted yet',
  );
  passes(1);
  t.is(tried.problem, null);
  t.is(tried.failed('Error: much later'), 250, 'the row has ended');
  t.is(tried.problem, null);
});

test('a shard whose data was put right starts a new row', (t) => {
  const { restarts: tried } = restarts();
  for (let times = 0; times < 5; times++) tried.failed('data.mdb is missing');
  tried.opened(true);
  t.is(tried.problem, null);
  t.is(tried.failed('Error: it broke'), 250);
});
