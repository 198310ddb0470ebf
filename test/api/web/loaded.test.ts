import test from 'ava';
import { CallError } from '../../../api/web/state/call-error.ts';
import { comebacks, Loader } from '../../../api/web/state/loaded.ts';
import { dismissAbsences, dismissAll, problems, report } from '../../../api/web/state/problems.ts';

function loaderOf() {
  const asked: PromiseWithResolvers<string>[] = [];
  const loader = new Loader(() => {
    asked.push(Promise.withResolvers<string>());
    return asked.at(-1)!.promise;
  });
  return { loader, asked };
}

test('what is there stays while it is asked for again, and if that brings no answer', async (t) => {
  const { loader, asked } = loaderOf();
  const first = loader.load();
  t.deepEqual(loader.now.value, { state: 'loading' });
  asked[0]!.resolve('first');
  await first;

  const second = loader.refresh();
  asked[1]!.reject(new Error('gone'));
  await second;
  t.deepEqual(loader.now.value, { state: 'ready', value: 'first' });

  const third = loader.load();
  asked[2]!.reject(new Error('gone'));
  await third;
  t.like(loader.now.value, { state: 'failed' });

  // A refusal is shown until an answer comes.
  const fourth = loader.refresh();
  t.like(loader.now.value, { state: 'failed' });
  asked[3]!.resolve('fourth');
  await fourth;
  t.deepEqual(loader.now.value, { state: 'ready', value: 'fourth' });
});

test('of two answers the one to the newer question counts, whichever comes last', async (t) => {
  const { loader, asked } = loaderOf();
  const both = [loader.load(), loader.refresh()];
  asked[1]!.resolve('newer');
  asked[0]!.resolve('older');
  await Promise.all(both);
  t.deepEqual(loader.now.value, { state: 'ready', value: 'newer' });
});

test('A117: an answer is there for its own question alone, and another view begins without it', async (t) => {
  const asked: PromiseWithResolvers<string>[] = [];
  const loader = new Loader((_market: string, _interval: string) => {
    asked.push(Promise.withResolvers<string>());
    return asked.at(-1)!.promise;
  });
  const first = loader.load('a', '1m');
  t.deepEqual(loader.of('a', '1m'), { state: 'loading' });
  asked[0]!.resolve('of a');
  await first;
  t.deepEqual(loader.of('a', '1m'), { state: 'ready', value: 'of a' });
  t.deepEqual(loader.of('a'), { state: 'ready', value: 'of a' });
  t.deepEqual(loader.of('a', '5m'), { state: 'loading' });
  t.deepEqual(loader.of('b'), { state: 'loading' });

  // The next market's first answer fails: that is shown, and not the last market.
  const second = loader.refresh('b', '1m');
  asked[1]!.reject(new Error('gone'));
  await second;
  t.like(loader.of('b', '1m'), { state: 'failed' });
  t.deepEqual(loader.of('a', '1m'), { state: 'loading' });
});

test('U44: while the server is away the last answer stays, and is asked for again once it is back', async (t) => {
  const away = new CallError('Away.', {
    ...{ status: null, code: null, requestId: 'r', retryAfterSeconds: null },
  });
  const refused = new CallError('No.', {
    ...{ status: 403, code: 'forbidden', requestId: 'r', retryAfterSeconds: null },
  });
  let fails: unknown = null;
  let asked = 0;
  const loader = new Loader(async (word: string) => {
    asked++;
    if (fails !== null) throw fails;
    return `${word} ${asked}`;
  });
  await loader.load('a');
  fails = away;
  await loader.load('a');
  t.deepEqual(loader.of('a'), { state: 'ready', value: 'a 1' });
  await loader.load('b');
  t.is(loader.of('b').state, 'failed', 'another question has no answer');
  fails = null;
  await loader.load('a');
  fails = away;
  await loader.load('a');
  fails = null;
  comebacks.value++;
  await new Promise((resolve) => setImmediate(resolve));
  t.deepEqual(loader.of('a'), { state: 'ready', value: `a ${asked}` });
  t.is(asked, 6);
  fails = refused;
  await loader.load('a');
  t.is(loader.of('a').state, 'failed', 'a refusal is an answer');
});

test('A120: the problem of a server that is away goes once it is back, another one stays', (t) => {
  const of = (status: number | null) =>
    new CallError('No.', {
      status,
      code: null,
      requestId: String(status),
      retryAfterSeconds: null,
    });
  for (const status of [null, 503]) {
    report(of(status));
    t.is(problems.value.length, 1, 'the same sentence once');
    dismissAbsences();
    t.deepEqual(problems.value, []);
  }
  report(of(409));
  dismissAbsences();
  t.is(problems.value.length, 1);
  dismissAll();
});
