import test from 'ava';
import { feedClock, wallClock } from '../../../engine/shard/clock.ts';
import { placeOrder, quoteTick, uuidOf } from '../fixtures.ts';
import { openShards, tempDir } from './engine-process.ts';

test('CONTRACT.md section 8, PAPERBOOK_CLOCK: on the feed clock time is the newest fed', (t) => {
  const clock = feedClock();
  t.is(clock.nowMs(), 0);
  clock.heard(2000);
  clock.heard(1000);
  t.is(clock.nowMs(), 2000);
});

test('the wall clock never goes back and feeds do not move it', (t) => {
  const clock = wallClock();
  const before = clock.nowMs();
  clock.heard(before + 1e9);
  t.true(clock.nowMs() < before + 1e9);
  t.true(clock.nowMs() >= before);
});

test('time goes on where the clock of the machine is behind', async (t) => {
  const clock = wallClock();
  const behindMs = clock.nowMs() + 3_600_000;
  clock.startFrom(behindMs);
  const first = clock.nowMs();
  t.true(first >= behindMs);
  while (clock.nowMs() === first) await new Promise((resolve) => setTimeout(resolve, 1));
  t.true(clock.nowMs() > first);
  clock.startFrom(behindMs + 1_000_000);
  t.true(clock.nowMs() >= behindMs + 1_000_000);
});

test('a machine whose clock was set back over a restart still has live prices', async (t) => {
  const dir = tempDir(t);
  const aheadMs = Date.parse('2126-01-01T00:00:00.000Z');
  const first = await openShards(dir, { clock: feedClock() });
  const order = placeOrder({ atMs: aheadMs });
  first.tick(quoteTick({ atMs: aheadMs }));
  t.true((await first.call(order.account, order)).ok);
  await first.close();

  const second = await openShards(dir, { clock: wallClock() });
  const nowMs = second.nowMs();
  t.true(nowMs >= aheadMs, 'the engine goes on from where it was');
  second.tick(quoteTick({ atMs: nowMs }));
  const next = placeOrder({ atMs: nowMs, account: uuidOf(2) });
  t.true((await second.call(next.account, next)).ok);
  await second.close();
});
