import test from 'ava';
import { QueueBound } from '../../../../engine/shard/callers/queue-bound.ts';

type Timed = { bound: QueueBound; clock: { ms: number } };

/** One waits always, so that there is a rate. */
function busy(requestsMax = 8000): Timed {
  const clock = { ms: 0 };
  const bound = new QueueBound(requestsMax, () => clock.ms);
  bound.came();
  return { bound, clock };
}

/** Answers `perMs` a millisecond for a while. */
function answer({ bound, clock }: Timed, perMs: number, forMs: number): void {
  for (let ms = 0; ms < forMs; ms++) {
    clock.ms++;
    answerNow(bound, perMs);
  }
}

function answerNow(bound: QueueBound, answers: number): void {
  for (let n = 0; n < answers; n++) bound.came();
  for (let n = 0; n < answers; n++) bound.answered();
  bound.measure();
}

test('D7: as many may wait as are answered in a time, at the rate at which they are', (t) => {
  const timed = busy();
  const { bound } = timed;
  t.is(bound.requests, 8000, 'nothing was measured yet');
  answer(timed, 80, 3000);
  const fast = bound.requests;
  answer(timed, 40, 3000);
  const slow = bound.requests;
  t.true(fast >= 80 * 20 && fast <= 80 * 200, `${fast}`);
  t.true(Math.abs(slow - fast / 2) < fast / 50, 'half the rate, half as many');
  t.is(bound.waiting, 1);
  bound.lost(1);
  t.is(bound.waiting, 0);
});

test('never more than the bound by number, and never fewer than two thousand', (t) => {
  const timed = busy(3000);
  const { bound, clock } = timed;
  answer(timed, 1000, 1000);
  t.is(bound.requests, 3000);
  for (let second = 0; second < 100; second++) {
    clock.ms += 1000;
    answerNow(bound, 1);
  }
  t.is(bound.requests, 2048);
  t.is(busy(2).bound.requests, 2);
});

test('one moment in which the disk stood still is no rate, and the time of no requests is none', (t) => {
  const timed = busy();
  const { bound, clock } = timed;
  answer(timed, 40, 3000);
  const usual = bound.requests;
  clock.ms += 400;
  answerNow(bound, 40);
  t.true(bound.requests > usual / 3);
  answer(timed, 40, 3000);
  bound.answered();
  clock.ms += 60_000;
  bound.came();
  answer(timed, 40, 20);
  t.true(Math.abs(bound.requests - usual) < usual / 50);
});
