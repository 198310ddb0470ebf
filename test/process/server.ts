/**
 * Paperbook as a separate process, the way an operator runs it: started from its command, watched
 * by its output, ended by a signal. Every started process ends with the tests.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ExecutionContext } from 'ava';
import { CHEAP_HASHES } from '../api/cheap-hashes.ts';
import type { Ending } from '../api/on-feed-clock.ts';
import { productEntry } from './product.ts';

/** How a process ended, and all that it printed. */
export type Exit = {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
};

export type Env = Readonly<Record<string, string>>;
type RunOptions = {
  env?: Env;
  /** Options of Node itself. */
  nodeArgs?: readonly string[];
  /** All of its standard input; empty if left out. */
  stdin?: string;
  /** Another Node than the one that runs the tests. */
  node?: string;
  /** Another entry than `commandEntry`: that of a clone. */
  entry?: string;
  /**
   * A launcher in place of Node and the command, which may follow as its arguments. It and all that
   * it starts end with the tests.
   */
  launcher?: { program: string; args: readonly string[]; takesCommand?: boolean };
};

/** The entry of the command in this clone. */
export const CLONE = fileURLToPath(new URL('../../api/cli/paperbook.js', import.meta.url));
const STARTS_WITHIN_MS = 60_000;
const ENDS_WITHIN_MS = 30_000;

const running = new Set<ChildProcess>();
/** Ids of the groups that launchers lead. */
const groups = new Set<number>();
// A test run that is cut short must not leave servers running.
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
  for (const pid of groups) endGroup(pid);
});

/** The entry of the packed product; the clone's where coverage of its sources is measured. */
export function commandEntry(): string {
  return process.env.NODE_V8_COVERAGE === undefined ? productEntry() : CLONE;
}

/** A running `paperbook` command. */
export class Command {
  readonly ended: Promise<Exit>;
  readonly #child: ChildProcess;
  #stdout = '';
  #stderr = '';
  #onOutput: (() => void) | null = null;

