import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const FOLDERS = ['engine', 'feeds', 'api', 'bench', 'test'];
/** A room for each venue: they know what is shared, and not each other. */
const VENUE_ROOMS = readdirSync(path.join(ROOT, 'feeds/venues'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && entry.name !== 'shared')
  .map(({ name }) => `feeds/venues/${name}`);
/**
 * The rooms, from the ground up. A file imports files of its own room and of rooms before it, types
 * included, so that no folder imports itself by way of others.
 */
const ROOMS = [
  ...['engine/base', 'engine/memory', 'engine/rules', 'engine/threads', 'engine/log'],
  ...['engine/format', 'engine/audit', 'engine/ring', 'engine/replication'],
  ...['engine/index', 'engine/lmdb'],
  ...['engine/shard/core/views', 'engine/shard/core', 'engine/shard/store'],
  ...['engine/shard/thread', 'engine/shard/callers'],
  ...['engine/records/maths', 'engine/records/store', 'engine/records/boards'],
  ...['engine/readers', 'engine/records/projection', 'engine/records/eval'],
  ...['engine/records/track-record', 'engine/history', 'engine/records/thread'],
  ...['engine/backtest', 'engine/equity', 'engine/verify'],
  ...['feeds/reading', 'feeds/ingest', 'feeds/connection', 'feeds/catalog', 'feeds/venues/shared'],
  ...VENUE_ROOMS,
  ...['feeds/venues', 'feeds/file', 'feeds/file-venue', 'feeds/simulator'],
  ...['api/base', 'api/data-dir', 'api/http', 'api/schemas', 'api/config', 'api/identity'],
  ...['api/catalog', 'api/page', 'api/limits', 'api/market-data', 'api/read-side', 'api/dispatch'],
  ...['api/operations', 'api/openapi', 'api/stream', 'api/operations/routes'],
  ...[
    'api/operations/admin',
    'api/ops',
    'api/listeners',
    'api/mcp',
    'api/venue-api/kalshi',
    'api',
    'api/fidelity',
    'api/cli',
    'api/client',
    'api/web',
    'api/pack',
  ],
  ...['bench', 'test'],
];

type Source = {
  file: string;
  text: string;
  /** Of ours, types included. */
  imports: string[];
  /** The ones among them that are there at run time. */
  values: string[];
  /** Of those, the ones that are loaded with the file, and not by a call of `import()`. */
  loads: string[];
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
  const withoutCalls = (part: string) => part.replaceAll(/\bimport\('[^']+'\)/g, '');
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
    loads: namesIn(withoutCalls(withoutTypes)).filter(isOurs).map(placeOf),
    packages: names.filter((name) => !isOurs(name)),
  };
}

const sources = FOLDERS.flatMap((folder) => [...filesIn(folder)].map(readSource));
const under = (folder: string) => (file: string) => file.startsWith(`${folder}/`);
const inAny = (...folders: string[]) => {
  return (file: string) => folders.some((folder) => file === folder || under(folder)(file));
};

/** The innermost room that a file is in, by its place in the order; -1: none. */
function placeOf(file: string): number {
  let found = -1;
  for (const [place, room] of ROOMS.entries()) {
    const isInner = found === -1 || room.length > ROOMS[found]!.length;
    if (under(room)(file) && isInner) found = place;
  }
  return found;
}

test('every file is in a room, and imports its own room and rooms before it alone', (t) => {
  t.is(new Set(ROOMS).size, ROOMS.length);
  for (const { file, imports } of sources) {
    const place = placeOf(file);
    t.not(place, -1, `${file} is in no room`);
    t.deepEqual(
      imports.filter((name) => placeOf(name) > place),
      [],
      `${file} reaches up`,
    );
  }
});

test('a venue knows no other venue', (t) => {
  t.true(VENUE_ROOMS.length > 1);
  for (const room of VENUE_ROOMS) {
    const others = inAny(...VENUE_ROOMS.filter((other) => other !== room));
    for (const { file, imports } of sources.filter(({ file }) => under(room)(file))) {
      t.deepEqual(imports.filter(others), [], file);
    }
  }
});

test('every room has files', (t) => {
  const used = new Set(sources.map(({ file }) => ROOMS[placeOf(file)]));
  t.deepEqual(
    ROOMS.filter((room) => !used.has(room)),
    [],
  );
});

test('feeds know what the engine takes, by these files of its rules', (t) => {
  const names = ['messages', 'quote-top', 'catalog-entries', 'fees'];
  const may = inAny('feeds', 'engine/base', ...names.map((name) => `engine/rules/${name}.ts`));
  for (const { file, imports } of sources.filter(({ file }) => under('feeds')(file))) {
    t.deepEqual(
      imports.filter((name) => !may(name)),
      [],
      file,
    );
  }
});

test('the rules know memory and formats by their types, and by functions without a state', (t) => {
  const functions = inAny('engine/memory/prefetch.ts', 'engine/memory/uuid-words.ts');
  for (const { file, values } of sources.filter(({ file }) => under('engine/rules')(file))) {
    const own = inAny('engine/rules', 'engine/base');
    const far = values.filter((name) => !own(name) && !functions(name));
    t.deepEqual(far, [], file);
  }
});

test('what is pure knows no package, no node module, no clock and no chance', (t) => {
  const pure = inAny(
    ...['engine/rules', 'engine/memory', 'engine/audit'],
    ...['engine/base/units.ts', 'engine/base/invariant.ts'],
  );
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
  const known = ['node:fs', 'node:path', 'node:timers/promises', 'node:util', 'node:zlib'];
  for (const { file, packages } of sources.filter(({ file }) => under('engine/log')(file))) {
    t.deepEqual(
      packages.filter((name) => !known.includes(name)),
      [],
      file,
    );
  }
});

test('N101: a server and the thread of a shard load the code of a cluster on demand alone', (t) => {
  const byFile = new Map(sources.map((source) => [source.file, source]));
  const loadedWith = (file: string, loaded = new Set<string>()): Set<string> => {
    if (loaded.has(file)) return loaded;
    loaded.add(file);
    for (const name of byFile.get(file)?.loads ?? []) loadedWith(name, loaded);
    return loaded;
  };
  const inCluster = inAny('engine/replication');
  for (const start of ['engine/shard/thread/worker.ts', 'api/main.ts', 'api/cli/program.ts']) {
    const loaded = [...loadedWith(start)];
    t.true(loaded.length > 3, start);
    t.deepEqual(loaded.filter(inCluster), [], start);
  }
  const [onDemand, alone] = ['engine/shard/thread/worker.ts', 'engine/replication/worker.ts'];
  t.true(byFile.get(onDemand!)!.values.some(inCluster));
  t.true([...loadedWith(alone!)].some(inCluster));
});

test('replication knows etcd by node modules, and no package', (t) => {
  for (const { file, packages } of sources.filter(({ file }) =>
    under('engine/replication')(file),
  )) {
    t.deepEqual(
      packages.filter((name) => !name.startsWith('node:')),
      [],
      file,
    );
  }
});

test('only the composition root and the commands import feeds; others know names and states', (t) => {
  const root = ['api/main.ts', 'api/market-data', 'api/catalog/live-catalog.ts'];
  const may = inAny('feeds', ...root, 'api/fidelity', 'api/cli', 'test', 'bench');
  const words = inAny('feeds/reading/venue.ts', 'feeds/connection/connection-status.ts');
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
    ['api/http/http-context.ts', 'api/http/http.ts'],
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

test('no file imports itself by way of others, types included', (t) => {
  const graph = new Map(sources.map(({ file, imports }) => [file, imports]));
  const done = new Set<string>();
  const circles: string[] = [];
  const walk = (file: string, trail: string[]): void => {
    const start = trail.indexOf(file);
    if (start !== -1) circles.push([...trail.slice(start), file].join(' -> '));
    if (start !== -1 || done.has(file)) return;
    for (const target of graph.get(file) ?? []) walk(target, [...trail, file]);
    done.add(file);
  };
  for (const file of graph.keys()) walk(file, []);
  t.deepEqual(circles, []);
});

test('there are no barrels and no utils', (t) => {
  for (const { file, text } of sources.filter(({ file }) => !inAny('test', 'bench')(file))) {
    t.notRegex(text, /^export (\*|\{[^}]*\}) from/m, `${file} only passes on`);
    t.notRegex(file, /\/((utils?|helpers?)(\/|\.ts)|index\.ts)/, file);
  }
});
