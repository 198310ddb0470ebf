import test from 'ava';
import { NumberSet } from '../../../engine/base/number-set.ts';
import { NumberedNames, TextNumbers } from '../../../engine/base/text-numbers.ts';

test('K59: a number is found by its text among thousands, and the first one of a text is found first', (t) => {
  const texts = Array.from({ length: 5000 }, (_, at) => `venue_a/KXBTC15M-26JAN${at}`);
  const numbers = new TextNumbers();
  for (const [number, text] of texts.entries()) numbers.add(text, number);
  t.is(numbers.count, 5000);
  t.true(texts.every((text, at) => numbers.find(text, (number) => texts[number] === text) === at));
  t.is(
    numbers.find('venue_a/none', () => false),
    undefined,
  );
  // All of one hash, from the first place in the arrays to beyond their growth.
  const twins = new TextNumbers();
  const asked: number[] = [];
  for (let number = 0; number < 40; number++) twins.add('twin', number);
  twins.find('twin', (number) => asked.push(number) > 100);
  t.deepEqual(asked, [...asked.keys()]);
  t.is(asked.length, 40);
});

test('K59: numbers of names are only added', (t) => {
  const names = new NumberedNames();
  names.extend(['a', 'b']);
  names.extend(['a', 'b', 'c']);
  t.deepEqual(
    ['a', 'c', 'd'].map((name) => names.numberOf(name)),
    [0, 2, undefined],
  );
  t.deepEqual([...names.names], ['a', 'b', 'c']);
  t.throws(() => names.extend(['a', 'b']), { message: /shorter/ });
  t.throws(() => names.extend(['a', 'b', 'x', 'd']), { message: /changed/ });
  t.throws(() => new TextNumbers().add('a', -1), { message: /whole number/ });
});

test('K59: a set of numbers has what was added, in order', (t) => {
  const set = new NumberSet([9, 0, 1000]);
  set.add(7);
  t.deepEqual([...set], [0, 7, 9, 1000]);
  t.deepEqual(
    [7, 8, 1000, 1001, 99_999].map((number) => set.has(number)),
    [...[true, false, true], ...[false, false]],
  );
  t.throws(() => set.add(-1), { message: /whole numbers/ });
});