  constructor(args: readonly string[], options: RunOptions = {}) {
    const { env = {}, nodeArgs = [], node, entry, stdin, launcher } = options;
    const command = [node ?? process.execPath, ...nodeArgs, entry ?? commandEntry()];
    const [program, ...before] =
      launcher === undefined
        ? command
        : [launcher.program, ...launcher.args, ...(launcher.takesCommand ? command : [])];
    const child = spawn(program!, [...before, ...args], {
      // A separate group, so that leftovers of a launcher can be ended.
      detached: launcher !== undefined,
      env: { ...outerEnv(), PAPERBOOK_PORT: '0', PAPERBOOK_ADMIN_PORT: '0', ...env },
      stdio: [stdin === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    });
    running.add(child);
    if (launcher !== undefined && child.pid !== undefined) groups.add(child.pid);
    child.stdin?.end(stdin);
    child.stdout!.setEncoding('utf8').on('data', (text: string) => {
      this.#stdout += text;
      this.#onOutput?.();
    });
    child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr += text;
    });
    this.ended = new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code, signal) => {
        running.delete(child);
        resolve({ code, signal, ...this.output });
        this.#onOutput?.();
      });
    });
    this.#child = child;
  }

  get output(): { stdout: string; stderr: string } {
    return { stdout: this.#stdout, stderr: this.#stderr };
  }

  get isRunning(): boolean {
    return running.has(this.#child);
  }

  /** Resolves when standard output matches; rejects when the process ends first, or in time. */
  async printed(pattern: RegExp): Promise<void> {
    const seen = new Promise<void>((resolve, reject) => {
      this.#onOutput = () => {
        if (pattern.test(this.#stdout)) resolve();
        else if (!this.isRunning) reject(new Error(`ended without ${pattern}:\n${this.#stderr}`));
      };
      this.#onOutput();
    });
    await within(seen, STARTS_WITHIN_MS, `the output ${pattern}`);
  }

  get pid(): number {
    return this.#child.pid!;
  }

  /** Ends leftovers of its launcher. */
  endGroup(): void {
    if (groups.delete(this.pid)) endGroup(this.pid);
  }

  /** Whether its own process is gone; its children may still hold its output. */
  get hasExited(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  /** This process may end before it, which ends it. */
  unref(): void {
    this.#child.unref();
    for (const output of [this.#child.stdout, this.#child.stderr]) (output as Socket).unref();
  }

  /** Closes the reading end of its standard output. */
  stopReading(): void {
    this.#child.stdout!.destroy();
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Sends the signal and waits for the end, which nothing may put off for long. */
  async end(signal: NodeJS.Signals): Promise<Exit> {
    this.signal(signal);
    return await within(this.ended, ENDS_WITHIN_MS, `the end after ${signal}`);
  }
}

function endGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // None of its processes is left.
  }
}

/** The line of `serve` with its address. Rule O35 (api/RULES.md). */
export const LISTENS = /^\{"level":"info",.*"baseUrl":"([^"]+)".*"msg":"listening"\}$/m;

/** Runs a command to its end. */
export async function run(args: readonly string[], options: RunOptions = {}): Promise<Exit> {
  const command = new Command(args, options);
  try {
    return await within(command.ended, STARTS_WITHIN_MS, `the end of ${args.join(' ')}`);
  } finally {
    if (command.isRunning) await command.end('SIGKILL');
  }
}

/** Where a server is found. */
export type Place = {
  dataDir: string;
  /** `http://127.0.0.1:41234/v1` */
  baseUrl: string;
  adminUrl: string;
};

export type Server = Place & { command: Command };

/**
 * Starts `paperbook demo` or `serve` and waits until it says that it can be used. The demo is empty
 * unless a test asks for a lively one: a past takes seconds, and bots change what a test counts.
 */
export async function startServer(
  name: 'demo' | 'serve',
  dataDir: string,
  env: Env = {},
  isLively = false,
): Promise<Server> {
  const args = name === 'demo' && !isLively ? [name, '--empty'] : [name];
  const command = new Command(args, { env: { ...env, PAPERBOOK_DATA_DIR: dataDir } });
  try {
    await command.printed(name === 'demo' ? /^Ctrl-C stops it/m : LISTENS);
    const { stdout } = command.output;
    const [api, admin] =
      name === 'demo'
        ? [/^ {2}API +(\S+)$/m.exec(stdout), /^ {2}Admin +(\S+)$/m.exec(stdout)]
        : [LISTENS.exec(stdout), /"adminUrl":"([^"]+)"/.exec(stdout)];
    return { command, dataDir, baseUrl: api![1]!, adminUrl: admin![1]! };
  } catch (error) {
    if (command.isRunning) await command.end('SIGKILL');
    throw error;
  }
}

const shared = new Map<string, Promise<Server>>();

/**
 * One server for the tests of this process that share it: none of them ends it, or counts another
 * test's data. It ends with the process.
 */
export function sharedServer(name: 'demo' | 'serve'): Promise<Server> {
  let server = shared.get(name);
  if (server === undefined) {
    const directory = mkdtempSync(path.join(tmpdir(), 'paperbook-shared-'));
    process.on('exit', () => rmSync(directory, { recursive: true, force: true }));
    server = startServer(name, path.join(directory, 'data'), CHEAP_HASHES).then((started) => {
      started.command.unref();
      return started;
    });
    shared.set(name, server);
  }
  return server;
}

/** `startServer` for one test, by default on a new directory; ended with the test. */
export async function startFor(
  t: ExecutionContext,
  name: 'demo' | 'serve',
  {
    dataDir = path.join(tempDir(t), 'data'),
    env = {},
    isLively = false,
  }: { dataDir?: string; env?: Env; isLively?: boolean } = {},
): Promise<Server> {
  const server = await startServer(name, dataDir, env, isLively);
  t.teardown(async () => {
    if (server.command.isRunning) await server.command.end('SIGKILL');
  });
  return server;
}

/** A directory that goes with the test. */
export function tempDir(t: Ending): string {
  const dir = mkdtempSync(path.join(tmpdir(), 'paperbook-'));
  t.teardown(() => rmSync(dir, { recursive: true }));
  return dir;
}

async function within<T>(promise: Promise<T>, ms: number, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`waited in vain for ${what}`)), ms);
  });
  return await Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** The environment without variables that would configure the server under test. */
export function outerEnv(): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !name.startsWith('PAPERBOOK_')),
  );
}

/** Positions without fields that follow from the live price, which moves. */
export function unmarked(positions: readonly Record<string, unknown>[]): object[] {
  return positions.map((position) => {
    const { markCents, valueDollars, unrealizedPnlDollars, ...kept } = position;
    return kept;
  });
}
