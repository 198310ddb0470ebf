/**
 * The session file of the command line: who is signed in where, and the key that trading commands
 * use. Readable by its owner only; replaced as a whole, by one command at a time. Rule U5
 * (api/RULES.md).
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { homedir } from 'node:os';
import path from 'node:path';
import { readProblem } from '../../engine/base/bounded-json.ts';
import type { EpochMs } from '../../engine/base/units.ts';

export type SavedKey = { id: string; token: string };

export type SavedSession = {
  /** `https://paper.example`: its origin. */
  server: string;
  userId: string;
  email: string;
  accessToken: string;
  refreshToken: string;
  expiresAtMs: EpochMs;
  key: SavedKey | null;
};

const LOCKED_WITHIN_MS = 30_000;
const LOOK_AGAIN_MS = 50;

export class SessionFile {
  readonly path: string;

  constructor(file: string) {
    this.path = file;
  }

  /** Null when nobody is signed in. Throws one line on a file that cannot be used. */
  read(): SavedSession | null {
    let text: string;
    try {
      if ((statSync(this.path).mode & 0o077) !== 0) {
        throw new Error(`${this.path} holds secrets that others may read: chmod 600 it`);
      }
      text = readFileSync(this.path, 'utf8');
    } catch (error) {
      const { code, syscall } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT') return null;
      throw syscall === undefined ? error : new Error(`${this.path} ${readProblem(error)}`);
    }
    const session = parse(text);
    if (session === null) throw new Error(`${this.path} is not a session file of paperbook`);
    return session;
  }

  /** Locked, since a command asks a server between reading and writing the file. */
  async change(
    next: (session: SavedSession | null) => SavedSession | null | Promise<SavedSession | null>,
  ): Promise<SavedSession | null> {
    return await lockedIn(path.dirname(this.path), async () => {
      const session = await next(this.read());
      if (session === null) rmSync(this.path, { force: true });
      else this.#replace(session);
      return session;
    });
  }

  #replace(session: SavedSession): void {
    replaceJson(this.path, session);
  }
}

/** Replaces a file by a value, as a whole, for its owner alone. */
export function replaceJson(file: string, value: object): void {
  const fresh = `${file}.${randomBytes(6).toString('hex')}`;
  writeFileSync(fresh, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
  renameSync(fresh, file);
}

/** `$XDG_CONFIG_HOME/paperbook/session.json`, by default below `~/.config`. */
export function defaultSessionPath(env: NodeJS.ProcessEnv): string {
  const { XDG_CONFIG_HOME: configHome = '' } = env;
  // The XDG base directory specification says to ignore a relative path.
  const base = path.isAbsolute(configHome) ? configHome : path.join(homedir(), '.config');
  return path.join(base, 'paperbook', 'session.json');
}

function parse(text: string): SavedSession | null {
  try {
    const value = JSON.parse(text) as Partial<SavedSession>;
    const { server, userId, email, accessToken, refreshToken } = value;
    const strings = [server, userId, email, accessToken, refreshToken];
    const isWhole = strings.every((field) => typeof field === 'string');
    return isWhole && typeof value.expiresAtMs === 'number' ? (value as SavedSession) : null;
  } catch {
    return null;
  }
}

/** Runs it while no other command changes a file of the directory, which is made. */
export async function lockedIn<T>(directory: string, run: () => T | Promise<T>): Promise<T> {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const lock = await takeLock(directory);
  try {
    return await run();
  } finally {
    lock.close();
  }
}

/** A name in the kernel's abstract socket namespace: freed the moment its process ends. */
async function takeLock(directory: string): Promise<Server> {
  const { dev, ino } = statSync(directory);
  const untilMs = Date.now() + LOCKED_WITHIN_MS;
  for (;;) {
    const lock = await listenOn(`\0paperbook-session-${dev}-${ino}`);
    if (lock !== null) return lock;
    if (Date.now() > untilMs) throw new Error(`another command holds the lock of ${directory}`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
  }
}

function listenOn(address: string): Promise<Server | null> {
  const server = createServer();
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(null);
      else reject(error);
    });
    server.listen(address, () => resolve(server));
  });
}
