/** Files and directories that only their owner can read. Rule D13 (engine/RULES.md). */
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  type Stats,
  statSync,
  unlinkSync,
} from 'node:fs';
import path from 'node:path';

const OTHERS = 0o077;
const OWNERS_DIRECTORY = 0o700;
/** Secrets that remain useful to anyone who has read them. */
const SECRETS = ['admin.token', 'auth-key.json', 'track-record-key.json', 'demo.json'];
/** Everything that a server creates in its data directory. */
const OURS =
  /^((paperbook|positions|auth-key|track-record-keys?|demo|discovered|contradicted|market-states)\.json(\.new)?|retired\.jsonl(\.new)?|admin\.token(\.new)?|server\.lock|backup\.partial|closings-copy\.db.*|control|demo|history|records|shard-\d+)$/;
/** Present at the top of every mounted volume. */
const VOLUMES_OWN = 'lost+found';
const FOREIGN_SHOWN = 3;

/**
 * Creates a directory and its parents, one by one. If none can be created, as under /proc, Node's
 * recursive option never returns. Throws the error of the file system.
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
 * Why a directory must not become a server's data directory, closed to other users. Null: it is
 * empty, contains only files that a server creates, or is closed or a data directory already.
 */
export function foreignProblem(directory: string): string | null {
  const names = readdirSync(directory);
  const foreign = names.filter((name) => !OURS.test(name) && name !== VOLUMES_OWN).sort();
  const mode = openMode(directory);
  if (foreign.length === 0 || mode === null || names.includes('paperbook.json')) return null;
  const shown = foreign.slice(0, FOREIGN_SHOWN).join(', ');
  const more = foreign.length > FOREIGN_SHOWN ? ', ...' : '';
  return `is open to others (mode ${mode}) and holds files that no server made (${shown}${more})`;
}

/**
 * Removes other users' access to a data directory and all of our files in it. Files that others put
 * there stay unchanged. A secret that others could read is removed, and a start creates a new one.
 * Returns a line for each open file and its remedy.
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
  for (const name of readdirSync(root)) if (OURS.test(name)) closeTree(path.join(root, name));
  const closed = closeEntry(root, lstatSync(root));
  if (mode !== null) lines.push(`${directory} was open to others (mode ${mode}): ${closed}`);
  return lines;
}

function closeTree(entry: string): void {
  const stat = lstatSync(entry, { throwIfNoEntry: false });
  if (stat === undefined || stat.isSymbolicLink()) return;
  if (stat.isDirectory()) {
    for (const name of readdirSync(entry)) closeTree(path.join(entry, name));
  }
  closeEntry(entry, stat);
}

/** An entry of another user stays unchanged: only its owner may change it. */
function closeEntry(entry: string, stat: Stats): string {
  const isOpen = (stat.mode & OTHERS) !== 0;
  if (isOpen && stat.uid !== process.getuid!()) return 'left so, since another user owns it';
  if (isOpen) chmodSync(entry, stat.mode & 0o7777 & ~OTHERS);
  return 'closed to them';
}

/** Null: only its owner has access to it, or it is missing. */
function openMode(entry: string): string | null {
  const stat = statSync(entry, { throwIfNoEntry: false });
  if (stat === undefined || (stat.mode & OTHERS) === 0) return null;
  return (stat.mode & 0o7777).toString(8).padStart(4, '0');
}
