/** How files of a data directory are read and replaced. */
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** The directory cannot be used; the message is one line for the operator. */
export class DataDirError extends Error {}

/** Readers, and the start after a crash of the machine, see all of the old content or of the new. */
export function replaceFile(file: string, text: string): void {
  writeFileSync(`${file}.new`, text, { mode: 0o600, flush: true });
  renameSync(`${file}.new`, file);
  syncPath(path.dirname(file));
}

/** What a file, or the names of a directory, now are is so after a crash of the machine, too. */
export function syncPath(file: string): void {
  const fd = openSync(file, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** The value in a JSON file; undefined when there is none. Throws `DataDirError` naming it. */
export function readJsonFile(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    const what = error instanceof SyntaxError ? 'does not hold JSON' : `cannot be read (${code})`;
    throw new DataDirError(`${file} ${what}`);
  }
}
