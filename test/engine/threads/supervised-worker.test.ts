/** A thread that is kept up, by a worker that fails when it is told to. */
import { setTimeout as sleep } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import {
  SupervisedWorker,
  type SupervisedWorkerOptions,
} from '../../../engine/threads/supervised-worker.ts';
import { Unavailable } from '../../../engine/threads/unavailable.ts';

type To = { kind: 'ask'; id: number } | { kind: 'fail' } | { kind: 'forget' } | { kind: 'close' };
type From = { kind: 'opened'; first: string } | { kind: 'answer'; id: number };

type Options = Pick<SupervisedWorkerOptions<From>, 'heap' | 'idleMs'>;

/** Answers once it was greeted, but never after `forget`. */
const WORKER = `
  import { parentPort } from 'node:worker_threads';
  let isMute = false;
  parentPort.on('message', ({ kind, id }) => {
    if (kind === 'fail') throw new Error('it was told to');
    if (kind === 'forget') isMute = true;
    if (kind === 'ask' && !isMute) parentPort.postMessage({ kind: 'answer', id });
    if (kind === 'close') parentPort.close();
  });
  parentPort.postMessage({ kind: 'opened' });
`;
const DOWN = new Unavailable('it is starting');
const CLOSED = new Unavailable('it is stopping');

function kept(t: ExecutionContext) {
  const logged: string[] = [];
  let greeted = 0;
  const thread: SupervisedWorker<To, From> = new SupervisedWorker({
    name: 'thing',
    module: new URL(`data:text/javascript,${encodeURIComponent(WORKER)}`),
    workerData: () => null,
    log: { info() {}, error: (_, message) => logged.push(message) },
    down: DOWN,
    take(message) {
      if (message.kind === 'opened') thread.opened();
      else thread.answered(message.id, 'here');
    },
    started() {
      greeted++;
    },
  });
  thread.start();
  t.teardown(() => thread.close({ kind: 'close' }));
  const asked = () => thread.ask<string>((id) => ({ kind: 'ask', id }));
  return { thread, logged, asked, greeted: () => greeted };
}

/** Asks until it is answered. */
async function answered(asked: () => Promise<string>): Promise<string> {
  for (;;) {
    try {
      return await asked();
    } catch (error) {
      if (error !== DOWN) throw error;
      await sleep(10);
    }
  }
}

test('D10, Y1: a thread that fails is started again; who waited is refused, and it is named', async (t) => {
  const { thread, logged, asked, greeted } = kept(t);
  t.is(await asked(), 'here');
  t.is(thread.problem, null);
  thread.post({ kind: 'forget' });
  const waiting = asked();
  thread.post({ kind: 'fail' });
  await t.throwsAsync(waiting, { is: DOWN });
  t.is(thread.problem, 'thing: it was told to');
  t.is(thread.waiting, 0);
  t.is(await answered(asked), 'here');
  t.is(thread.problem, null, 'once is put right by a start');
  thread.fail(new Error('its caller could not serve it'));
  t.is(await answered(asked), 'here');
  t.is(thread.problem, 'thing: failed 2 times in a row: its caller could not serve it');
  t.is(greeted(), 3);
  t.is(thread.starts, 3);
  t.deepEqual(logged, Array(2).fill('the thing has failed, and starts again'));
});

test('D10: a thread whose failure is heard before its opening is a problem', async (t) => {
  const { thread, asked } = kept(t);
  thread.fail(new Error('it was heard first'));
  thread.opened();
  t.is(thread.problem, 'thing: it was heard first');
  t.is(await answered(asked), 'here');
  t.is(thread.problem, null, 'once is put right by a start');
});

test('Y1: one that is closed takes what came before, and is not started again', async (t) => {
  const { thread, asked, greeted } = kept(t);
  const before = asked();
  const closed = thread.close({ kind: 'close' });
  t.is(await before, 'here');
  await closed;
  t.false(thread.isUp);
  await t.throwsAsync(asked(), { is: DOWN });
  t.is(greeted(), 1);
});

/** A thread of other code, whose every failure is counted. */
function hosted(t: ExecutionContext, code: string, over: Partial<Options> = {}) {
  const logged: string[] = [];
  const ended: string[] = [];
  const thread: SupervisedWorker<To, From> = new SupervisedWorker({
    name: 'thing',
    module: new URL(`data:text/javascript,${encodeURIComponent(code)}`),
    workerData: () => null,
    log: { info() {}, error: (_, message) => logged.push(message) },
    down: DOWN,
    closed: CLOSED,
    ...over,
    take(message) {
      if (message.kind === 'answer') thread.answered(message.id, 'here');
    },
    ended: () => ended.push(thread.problem!),
  });
  t.teardown(() => thread.close(null));
  return { thread, ended, logged, asked: () => thread.ask<string>((id) => ({ kind: 'ask', id })) };
}

test('D10: a thread that throws at its start is tried again, later each time, and named', async (t) => {
  const { thread, ended, asked } = hosted(t, "throw new Error('no such file')");
  await t.throwsAsync(asked(), { is: DOWN }, 'none was started yet');
  const atMs = performance.now();
  thread.startOnce();
  thread.startOnce();
  await t.throwsAsync(asked(), { is: DOWN });
  while (ended.length < 3) await sleep(10);
  t.true(performance.now() - atMs >= 700, 'waits of 250 and 500 ms');
  t.is(thread.starts, 3);
  t.is(thread.problem, 'thing: failed 3 times in a row: no such file');
  await thread.close(null);
  await sleep(1100);
  t.is(thread.starts, 3, 'a closed one is not started again');
});

