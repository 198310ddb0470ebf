/**
 * Makes `dist/`, which an installed package runs: `npm pack` calls this. Each thread and process
 * gets one bundle with all that it needs, so that a start reads and compiles little. Packages with a
 * large part for other platforms are in that file too; of their binaries those of our platforms are
 * in `dist/native`. Rules U28, U31 (api/RULES.md).
 */
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { makeWebBundle, writeWebBundle } from '../page/make-web-bundle.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const DIST = path.join(ROOT, 'dist');
const SOURCES = ['engine', 'feeds', 'api'];
/** The entries of the command. All other started files are named where they are started. */
const PROGRAM = 'api/cli/program.ts';
/** What each of them begins with runs its bundle by this. */
const RUN_BUNDLE = 'api/pack/run-bundle.js';
const STARTED = /\bworkerUrl\(\s*import\.meta\.url,\s*'([^']+)'/g;
/**
 * Packages that are installed beside ours. ordered-binary evaluates text that names its variables,
 * which a bundle renames.
 */
const BESIDE = ['ordered-binary'];
/** Versions of Node's binary interface that `engines` allows: 127 is Node 22. */
const NODE_ABI = '127';
const PLATFORMS = ['linux', 'darwin'];
const ARCHITECTURES = ['x64', 'arm64'];

/** The files of a folder that the loader of a package's binaries needs, as seen from the loader. */
type Native = { loader: RegExp; binaries: string; isOurs: (name: string) => boolean };
const perPlatform = (nameOf: (platform: string, architecture: string) => string) => {
  const names = PLATFORMS.flatMap((platform) => ARCHITECTURES.map((one) => nameOf(platform, one)));
  return (name: string) => names.includes(name);
};
const NATIVES: readonly Native[] = [
  {
    loader: /\/node_modules\/uWebSockets\.js\/dist\/uws\.mjs$/,
    binaries: 'bin',
    isOurs: perPlatform((platform, one) => `uws_${platform}_${one}_${NODE_ABI}.node`),
  },
  {
    loader: /\/node_modules\/better-sqlite3-multiple-ciphers\/lib\/binding\.js$/,
    binaries: '../prebuilds',
    isOurs: perPlatform((platform, one) => `${platform}-${one}.node`),
  },
  // Their binaries are packages of their own, which npm installs for its platform. They are found
  // by the name of the package that asks.
  ...[/\/node_modules\/lmdb\/native\.js$/, /\/node_modules\/msgpackr-extract\/index\.js$/].map(
    (loader) => ({ loader, binaries: '.', isOurs: (name: string) => name === 'package.json' }),
  ),
];

async function makeProduct(): Promise<void> {
  rmSync(DIST, { recursive: true, force: true });
  mkdirSync(DIST);
  cpSync(path.join(ROOT, RUN_BUNDLE), path.join(DIST, path.basename(RUN_BUNDLE)));
  const inputs = await bundle(entries());
  for (const input of inputs) refuseEvaluation(input);
  for (const file of copied) inputs.add(file);
  writeWebBundle(await makeWebBundle(), path.join(DIST, 'web'));
  writeFileSync(path.join(DIST, 'LICENSES.txt'), licensesOf(packagesOf(inputs)));
}

/** In the text of a bundle, the way from its folder to `dist`. */
const DIST_FROM_HERE = '<dist>/';

/** Every file that a thread or process begins with. */
function entries(): string[] {
  const found = new Set([PROGRAM]);
  for (const folder of SOURCES) {
    const names = readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' });
    for (const name of names.filter((one) => one.endsWith('.ts'))) {
      const file = path.join(folder, name);
      const text = readFileSync(path.join(ROOT, file), 'utf8');
      for (const [, started] of text.matchAll(STARTED)) {
        found.add(path.join(path.dirname(file), `${started}.ts`));
      }
    }
  }
  for (const file of found) {
    if (!existsSync(path.join(ROOT, file))) throw new Error(`${file} is started and is not there`);
  }
  return [...found];
}

/** Bundles all entries at once, so that a source that many of them need is read once. */
async function bundle(files: readonly string[]): Promise<Set<string>> {
  const { metafile, outputFiles } = await build({
    absWorkingDir: ROOT,
    entryPoints: [...files],
    outbase: '.',
    outdir: 'dist',
    write: false,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node22',
    metafile: true,
    legalComments: 'none',
    // An installed package has the page on disk.
    external: [...BESIDE, './make-web-bundle.ts'],
    define: { 'import.meta.url': '$url' },
    banner: {
      js: [
        "(function (module, require, $url) { 'use strict';",
        "const { fileURLToPath: $fileURLToPath } = require('node:url');",
        `const $dist = new URL('${DIST_FROM_HERE}', $url);`,
      ].join('\n'),
    },
    footer: { js: '})' },
    plugins: [ownPlaces, ...NATIVES.map(nativePlugin)],
    logLevel: 'warning',
  });
  const texts = new Map(outputFiles.map(({ path: file, text }) => [file, text]));
  for (const entry of files) {
    writeBundle(entry, texts.get(path.join(DIST, entry.replace(/ts$/, 'js')))!);
  }
  return new Set(Object.keys(metafile.inputs));
}

