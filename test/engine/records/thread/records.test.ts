/** The thread of the records: what it follows, what it asks for, and what damage leads to. */
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import Sqlite from 'better-sqlite3-multiple-ciphers';
import { recordsProblems } from '../../../../engine/records/projection/check.ts';
import {
  type Closing,
  Closings,
  closingsFile,
} from '../../../../engine/records/projection/closing-lines.ts';
import { connected, recordsFile } from '../../../../engine/records/store/database.ts';
import type { Profile } from '../../../../engine/records/store/profiles.ts';
import { Records, type RecordsOptions } from '../../../../engine/records/thread/records.ts';
import type { Fact } from '../../../../engine/rules/facts.ts';
import { Unavailable } from '../../../../engine/threads/unavailable.ts';
import { tempDir } from '../../shard/engine-process.ts';
import { append, openLog } from '../../shard/logged-facts.ts';
import { randomWorld, type World, writeLogs } from '../random-facts.ts';

const BOARD = { board: 'pnl', days: null, limit: 100, after: null } as const;

type Started = { records: Records; dataDir: string; world: World; logged: string[] };

/** The logs of a world, made once. */
let made: { world: World; dataDir: string } | null = null;
function makeWorld() {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'paperbook-world-'));
  const world = randomWorld(5, 300);
  writeLogs(dataDir, world, 1);
  return { world, dataDir };
}
test.after.always(() => {
  if (made !== null) rmSync(made.dataDir, { recursive: true });
});

function started(t: ExecutionContext, over: Partial<RecordsOptions> = {}, dataDir = tempDir(t)) {
  made ??= makeWorld();
  const { world } = made;
  if (!existsSync(path.join(dataDir, 'shard-0')))
    cpSync(made.dataDir, dataDir, { recursive: true });
  const logged: string[] = [];
  const everyone = world.accounts.map(({ id }) => ({ id, isPublic: true, showsEarlier: true }));
  const records = new Records({
    ...{ dataDir, directory: path.join(dataDir, 'records'), shards: 1 },
    nowMs: () => world.nowMs,
    log: {
      info() {},
      error: (fields, message) => logged.push(`${message} ${JSON.stringify(fields)}`),
    },
    everyone: async function* () {
      yield everyone;
    },
    closingOf: async (wanted) => ({ ...wanted, quote: null }),
    ...over,
  });
  t.teardown(() => records.close());
  return { records, dataDir, world, logged } satisfies Started;
}

/** Asks until it is answered. */
async function answered<T>(ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      await sleep(20);
    }
  }
}

const boardOf = ({ records, world }: Pick<Started, 'records' | 'world'>) =>
  answered(() => records.ask('server', 'leaderboard', { ...BOARD, nowMs: world.nowMs }));

test('Y1: records that are closed before they have read everything end without a fault', async (t) => {
  const { records, logged } = started(t);
  await records.close();
  t.deepEqual(logged, []);
  t.deepEqual(records.problems(), []);
});

test('D96: the thread starts when it may, or when it is asked', async (t) => {
  const { promise: never } = Promise.withResolvers<void>();
  const asked = started(t, { begins: never });
  const file = recordsFile(path.join(asked.dataDir, 'records'));
  const { promise: begins, resolve: begin } = Promise.withResolvers<void>();
  const later = started(t, { begins });
  await sleep(100);
  t.false(existsSync(file));
  t.true((await boardOf(asked)).rows.length > 3);
  begin();
  while (!existsSync(recordsFile(path.join(later.dataDir, 'records')))) await sleep(10);
  const { records } = started(t, { begins: never });
  await records.close();
  t.deepEqual(records.problems(), []);
});

test('Y1, Y7: what is on disk of an account is in the next answer about it', async (t) => {
  const { records, dataDir, world } = started(t);
  t.true((await boardOf({ records, world })).rows.length > 3);
  const account = world.accounts[0]!.id;
  const asked = { trader: account, showsEarlier: true, markets: [], bids: null };
  const before = await answered(() => records.ask('server', 'trader', asked));
  const log = openLog(dataDir, 0);
  for (let amount = 1; amount < 5; amount++) {
    const fact: Fact = {
      ...{ kind: 'cash_adjusted', atMs: world.nowMs, account },
      amountCents: 100,
    };
    append(log, [fact]);
    const now = await records.ask('server', 'trader', asked);
    t.is(now!.worthCents, before!.worthCents + 100 * amount);
  }
  log.close();
});

