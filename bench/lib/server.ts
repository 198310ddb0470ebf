/** Servers under test as separate processes, ended with this one at the latest. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export type Target = { pid: number; port: number; basePath: string };
export type Running = Target & { stop(): Promise<void> };
export type Paperbook = Running & { adminUrl: string; adminToken: string; demoKey: string };

const COMMAND = fileURLToPath(new URL('../../api/cli/paperbook.js', import.meta.url));
const BARE = fileURLToPath(new URL('../processes/bare.ts', import.meta.url));
const STARTS_WITHIN_MS = 240_000;

const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** `paperbook demo` on a directory, `sync` durability, one shard by default. */
export async function startPaperbook(
  dataDir: string,
  { nodeArgs = [], shards = 1 }: { nodeArgs?: readonly string[]; shards?: number } = {},
): Promise<Paperbook> {
  const outer = Object.entries(process.env).filter(([name]) => !name.startsWith('PAPERBOOK_'));
  const { child, printed } = start([...nodeArgs, COMMAND, 'demo'], {
    ...Object.fromEntries(outer),
    PAPERBOOK_DATA_DIR: dataDir,
    PAPERBOOK_PORT: '0',
    PAPERBOOK_ADMIN_PORT: '0',
    PAPERBOOK_SHARDS: String(shards),
    PAPERBOOK_DURABILITY: 'sync',
  });
  await printed(/^Ctrl-C stops it/m);
  const demo = JSON.parse(readFileSync(path.join(dataDir, 'demo.json'), 'utf8'));
  const { port, pathname } = new URL(demo.baseUrl);
  return {
    pid: child.pid!,
    port: Number(port),
    basePath: pathname,
    adminUrl: demo.adminUrl,
    adminToken: readFileSync(path.join(dataDir, 'admin.token'), 'utf8').trim(),
    demoKey: demo.key,
    stop: () => stop(child),
  };
}

/** `paperbook serve` on a directory, with venue data, one shard, and settings of its own. */
export async function startServing(
  dataDir: string,
  settings: Record<string, string>,
): Promise<Paperbook> {
  const outer = Object.entries(process.env).filter(([name]) => !name.startsWith('PAPERBOOK_'));
  const { child, printed } = start([COMMAND, 'serve'], {
    ...Object.fromEntries(outer),
    PAPERBOOK_DATA_DIR: dataDir,
    PAPERBOOK_PORT: '0',
    PAPERBOOK_ADMIN_PORT: '0',
    PAPERBOOK_SHARDS: '1',
    PAPERBOOK_VENUE_DATA: 'on',
    PAPERBOOK_QUOTE_MAX_AGE_MS: '600000',
    ...settings,
  });
  const [, baseUrl] = await printed(/^Paperbook listens on (\S+)$/m);
  const [, adminUrl] = await printed(/"adminUrl":"([^"]+)"/, 'stderr');
  const { port, pathname } = new URL(baseUrl!);
  return {
    pid: child.pid!,
    port: Number(port),
    basePath: pathname,
    adminUrl: adminUrl!,
    adminToken: readFileSync(path.join(dataDir, 'admin.token'), 'utf8').trim(),
    demoKey: '',
    stop: () => stop(child),
  };
}

/** Bytes of the real server's answers, so that the peer's have the same length. */
export type AnswerBytes = Record<'limit' | 'market' | 'cancel' | 'quotes' | 'portfolio', number>;

/** How a peer's request reaches its thread: by Piscina's tasks, or through a ring. */
export type Way = 'hop' | 'ring';

/**
 * The peer: uWebSockets.js, JSON.parse of the body, an answer of so many bytes. With `hop` or
 * `ring`, each request first goes to a thread and back; creates that thread's directory.
 */
export async function startBare(
  bytes: AnswerBytes,
  hop?: { way: Way; dir: string },
): Promise<Running> {
  if (hop !== undefined) mkdirSync(hop.dir);
  const more = hop === undefined ? [] : [hop.way, hop.dir];
  const { child, printed } = start([BARE, JSON.stringify(bytes), ...more], process.env);
  const [, port] = await printed(/^listening on (\d+)$/m);
  return { pid: child.pid!, port: Number(port), basePath: '/v1', stop: () => stop(child) };
}

function start(args: readonly string[], env: NodeJS.ProcessEnv) {
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  running.add(child);
  child.once('exit', () => running.delete(child));
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const printed = async (pattern: RegExp, where = 'stdout'): Promise<RegExpExecArray> => {
    const deadlineMs = Date.now() + STARTS_WITHIN_MS;
    for (;;) {
      const match = pattern.exec(where === 'stdout' ? stdout : stderr);
      if (match !== null) return match;
      if (!running.has(child) || Date.now() > deadlineMs) {
        child.kill('SIGKILL');
        throw new Error(`the server did not start: ${stderr}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  return { child, printed };
}

async function stop(child: ChildProcess): Promise<void> {
  if (!running.has(child)) return;
  const ended = once(child, 'exit');
  child.kill('SIGINT');
  await ended;
}
