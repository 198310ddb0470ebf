import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mock } from 'node:test';
import test from 'ava';
import { fileVersion, loadCatalog, watchCatalog } from '../../../feeds/catalog/catalog.ts';

test('K2, PAPERBOOK_CATALOG: a file that cannot be read is an error, not a throw', async (t) => {
  const reading = await loadCatalog(join(tmpdir(), 'no-such-folder', 'catalog.json'));
  t.deepEqual(reading, {
    ok: false,
    errors: [{ place: 'file', message: 'cannot be read (ENOENT)' }],
  });
});

test('K1, PAPERBOOK_CATALOG: loaded on change, also when replaced by a rename', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'paperbook-catalog-'));
  const path = join(folder, 'catalog.json');
  await writeFile(path, '1');
  const since = fileVersion(path);
  // After it was read, and before it is watched.
  await writeFile(path, 'one');
  const seen: string[] = [];
  let wake = () => {};
  const sees = (text: string) =>
    new Promise<void>((resolve) => {
      wake = () => {
        if (seen.at(-1) === text) resolve();
      };
      wake();
    });
  const warnings: string[] = [];
  // The watch leaves the process free to end; the test must not.
  const alive = setInterval(() => {}, 1000);
  const watch = watchCatalog(
    path,
    async () => {
      seen.push(await readFile(path, 'utf8'));
      wake();
      if (seen.length === 1) throw new Error('a first reader that fails');
    },
    { warn: (_fields, message) => warnings.push(message) },
    { intervalMs: 20, since },
  );
  try {
    await sees('one');
    await writeFile(path, 'two');
    await sees('two');
    await writeFile(join(folder, 'next'), 'three!');
    await rename(join(folder, 'next'), path);
    await sees('three!');
    t.deepEqual(warnings, ['the changed catalog could not be taken']);
  } finally {
    watch.close();
    clearInterval(alive);
    await rm(folder, { recursive: true });
  }
});

test.serial('K11: the file is looked at every two seconds', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'paperbook-catalog-'));
  const path = join(folder, 'catalog.json');
  await writeFile(path, '1');
  const log = { warn: (_fields: object, message: string) => t.fail(message) };
  // The watch leaves the process free to end; the test must not.
  const alive = setInterval(() => {}, 1000);
  mock.timers.enable({ apis: ['setInterval'] });
  try {
    let watch = { close() {} };
    const changed = new Promise<void>((resolve) => {
      watch = watchCatalog(path, resolve, log);
    });
    await writeFile(path, 'two');
    mock.timers.tick(2000);
    await t.notThrowsAsync(changed);
    watch.close();
  } finally {
    mock.timers.reset();
    clearInterval(alive);
    await rm(folder, { recursive: true });
  }
});
