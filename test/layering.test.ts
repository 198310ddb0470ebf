import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { parseSync } from 'oxc-parser';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const FOLDERS = ['engine', 'feeds', 'api', 'bench', 'test'];
/**
 * What is read in one piece. A file of tests may be longer than one of code, and a test a longer
 * story than a function: they are read from the top, and nothing else builds on them.
 */
const FILE_LINES_MAX = { code: 310, tests: 400 };
const FUNCTION_LINES_MAX = { code: 60, tests: 125 };

/** Calls of `invariant` in 1,000 lines (engine/README.md); no layer goes without. */
const INVARIANT_FLOORS = [
  { layer: 'engine', floor: 15 },
  ...[
    'rules',
    'memory',
    'log',
    'lmdb',
    'format',
    'ring',
    'index',
    'history',
    'records',
    'backtest',
    'equity',
  ].map((layer) => {
    return { layer: `engine/${layer}`, floor: 10 };
  }),
  { layer: 'engine/shard', floor: 8 },
  { layer: 'engine/audit', floor: 5 },
];

const FUNCTIONS = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression']);

type Source = {
  file: string;
  text: string;
  /** Of ours, types included. */
  imports: string[];
  /** Those of them that are there at run time. */
  values: string[];
  packages: string[];
};

function* filesIn(folder: string): Generator<string> {
  for (const entry of readdirSync(path.join(ROOT, folder), { withFileTypes: true })) {
    const file = `${folder}/${entry.name}`;
    if (entry.isDirectory()) yield* filesIn(file);
    else if (/\.(tsx?|js)$/.test(entry.name)) yield file;
  }
}

