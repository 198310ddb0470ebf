/** package-lock.json against package.json, as `npm ci` compares them, without a registry. */
import { readFileSync } from 'node:fs';
import test from 'ava';

type Package = Readonly<
  Partial<
    Record<'dependencies' | 'devDependencies' | 'optionalDependencies', Record<string, string>>
  >
>;
type LockFile = { packages: Record<string, Package> };

function read<T>(name: string): T {
  return JSON.parse(readFileSync(new URL(`../${name}`, import.meta.url), 'utf8')) as T;
}

/** The package is there for what lies at `place`: in a node_modules of its own, or of one above. */
function isFound({ packages }: LockFile, place: string, name: string): boolean {
  for (let at = place; ; at = at.slice(0, Math.max(0, at.lastIndexOf('/node_modules/')))) {
    if (`${at}${at === '' ? '' : '/'}node_modules/${name}` in packages) return true;
    if (at === '') return false;
  }
}

test('README Start: npm ci finds every package that another one names in the lock file', (t) => {
  const lock = read<LockFile>('package-lock.json');
  const missing = Object.entries(lock.packages).flatMap(([place, one]) =>
    Object.keys({ ...one.dependencies, ...one.devDependencies, ...one.optionalDependencies })
      .filter((name) => !isFound(lock, place, name))
      .map((name) => `${place}: ${name}`),
  );
  t.deepEqual(missing, [], 'npm ci refuses: "Missing: ... from lock file"');
});

test('README Start: the lock file is of this package.json', (t) => {
  const locked = read<LockFile>('package-lock.json').packages['']!;
  const own = read<Package>('package.json');
  for (const kind of ['dependencies', 'devDependencies', 'optionalDependencies'] as const) {
    t.deepEqual(locked[kind], own[kind], kind);
  }
});
