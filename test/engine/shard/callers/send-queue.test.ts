import test from 'ava';
import { ByteWriter } from '../../../../engine/format/bytes.ts';
import { ticksIn, writeMessage } from '../../../../engine/format/codec.ts';
import type { Depth, DepthLevel, QuoteTick, Tick } from '../../../../engine/rules/messages.ts';
import { SendQueue } from '../../../../engine/shard/callers/send-queue.ts';
import { NOON_MS, quoteTick } from '../../fixtures.ts';

const heartbeat: Tick = { kind: 'heartbeat', atMs: NOON_MS, source: 0 };
const waiter = { resolve() {}, reject() {} };

test('requests and ticks leave in the order in which they came', (t) => {
  const outbox = new SendQueue(10);
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
  const outbox = new SendQueue(3);
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
  const outbox = new SendQueue(2);
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
    const outbox = new SendQueue(1);
    outbox.addTick(quoteTick({ yesBidCents: 1 }));
    outbox.addTick(stop);
    outbox.addTick(quoteTick({ yesBidCents: 2 }));
    outbox.addTick(quoteTick({ yesBidCents: 3 }));
    const { messages } = outbox.take(9);
    t.deepEqual(messages, [quoteTick({ yesBidCents: 1 }), stop, quoteTick({ yesBidCents: 3 })]);
  }
});

test('D46: ticks packed together count one by one, and past the bound each is kept by itself', (t) => {
  const outbox = new SendQueue(3);
  const packed = (...ticks: Tick[]) => {
    const writer = new ByteWriter();
    for (const tick of ticks) writeMessage(writer, tick);
    return { kind: 'packed', bytes: writer.copy(), ticks: ticks.length } as const;
  };
  const first = packed(quoteTick({ yesBidCents: 1 }), heartbeat, heartbeat);
  outbox.addTick(first);
  outbox.addTick(packed(quoteTick({ yesBidCents: 2 }), heartbeat));
  const status = { kind: 'status', atMs: NOON_MS, source: 0, market: 9, status: 'paused' } as const;
  outbox.addTick(packed(status, quoteTick({ yesBidCents: 3 })));
  t.deepEqual(outbox.take(1).messages, [first]);
  const room = packed(heartbeat, heartbeat);
  outbox.addTick(room);
  t.deepEqual(outbox.take(9).messages, [quoteTick({ yesBidCents: 3 }), status, room]);
});

test('D7: a packed batch without its ticks is bounded by who sends it', (t) => {
  const outbox = new SendQueue(1);
  const packed = { kind: 'packed', bytes: Buffer.alloc(0), ticks: null } as const;
  outbox.addTick(packed);
  outbox.addTick(packed);
  t.is(outbox.take(9).messages.length, 2);
});

test('D44: the quote that takes the place of another has its levels, or changes of levels, too', (t) => {
  const quote = (over: Partial<QuoteTick>) => quoteTick({ ...over });
  const queued = (...quotes: QuoteTick[]) => {
    const outbox = new SendQueue(1);
    for (const each of quotes) outbox.addTick(each);
    return outbox.take(9).messages;
  };
  const asks: DepthLevel[] = [[45, 2]];
  const changes = [
    { yesBids: [[40, 1]], yesAsks: asks },
    { yesBids: [[39, 3]], yesAsks: [] },
    { yesBids: [[40, 0]], yesAsks: [[44, 6]] },
  ].map((depthChange) => quote({ depthChange: depthChange as unknown as Depth }));
  const all = {
    yesBids: [
      [39, 3],
      [40, 0],
    ],
    yesAsks: [
      [45, 2],
      [44, 6],
    ],
  };
  t.deepEqual(queued(...changes), [quote({ depthChange: all as unknown as Depth })]);
  const whole = quote({
    depth: {
      yesBids: [
        [40, 9],
        [38, 7],
      ],
      yesAsks: [[46, 1]],
    },
  });
  const depth: Depth = {
    yesBids: [
      [39, 3],
      [38, 7],
    ],
    yesAsks: [
      [44, 6],
      [45, 2],
      [46, 1],
    ],
  };
  t.deepEqual(queued(whole, ...changes), [quote({ depth })]);
  t.deepEqual(queued(whole, quoteTick()), [quoteTick()]);
});

