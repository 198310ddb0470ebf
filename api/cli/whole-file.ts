/**
 * A file that a command writes: whole, or as it was. Rules U16, U81 (api/RULES.md), K12
 * (feeds/FORMATS.md).
 */
import { randomUUID } from 'node:crypto';
import { rmSync, statSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import path from 'node:path';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Lets `write` fill a file beside, which replaces the old one once it is whole. A failure and a
 * signal leave nothing beside. An error of the system names the file.
 */
export async function writeWhole<T>(
  file: string,
  write: (unfinished: string) => Promise<T>,
): Promise<T> {
  const unfinished = path.join(path.dirname(file), `.${path.basename(file)}.${randomUUID()}`);
  const onSignal = (signal: NodeJS.Signals) => {
    rmSync(unfinished, { force: true });
    for (const one of SIGNALS) process.off(one, onSignal);
    process.kill(process.pid, signal);
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  try {
    // Refused before the work, which may take minutes.
    if (statSync(file, { throwIfNoEntry: false })?.isDirectory()) throw notWritten(file, 'EISDIR');
    await (await open(unfinished, 'wx')).close();
    const written = await write(unfinished);
    await sync(unfinished);
    await rename(unfinished, file);
    return written;
  } catch (error) {
    await rm(unfinished, { force: true });
    const { code, syscall } = error as NodeJS.ErrnoException;
    throw syscall === undefined ? error : notWritten(file, code);
  } finally {
    for (const signal of SIGNALS) process.off(signal, onSignal);
  }
}

async function sync(file: string): Promise<void> {
  const handle = await open(file, 'r+');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function notWritten(file: string, code: string | undefined): Error {
  return new Error(`${file} cannot be written (${code})`);
}
