/**
 * Damaged files are kept in `damaged/` of the history's directory, with a line for each damage.
 * Until an operator takes them away, they are a problem of the server and of `paperbook verify`.
 * Rule D83 (engine/RULES.md).
 */
import {
  closeSync,
  copyFileSync,
  existsSync,
  fdatasyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { syncDirectory } from '../log/segment-file.ts';

/** The folder of a history's damaged files. */
export const DAMAGED = 'damaged';
const NOTE = /^(\d{4,})\.txt$/;

/**
 * Keeps a copy of a file and a note of its damage, both on disk on return. The caller mends the
 * file itself. Returns the line of the damage.
 */
export function setAside(directory: string, name: string, problem: string): string {
  const folder = path.join(directory, DAMAGED);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const number = String(numberAfter(notesIn(folder).at(-1))).padStart(4, '0');
  const file = path.join(directory, name);
  const kept = path.join(folder, `${number}-${name}`);
  const isThere = existsSync(file);
  if (isThere) {
    copyFileSync(file, kept);
    syncFile(kept);
  }
  const where = isThere ? `; kept as ${DAMAGED}/${path.basename(kept)}` : '';
  const line = `${problem}${where}`;
  const note = path.join(folder, `${number}.txt`);
  writeFileSync(`${note}.new`, `${line}\n`, { mode: 0o600 });
  syncFile(`${note}.new`);
  renameSync(`${note}.new`, note);
  syncDirectory(folder);
  syncDirectory(directory);
  return line;
}

/** The lines of all damage that was set aside, oldest first. */
export function setAsideLines(directory: string): string[] {
  const folder = path.join(directory, DAMAGED);
  if (!existsSync(folder)) return [];
  return notesIn(folder).map((name) => readFileSync(path.join(folder, name), 'utf8').trim());
}

function syncFile(file: string): void {
  const fd = openSync(file, 'r');
  try {
    fdatasyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

const numberAfter = (note: string | undefined) => (note === undefined ? 1 : 1 + parseInt(note, 10));

function notesIn(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => NOTE.test(name))
    .sort();
}