function readSource(file: string): Source {
  const text = readFileSync(path.join(ROOT, file), 'utf8');
  const code = text.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
  const namesIn = (part: string) =>
    [...part.matchAll(/(?:\bfrom\s+|\bimport\s+|import\()'([^']+)'/g)].map((match) => match[1]!);
  const isOurs = (name: string) => name.startsWith('.');
  const placeOf = (name: string) => path.posix.join(path.posix.dirname(file), name);
  const names = namesIn(code);
  const withoutTypes = code
    .replaceAll(/^import type [\s\S]*?;$/gm, '')
    .replaceAll(/^import \{(\s*type \w+,?)+\s*\} from '[^']+';$/gm, '');
  return {
    file,
    text,
    imports: names.filter(isOurs).map(placeOf),
    values: namesIn(withoutTypes).filter(isOurs).map(placeOf),
    packages: names.filter((name) => !isOurs(name)),
  };
}

const sources = FOLDERS.flatMap((folder) => [...filesIn(folder)].map(readSource));
const under = (folder: string) => (file: string) => file.startsWith(`${folder}/`);
const inAny = (...folders: string[]) => {
  return (file: string) => folders.some((folder) => file === folder || under(folder)(file));
};

/** A layer, and what its files may import of ours; types count. */
const LAYERS: { layer: string; may: (file: string) => boolean }[] = [
  { layer: 'engine/rules', may: inAny('engine/rules', 'engine/memory', 'engine/format') },
  {
    layer: 'engine/memory',
    may: inAny('engine/memory', 'engine/rules/units.ts', 'engine/rules/invariant.ts'),
  },
  { layer: 'engine/format', may: inAny('engine/format', 'engine/rules', 'engine/memory') },
  {
    layer: 'engine/audit',
    may: inAny(
      ...['engine/audit', 'engine/rules', 'engine/memory', 'engine/format'],
      ...['engine/shard/create-state.ts', 'engine/shard/shard-records.ts'],
    ),
  },
  {
    layer: 'engine/ring',
    may: inAny('engine/ring', 'engine/rules/invariant.ts', 'engine/format/frame.ts'),
  },
  { layer: 'engine/lmdb', may: inAny('engine/lmdb', 'engine/rules/invariant.ts') },
  {
    layer: 'engine/index',
    may: inAny(
      ...['engine/index', 'engine/memory'],
      ...['engine/rules/units.ts', 'engine/rules/invariant.ts'],
    ),
  },
  {
    layer: 'engine/log',
    may: inAny(
      ...['engine/log', 'engine/rules/units.ts', 'engine/rules/invariant.ts'],
      'engine/shard/disk-full.ts',
    ),
  },
  {
    layer: 'engine/history',
    may: inAny(
      ...['engine/history', 'engine/rules', 'engine/memory', 'engine/format'],
      ...['engine/shard/beside.ts', 'engine/shard/busy.ts', 'engine/shard/log.ts'],
      ...['engine/shard/kept-thread.ts', 'engine/log/segment-file.ts'],
    ),
  },
  {
    layer: 'engine/records',
    may: inAny(
      ...['engine/records', 'engine/rules', 'engine/memory', 'engine/format', 'engine/log'],
      'engine/shard',
    ),
  },
  {
    layer: 'engine/equity',
    may: inAny(
      ...['engine/equity', 'engine/history/questions.ts', 'engine/rules'],
      ...['engine/shard/account-log.ts', 'engine/shard/beside.ts', 'engine/shard/busy.ts'],
      'engine/shard/shard-of.ts',
    ),
  },
  {
    layer: 'engine/backtest',
    may: inAny(
      ...['engine/backtest', 'engine/history', 'engine/records', 'engine/rules'],
      ...['engine/shard/beside.ts', 'engine/shard/busy.ts', 'engine/shard/create-state.ts'],
    ),
  },
  { layer: 'engine/shard', may: inAny('engine') },
  {
    layer: 'feeds',
    may: inAny(
      'feeds',
      'engine/rules/units.ts',
      'engine/rules/messages.ts',
      'engine/rules/quote-top.ts',
      'engine/rules/catalog-entries.ts',
      'engine/rules/fees.ts',
    ),
  },
  { layer: 'api/web', may: inAny('api/web', 'api/client', 'api/schemas/admin-types.ts') },
  { layer: 'api', may: inAny('api', 'engine', 'feeds') },
];

test('each layer imports only what is below it', (t) => {
  for (const { layer, may } of LAYERS) {
    for (const { file, imports } of sources.filter((source) => under(layer)(source.file))) {
      t.deepEqual(
        imports.filter((name) => !may(name)),
        [],
        `${file} reaches too far`,
      );
    }
  }
});

test('the rules know memory and formats by their types, and by functions without a state', (t) => {
  const functions = inAny('engine/memory/prefetch.ts', 'engine/memory/uuid-words.ts');
  for (const { file, values } of sources.filter(({ file }) => under('engine/rules')(file))) {
    const far = values.filter((name) => !under('engine/rules')(name) && !functions(name));
    t.deepEqual(far, [], file);
  }
});

test('what is pure knows no package, no node module, no clock and no chance', (t) => {
  const pure = inAny('engine/rules', 'engine/memory', 'engine/audit');
  for (const { file, packages, text } of sources.filter(({ file }) => pure(file))) {
    t.deepEqual(packages, [], file);
    t.notRegex(text, /Date\.now|Math\.random|performance\.now|process\.|crypto\./, file);
  }
});

test('the index reads no clock, and of packages knows a checksum and the types of LMDB', (t) => {
  for (const { file, packages, text } of sources.filter(({ file }) =>
    under('engine/index')(file),
  )) {
    t.deepEqual(
      packages.filter((name) => !['node:zlib', 'lmdb'].includes(name)),
      [],
      file,
    );
    t.notRegex(text, /^import (?!type).*'lmdb'/m, file);
    t.notRegex(text, /Date\.now|Math\.random|performance\.now|process\.|crypto\./, file);
  }
});

test('the log knows files, checksums and timers, and no package', (t) => {
  const known = ['node:fs', 'node:path', 'node:timers/promises', 'node:zlib'];
  for (const { file, packages } of sources.filter(({ file }) => under('engine/log')(file))) {
    t.deepEqual(
      packages.filter((name) => !known.includes(name)),
      [],
      file,
    );
  }
});

test('only the composition root and the commands import feeds; others know names and states', (t) => {
  const root = [
    ...['main', 'connect-feed', 'live-catalog', 'playback', 'operator-results'],
    ...['live-feeds', 'feed-thread', 'feed-thread-messages'],
  ].map((name) => `api/${name}.ts`);
  const may = inAny('feeds', ...root, 'api/cli', 'test', 'bench');
  const words = inAny('feeds/venue.ts', 'feeds/connection-status.ts');
  for (const { file, imports } of sources.filter(({ file }) => !may(file))) {
    const far = imports.filter((name) => under('feeds')(name) && !words(name));
    t.deepEqual(far, [], file);
  }
});

test('uWebSockets.js is known where it listens, and where a request of it is answered', (t) => {
  const users = sources.filter(({ packages }) => packages.includes('uWebSockets.js'));
  const outside = users.filter(({ file }) => !inAny('bench', 'test')(file));
  t.deepEqual(
    outside.map(({ file }) => file),
    ['api/exchange.ts', 'api/http.ts'],
  );
});

test('the page is made of itself, the client, and four packages, and only its bundle reaches it', (t) => {
  const known = /^(preact(\/hooks)?|@preact\/signals|uplot|canonicalize)$/;
  const [page, others] = [sources.filter(isOfPage), sources.filter((one) => !isOfPage(one))];
  t.true(page.length > 30);
  for (const { file, packages, values } of page) {
    t.deepEqual(
      packages.filter((name) => !known.test(name)),
      [],
      file,
    );
    // Its table of all calls is a quarter of the first view.
    t.false(values.includes('api/client/generated.js'), file);
    // Schemas and what checks them stay on the server.
    t.false(values.includes('api/schemas/admin-types.ts'), file);
  }
  for (const { file, imports } of others.filter(({ file }) => !under('test/api/web')(file))) {
    t.deepEqual(imports.filter(under('api/web')), [], file);
  }
});

function isOfPage({ file }: Source): boolean {
  return under('api/web')(file);
}

test('nothing imports test or bench', (t) => {
  for (const { file, imports } of sources.filter(({ file }) => !inAny('test', 'bench')(file))) {
    t.deepEqual(imports.filter(inAny('test', 'bench')), [], file);
  }
});

test('no file imports itself by way of others, types included', (t) => {
  const graph = new Map(sources.map(({ file, imports }) => [file, imports]));
  const done = new Set<string>();
  const walk = (file: string, trail: string[]): void => {
    const start = trail.indexOf(file);
    if (start !== -1) t.fail(`circle: ${[...trail.slice(start), file].join(' -> ')}`);
    if (start !== -1 || done.has(file)) return;
    for (const target of graph.get(file) ?? []) walk(target, [...trail, file]);
    done.add(file);
  };
  for (const file of graph.keys()) walk(file, []);
  t.pass();
});

test('files stay short', (t) => {
  for (const { file, text } of sources.filter(({ file }) => !isGenerated(file))) {
    const max = FILE_LINES_MAX[kindOf(file)];
    const lines = text.split('\n').length - 1;
    t.true(lines <= max, `${file} has ${lines} lines, and may have ${max}`);
  }
});

test('functions stay short', (t) => {
  for (const { file, text } of sources.filter(({ file }) => !isGenerated(file))) {
    const max = FUNCTION_LINES_MAX[kindOf(file)];
    for (const { line, lines } of functionsIn(file, text)) {
      t.true(lines <= max, `${file}:${line}: a function of ${lines} lines may have ${max}`);
    }
  }
});

test('the engine stops at a mistake of its own, in every layer', (t) => {
  const engine = sources.filter(({ file }) => under('engine')(file) && !isInvariant(file));
  for (const { layer, floor } of INVARIANT_FLOORS) {
    const files = engine.filter(({ file }) => under(layer)(file));
    const lines = files.reduce((sum, { text }) => sum + text.split('\n').length - 1, 0);
    const calls = files.reduce((sum, { file, text }) => sum + invariantsIn(file, text), 0);
    const density = (calls * 1000) / lines;
    const counted = `${calls} invariants in ${lines} lines of ${layer}: ${density.toFixed(1)}`;
    t.true(density >= floor, `${counted} in 1,000, and ${floor} are wanted`);
  }
});

test('there are no barrels and no utils', (t) => {
  for (const { file, text } of sources.filter(({ file }) => !inAny('test', 'bench')(file))) {
    t.notRegex(text, /^export (\*|\{[^}]*\}) from/m, `${file} only passes on`);
    t.notRegex(file, /\/((utils?|helpers?)(\/|\.ts)|index\.ts)/, file);
  }
});

