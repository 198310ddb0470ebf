/** Values as bytes beside the heap, and the latest of them as objects. */
import test from 'ava';
import { KeptBytes } from '../../../api/identity/kept-bytes.ts';
import { LatestValues } from '../../../api/identity/latest-values.ts';
import { uuidOf } from '../../engine/fixtures.ts';
import { createRandomSource } from '../../model/random-source.ts';
import { seedsOfRun } from '../../model/seeds.ts';

const textIn = (kept: KeptBytes, key: string) =>
  kept.get(key, (bytes, start, end) => bytes.toString('utf8', start, end));

for (const seed of seedsOfRun(2)) {
  test(`A242: values are kept by key, as a Map keeps them, seed ${seed}`, (t) => {
    const random = createRandomSource(seed);
    const kept = new KeptBytes();
    const model = new Map<string, string>();
    // Keys of all lengths, of which some differ in their last character alone.
    const keys = Array.from({ length: 600 }, (_, at) => {
      return at % 3 === 0 ? uuidOf(at) : `${'ä'.repeat(at % 7)}${'k'.repeat(at % 90)}${at}`;
    });
    for (let step = 0; step < 20_000; step++) {
      const key = keys[random.int(0, keys.length - 1)]!;
      if (random.oneIn(3)) {
        kept.delete(key);
        model.delete(key);
      } else {
        const value = `${step} ${'v'.repeat(random.int(0, 40))}`;
        kept.set(key, Buffer.from(`____${value}`), 4);
        model.set(key, value);
      }
      if (step % 500 === 0) for (const each of keys) t.is(textIn(kept, each), model.get(each));
    }
    for (const each of keys) t.is(textIn(kept, each), model.get(each));
    t.is(kept.size, model.size);
  });
}

test('A242: it has an end: what has no room makes it forget, and what is too long is not kept', (t) => {
  const kept = new KeptBytes(2 ** 21);
  const value = Buffer.alloc(1000, 'v');
  let set = 0;
  while (kept.hasRoom || set < 2000) kept.set(uuidOf(set++), value);
  t.is(textIn(kept, uuidOf(set - 1)), value.toString());
  for (let more = 0; more < 2000; more++) kept.set(uuidOf(set++), value);
  t.true(kept.size < 2100, `${kept.size} are kept`);
  t.is(textIn(kept, uuidOf(set - 1)), value.toString());
  t.is(textIn(kept, uuidOf(0)), undefined);
  kept.set('long', Buffer.alloc(2 ** 16));
  kept.set('k'.repeat(201), value);
  t.false(kept.has('long'));
  t.false(kept.has('k'.repeat(201)));
});

test('A242: the last values are kept, and those that are asked for again and again', (t) => {
  const latest = new LatestValues<number>();
  const found = (from: number, to: number) => {
    const values = Array.from({ length: to - from }, (_, at) => latest.get(uuidOf(from + at)));
    t.true(values.every((value, at) => value === undefined || value === from + at));
    return values.filter((value) => value !== undefined).length;
  };
  t.is(latest.get(uuidOf(1)), undefined);
  for (let round = 0; round < 2; round++) {
    for (let at = 0; at < 1000; at++) {
      latest.set(uuidOf(at), at);
      t.is(latest.get(uuidOf(at)), at);
    }
  }
  t.true(found(0, 1000) > 900);
  for (let at = 1000; at < 100_000; at++) {
    latest.set(uuidOf(at), at);
    t.is(latest.get(uuidOf(at)), at);
  }
  t.true(found(0, 1000) > 900, 'keys that come once take no place of theirs');
  t.true(found(1000, 99_000) < 600);
  latest.delete(uuidOf(99_999));
  latest.delete(uuidOf(1));
  t.is(latest.get(uuidOf(99_999)), undefined);
  t.is(latest.get(uuidOf(1)), undefined);
});
