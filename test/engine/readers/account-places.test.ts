/** Which records of a log have facts of an account, and what a first trail reads. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import type { Uuid } from '../../../engine/base/units.ts';
import { ByteWriter } from '../../../engine/format/bytes.ts';
import { writeFact } from '../../../engine/format/fact-layouts.ts';
import { positionOf } from '../../../engine/log/log-format.ts';
import { LogReader } from '../../../engine/log/log-reader.ts';
import { LogWriter } from '../../../engine/log/log-writer.ts';
import { AccountLog } from '../../../engine/readers/account-log.ts';
import { AccountPlaces } from '../../../engine/readers/account-places.ts';
import { type EventAnswer, EventReader } from '../../../engine/readers/event-reader.ts';
import { identityOf } from '../../../engine/shard/store/data-format.ts';
import { logIn } from '../../../engine/shard/store/shard-log.ts';
import { NOON_MS, uuidOf } from '../fixtures.ts';
import { tempDir } from '../shard/engine-process.ts';

const SEGMENT_BYTES = 9000;

/** Each account makes a group of orders in each of its records: one entry of its trail. */
class GroupLog {
  readonly dataDir: string;
  readonly #log: LogWriter;
  #groups = 0;
  /** The numbers of the facts of each account. */
  readonly numbers = new Map<Uuid, number[]>();

