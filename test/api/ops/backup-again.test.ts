/** A backup into the directory of an earlier one. */
import fs, {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { takeLock } from '../../../api/data-dir/directory-lock.ts';
import { backUp } from '../../../api/ops/backup.ts';
import { readFacts } from '../../../engine/readers/read-facts.ts';
import { uuidOf } from '../../engine/fixtures.ts';
import { flip } from '../../engine/log/log-files.ts';
import { tempDir } from '../../engine/shard/engine-process.ts';
import { openShard } from '../../engine/shard/environment.ts';
import { shareOf } from '../../model/seeds.ts';
import { goOn, stoppedServer } from '../stopped-server.ts';
import { sharedVerifier } from './shared-verifier.ts';

const verifyDataDir = sharedVerifier();

const SECTION = 'D32, backup again';
/** Each moment in a long run, one of some in a check of each change. */
const MOMENTS_APART = shareOf(100) < 100 ? 8 : 1;
const oneIn = <T>(apart: number, all: readonly T[]) => all.filter((_, at) => at % apart === 0);
const LOG = path.join('shard-0', 'log', '00000000.log');

async function copied(t: ExecutionContext): Promise<{ from: string; to: string }> {
  const dir = tempDir(t);
  const [from, to] = [path.join(dir, 'data'), path.join(dir, 'copy')];
  await stoppedServer(from);
  await backUp(from, to);
  return { from, to };
}

/** Verifies, and has as many facts as it says. */
async function holds(t: ExecutionContext, directory: string): Promise<number> {
  const { problems } = await verifyDataDir(directory);
  t.deepEqual(problems, []);
  return [...readFacts({ dataDir: directory, shard: 0 }, 0)].length;
}

test.serial(`${SECTION}: what is new since is copied, and the copy starts`, async (t) => {
  const { from, to } = await copied(t);
  const before = readFileSync(path.join(to, LOG));
  await goOn(from, 801, 5);
  const { bytes } = await backUp(from, to);
  const log = readFileSync(path.join(to, LOG));
  t.true(log.length > before.length);
  t.true(log.subarray(0, before.length).equals(before));
  const rest = bytes - (log.length - before.length);
  const whole = ['shard-0/data.mdb', 'control/data.mdb', 'paperbook.json', 'demo/catalog.json'];
  t.is(
    rest,
    whole.reduce((sum, name) => sum + statSync(path.join(to, name)).size, 0),
  );
  t.is(await holds(t, to), await holds(t, from));
  t.deepEqual(readdirSync(to).sort(), ['control', 'demo', 'paperbook.json', 'shard-0']);
  t.deepEqual((await verifyDataDir(to)).shards, (await verifyDataDir(from)).shards);
  const shard = await openShard(path.join(to, 'shard-0'));
  t.is(shard.state.accounts.live, 3);
  await shard.close();
});

test.serial(`${SECTION}: cut off anywhere, the copy is whole`, async (t) => {
  const { from, to } = await copied(t);
  const facts = await holds(t, to);
  await goOn(from, 802, 3);
  const crashed = path.join(path.dirname(to), 'crashed');
  const moments = await momentsOf(to, crashed, () => backUp(from, to));
  t.true(moments.length >= 10, `${moments.length}`);
  for (const moment of oneIn(MOMENTS_APART, moments)) {
    const there = await holds(t, moment);
    t.true(there >= facts, moment);
    const shard = await openShard(path.join(moment, 'shard-0'));
    t.is(shard.lastNumber, there);
    await shard.close();
  }
});

test.serial(`${SECTION}: one that was cut off is gone on with`, async (t) => {
  const { from, to } = await copied(t);
  await goOn(from, 803, 3);
  const crashed = path.join(path.dirname(to), 'crashed');
  const moments = await momentsOf(to, crashed, () => backUp(from, to));
  const facts = await holds(t, from);
  for (const moment of [moments[3]!, moments[moments.length >> 1]!, moments.at(-1)!]) {
    await backUp(from, moment);
    t.false(existsSync(path.join(moment, 'backup.partial')));
    t.is(await holds(t, moment), facts);
  }
});

test.serial(`${SECTION}: what is no older state of the directory is left as it is`, async (t) => {
  const { from, to } = await copied(t);
  const other = path.join(path.dirname(to), 'other');
  await stoppedServer(other, uuidOf(78));
  await t.throwsAsync(backUp(other, to), {
    message: `${to} is a copy of directory ${uuidOf(77)} (1 shards), and this is directory ${uuidOf(78)} (1 shards)`,
  });
  const foreign = path.join(path.dirname(to), 'foreign');
  mkdirSync(foreign);
  writeFileSync(path.join(foreign, 'notes'), '');
  await t.throwsAsync(backUp(from, foreign), {
    message: `${foreign} exists and is not an empty directory`,
  });
  // A server ran on the copy, and then on the original.
  await goOn(to, 804, 1);
  await goOn(from, 805, 20);
  const before = readFileSync(path.join(to, LOG));
  await t.throwsAsync(backUp(from, to), {
    message:
      /was not copied: \S+00000000\.log is no earlier state of the log\. A server has run on/,
  });
  t.true(readFileSync(path.join(to, LOG)).equals(before));
  t.is((await verifyDataDir(to)).ok, true);
});

test.serial(`${SECTION}: not while a server runs on the copy`, async (t) => {
  const { from, to } = await copied(t);
  const lock = await takeLock(to);
  await t.throwsAsync(backUp(from, to), {
    message: `${to} is in use by another server (process ${process.pid})`,
  });
  await lock.release();
  await backUp(from, to);
});

test.serial(`${SECTION}: damage is not copied into a copy that is whole`, async (t) => {
  const { from, to } = await copied(t);
  const { size } = statSync(path.join(to, LOG));
  await goOn(from, 806, 9);
  const facts = await holds(t, to);
  flip(path.join(from, LOG), size + 40, 1);
  await t.throwsAsync(backUp(from, to), {
    message: /was not copied: \S+log ends before fact \d+, which its checkpoint covers$/,
  });
  t.is(await holds(t, to), facts);
});

/** A copy of `directory` as a crash before each change of a file in it would leave it. */
async function momentsOf(
  directory: string,
  to: string,
  work: () => Promise<unknown>,
): Promise<string[]> {
  const moments: string[] = [];
  const { renameSync, writeSync, fdatasyncSync, fsyncSync } = fs;
  const before = <Args extends unknown[], R>(act: (...args: Args) => R) => {
    return (...args: Args): R => {
      const moment = path.join(to, String(moments.length));
      cpSync(directory, moment, { recursive: true, filter: (name) => !name.endsWith('.lock') });
      moments.push(moment);
      return act(...args);
    };
  };
  Object.assign(fs, {
    renameSync: before(renameSync),
    writeSync: before(writeSync as never),
    fdatasyncSync: before(fdatasyncSync),
    fsyncSync: before(fsyncSync),
  });
  syncBuiltinESMExports();
  try {
    await work();
  } finally {
    Object.assign(fs, { renameSync, writeSync, fdatasyncSync, fsyncSync });
    syncBuiltinESMExports();
  }
  return moments;
}
