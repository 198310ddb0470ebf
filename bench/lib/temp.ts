/** Directories of one run, removed when it ends, however it ends. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const made = new Set<string>();
process.on('exit', () => {
  for (const dir of made) rmSync(dir, { recursive: true, force: true });
});

/** A new directory in the system's temporary one, which should be on the disk to measure. */
export function tempDir(): string {
  const dir = mkdtempSync(path.join(tmpdir(), 'paperbook-bench-'));
  made.add(dir);
  return dir;
}

export function dropDir(dir: string): void {
  rmSync(dir, { recursive: true, force: true });
  made.delete(dir);
}
