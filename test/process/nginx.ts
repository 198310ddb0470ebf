/** nginx as an operator runs it: the recipe of api/deploy, with addresses of this test. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import path from 'node:path';
import type { ExecutionContext } from 'ava';
import { eventually } from '../../bench/lib/eventually.ts';
import { freePorts } from '../../bench/lib/free-ports.ts';
import { selfSignedCertificate } from '../api/certificate.ts';
import { tempDir } from './server.ts';

const RECIPE = new URL('../../api/deploy/nginx.conf', import.meta.url);

// Outside a login's path on Debian.
const PROGRAM = ['nginx', '/usr/sbin/nginx'].find((name) => spawnSync(name, ['-v']).status === 0);
export const hasNginx = PROGRAM !== undefined;

const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

export type Nginx = {
  /** `localhost:41234`, which its certificate is for. */
  host: string;
  httpHost: string;
  /** Its certificate, to be trusted. */
  ca: string;
};

/**
 * Starts nginx in front of a server on loopback; it ends with the test.
 *
 * @param change a test's change of the recipe
 */
export async function startNginx(
  t: ExecutionContext,
  upstreamPort: number,
  change: (recipe: string) => string = (recipe) => recipe,
): Promise<Nginx> {
  const dir = tempDir(t);
  const { cert, key } = selfSignedCertificate();
  writeFileSync(path.join(dir, 'cert.pem'), cert);
  writeFileSync(path.join(dir, 'key.pem'), key);
  const [httpPort, httpsPort] = (await freePorts(2)) as [number, number];
  const recipe = replaceEach(readFileSync(RECIPE, 'utf8'), [
    ['server 127.0.0.1:8080;', `server 127.0.0.1:${upstreamPort};`],
    ['listen 80;', `listen 127.0.0.1:${httpPort};`],
    ['listen 443 ssl;', `listen 127.0.0.1:${httpsPort} ssl;`],
    // Not every machine has IPv6.
    ['listen [::]:80;', ''],
    ['listen [::]:443 ssl;', ''],
    ['/etc/letsencrypt/live/paperbook.example.com/fullchain.pem', path.join(dir, 'cert.pem')],
    ['/etc/letsencrypt/live/paperbook.example.com/privkey.pem', path.join(dir, 'key.pem')],
  ]);
  writeFileSync(path.join(dir, 'paperbook.conf'), change(recipe));
  writeFileSync(path.join(dir, 'nginx.conf'), mainConfig(dir));
  mkdirSync(path.join(dir, 'temp'));
  const child = spawn(PROGRAM!, ['-p', dir, '-e', 'stderr', '-c', path.join(dir, 'nginx.conf')], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  running.add(child);
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => {
      running.delete(child);
      resolve();
    });
  });
  t.teardown(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  await eventually(`nginx to listen`, async () => {
    if (!running.has(child)) throw new Error(`nginx ended: ${said}`);
    return (await isListening(httpsPort)) ? true : null;
  });
  return { host: `localhost:${httpsPort}`, httpHost: `localhost:${httpPort}`, ca: cert };
}

/** One process, in front, with all its files in a separate directory. */
function mainConfig(dir: string): string {
  const temps = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  return `
    daemon off;
    master_process off;
    pid ${dir}/nginx.pid;
    events {}
    http {
      access_log off;
      ${temps.map((name) => `${name}_temp_path ${dir}/temp/${name};`).join('\n')}
      include ${dir}/paperbook.conf;
    }
  `;
}

/** Throws unless the recipe has the replaced text once. */
function replaceEach(text: string, pairs: [old: string, new_: string][]): string {
  let replaced = text;
  for (const [old, new_] of pairs) {
    if (replaced.split(old).length !== 2) throw new Error(`nginx.conf does not say once: ${old}`);
    replaced = replaced.replace(old, new_);
  }
  return replaced;
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    }).on('error', () => resolve(false));
  });
}
