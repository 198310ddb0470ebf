/** Programs in Python with the client of api/client/python. */
import { execFile, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Json } from './support.ts';

const PACKAGE = fileURLToPath(new URL('../../api/client/python', import.meta.url));

/** All that tests ask for. */
type Module = 'httpx' | 'mypy' | 'pandas' | 'pip' | 'tomllib' | 'websockets';
const MODULES: readonly Module[] = ['httpx', 'mypy', 'pandas', 'pip', 'tomllib', 'websockets'];
/** Prints those of its arguments that it can import; none if it is older than 3.11. */
const CAN_IMPORT = `import sys
from importlib.util import find_spec
print(*(name for name in sys.argv[1:] if sys.version_info >= (3, 11) and find_spec(name)))`;
/** The modules of a Python, which is asked once, since its start takes up to 0.4 s. */
const modulesOf = new Map<string, Set<string>>();

/** A Python 3.11 or later with the requested modules; null if the machine has none. */
export function pythonWith(...modules: readonly Module[]): string | null {
  const found = ['python3', '/usr/bin/python3'].find((python) => {
    const known = modulesOf.get(python) ?? askModules(python);
    modulesOf.set(python, known);
    return modules.every((name) => known.has(name));
  });
  return found ?? null;
}

function askModules(python: string): Set<string> {
  const { stdout } = spawnSync(python, ['-c', CAN_IMPORT, ...MODULES], { encoding: 'utf8' });
  return new Set(stdout?.split(/\s+/));
}

/** The JSON that a program prints. */
export async function runPython(python: string, ...args: string[]): Promise<Json> {
  const env = { PATH: process.env.PATH, PYTHONPATH: PACKAGE, PYTHONDONTWRITEBYTECODE: '1' };
  const { stdout } = await promisify(execFile)(python, args, { env, timeout: 90_000 });
  return JSON.parse(stdout);
}
