/** Programs that a release runs, without the variables that npm gives to its scripts. */
import { spawnSync } from 'node:child_process';
import path from 'node:path';

/** As a shell has it that npm did not start. */
export function outerEnv(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(npm_|PAPERBOOK_)/.test(name) && name !== 'NODE_OPTIONS' && name !== 'INIT_CWD',
  );
  const folders = (process.env.PATH ?? '').split(path.delimiter);
  const outer = folders.filter((folder) => !folder.endsWith('node_modules/.bin'));
  return { ...Object.fromEntries(kept), PATH: outer.join(path.delimiter) };
}

/** What a program prints on both outputs. Throws with that if it fails. */
export function runStep(
  says: string,
  program: string,
  args: readonly string[],
  cwd?: string,
  env: NodeJS.ProcessEnv = {},
): string {
  process.stdout.write(`${says} …\n`);
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    cwd,
    env: { ...outerEnv(), ...env },
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  });
  const printed = `${stdout ?? ''}${stderr ?? ''}`;
  if (status === 0) return printed;
  const why = error?.message ?? `it ended with ${status}`;
  throw new Error(`${program} ${args.join(' ')}: ${why}\n${printed.trimEnd()}`);
}

/** A Python that the client runs on. Throws if there is none. */
export function pythonToUse(): string {
  const check = 'import sys, venv; sys.exit(sys.version_info < (3, 11))';
  const found = ['python3', '/usr/bin/python3'].find(
    (python) => spawnSync(python, ['-c', check]).status === 0,
  );
  if (found === undefined) throw new Error('the Python client needs Python 3.11 or later here');
  return found;
}
