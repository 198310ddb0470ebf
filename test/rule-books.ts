/** The rule books, and who names their rules: heads of files, tables of READMEs, titles of tests. */

import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';

const ROOT = path.join(import.meta.dirname, '..');
export const BOOKS = ['engine/RULES.md', 'api/RULES.md', 'feeds/FORMATS.md'];

/** As in a comment: `Rules T20 to T57, T90`, and then the book in parentheses, or the books. */
const CITATION = /\bRules? +([A-Z]\d[^()]*)\((?:(?:engine|api|feeds)\/[A-Z]+\.md(?:,? +)?)+\)/g;
/** `'T40, T41: …'`, `'L7, hard trade limits: …'`; or how titles begin, in a constant: `'D14, x';`. */
const TITLE = /["'`]((?:[A-Z]\d+(?:, | and | to )?)+)(?:(?:, [^:'`]+)?: [^'`]*|, [^:'`]+(?=';))/g;
/** A test that runs only if its input exists: `const mlbTest = present ? test : test.skip;`. */
const SKIPPABLE = /\bconst (\w+) =[^;]*\.skip\b[^;]*;/g;
/** What registers a test that long runs alone play (test/long-test.ts). */
const OF_LONG_RUNS = ['longTest', 'longPageTest'];
/** The first cell of a row of a table, which names rules in parentheses. */
const ROW = /^\| ([^|]*\([A-Z]\d[^|]*\)[^|]*)\|.*$/gm;

export type Rule = { rule: string; book: string; text: string };
export type Naming = {
  /** `model`: a helper of tests, which proves nothing by itself. */
  by: 'code' | 'table' | 'test' | 'model';
  file: string;
  line: number;
  text: string;
  /** As the text writes them: a range by its ends. */
  named: string[];
  /** Every rule of the books that is meant. */
  rules: string[];
  /** The rules that a test names one by one, and that every run of the tests proves. */
  proves: string[];
  /** Of a title: what registers it, as `test.serial`. */
  calls: string;
};

export function read(file: string): string {
  return readFileSync(path.join(ROOT, file), 'utf8');
}

/** In the order of the books; a number that occurs twice is there twice. */
export function readRules(): Rule[] {
  return BOOKS.flatMap((book) =>
    [
      ...read(book).matchAll(
        /^\*\*([A-Z]\d+)\*\*[\s\S]*?(?=\n\*\*[A-Z]\d+\*\*|\n## |\s*(?![\s\S]))/gm,
      ),
    ].map(([text, rule]) => ({ rule: rule!, book, text: text.trimEnd() })),
  );
}

/** Rules whose text has all of these words, or words that begin so: `fill` finds `filled`, too. */
export function rulesThatSay(words: string): Rule[] {
  const asked = wordsOf(words);
  if (asked.length === 0) return [];
  return readRules().filter(({ text }) => {
    const said = wordsOf(text);
    return asked.every((word) => said.some((one) => one.startsWith(word)));
  });
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\w-]+/g) ?? [];
}

/** Everywhere that rules are named outside of the books. */
export function readNamings(): Naming[] {
  const known = readRules().map(({ rule }) => rule);
  const sources = filesUnder('{engine,api,feeds}', 'ts');
  const tests = filesUnder('test', 'ts');
  const pages = filesUnder('{engine,api,feeds,test,bench}', 'md').filter(
    (page) => !BOOKS.includes(page),
  );
  return [
    ...sources.flatMap((file) => namingsIn(known, file, 'code', CITATION)),
    ...pages.flatMap((file) => namingsIn(known, file, 'table', ROW)),
    ...tests.flatMap((file) => [
      ...namingsIn(known, file, isTest(file) ? 'test' : 'model', CITATION),
      ...(isTest(file) ? namingsIn(known, file, 'test', TITLE) : []),
    ]),
  ];
}

/** A file that every run of the tests plays. */
function isTest(file: string): boolean {
  return file.endsWith('.test.ts') && !file.endsWith('.long.test.ts');
}

function filesUnder(folders: string, ending: string): string[] {
  return globSync(`${folders}/**/*.${ending}`, { cwd: ROOT }).sort();
}

function namingsIn(
  known: readonly string[],
  file: string,
  by: Naming['by'],
  pattern: RegExp,
): Naming[] {
  const text = read(file);
  // A comment of several lines reads as one. Places stay as they are.
  const flat = text.replace(/\n\s*(?:\*|\/\/)/g, (lineStart) => ' '.repeat(lineStart.length));
  const named = [...flat.matchAll(SKIPPABLE)].map(([, name]) => name!);
  const skippable = new Set(['skip', ...OF_LONG_RUNS, ...named]);
  return [...flat.matchAll(pattern)].map((match) => {
    const [, calls = ''] = /([\w.]+)\)?\(\s*$/.exec(flat.slice(0, match.index)) ?? [];
    const isSkippable = calls.split('.').some((part) => skippable.has(part));
    const names = by === 'table' ? inParentheses(match[1]!) : match[1]!;
    return {
      by,
      file,
      line: text.slice(0, match.index).split('\n').length,
      text: match[0].replace(/\s+/g, ' ').replace(/^["'`]/, ''),
      named: names.match(/\b[A-Z]\d+\b/g) ?? [],
      rules: meant(known, names),
      proves: by === 'test' && !isSkippable ? oneByOne(names) : [],
      calls,
    };
  });
}

function inParentheses(cell: string): string {
  return [...cell.matchAll(/\(([^()]*)\)/g)].map(([, inside]) => inside).join(', ');
}

/** `T20 to T22, T30` names one rule, and a range. */
export function oneByOne(names: string): string[] {
  return names.replace(/[A-Z]\d+ to [A-Z]\d+/g, '').match(/\b[A-Z]\d+\b/g) ?? [];
}

/** `T20 to T22, T30` means four rules, as far as the books have them. */
function meant(known: readonly string[], names: string): string[] {
  return [...names.matchAll(/\b([A-Z])(\d+)\b(?: to \1(\d+)\b)?/g)].flatMap(
    ([, letter, first, last = first]) =>
      known.filter((rule) => {
        const number = Number(rule.slice(1));
        return rule[0] === letter && number >= Number(first) && number <= Number(last);
      }),
  );
}
