/** A damaged checkpoint of a server that runs is rebuilt from the shard's log by itself. */
import { existsSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { rebuilder } from '../../../api/ops/shard-rebuilder.ts';
import { digest } from '../../../engine/audit/digest.ts';
import type { Query } from '../../../engine/rules/queries.ts';
import { CheckpointRepair } from '../../../engine/shard/callers/checkpoint-repair.ts';
import { hashOfDigests } from '../../../engine/shard/callers/merge-reports.ts';
import type { Log } from '../../../engine/threads/logger.ts';
import { NOON_MS } from '../../engine/fixtures.ts';
import { flip } from '../../engine/log/log-files.ts';
import { openShards, tempDir, untilReady } from '../../engine/shard/engine-process.ts';
import { ALICE, openShard, plant } from '../../engine/shard/environment.ts';
import { variantsOfRun } from '../../model/seeds.ts';
import { tradedServer } from '../stopped-server.ts';
import { sharedVerifier } from './shared-verifier.ts';

const verifyDataDir = sharedVerifier();

const FILE = path.join('shard-0', 'data.mdb');
const LOG: Log = { info() {}, error() {} };
const PORTFOLIO = {
  ...{ kind: 'portfolio', atMs: NOON_MS, account: ALICE },
  organizationSlug: null,
} as const satisfies Query;

let hash: string | null = null;

async function traded(t: ExecutionContext): Promise<{ dir: string; hash: string }> {
  const dir = path.join(tempDir(t), 'data');
  await tradedServer(dir);
  hash ??= await hashOf(path.join(dir, 'shard-0'));
  return { dir, hash };
}

async function hashOf(directory: string): Promise<string> {
  const shard = await openShard(directory);
  const found = hashOfDigests([JSON.stringify(digest(shard.state))]);
  await shard.abandon();
  return found;
}

const DAMAGE: [what: string, damage: (dir: string) => Promise<void> | void][] = [
  [
    'pages of its tables',
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
  test.serial(`D72: a shard is served again, from its log, after ${what}`, async (t) => {
    t.timeout(120_000);
    const { dir, hash } = await traded(t);
    await damage(dir);
    const isKept = existsSync(path.join(dir, FILE));
    const engine = await openShards(dir, { wereMade: true, rebuild: rebuilder(dir) });
    const [was] = engine.problems();
    t.regex(was!, /^shard 0: /);
    await t.throwsAsync(engine.call(ALICE, PORTFOLIO));
    await untilReady(engine);
    t.is(await engine.stateHash(), hash);
    t.deepEqual(engine.problems(), [`${was}: the checkpoint was rebuilt from the log`]);
    t.true((await engine.call(ALICE, PORTFOLIO)).ok);
    await engine.close();
    const kept = readdirSync(path.join(dir, 'shard-0')).filter((name) => /replaced/.test(name));
    t.deepEqual(kept, isKept ? ['data.mdb.replaced-1'] : []);
    t.deepEqual((await verifyDataDir(dir)).problems, []);
  });
}

test.serial('D72: nothing is rebuilt from a log that is damaged, and it is said', async (t) => {
  t.timeout(120_000);
  const { dir } = await traded(t);
  truncateSync(path.join(dir, FILE), 9000);
  flip(path.join(dir, 'shard-0', 'log', '00000000.log'), 20, 1);
  const engine = await openShards(dir, { wereMade: true, rebuild: rebuilder(dir) });
  while (!/was not rebuilt, and is as it was/.test(engine.problems().join())) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  await t.throwsAsync(engine.call(ALICE, PORTFOLIO));
  t.deepEqual(readdirSync(path.join(dir, 'shard-0')).sort(), ['data.mdb', 'lock.mdb', 'log']);
  await engine.close();
});

test('D72: a piece of the index that is damaged while it is read leads to a rebuilding, once', async (t) => {
  const asked: number[] = [];
  const said: string[] = [];
  let fails = true;
  const repair = new CheckpointRepair({
    shard: 3,
    rebuild: async (shard) => {
      asked.push(shard);
      if (fails) throw new Error('no space');
      return { facts: 7, kept: null };
    },
    log: LOG,
  });
  const run = () => repair.run((problem) => said.push(problem));
  repair.failed('InvariantError: something of ours');
  await run();
  t.deepEqual(asked, []);
  repair.failed('RunDamage: index run 1, chunk 2: wrong checksum');
  await run();
  await run();
  t.deepEqual(asked, [3]);
  t.regex(said.at(-1)!, /chunk 2: wrong checksum: the checkpoint is being rebuilt from the log$/);
  const damage = 'RunDamage: index run 1, chunk 2: wrong checksum';
  t.is(repair.shown(damage), `${damage}: no space`);
  t.is(repair.shown('another'), 'another');
  fails = false;
  repair.failed('ValueDamage: data.mdb is damaged: pages [orders, 1, 2] is missing');
  await run();
  t.deepEqual(asked, [3, 3]);
  t.regex(repair.done!, /^ValueDamage: .* was rebuilt from the log$/);
  await run();
  t.is(asked.length, 2);
});
