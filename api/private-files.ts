/** Files and directories that nobody but their owner reads. Rule D13 (engine/RULES.md). */
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  statSync,
  unlinkSync,
} from 'node:fs';
import path from 'node:path';

const OTHERS = 0o077;
const OWNERS_DIRECTORY = 0o700;
/** Secrets that stay useful to somebody who has read them. */
const SECRETS = ['admin.token', 'auth-key.json', 'demo.json'];

/**
 * Makes a directory and those above it. One by one: where none can be made, under /proc, Node's
 * own way never ends. Throws the error of the file system.
 */
export function makeDirectory(directory: string): void {
  const missing: string[] = [];
  for (let at = path.resolve(directory); !existsSync(at); at = path.dirname(at)) missing.push(at);
  for (const each of missing.reverse()) makeOne(each);
}

function makeOne(directory: string): void {
  try {
    mkdirSync(directory, { mode: OWNERS_DIRECTORY });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/**
 * Takes a data directory, and all in it that is ours, from everybody else. A secret that others
 * could read is removed: a start makes a new one. What was open, and what was done, a line each.
 */
export function closeToOthers(directory: string): string[] {
  const lines: string[] = [];
  const root = realpathSync(directory);
  for (const name of SECRETS) {
    const file = path.join(root, name);
    const mode = openMode(file);
    if (mode === null) continue;
    unlinkSync(file);
    lines.push(`${file} could be read by others (mode ${mode}): removed, and a new one is made`);
  }
  const mode = openMode(root);
  const closed = closeTree(root);
  if (mode !== null) lines.push(`${directory} was open to others (mode ${mode}): ${closed}`);
  return lines;
}

/** What is not ours stays as it is: to change it is for its owner. */
function closeTree(entry: string): string {
  const stat = lstatSync(entry, { throwIfNoEntry: false });
  if (stat === undefined || stat.isSymbolicLink()) return 'left so';
  if (stat.isDirectory()) {
    for (const name of readdirSync(entry)) closeTree(path.join(entry, name));
  }
  const isOpen = (stat.mode & OTHERS) !== 0;
  if (isOpen && stat.uid !== process.getuid!()) return 'left so, since another user owns it';
  if (isOpen) chmodSync(entry, stat.mode & 0o7777 & ~OTHERS);
  return 'closed to them';
}

/** Null: nobody but its owner may do anything with it, or it is not there. */
function openMode(entry: string): string | null {
  const stat = statSync(entry, { throwIfNoEntry: false });
  if (stat === undefined || (stat.mode & OTHERS) === 0) return null;
  return (stat.mode & 0o7777).toString(8).padStart(4, '0');
}
