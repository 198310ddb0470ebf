/** Bits of the files of the records that are not what was written, at rest and under an open file. */
import { createHash } from 'node:crypto';
import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import Sqlite from 'better-sqlite3-multiple-ciphers';
import { recordsProblems } from '../../../../engine/records/projection/check.ts';
import { Closings, closingsFile, rowsOf } from '../../../../engine/records/projection/closings.ts';
import type { ScoredTrade } from '../../../../engine/records/projection/settled.ts';
import {
  connected,
  isDamage,
  recordsFile,
  removeRecords,
} from '../../../../engine/records/store/database.ts';
import { writeAheadDamage } from '../../../../engine/records/store/write-ahead.ts';
import { shareOf } from '../../../model/seeds.ts';
import { randomOf } from '../../log/log-files.ts';
import { tempDir } from '../../shard/engine-process.ts';
import { randomWorld, type World, writeLogs } from '../random-facts.ts';
import { type OpenRecords, openRecordsOf, readAll } from '../support.ts';

const WORLD = randomWorld(5, 400);
const FLIPS = {
  closed: shareOf(60),
  killed: shareOf(30),
  open: shareOf(30),
  closings: shareOf(40),
};

/** So many that they take pages. */
const LINES = 200;

/** Everything that is asked of records, of everyone. */
function answersOf({ reader }: OpenRecords, { accounts, nowMs }: World): string {
  const whole = { days: null, nowMs, fees: [] };
  const page = { ...whole, limit: 100, after: null };
  const boards = [
    reader.answer('leaderboard', { ...page, board: 'pnl' }).rows,
    reader.answer('leaderboard', { ...page, board: 'roi', days: 7 }).rows,
    ...(['brier', 'clv'] as const).map((metric) => reader.answer('eval', { ...page, metric }).rows),
  ];
  const own = accounts.map(({ id: trader }) => [
    reader.answer('picks', { trader, seesPrivate: true, limit: 100, after: null }),
    reader.answer('scored', { ...whole, trader, seenBy: 'owner' }),
    reader.answer('open_markets', { trader }),
    reader.answer('trader', { trader, showsEarlier: true, markets: [], bids: null }),
  ]);
  const scores = own.flatMap(([, scored]) => scored as ScoredTrade[]);
  const text = createHash('sha256')
    .update(JSON.stringify([boards, own]))
    .digest('hex');
  return `${scores.filter(({ clvCents }) => clvCents !== null).length} with a line, ${text}`;
}

/** As a server does it: what it finds damaged while it answers, it takes away and opens again. */
function served(dataDir: string): { answers: string; found: string | null; problems: string[] } {
  for (let found: string | null = null; ; ) {
    const records = openRecordsOf(dataDir, 1, () => 0);
    found ??= records.model.remade?.why ?? null;
    const problems = [...records.closings.problems];
    try {
      for (const { id } of WORLD.accounts) {
        records.profiles.set({ id, isPublic: true, showsEarlier: true });
      }
      readAll(records);
      return { answers: answersOf(records, WORLD), found, problems };
    } catch (error) {
      if (!isDamage(error)) throw error;
      found = (error as Error).message;
      removeRecords(path.join(dataDir, 'records'));
    } finally {
      records.close();
    }
  }
}

/** A directory whose records were read to the end, with closing lines; `saved`: as it was left. */
function prepared(t: ExecutionContext) {
  const dataDir = path.join(tempDir(t), 'data');
  const saved = path.join(tempDir(t), 'saved');
  writeLogs(dataDir, WORLD, 1);
  served(dataDir);
  const records = openRecordsOf(dataDir, 1);
  const wanted = records.instruments.wanted(WORLD.nowMs);
  const others = Array.from({ length: LINES - wanted.length }, (_, at) => {
    return { market: 31 + (at % 30), startsAtMs: at };
  });
  for (const { market, startsAtMs } of [...wanted, ...others]) {
    const quote = { yesBidCents: 30 + market, yesAskCents: 33 + market, atMs: startsAtMs - 1 };
    records.closings.put({ market, startsAtMs, quote });
  }
  records.close();
  const { answers } = served(dataDir);
  t.regex(answers, /^[1-9]/);
  cpSync(dataDir, saved, { recursive: true });
  const restore = () => {
    rmSync(dataDir, { recursive: true });
    cpSync(saved, dataDir, { recursive: true });
  };
  return { dataDir, answers, restore };
}

/** Flips one bit of a file. */
function flipIn(file: string, random: () => number): string {
  const bytes = readFileSync(file);
  const offset = Math.floor(random() * bytes.length);
  const bit = Math.floor(random() * 8);
  bytes[offset]! ^= 1 << bit;
  writeFileSync(file, bytes, { flag: 'r+' });
  return `byte ${offset}, bit ${bit} of ${path.basename(file)}`;
}

/** Bytes of the file's own header that SQLite reads past: the bytes of the salt, and two more. */
const UNREAD = 24;

