/** The examples of both clients' READMEs: they compile as they stand, and they work on the demo. */
import { execFile } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import test, { type ExecutionContext } from 'ava';
import { pythonWith } from '../api/python.ts';
import { eventually, type Server, sharedServer, tempDir } from './server.ts';

const runFile = promisify(execFile);
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const CLIENT = path.join(ROOT, 'api/client');
const TSC = fileURLToPath(new URL('bin/tsc', import.meta.resolve('typescript/package.json')));
const RUNS_WITHIN_MS = 90_000;

/** The blocks of a page in this language, in order. */
function blocksOf(page: string, language: string): string[] {
  const text = readFileSync(path.join(CLIENT, page), 'utf8');
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'gms'))].map(
    ([, block]) => block!,
  );
}

/** A project that has installed what is packed of the client. */
function project(t: ExecutionContext): string {
  const folder = tempDir(t);
  const installed = path.join(folder, 'node_modules/paperbook/api/client');
  mkdirSync(installed, { recursive: true });
  for (const name of readdirSync(CLIENT).filter((one) => /\.js$|\.d\.ts$/.test(one))) {
    copyFileSync(path.join(CLIENT, name), path.join(installed, name));
  }
  copyFileSync(
    path.join(ROOT, 'package.json'),
    path.join(folder, 'node_modules/paperbook/package.json'),
  );
  writeFileSync(path.join(folder, 'package.json'), '{"type":"module"}');
  return folder;
}

/** A demo whose first games have a price, and its key. */
async function pricedDemo(): Promise<Server & { key: string }> {
  const server = await sharedServer('demo');
  const { key } = JSON.parse(readFileSync(path.join(server.dataDir, 'demo.json'), 'utf8'));
  await eventually('a price of what starts next', async () => {
    const query = 'tradable=true&status=scheduled&priced=true&limit=1';
    const headers = { authorization: `Bearer ${key}` };
    const answer = await fetch(`${server.baseUrl}/instruments?${query}`, { headers });
    const { instruments } = (await answer.json()) as { instruments: unknown[] };
    return instruments.length > 0 ? true : null;
  });
  return { ...server, key };
}

test('U30: the TypeScript of the client’s README compiles strictly', async (t) => {
  const folder = project(t);
  const blocks = blocksOf('README.md', 'ts');
  t.is(blocks.length, 2);
  t.deepEqual(blocksOf('README.md', 'js'), [], 'every example is compiled');
  const names = blocks.map((block, at) => {
    const name = `example-${at}.ts`;
    writeFileSync(path.join(folder, name), block);
    return name;
  });
  const types = ['--types', 'node', '--typeRoots', path.join(ROOT, 'node_modules/@types')];
  const options = ['--strict', '--noUncheckedIndexedAccess', '--target', 'es2022'];
  const args = ['--ignoreConfig', '--noEmit', ...options, '--module', 'nodenext', ...types];
  const compiled = runFile(process.execPath, [TSC, ...args, ...names], { cwd: folder });
  await compiled.catch(({ stdout }) => t.fail(stdout));
});

test('U30: the examples of the client’s README work on the demo', async (t) => {
  t.timeout(2 * RUNS_WITHIN_MS);
  const { baseUrl, key } = await pricedDemo();
  const folder = project(t);
  for (const [at, block] of blocksOf('README.md', 'ts').entries()) {
    const file = path.join(folder, `example-${at}.mjs`);
    t.true(block.includes('http://127.0.0.1:8080/v1'));
    writeFileSync(
      file,
      block.replace('http://127.0.0.1:8080/v1', baseUrl).replace('10_000', '500'),
    );
    const { stdout } = await runFile(process.execPath, [file, key], { timeout: RUNS_WITHIN_MS });
    t.regex(stdout, /^bought 10 for \d/m);
  }
});

// Where the machine has no such Python these are shown as skipped.
const python = pythonWith('httpx', 'websockets');
const withPython = python === null ? test.skip : test;

