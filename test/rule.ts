/** `npm run rule T31`: a rule of the books, the code and the tables that name it, and its tests. */

import { BOOKS, type Naming, readNamings, readRules } from './rule-books.ts';

const [asked = '', ...others] = process.argv.slice(2);
const found = readRules().find(({ rule }) => rule === asked.toUpperCase());
if (found === undefined || others.length > 0) {
  const wrong = others.length > 0 || asked === '' ? 'Usage: npm run rule T31' : null;
  process.stderr.write(`${wrong ?? `${asked} is no rule of ${BOOKS.join(', ')}.`}\n`);
  process.exitCode = 2;
} else {
  const { rule, book, text } = found;
  const namings = readNamings().filter(({ rules }) => rules.includes(rule));
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
