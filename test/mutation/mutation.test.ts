import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { longTest } from '../long-test.ts';
import { EQUAL } from './equal.ts';
import { faultsUnder } from './faults.ts';
import { mutantsOf } from './mutants.ts';
import { contextOf, test as standIn } from './test-cases.ts';
import { filesOfTests, TrialProcess } from './trials.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

test('npm run mutate: the stand-in for ava has all that its tests use', (t) => {
  const parts = { test: new Set(Object.keys(standIn)), t: new Set(Object.keys(contextOf([]))) };
  for (const file of filesOfTests()) {
    const text = readFileSync(path.join(ROOT, file), 'utf8');
    for (const [, of, name] of text.matchAll(/^\s*(test|t)\.(\w+)\(/gm)) {
      t.true(parts[of as 'test' | 't'].has(name!), `${file} uses ${of}.${name}`);
    }
  }
});

test('npm run mutate: the stand-in for t.like looks at getters, and at each part', (t) => {
  const { like } = contextOf([]) as { like(actual: unknown, part: object): void };
  class Point {
    readonly y = 2;
    get x(): number {
      return 1;
    }
  }
  like(new Point(), { x: 1 });
  like({ a: [{ b: 1, c: 2 }], d: new Map() }, { a: [{ b: 1 }], d: new Map() });
  const others: [unknown, object][] = [
    [new Point(), { x: 2 }],
    [new Point(), { z: 1 }],
    [{ a: [1, 2] }, { a: [1] }],
    [{ a: null }, { a: {} }],
    [{ a: new Map([[1, 2]]) }, { a: new Map() }],
    [null, {}],
  ];
  for (const [actual, part] of others) t.throws(() => like(actual, part));
});

longTest('npm run mutate: no test fails without a fault', async (t) => {
  const env = { ...process.env, SEEDS_PERCENT: '10' };
  const { tests } = await new TrialProcess().measure(filesOfTests(), [], env);
  t.true(tests.length > 500, `${tests.length} tests`);
});

test('npm run mutate: each fault that changes nothing is one that can be planted', (t) => {
  const files = new Set([...EQUAL.keys()].map((key) => key.split(' | ')[0]!));
  const known = new Set([...files].flatMap(faultsUnder).map(({ key }) => key));
  t.deepEqual(
    [...EQUAL.keys()].filter((key) => !known.has(key)),
    [],
  );
});

test('npm run mutate: whoever reaches the left side of && sees its change', (t) => {
  const text = 'const all = first && second && third;';
  const reached = mutantsOf('a.ts', text).map(({ start, reachedAt }) => [start, reachedAt]);
  const first = text.indexOf('first');
  t.deepEqual(reached, [
    [text.indexOf('&&'), first],
    [text.lastIndexOf('&&'), first],
  ]);
});
