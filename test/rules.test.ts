/** The rule books: each number stands once, and each that a file or a test names is there. */

import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'ava';

const ROOT = path.join(import.meta.dirname, '..');
const BOOKS = ['engine/RULES.md', 'api/RULES.md', 'feeds/FORMATS.md'];
const CITATION = /\bRules? ([A-Z]\d[^()]*)\((?:engine|api|feeds)\/[A-Z]+\.md/g;
const TITLE = /['`]((?:[A-Z]\d+(?:, | and | to )?)+)(?:, [^:'`]+)?: /g;

const read = (file: string) => readFileSync(path.join(ROOT, file), 'utf8');

/** Every rule of the books, as often as it stands there. */
function rules(): string[] {
  return BOOKS.flatMap((book) =>
    [...read(book).matchAll(/^\*\*([A-Z]\d+)\*\*/gm)].map(([, n]) => n!),
  );
}

function sources(directory: string): string[] {
  return readdirSync(path.join(ROOT, directory), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.includes('node_modules'))
    .map((name) => path.join(directory, name));
}

function named(text: string, pattern: RegExp): string[] {
  const flat = text.replace(/\n\s*\*\s?/g, ' ');
  return [...flat.matchAll(pattern)].flatMap(([, numbers]) => numbers!.match(/[A-Z]\d+/g) ?? []);
}

test('a rule has one number, and a number one rule', (t) => {
  const all = rules();
  t.true(all.length > 400);
  t.deepEqual(
    all.filter((rule, at) => all.indexOf(rule) !== at),
    [],
  );
});

test('the rules that files and tests name are in the books', (t) => {
  const known = new Set(rules());
  const unknown: string[] = [];
  for (const file of ['engine', 'api', 'feeds', 'test'].flatMap(sources)) {
    const pattern = file.startsWith('test') ? TITLE : CITATION;
    for (const rule of named(read(file), pattern))
      if (!known.has(rule)) unknown.push(`${file}: ${rule}`);
  }
  for (const book of BOOKS) {
    for (const rule of read(book).match(/\b[A-Z]\d{1,3}\b/g) ?? []) {
      if (!known.has(rule)) unknown.push(`${book}: ${rule}`);
    }
  }
  t.deepEqual(unknown, []);
});
