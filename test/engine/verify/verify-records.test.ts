/** The rows of the records, compared by one verification after the other. */
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { rebuildRecords } from '../../../engine/records/projection/check.ts';
import { connected, recordsFile } from '../../../engine/records/store/database.ts';
import { type Keeping, verifyShard } from '../../../engine/verify/verify.ts';
import { verifyRecords } from '../../../engine/verify/verify-records.ts';
import { variantsOfRun } from '../../model/seeds.ts';
import { NOON_MS, placeOrder, quoteTick, uuidOf } from '../fixtures.ts';
import { tempDir } from '../shard/engine-process.ts';
import { openShard, rewriteLog, tradedShard } from '../shard/environment.ts';

const SECTION = 'D98, verify of the records';
/** Changed bytes of a file of kept rows. */
const [FLIPS] = variantsOfRun([3, 9]).slice(-1) as [number];

/** A directory whose records were made and verified once. */
async function verified(t: ExecutionContext) {
  const dataDir = tempDir(t);
  const shardDir = path.join(dataDir, 'shard-0');
  await tradedShard(shardDir);
  rebuildRecords(dataDir, 1);
  const directory = path.join(dataDir, 'verified');
  const shard = async (isWhole = false) => {
    const keeping: Keeping = { file: path.join(directory, 'shard-0'), isWhole };
    return (await verifyShard(shardDir, 0, 1, keeping))!;
  };
  const verify = async (isWhole = false) => {
    const { before, now } = (await shard(isWhole)).verified;
    return verifyRecords(dataDir, 1, { directory, isWhole, before: [before], now: [now] });
  };
  const first = await verify();
  t.deepEqual(first, { problems: [], notes: [], foldedBefore: 0 });
  return { dataDir, shardDir, directory, shard, verify };
}

async function tradeOn(shardDir: string): Promise<void> {
  const shard = await openShard(shardDir);
  const atMs = NOON_MS + 1000;
  shard.run([quoteTick({ atMs })]);
  for (let order = 0; order < 5; order++) {
    const account = uuidOf(40 + order);
    const [reply] = shard.run([placeOrder({ atMs, account, idempotencyKey: `later-${order}` })]);
    if (reply?.ok !== true) throw new Error('an order was refused');
  }
  await shard.close();
}

/** Changes a row as a wrong program would: its page has a valid tag. */
function spoil(dataDir: string, sql: string): void {
  const database = connected(recordsFile(path.join(dataDir, 'records')));
  const { changes } = database.prepare(sql).run();
  database.pragma('wal_checkpoint(TRUNCATE)');
  database.close();
  if (changes === 0) throw new Error(`no row was changed: ${sql}`);
}

test.serial(`${SECTION}: later facts alone are folded, and every row is compared`, async (t) => {
  const { dataDir, shardDir, shard, verify } = await verified(t);
  const { facts } = await shard();
  t.deepEqual(await verify(), { problems: [], notes: [], foldedBefore: facts });
  await tradeOn(shardDir);
  // The records are older than the log, as beside a server.
  t.deepEqual(await verify(), { problems: [], notes: [], foldedBefore: facts });
  rebuildRecords(dataDir, 1);
  t.deepEqual(await verify(), { problems: [], notes: [], foldedBefore: facts });
  const { facts: later } = await shard();
  t.true(later > facts);
  t.is((await verify()).foldedBefore, later);
  t.is((await verify(true)).foldedBefore, 0, 'a whole one begins at the first fact');
});

test.serial(`${SECTION}: a wrong row is found at any time`, async (t) => {
  const { dataDir, shardDir, verify } = await verified(t);
  await tradeOn(shardDir);
  rebuildRecords(dataDir, 1);
  t.deepEqual((await verify()).problems, []);
  const good = readFileSync(recordsFile(path.join(dataDir, 'records')));
  const changes = [
    ['an open trade', 'UPDATE open_chunks SET bytes = zeroblob(length(bytes))'],
    ['open trades that are gone', 'DELETE FROM open_chunks'],
    ['a trader', 'UPDATE traders SET worth_cents = worth_cents + 1'],
    [
      'a trader that is gone',
      'DELETE FROM traders WHERE trader = (SELECT max(trader) FROM traders)',
    ],
  ] as const;
  for (const [what, sql] of changes) {
    spoil(dataDir, sql);
    for (let times = 0; times < 2; times++) {
      t.regex(
        (await verify()).problems.join('\n'),
        /table (open_chunks|traders) differs from the facts/,
        what,
      );
    }
    writeFileSync(recordsFile(path.join(dataDir, 'records')), good);
    t.deepEqual((await verify()).problems, [], what);
  }
});

