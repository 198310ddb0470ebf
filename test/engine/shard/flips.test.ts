/** Bytes of a shard's files that are not what was written. */
import { fork } from 'node:child_process';
import { mkdirSync, statSync } from 'node:fs';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { backUp } from '../../../api/backup.ts';
import { digest } from '../../../engine/audit/digest.ts';
import { LogReader } from '../../../engine/log/log-reader.ts';
import { identityOf } from '../../../engine/shard/data-format.ts';
import { goOn, stoppedServer } from '../../api/stopped-server.ts';
import { tempDir } from './engine-process.ts';
import { openShard } from './environment.ts';
import type { FlipResult, FlipTask } from './flip-process.ts';

const SECTION = 'D35, a flipped byte';
const LOG = path.join('log', '00000000.log');
const FLIPS = Number(process.env.PAPERBOOK_FLIPS ?? 400);
const DIES_WITHIN_MS = 30_000;

type Looked = FlipResult & { died: boolean };

/** Flips seeded bytes, each of the files as they are; a process that dies has seen it. */
async function flips(task: Omit<FlipTask, 'from' | 'until'>, count: number): Promise<Looked[]> {
  const looked: Looked[] = [];
  for (let from = 0; from < count; from = looked.length) {
    let begun: FlipResult | null = null;
    await new Promise<void>((resolve, reject) => {
      const child = fork(new URL('./flip-process.ts', import.meta.url), [], {
        serialization: 'advanced',
        stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      });
      let hung: NodeJS.Timeout | undefined;
      child.on('message', (result: FlipResult) => {
        clearTimeout(hung);
        hung = setTimeout(() => child.kill('SIGKILL'), DIES_WITHIN_MS);
        begun = result.seen === null ? result : null;
        if (result.seen !== null) looked.push({ ...result, died: false });
      });
      child.once('error', reject);
      child.once('exit', () => {
        clearTimeout(hung);
        resolve();
      });
      child.send({ ...task, from, until: count });
    });
    if (begun !== null) looked.push({ ...(begun as FlipResult), died: true });
  }
  return looked;
}

/** A shard that a server has stopped, without space held back: what a backup of it holds. */
async function stopped(t: ExecutionContext) {
  const dir = tempDir(t);
  const data = path.join(dir, 'data');
  await stoppedServer(data);
  await goOn(data, 901, 10);
  await backUp(data, path.join(dir, 'copy'));
  const base = path.join(dir, 'copy', 'shard-0');
  const files = ['data.mdb', LOG].map((name) => {
    return { name, bytes: statSync(path.join(base, name)).size };
  });
  const shard = await openShard(path.join(data, 'shard-0'));
  const state = JSON.stringify(digest(shard.state));
  await shard.abandon();
  const work = path.join(dir, 'work');
  mkdirSync(work);
  return { base, files, work, state };
}

test.serial(`${SECTION} is found, or changes nothing; it is never served`, async (t) => {
  t.timeout(20 * 60_000);
  const { state, ...task } = await stopped(t);
  const places = recordPlaces(task.base);
  const looked = await flips(task, FLIPS);
  t.is(looked.length, FLIPS);
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
    t.is(seen.state, null, what);
    t.true(
      seen.verify.some((line) => line.includes(`00000000.log is damaged at byte ${at}:`)),
      what,
    );
  }
  t.log(counts);
});

/** Where the header and the records of a log begin. */
function recordPlaces(base: string): number[] {
  const reader = LogReader.open(path.join(base, 'log'), identityOf(0));
  const places = [0, ...Array.from(reader.records(0), ({ position }) => position)];
  reader.close();
  return places;
}
