/** What `npm pack` makes, used as a newcomer does: installed in an empty folder, and run there. */
import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import test, { type ExecutionContext } from 'ava';
import { envOf, readDockerfile, stepsOf } from '../../api/pack/dockerfile.ts';
import { eventually } from '../../bench/lib/eventually.ts';
import { longTest } from '../long-test.ts';
import { shareOf, variantsOfRun } from '../model/seeds.ts';
import { productFolder, productTarball } from './product.ts';
import { Command, LISTENS, outerEnv, sharedServer, tempDir } from './server.ts';

const runFile = promisify(execFile);
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const TSC = fileURLToPath(new URL('bin/tsc', import.meta.resolve('typescript/package.json')));
const INSTALLS_WITHIN_MS = 240_000;
const LARGEST_BYTES = 19_500_000;

const PACK_CLIENT = path.join(ROOT, 'api/client/pack.ts');

/** The one tarball of the client that a command leaves in an empty folder. */
async function packedClient(folder: string, program: string, args: string[]): Promise<string> {
  await runFile(program, [...args, folder], { cwd: ROOT });
  const [name, ...more] = readdirSync(folder);
  if (name === undefined || more.length > 0) throw new Error(`npm made ${[name, ...more]}`);
  return path.join(folder, name);
}

/** The one package that npm gets from a registry here. */
const [REGISTERED] = Object.keys(
  JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')).dependencies,
);
const hasRegistry =
  shareOf(100) >= 100 &&
  spawnSync('npm', ['view', REGISTERED!, 'version', '--fetch-retries=0']).status === 0;
// Only long runs ask for a registry. Without one these tests are shown as skipped.
const withRegistry = hasRegistry ? longTest : test.skip;

/**
 * An empty project that has installed the tarball. In place of the Node that npm would bring, 185 MB,
 * is an empty package, except in a long run.
 */
async function projectWith(t: ExecutionContext, tarball: string): Promise<string> {
  const project = path.join(tempDir(t), 'project');
  mkdirSync(project);
  const node = `node-${process.platform}-${process.arch}`;
  const { version } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8'));
  mkdirSync(path.join(project, 'empty'));
  writeFileSync(path.join(project, 'empty/package.json'), JSON.stringify({ name: node, version }));
  const [overrides] = variantsOfRun([{ [node]: 'file:./empty' }, {}]).slice(-1);
  writeFileSync(path.join(project, 'package.json'), JSON.stringify({ type: 'module', overrides }));
  const args = ['install', '--prefer-offline', '--no-audit', '--no-fund', tarball];
  const printed = await runFile('npm', args, { cwd: project, timeout: INSTALLS_WITHIN_MS });
  t.is(printed.stderr, '', 'npm warns of nothing');
  return project;
}

/** Compiles a program of the project strictly, and runs it. */
async function runBot(project: string, packageName: string, args: string[]): Promise<string> {
  const bot = `
    import { createClient } from '${packageName}';
    const [baseUrl = '', credential = ''] = process.argv.slice(2);
    const me = await createClient({ baseUrl, credential }).getMe();
    // @ts-expect-error: an answer has the fields of the description and no other
    me.user.nickname;
    const prefix: string = me.key?.prefix ?? 'by a session';
    console.log(prefix);
  `;
  writeFileSync(path.join(project, 'bot.ts'), bot);
  writeFileSync(path.join(project, 'process.d.ts'), 'declare const process: { argv: string[] };\n');
  const options = ['--ignoreConfig', '--strict', '--target', 'es2022', '--module', 'nodenext'];
  const compiled = runFile(process.execPath, [TSC, ...options, 'bot.ts', 'process.d.ts'], {
    cwd: project,
  });
  await compiled.catch(({ stdout }) => Promise.reject(new Error(stdout)));
  const { stdout } = await runFile(process.execPath, ['bot.js', ...args], { cwd: project });
  return stdout.trim();
}

