/** Records made again by command, and what a backup has of them. */
import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import test from 'ava';
import { takeLock } from '../../../api/data-dir/directory-lock.ts';
import { backUp } from '../../../api/ops/backup.ts';
import { makeRecordsAnew } from '../../../api/ops/rebuild-records.ts';
import { verifyDataDir } from '../../../api/ops/verify.ts';
import { Closings, rowsOf } from '../../../engine/records/projection/closing-lines.ts';
import { recordsFile } from '../../../engine/records/store/database.ts';
import { tempDir } from '../../engine/shard/engine-process.ts';
import { stoppedServer } from '../stopped-server.ts';

test('Y4: records rebuild folds all facts, but not beside a server, and verifies', async (t) => {
  const dir = path.join(tempDir(t), 'data');
  await stoppedServer(dir);
  const { facts, traders, trades } = await makeRecordsAnew(dir);
  t.true(facts > 0 && traders > 0 && trades > 0);
  t.is(statSync(recordsFile(path.join(dir, 'records'))).mode & 0o077, 0);
  t.deepEqual((await verifyDataDir(dir)).problems, []);
  const lock = await takeLock(dir);
  await t.throwsAsync(makeRecordsAnew(dir), { message: /in use by another server.*stop it first/ });
  await lock.release();
});

test('Y4, Y6: a backup has closing lines, and not what facts lead to', async (t) => {
  const dir = path.join(tempDir(t), 'data');
  await stoppedServer(dir);
  await makeRecordsAnew(dir);
  const closings = new Closings(dir);
  const quote = { yesBidCents: 33, yesAskCents: 36, atMs: 5 };
  closings.put({ market: 1, startsAtMs: 77, quote });
  const copy = path.join(tempDir(t), 'copy');
  // The file is in use meanwhile.
  await backUp(dir, copy);
  closings.put({ market: 2, startsAtMs: 77, quote: null });
  await backUp(dir, copy);
  closings.close();
  t.false(existsSync(recordsFile(path.join(copy, 'records'))));
  for (const file of ['records/closings.db', 'closings-copy.db']) {
    t.is([...rowsOf(path.join(copy, file))].length, 2, file);
  }
});
