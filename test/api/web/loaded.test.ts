import test from 'ava';
import { Loader } from '../../../api/web/state/loaded.ts';

function loaderOf() {
  const asked: PromiseWithResolvers<string>[] = [];
  const loader = new Loader(() => {
    asked.push(Promise.withResolvers<string>());
    return asked.at(-1)!.promise;
  });
  return { loader, asked };
}

test('what is there stays while it is asked for anew, and where that brings no answer', async (t) => {
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
