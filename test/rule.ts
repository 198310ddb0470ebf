/**
 * `npm run rule T31`: a rule of the books, the code and the tables that name it, and its tests;
 * tests that name few rules are first. `npm run rule hold`: the rules whose text has that word.
 */

import { BOOKS, type Naming, readNamings, readRules } from './rule-books.ts';

const [asked = '', ...others] = process.argv.slice(2);
const known = readRules();
const found = known.find(({ rule }) => rule === asked.toUpperCase());
const word = asked.toLowerCase();
const saying = known.filter(({ text }) => word !== '' && text.toLowerCase().includes(word));
if (found === undefined && saying.length > 0 && others.length === 0) {
  for (const { rule, book, text } of saying) {
    const line = text.replaceAll(/\s+/g, ' ').slice(0, 90);
    process.stdout.write(`${rule} (${book}): ${line}\n`);
  }
} else if (found === undefined || others.length > 0) {
  const wrong = others.length > 0 || asked === '' ? 'Usage: npm run rule T31' : null;
  process.stderr.write(`${wrong ?? `${asked} is no rule of ${BOOKS.join(', ')}.`}\n`);
  process.exitCode = 2;
} else {
  const { rule, book, text } = found;
  const namings = readNamings()
    .filter(({ rules }) => rules.includes(rule))
    .sort((one, other) => one.rules.length - other.rules.length);
  const of = (kind: Naming['by']) => namings.filter(({ by }) => by === kind);
  const proves = (naming: Naming) => naming.proves.includes(rule);
  const groups = {
    code: of('code'),
    table: of('table'),
    test: of('test').filter(proves),
    'test that may be skipped, or names a range': of('test').filter((one) => !proves(one)),
    model: of('model'),
  };
  const lines = Object.entries(groups).flatMap(([title, places]) => {
    if (places.length === 0) return ['', `${title}: none`];
    return ['', title, ...places.map(({ file, line, text }) => `  ${file}:${line}  ${text}`)];
  });
  process.stdout.write(`${[book, '', text, ...lines].join('\n')}\n`);
}
