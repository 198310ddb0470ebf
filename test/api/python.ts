/** Programs in Python with the client of api/client/python. */
import { execFile, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Json } from './support.ts';

const PACKAGE = fileURLToPath(new URL('../../api/client/python', import.meta.url));

/** A Python 3.11 or later with the requested modules; null if the machine has none. */
export function pythonWith(modules: string): string | null {
  const check = `import sys, ${modules}; sys.exit(sys.version_info < (3, 11))`;
  const found = ['python3', '/usr/bin/python3'].find(
    (python) => spawnSync(python, ['-c', check]).status === 0,
  );
  return found ?? null;
}

/** The JSON that a program prints. */
export async function runPython(python: string, ...args: string[]): Promise<Json> {
  const env = { PATH: process.env.PATH, PYTHONPATH: PACKAGE, PYTHONDONTWRITEBYTECODE: '1' };
  const { stdout } = await promisify(execFile)(python, args, { env, timeout: 90_000 });
  return JSON.parse(stdout);
}
