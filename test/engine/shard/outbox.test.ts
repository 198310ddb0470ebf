import test from 'ava';
import type { Tick } from '../../../engine/rules/messages.ts';
import { Outbox } from '../../../engine/shard/outbox.ts';
import { NOON_MS, quoteTick } from '../fixtures.ts';

const heartbeat: Tick = { kind: 'heartbeat', atMs: NOON_MS, source: 0 };
const waiter = { resolve() {}, reject() {} };

test('requests and ticks leave in the order in which they came', (t) => {
  const outbox = new Outbox(10);
  outbox.addTick(heartbeat);
  outbox.addRequest({ kind: 'audit', atMs: 1 }, waiter);
  outbox.addTick(quoteTick());
  const first = outbox.take(2);
  t.deepEqual(
    first.messages.map(({ kind }) => kind),
    ['heartbeat', 'audit'],
  );
  t.is(first.waiters.length, 1);
  t.deepEqual(outbox.take(9), { messages: [quoteTick()], waiters: [] });
  t.is(outbox.length, 0);
});

test('D7: past its bound the newest quote of a market replaces the one that waits', (t) => {
  const outbox = new Outbox(3);
  outbox.addTick(heartbeat);
  outbox.addTick(quoteTick({ yesBidCents: 1 }));
  outbox.addTick(heartbeat);
  outbox.take(1);
  outbox.addTick(heartbeat);
  outbox.addTick(quoteTick({ yesBidCents: 2 }));
  outbox.addTick(heartbeat);
  const { messages } = outbox.take(9);
  t.deepEqual(messages, [quoteTick({ yesBidCents: 2 }), heartbeat, heartbeat]);
});

test('D7: past its bound no newest quote is lost, and results and statuses are kept', (t) => {
  const outbox = new Outbox(2);
  outbox.addTick(quoteTick({ yesBidCents: 1 }));
  outbox.addTick(heartbeat);
  outbox.take(1);
  outbox.addTick(heartbeat);
  // Its quote has left already: the newer one must not be dropped, nor the one after it.
  outbox.addTick(quoteTick({ yesBidCents: 2 }));
  outbox.addTick(quoteTick({ yesBidCents: 3 }));
  outbox.addTick({ kind: 'status', atMs: NOON_MS, source: 0, market: 0, status: 'paused' });
  outbox.addTick({ kind: 'down', atMs: NOON_MS, source: 0 });
  const { messages } = outbox.take(99);
  t.deepEqual(
    messages.map(({ kind }) => kind),
    ['heartbeat', 'heartbeat', 'quote', 'status', 'down'],
  );
  t.like(messages[2], { yesBidCents: 3 });
});

test('D7: past its bound a quote does not overtake a status, a result or the end of its connection', (t) => {
  const at = { atMs: NOON_MS, source: 0 } as const;
  const pays = { outcome: 'yes', yesPayoutCents: 100, noPayoutCents: 0 } as const;
  for (const stop of [
    { ...at, kind: 'status', market: 0, status: 'paused' },
    { ...at, kind: 'result', market: 0, ...pays },
    { ...at, kind: 'game', game: 'awy-hom', status: 'cancelled' },
    { ...at, kind: 'down' },
  ] satisfies Tick[]) {
    const outbox = new Outbox(1);
    outbox.addTick(quoteTick({ yesBidCents: 1 }));
    outbox.addTick(stop);
    outbox.addTick(quoteTick({ yesBidCents: 2 }));
    outbox.addTick(quoteTick({ yesBidCents: 3 }));
    const { messages } = outbox.take(9);
    t.deepEqual(messages, [quoteTick({ yesBidCents: 1 }), stop, quoteTick({ yesBidCents: 3 })]);
  }
});
