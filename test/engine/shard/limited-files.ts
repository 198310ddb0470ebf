/** Full disks: files that the system refuses to make larger, or a small file system. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { ExecutionContext } from 'ava';

/** Limits how large this process may make a file, at most until the test ends. */
export function limitFiles(t: ExecutionContext, bytes: number): void {
  t.teardown(unlimitFiles);
  setLimit(bytes);
}

export function unlimitFiles(): void {
  setLimit('unlimited');
}

/** A system may have no `prlimit`. */
export function mayLimitFiles(): boolean {
  try {
    unlimitFiles();
    return true;
  } catch {
    return false;
  }
}

function setLimit(bytes: number | 'unlimited'): void {
  execFileSync('prlimit', ['--pid', String(process.pid), `--fsize=${bytes}:unlimited`]);
}

/** A file system of its own, of so many MiB. */
export function mountAt(directory: string, mebibytes: number): void {
  const args = ['-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'tmpfs', directory];
  execFileSync('mount', args, { stdio: 'ignore' });
}

/** Mounting takes a right, which a container may not have. */
export function mayMount(): boolean {
  const directory = mkdtempSync(path.join(tmpdir(), 'paperbook-mount-'));
  try {
    mountAt(directory, 1);
    execFileSync('umount', [directory]);
    return true;
  } catch {
    return false;
  } finally {
    rmdirSync(directory);
  }
}
