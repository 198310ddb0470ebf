/** The READMEs and comments name files, tests and rules that are there. */

import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'ava';
import { testFiles } from './test-files.ts';

const ROOT = path.join(import.meta.dirname, '..');
const FOLDERS = ['api', 'bench', 'engine', 'feeds', 'test'];

const read = (file: string) => readFileSync(path.join(ROOT, file), 'utf8');
const isThere = (file: string) => existsSync(path.join(ROOT, file));
const filesIn = (pattern: string) =>
  FOLDERS.flatMap((folder) => globSync(`${folder}/**/${pattern}`, { cwd: ROOT }));

const pages = [...globSync('*.md', { cwd: ROOT }), ...filesIn('*.md')];
/** The changelog names files as they were called then. */
const current = pages.filter((page) => page !== 'CHANGELOG.md');
const sources = [...filesIn('*.{ts,tsx}'), ...filesIn('*.js')].filter(
  (file) => !file.startsWith('api/client/generated.'),
);

/** The anchor of a heading, as GitHub makes it. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}

function anchorsOf(page: string): string[] {
  return [...read(page).matchAll(/^#+ (.+)$/gm)].map(([, heading]) => anchorOf(heading!));
}

type Column = { page: string; head: string; cells: string[] };

/** Every column of every table of a page. */
function columnsOf(page: string): Column[] {
  const tables = read(page).match(/(?:^\|.*\n)+/gm) ?? [];
  return tables.flatMap((table) => {
    const rows = table.split('\n').filter((line) => line !== '');
    const [head, , ...body] = rows.map((line) =>
      line
        .split(/(?<!\\)\|/)
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
    return head!.map((name, at) => ({ page, head: name, cells: body.map((row) => row[at] ?? '') }));
  });
}

/** `PAGE: NAME` of every name that leads nowhere. */
function missing(
  names: Iterable<{ page: string; name: string }>,
  isFound: (name: string, page: string) => boolean,
) {
  return [...names]
    .filter(({ page, name }) => !isFound(name, page))
    .map(({ page, name }) => `${page}: ${name}`);
}

/** The text of a page, or the comments of a source. */
function proseOf(file: string): string {
  if (file.endsWith('.md')) return read(file);
  return (read(file).match(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/ .*$/gm) ?? []).join('\n');
}

function namesIn(files: readonly string[], pattern: RegExp) {
  return files.flatMap((page) =>
    [...proseOf(page).matchAll(pattern)].map(([all, name = all]) => ({ page, name })),
  );
}

test('every relative link leads to a file, and to a heading of it', (t) => {
  const links = namesIn(pages, /\]\((?![a-z]+:)([^)\s]+)\)/g);
  t.true(links.length > 50);
  const leads = (link: string, page: string) => {
    const [file, anchor] = link.split('#') as [string, string?];
    const target = file === '' ? page : path.join(path.dirname(page), file);
    return isThere(target) && (anchor === undefined || anchorsOf(target).includes(anchor));
  };
  t.deepEqual(missing(links, leads), []);
});