withPython('U30: the examples of the Python client’s README work on the demo', async (t) => {
  t.timeout(2 * RUNS_WITHIN_MS);
  const { baseUrl, key } = await pricedDemo();
  const folder = tempDir(t);
  const env = {
    PATH: process.env.PATH,
    PYTHONPATH: path.join(CLIENT, 'python'),
    PYTHONDONTWRITEBYTECODE: '1',
    PYTHONUNBUFFERED: '1',
  };
  const blocks = blocksOf('python/README.md', 'python');
  t.is(blocks.length, 3);
  for (const [at, block] of blocks.entries()) {
    t.true(block.includes('http://127.0.0.1:8080/v1'));
    const file = path.join(folder, `example_${at}.py`);
    const own = block
      .replace('http://127.0.0.1:8080/v1', baseUrl)
      .replace('seconds=10', 'seconds=1');
    writeFileSync(file, own);
    const options = { env, timeout: RUNS_WITHIN_MS };
    const child = execFile(python!, [file, key], options);
    let printed = '';
    // The one of the stream prints until somebody ends it.
    child.stdout!.on('data', (text: string) => {
      printed += text;
      if (at === 1 && /^bought .*\n(.*\n){3}/m.test(printed)) child.kill('SIGINT');
    });
    let problem = '';
    child.stderr!.on('data', (text: string) => {
      problem += text;
    });
    await new Promise((ended) => child.once('close', ended));
    t.regex(printed, /^bought \{/m, problem);
    if (at !== 1) t.is(problem, '');
  }
});

test('U66: each example is told in its README, and names only what the client has', (t) => {
  const folder = path.join(CLIENT, 'examples');
  const page = readFileSync(path.join(folder, 'README.md'), 'utf8');
  const exported = readFileSync(path.join(CLIENT, 'python/paperbook_client/__init__.py'), 'utf8');
  const generated = readFileSync(path.join(CLIENT, 'python/paperbook_client/generated.py'), 'utf8');
  const examples = readdirSync(folder).filter((name) => /\.(py|ipynb)$/.test(name));
  t.is(examples.length, 3);
  for (const name of examples) {
    t.true(page.includes(`](${name})`), name);
    const text = readFileSync(path.join(folder, name), 'utf8');
    const [, imported] = /from paperbook_client import (.*?)(?:\\n|\n)/.exec(text)!;
    for (const one of imported!.split(', ')) {
      t.true(`${exported}${generated}`.includes(`"${one}",`), `${name}: ${one}`);
    }
  }
});

withPython('U66: the market maker, the taker and the notebook work on the demo', async (t) => {
  t.timeout(2 * RUNS_WITHIN_MS);
  const { baseUrl, key } = await pricedDemo();
  const env = {
    PATH: process.env.PATH,
    PYTHONPATH: path.join(CLIENT, 'python'),
    PYTHONDONTWRITEBYTECODE: '1',
    PAPERBOOK_API_KEY: key,
    PAPERBOOK_BASE_URL: baseUrl,
  };
  const played = async (...args: string[]) => {
    const { stdout } = await runFile(python!, args, { env, timeout: RUNS_WITHIN_MS });
    return stdout;
  };
  const example = (name: string) => path.join(CLIENT, 'examples', name);
  t.regex(await played(example('market_maker.py'), '--seconds', '4'), /^moved [1-9]\d* orders$/m);
  const taken = await played(example('taker.py'), '--edge', '-99');
  t.regex(taken, /^bought .* percent$/m);
  t.regex(taken, /^looked at \d+ and bought [1-9]/m);
  if (pythonWith('httpx', 'websockets', 'pandas') === null) return t.log('no pandas: no notebook');
  const { cells } = JSON.parse(readFileSync(example('first_steps.ipynb'), 'utf8'));
  const code = cells
    .filter((cell: { cell_type: string }) => cell.cell_type === 'code')
    .map(({ source }: { source: string[] }) => source.join(''));
  const file = path.join(tempDir(t), 'notebook.py');
  writeFileSync(file, `${code.join('\n')}\nprint(len(candles) > 0, len(history) > 0)`);
  t.is(await played(file), 'True True\n');
});

test('U29: where there is no WebSocket, the stream takes the one of an installed ws', async (t) => {
  const { baseUrl, key } = await pricedDemo();
  const folder = project(t);
  const packages = path.join(ROOT, 'node_modules');
  symlinkSync(path.join(packages, 'ws'), path.join(folder, 'node_modules/ws'));
  const file = path.join(folder, 'old.mjs');
  writeFileSync(
    file,
    `delete globalThis.WebSocket;
    const { createClient } = await import('paperbook/client');
    const [, , baseUrl, credential] = process.argv;
    const stream = createClient({ baseUrl, credential }).stream();
    await stream.subscribe('games', 'orders');
    console.log(stream.state.state);
    stream.close();`,
  );
  const { stdout } = await runFile(process.execPath, [file, baseUrl, key], {
    timeout: RUNS_WITHIN_MS,
  });
  t.is(stdout, 'open\n');
});

test('U29: where there is no WebSocket, the stream says what has one', async (t) => {
  const folder = project(t);
  const file = path.join(folder, 'old.mjs');
  writeFileSync(
    file,
    `delete globalThis.WebSocket;
    const { createClient } = await import('paperbook/client');
    try {
      createClient({ baseUrl: 'http://127.0.0.1:9/v1', credential: 'k' }).stream();
    } catch (error) {
      console.log(error.name, error.message);
    }`,
  );
  const { stdout } = await runFile(process.execPath, [file]);
  t.regex(stdout, /^TypeError there is no WebSocket here: Node has one from version 22 on\./);
});
