/** `npm run rule T31`: a rule of the books, the code and the tables that name it, its tests, and their models. */

import { BOOKS, readNamings, readRules } from './rule-books.ts';

const [asked = '', ...others] = process.argv.slice(2);
const found = readRules().find(({ rule }) => rule === asked.toUpperCase());
if (found === undefined || others.length > 0) {
  const wrong = others.length > 0 || asked === '' ? 'Usage: npm run rule T31' : null;
  process.stderr.write(`${wrong ?? `${asked} is no rule of ${BOOKS.join(', ')}.`}\n`);
  process.exitCode = 2;
} else {
  const namings = readNamings().filter(({ rules }) => rules.includes(found.rule));
  const lines = (['code', 'table', 'test', 'model'] as const).flatMap((by) => {
    const places = namings.filter((naming) => naming.by === by);
    const title = places.length === 0 ? `${by}: none` : by;
    return ['', title, ...places.map(({ file, line, text }) => `  ${file}:${line}  ${text}`)];
  });
  process.stdout.write(`${[found.book, '', found.text, ...lines].join('\n')}\n`);
}
