import { setImmediate as others } from 'node:timers/promises';
import test from 'ava';
import { FairTurns } from '../../../engine/threads/fair-turns.ts';
import { Unavailable } from '../../../engine/threads/unavailable.ts';

/** Questions that end when the test says so, and the order in which they began. */
function questions(turns: FairTurns) {
  const began: string[] = [];
  const ends = new Map<string, () => void>();
  const ask = (asker: string, name: string) =>
    turns.take(asker, () => {
      began.push(name);
      return new Promise<string>((resolve) => ends.set(name, () => resolve(name)));
    });
  const end = async (name: string) => {
    ends.get(name)!();
    await others();
  };
  return { began, ask, end };
}

test('Q18: accounts take turns: who asks for forty does not make another wait for more than one', async (t) => {
  const turns = new FairTurns({ of: 'history', atOnce: 1, eachMax: 40 });
  const { began, ask, end } = questions(turns);
  const many = Array.from({ length: 40 }, (_, n) => ask('a', `a${n}`));
  const one = ask('b', 'b0');
  const other = ask('c', 'c0');
  t.deepEqual(began, ['a0']);
  await end('a0');
  t.deepEqual(began, ['a0', 'b0']);
  await end('b0');
  await end('c0');
  t.deepEqual(began, ['a0', 'b0', 'c0', 'a1']);
  t.deepEqual(await Promise.all([one, other]), ['b0', 'c0']);
  for (let n = 1; n < 40; n++) await end(`a${n}`);
  t.deepEqual(
    await Promise.all(many),
    many.map((_, n) => `a${n}`),
  );
});

test('Q18: an account has one question under way, however many there may be', async (t) => {
  const { began, ask, end } = questions(new FairTurns({ of: 'history', atOnce: 3 }));
  const asked = [ask('a', 'a0'), ask('a', 'a1'), ask('b', 'b0'), ask('a', 'a2')];
  t.deepEqual(began, ['a0', 'b0']);
  await end('b0');
  t.deepEqual(began, ['a0', 'b0']);
  await end('a0');
  await end('a1');
  await end('a2');
  t.deepEqual(began, ['a0', 'b0', 'a1', 'a2']);
  await Promise.all(asked);
});

test('Q18: an account with several questions under way leaves every second turn to another', async (t) => {
  const { began, ask, end } = questions(
    new FairTurns({ of: 'portfolio', atOnce: 4, eachAtOnce: 3 }),
  );
  const asked = [0, 1, 2, 3, 4].map((n) => ask('a', `a${n}`));
  t.deepEqual(began, ['a0', 'a1', 'a2']);
  asked.push(...[0, 1, 2].map((n) => ask('b', `b${n}`)));
  t.deepEqual(began, ['a0', 'a1', 'a2', 'b0']);
  for (const name of ['a0', 'a1', 'a2']) await end(name);
  t.deepEqual(began, ['a0', 'a1', 'a2', 'b0', 'b1', 'a3', 'b2']);
  for (const name of ['b0', 'a3', 'b1', 'b2', 'a4']) await end(name);
  t.is((await Promise.all(asked)).length, 8);
});

test('Q19: the questions of an account are bounded; the questions of another are taken', async (t) => {
  const turns = new FairTurns({ of: 'history', atOnce: 1, eachMax: 2, retryAfterSeconds: 5 });
  const { began, ask, end } = questions(turns);
  const taken = [ask('a', 'a0'), ask('a', 'a1')];
  const error = await t.throwsAsync(ask('a', 'a2'), { instanceOf: Unavailable });
  t.is(error?.message, 'an account may have 2 questions to the history at once');
  t.is((error as Unavailable).retryAfterSeconds, 5);
  taken.push(ask('b', 'b0'));
  for (const name of ['a0', 'b0', 'a1']) await end(name);
  await Promise.all(taken);
  // Who has nothing under way any more may ask again.
  const again = ask('a', 'a3');
  await end('a3');
  t.is(await again, 'a3');
  t.deepEqual(began, ['a0', 'b0', 'a1', 'a3']);
});

test('Q18: a question that fails gives its turn on', async (t) => {
  const turns = new FairTurns({ of: 'history', atOnce: 1 });
  const failed = turns.take('a', () => Promise.reject(new Error('damaged')));
  const after = turns.take('a', async () => 'answered');
  const other = turns.take('b', async () => 'answered too');
  await t.throwsAsync(failed, { message: 'damaged' });
  t.is(await after, 'answered');
  t.is(await other, 'answered too');
});
