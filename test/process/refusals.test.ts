/** Starts that cannot be: each says why in a line, and harms neither a server nor a directory. */
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { selfSignedCertificate } from '../api/certificate.ts';
import { longTest } from '../long-test.ts';
import { variantsOfRun } from '../model/seeds.ts';
import { catalogOf, game, instrument } from './catalogs.ts';
import { runHere, serveHere } from './run-here.ts';
import { CLONE, Command, type Exit, LISTENS, type Place, run, tempDir } from './server.ts';

for (const version of variantsOfRun(['22.17.1', '24.1.0', '20.20.2', '23.4.0'], 2)) {
  test.serial(`another version of Node, ${version}: one clear line, exit code 1`, async (t) => {
    const versions = `{ value: { ...process.versions, node: '${version}' } }`;
    const code = `Object.defineProperty(process, 'versions', ${versions})`;
    const dataDir = path.join(tempDir(t), 'data');
    const exit = await run(['demo'], {
      nodeArgs: ['--import', `data:text/javascript,${encodeURIComponent(code)}`],
      env: { PAPERBOOK_DATA_DIR: dataDir },
    });
    refused(t, exit, 1, [`paperbook needs Node 22.18 or a later 22, and this is ${version}`]);
    t.false(existsSync(dataDir));
  });
}

test.serial('A106, R40: a replay from a time after its end is bad usage', async (t) => {
  const range = ['--from', '2026-11-22T00:00:00Z', '--to', '2026-11-21T00:00:00Z'];
  for (const rest of [[], ['--server', 'http://127.0.0.1:1'], ['--catalog', 'none.json']]) {
    const exit = await runHere(['feed', 'replay', 'none.jsonl', ...range, ...rest]);
    refused(t, exit, 2, ['paperbook: --from must not be after --to']);
  }
});

test.serial('U92: an empty argument or value is named, and no server is asked', async (t) => {
  const cases = [
    { args: ['admin', 'key', 'revoke', ''], named: '<keyId>' },
    { args: ['quote', 'ins_4K7Q0R2M9XTB', ''], named: '<instrumentIds>' },
    { args: ['order', ''], named: '<orderId>' },
    { args: ['log', '--data-dir', ''], named: '--data-dir' },
    { args: ['trades', '--cursor', ''], named: '--cursor' },
  ];
  for (const { args, named } of cases) {
    refused(t, await runHere(args), 2, [`paperbook: ${named} must not be empty`]);
  }
  // What a server takes for not set is not typed either.
  const env = { PAPERBOOK_DATA_DIR: '', PAPERBOOK_ADMIN_PORT: '' };
  const { stdout } = await runHere(['admin', 'shards', '--help'], { env });
  t.regex(stdout, /default: "\.\/data".*default: "http:\/\/127\.0\.0\.1:8081"/s);
});

test.serial(
  'U93, U94: a number that is too large is called so, and no error is long',
  async (t) => {
    const large = await runHere(['log', '--after', '9007199254740992']);
    refused(t, large, 2, ["'9007199254740992' is invalid. It is above 9007199254740991."]);
    const longest = 'x'.repeat(300);
    for (const args of [
      ['buy', 'ins_4K7Q0R2M9XTB', 'yes', `${longest}y`],
      ['verify-record', `${longest}y`],
    ]) {
      const { stderr } = await runHere(args);
      t.regex(stderr, /x{200}…/);
      t.false(stderr.includes('y…') || stderr.includes('xy'));
    }
  },
);

test.serial('U95: a command with a session says that it takes no key', async (t) => {
  const session = path.join(tempDir(t), 'session.json');
  const env = { PAPERBOOK_API_KEY: 'svc_sk_0123456789' };
  for (const args of [
    ['keys', 'list'],
    ['reset', '--yes'],
    ['account', '--realism', 'simple'],
  ]) {
    const exit = await runHere([...args, '--session', session], { env });
    refused(t, exit, 1, [
      'paperbook: nobody is signed in, and this command takes no API key: run paperbook login',
    ]);
  }
});

const otherNode = findOtherNode();
// Where the machine has no Node of another version these are shown as skipped.
const withOtherNode = otherNode === null ? test.serial.skip : test.serial;
const longWithOtherNode = otherNode === null ? test.serial.skip : longTest.serial;

withOtherNode(
  'another version of Node, a real one: runs the Node 22 that npm brought',
  async (t) => {
    const { node } = otherNode!;
    t.is((await run(['nothing'], { node })).code, 2, 'how it ends is passed on');
  },
);

