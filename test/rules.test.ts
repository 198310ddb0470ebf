/** The rule books: each number occurs once, each that is named is there, and each is named. */

import test from 'ava';
import {
  BOOKS,
  type Naming,
  oneByOne,
  read,
  readNamings,
  readRules,
  rulesThatSay,
} from './rule-books.ts';

const rules = readRules().map(({ rule }) => rule);
const known = new Set(rules);
const namings = readNamings();

/** Rules that no naming of a kind has. */
function without(rulesOf: (naming: Naming) => readonly string[]): string[] {
  const named = new Set(namings.flatMap(rulesOf));
  return rules.filter((rule) => !named.has(rule));
}

test('a rule has one number, and a number one rule', (t) => {
  t.true(rules.length > 400);
  t.deepEqual(
    rules.filter((rule, at) => rules.indexOf(rule) !== at),
    [],
  );
});

test('the rules that code, tables and tests name are in the books', (t) => {
  t.true(namings.length > 700);
  const unknown = namings.flatMap(({ file, line, named }) =>
    named.filter((rule) => !known.has(rule)).map((rule) => `${file}:${line} ${rule}`),
  );
  for (const book of BOOKS) {
    for (const rule of read(book).match(/\b[A-Z]\d{1,3}\b/g) ?? []) {
      if (!known.has(rule)) unknown.push(`${book}: ${rule}`);
    }
  }
  t.deepEqual(unknown, []);
});

test('every rule is named at the head of a file or in a table of a README', (t) => {
  const held = without((naming) => (/^(code|table)$/.test(naming.by) ? naming.rules : []));
  t.deepEqual(held, []);
});

test('a range, a helper of tests, and a test of long runs prove no rule', (t) => {
  const proofs = (isSuch: (naming: Naming) => boolean) => {
    const such = namings.filter(isSuch);
    t.true(such.length > 0);
    return such.flatMap(({ proves }) => proves);
  };
  t.deepEqual(
    proofs(({ by }) => by === 'model'),
    [],
  );
  t.deepEqual(
    proofs(({ calls }) => calls.startsWith('longTest')),
    [],
  );
  t.false(namings.some(({ by, file }) => by === 'test' && file.endsWith('.long.test.ts')));
  t.deepEqual(oneByOne('T40, T42 to T44, T46'), ['T40', 'T46']);
});

test('rules are found by several words and their beginnings, in any order', (t) => {
  const found = (words: string) => rulesThatSay(words).map(({ rule }) => rule);
  t.true(found('resting fill').includes('T46'));
  t.deepEqual(found('fill resting'), found('resting fill'));
  t.true(found('correct market').includes('S20'));
  t.deepEqual(found('nosuchword fill'), []);
  t.deepEqual(found(' '), []);
});

test('every rule is named, one by one, in the title of a test that always runs', (t) => {
  t.deepEqual(
    without(({ proves }) => proves),
    [],
    'no test has them in its title (a range, a comment of a helper, a test that may be skipped: no)',
  );
});
