/** How old boards may be, by a clock of the test: somebody asks for each of them all the time. */
import test from 'ava';
import { type Freshness, RefreshBudget } from '../../../../engine/records/boards/refresh-budget.ts';

const BEHIND_MAX_MS = 5000;
const HOUR_MS = 3_600_000;
/** How late after the disk boards are made: rule Y7. */
const POLL_MS = 100;

/** Boards that take so long each; what a share of an hour they took, and how old they were at most. */
function asked(tookMs: readonly number[]) {
  let nowMs = 0;
  let busyMs = 0;
  const pace = new RefreshBudget(() => nowMs);
  const boards = tookMs.map((took) => ({ took, asOfMs: 0, freshness: null as Freshness | null }));
  let oldestMs = 0;
  for (; nowMs < HOUR_MS; nowMs += 10) {
    for (const board of boards) {
      if (board.freshness !== null && !pace.isDue(board.freshness)) continue;
      const asOfMs = nowMs;
      board.freshness = pace.make(() => {
        nowMs += board.took;
        busyMs += board.took;
      }).freshness;
      // What came just after the last time was shown only now.
      if (board.asOfMs > 0) oldestMs = Math.max(oldestMs, nowMs - board.asOfMs);
      board.asOfMs = asOfMs;
    }
  }
  return { oldestMs, share: busyMs / HOUR_MS };
}

test('Y21: a board that takes up to 1.2 s is less than 5 s old, whenever a trade settles', (t) => {
  for (const took of [0, 1, 20, 100, 300, 500, 800, 1000, 1200]) {
    const { oldestMs, share } = asked([took]);
    t.true(oldestMs + POLL_MS < BEHIND_MAX_MS, `${took}: ${oldestMs}`);
    t.true(oldestMs >= 1000 && share < 0.35, `${took}: ${share}`);
  }
});

test('Y21: however many boards are asked for, they take half of the thread', (t) => {
  t.true(asked([1000, 1000, 1000, 1000]).share < 0.51);
  t.true(asked([300, 50, 900, 1200, 4000, 10]).share < 0.51);
  t.true(asked(new Array(10).fill(1000)).share < 0.55);
  const { oldestMs } = asked([100, 100, 100, 100, 100]);
  t.true(oldestMs < BEHIND_MAX_MS, String(oldestMs));
});

test('Y21: a board that is made in two steps is as old as its first one', (t) => {
  let nowMs = 0;
  const pace = new RefreshBudget(() => nowMs);
  const takes = (ms: number) => () => {
    nowMs += ms;
  };
  const first = pace.make(takes(100)).freshness;
  t.deepEqual(first, { tookMs: 100, madeAtMs: 100, untilMs: 1100 });
  nowMs = 600;
  const second = pace.make(takes(500), first).freshness;
  t.deepEqual(second, { tookMs: 600, madeAtMs: 100, untilMs: 1900 });
  nowMs = 1899;
  t.false(pace.isDue(second));
  nowMs = 1900;
  t.true(pace.isDue(second));
});

test('Y21: a board that nobody asked for is made again, also right after another one', (t) => {
  let nowMs = 0;
  const pace = new RefreshBudget(() => nowMs);
  const made = (tookMs: number) => {
    return pace.make(() => {
      nowMs += tookMs;
    }).freshness;
  };
  for (const tookMs of [1, 10, 180, 1000]) {
    const old = made(tookMs);
    nowMs += HOUR_MS;
    made(1200);
    t.true(pace.isDue(old), `${tookMs}`);
  }
  const recent = made(180);
  nowMs += 1500;
  made(1200);
  t.false(pace.isDue(recent), 'less than 5 s old, it waits');
});
