/** Servers under test as separate processes, ended with this one at the latest. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePorts } from './free-ports.ts';

export type Target = { pid: number; port: number; basePath: string };
export type Running = Target & { stop(): Promise<void> };
export type Served = Running & { adminUrl: string; adminToken: string };
export type Paperbook = Served & {
  demoKey: string;
  /** Ends it as a crash does. */
  kill(): Promise<void>;
};

const COMMAND = fileURLToPath(new URL('../../api/cli/paperbook.js', import.meta.url));
const BARE = fileURLToPath(new URL('../processes/bare.ts', import.meta.url));
/** Makes the kernel show each thread by name. */
const NAMED = ['--import', new URL('../processes/name-threads.ts', import.meta.url).href];
const STARTS_WITHIN_MS = 240_000;

const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** `paperbook demo` on a directory, `sync` durability, one shard and one listener by default. */
export async function startPaperbook(
  dataDir: string,
  {
    nodeArgs = [],
    shards = 1,
    listeners = 1,
  }: { nodeArgs?: readonly string[]; shards?: number; listeners?: number } = {},
): Promise<Paperbook> {
  const { child, printed } = start([...NAMED, ...nodeArgs, COMMAND, 'demo'], {
    ...outerVariables(),
    PAPERBOOK_DATA_DIR: dataDir,
    PAPERBOOK_PORT: '0',
    PAPERBOOK_ADMIN_PORT: '0',
    PAPERBOOK_SHARDS: String(shards),
    PAPERBOOK_LISTENERS: String(listeners),
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
    kill: () => stop(child, 'SIGKILL'),
  };
}

/** `paperbook serve` with these variables, `sync` durability, one shard. */
export async function startServe(
  dataDir: string,
  variables: NodeJS.ProcessEnv,
  nodeArgs: readonly string[] = [],
): Promise<Served> {
  const [adminPort] = await freePorts(1);
  const { child, printed } = start([...NAMED, ...nodeArgs, COMMAND, 'serve'], {
    ...outerVariables(),
    PAPERBOOK_DATA_DIR: dataDir,
    PAPERBOOK_PORT: '0',
    PAPERBOOK_ADMIN_PORT: String(adminPort),
    PAPERBOOK_SHARDS: '1',
    PAPERBOOK_DURABILITY: 'sync',
    PAPERBOOK_LOG_LEVEL: 'error',
    ...variables,
  });
  const [, baseUrl] = await printed(/^\{.*"baseUrl":"([^"]+)".*"msg":"listening"\}$/m);
  const { port, pathname } = new URL(baseUrl!);
  return {
    pid: child.pid!,
    port: Number(port),
    basePath: pathname,
    adminUrl: `http://127.0.0.1:${adminPort}`,
    adminToken: readFileSync(path.join(dataDir, 'admin.token'), 'utf8').trim(),
    stop: () => stop(child),
  };
}

function outerVariables(): NodeJS.ProcessEnv {
  const outer = Object.entries(process.env).filter(([name]) => !name.startsWith('PAPERBOOK_'));
  return Object.fromEntries(outer);
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
  const printed = async (pattern: RegExp): Promise<RegExpExecArray> => {
    const deadlineMs = Date.now() + STARTS_WITHIN_MS;
    for (;;) {
      const match = pattern.exec(stdout);
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

async function stop(child: ChildProcess, signal: 'SIGINT' | 'SIGKILL' = 'SIGINT'): Promise<void> {
  if (!running.has(child)) return;
  const ended = once(child, 'exit');
  child.kill(signal);
  await ended;
}
