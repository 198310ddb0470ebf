/** What a release refuses, and that a version is written once. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { pythonProject } from '../../../api/client/generate.ts';
import { readDockerfile, stepsOf } from '../../../api/pack/dockerfile.ts';
import { refusalsOf } from '../../../api/pack/release.ts';
import { longTest } from '../../long-test.ts';
import { pythonWith } from '../python.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const read = (file: string) => readFileSync(path.join(ROOT, file), 'utf8');
const { version } = JSON.parse(read('package.json'));
const DRY = { isDryRun: true, image: null };

function tempFolder(t: ExecutionContext): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'paperbook-release-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** A clone with one commit of a package and a changelog. */
function clone(t: ExecutionContext, changelog: string) {
  const root = tempFolder(t);
  const git = (...args: string[]) => execFileSync('git', args, { cwd: root, stdio: 'pipe' });
  writeFileSync(path.join(root, 'package.json'), '{"version":"1.2.0"}');
  writeFileSync(path.join(root, 'CHANGELOG.md'), changelog);
  git('init', '-q');
  git('config', 'user.name', 'a');
  git('config', 'user.email', 'a@example.com');
  git('add', '.');
  git('commit', '-qm', 'all');
  return { root, git };
}

test('U74: a release is refused with a dirty tree, and with the tag of its version', (t) => {
  const { root, git } = clone(t, '# Changelog\n\n## 1.2.0 (unreleased)\n\n- New.\n');
  t.deepEqual(refusalsOf(root, DRY, {}), []);
  writeFileSync(path.join(root, 'new.ts'), '');
  writeFileSync(path.join(root, 'package.json'), '{"version": "1.2.0"}');
  const dirty = 'the tree is dirty: package.json and 1 more; commit or remove it';
  t.deepEqual(refusalsOf(root, DRY, {}), [dirty]);
  git('add', '.');
  git('commit', '-qm', 'new');
  t.deepEqual(refusalsOf(root, DRY, {}), []);
  git('tag', 'v1.2.0');
  const tagged = 'the tag v1.2.0 is there already: `npm version` makes another version';
  t.deepEqual(refusalsOf(root, DRY, {}), [tagged]);
  t.deepEqual(refusalsOf(tempFolderOf(t), DRY, {}).length, 1, 'no clone');
});

/** A package that git does not know. */
function tempFolderOf(t: ExecutionContext): string {
  const root = tempFolder(t);
  writeFileSync(path.join(root, 'package.json'), '{"version":"1.2.0"}');
  writeFileSync(path.join(root, 'CHANGELOG.md'), '## 1.2.0\n\n- New.\n');
  return root;
}

test('U74: a release is refused without a section of its version in the changelog', (t) => {
  const other = clone(t, '# Changelog\n\n## 1.2.0-rc (2026-01-01)\n\n- New.\n');
  t.deepEqual(refusalsOf(other.root, DRY, {}), ['CHANGELOG.md has no section `## 1.2.0`']);
  const empty = clone(t, '# Changelog\n\n## 1.2.0 (2026-01-01)\n\n## 1.1.0\n\n- Old.\n');
  t.deepEqual(refusalsOf(empty.root, DRY, {}), ['the section 1.2.0 of CHANGELOG.md is empty']);
});

test('U74: what is published needs a date, an identity for provenance, and a name of the image', (t) => {
  const { root } = clone(t, '## 1.2.0 (unreleased)\n\n- New.\n');
  const env = {
    GITHUB_REPOSITORY: 'a/b',
    GITHUB_SERVER_URL: 'https://example.com',
    ACTIONS_ID_TOKEN_REQUEST_URL: 'https://example.com/token',
  };
  const refused = (image: string | null, given: Record<string, string>) =>
    refusalsOf(root, { isDryRun: false, image }, given).filter((line) => !/docker/.test(line));
  const dated = 'the section 1.2.0 of CHANGELOG.md has no date: `## 1.2.0 (YYYY-MM-DD)`';
  t.deepEqual(refused('x/y', env), [dated]);
  t.regex(refused(null, env)[1]!, /^the image has no name: add --image/);
  t.regex(refused('x/y', {})[1]!, /^provenance needs a job of GitHub Actions or GitLab CI/);
});

test('U75: the version is written in package.json alone: else npm run client', (t) => {
  t.is(read('api/client/python/pyproject.toml'), pythonProject());
  t.true(pythonProject().includes(`\nversion = "${version}"\n`));
  const image = readDockerfile(path.join(ROOT, 'Dockerfile')).at(-1)!;
  t.regex(stepsOf(image, 'LABEL').join(), /image\.version=\$VERSION/);
  t.is(JSON.parse(read('package-lock.json')).version, version);
  const pages = ['README.md', 'Dockerfile', 'CONTRIBUTING.md', 'api/deploy/README.md'];
  for (const page of [...pages, 'api/client/README.md', 'api/client/python/README.md']) {
    t.false(new RegExp(`\\D${version}(?![.\\d])`).test(read(page)), `${page} names the version`);
  }
});

// Where the machine has no such Python this one is shown as skipped.
const python = pythonWith('tomllib', 'pip');
(python === null ? test.skip : longTest)(
  'U75: the wheel is made of the files alone',
  (t: ExecutionContext) => {
    const folder = tempFolder(t);
    const sources = path.join(ROOT, 'api/client/python');
    const makes = `import sys, wheel_backend as w
names = w.build_wheel(sys.argv[1]), w.build_sdist(sys.argv[1])
import zipfile, os
wheel = zipfile.ZipFile(os.path.join(sys.argv[1], names[0]))
about = [n for n in wheel.namelist() if n.endswith('METADATA')][0]
print(*names, *wheel.namelist(), wheel.read(about).decode(), sep='\\n')`;
    const env = { ...process.env, PYTHONDONTWRITEBYTECODE: '1' };
    const make = () =>
      execFileSync(python!, ['-c', makes, folder], { cwd: sources, env, encoding: 'utf8' });
    const printed = make();
    const [wheel, archive, ...about] = printed.split('\n');
    t.is(wheel, `paperbook_client-${version}-py3-none-any.whl`);
    t.is(archive, `paperbook_client-${version}.tar.gz`);
    for (const line of [
      'paperbook_client/generated.py',
      'paperbook_client/py.typed',
      'Name: paperbook-client',
      `Version: ${version}`,
      'Requires-Dist: httpx >=0.23.3,<1',
    ]) {
      t.true(about.includes(line), line);
    }
    t.false(printed.includes('__pycache__'));
    const bytes = () => [wheel!, archive!].map((name) => readFileSync(path.join(folder, name)));
    const first = bytes();
    make();
    t.deepEqual(bytes(), first, 'the same files, the same bytes');

    const target = path.join(folder, 'installed');
    const pip = ['-m', 'pip', 'install', '--quiet', '--no-index', '--no-deps', '--target', target];
    execFileSync(python!, [...pip, path.join(folder, wheel!)], { stdio: 'pipe' });
    const asked = 'import importlib.metadata as m; print(m.version("paperbook-client"))';
    const found = execFileSync(python!, ['-c', asked], {
      env: { ...env, PYTHONPATH: target },
      encoding: 'utf8',
    });
    t.is(found.trim(), version);
  },
);
