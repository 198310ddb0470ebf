import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { EQUAL } from './equal.ts';
import { faultsUnder } from './faults.ts';
import { contextOf, test as standIn } from './test-cases.ts';
import { filesOfTests } from './trials.ts';

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

test('npm run mutate: each fault that changes nothing is one that can be planted', (t) => {
  const files = new Set([...EQUAL.keys()].map((key) => key.split(' | ')[0]!));
  const known = new Set([...files].flatMap(faultsUnder).map(({ key }) => key));
  t.deepEqual(
    [...EQUAL.keys()].filter((key) => !known.has(key)),
    [],
  );
});
