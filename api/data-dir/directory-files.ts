/** Reads and replaces files of a data directory. */
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { open, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';

/** The directory cannot be used; the message is one line for the operator. */
export class DataDirError extends Error {}

/** Readers, and a start after a machine crash, see either the old or the new content in full. */
export function replaceFile(file: string, text: string): void {
  writeFileSync(`${file}.new`, text, { mode: 0o600, flush: true });
  renameSync(`${file}.new`, file);
  syncPath(path.dirname(file));
}

/** The same beside requests. At most one call for a file is under way. */
export async function replaceFileLater(file: string, text: string): Promise<void> {
  await writeFile(`${file}.new`, text, { mode: 0o600, flush: true });
  await rename(`${file}.new`, file);
  const directory = await open(path.dirname(file), 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

/** Makes the content of a file, or the names in a directory, survive a crash of the machine. */
export function syncPath(file: string): void {
  const fd = openSync(file, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** The value in a JSON file; undefined when it is missing. Throws `DataDirError` naming it. */
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
