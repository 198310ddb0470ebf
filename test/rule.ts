/**
 * `npm run rule T31`: a rule of the books, the code and the tables that name it, and its tests;
 * tests that name few rules are first. `npm run rule resting fill`: the rules whose text has words that
 * begin so.
 */

import { BOOKS, type Naming, readNamings, readRules, rulesThatSay } from './rule-books.ts';

// The reader may stop early, as in `npm run rule hold | head`.
process.stdout.on('error', () => process.exit(0));
const [asked = '', ...others] = process.argv.slice(2);
const known = readRules();
const found = known.find(({ rule }) => rule === asked.toUpperCase());
const words = [asked, ...others].join(' ').trim();
const saying = rulesThatSay(words);
if (found === undefined && saying.length > 0) {
  for (const { rule, book, text } of saying) {
    const line = text.replaceAll(/\s+/g, ' ').slice(0, 90);
    process.stdout.write(`${rule} (${book}): ${line}\n`);
  }
} else if (found === undefined || others.length > 0) {
  const usage = 'Usage: npm run rule T31, or npm run rule WORD…';
  const none = `${words} is no rule, and in no rule, of ${BOOKS.join(', ')}.`;
  process.stderr.write(`${words === '' || found !== undefined ? usage : none}\n`);
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