test('D10: a flood of questions is refused to the last when their thread dies', async (t) => {
  const { thread, ended, asked } = hosted(t, WORKER);
  thread.startOnce();
  thread.post({ kind: 'forget' });
  const flood = Array.from({ length: 10_000 }, () => asked());
  thread.post({ kind: 'fail' });
  const answers = await Promise.allSettled(flood);
  t.true(answers.every((answer) => answer.status === 'rejected' && answer.reason === DOWN));
  t.deepEqual([thread.waiting, ended.length], [0, 1]);
});

test('D10: a question that cannot be sent fails, and leaves nothing waiting', async (t) => {
  const { thread } = hosted(t, WORKER);
  thread.startOnce();
  const unsendable = thread.ask((id) => ({ kind: 'ask', id, at: () => id }) as To);
  await t.throwsAsync(unsendable, { name: 'DataCloneError' });
  t.is(thread.waiting, 0);
});

test('D10: closed twice, or amid a question that is answered late, it ends once', async (t) => {
  const late = `
    import { parentPort } from 'node:worker_threads';
    parentPort.on('message', ({ id }) => {
      setTimeout(() => parentPort.postMessage({ kind: 'answer', id }), 60_000);
    });
  `;
  const { thread, ended, asked } = hosted(t, late);
  thread.startOnce();
  const refused = t.throwsAsync(asked(), { is: CLOSED });
  await Promise.all([thread.close(null), thread.close(null)]);
  await refused;
  await thread.close(null);
  await t.throwsAsync(asked(), { is: CLOSED });
  t.deepEqual([thread.starts, thread.waiting, ended.length], [1, 0, 0]);
});

/** Answers, or fills its heap when it is told to fail. */
const GREEDY = `
  import { parentPort } from 'node:worker_threads';
  const kept = [];
  parentPort.on('message', ({ kind, id }) => {
    while (kind === 'fail') kept.push(Array.from({ length: 100_000 }, () => ({})));
    parentPort.postMessage({ kind: 'answer', id });
  });
`;

test('A95, Z12: a question that needs too much memory is refused, and the next one starts a thread', async (t) => {
  const over = new Unavailable('too much');
  const { thread, ended, asked, logged } = hosted(t, GREEDY, {
    ...{ heap: { mib: 32, over }, idleMs: 60_000 },
  });
  t.is(await asked(), 'here', 'the first question starts it');
  thread.post({ kind: 'fail' });
  await t.throwsAsync(asked(), { is: over });
  t.is(await asked(), 'here', 'at once');
  t.deepEqual([thread.starts, thread.problem, ended.length], [2, null, 0]);
  t.deepEqual(logged, ['the thing needed too much memory, and was ended']);
});

/** One array that grows, at a pace that the watch keeps up with on a busy machine. */
const GROWING = `
  import { parentPort } from 'node:worker_threads';
  const cell = new Int32Array(new SharedArrayBuffer(4));
  const kept = [];
  parentPort.on('message', () => {
    for (;;) {
      for (let more = 0; more < 2_000_000; more++) kept.push(more);
      Atomics.wait(cell, 0, 0, 40);
    }
  });
`;

test('D105: one array that grows past the heap of a thread ends that thread, and not the process', async (t) => {
  const over = new Unavailable('too much');
  const { thread, ended, asked, logged } = hosted(t, GROWING, {
    ...{ heap: { mib: 64, over }, idleMs: 60_000 },
  });
  await t.throwsAsync(asked(), { is: over });
  t.deepEqual([thread.isUp, thread.problem, ended.length], [false, null, 0]);
  t.deepEqual(logged, ['the thing needed too much memory, and was ended']);
});

test('A95, Z12: without questions it ends, and the next one starts another; stopped amid one too', async (t) => {
  const { thread, ended, asked } = hosted(t, WORKER, { idleMs: 50 });
  t.is(await asked(), 'here');
  while (thread.isUp) await sleep(10);
  t.is(await asked(), 'here');
  t.is(thread.starts, 2);
  thread.post({ kind: 'forget' });
  const waiting = asked();
  await sleep(150);
  t.true(thread.isUp, 'a question waits');
  const reason = new Error('nobody waits for it any more');
  thread.stop(reason);
  await t.throwsAsync(waiting, { is: reason });
  t.is(await asked(), 'here');
  t.deepEqual([thread.starts, thread.problem, ended.length], [3, null, 0]);
});

test('D10: while a thread that failed waits to be started again, a question does not start it', async (t) => {
  const { thread, asked } = hosted(t, WORKER, { idleMs: 60_000 });
  t.is(await asked(), 'here');
  thread.post({ kind: 'fail' });
  await t.throwsAsync(asked(), { is: DOWN });
  await t.throwsAsync(asked(), { is: DOWN });
  t.deepEqual([thread.starts, thread.problem], [1, 'thing: it was told to']);
  t.is(await answered(asked), 'here');
});

test('D10: a thread that does not end when it is asked to is ended', async (t) => {
  const deaf =
    "import { parentPort } from 'node:worker_threads'; parentPort.on('message', () => {});";
  const { thread } = hosted(t, deaf);
  thread.startOnce();
  const atMs = performance.now();
  await thread.close({ kind: 'close' }, 300);
  t.true(performance.now() - atMs >= 290);
  t.false(thread.isUp);
});