longWithOtherNode(
  'another version of Node, a real one: a signal is passed on',
  async (t: ExecutionContext) => {
    const { node } = otherNode!;
    const server = new Command(['serve'], {
      node,
      env: { PAPERBOOK_DATA_DIR: path.join(tempDir(t), 'data') },
    });
    await server.printed(LISTENS);
    const { code, signal, stderr } = await server.end('SIGTERM');
    t.like({ code, signal }, { code: 0, signal: null });
    t.regex(stderr, /"msg":"stopped"\}\n$/);
  },
);

withOtherNode('another version of Node, and npm brought none: one clear line', (t) => {
  const { node, version } = otherNode!;
  // Nothing is installed beside the copy.
  const copy = path.join(tempDir(t), 'paperbook.mjs');
  copyFileSync(CLONE, copy);
  const { status, stdout, stderr } = spawnSync(node, [copy, '--help'], { encoding: 'utf8' });
  const says = `paperbook needs Node 22.18 or a later 22, and this is ${version}`;
  refused(t, { code: status, signal: null, stdout, stderr }, 1, [says]);
});

test.serial(
  'G8: a port in use, a directory in use, and damaged files; D5, PAPERBOOK_SHARDS: a later mismatch, or shards without paperbook.json: one clear line, exit code 1, and no account begins again',
  async (t) => {
    const server = await serveHere(t, { env: { PAPERBOOK_SHARDS: '2' } });
    await refusesSecond(t, server);
    const [api, admin] = ['PAPERBOOK_PORT', 'PAPERBOOK_ADMIN_PORT'] as const;
    const pairs = [
      ['demo', api],
      ['serve', admin],
      ['demo', admin],
      ['serve', api],
    ] as const;
    const other = path.join(tempDir(t), 'data');
    for (const [name, variable] of variantsOfRun(pairs, 2)) {
      const { port } = new URL(variable === api ? server.baseUrl : server.adminUrl);
      const env = { PAPERBOOK_DATA_DIR: other, [variable]: port };
      // A past of the demo takes seconds, and is made before.
      const args = name === 'demo' ? [name, '--empty'] : [name];
      const exit = await runHere(args, { env });
      refused(t, exit, 1, [`${variable} ${port} is in use on 127.0.0.1: set another`]);
      // G8: a number of shards is not chosen either.
      t.deepEqual(readdirSync(other), []);
    }
    await stillAnswers(t, server);
    await server.stop();
    await refusesOtherShards(t, server.dataDir);
    await refusesDamagedFiles(t, server.dataDir);
    // Nothing is harmed.
    const { dataDir } = server;
    await stillAnswers(t, await serveHere(t, { dataDir, env: { PAPERBOOK_SHARDS: '2' } }));
    const names = readdirSync(dataDir).filter((name) => name.startsWith('shard-'));
    t.deepEqual(names, ['shard-0', 'shard-1']);
  },
);

/** Of a directory of two. */
async function refusesOtherShards(t: ExecutionContext, dataDir: string): Promise<void> {
  const start = (shards: string) => {
    const env = { PAPERBOOK_DATA_DIR: dataDir, PAPERBOOK_SHARDS: shards };
    return runHere(['serve'], { env });
  };
  refused(t, await start('3'), 1, ['PAPERBOOK_SHARDS is 3']);
  refused(t, await start('0'), 2, ['PAPERBOOK_SHARDS must be']);
  const file = path.join(dataDir, 'paperbook.json');
  renameSync(file, `${file}.away`);
  for (const shards of ['', '2']) {
    const missing = `${file} is missing, and ${dataDir} holds shard-0, shard-1: restore it`;
    refused(t, await start(shards), 1, [missing]);
  }
  renameSync(`${file}.away`, file);
}

/** G8: before its shards are opened. */
async function refusesDamagedFiles(t: ExecutionContext, dataDir: string): Promise<void> {
  for (const name of [
    ...['auth-key.json', 'track-record-key.json', 'track-record-keys.json', 'contradicted.json'],
    ...['market-states.json', 'discovered.json', 'retired.jsonl'],
  ]) {
    const file = path.join(dataDir, name);
    const kept = existsSync(file) ? readFileSync(file) : null;
    writeFileSync(file, '{"cut":\n', { mode: 0o600 });
    const exit = await runHere(['serve'], { env: { PAPERBOOK_DATA_DIR: dataDir } });
    t.is(exit.code, 1);
    t.true(exit.stderr.includes(file), exit.stderr);
    t.false(exit.stderr.includes('shard ready'), name);
    if (kept === null) rmSync(file);
    else writeFileSync(file, kept);
  }
}

/** A second server on the same data directory. */
async function refusesSecond(t: ExecutionContext, { dataDir }: Place): Promise<void> {
  const alias = path.join(tempDir(t), 'alias');
  symlinkSync(dataDir, alias);
  const starts = [
    ['demo', dataDir],
    ['serve', alias],
    ['demo', alias],
    ['serve', dataDir],
  ] as const;
  for (const [name, same] of variantsOfRun(starts, 2)) {
    const exit = await runHere([name], { env: { PAPERBOOK_DATA_DIR: same } });
    const holder = `is in use by another server (process ${process.pid})`;
    refused(t, exit, 1, [`PAPERBOOK_DATA_DIR ${same} ${holder}: stop that one`]);
  }
}

