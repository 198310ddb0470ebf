/** `rebuild`: a shard's checkpoint from its log alone. */
import {
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { takeLock } from '../../../api/data-dir/directory-lock.ts';
import { rebuild } from '../../../api/ops/rebuild.ts';
import { digest } from '../../../engine/audit/digest.ts';
import { flip } from '../../engine/log/log-files.ts';
import { tempDir } from '../../engine/shard/engine-process.ts';
import { openShard, plant } from '../../engine/shard/environment.ts';
import { variantsOfRun } from '../../model/seeds.ts';
import { tradedServer } from '../stopped-server.ts';
import { sharedVerifier } from './shared-verifier.ts';

const verifyDataDir = sharedVerifier();

const SECTION = 'D33, rebuild';
const FILE = path.join('shard-0', 'data.mdb');

let before: Awaited<ReturnType<typeof stateOf>> | null = null;

/** A directory with a checkpoint and facts after it, and what its state says. */
async function traded(t: ExecutionContext) {
  const dir = path.join(tempDir(t), 'data');
  await tradedServer(dir);
  before ??= await stateOf(dir);
  return { dir, before };
}

async function stateOf(dir: string) {
  const shard = await openShard(path.join(dir, 'shard-0'));
  const found = digest(shard.state);
  await shard.abandon();
  return found;
}

const DAMAGE: [what: string, damage: (dir: string) => Promise<void> | void][] = [
  [
    'a page of its tables',
    (dir) => {
      return plant(path.join(dir, 'shard-0'), ({ pages }) => {
        for (const key of [...pages.getKeys()]) pages.putSync(key, Buffer.alloc(40, 7));
      });
    },
  ],
  ['a file cut short', (dir) => truncateSync(path.join(dir, FILE), 9000)],
  ['a file that is gone', (dir) => rmSync(path.join(dir, FILE))],
  ['no LMDB file', (dir) => writeFileSync(path.join(dir, FILE), 'nothing of LMDB')],
];

for (const [what, damage] of variantsOfRun(DAMAGE)) {
  test.serial(`${SECTION}: ${what}`, async (t) => {
    const { dir, before } = await traded(t);
    await damage(dir);
    const damaged = existsSync(path.join(dir, FILE)) ? readFileSync(path.join(dir, FILE)) : null;
    t.false((await verifyDataDir(dir)).ok);
    const [done] = await rebuild(dir);
    t.true(done!.facts! > 10);
    t.deepEqual((await verifyDataDir(dir)).problems, []);
    t.deepEqual(await stateOf(dir), before);
    t.is(statSync(path.join(dir, FILE)).mode & 0o777, 0o600);
    const kept = damaged === null ? null : path.join(dir, `${FILE}.replaced-1`);
    t.is(done!.kept, kept);
    if (kept !== null) t.true(readFileSync(kept).equals(damaged!));
    const names = [
      'data.mdb',
      ...(kept === null ? [] : ['data.mdb.replaced-1']),
      'lock.mdb',
      'log',
    ];
    t.deepEqual(readdirSync(path.join(dir, 'shard-0')).sort(), names);
  });
}

test.serial(`${SECTION}: what is whole is left as it is`, async (t) => {
  const { dir } = await traded(t);
  const before = readFileSync(path.join(dir, FILE));
  t.deepEqual(await rebuild(dir), [{ shard: 0, facts: null, kept: null, problems: [] }]);
  t.true(readFileSync(path.join(dir, FILE)).equals(before));
});

test.serial(`${SECTION}: not while a server runs`, async (t) => {
  const { dir } = await traded(t);
  const lock = await takeLock(dir);
  await t.throwsAsync(rebuild(dir), {
    message: `${dir} is in use by another server (process ${process.pid}): stop it first`,
  });
  await lock.release();
});

test.serial(
  `${SECTION}: not from a log that is damaged, or ends before the checkpoint`,
  async (t) => {
    const { dir } = await traded(t);
    const log = path.join(dir, 'shard-0', 'log', '00000000.log');
    const whole = `${dir}-whole`;
    cpSync(dir, whole, { recursive: true, filter: (name) => !name.endsWith('.lock') });
    const file = readFileSync(path.join(dir, FILE));
    flip(log, 20, 1);
    await t.throwsAsync(rebuild(dir), {
      message: /was not rebuilt, and is as it was: log\/00000000\.log is damaged at byte 0: /,
    });
    t.true(readFileSync(path.join(dir, FILE)).equals(file));
    t.deepEqual(readdirSync(path.join(dir, 'shard-0')).sort(), ['data.mdb', 'lock.mdb', 'log']);
    // The last record is cut off as one that was never finished.
    const bytes = readFileSync(path.join(whole, 'shard-0', 'log', '00000000.log'));
    const end = bytes.findLastIndex((byte) => byte !== 0);
    truncateSync(path.join(whole, 'shard-0', 'log', '00000000.log'), end - 10);
    await t.throwsAsync(rebuild(whole), {
      message: /its log ends with fact \d+, and its checkpoint covers \d+: restore a backup$/,
    });
  },
);
