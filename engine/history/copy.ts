/**
 * Copies a history, also while a server writes it. The journal is copied before the blocks, so the
 * blocks have at least all that it relies on. Rules D17, D82 (engine/RULES.md).
 */
import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { JOURNAL_NAME } from './journal.ts';
import { MANIFEST_NAME, readManifest, writeManifest } from './manifest.ts';

/** Between two reads of the manifest the journal may be rewritten, and files may be dropped. */
const TRIES = 10;

/**
 * Copies the files of `from` to `to`, which must not exist. `over`: an earlier copy that `to` will
 * replace, file by file. Returns the paths of the copies.
 */
export function copyHistory(from: string, to: string, over: string): string[] {
  for (let tries = 1; ; tries++) {
    rmSync(to, { recursive: true, force: true });
    mkdirSync(to, { mode: 0o700 });
    const number = journalNumber(from);
    try {
      const names = namesIn(from);
      for (const name of names) copyFileSync(path.join(from, name), path.join(to, name));
      if (journalNumber(from) === number) return finish(to, names, over);
    } catch (error) {
      // A file may be dropped while the others are copied.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || tries === TRIES) throw error;
    }
    if (tries === TRIES) throw new Error(`${from} changes faster than it can be copied`);
  }
}

/** Until all files of the copy are in place, the journal of the earlier copy belongs there too. */
function finish(to: string, names: readonly string[], over: string): string[] {
  const [manifest, earlier] = [to, over].map(manifestIn);
  if (manifest != null && earlier != null) {
    const isSame = earlier.journal.number === manifest.journal.number;
    const journals = isSame ? { journal: earlier.journal } : { previous: earlier.journal };
    writeManifest(to, { ...manifest, ...journals });
  }
  return names.map((name) => path.join(to, name));
}

/** Damage is copied as it is: `paperbook verify` finds it in the copy, too. */
function manifestIn(directory: string) {
  try {
    return readManifest(directory);
  } catch {
    return null;
  }
}

const journalNumber = (directory: string) => manifestIn(directory)?.journal.number ?? null;

function namesIn(directory: string): string[] {
  const isFirst = (name: string) => name === MANIFEST_NAME || name === JOURNAL_NAME;
  const names = readdirSync(directory, { withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.new'))
    .map(({ name }) => name);
  const first = [MANIFEST_NAME, JOURNAL_NAME].filter((name) =>
    existsSync(path.join(directory, name)),
  );
  return [...first, ...names.filter((name) => !isFirst(name)).sort()];
}

/** Files of a history in the order in which they replace files of an earlier copy. */
export function placeOf(name: string): number {
  return [MANIFEST_NAME, JOURNAL_NAME].indexOf(name);
}
