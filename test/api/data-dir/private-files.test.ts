import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import { open } from 'lmdb';
import { metaOf, openDataDir } from '../../../api/data-dir/data-dir.ts';
import { closeToOthers, makeDirectory } from '../../../api/data-dir/private-files.ts';
import { ControlStore } from '../../../api/identity/store.ts';
import { backUp } from '../../../api/ops/backup.ts';
import { FORMAT_VERSION } from '../../../engine/format/version.ts';
import { openShards, tempDir } from '../../engine/shard/engine-process.ts';

const SECTION = 'D13, PAPERBOOK_DATA_DIR';
const NEW = { wanted: 1, byDefault: 1 };
const modeOf = (file: string) => (statSync(file).mode & 0o777).toString(8);

test(`${SECTION}: a pre-made directory and what is in it are closed to others`, async (t) => {
  const dir = path.join(tempDir(t), 'data');
  mkdirSync(path.join(dir, 'shard-0'), { recursive: true });
  chmodSync(dir, 0o755);
  chmodSync(path.join(dir, 'shard-0'), 0o755);
  writeFileSync(path.join(dir, 'shard-0', 'data.mdb'), '');
  chmodSync(path.join(dir, 'shard-0', 'data.mdb'), 0o664);
  const meta = { format: 'paperbook-data', version: FORMAT_VERSION, shards: 1 };
  writeFileSync(path.join(dir, 'paperbook.json'), JSON.stringify(meta));
  const opened = await openDataDir(dir, NEW);
  t.teardown(() => opened.release());
  t.deepEqual(opened.exposed, [`${dir} was open to others (mode 0755): closed to them`]);
  t.is(modeOf(dir), '700');
  t.is(modeOf(path.join(dir, 'shard-0')), '700');
  t.is(modeOf(path.join(dir, 'shard-0', 'data.mdb')), '600');
  t.is(modeOf(path.join(dir, 'paperbook.json')), '600');
});

test(`${SECTION}: what is made in it is for its owner alone`, async (t) => {
  const dir = path.join(tempDir(t), 'above', 'data');
  const opened = await openDataDir(dir, NEW);
  t.deepEqual(opened.exposed, []);
  const control = new ControlStore(dir);
  const engine = await openShards(dir);
  await engine.close();
  await control.close();
  await opened.release();
  const copy = path.join(path.dirname(dir), 'copy');
  await backUp(dir, copy);
  for (const made of [path.dirname(dir), dir, copy]) t.is(modeOf(made), '700', made);
  for (const root of [dir, copy]) {
    t.is(modeOf(path.join(root, 'paperbook.json')), '600', root);
    for (const environment of ['control', 'shard-0']) {
      t.is(modeOf(path.join(root, environment)), '700');
      t.is(modeOf(path.join(root, environment, 'data.mdb')), '600', `${root}/${environment}`);
    }
  }
  t.is(modeOf(path.join(dir, 'control', 'lock.mdb')), '600');
  t.is(modeOf(path.join(dir, 'shard-0', 'lock.mdb')), '600');
  t.is(metaOf(copy).shards, 1);
});

test(`${SECTION}: a secret that others could read is removed and named`, (t) => {
  const dir = tempDir(t);
  for (const [name, mode] of [
    ['admin.token', 0o644],
    ['auth-key.json', 0o640],
    ['demo.json', 0o600],
    ['other.json', 0o644],
  ] as const) {
    writeFileSync(path.join(dir, name), 'secret');
    chmodSync(path.join(dir, name), mode);
  }
  const lines = closeToOthers(dir);
  t.is(lines.length, 2);
  t.regex(lines[0]!, /admin\.token could be read by others \(mode 0644\): removed/);
  t.regex(lines[1]!, /auth-key\.json could be read by others \(mode 0640\): removed/);
  t.false(existsSync(path.join(dir, 'admin.token')));
  t.false(existsSync(path.join(dir, 'auth-key.json')));
  t.is(readFileSync(path.join(dir, 'demo.json'), 'utf8'), 'secret');
  t.is(modeOf(path.join(dir, 'other.json')), '644', 'no server made it');
  t.deepEqual(closeToOthers(dir), []);
});

test(`${SECTION}: a directory of other things is refused, and nothing in it is changed`, async (t) => {
  const dir = tempDir(t);
  chmodSync(dir, 0o1777);
  mkdirSync(path.join(dir, 'home'));
  writeFileSync(path.join(dir, 'home', 'page.html'), '');
  const error = await t.throwsAsync(openDataDir(dir, NEW));
  t.is(
    error.message,
    `PAPERBOOK_DATA_DIR ${dir} is open to others (mode 1777) and holds files that no server made ` +
      '(home): set a directory of its own',
  );
  t.deepEqual(readdirSync(dir), ['home']);
  t.is(modeOf(dir), '777');
  t.is(modeOf(path.join(dir, 'home')), '755');
  t.is(modeOf(path.join(dir, 'home', 'page.html')), '644');
});

test(`${SECTION}: in a data directory, what no server made is left as it is`, async (t) => {
  const dir = path.join(tempDir(t), 'data');
  // A volume of its own comes with a directory of its own.
  mkdirSync(path.join(dir, 'lost+found'), { recursive: true });
  chmodSync(dir, 0o755);
  await (await openDataDir(dir, NEW)).release();
  chmodSync(dir, 0o755);
  writeFileSync(path.join(dir, 'catalog.json'), '{}');
  chmodSync(path.join(dir, 'catalog.json'), 0o644);
  const { exposed, release } = await openDataDir(dir, NEW);
  await release();
  t.deepEqual(exposed, [`${dir} was open to others (mode 0755): closed to them`]);
  t.is(modeOf(dir), '700');
  t.is(modeOf(path.join(dir, 'catalog.json')), '644');
  t.is(modeOf(path.join(dir, 'lost+found')), '755');
});

test(`${SECTION}: what a link in it leads to stays as it is`, (t) => {
  const dir = tempDir(t);
  const outside = path.join(tempDir(t), 'file');
  writeFileSync(outside, '');
  chmodSync(outside, 0o644);
  symlinkSync(outside, path.join(dir, 'control'));
  closeToOthers(dir);
  t.is(modeOf(outside), '644');
});

test(`${SECTION}: where nothing can be made, making it ends with the error`, (t) => {
  for (const place of ['/proc/paperbook/data', '/proc/paperbook', '/dev/null/data']) {
    const error = t.throws(() => makeDirectory(place));
    t.true(['ENOENT', 'ENOTDIR', 'EACCES'].includes((error as NodeJS.ErrnoException).code!), place);
  }
  const made = path.join(tempDir(t), 'a', 'b', 'c');
  makeDirectory(made);
  makeDirectory(made);
  t.is(modeOf(made), '700');
});

test('the mode that LMDB is given is the one of its files', async (t) => {
  const dir = tempDir(t);
  const plain = open({ path: path.join(dir, 'plain') });
  await plain.close();
  t.not(modeOf(path.join(dir, 'plain', 'data.mdb')), '600', 'else this file proves nothing');
});
