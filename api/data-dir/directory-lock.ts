/** Lets one process at a time use a data directory. Rules D13, D80 (engine/RULES.md). */
import { spawnSync } from 'node:child_process';
import { closeSync, openSync, statSync, unlinkSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';

/** Another process uses the directory. */
export class InUse extends Error {}

const HOLDER_ANSWERS_WITHIN_MS = 1000;

/** Releases once, even if it is called several times. */
export type Lock = { release(): Promise<void> };

/**
 * Locks the directory by the kernel's lock on the directory itself. Every process of the machine
 * sees it, in any container. No deleted file ends it, and it is freed the moment its process ends.
 * Two sockets name the owner: a name in the abstract namespace, and a file in the directory, which
 * a server of an earlier version reads. Throws `InUse`, and other errors whose messages continue a
 * sentence that starts with the directory.
 */
export async function takeLock(directory: string): Promise<Lock> {
  const { dev, ino } = statSync(directory);
  const refuse = (error: NodeJS.ErrnoException, holder: string): never => {
    if (error.code === 'EADDRINUSE') throw new InUse(`is in use by another server (${holder})`);
    throw new Error(`cannot be locked (${error.code})`);
  };
  const name = `\0paperbook-${dev}-${ino}`;
  const here = await listenOn(name).catch(async (error: NodeJS.ErrnoException) => {
    return refuse(error, await holderOf(name));
  });
  const fd = openSync(directory, 'r');
  const closeHere = async () => {
    closeSync(fd);
    await closeServer(here);
  };
  try {
    lockFile(fd);
  } catch (error) {
    await closeHere();
    throw error;
  }
  // Through its descriptor, because a socket's path must be short.
  const inside = await takeSocketFile(`/proc/self/fd/${fd}/server.lock`).catch(
    async (error: NodeJS.ErrnoException) => {
      await closeHere();
      return refuse(error, 'in another container');
    },
  );
  let released: Promise<void> | null = null;
  return {
    release() {
      released ??= closeServer(inside).then(closeHere);
      return released;
    },
  };
}

/** Of flock(1): another process has the lock. */
const HELD = 1;

/**
 * Node has no call for it. The lock belongs to the open file, which this process shares with
 * flock(1) for a moment. So it stays after flock(1) ends.
 */
function lockFile(fd: number): void {
  const { status, error } = spawnSync('flock', ['-n', '-x', '3'], {
    stdio: ['ignore', 'ignore', 'ignore', fd],
  });
  if (status === 0) return;
  if (status === HELD) throw new InUse('is in use by another server (in another container)');
  const code = (error as NodeJS.ErrnoException | undefined)?.code;
  if (code === 'ENOENT') throw new Error('cannot be locked: flock, of util-linux, is missing');
  throw new Error(`cannot be locked (flock: ${code ?? `exit code ${status}`})`);
}

/** A socket file on which no process answers is left over from an ended process. */
async function takeSocketFile(file: string): Promise<Server> {
  try {
    return await listenOn(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE' || (await answers(file)))
      throw error;
  }
  unlinkSync(file);
  return listenOn(file);
}

/** The process that listens on a name, as it reports itself. */
function holderOf(name: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(name);
    let said = '';
    const done = () => {
      socket.destroy();
      resolve(/^\d+\n$/.test(said) ? `process ${said.trim()}` : 'which does not say its process');
    };
    socket.setEncoding('utf8').on('data', (text) => {
      said += text;
    });
    socket.setTimeout(HOLDER_ANSWERS_WITHIN_MS, done).on('error', done).on('end', done);
  });
}

function answers(file: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(file);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

function listenOn(address: string): Promise<Server> {
  const server = createServer((socket) => {
    socket.on('error', () => {}).end(`${process.pid}\n`, () => socket.destroy());
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(address, () => resolve(server));
  });
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
  });
}
