import path from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import test from 'ava';
import { liquidityMemory } from '../../../../engine/memory/market-liquidity.ts';
import { ShardLink } from '../../../../engine/shard/callers/shard-link.ts';
import { ShardThread } from '../../../../engine/shard/callers/thread.ts';
import { ShardDamage } from '../../../../engine/shard/thread/shard-damage.ts';
import { FaultNote } from '../../../../engine/threads/fault-note.ts';
import { quoteTick } from '../../fixtures.ts';
import { tempDir } from '../engine-process.ts';
import { flipByte, tradedShard } from '../environment.ts';

const CONFIG = {
  shard: 0,
  durability: 'commit',
  checkpointEveryFacts: 1000,
  quoteMaxAgeMs: 15_000,
  routingBandCents: 10,
} as const;

/** Longer than a thread needs to open a shard, however slow the machine is. */
const SLOW_MS = 60_000;

function threadOf(dir: string): ShardThread {
  return new ShardThread({ ...CONFIG, path: dir }, liquidityMemory(1), () => undefined);
}

test('a shard that cannot come back says why at every try', async (t) => {
  const dir = path.join(tempDir(t), 'shard-0');
  await tradedShard(dir);
  flipByte(dir, 'log/00000000.log', 300);
  const thread = threadOf(dir);
  for (let tries = 0; tries < 3; tries++) {
    await t.throwsAsync(thread.open(), {
      instanceOf: ShardDamage,
      message: /^00000000\.log is damaged at byte \d+/,
    });
  }
  await thread.destroy();
});

test('a thread that failed leaves its reason, and is not opened again while it ends', async (t) => {
  const dir = path.join(tempDir(t), 'shard-0');
  await tradedShard(dir);
  const thread = threadOf(dir);
  const { accounts } = await thread.open();
  const failing = serve(thread);
  failing.link.send([quoteTick({ market: 999 })], []);
  // It may be asked while it still has the file open.
  const again = thread.open().catch(() => thread.open());
  await t.throwsAsync(failing.ended);
  t.regex(thread.faultOf('the thread ended'), /^InvariantError: /, 'also where its error was lost');
  t.is((await again).accounts, accounts);
  // Long enough for the thread that failed to be gone: what is open now is another one.
  await new Promise((resolve) => setTimeout(resolve, 100));
  const { link, ended } = serve(thread);
  link.send([quoteTick(), { kind: 'close' }], []);
  await ended;
  await thread.destroy();
});

test('D10: a shard that starts again while its engine closes is not started any more', async (t) => {
  const dir = path.join(tempDir(t), 'shard-0');
  await tradedShard(dir);
  for (const waitMs of [0, 20, 60]) {
    const thread = threadOf(dir);
    await thread.open();
    const failing = serve(thread);
    failing.link.send([quoteTick({ market: 999 })], []);
    await t.throwsAsync(failing.ended);
    // The thread may still have the file open.
    const again = thread.open();
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    await thread.destroy();
    const ended = again.then(
      () => 'opened before the end',
      (error: Error) => error.message,
    );
    t.regex(await ended, /destroyed|before the end/);
    await t.throwsAsync(thread.open(), { message: /destroyed/ });
  }
});

test('D10: a thread that opens its shard is not ended amid that', async (t) => {
  const dir = path.join(tempDir(t), 'shard-0');
  await tradedShard(dir);
  const thread = threadOf(dir);
  const opened = thread.open();
  await turn();
  await thread.destroy(SLOW_MS);
  const again = threadOf(dir);
  t.teardown(() => again.destroy());
  t.deepEqual((await again.open()).accounts, (await opened).accounts, 'its files were released');
});

function serve(thread: ShardThread) {
  const { end, ended } = thread.serve();
  return { link: new ShardLink(end, () => undefined), ended };
}

test('a note is taken once, and is cut to the room that there is', (t) => {
  const note = new FaultNote();
  const otherSide = new FaultNote(note.memory);
  t.is(note.take(), null);
  otherSide.write('InvariantError: invariant: an account does not add up');
  t.is(note.take(), 'InvariantError: invariant: an account does not add up');
  t.is(note.take(), null);
  otherSide.write('é'.repeat(1000));
  t.is(note.take(), 'é'.repeat(250));
});
