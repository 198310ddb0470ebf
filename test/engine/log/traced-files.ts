/**
 * The file operations of a process, in order: steps whose order a crash of the machine would show.
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import path from 'node:path';

const CALLS = ['writeSync', 'fsyncSync', 'fdatasyncSync', 'ftruncateSync', 'renameSync'] as const;

/** Does `other` once, as another process might, right before `work` calls this function. */
export function withBefore<T>(
  name: 'openSync' | 'fstatSync' | 'readdirSync',
  isIt: (target: unknown) => boolean,
  other: () => void,
  work: () => T,
): T {
  const original = fs[name] as (...all: unknown[]) => unknown;
  const restore = () => {
    Object.assign(fs, { [name]: original });
    syncBuiltinESMExports();
  };
  const first = (target: unknown, ...rest: unknown[]) => {
    if (isIt(target)) {
      restore();
      other();
    }
    return original(target, ...rest);
  };
  Object.assign(fs, { [name]: first });
  syncBuiltinESMExports();
  try {
    return work();
  } finally {
    restore();
  }
}

/** `fdatasync 00000001.log` and so on, of all that `work` does. Tests that use it are serial. */
export function callsOf(work: () => void): string[] {
  const calls: string[] = [];
  const originals = CALLS.map((name) => [name, fs[name]] as const);
  const nameOf = (target: unknown) =>
    path.basename(
      typeof target === 'number' ? fs.readlinkSync(`/proc/self/fd/${target}`) : `${target}`,
    );
  for (const [name, original] of originals) {
    const traced = (target: unknown, ...rest: unknown[]) => {
      calls.push(`${name.replace('Sync', '')} ${nameOf(target)}`);
      return (original as (...all: unknown[]) => unknown)(target, ...rest);
    };
    Object.assign(fs, { [name]: traced });
  }
  syncBuiltinESMExports();
  try {
    work();
  } finally {
    for (const [name, original] of originals) Object.assign(fs, { [name]: original });
    syncBuiltinESMExports();
  }
  return calls;
}
