/**
 * A command in this process, for its output and its exit code: a start of a process takes half a
 * second of CPU and shows no more. It does not serve for properties of a process: signals, other
 * versions of Node, and that it ends. One at a time, so a test that calls this is serial.
 */
import fs from 'node:fs';
import { Readable } from 'node:stream';
import { run as runProgram } from '../../api/cli/program.ts';
import { type Env, type Exit, outerEnv } from './server.ts';

/** Events that a command listens to for as long as its process lives, also in place of others. */
const PROCESS_EVENTS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'warning', 'uncaughtException'];

type Listener = (...args: unknown[]) => void;

let isRunning = false;

/** The result of `run` of server.ts. */
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