test('Y23: boards wait until it was said of everyone who is public, and follow changes', async (t) => {
  let everyoneIsKnown = () => {};
  const known = new Promise<void>((resolve) => {
    everyoneIsKnown = resolve;
  });
  const profiles: Profile[] = [];
  const over = {
    everyone: async function* () {
      await known;
      yield profiles;
    },
  };
  const { records, world } = started(t, over);
  const [first, second] = world.accounts;
  await answered(() => records.ask('server', 'open_markets', { trader: first!.id }));
  const asked = { trader: first!.id, showsEarlier: true, markets: [], bids: null };
  for (const tooEarly of [
    records.ask('server', 'leaderboard', { ...BOARD, nowMs: world.nowMs }),
    // A trader's page has a rank.
    records.ask('server', 'trader', asked),
  ]) {
    await t.throwsAsync(tooEarly, { instanceOf: Unavailable });
  }
  profiles.push({ id: first!.id, isPublic: true, showsEarlier: true });
  profiles.push({ id: second!.id, isPublic: true, showsEarlier: true });
  everyoneIsKnown();
  const both = await boardOf({ records, world });
  t.deepEqual(both.rows.map(({ trader }) => trader).sort(), [first!.id, second!.id].sort());
  records.changed({ id: first!.id, isPublic: false, showsEarlier: true });
  const one = await boardOf({ records, world });
  t.deepEqual(
    one.rows.map(({ trader }) => trader),
    [second!.id],
  );
});

test('Y6: each closing line is asked for until the history can say, and kept', async (t) => {
  const asked: string[] = [];
  let isReady = false;
  const closingOf = async ({ market, startsAtMs }: { market: number; startsAtMs: number }) => {
    asked.push(`${market} ${startsAtMs}`);
    const quote = { yesBidCents: 40, yesAskCents: 44, atMs: startsAtMs - 1 };
    const closing: Closing = { market, startsAtMs, quote };
    if (!isReady) {
      isReady = true;
      return null;
    }
    return closing;
  };
  const { records, dataDir, world } = started(t, { closingOf });
  const kept = () => {
    const file = closingsFile(dataDir);
    return asked.length > new Set(asked).size && existsSync(file);
  };
  await boardOf({ records, world });
  while (!kept()) await sleep(20);
  const closings = new Set(asked);
  for (const { id } of world.accounts) {
    const question = { trader: id, days: null, nowMs: world.nowMs, fees: [] };
    const scored = () => records.ask('server', 'scored', { ...question, seenBy: 'owner' });
    for (const pick of await answered(scored)) {
      if (pick.clvCents !== null) closings.add(`clv ${pick.tradeId}`);
    }
  }
  await records.close();
  t.true([...closings].some((name) => name.startsWith('clv')));
  // Another start asks for none of them, and a backup's copy has them.
  const again = started(t, { closingOf: async () => t.fail('it is known') as never }, dataDir);
  await boardOf(again);
  await sleep(50);
});

test('Y4, Y5: a file that is damaged, of another version or of other logs is named and made again', async (t) => {
  const first = started(t);
  const board = await boardOf(first);
  await first.records.close();
  const { dataDir } = first;
  const file = recordsFile(path.join(dataDir, 'records'));
  const whole = readFileSync(file);
  const breakings: [named: RegExp, breakIt: () => void][] = [
    [/is damaged/, () => writeFileSync(file, 'this is no database, but a text of some length')],
    [/is damaged|malformed/, () => writeFileSync(file, whole.fill(0x5a, 4096))],
    [/has version 99/, () => changeRecords(dataDir, 'PRAGMA user_version = 99')],
    [/is of an earlier version/, () => writeUnsealed(file)],
    [/no file of records/, () => truncateSync(file, 0)],
  ];
  for (const [named, breakIt] of breakings) {
    breakIt();
    const again = started(t, {}, dataDir);
    t.deepEqual((await boardOf(again)).rows, board.rows);
    await again.records.close();
    t.regex(again.logged.join('\n'), named);
    t.deepEqual(recordsProblems(dataDir, 1), []);
  }
  rmSync(path.join(dataDir, 'shard-0'), { recursive: true });
  writeLogs(dataDir, randomWorld(6, 30), 1);
  const other = started(t, {}, dataDir);
  await answered(() =>
    other.records.ask('server', 'open_markets', { trader: other.world.accounts[0]!.id }),
  );
  t.regex(other.logged.join('\n'), /ahead of the log|of another log/);
});

