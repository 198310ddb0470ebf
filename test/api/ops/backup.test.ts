import {
  cpSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { backUp } from '../../../api/ops/backup.ts';
import { verifyDataDir } from '../../../api/ops/verify.ts';
import { FORMAT_VERSION } from '../../../engine/format/version.ts';
import { tempDir } from '../../engine/shard/engine-process.ts';
import { tradedShard } from '../../engine/shard/environment.ts';

const SECTION = 'D17, backup';

/** A directory that a server has stopped in, and room beside it. */
async function stoppedDir(t: ExecutionContext): Promise<{ from: string; to: string }> {
  const dir = tempDir(t);
  const from = path.join(dir, 'data');
  mkdirSync(path.join(from, 'demo'), { recursive: true });
  const meta = { format: 'paperbook-data', version: FORMAT_VERSION, shards: 1 };
  writeFileSync(path.join(from, 'paperbook.json'), JSON.stringify(meta));
  writeFileSync(path.join(from, 'admin.token'), 'x'.repeat(43));
  writeFileSync(path.join(from, 'demo', 'catalog.json'), '{}');
  writeFileSync(path.join(from, 'demo', 'catalog.json.new'), '{');
  await tradedShard(path.join(from, 'shard-0'));
  return { from, to: path.join(dir, 'kept', 'backup') };
}

test.serial(`${SECTION}: the copy verifies, and holds neither secrets nor locks`, async (t) => {
  const { from, to } = await stoppedDir(t);
  t.like(await backUp(from, to), { directory: to, shards: 1, files: 4 });
  t.deepEqual(readdirSync(to).sort(), ['demo', 'paperbook.json', 'shard-0']);
  t.deepEqual(readdirSync(path.join(to, 'demo')), ['catalog.json']);
  t.deepEqual(readdirSync(path.join(to, 'shard-0')).sort(), ['data.mdb', 'log']);
  t.deepEqual(readdirSync(path.join(to, 'shard-0', 'log')), ['00000000.log']);
  t.deepEqual(readdirSync(path.dirname(to)), ['backup']);
  t.is(statSync(to).mode & 0o777, 0o700);
  t.deepEqual((await verifyDataDir(to)).shards, (await verifyDataDir(from)).shards);
});

test.serial(`${SECTION}: an empty directory is taken, another is not`, async (t) => {
  const { from, to } = await stoppedDir(t);
  mkdirSync(to, { recursive: true });
  await backUp(from, to);
  await t.throwsAsync(backUp(from, to), { message: `${to} exists and is not an empty directory` });
  const inside = path.join(from, 'backup');
  await t.throwsAsync(backUp(from, inside), {
    message: `${inside} is inside ${from}: a backup goes elsewhere`,
  });
});

test.serial(`${SECTION}: one that was broken off has another name`, async (t) => {
  const { from, to } = await stoppedDir(t);
  mkdirSync(`${to}.partial`, { recursive: true });
  await t.throwsAsync(backUp(from, to), {
    message: `${to}.partial exists: a backup is running, or was broken off; if none runs, remove it`,
  });
  // Of a file, no folder can be made below.
  writeFileSync(`${to}.file`, '');
  const below = path.join(`${to}.file`, 'backup');
  const message = `${below}.partial cannot be made (ENOTDIR)`;
  await t.throwsAsync(backUp(from, below), { message });
});

test.serial(`${SECTION}: a fault leaves no copy`, async (t) => {
  const { from, to } = await stoppedDir(t);
  truncateSync(path.join(from, 'shard-0', 'data.mdb'), 20_000);
  await t.throwsAsync(backUp(from, to), { message: /was not copied: .*was cut short/ });
  t.deepEqual(readdirSync(path.dirname(to)), []);
});

test.serial(`${SECTION}: a shard that was lost is no part to leave out`, async (t) => {
  const { from, to } = await stoppedDir(t);
  cpSync(path.join(from, 'shard-0'), path.join(from, 'control'), { recursive: true });
  rmSync(path.join(from, 'shard-0'), { recursive: true });
  await t.throwsAsync(backUp(from, to), {
    message: /was not copied: shard-0.data\.mdb is missing or empty, and was not before$/,
  });
  t.deepEqual(readdirSync(path.dirname(to)), []);
});