for (const name of ['demo', 'serve'] as const) {
  test.serial(`an unwritable data directory, ${name}: one clear line, exit code 1`, async (t) => {
    // Below a regular file not even root can make one.
    const file = path.join(tempDir(t), 'file');
    writeFileSync(file, 'mine');
    for (const dataDir of [file, path.join(file, 'data')]) {
      const exit = await runHere([name], { env: { PAPERBOOK_DATA_DIR: dataDir } });
      refused(t, exit, 1, [`PAPERBOOK_DATA_DIR ${dataDir} cannot be written to`]);
    }
  });
}

test.serial('G2: unknown and bad variables are named, exit code 2', async (t) => {
  const dataDir = path.join(tempDir(t), 'data');
  const env = {
    PAPERBOOK_DATA_DIR: dataDir,
    PAPERBOOK_PROT: '8080',
    PAPERBOOK_PORT: '80800',
    PAPERBOOK_DURABILITY: 'none',
  };
  for (const name of ['serve', 'demo']) {
    refused(t, await runHere([name], { env }), 2, [
      'PAPERBOOK_PROT is not a configuration variable',
      'PAPERBOOK_PORT must be a whole number from 0 to 65535',
      'PAPERBOOK_DURABILITY must be one of sync, commit',
    ]);
  }
  t.false(existsSync(dataDir), 'nothing was made');
});

test.serial('G2, G15: a bad configuration file is named, exit code 2', async (t) => {
  const dir = tempDir(t);
  const file = path.join(dir, 'config.json');
  const env = { PAPERBOOK_DATA_DIR: path.join(dir, 'data') };
  refused(t, await runHere(['serve', '--config', file], { env }), 2, [`${file} cannot be read`]);
  writeFileSync(file, '\uFEFF{"PAPERBOOK_PORTS": 1}', 'utf16le');
  const encoding = `${file} is not UTF-8: save it in that encoding`;
  refused(t, await runHere(['serve', '--config', file], { env }), 2, [encoding]);
  // G15: a byte order mark is no part of it.
  writeFileSync(file, '\uFEFF{"PAPERBOOK_PORTS": 1}');
  refused(t, await runHere(['serve', '--config', file], { env }), 2, [
    `PAPERBOOK_PORTS in ${file}`,
  ]);
});

test.serial('G8: TLS files that cannot be used: the variable of the one at fault', async (t) => {
  const dir = tempDir(t);
  const [pem, other] = [selfSignedCertificate(), selfSignedCertificate()];
  const fileOf = (name: string, text: string) => {
    writeFileSync(path.join(dir, name), text);
    return path.join(dir, name);
  };
  const [cert, key] = [fileOf('cert.pem', pem.cert), fileOf('key.pem', pem.key)];
  const [missing, otherKey] = [path.join(dir, 'missing.pem'), fileOf('other.pem', other.key)];
  for (const [certFile, keyFile, error] of [
    [missing, key, `PAPERBOOK_TLS_CERT ${missing} cannot be read (ENOENT)`],
    [cert, missing, `PAPERBOOK_TLS_KEY ${missing} cannot be read (ENOENT)`],
    [key, key, `PAPERBOOK_TLS_CERT ${key} holds no certificate in PEM`],
    [cert, cert, `PAPERBOOK_TLS_KEY ${cert} holds no private key in PEM`],
    [cert, otherKey, `PAPERBOOK_TLS_KEY ${otherKey} is not the key of PAPERBOOK_TLS_CERT ${cert}`],
  ] as const) {
    const tls = { PAPERBOOK_TLS_CERT: certFile, PAPERBOOK_TLS_KEY: keyFile };
    const env = { ...tls, PAPERBOOK_DATA_DIR: path.join(dir, 'data') };
    refused(t, await runHere(['serve'], { env }), 2, [error]);
  }
  t.false(existsSync(path.join(dir, 'data')));
});

test.serial('G8: PAPERBOOK_HOST that is no address of this machine: one clear line', async (t) => {
  const env = {
    PAPERBOOK_HOST: '192.0.2.1',
    PAPERBOOK_BEHIND_TLS_PROXY: 'on',
    PAPERBOOK_DATA_DIR: path.join(tempDir(t), 'data'),
  };
  const error = 'PAPERBOOK_HOST 192.0.2.1 is no address of this machine (EADDRNOTAVAIL)';
  refused(t, await runHere(['serve'], { env }), 1, [error]);
});