/** Where it is defined. */
function isInvariant(file: string): boolean {
  return file === 'engine/rules/invariant.ts';
}

/** Calls of `invariant` in a file. */
function invariantsIn(file: string, text: string): number {
  return nodesOf(file, text).filter(({ type, callee }) => {
    return type === 'CallExpression' && callee?.name === 'invariant';
  }).length;
}

function isGenerated(file: string): boolean {
  return /^api\/client\/(generated\.|.*\.js$)/.test(file);
}

function kindOf(file: string): 'code' | 'tests' {
  return under('test')(file) ? 'tests' : 'code';
}

/** Every function of a file, those inside others too, with the line it begins on. */
function functionsIn(file: string, text: string): { line: number; lines: number }[] {
  const lineOf = (offset: number) => text.slice(0, offset).split('\n').length;
  return nodesOf(file, text)
    .filter(({ type }) => FUNCTIONS.has(type))
    .map(({ start, end }) => ({ line: lineOf(start), lines: lineOf(end) - lineOf(start) + 1 }));
}

type Node = { type: string; start: number; end: number; callee?: { name?: string } };

/** Every node of a file's syntax tree. */
function nodesOf(file: string, text: string): Node[] {
  const { program, errors } = parseSync(file, text);
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]!.message}`);
  const found: Node[] = [];
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    if ('type' in node && typeof node.type === 'string') found.push(node as Node);
    for (const part of Object.values(node)) visit(part);
  };
  visit(program);
  return found;
}