test('every file in a column `file` of a table is there, seen from its page', (t) => {
  const columns = current.flatMap(columnsOf).filter(({ head }) => head === 'file');
  t.true(columns.length > 10);
  const names = columns.flatMap(({ page, cells }) =>
    cells
      .flatMap((cell) => cell.match(/[\w./*-]+(?:\.[jt]s\b|\/(?=,|$))/g) ?? [])
      .map((name) => ({ page, name })),
  );
  const matches = (name: string, page: string) =>
    globSync(path.join(path.dirname(page), name), { cwd: ROOT }).length > 0;
  t.deepEqual(missing(names, matches), []);
});

test('every test in a column `test (FOLDER)` of a table is in that folder', (t) => {
  const columns = current.flatMap(columnsOf).filter(({ head }) => head.startsWith('test ('));
  t.true(columns.length > 10);
  const names = columns.flatMap(({ page, head, cells }) => {
    const folder = head.slice('test ('.length, -1);
    const tests = cells.flatMap((cell) => cell.split(', ')).filter((name) => name !== '');
    return tests.map((name) => ({ page, name: path.join(folder, name) }));
  });
  const isTest = (name: string) =>
    [`${name}.test.ts`, `${name}.long.test.ts`, `${name}.ts`, name].some(isThere);
  t.deepEqual(missing(names, isTest), []);
});

test('every rule that a table of a page names is in a rule book', (t) => {
  const books = ['api/RULES.md', 'engine/RULES.md', 'feeds/FORMATS.md'].map(read).join('\n');
  const known = new Set([...books.matchAll(/^\*\*([A-Z]\d+)\*\*/gm)].map(([, rule]) => rule!));
  const columns = current.flatMap(columnsOf).filter(({ head }) => /^(rule|what)$/.test(head));
  const names = columns.flatMap(({ page, cells }) =>
    cells
      .flatMap((cell) => cell.match(/(?<=\([^)]*)\b[A-Z]\d{1,3}\b/g) ?? [])
      .map((name) => ({ page, name })),
  );
  t.true(names.length > 100);
  t.deepEqual(
    missing(names, (name) => known.has(name)),
    [],
  );
});

test('every path from the root that a page or a comment names is there', (t) => {
  const paths = /(?<![\w./~-])(?:api|bench|engine|feeds|test)\/[\w./-]+\.\w+/g;
  const isNamed = (name: string, page: string) =>
    isThere(name) || isThere(path.join(path.dirname(page), name));
  t.deepEqual(missing(namesIn([...current, ...sources], paths), isNamed), []);
});

test('every page that a page or a comment names is there', (t) => {
  const known = new Set(pages.map((page) => path.basename(page)));
  const names = namesIn([...current, ...sources], /(?<![\w./*-])\w[\w-]*\.md\b/g);
  t.true(names.length > 5);
  t.deepEqual(
    missing(names, (name) => known.has(name)),
    [],
  );
});

test('every source file that a page or a comment names by its last part is there', (t) => {
  const known = new Set(sources.map((file) => path.basename(file)));
  const names = namesIn([...current, ...sources], /(?<![\w./*-])[a-z][\w-]*\.ts\b/g);
  t.deepEqual(
    missing(names, (name) => known.has(name)),
    [],
  );
});

test('every test file is played by one room', (t) => {
  const rooms = filesIn('*.ts').filter((file) => file.startsWith('test/rooms/'));
  const played = rooms.flatMap((room) => {
    return testFiles(read(room).match(/(?<=')test\/[^']+(?=')/g) ?? []);
  });
  t.deepEqual(played.sort(), globSync('test/**/*.test.ts', { cwd: ROOT }).sort());
});

/**
 * Dialect that a newcomer reads twice. `behind` is right for a reader that falls behind, and for a
 * server behind a proxy. It is wrong for time and order.
 */
const DIALECT =
  /\b(?:anew|wholly|for good|but for|stands|(?<!\bf(?:all|alls|allen|ell) )behind(?! (?:a |its )?(?:TLS )?proxy))\b/gi;

/** Comments and literals. What a template computes is code. */
const SAID =
  /\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/ .*$|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`/gm;

/** The text that people read in a file: all of it, or the comments and literals of a program. */
function textOf(file: string): string {
  if (!/\.[jt]s$/.test(file)) return read(file);
  return (read(file).match(SAID) ?? []).join('\n').replaceAll(/\$\{[^{}]*\}/g, '');
}

test('pages, comments and literals are in plain words', (t) => {
  const files = [...pages, ...sources, ...filesIn('*.{css,conf,py}')].filter(
    (file) => file !== 'test/docs.test.ts',
  );
  t.true(files.length > 1000);
  const found = files.flatMap((file) =>
    (textOf(file).match(DIALECT) ?? []).map((word) => `${file}: ${word}`),
  );
  t.deepEqual(found, []);
});

/** `T1 to T3, T9` has T2 and T9. */
function isInRanges(rule: string, ranges: string): boolean {
  const number = Number(rule.slice(1));
  return [...ranges.matchAll(/\b([A-Z])(\d+)\b(?: to \1(\d+)\b)?/g)].some(
    ([, letter, first, last = first]) =>
      letter === rule[0] && number >= Number(first) && number <= Number(last),
  );
}

test('the table of contents of a rule book has every rule of a section in its row', (t) => {
  for (const book of ['engine/RULES.md', 'api/RULES.md', 'feeds/FORMATS.md']) {
    const rows = [...read(book).matchAll(/^\| \[[^\]]+\]\(#([^)]+)\) \| (.+) \|$/gm)];
    t.true(rows.length > 10, book);
    const ranges = new Map(rows.map(([, anchor, range]) => [anchor, range!]));
    const left: string[] = [];
    for (const section of read(book).split(/^## /m).slice(1)) {
      const anchor = anchorOf(section.slice(0, section.indexOf('\n')));
      for (const [, rule] of section.matchAll(/^\*\*([A-Z]\d+)\*\*/gm)) {
        if (!isInRanges(rule!, ranges.get(anchor) ?? '')) left.push(`${anchor}: ${rule}`);
      }
    }
    t.deepEqual(left, [], book);
  }
});
