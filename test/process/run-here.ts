/**
 * Commands and servers in this process, for what they print, answer and leave on disk: a process of
 * its own takes a second of CPU more and shows no more. Not for what is a process's own: signals,
 * other versions of Node, and that it ends. Commands run one at a time, so a test that calls
 * `runHere` is serial.
 */
import fs, { cpSync } from 'node:fs';
import path from 'node:path';
import { Readable } from 'node:stream';
import { run as runProgram } from '../../api/cli/program.ts';
import { loadConfig } from '../../api/config/config.ts';
import { startPaperbook, takeDataDir } from '../../api/main.ts';
import type { Ending } from '../api/on-feed-clock.ts';
import { type Env, type Exit, outerEnv, type Place, tempDir } from './server.ts';

/** Events that a command listens to for as long as its process lives, also in place of others. */
const PROCESS_EVENTS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'warning', 'uncaughtException'];

type Listener = (...args: unknown[]) => void;

let isRunning = false;

export type Serving = Place & {
  /** Its log so far, a line of JSON each. */
  log(): string;
  /** As SIGTERM does. */
  stop(): Promise<void>;
  /** A copy of its directory at this moment, as SIGKILL would leave it. */
  crashed(): string;
};

/** `paperbook serve` in this process; it stops with the test. */
export async function serveHere(
  t: Ending,
  { dataDir = path.join(tempDir(t), 'data'), env = {} }: { dataDir?: string; env?: Env } = {},
): Promise<Serving> {
  const ports = { PAPERBOOK_PORT: '0', PAPERBOOK_ADMIN_PORT: '0' };
  const config = loadConfig({ ...ports, ...env, PAPERBOOK_DATA_DIR: dataDir }, null);
  const lines: string[] = [];
  const writer = (level: string) => (fields: object, msg: string) => {
    lines.push(JSON.stringify({ level, ...fields, msg }));
  };
  const log = { info: writer('info'), warn: writer('warn'), error: writer('error') };
  const server = await startPaperbook(config, await takeDataDir(config), log);
  t.teardown(() => server.close());
  return {
    ...{ dataDir, baseUrl: server.baseUrl, adminUrl: server.adminUrl },
    log: () => lines.join('\n'),
    stop: () => server.close(),
    crashed: () => {
      const copy = path.join(tempDir(t), 'data');
      // A socket may be there, which no copy can have.
      const filter = (file: string) => !fs.statSync(file).isSocket();
      cpSync(dataDir, copy, { recursive: true, filter });
      return copy;
    },
  };
}

/** What `run` of server.ts gives. */
export async function runHere(
  args: readonly string[],
  { env = {}, stdin = '' }: { env?: Env; stdin?: string } = {},
): Promise<Exit> {
  if (isRunning) throw new Error('one command at a time');
  isRunning = true;
  const outer = process.env;
  const [stdout, stderr] = [capture(process.stdout), capture(process.stderr)];
  const log = captureLog((line) => process.stderr.write(line));
  const undo = [listeners(), stdout, stderr, log, replaceStdin(stdin)];
  process.env = { ...outerEnv(), PAPERBOOK_PORT: '0', PAPERBOOK_ADMIN_PORT: '0', ...env };
  process.exitCode = undefined;
  try {
    await runProgram([process.execPath, 'paperbook', ...args]);
    const code = Number(process.exitCode ?? 0);
    return { code, signal: null, stdout: stdout.text(), stderr: stderr.text() };
  } finally {
    process.exitCode = undefined;
    process.env = outer;
    for (const { end } of undo) end();
    isRunning = false;
  }
}

function capture(stream: NodeJS.WriteStream): { text(): string; end(): void } {
  const { write } = stream;
  let text = '';
  stream.write = ((chunk: string | Uint8Array) => {
    text += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString();
    return true;
  }) as typeof write;
  return {
    text: () => text,
    end() {
      stream.write = write;
    },
  };
}

/** The log goes to the descriptor itself (api/cli/create-log.ts). */
function captureLog(write: (text: string) => void): { end(): void } {
  const { writeSync } = fs;
  fs.writeSync = ((fd: number, text: string, ...rest: []) => {
    if (fd !== process.stderr.fd) return writeSync(fd, text, ...rest);
    write(text);
    return Buffer.byteLength(text);
  }) as typeof writeSync;
  return {
    end() {
      fs.writeSync = writeSync;
    },
  };
}

/** All of standard input, which is no terminal. */
function replaceStdin(text: string): { end(): void } {
  const own = Object.getOwnPropertyDescriptor(process, 'stdin')!;
  Object.defineProperty(process, 'stdin', { configurable: true, value: Readable.from([text]) });
  return {
    end() {
      Object.defineProperty(process, 'stdin', own);
    },
  };
}

/** Restores the listeners of this process. */
function listeners(): { end(): void } {
  const outputErrors = process.stdout.listeners('error');
  const listenersOf = (event: string) => process.listeners(event as 'exit') as Listener[];
  const before = PROCESS_EVENTS.map(listenersOf);
  return {
    end() {
      for (const listener of process.stdout.listeners('error')) {
        if (!outputErrors.includes(listener)) process.stdout.off('error', listener as () => void);
      }
      for (const [index, event] of PROCESS_EVENTS.entries()) {
        const [was, is] = [before[index]!, listenersOf(event)];
        for (const listener of is) if (!was.includes(listener)) process.off(event, listener);
        for (const listener of was) if (!is.includes(listener)) process.on(event, listener);
      }
    },
  };
}
