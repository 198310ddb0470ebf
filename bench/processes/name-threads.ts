/**
 * Loaded into a server before its own code (`--import`). It gives each thread the name of its
 * module, as the kernel shows it, so that a suite can tell what each of them has used.
 */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { isMainThread } from 'node:worker_threads';

/** The kernel keeps so many characters. */
const NAME_MAX = 15;

if (!isMainThread) {
  const folders = path.dirname(process.argv[1] ?? '').split(path.sep);
  const from = folders.findLastIndex((name) => ['engine', 'feeds', 'api'].includes(name));
  const named = folders.slice(from + 1).filter((name) => name !== 'thread');
  const name = named.join('/') || path.basename(process.argv[1] ?? '');
  writeFileSync('/proc/thread-self/comm', name.slice(0, NAME_MAX));
}
