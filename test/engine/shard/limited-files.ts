/** A full disk without privileges: the system refuses to make a file larger. */
import { execFileSync } from 'node:child_process';
import type { ExecutionContext } from 'ava';

/** Limits how large this process may make a file; false, and said so, where that cannot be done. */
export function limitFiles(t: ExecutionContext, bytes: number | 'unlimited'): boolean {
  try {
    execFileSync('prlimit', ['--pid', String(process.pid), `--fsize=${bytes}:unlimited`]);
    return true;
  } catch {
    t.log('skipped: file sizes cannot be limited here');
    t.pass();
    return false;
  }
}