/** The bundle, and beside it the file that a thread or process begins with. */
function writeBundle(entry: string, text: string): void {
  // Of text with other characters V8 keeps two bytes a character. Strings and regular expressions
  // mean the same with their escapes.
  const ascii = text
    .replace(DIST_FROM_HERE, upFrom(entry))
    .replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
  const hash = createHash('sha256').update(ascii).digest('hex').slice(0, 16);
  const isProgram = entry === PROGRAM;
  const [exported, use] = isProgram ? ['export const { run } = ', ', process.argv[2]'] : ['', ''];
  const begun = [
    `import { runBundle } from '${upFrom(entry)}${path.basename(RUN_BUNDLE)}';`,
    `${exported}runBundle(import.meta.url, '${hash}'${use});`,
  ];
  const file = path.join(DIST, entry.replace(/ts$/, ''));
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(`${file}cjs`, ascii);
  writeFileSync(`${file}js`, `${begun.join('\n')}\n`);
}

/** From the folder of an entry to `dist`. */
function upFrom(entry: string): string {
  return '../'.repeat(entry.split('/').length - 1);
}

/** The files of packages in `dist/files`. */
const copied = new Set<string>();

/** A source still finds the files beside it, and files of packages are copied to `dist/files`. */
const ownPlaces: Plugin = {
  name: 'own places',
  setup({ onLoad }) {
    onLoad({ filter: /\.ts$/ }, ({ path: file }) => {
      const own = JSON.stringify(path.relative(ROOT, file).replace(/ts$/, 'js'));
      const contents = readFileSync(file, 'utf8')
        .replaceAll('import.meta.url', `new URL(${own}, $dist).href`)
        .replaceAll(/import\.meta\.resolve\('([^']+)'\)/g, (_, name: string) => {
          const copy = path.join('files', name);
          mkdirSync(path.join(DIST, path.dirname(copy)), { recursive: true });
          const file = fileURLToPath(import.meta.resolve(name));
          cpSync(file, path.join(DIST, copy));
          copied.add(path.relative(ROOT, file));
          return `new URL(${JSON.stringify(copy)}, $dist).href`;
        });
      return { contents, loader: 'ts' };
    });
  },
};

/** The file that loads a package's binaries finds them in `dist/native`. */
function nativePlugin({ loader, binaries, isOurs }: Native): Plugin {
  return {
    name: 'native',
    setup({ onLoad }) {
      onLoad({ filter: loader }, ({ path: file }) => {
        const own = path.join('native', file.slice(file.lastIndexOf('node_modules/') + 13));
        const from = path.join(path.dirname(file), binaries);
        const to = path.join(DIST, path.dirname(own), binaries);
        mkdirSync(to, { recursive: true });
        for (const name of readdirSync(from).filter(isOurs)) {
          cpSync(path.join(from, name), path.join(to, name));
        }
        const place = `new URL(${JSON.stringify(own)}, $dist)`;
        const contents = readFileSync(file, 'utf8')
          .replaceAll('import.meta.url', `${place}.href`)
          .replaceAll('__dirname', `$fileURLToPath(new URL('.', ${place}))`);
        return { contents, loader: 'js' };
      });
    },
  };
}

/** A bundle renames variables, and text that is evaluated keeps their names. */
function refuseEvaluation(input: string): void {
  const text = readFileSync(path.join(ROOT, input), 'utf8');
  if (/(?<![.\w])eval\(/.test(text.replaceAll(/\/\/.*$|\/\*[\s\S]*?\*\//gm, ''))) {
    throw new Error(`${input} evaluates text, so its package cannot be bundled`);
  }
}

/** The folders of the packages that files are of, in order. */
function packagesOf(files: Iterable<string>): string[] {
  const folders = [...files].flatMap(
    (file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file) ?? [],
  );
  return [...new Set(folders)].sort();
}

/** A copy of a package must include its license. Throws if a package has none. */
function licensesOf(folders: readonly string[]): string {
  const texts = folders.map((folder) => {
    const names = readdirSync(path.join(ROOT, folder));
    const file = names.find((name) => /^(licen[cs]e|copying)/i.test(name));
    const manifest = readFileSync(path.join(ROOT, folder, 'package.json'), 'utf8');
    const { name, version, license } = JSON.parse(manifest) as Record<string, string>;
    if (file === undefined && license === undefined) throw new Error(`${folder} has no license`);
    const text = file === undefined ? '' : readFileSync(path.join(ROOT, folder, file), 'utf8');
    return `${name} ${version} (${license})\n\n${text.trim()}\n`;
  });
  return texts.join(`\n${'-'.repeat(72)}\n\n`);
}

await makeProduct();