  constructor(t: ExecutionContext, segmentBytes = SEGMENT_BYTES) {
    this.dataDir = tempDir(t);
    const options = { ...identityOf(0), durability: 'commit', segmentBytes } as const;
    this.#log = LogWriter.open(logIn(path.join(this.dataDir, 'shard-0')), options);
    t.teardown(() => this.#log.close());
  }

  get lastNumber(): number {
    return this.#log.nextNumber - 1;
  }

  /** A record with a fact of each of them. */
  add(...accounts: Uuid[]): void {
    const bytes = new ByteWriter();
    const firstNumber = this.#log.nextNumber;
    for (const [at, account] of accounts.entries()) {
      const of = { atMs: NOON_MS, account, group: uuidOf(1_000_000 + ++this.#groups) };
      const limits = { contractsLimit: 5, windowSeconds: 15 };
      writeFact(bytes, { kind: 'order_group_made', ...of, ...limits });
      const numbers = this.numbers.get(account) ?? [];
      this.numbers.set(account, [...numbers, firstNumber + at]);
    }
    const payload = Buffer.from(bytes.view(0, bytes.length));
    this.#log.append({ firstNumber, count: accounts.length, atMs: NOON_MS, payload });
  }
}

/** So many accounts, in an order that a seed gives. */
function fill(log: GroupLog, records: number, accounts: number): void {
  let state = 7;
  const next = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return uuidOf(1 + Math.floor((state / 2 ** 32) * accounts));
  };
  for (let at = 0; at < records; at++) {
    const some = Array.from({ length: 1 + (at % 3) }, next);
    // Of one account facts may follow each other.
    log.add(...some, ...(at % 5 === 0 ? [some.at(-1)!] : []));
  }
}

/** Takes all that is in the log. */
function placesOf(log: GroupLog, reader: AccountLog): AccountPlaces {
  const places = new AccountPlaces({ dataDir: log.dataDir, shard: 0 }, reader);
  for (const record of reader.recordsAfter(places.covered)) places.take(record);
  return places;
}

/** The numbers of the facts of the records that the places lead to. */
function numbersBy(places: AccountPlaces, reader: AccountLog, account: Uuid): number[] {
  return places.of(account).map((position) => reader.recordAt(position).firstNumber);
}

/** The first numbers of the records with a fact of the account, by reading all of them. */
function searched(reader: AccountLog, account: Uuid): number[] {
  const id = Buffer.from(account.replaceAll('-', ''), 'hex');
  const found: number[] = [];
  for (const { payload, firstNumber } of reader.allRecords()) {
    if (Buffer.from(payload).includes(id)) found.push(firstNumber);
  }
  return found;
}

function opened(t: ExecutionContext, log: GroupLog): AccountLog {
  const reader = new AccountLog({ dataDir: log.dataDir, shard: 0 });
  t.teardown(() => reader.close());
  return reader;
}

const filesOf = ({ dataDir }: GroupLog) => {
  const directory = path.join(dataDir, 'shard-0', 'accounts');
  return readdirSync(directory)
    .sort()
    .map((name) => path.join(directory, name));
};

test('A229: places lead to the records of an account and to no other, in files and in memory', (t) => {
  const log = new GroupLog(t);
  fill(log, 300, 40);
  const reader = opened(t, log);
  const places = placesOf(log, reader);
  t.true(filesOf(log).length > 2);
  t.is(places.covered, log.lastNumber);
  for (let each = 1; each <= 41; each++) {
    const account = uuidOf(each);
    t.deepEqual(numbersBy(places, reader, account), searched(reader, account), `${each}`);
  }
});

test('A229: files are used again, and made again if they are missing, damaged or of another log', (t) => {
  const log = new GroupLog(t);
  fill(log, 300, 40);
  const reader = opened(t, log);
  placesOf(log, reader);
  const files = filesOf(log);
  const bytes = files.map((file) => readFileSync(file));
  const again = new AccountPlaces({ dataDir: log.dataDir, shard: 0 }, reader);
  t.is(again.covered, reader.closedSegment(files.length - 1)!.nextNumber - 1);
  const isMadeAgain = (what: string) => {
    const places = placesOf(log, reader);
    t.deepEqual(numbersBy(places, reader, uuidOf(3)), searched(reader, uuidOf(3)), what);
    t.deepEqual(
      filesOf(log).map((file) => readFileSync(file)),
      bytes,
      what,
    );
  };
  rmSync(files[1]!);
  isMadeAgain('missing');
  writeFileSync(files[0]!, bytes[0]!.subarray(0, 20));
  isMadeAgain('cut');
  const older = Buffer.from(bytes[2]!);
  older.writeUInt32LE(0, 12);
  writeFileSync(files[2]!, older);
  isMadeAgain('another version');
  writeFileSync(files[1]!, bytes[0]!);
  isMadeAgain('of another segment');
});

test('A229: a damaged bucket leads to no wrong record: its file is made again', (t) => {
  const log = new GroupLog(t);
  fill(log, 300, 40);
  const reader = opened(t, log);
  placesOf(log, reader);
  const [file] = filesOf(log);
  const whole = readFileSync(file!);
  for (let at = 44; at < whole.length; at += 31) {
    const bytes = Buffer.from(whole);
    bytes[at]! ^= 0x10;
    writeFileSync(file!, bytes);
    const places = new AccountPlaces({ dataDir: log.dataDir, shard: 0 }, reader);
    const account = uuidOf(1 + (at % 40));
    const all = searched(reader, account);
    const found = numbersBy(places, reader, account).filter((number) => number <= places.covered);
    t.deepEqual(found, all.slice(0, found.length), `byte ${at}`);
    t.is(found.length, all.filter((number) => number <= places.covered).length, `byte ${at}`);
    for (const record of reader.recordsAfter(places.covered)) places.take(record);
    t.deepEqual(numbersBy(places, reader, account), all, `byte ${at}`);
  }
});

test('A229: the bytes of a file are those of its version', (t) => {
  const dataDir = tempDir(t);
  const closed = { bytes: 900, seed: 0xfeedbeef, nextSeed: 0xbeeffeed, nextNumber: 4 };
  const log = { closedSegment: (segment: number) => (segment === 0 ? closed : null) };
  const places = new AccountPlaces({ dataDir, shard: 0 }, log);
  const record = (segment: number, firstNumber: number, accounts: number[]) => {
    const bytes = new ByteWriter();
    for (const each of accounts) {
      writeFact(bytes, { kind: 'account_opened', atMs: NOON_MS, account: uuidOf(each) });
    }
    const payload = Buffer.from(bytes.view(0, bytes.length));
    const position = positionOf(segment, 64 + 100 * firstNumber);
    const of = { firstNumber, count: accounts.length, atMs: NOON_MS, isLandmark: false };
    places.take({ ...of, payload, position });
  };
  record(0, 1, [1, 2]);
  record(0, 3, [1]);
  record(1, 4, [3]);
  const bytes = readFileSync(path.join(dataDir, 'shard-0', 'accounts', '00000000.accounts'));
  t.is(bytes.length, 44 + 16 + 3 * 20);
  t.is(createHash('sha256').update(bytes).digest('hex'), PINNED);
});

const PINNED = 'd7a3297bc05da6b64e3c560b467253d694b684791816105bf7d14ff36aa7a707';

/** The records that a reader of this log has got, by place and by number. */
function countReads(t: ExecutionContext) {
  const { record, records } = LogReader.prototype;
  t.teardown(() => Object.assign(LogReader.prototype, { record, records }));
  const reads = { byPlace: 0, inTurn: 0 };
  LogReader.prototype.record = function (at) {
    reads.byPlace++;
    return record.call(this, at);
  };
  LogReader.prototype.records = function* (...from) {
    for (const one of records.apply(this, from)) {
      reads.inTurn++;
      yield one;
    }
  };
  return reads;
}

test.serial('A225, A229: a first trail reads the records of its account alone', async (t) => {
  const log = new GroupLog(t);
  const [own, nobody, late] = [uuidOf(500), uuidOf(501), uuidOf(502)];
  log.add(own);
  fill(log, 400, 40);
  log.add(own);
  fill(log, 100, 40);
  const answers: EventAnswer[] = [];
  const reader = new EventReader(log.dataDir, (answer) => answers.push(answer));
  const reads = countReads(t);
  let id = 0;
  const trail = async (account: Uuid) => {
    const asked = ++id;
    Object.assign(reads, { byPlace: 0, inTurn: 0 });
    reader.take({
      ...{ kind: 'trail', shard: 0, id: asked },
      account,
      sinceMs: 0,
      from: log.lastNumber,
    });
    const isThere = () => answers.some((one) => one.kind === 'trailed' && one.id === asked);
    for (let waited = 0; !isThere() && waited < 60_000; waited += 5) await sleep(5);
    const found = answers.flatMap((one) => {
      return one.kind === 'trail_news' && one.account === account ? one.entries : [];
    });
    return { numbers: found.map(({ number }) => number), ...reads };
  };
  t.teardown(() => {
    for (const account of [own, nobody, late]) reader.take({ kind: 'untrail', shard: 0, account });
  });
  reader.take({ kind: 'index', shard: 0 });
  for (let waited = 0; waited < 60_000; waited += 20) {
    const { inTurn } = await trail(nobody);
    reader.take({ kind: 'untrail', shard: 0, account: nobody });
    if (inTurn === 0) break;
    await sleep(20);
  }
  t.deepEqual(await trail(own), { numbers: log.numbers.get(own)!, byPlace: 2, inTurn: 0 });
  log.add(late, own);
  t.deepEqual((await trail(late)).numbers, log.numbers.get(late)!);
});
