/** A release of this commit, as far as it goes without publishing. */
import { execFile } from 'node:child_process';
import { appendFileSync, readdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import test from 'ava';
import { tempDir } from './server.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const runFile = promisify(execFile);

test('U74: a dry run makes every artefact, installs each, and starts it', async (t) => {
  t.timeout(1_800_000);
  const clone = path.join(tempDir(t), 'clone');
  await runFile('git', ['clone', '--quiet', '--local', '--depth', '1', `file://${ROOT}`, clone]);
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(clone, 'node_modules'));
  // .gitignore names a folder, and this is a link.
  appendFileSync(path.join(clone, '.git/info/exclude'), 'node_modules\n');
  const { stdout } = await runFile('npm', ['run', 'release', '--', '--dry-run'], { cwd: clone });
  t.regex(stdout, /^Nothing was published\.$/m);
  const kinds = readdirSync(path.join(clone, 'release')).map((name) =>
    name.replace(/-\d.*\./, '.'),
  );
  t.deepEqual(kinds.sort(), [
    'paperbook-client.tgz',
    'paperbook.tgz',
    'paperbook_client.gz',
    'paperbook_client.whl',
  ]);
});
