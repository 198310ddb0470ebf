/**
 * Packs the client alone, as `paperbook-client`: `npm run pack:client`. It needs no other package,
 * so a bot or a page installs only these files. Rule U29 (api/RULES.md).
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { CLIENT_FILES } from './client-files.ts';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const ROOT = path.join(HERE, '../..');
const README = 'README.md';

/** Writes the tarball into `directory`, and its name to standard output. */
function packClient(directory: string): void {
  const work = mkdtempSync(path.join(tmpdir(), 'paperbook-client-'));
  try {
    for (const file of CLIENT_FILES) copyFileSync(path.join(HERE, file), path.join(work, file));
    // Its own name in that package.
    const text = readFileSync(path.join(HERE, README), 'utf8');
    const renamed = text.replaceAll("'paperbook/client'", "'paperbook-client'");
    writeFileSync(path.join(work, README), renamed);
    copyFileSync(path.join(ROOT, 'LICENSE'), path.join(work, 'LICENSE'));
    writeFileSync(path.join(work, 'package.json'), `${JSON.stringify(manifest(), null, 2)}\n`);
    const args = ['pack', '--pack-destination', path.resolve(directory)];
    execFileSync('npm', args, { cwd: work, stdio: ['ignore', 'inherit', 'inherit'] });
  } finally {
    rmSync(work, { recursive: true });
  }
}

function manifest(): object {
  const product = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8'));
  return {
    name: 'paperbook-client',
    version: product.version,
    description: 'Typed client of a Paperbook server, for Node and browsers.',
    license: product.license,
    // A release knows the address of its sources.
    repository: product.repository,
    type: 'module',
    sideEffects: false,
    engines: { node: '>=20' },
    // Of Node 20 alone, which has no WebSocket for the stream.
    peerDependencies: { ws: '>=8' },
    peerDependenciesMeta: { ws: { optional: true } },
    exports: {
      '.': { types: './client.d.ts', default: './client.js' },
      './package.json': './package.json',
    },
  };
}

const directory = process.argv[2] ?? '.';
if (statSync(directory, { throwIfNoEntry: false })?.isDirectory() === true) {
  packClient(directory);
} else {
  process.stderr.write(`pack:client: ${directory} is no directory\n`);
  process.exitCode = 2;
}