type Running = { child: ChildProcess; ended: Promise<number | null> };
type DemoFile = { baseUrl: string; key: string };

/** A command in a group of its own, which ends as a whole: npx has a shell below it. */
function start(t: ExecutionContext, project: string, command: string, args: string[]): Running {
  const env = { ...outerEnv(), PAPERBOOK_PORT: '0', PAPERBOOK_ADMIN_PORT: '0' };
  const child = spawn(command, args, { cwd: project, env, detached: true, stdio: 'ignore' });
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  t.teardown(() => {
    try {
      process.kill(-child.pid!, 'SIGKILL');
    } catch {
      // It ended by itself, as it should.
    }
  });
  return { child, ended };
}

async function demoFile(project: string): Promise<DemoFile> {
  const file = path.join(project, 'data/demo.json');
  return await eventually('demo.json', async () =>
    existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as DemoFile) : null,
  );
}

async function isAnswering(baseUrl: string): Promise<boolean> {
  return await fetch(`${baseUrl}/status`).then(
    ({ ok }) => ok,
    () => false,
  );
}

/** Of everything in a folder, by its path from there. */
function namesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' });
}

/** `PAGE: LINK` of every relative link of a tarball's pages that leads to nothing in it. */
function deadLinks(folder: string): string[] {
  const pages = namesIn(folder).filter((name) => name.endsWith('.md'));
  return pages.flatMap((page) => {
    const text = readFileSync(path.join(folder, page), 'utf8');
    const links = [...text.matchAll(/\]\(([^)\s#]+)[^)]*\)/g)].map(([, link]) => link!);
    return links
      .filter((link) => !/^[a-z]+:/.test(link))
      .filter((link) => !existsSync(path.join(folder, path.dirname(page), link)))
      .map((link) => `${page}: ${link}`);
  });
}

/** The folder of a tarball's files. */
async function unpacked(t: ExecutionContext, tarball: string): Promise<string> {
  const folder = tempDir(t);
  await runFile('tar', ['xzf', tarball, '-C', folder]);
  return path.join(folder, 'package');
}

test.serial(
  'U28, npm pack: one bundle for each thread, and all that its pages link to; no tests, no sources, no source maps',
  async (t) => {
    t.timeout(INSTALLS_WITHIN_MS);
    const folder = productFolder();
    const files = namesIn(folder);
    const made = ['api/cli/program', 'engine/shard/thread/worker', 'engine/records/thread/worker'];
    for (const name of made) {
      t.true(files.includes(`dist/${name}.js`), name);
      const bundle = readFileSync(path.join(folder, `dist/${name}.cjs`));
      t.true(
        bundle.every((byte) => byte < 0x80),
        `${name}: a bundle is ASCII`,
      );
    }
    const named = ['LICENSE', 'api/deploy/nginx.conf', 'api/deploy/paperbook.service'];
    for (const name of [...named, 'api/client/python/pyproject.toml']) {
      t.true(files.includes(name), name);
    }
    for (const file of files) {
      t.notRegex(file, /\.map$|node_modules|__pycache__|(?<!\.d)\.tsx?$/);
      if (/^(test|bench)\//.test(file)) t.regex(file, /README\.md$|baseline\.json$/);
    }
    const python = namesIn(path.join(ROOT, 'api/client/python'));
    for (const file of python.filter((one) => !one.includes('__pycache__'))) {
      t.true(files.includes(path.join('api/client/python', file)), file);
    }
    t.deepEqual(deadLinks(folder), []);
    t.true(statSync(productTarball()).size < LARGEST_BYTES, 'README.md says its size');
    const natives = files
      .filter((file) => file.endsWith('.node'))
      .map((file) => path.basename(file));
    for (const [platform, architecture] of ['linux x64', 'linux arm64', 'darwin arm64'].map((one) =>
      one.split(' '),
    )) {
      t.true(natives.includes(`uws_${platform}_${architecture}_127.node`), platform);
      t.true(natives.includes(`${platform}-${architecture}.node`), platform);
    }
    t.is(natives.length, 8);
    const licenses = readFileSync(path.join(folder, 'dist/LICENSES.txt'), 'utf8');
    for (const name of ['commander', 'lmdb', 'uws-pack', 'pino', 'jose']) {
      t.regex(licenses, new RegExp(`^${name} [\\d.]+ \\([\\w.-]+\\)$`, 'm'));
    }
    // Of packages whose files are copied and not bundled.
    for (const name of ['@fastify/swagger-ui', 'dejavu-fonts-ttf']) {
      t.regex(licenses, new RegExp(`^${name} [\\d.]+ \\(`, 'm'));
    }
    const manifest = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'));
    t.deepEqual(Object.keys(manifest.dependencies), ['ordered-binary']);
  },
);

test.serial(
  'U31, Dockerfile: what it installs runs, is found healthy, and stops on SIGTERM',
  async (t) => {
    const image = readDockerfile(path.join(ROOT, 'Dockerfile')).at(-1)!;
    const app = path.join(tempDir(t), 'app');
    const own = path.join(app, 'node_modules/paperbook');
    cpSync(productFolder(), own, { recursive: true });
    const manifest = JSON.parse(readFileSync(path.join(own, 'package.json'), 'utf8'));
    const beside = { ...manifest.dependencies, ...manifest.optionalDependencies };
    for (const name of Object.keys(beside)) {
      const installed = path.join(ROOT, 'node_modules', name);
      if (!existsSync(installed) || name.startsWith('node-linux')) continue;
      mkdirSync(path.join(app, 'node_modules', path.dirname(name)), { recursive: true });
      symlinkSync(installed, path.join(app, 'node_modules', name));
    }

    const linked = stepsOf(image, 'RUN')
      .join()
      .match(/ln -s \/app\/(\S+) \/usr\/local\/bin\/paperbook/);
    const program = path.join(app, linked![1]!);
    const env = { ...envOf(image), PAPERBOOK_DATA_DIR: path.join(app, 'data') };
    const proxied = { ...env, PAPERBOOK_HOST: '127.0.0.1', PAPERBOOK_BEHIND_TLS_PROXY: 'on' };
    const launcher = { program: process.execPath, args: [program] };
    const args = JSON.parse(stepsOf(image, 'CMD')[0]!);
    const command = new Command(args, { launcher, env: proxied });
    t.teardown(() => command.endGroup());
    await command.printed(LISTENS);
    const { port } = new URL(/"adminUrl":"([^"]+)"/.exec(command.output.stderr)![1]!);

    const [check] = stepsOf(image, 'HEALTHCHECK');
    const [node, ...checkArgs] = JSON.parse(check!.slice(check!.indexOf('["')));
    t.is(node, 'node');
    const health = () =>
      new Promise<number | null>((resolve, reject) => {
        const options = { env: { ...proxied, PAPERBOOK_ADMIN_PORT: port } };
        const child = spawn(process.execPath, checkArgs, options);
        child.once('error', reject).once('exit', resolve);
      });
    t.is(await health(), 0);
    t.like(await command.end('SIGTERM'), { code: 0, signal: null });
    t.is(await health(), 1, 'nobody answers any more');
    const kept = readdirSync(path.join(app, 'node_modules/.cache/paperbook'));
    t.true(kept.length > 0, 'what is compiled of it is kept beside it');
  },
);

test('U31: a clone without packages says so in one line', (t) => {
  const clone = tempDir(t);
  mkdirSync(path.join(clone, 'api/cli'), { recursive: true });
  for (const name of ['package.json', 'api/cli/paperbook.js']) {
    cpSync(path.join(ROOT, name), path.join(clone, name));
  }
  // One source with a package that the clone lacks is enough.
  writeFileSync(path.join(clone, 'api/cli/program.ts'), "export * from 'commander';\n");
  const program = path.join(clone, 'api/cli/paperbook.js');
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, 'serve']);
  t.is(status, 1);
  t.is(String(stdout), '');
  t.is(String(stderr), 'paperbook: this clone lacks packages: run `npm ci` in it\n');
});

test('U31: what a clone keeps of its sources is never old, cut short, or needed', (t) => {
  const clone = tempDir(t);
  const commands = path.join(clone, 'api/cli');
  mkdirSync(commands, { recursive: true });
  for (const name of ['paperbook.js', 'kept-sources.js']) {
    cpSync(path.join(ROOT, 'api/cli', name), path.join(commands, name));
  }
  writeFileSync(path.join(clone, 'package.json'), '{"type":"module"}');
  writeFileSync(
    path.join(commands, 'thread.ts'),
    `import { said } from './said.ts';
    process.stdout.write(said + ' in a thread');`,
  );
  writeFileSync(
    path.join(commands, 'program.ts'),
    `import { Worker } from 'node:worker_threads';
    export async function run(): Promise<void> {
      new Worker(new URL('thread.ts', import.meta.url), { env: process.env });
    }`,
  );
  const cache = path.join(clone, 'node_modules/.cache');
  mkdirSync(path.dirname(cache));
  const prints = (said: string) => {
    writeFileSync(path.join(commands, 'said.ts'), `export const said: string = '${said}';`);
    const { stdout, stderr } = spawnSync(process.execPath, [path.join(commands, 'paperbook.js')]);
    t.deepEqual([String(stdout), String(stderr)], [`${said} in a thread`, '']);
  };
  const kept = () => path.join(cache, 'stripped-types', process.version);
  prints('one');
  t.is(readdirSync(kept()).length, 3);
  // A kept text that is cut short, and a source that has changed.
  for (const name of readdirSync(kept())) writeFileSync(path.join(kept(), name), '');
  prints('two');
  t.is(readdirSync(kept()).length, 4);
  rmSync(cache, { recursive: true });
  writeFileSync(cache, 'no folder');
  prints('two');
});

test('U31: what an installed package keeps is never old, damaged, or needed', (t) => {
  const beside = path.join(tempDir(t), 'node_modules');
  const dist = path.join(beside, 'paperbook/dist');
  mkdirSync(dist, { recursive: true });
  writeFileSync(path.join(beside, 'paperbook/package.json'), '{"type":"module"}');
  cpSync(path.join(ROOT, 'api/pack/run-bundle.js'), path.join(dist, 'run-bundle.js'));
  const begun = path.join(dist, 'begun.js');
  const cache = path.join(beside, '.cache');
  const kept = () => readdirSync(path.join(cache, 'paperbook'));
  const prints = (said: string, use: string) => {
    const text = `(function (module, require, $url) { module.exports.say = () => '${said}'; })`;
    writeFileSync(path.join(dist, 'begun.cjs'), text);
    writeFileSync(
      begun,
      `import { runBundle } from './run-bundle.js';
      const { say } = runBundle(import.meta.url, '${said}', '${use}');
      process.stdout.write(say());`,
    );
    const { stdout, stderr } = spawnSync(process.execPath, [begun]);
    t.deepEqual([String(stdout), String(stderr)], [said, '']);
  };
  prints('one', 'serve');
  t.is(kept().length, 1);
  const [first] = kept();
  const whole = readFileSync(path.join(cache, 'paperbook', first!));
  prints('two', 'serve');
  t.is(kept().length, 2, 'another text of this length');
  prints('two', '../verify');
  t.deepEqual(
    kept().filter((name) => !/^(one|two)-\d+-(serve|verify)$/.test(name)),
    [],
  );
  const damaged = Buffer.from(whole);
  damaged[whole.length >> 1]! ^= 0xff;
  for (const bytes of variantsOfRun([damaged, whole.subarray(0, 100), Buffer.alloc(0)])) {
    writeFileSync(path.join(cache, 'paperbook', first!), bytes);
    prints('one', 'serve');
    t.is(readFileSync(path.join(cache, 'paperbook', first!)).length, whole.length, 'made again');
  }
  rmSync(cache, { recursive: true });
  writeFileSync(cache, 'no folder');
  prints('one', 'serve');
});

withRegistry(
  'U2: npx paperbook demo from the tarball, in an empty folder',
  async (t: ExecutionContext) => {
    // Of the same tarball, `demo.test.ts` shows the past that takes seconds.
    t.timeout(2 * INSTALLS_WITHIN_MS);
    const project = await projectWith(t, productTarball());
    t.false(existsSync(path.join(project, 'node_modules/@scarf')), 'nothing reports installs');
    const { child, ended } = start(t, project, 'npx', ['paperbook', 'demo', '--empty']);
    const { baseUrl, key } = await demoFile(project);
    await eventually('an answer', async () => ((await isAnswering(baseUrl)) ? true : null));
    t.is(await runBot(project, 'paperbook/client', [baseUrl, key]), key.slice(0, 16));
    const page = await (await fetch(new URL('/docs', baseUrl))).text();
    const script = /src="(docs\/swagger-ui-bundle[^"]*)"/.exec(page)![1]!;
    t.is((await fetch(new URL(`/${script}`, baseUrl))).status, 200);
    const entry = await fetch(new URL('/', baseUrl), { headers: { accept: 'text/html' } });
    const bundled = /src="(web\/page[^"]*)"/.exec(await entry.text())![1]!;
    t.is((await fetch(new URL(`/${bundled}`, baseUrl))).status, 200);
    process.kill(-child.pid!, 'SIGTERM');
    await ended;
    await eventually('the end', async () => ((await isAnswering(baseUrl)) ? null : true));
    // It reads every shard in a process of its own, which is found beside the one that asks.
    const verified = await runFile('npx', ['paperbook', 'verify'], { cwd: project });
    t.regex(verified.stdout, /every invariant holds/);
  },
);

