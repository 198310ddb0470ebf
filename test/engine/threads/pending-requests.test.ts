import test from 'ava';
import { InvariantError } from '../../../engine/base/invariant.ts';
import { PendingRequests } from '../../../engine/threads/pending-requests.ts';

test('each question gets its own answer, whatever their order', async (t) => {
  const waiting = new PendingRequests();
  const ids: number[] = [];
  const [first, second, third] = ['a', 'b', 'c'].map(() =>
    waiting.ask<string>((id) => ids.push(id)),
  );
  t.is(waiting.size, 3);
  waiting.resolve(ids[1]!, 'second');
  waiting.reject(ids[0]!, new Error('not now'));
  t.is(await second, 'second');
  await t.throwsAsync(first!, { message: 'not now' });
  waiting.rejectAll(new Error('ended'));
  await t.throwsAsync(third!, { message: 'ended' });
  t.is(waiting.size, 0);
  t.throws(() => waiting.resolve(ids[1]!, 'again'), { instanceOf: InvariantError });
});
