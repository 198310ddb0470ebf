/** Bytes of a shard's files that are not what was written. */
import { mkdirSync, statSync } from 'node:fs';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { backUp } from '../../../../api/ops/backup.ts';
import { digest } from '../../../../engine/audit/digest.ts';
import { LogReader } from '../../../../engine/log/log-reader.ts';
import { identityOf } from '../../../../engine/shard/store/data-format.ts';
import { goOn, stoppedServer } from '../../../api/stopped-server.ts';
import { shareOf, variantsOfRun } from '../../../model/seeds.ts';
import { tempDir } from '../engine-process.ts';
import { openShard } from '../environment.ts';
import { flips, usedBytes } from '../flips.ts';

const SECTION = 'D35, a flipped byte';
const LOG = path.join('log', '00000000.log');
/** Of the files of a backup, and of those that a stopped server leaves. */
const FLIPS = { copy: shareOf(500), stopped: Math.max(40, shareOf(150)) };

/** A shard that a server has stopped, and its copy in a backup, which has no unused space. */
async function stopped(t: ExecutionContext) {
  const dir = tempDir(t);
  const data = path.join(dir, 'data');
  await stoppedServer(data);
  await goOn(data, 901, 10);
  await backUp(data, path.join(dir, 'copy'));
  const work = path.join(dir, 'work');
  mkdirSync(work);
  const shards = { stopped: path.join(data, 'shard-0'), copy: path.join(dir, 'copy', 'shard-0') };
  const logBytes = statSync(path.join(shards.copy, LOG)).size;
  const shard = await openShard(shards.stopped);
  const state = JSON.stringify(digest(shard.state));
  await shard.abandon();
  return { shards, logBytes, work, state };
}

for (const kind of variantsOfRun(['stopped', 'copy'] as const)) {
  test.serial(`${SECTION} is found, or nothing reads it: ${kind}`, async (t) => {
    t.timeout(20 * 60_000);
    const { shards, logBytes, work, state } = await stopped(t);
    const base = shards[kind];
    const files = [
      { name: 'data.mdb', bytes: usedBytes(path.join(base, 'data.mdb')) },
      { name: LOG, bytes: logBytes },
    ];
    const places = recordPlaces(base);
    const looked = await flips({ what: 'shard', base, files, work }, FLIPS[kind]);
    t.is(looked.length, FLIPS[kind]);
    const counts = { found: 0, refused: 0, died: 0, unread: 0 };
    for (const { flip, seen, died } of looked) {
      const what = JSON.stringify({ ...flip, seen: { ...seen, state: null } });
      if (seen === null || died) {
        counts.died++;
        t.is(flip.file, 'data.mdb', what);
        continue;
      }
      if (seen.state !== null) t.is(seen.state, state, `another truth: ${what}`);
      const isFound = seen.verify.length > 0;
      counts[isFound ? 'found' : seen.state === null ? 'refused' : 'unread']++;
      if (flip.file !== LOG) continue;
      // Ours: it is always found, and named.
      const at = places.findLast((place) => place <= flip.offset);
      const named = `00000000.log is damaged at byte ${at}:`;
      t.is(seen.state, null, what);
      t.true(seen.verify.some((line) => line.includes(named)) && seen.start.includes(named), what);
    }
    t.log(counts);
    t.true(counts.found > FLIPS[kind] / 2);
  });
}

/** Where the header and the records of a log begin. */
function recordPlaces(base: string): number[] {
  const reader = LogReader.open(path.join(base, 'log'), identityOf(0));
  const places = [0, ...Array.from(reader.records(0), ({ position }) => position)];
  reader.close();
  return places;
}