test.serial('npm run pack:client: a directory that is missing is one clear line', (t) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [PACK_CLIENT, '/nowhere/at/all']);
  t.is(status, 2);
  t.is(String(stdout), '');
  t.is(String(stderr), 'pack:client: /nowhere/at/all is no directory\n');
});

test.serial(
  'U29, npm run pack:client: the client alone, and all that its pages link to',
  async (t) => {
    const tarball = await packedClient(tempDir(t), process.execPath, [PACK_CLIENT]);
    const folder = await unpacked(t, tarball);
    t.like(JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8')), {
      engines: { node: '>=20' },
      peerDependencies: { ws: '>=8' },
      peerDependenciesMeta: { ws: { optional: true } },
    });
    const readme = readFileSync(path.join(folder, 'README.md'), 'utf8');
    t.true(readme.includes("from 'paperbook-client';"));
    t.false(readme.includes("from 'paperbook/client'"), 'it has a name of its own there');
    t.regex(readme, /Node has a `WebSocket`\s+from version 22 on/);
    t.deepEqual(deadLinks(folder), []);
  },
);

longTest.serial('U29, npm run pack:client: it is installed without another package', async (t) => {
  const tarball = await packedClient(tempDir(t), 'npm', ['run', 'pack:client', '--']);
  const project = await projectWith(t, tarball);
  const installed = readdirSync(path.join(project, 'node_modules'));
  t.deepEqual(
    installed.filter((name) => !name.startsWith('.')),
    ['paperbook-client'],
  );
  const { baseUrl, dataDir } = await sharedServer('demo');
  const { key } = JSON.parse(readFileSync(path.join(dataDir, 'demo.json'), 'utf8')) as DemoFile;
  t.is(await runBot(project, 'paperbook-client', [baseUrl, key]), key.slice(0, 16));
});