/** As nobody does: with seals that hold. */
function changeRecords(dataDir: string, sql: string): void {
  const database = connected(recordsFile(path.join(dataDir, 'records')));
  database.exec(sql);
  database.close();
}

/** As versions before the seals wrote it. */
function writeUnsealed(file: string): void {
  rmSync(file);
  const database = new Sqlite(file);
  database.exec('CREATE TABLE positions (shard INTEGER PRIMARY KEY)');
  database.close();
}

test('Y6: the files beside the closing lines stay small, however many lines come', (t) => {
  const dataDir = tempDir(t);
  const closings = new Closings(dataDir);
  t.teardown(() => closings.close());
  const quote = { yesBidCents: 40, yesAskCents: 42, atMs: 1 };
  for (let market = 0; market < 300; market++) closings.put({ market, startsAtMs: 77, quote });
  for (const file of [closingsFile(dataDir), path.join(dataDir, 'closings-copy.db')]) {
    const kb = statSync(`${file}-wal`).size / 1024;
    t.true(kb > 0 && kb < 300, `${file}: ${kb}`);
  }
});

test('Y8: rows that differ from the facts, and closing lines that changed, are problems', async (t) => {
  const { records, dataDir, world } = started(t);
  await boardOf({ records, world });
  await records.close();
  t.deepEqual(recordsProblems(dataDir, 1), []);
  const closings = new Closings(dataDir);
  const quote = { yesBidCents: 33, yesAskCents: 36, atMs: 5 };
  closings.put({ market: 99, startsAtMs: 77, quote });
  closings.close();
  const database = new Sqlite(closingsFile(dataDir));
  database.exec('UPDATE closings SET yes_bid = 34 WHERE market = 99');
  database.close();
  changeRecords(dataDir, 'UPDATE traders SET pnl_cents = pnl_cents + 1 WHERE trader = 1');
  const problems = recordsProblems(dataDir, 1).join('\n');
  t.regex(problems, /closings\.db is damaged: the closing line of market 99/);
  t.regex(problems, /table traders differs from the facts/);
});

test('Y3: what a catalog and a result say is taken from the first shard', (t) => {
  const world = randomWorld(7, 200);
  const [one, two] = [tempDir(t), tempDir(t)];
  writeLogs(one, world, 1);
  writeLogs(two, world, 3);
  t.deepEqual(recordsProblems(one, 1), []);
  t.deepEqual(recordsProblems(two, 3), []);
  t.false(existsSync(recordsFile(path.join(two, 'records'))));
});

test('Y82: what a running thread finds damaged is refused, made again, and said meanwhile and after', async (t) => {
  const first = started(t);
  const trader = first.world.accounts[2]!.id;
  const ask = ({ records }: Pick<Started, 'records'>) =>
    records.ask('server', 'picks', { trader, seesPrivate: true, limit: 100, after: null });
  const picks = await answered(() => ask(first));
  t.not(picks.picks!.length, 0);
  await first.records.close();
  const { dataDir } = first;
  const file = recordsFile(path.join(dataDir, 'records'));
  // So large that a start reads what it uses alone.
  changeRecords(
    dataDir,
    `CREATE TABLE filling (bytes BLOB) STRICT;
    INSERT INTO filling VALUES (zeroblob(${70 * 2 ** 20}));`,
  );
  const pages = pagesOf(dataDir, 'settled');
  const bytes = readFileSync(file);
  for (const page of pages) bytes[4096 * (page - 1) + 100]! ^= 1;
  writeFileSync(file, bytes);
  const again = started(t, {}, dataDir);
  const said = new Set<string>();
  const now = await answered(() => {
    for (const line of again.records.problems()) said.add(line);
    return ask(again);
  });
  t.deepEqual(now, picks);
  for (const line of again.records.problems()) said.add(line);
  t.regex(
    [...said].join('\n'),
    /records\.db is damaged: .*: it is being made again from the facts/,
  );
  t.regex(again.records.problems().join('\n'), /: it was made again from the facts$/);
  await again.records.close();
  t.deepEqual(recordsProblems(dataDir, 1), []);
});

/** The numbers of the pages of an index. */
function pagesOf(dataDir: string, index: string): number[] {
  const database = connected(recordsFile(path.join(dataDir, 'records')));
  const pages = database.prepare('SELECT pageno FROM dbstat WHERE name = ?').pluck().all(index);
  database.close();
  return pages as number[];
}
