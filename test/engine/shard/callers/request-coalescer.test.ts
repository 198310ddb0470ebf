import test from 'ava';
import { RequestCoalescer } from '../../../../engine/shard/callers/request-coalescer.ts';

test('who asks the same in one turn of the event loop gets the same answer, a failure too', async (t) => {
  const coalescer = new RequestCoalescer();
  const finds: string[] = [];
  const ask = (what: string) =>
    new Promise<object>((resolve, reject) => {
      const find = async () => {
        finds.push(what);
        if (what === 'bad') throw new Error('not found');
        return {};
      };
      coalescer.ask(what, find, { resolve, reject });
    });
  const [first, second, other] = await Promise.all([ask('a'), ask('a'), ask('b')]);
  t.is(second, first);
  t.not(other, first);
  const failed = await Promise.allSettled([ask('bad'), ask('bad')]);
  t.deepEqual(
    failed.map(({ status }) => status),
    ['rejected', 'rejected'],
  );
  t.deepEqual(finds, ['a', 'b', 'bad']);
});

test('a question is asked again once it is answered, in the same turn of the event loop too, and once the coalescer ends', async (t) => {
  const coalescer = new RequestCoalescer();
  const answers: ((answer: number) => void)[] = [];
  const find = () => new Promise<number>((resolve) => answers.push(resolve));
  const ask = () =>
    new Promise<number>((resolve, reject) => coalescer.ask('a', find, { resolve, reject }));
  const first = ask();
  answers[0]!(1);
  t.is(await first, 1);
  const second = ask();
  t.is(answers.length, 2);
  coalescer.end();
  const third = ask();
  await new Promise(setImmediate);
  const fourth = ask();
  t.is(answers.length, 4);
  answers[1]!(2);
  await second;
  // Of those two questions the later one still takes who asks.
  const fifth = ask();
  t.is(answers.length, 4);
  answers[2]!(3);
  answers[3]!(4);
  t.deepEqual(await Promise.all([second, third, fourth, fifth]), [2, 3, 4, 4]);
});
