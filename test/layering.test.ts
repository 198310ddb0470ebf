import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const FOLDERS = ['engine', 'feeds', 'api', 'bench', 'test'];
/** Documented places, not layers: `index.ts` re-exports nothing here, since there is none. */
const LINES_MAX = 340;

type Source = { file: string; text: string; imports: string[]; packages: string[] };

function* filesIn(folder: string): Generator<string> {
  for (const entry of readdirSync(path.join(ROOT, folder), { withFileTypes: true })) {
    const file = `${folder}/${entry.name}`;
    if (entry.isDirectory()) yield* filesIn(file);
    else if (/\.(ts|js)$/.test(entry.name)) yield file;
  }
}

function readSource(file: string): Source {
  const text = readFileSync(path.join(ROOT, file), 'utf8');
  const code = text.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
  const found = code.matchAll(/(?:\bfrom\s+|\bimport\s+|import\()'([^']+)'/g);
  const names = [...found].map((match) => match[1]!);
  const imports = names
    .filter((name) => name.startsWith('.'))
    .map((name) => path.posix.join(path.posix.dirname(file), name));
  return { file, text, imports, packages: names.filter((name) => !name.startsWith('.')) };
}

const sources = FOLDERS.flatMap((folder) => [...filesIn(folder)].map(readSource));
const under = (folder: string) => (file: string) => file.startsWith(`${folder}/`);
const inAny = (...folders: string[]) => {
  return (file: string) => folders.some((folder) => file === folder || under(folder)(file));
};

/** A layer, and what its files may import of ours. DESIGN.md section 4. */
const LAYERS: { layer: string; may: (file: string) => boolean }[] = [
  { layer: 'engine/core', may: inAny('engine/core') },
  { layer: 'engine/shard', may: inAny('engine/core', 'engine/shard') },
  {
    layer: 'feeds',
    may: inAny('feeds', 'engine/core/units.ts', 'engine/core/messages.ts'),
  },
  { layer: 'api', may: inAny('api', 'engine', 'feeds') },
];

test('DESIGN section 4: each layer imports only what is below it', (t) => {
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

test('DESIGN section 4: the core knows no package, no node module, no clock and no chance', (t) => {
  for (const { file, packages, text } of sources.filter(({ file }) => under('engine/core')(file))) {
    t.deepEqual(packages, [], file);
    t.notRegex(text, /Date\.now|Math\.random|performance\.now|process\.|crypto\./, file);
  }
});

test('DESIGN section 4: only the composition root and the commands import feeds', (t) => {
  const may = inAny('feeds', 'api/main.ts', 'api/connect-feed.ts', 'api/cli', 'test', 'bench');
  for (const { file, imports } of sources.filter(({ file }) => !may(file))) {
    t.deepEqual(imports.filter(under('feeds')), [], file);
  }
});

test('DESIGN section 2: one file imports uWebSockets.js', (t) => {
  const users = sources.filter(({ packages }) => packages.includes('uWebSockets.js'));
  const outside = users.filter(({ file }) => !inAny('bench', 'test')(file));
  t.deepEqual(
    outside.map(({ file }) => file),
    ['api/http.ts'],
  );
});

test('DESIGN section 4: nothing imports test or bench', (t) => {
  for (const { file, imports } of sources.filter(({ file }) => !inAny('test', 'bench')(file))) {
    t.deepEqual(imports.filter(inAny('test', 'bench')), [], file);
  }
});

test('DESIGN section 4: no import cycles between values', (t) => {
  const graph = new Map(
    sources.map(({ file, text }) => {
      const code = text.replaceAll(/^import type [\s\S]*?;$/gm, '');
      const found = [...code.matchAll(/^import [\s\S]*?from '(\.[^']+)';$/gm)];
      const values = found.filter((match) => !/^import \{(\s*type \w+,?)+\s*\}/.test(match[0]));
      const targets = values.map((match) => {
        return path.posix.join(path.posix.dirname(file), match[1]!);
      });
      return [file, targets];
    }),
  );
  const done = new Set<string>();
  const walk = (file: string, trail: string[]): void => {
    const start = trail.indexOf(file);
    if (start !== -1) t.fail(`cycle: ${[...trail.slice(start), file].join(' -> ')}`);
    if (start !== -1 || done.has(file)) return;
    for (const target of graph.get(file) ?? []) walk(target, [...trail, file]);
    done.add(file);
  };
  for (const file of graph.keys()) walk(file, []);
  t.pass();
});

test('DESIGN section 5: files stay short, and there are no barrels and no utils', (t) => {
  for (const { file, text } of sources.filter(({ file }) => !inAny('test', 'bench')(file))) {
    const isGenerated = file.startsWith('api/client/generated.');
    t.true(
      isGenerated || text.split('\n').length <= LINES_MAX,
      `${file} is longer than ${LINES_MAX} lines`,
    );
    t.notRegex(text, /^export (\*|\{[^}]*\}) from/m, `${file} only passes on`);
    t.notRegex(file, /\/(utils?|helpers?|index)(\/|\.ts)/, file);
  }
});