test.serial('G8: a feed with a bad key file is refused before anything is opened', async (t) => {
  const dir = tempDir(t);
  const dataDir = path.join(dir, 'data');
  const privateKeyFile = path.join(dir, 'key.pem');
  const feed = { venue: 'venue_a', adapter: 'kalshi', url: 'wss://127.0.0.1:9', keyId: 'k' };
  const env = {
    PAPERBOOK_FEEDS: JSON.stringify([{ ...feed, privateKeyFile }]),
    PAPERBOOK_DATA_DIR: dataDir,
  };
  const entry = `PAPERBOOK_FEEDS: entry 0: privateKeyFile ${privateKeyFile}`;
  const missing = `${entry} cannot be read (ENOENT)`;
  refused(t, await runHere(['serve'], { env }), 2, [missing]);
  writeFileSync(privateKeyFile, 'no key');
  refused(t, await runHere(['serve'], { env }), 2, [`${entry}: adapter kalshi: privateKeyPem`]);
  t.false(existsSync(dataDir));
});

test.serial(
  'K2, G8: all errors of a catalog, and a secret that is missing: exit code 2, and no directory',
  async (t) => {
    const dir = tempDir(t);
    const dataDir = path.join(dir, 'data');
    const file = path.join(dir, 'catalog.json');
    const env = { PAPERBOOK_CATALOG: file };
    const start = () => runHere(['serve'], { env: { ...env, PAPERBOOK_DATA_DIR: dataDir } });
    refused(t, await start(), 2, [`PAPERBOOK_CATALOG ${file}`, 'file: cannot be read (ENOENT)']);
    const [home, away] = [game('g1'), { ...game('g2'), status: 'over', league: 5 }];
    writeFileSync(file, catalogOf([home, away], [instrument('i1', 'g1')]));
    refused(t, await start(), 2, [file, 'games[1].league: ', 'games[1].status: ']);
    const secretFile = path.join(dir, 'secret');
    const cluster = { name: 'c', node: 'n', etcd: ['http://127.0.0.1:9'], secretFile };
    const node = JSON.stringify({ ...cluster, address: 'http://127.0.0.1:9', leaseSeconds: 5 });
    const joining = { PAPERBOOK_CLUSTER: node, PAPERBOOK_DATA_DIR: dataDir };
    const missing = `PAPERBOOK_CLUSTER: secretFile ${secretFile} cannot be read`;
    refused(t, await runHere(['serve'], { env: joining }), 2, [missing]);
    t.false(existsSync(dataDir));
    writeFileSync(file, catalogOf([home], [instrument('i1', 'g1')]));
    await stillAnswers(t, await serveHere(t, { dataDir, env }));
  },
);

for (const [name, text] of [
  ...variantsOfRun([
    ['demo.json', '{"key": "svc_sk_'],
    ['demo.json', '{}'],
  ] as const),
  ['demo/simulator.json', '{"seed": 1,'],
  ['paperbook.json', ''],
  ['paperbook.json', 'null'],
] as const) {
  const title = `a damaged ${name}, ${text || 'empty'}: one clear line, exit code 1`;
  test.serial(title, async (t) => {
    const dataDir = tempDir(t);
    const file = path.join(dataDir, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text, { mode: 0o600 });
    refused(t, await runHere(['demo'], { env: { PAPERBOOK_DATA_DIR: dataDir } }), 1, [file]);
  });
}

/** The exit code; a line an error, in order, beside the log; and no stack trace. */
function refused(t: ExecutionContext, exit: Exit, code: number, errors: string[]): void {
  const lines = exit.stderr.split('\n').filter((line) => line !== '' && !isLogLine(line));
  t.is(lines.length, errors.length, exit.stderr);
  for (const [index, error] of errors.entries()) {
    t.true(lines[index]!.includes(error), `${lines[index]} does not say: ${error}`);
  }
  t.is(exit.code, code, exit.stderr);
  t.is(exit.stdout, '');
}

/** A log line below warn: nothing that has gone wrong. */
function isLogLine(line: string): boolean {
  return line.startsWith('{') && JSON.parse(line).level === 'info';
}

async function stillAnswers(t: ExecutionContext, { baseUrl, adminUrl }: Place): Promise<void> {
  t.true((await fetch(`${baseUrl}/status`)).ok);
  t.true((await fetch(`${adminUrl}/readyz`)).ok);
}

/** The first Node of the path that is no Node 22. */
function findOtherNode(): { node: string; version: string } | null {
  for (const dir of (process.env.PATH ?? '').split(path.delimiter)) {
    const node = path.join(dir, 'node');
    const { status, stdout } = spawnSync(node, ['--version'], { encoding: 'utf8' });
    const version = status === 0 ? stdout.trim().slice(1) : '22';
    if (!version.startsWith('22')) return { node, version };
  }
  return null;
}