test.serial(`${SECTION}: kept rows that were changed or exchanged are not used`, async (t) => {
  const { dataDir, directory, shard, verify } = await verified(t);
  const { facts } = await shard();
  const kept = path.join(directory, 'records', 'records.db');
  const other = await verified(t);
  await tradeOn(other.shardDir);
  rebuildRecords(other.dataDir, 1);
  t.deepEqual((await other.verify()).problems, []);
  const note = path.join(directory, 'records.verified');
  const changes: [what: string, change: () => void][] = [];
  const size = readFileSync(kept).length;
  for (let at = 5; at < size; at += Math.ceil(size / FLIPS)) {
    changes.push([`byte ${at}`, () => flipByteOf(kept, at)]);
  }
  for (let at = 0; at < readFileSync(note).length; at += Math.ceil(81 / FLIPS)) {
    changes.push([`byte ${at} of the note`, () => flipByteOf(note, at)]);
  }
  changes.push(['the rows are gone', () => rmSync(kept)]);
  changes.push(['the note is gone', () => rmSync(note)]);
  changes.push([
    'rows of another',
    () => cpSync(path.join(other.directory, 'records'), path.dirname(kept), { recursive: true }),
  ]);
  changes.push([
    'rows and note of another',
    () => {
      cpSync(path.join(other.directory, 'records'), path.dirname(kept), { recursive: true });
      cpSync(path.join(other.directory, 'records.verified'), note);
    },
  ]);
  for (const [what, change] of changes) {
    change();
    const { problems, foldedBefore } = await verify();
    t.deepEqual([problems, foldedBefore], [[], 0], what);
    t.is((await verify()).foldedBefore, facts, `${what}: kept again`);
    change();
    spoil(dataDir, 'UPDATE traders SET worth_cents = worth_cents + 1');
    t.is((await verify()).problems.length, 1, `${what}, and a wrong row`);
    spoil(dataDir, 'UPDATE traders SET worth_cents = worth_cents - 1');
    t.deepEqual((await verify()).problems, []);
  }
});

function flipByteOf(file: string, at: number): void {
  const bytes = readFileSync(file);
  bytes[at]! ^= 0x10;
  writeFileSync(file, bytes);
}

test.serial(`${SECTION}: rows of a log that was replaced are not used`, async (t) => {
  const { dataDir, shardDir, shard, verify } = await verified(t);
  rewriteLog(shardDir, (records) => {
    const last = records.at(-1)!;
    last.facts = last.facts.map((fact) => ({ ...fact, atMs: fact.atMs + 1 }));
  });
  t.regex((await shard()).problems.join('\n'), /log: has other facts/);
  const { problems, foldedBefore } = await verify();
  t.is(foldedBefore, 0);
  t.deepEqual(problems, []);
  rebuildRecords(dataDir, 1);
  t.is((await verify(true)).foldedBefore, 0);
});

test.serial(`${SECTION}: without room for the rows they are compared all the same`, async (t) => {
  const { dataDir, directory, verify } = await verified(t);
  rmSync(path.join(directory, 'records'), { recursive: true });
  writeFileSync(path.join(directory, 'records'), 'a file where a directory should be');
  const { problems, notes, foldedBefore } = await verify();
  t.deepEqual([problems, foldedBefore], [[], 0]);
  t.regex(notes.join('\n'), /the rows cannot be kept: /);
  spoil(dataDir, 'UPDATE traders SET worth_cents = worth_cents + 1');
  t.is((await verify()).problems.length, 1);
  rmSync(path.join(directory, 'records'), { force: true });
  mkdirSync(path.join(directory, 'records'), { recursive: true });
  spoil(dataDir, 'UPDATE traders SET worth_cents = worth_cents - 1');
  t.deepEqual((await verify()).problems, []);
  t.true(existsSync(path.join(directory, 'records', 'records.db')));
});