test('T232: the quote that replaces several says since when', (t) => {
  const outbox = new SendQueue(1);
  for (const laterMs of [0, 5, 9]) outbox.addTick(quoteTick({ atMs: NOON_MS + laterMs }));
  const [quote] = outbox.take(9).messages;
  t.deepEqual(quote, quoteTick({ atMs: NOON_MS + 9, sinceMs: NOON_MS }));
  const writer = new ByteWriter();
  writeMessage(writer, quote!);
  t.deepEqual(ticksIn(writer.copy()), [quote]);
});

test('W97: past its bound levels are dropped, and their reader knows that until they come whole', (t) => {
  const on = { atMs: NOON_MS, source: 0 } as const;
  const change = (market: number): Tick => ({
    ...{ kind: 'level', ...on, market, change: 'add', side: 'yes', price: 4000 },
    ...{ contracts: 100, size: 100, decrease: 0 },
  });
  const print: Tick = {
    ...{ kind: 'print', ...on, market: 1, side: 'yes', price: 4000, contracts: 1, decrease: 0 },
  };
  const whole: Tick = { kind: 'levels', ...on, market: 1, levels: NO_LEVELS, repeats: true };
  const lost = (market: number): Tick => ({
    ...{ kind: 'levels', ...on, market, levels: null, repeats: false },
  });
  const outbox = new SendQueue(2);
  for (const tick of [change(1), change(2), change(1), print, whole, change(2)]) {
    outbox.addTick(tick);
  }
  t.deepEqual(outbox.take(9).messages, [change(1), change(2), lost(1), lost(2)]);
  // With room, the whole book and what follows it are sent again.
  outbox.addTick(whole);
  for (const tick of [change(1), print, print]) outbox.addTick(tick);
  t.deepEqual(outbox.take(9).messages, [whole, change(1), lost(1)]);
});

test('W97, D46: after packed ticks, of which some may be whole, dropped levels are told again', (t) => {
  const writer = new ByteWriter();
  const on = { atMs: NOON_MS, source: 0, market: 1 } as const;
  const whole: Tick = { kind: 'levels', ...on, levels: NO_LEVELS, repeats: false };
  writeMessage(writer, whole);
  const outbox = new SendQueue(1);
  const lost: Tick = { kind: 'levels', ...on, levels: null, repeats: false };
  outbox.addTick(heartbeat);
  outbox.addTick(whole);
  t.deepEqual(outbox.take(9).messages, [heartbeat, lost]);
  outbox.addTick({ kind: 'packed', bytes: writer.copy(), ticks: 1 });
  outbox.addTick(whole);
  t.deepEqual(
    outbox.take(9).messages.map(({ kind }) => kind),
    ['packed', 'levels'],
  );
});

test('W97, D11: a queue that was emptied for a shard that starts again tells lost levels again', (t) => {
  const on = { atMs: NOON_MS, source: 0, market: 1 } as const;
  const whole: Tick = { kind: 'levels', ...on, levels: NO_LEVELS, repeats: false };
  const lost: Tick = { kind: 'levels', ...on, levels: null, repeats: false };
  const outbox = new SendQueue(1);
  for (const _ of [1, 2]) {
    outbox.addTick(heartbeat);
    outbox.addTick(whole);
    t.is(outbox.length, 2);
    outbox.clear();
  }
  outbox.addTick(heartbeat);
  outbox.addTick(whole);
  t.deepEqual(outbox.take(9).messages, [heartbeat, lost]);
});

const NO_LEVELS = { yes: [], no: [] };