test('Y82: a flipped bit of records.db is found when its page is read, and it is made again', (t) => {
  t.timeout(20 * 60_000);
  const { dataDir, answers, restore } = prepared(t);
  const file = recordsFile(path.join(dataDir, 'records'));
  for (let seed = 0; seed < FLIPS.closed; seed++) {
    const what = flipIn(file, randomOf(seed));
    const isFound = recordsProblems(dataDir, 1).length > 0;
    t.true(isFound || Number(/byte (\d+)/.exec(what)![1]) < UNREAD, `verify passes: ${what}`);
    const now = served(dataDir);
    t.is(now.found !== null, isFound, what);
    t.is(now.answers, answers, what);
    t.deepEqual(recordsProblems(dataDir, 1), [], what);
    restore();
  }
});

test('Y82: a bit that flips under an open file is found when its page is read', (t) => {
  t.timeout(20 * 60_000);
  const { dataDir, answers, restore } = prepared(t);
  const file = recordsFile(path.join(dataDir, 'records'));
  let found = 0;
  for (let seed = 0; seed < FLIPS.open; seed++) {
    const records = openRecordsOf(dataDir, 1, () => 0);
    readAll(records);
    for (const { id } of WORLD.accounts) {
      records.profiles.set({ id, isPublic: true, showsEarlier: true });
    }
    // What SQLite has in memory, it does not read.
    records.model.database.pragma('shrink_memory');
    t.is(answersOf(records, WORLD), answers);
    const what = flipIn(file, randomOf(1000 + seed));
    records.model.database.pragma('shrink_memory');
    try {
      t.is(answersOf(records, WORLD), answers, what);
    } catch (error) {
      t.true(isDamage(error), `${what}: ${(error as Error).stack}`);
      found++;
    } finally {
      records.close();
    }
    restore();
  }
  t.log({ found, of: FLIPS.open });
  t.true(found > FLIPS.open / 4);
});

test('Y83: a flipped bit of what a crash left beside records.db leads to no other answer', (t) => {
  t.timeout(20 * 60_000);
  const { dataDir, answers } = prepared(t);
  const directory = path.join(dataDir, 'records');
  removeRecords(directory);
  const killed = path.join(tempDir(t), 'killed');
  const records = openRecordsOf(dataDir, 1);
  readAll(records);
  cpSync(dataDir, killed, { recursive: true });
  records.close();
  const ahead = `${recordsFile(directory)}-wal`;
  let found = 0;
  for (let seed = 0; seed < FLIPS.killed; seed++) {
    rmSync(dataDir, { recursive: true });
    cpSync(killed, dataDir, { recursive: true });
    const what = flipIn(ahead, randomOf(seed));
    const now = served(dataDir);
    if (now.found !== null) found++;
    t.is(now.answers, answers, what);
  }
  t.log({ found, of: FLIPS.killed });
  t.true(found > FLIPS.killed / 2);
});

test('Y83: a write torn anywhere, even in the header, leads to no other answer', (t) => {
  const { dataDir, answers } = prepared(t);
  const directory = path.join(dataDir, 'records');
  const ahead = `${recordsFile(directory)}-wal`;
  removeRecords(directory);
  const killed = path.join(tempDir(t), 'killed');
  const records = openRecordsOf(dataDir, 1);
  readAll(records);
  cpSync(dataDir, killed, { recursive: true });
  records.close();
  const { size } = statSync(path.join(killed, 'records', path.basename(ahead)));
  for (const bytes of [0, 7, 32, 40, 2000, 32 + 4120, size - 4120, size - 1]) {
    rmSync(dataDir, { recursive: true });
    cpSync(killed, dataDir, { recursive: true });
    truncateSync(ahead, bytes);
    const now = served(dataDir);
    t.is(now.answers, answers, String(bytes));
  }
});

test('Y83: where pages were copied, what they were copied from has to be whole', (t) => {
  const { dataDir, answers } = prepared(t);
  const directory = path.join(dataDir, 'records');
  const file = recordsFile(directory);
  removeRecords(directory);
  // Another process reads: the copying cannot end, and its note stays.
  const records = openRecordsOf(dataDir, 1);
  const other = connected(file);
  other.exec('BEGIN');
  other.prepare('SELECT * FROM positions').all();
  readAll(records);
  const crashed = path.join(tempDir(t), 'crashed');
  records.model.copy();
  cpSync(dataDir, crashed, { recursive: true });
  other.exec('ROLLBACK');
  other.close();
  records.close();
  const again = () => {
    rmSync(dataDir, { recursive: true });
    cpSync(crashed, dataDir, { recursive: true });
  };
  again();
  t.is(writeAheadDamage(file), null);
  t.is(served(dataDir).answers, answers);
  again();
  t.true(readdirSync(directory).includes('records.db-copying'));
  // The last frame ends the last transaction: without it, it looks like a torn write.
  const ahead = readFileSync(`${file}-wal`);
  ahead[ahead.length - 1]! ^= 1;
  writeFileSync(`${file}-wal`, ahead);
  t.regex(writeAheadDamage(file)!, /is not the file of the last copying/);
  t.regex(recordsProblems(dataDir, 1).join(), /is not the file of the last copying/);
  const now = served(dataDir);
  t.is(now.answers, answers);
  t.regex(now.found!, /is not the file of the last copying/);
});

