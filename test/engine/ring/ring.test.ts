/** Rings and bells between two real threads: nothing is lost, mixed up or left asleep. */
import { setImmediate as turn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import test, { type ExecutionContext } from 'ava';
import { Bell, bellMemory } from '../../../engine/ring/bell.ts';
import { ByteRing, ringMemory } from '../../../engine/ring/byte-ring.ts';
import { channelMemory, Endpoint } from '../../../engine/ring/endpoint.ts';
import { shareOf } from '../../model/seeds.ts';
import type { Echo } from './echo-worker.ts';
import { faultOf, numberedFrame, randomNumbers } from './frames.ts';

test('bytes come out as they went in, whatever they meet the edge with', (t) => {
  const memory = ringMemory(16);
  const [writer, reader] = [new ByteRing(memory), new ByteRing(memory)];
  const from = Buffer.from('abcdefghijklmnopqrstuvwxyz');
  const to = Buffer.alloc(26);
  for (let bytes = 1; bytes <= 16; bytes++) {
    for (let round = 0; round < 20; round++) {
      t.is(writer.write(from, 0, bytes), bytes);
      t.is(reader.waiting, 0, 'nothing is shown before it is published');
      t.true(writer.publish());
      t.is(reader.read(to.fill(0), 3), bytes);
      t.is(to.toString('latin1', 3, 3 + bytes), from.toString('latin1', 0, bytes));
    }
  }
  t.is(writer.write(from, 0, 26), 16, 'and no more than there is room for');
  t.is(writer.room, 0);
  t.false(reader.takeWanted());
  writer.wantRoom();
  t.true(reader.takeWanted());
  t.false(reader.takeWanted(), 'room is asked for once');
});

test('positions go on past 32 bits', (t) => {
  const memory = ringMemory(16);
  new Int32Array(memory).fill(-8, 0, 17);
  const [writer, reader] = [new ByteRing(memory), new ByteRing(memory)];
  const to = Buffer.alloc(12);
  for (let round = 0; round < 4; round++) {
    t.is(writer.write(Buffer.from('0123456789ab'), 0, 12), 12);
    writer.publish();
    t.is(reader.read(to, 0), 12);
    t.is(to.toString(), '0123456789ab');
  }
});

test('a bell that rang before the sleep, or between the look and the sleep, ends it at once', async (t) => {
  const memory = bellMemory();
  const [sleeper, ringer] = [new Bell(memory), new Bell(memory)];
  const rungBetween = () => {
    ringer.ring();
    return false;
  };
  sleeper.sleep(rungBetween, 60_000);
  t.is(sleeper.sleepAsync(rungBetween), null);
  t.is(
    sleeper.sleepAsync(() => true),
    null,
  );
  const sleeping = sleeper.sleepAsync(() => false);
  t.is(
    sleeper.sleepAsync(() => true),
    sleeping,
    'it sleeps already',
  );
  ringer.ring();
  // Who only waits for a bell does not keep its event loop alive.
  const alive = setInterval(() => undefined, 1000);
  await sleeping;
  await sleeper.sleepAsync(() => false, 1);
  clearInterval(alive);
  t.pass('its time was over');
});

test('an end calls back when there is news, also news that is there already', async (t) => {
  const memory = channelMemory(1024);
  const caller = new Endpoint(memory, 'caller');
  const shard = new Endpoint(memory, 'shard');
  let calls = 0;
  const called = () =>
    new Promise<void>((resolve) => {
      shard.whenNews(() => {
        calls++;
        resolve();
      });
    });
  const first = called();
  await turn();
  t.is(calls, 0, 'there is none');
  caller.send(numberedFrame(0, 10));
  const alive = setInterval(() => undefined, 1000);
  await first;
  const second = called();
  t.is(calls, 1, 'never within the call');
  await second;
  clearInterval(alive);
  t.is(calls, 2);
});

for (const [name, sizes] of Object.entries({
  'one at a time': {
    ...{ frames: 5000, window: 1, capacity: 1024 },
    ...{ requestBytesMax: 40, answerBytesMax: 40 },
  },
  'many at a time': {
    ...{ frames: 40_000, window: 100, capacity: 4096 },
    ...{ requestBytesMax: 200, answerBytesMax: 300 },
  },
  'each around the size of the ring': {
    ...{ frames: 10_000, window: 4, capacity: 256 },
    ...{ requestBytesMax: 280, answerBytesMax: 280 },
  },
  'each many times the ring': {
    ...{ frames: 1000, window: 2, capacity: 512 },
    ...{ requestBytesMax: 10_000, answerBytesMax: 10_000 },
  },
})) {
  test.serial(
    `D1: frames come once each and in order, and no thread is left asleep: ${name}`,
    async (t) => {
      const frames = shareOf(sizes.frames);
      const wakeUps = await exchange(t, { ...sizes, frames });
      t.true(wakeUps > 0, 'the caller slept');
      t.log(`${frames} frames each way, the caller woke ${wakeUps} times`);
    },
  );
}

type Sizes = {
  frames: number;
  window: number;
  capacity: number;
  requestBytesMax: number;
  answerBytesMax: number;
};

/** A lost wake-up lasts for ever. */
const STALL_MS = 20_000;

/** Sends frames to a thread that answers each. @returns how often this end slept */
async function exchange(t: ExecutionContext, sizes: Sizes): Promise<number> {
  const { frames, answerBytesMax } = sizes;
  const channel = channelMemory(sizes.capacity);
  const echo: Echo = { channel, frames, answerBytesMax };
  const worker = new Worker(new URL('echo-worker.ts', import.meta.url), { workerData: echo });
  t.teardown(() => worker.terminate());
  const failed = new Promise<never>((_, reject) => worker.once('error', reject));
  failed.catch(() => undefined);
  const end = new Endpoint(channel, 'caller');
  const random = randomNumbers(1);
  let [sent, answered, wakeUps] = [0, 0, 0];
  const sendMore = () => {
    while (sent < frames && !end.isFull && sent - answered < sizes.window) {
      end.send(numberedFrame(sent++, random(sizes.requestBytesMax)));
    }
  };
  for (;;) {
    while (end.isReady()) {
      const fault = faultOf(end.next(), answered);
      if (fault !== null) throw new Error(fault);
      answered++;
    }
    end.flush();
    // In turns, as a caller does: while this end is awake, and while it sleeps.
    if (random(2) === 0) sendMore();
    else setImmediate(sendMore);
    if (answered === frames) break;
    const sleeping = end.sleepAsync();
    if (sleeping !== null) wakeUps++;
    const stall = stalled(() => `no answer to frame ${answered}`);
    await Promise.race([sleeping ?? turn(), failed, stall]);
  }
  clearTimeout(watchdog);
  return wakeUps;
}

let watchdog: NodeJS.Timeout | undefined;

function stalled(message: () => string): Promise<never> {
  clearTimeout(watchdog);
  return new Promise((_, reject) => {
    watchdog = setTimeout(() => reject(new Error(message())), STALL_MS);
    watchdog.unref();
  });
}

test('who waits for room is woken, also where the wish was taken while none was free', async (t) => {
  const memory = channelMemory(64);
  const [caller, shard] = [new Endpoint(memory, 'caller'), new Endpoint(memory, 'shard')];
  caller.send(numberedFrame(0, 10));
  t.true(shard.isReady(), 'the shard has taken the first frame out of the ring');
  caller.send(numberedFrame(1, 100));
  t.true(caller.isFull);
  t.true(shard.isReady(), 'it takes the wish for room, frees none, and rings who does not sleep');
  const sleeping = caller.sleepAsync();
  t.not(sleeping, null);
  shard.next();
  t.false(shard.isReady(), 'now there is room');
  const woken = await Promise.race([
    sleeping!.then(() => true),
    new Promise((resolve) => setTimeout(() => resolve(false), 5000)),
  ]);
  t.true(woken);
  t.true(caller.flush());
  t.true(shard.isReady());
  t.is(faultOf(shard.next(), 1), null);
});
