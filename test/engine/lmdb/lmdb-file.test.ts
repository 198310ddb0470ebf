import { mkdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { open } from 'lmdb';
import { checkLmdbFile, checkLmdbForWriting } from '../../../engine/lmdb/lmdb-file.ts';
import { Checkpoints } from '../../../engine/shard/store/checkpoints.ts';
import { tempDir } from '../shard/engine-process.ts';

const PAGE_BYTES = 4096;

/** An environment whose last transactions took pages and gave them back. */
async function environment(t: ExecutionContext): Promise<string> {
  const dir = tempDir(t);
  const root = open({ path: dir, encoding: 'binary', noSync: true });
  const table = root.openDB<Buffer, number>({ name: 'table', encoding: 'binary' });
  for (let key = 0; key < 2000; key++) table.putSync(key, Buffer.alloc(300, key));
  for (let round = 0; round < 3; round++) {
    root.transactionSync(() => {
      for (let n = 0; n < 5; n++) table.put(9000 + n, Buffer.alloc(20_000 * (n + 1)));
      for (let n = 0; n < 5; n++) table.remove(9000 + n);
    });
  }
  await root.flushed;
  await root.close();
  return dir;
}

const fileIn = (dir: string) => path.join(dir, 'data.mdb');

test('pages that are free may be missing at the end, a page in use may not', async (t) => {
  const dir = await environment(t);
  const whole = statSync(fileIn(dir)).size;
  t.deepEqual(checkLmdbFile(dir), { entries: 1 });
  let size = whole;
  let accepted = 0;
  for (; size > whole / 2; size -= PAGE_BYTES) {
    truncateSync(fileIn(dir), size);
    try {
      checkLmdbFile(dir);
      accepted++;
    } catch (error) {
      const { message } = error as Error;
      t.regex(message, new RegExp(`data\\.mdb was cut short: it has ${size} bytes, not \\d+$`));
      break;
    }
  }
  t.true(size > whole / 2, 'no page was in use');
  t.true(accepted > 1, 'LMDB left no free page at the end');
});

test('a file of another kind, a file that is too short, an empty one and none', (t) => {
  const dir = tempDir(t);
  t.is(checkLmdbFile(dir), null);
  t.is(checkLmdbFile(path.join(dir, 'nowhere')), null);
  for (const text of ['x', 'x'.repeat(20_000)]) {
    writeFileSync(fileIn(dir), text);
    t.throws(() => checkLmdbFile(dir), {
      message: `${path.basename(dir)}/data.mdb is no LMDB file: its meta pages cannot be read`,
    });
  }
  writeFileSync(fileIn(dir), '');
  t.is(checkLmdbFile(dir), null);
  const other = path.join(dir, 'other');
  mkdirSync(path.join(other, 'data.mdb'), { recursive: true });
  t.throws(() => checkLmdbFile(other));
});

test('D104: a lock file that cannot be written is named, in place of an end of the process', (t) => {
  const dir = path.join(tempDir(t), 'shard-0');
  mkdirSync(dir);
  t.is(checkLmdbForWriting(dir), null, 'LMDB makes one');
  writeFileSync(path.join(dir, 'lock.mdb'), '');
  t.is(checkLmdbForWriting(dir), null);
  // No user can write it, root neither.
  rmSync(path.join(dir, 'lock.mdb'));
  mkdirSync(path.join(dir, 'lock.mdb'));
  const message = 'shard-0/lock.mdb cannot be written (EISDIR): who owns the files there?';
  t.throws(() => checkLmdbForWriting(dir), { message });
  const identity = { directory: '0'.repeat(32), shard: 0, shards: 1 };
  const options = { durability: 'sync', identity } as never;
  t.throws(() => new Checkpoints(dir, options), { message });
});