test('Y82, Y83: a disk without room leaves nothing that a start takes for damage', (t) => {
  const { dataDir, answers } = prepared(t);
  const directory = path.join(dataDir, 'records');
  const file = recordsFile(directory);
  removeRecords(directory);
  // A start that had no room for all tables.
  writeFileSync(`${file}.new`, readFileSync(closingsFile(dataDir)).subarray(0, 5000));
  const records = openRecordsOf(dataDir, 1);
  t.is(records.model.remade, null);
  readAll(records);
  symlinkSync('/dev/full', `${file}-copying.new`);
  t.throws(() => records.model.copy(), { code: 'ENOSPC' });
  t.is(writeAheadDamage(file), null);
  t.false(readdirSync(directory).includes('records.db-copying'));
  rmSync(`${file}-copying.new`);
  records.model.copy();
  t.false(readdirSync(directory).includes('records.db-copying'));
  records.close();
  const now = served(dataDir);
  t.is(now.answers, answers);
  t.is(now.found, null);
});

test('Y82, Y84: a file that the machine does not open is not taken for damaged', (t) => {
  const { dataDir, answers, restore } = prepared(t);
  const directory = path.join(dataDir, 'records');
  for (const file of [recordsFile(directory), closingsFile(dataDir)]) {
    const bytes = readFileSync(file);
    rmSync(`${file}-wal`, { force: true });
    mkdirSync(`${file}-wal`);
    const error = t.throws<Error & { code?: string }>(() => served(dataDir));
    t.regex(error?.code ?? '', /^(EISDIR|SQLITE_CANTOPEN.*)$/);
    t.false(readdirSync(directory).some((each) => each.includes('.damaged-')));
    t.true(readFileSync(file).equals(bytes));
    restore();
  }
  t.is(served(dataDir).answers, answers);
});

test('Y84: of closing lines nothing is lost by a flipped bit, and the damaged file is kept', (t) => {
  t.timeout(20 * 60_000);
  const { dataDir, answers, restore } = prepared(t);
  const files = [closingsFile(dataDir), path.join(dataDir, 'closings-copy.db')];
  let found = 0;
  for (let seed = 0; seed < FLIPS.closings; seed++) {
    const file = files[seed % 2]!;
    const what = flipIn(file, randomOf(seed));
    const damaged = readFileSync(file);
    const isFound = recordsProblems(dataDir, 1).length > 0;
    const now = served(dataDir);
    t.is(now.answers, answers, what);
    t.is(now.problems.length > 0, isFound, what);
    for (const each of files) t.is([...rowsOf(each)].length, LINES, what);
    if (isFound) {
      found++;
      const kept = `${file}.damaged-1`;
      t.true(readFileSync(kept).equals(damaged), what);
      t.regex(now.problems.join('\n'), /nothing is lost/);
      // Until somebody has looked at it.
      t.regex(recordsProblems(dataDir, 1).join('\n'), /damaged-1 was set aside as damaged/);
      t.regex(served(dataDir).problems.join('\n'), /damaged-1 was set aside as damaged/);
    }
    restore();
  }
  t.log({ found, of: FLIPS.closings });
  t.true(found > FLIPS.closings / 4);
});

test('Y84: closing lines that are gone with records/ come back from their copy', (t) => {
  const { dataDir, answers } = prepared(t);
  rmSync(path.join(dataDir, 'records'), { recursive: true });
  t.regex(recordsProblems(dataDir, 1).join('\n'), /records\/closings\.db is missing/);
  const now = served(dataDir);
  t.is(now.answers, answers);
  t.regex(now.problems.join('\n'), /closings\.db was missing: it was made again from/);
  t.deepEqual(recordsProblems(dataDir, 1), []);
});

test('Y84: where both files are damaged, what is whole of each counts, and the loss is said', (t) => {
  const { dataDir } = prepared(t);
  const files = [closingsFile(dataDir), path.join(dataDir, 'closings-copy.db')];
  const before = [...rowsOf(files[0]!)];
  for (const [at, file] of files.entries()) {
    const { market } = before[at]!;
    const database = new Sqlite(file);
    database.exec(`UPDATE closings SET yes_bid = yes_bid + 1 WHERE market = ${market}`);
    database.close();
  }
  const closings = new Closings(dataDir);
  t.regex(closings.problems.join('\n'), /are read from the history/);
  closings.close();
  for (const file of files) t.deepEqual([...rowsOf(file)], before);
  t.is(statSync(files[1]!).mode & 0o077, 0);
});
