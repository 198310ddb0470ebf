import test from 'ava';
import { PacedRefusals } from '../../../api/dispatch/paced-refusals.ts';
import { AT_ITS_LIMIT } from '../../../engine/threads/unavailable.ts';
import { startApi } from '../support.ts';

function paced() {
  const clock = { ms: 0 };
  const given: number[] = [];
  const timers: { run: () => void; atMs: number }[] = [];
  const refusals = new PacedRefusals({
    now: () => clock.ms,
    later: (run, ms) => timers.push({ run, atMs: clock.ms + ms }),
  });
  return {
    given,
    timers,
    add(from: number, many: number) {
      for (let i = from; i < from + many; i++) refusals.add(() => given.push(i));
    },
    answer(many: number) {
      for (let i = 0; i < many; i++) refusals.answered();
    },
    pass(ms: number) {
      clock.ms += ms;
      const due = timers.filter(({ atMs }) => atMs <= clock.ms);
      for (const timer of due) timers.splice(timers.indexOf(timer), 1);
      for (const { run } of due) run();
    },
  };
}

test('A66: 64 refusals are given at once, the next one after each eighth answer, in order', (t) => {
  const { given, add, answer } = paced();
  add(0, 66);
  t.deepEqual(
    given,
    Array.from({ length: 64 }, (_, i) => i),
  );
  answer(7);
  t.is(given.length, 64);
  answer(1);
  t.deepEqual(given.slice(64), [64]);
  add(66, 1);
  answer(16);
  t.deepEqual(given.slice(64), [64, 65, 66]);
});

test('A66: where none was refused for a while, 64 are given at once again, and no more', (t) => {
  const { given, add, answer } = paced();
  add(0, 64);
  answer(100_000);
  add(64, 100);
  t.is(given.length, 128);
});

test('A66: no refusal is given later than 4 seconds after its request', (t) => {
  const { given, timers, add, pass } = paced();
  add(0, 65);
  pass(2000);
  add(65, 1);
  t.is(given.length, 64);
  pass(2000);
  t.is(given.length, 65, 'only the first is due');
  pass(1950);
  t.is(given.length, 65);
  pass(50);
  t.is(given.length, 66);
  t.is(timers.length, 0, 'and nothing is looked for any more');
  add(66, 1);
  pass(4000);
  t.is(given.length, 67);
});

test('D7, A66: however many are refused, 20,000 wait at most: the oldest makes room', (t) => {
  const { given, add } = paced();
  add(0, 64 + 20_000);
  t.is(given.length, 64);
  add(64 + 20_000, 3);
  t.deepEqual(given.slice(64), [64, 65, 66]);
});

test('A66: a caller whose refusal waits is answered in its turn, by what is answered to others', async (t) => {
  const api = await startApi(t);
  const refuse = () => api.call('POST', '/portfolio/orders', { body: {} });
  api.engine.busy = AT_ITS_LIMIT;
  const atOnce = await Promise.all(Array.from({ length: 64 }, refuse));
  t.deepEqual([...new Set(atOnce.map(({ status }) => status))], [503]);
  let hasCome = false;
  const waiting = refuse().finally(() => {
    hasCome = true;
  });
  const answerOne = () => api.call('GET', '/status');
  for (let i = 0; i < 7; i++) await answerOne();
  t.false(hasCome);
  await answerOne();
  const { status, headers, json } = await waiting;
  t.is(status, 503);
  t.is(headers.get('retry-after'), '1');
  t.is(headers.get('service-quota-remaining') !== null, true, 'it counts as it did');
  t.like(json.error, { code: 'internal_error', retryAfterSeconds: 1 });
  t.deepEqual(api.engine.requests, []);
});
