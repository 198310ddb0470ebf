import {
  closeSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import {
  LogDamage,
  type LogPosition,
  type LogRecord,
  positionOf,
  SEGMENT_HEADER_BYTES,
} from '../../../engine/log/log-format.ts';
import { LogReader, type PlacedRecord } from '../../../engine/log/log-reader.ts';
import { LogWriter } from '../../../engine/log/log-writer.ts';
import { shareOf, variantsOfRun } from '../../model/seeds.ts';
import { tempDir } from '../shard/engine-process.ts';
import {
  copyLog,
  fileOf,
  fill,
  flip,
  IDENTITY,
  nextRecord,
  OPTIONS,
  plain,
  randomOf,
  readAll,
} from './log-files.ts';

const SMALL = { ...OPTIONS, segmentBytes: 600 };
/** Every byte in a long run, one of some in a check of each change; no field is as short. */
const BYTES_APART = shareOf(100) < 100 ? 3 : 1;
/** Each look reads all: two of four segments are a quarter of the work. */
const [SEGMENTS] = variantsOfRun([2, 4]).slice(-1) as [number];

type Sample = { dir: string; records: PlacedRecord[]; last: number; end: number };

/** A log of several segments, the last with a few records. */
function sampleLog(t: ExecutionContext, segments = 4): Sample {
  const dir = path.join(tempDir(t), 'log');
  const log = LogWriter.open(dir, SMALL);
  const random = randomOf(11);
  while (log.tail < positionOf(segments - 1, 300)) fill(log, 1, random, 120);
  const last = Math.floor(log.tail / 2 ** 32);
  const end = log.tail % 2 ** 32;
  log.close();
  // Less to read for each of some thousand looks.
  truncateSync(fileOf(dir, last), end + 100);
  truncateSync(path.join(dir, 'reserve'), 100_000);
  const reader = LogReader.open(dir, IDENTITY);
  const records = [...reader.records(0)];
  reader.close();
  return { dir, records, last, end };
}

type Seen = { records: LogRecord[]; damage: LogDamage | null; problems: Error[] };

function look(dir: string): Seen {
  const reader = LogReader.open(dir, IDENTITY);
  const records: LogRecord[] = [];
  let damage: LogDamage | null = null;
  try {
    for (const record of reader.records(0)) records.push(record);
  } catch (error) {
    if (!(error instanceof LogDamage)) throw error;
    damage = error;
  }
  const problems = reader.problems();
  reader.close();
  return { records, damage, problems };
}

const isSame = (a: LogRecord, b: LogRecord) =>
  a.firstNumber === b.firstNumber &&
  a.count === b.count &&
  a.atMs === b.atMs &&
  Buffer.compare(a.payload, b.payload) === 0;

/** The records that are shown are those that were written, from the first on. */
const isPrefix = (records: readonly LogRecord[], written: readonly LogRecord[]) =>
  records.every((record, at) => isSame(record, written[at]!));

/** Changes one byte of a file while `look` looks. */
function whileFlipped(file: string, offset: number, mask: number, look: () => Seen): Seen {
  const fd = openSync(file, 'r+');
  const before = Buffer.alloc(1);
  readSync(fd, before, 0, 1, offset);
  try {
    writeSync(fd, Buffer.from([before[0]! ^ mask]), 0, 1, offset);
    return look();
  } finally {
    writeSync(fd, before, 0, 1, offset);
    closeSync(fd);
  }
}

test('D21: any changed byte is named with its file and record, or is of the last record', (t) => {
  const { dir, records, last, end } = sampleLog(t, SEGMENTS);
  const lastAt = records.at(-1)!.position % 2 ** 32;
  const random = randomOf(12);
  let named = 0;
  for (let segment = 0; segment <= last; segment++) {
    const file = fileOf(dir, segment);
    const bytes = segment === last ? end : statSync(file).size;
    for (let offset = 0; offset < bytes; offset += BYTES_APART) {
      const mask = 1 + Math.floor(random() * 255);
      const seen = whileFlipped(file, offset, mask, () => look(dir));
      const where = `byte ${offset} of segment ${segment} by ${mask}`;
      if (!isPrefix(seen.records, records)) t.fail(`${where}: other records`);
      if (segment === last && offset >= lastAt) {
        if (seen.records.length !== records.length - 1) t.fail(`${where}: not cut`);
        continue;
      }
      const { damage, problems } = seen;
      if (damage?.file !== path.basename(file)) t.fail(`${where}: ${damage?.message}`);
      if (problems.length !== 1) t.fail(`${where}: ${problems.length} problems`);
      const starts = [0, ...records.map(({ position }) => position - positionOf(segment, 0))];
      const begins = starts.filter((at) => at >= 0 && at <= offset).at(-1);
      if (damage!.offset !== begins) t.fail(`${where}: named at ${damage!.offset}`);
      if ((problems[0] as LogDamage).offset !== begins) t.fail(`${where}: ${problems[0]}`);
      named++;
    }
  }
  t.true(named > (last * 500) / BYTES_APART);
  t.deepEqual(look(dir).problems, []);
});

test('D21: a writer opens a log with any changed byte to what was written, or names it', (t) => {
  const { dir, records, last, end } = sampleLog(t);
  const lastAt = records.at(-1)!.position % 2 ** 32;
  const random = randomOf(13);
  for (let offset = 0; offset < end + 40; offset += 3 * BYTES_APART) {
    const copy = copyLog(dir, path.join(dir, `../copy-${offset}`));
    flip(fileOf(copy, last), offset, 1 + Math.floor(random() * 255));
    const open = () => LogWriter.open(copy, SMALL);
    if (offset < lastAt) {
      t.is(t.throws(open, { instanceOf: LogDamage }).file, path.basename(fileOf(copy, last)));
      continue;
    }
    const log = open();
    const kept = offset < end ? records.slice(0, -1) : records;
    t.is(log.nextNumber, kept.at(-1)!.firstNumber + kept.at(-1)!.count);
    const more = fill(log, 3, random, 120);
    log.close();
    t.deepEqual(readAll(copy), [...kept, ...more].map(plain));
  }
});

test('D21: a segment cut to any length is named, or ends with its last whole record', (t) => {
  const { dir, records, last, end } = sampleLog(t, SEGMENTS);
  const wrong: string[] = [];
  for (let segment = 0; segment <= last; segment++) {
    const bytes = segment === last ? end : statSync(fileOf(dir, segment)).size;
    const copy = copyLog(dir, path.join(dir, `../cut-${segment}`));
    for (let length = bytes - 1; length >= 0; length -= BYTES_APART) {
      truncateSync(fileOf(copy, segment), length);
      const seen = look(copy);
      const where = `${length} of ${bytes} bytes of segment ${segment}`;
      if (!isPrefix(seen.records, records)) wrong.push(`${where}: other records`);
      if (segment < last || length < 64) {
        if (seen.damage?.file !== path.basename(fileOf(copy, segment))) wrong.push(where);
        if (seen.problems.length === 0) wrong.push(`${where}: no problem`);
        continue;
      }
      const whole = records.filter((record) => {
        const recordEnd = record.position + 32 + record.payload.length;
        return recordEnd <= positionOf(segment, length);
      });
      if (seen.records.length !== whole.length || seen.damage !== null) wrong.push(where);
    }
  }
  t.deepEqual(wrong, []);
});

test('D21: a segment that is gone, or another in its place, is named', (t) => {
  const { dir } = sampleLog(t);
  const gone = copyLog(dir, path.join(dir, '../gone'));
  unlinkSync(fileOf(gone, 1));
  const missing = {
    instanceOf: LogDamage,
    message: '00000001.log is missing',
  };
  t.is(look(gone).damage?.message, missing.message);
  t.is(look(gone).problems[0]?.message, missing.message);
  t.throws(() => LogWriter.open(gone, SMALL), missing);

  const swapped = copyLog(dir, path.join(dir, '../swapped'));
  const bytes = readFileSync(fileOf(dir, 2));
  const fd = openSync(fileOf(swapped, 1), 'w');
  writeSync(fd, bytes);
  closeSync(fd);
  t.regex(look(swapped).damage!.message, /^00000001\.log .* its header is that of segment 2$/);
  t.throws(() => LogWriter.open(swapped, SMALL), { instanceOf: LogDamage });
});

test('D21: a record of another segment is none here, whatever its checksum', (t) => {
  const { dir, records } = sampleLog(t);
  const from = records.find(({ position }) => position > positionOf(1, 0))!;
  const bytes = readFileSync(fileOf(dir, 1)).subarray(64, 96 + from.payload.length);
  const fd = openSync(fileOf(dir, 3), 'r+');
  writeSync(fd, bytes, 0, bytes.length, 64);
  closeSync(fd);
  t.deepEqual([look(dir).damage?.file, look(dir).damage?.offset], ['00000003.log', 64]);
});

test('D21: what was never on disk is cut, also where a later record was; else it is damage', (t) => {
  const dir = path.join(tempDir(t), 'log');
  const options = { ...OPTIONS, durability: 'commit', segmentBytes: 2 ** 26 } as const;
  const log = LogWriter.open(dir, options);
  const random = randomOf(14);
  const places: number[] = [];
  const counts: number[] = [];
  const append = (payload: Buffer) => {
    places.push(log.tail);
    const record = { ...nextRecord(log.nextNumber, random), payload };
    log.append(record);
    counts.push(record.count);
  };
  for (let at = 0; at < 4; at++) append(Buffer.alloc(100, at));
  const unsafe = copyLog(dir, path.join(dir, '../unsafe'));
  flip(fileOf(unsafe, 0), places[1]! + 50, 1);
  const again = LogWriter.open(unsafe, options);
  t.is(again.tail, places[1]!);
  // As large as the bad one: what was after it must not become the next record.
  const other = { ...nextRecord(again.nextNumber, random), payload: Buffer.alloc(100, 9) };
  again.append({ ...other, count: counts[1]! });
  again.close();
  t.is(readAll(unsafe).length, 2);

  // The file's next step makes what was written durable.
  append(Buffer.alloc(2 ** 20));
  const safe = copyLog(dir, path.join(dir, '../safe'));
  flip(fileOf(safe, 0), places[1]! + 50, 1);
  const damage = t.throws(() => LogWriter.open(safe, options), { instanceOf: LogDamage });
  t.is(damage.offset, places[1]!);
  t.is(look(safe).damage?.offset, places[1]!);
  log.close();
});

test('D100: a reader that follows finds a lost record within a second, and returns none after it', (t) => {
  const dir = tempDir(t);
  const options = { ...OPTIONS, segmentBytes: 100_000 };
  const log = LogWriter.open(dir, options);
  t.teardown(() => log.close());
  const random = randomOf(7);
  let nowMs = 0;
  const reader = LogReader.open(dir, { ...IDENTITY, clock: () => nowMs });
  t.teardown(() => reader.close());
  fill(log, 3, random);
  t.is([...reader.records(0)].length, 3);
  const start = log.bytes;
  const after = log.nextNumber - 1;
  fill(log, 1, random);
  const end = log.bytes;
  fill(log, 1, random);
  const whole = readFileSync(fileOf(dir, 0));
  const file = openSync(fileOf(dir, 0), 'r+');
  t.teardown(() => closeSync(file));
  writeSync(file, Buffer.alloc(end - start), 0, end - start, start);
  nowMs = 999;
  t.deepEqual([...reader.records(after)], [], 'as at the end of a log');
  nowMs = 1000;
  t.throws(() => [...reader.records(after)], { instanceOf: LogDamage });
  writeSync(file, whole, start, end - start, start);
  t.is([...reader.records(after)].length, 2);
});

test('D21: bytes after the last record of a closed segment are named', (t) => {
  const { dir } = sampleLog(t);
  const { size } = statSync(fileOf(dir, 1));
  truncateSync(fileOf(dir, 1), size + 1);
  const { damage, problems } = look(dir);
  t.deepEqual([damage?.file, damage?.offset], ['00000001.log', size]);
  t.is((problems[0] as LogDamage).offset, size);
});

test('D16: a changed byte of the space held back is named', (t) => {
  const { dir } = sampleLog(t);
  flip(path.join(dir, 'reserve'), 70_000, 4);
  const reader = LogReader.open(dir, IDENTITY);
  const problem = reader.reserveProblem();
  t.deepEqual([problem?.file, problem?.offset], ['reserve', 70_000]);
  t.deepEqual(reader.problems(), [], 'no record is read from it');
  reader.close();
});

test('D106: each segment that a log must have and that is gone is named', (t) => {
  const { dir, last, end } = sampleLog(t, SEGMENTS);
  const missing = (reaches: LogPosition) => {
    const reader = LogReader.open(dir, IDENTITY);
    const lines = reader.problems(reaches).map(({ message }) => message);
    reader.close();
    return lines;
  };
  t.deepEqual(missing(positionOf(last, end)), []);
  t.deepEqual(missing(positionOf(last + 1, SEGMENT_HEADER_BYTES)), [], 'it is not begun yet');
  unlinkSync(fileOf(dir, last));
  t.deepEqual(missing(positionOf(last, SEGMENT_HEADER_BYTES)), []);
  const line = `${path.basename(fileOf(dir, last))} is missing`;
  t.deepEqual(missing(positionOf(last, end)), [line]);
  for (let segment = 0; segment < last; segment++) unlinkSync(fileOf(dir, segment));
  t.is(missing(positionOf(last, end)).length, last + 1);
  t.deepEqual(missing(positionOf(0, SEGMENT_HEADER_BYTES)), ['00000000.log is missing']);
});

test('D21: what a checkpoint covers is not cut off: it is damage', (t) => {
  const dir = path.join(tempDir(t), 'log');
  const log = LogWriter.open(dir, { ...OPTIONS, durability: 'commit' });
  const random = randomOf(8);
  fill(log, 3, random);
  const reaches = log.tail;
  fill(log, 1, random);
  log.close();
  const whole = readFileSync(fileOf(dir, 0));
  const last = readAll(dir).length;
  // After what it covers, a record that is not whole is cut off.
  truncateSync(fileOf(dir, 0), reaches + 5);
  LogWriter.open(dir, { ...OPTIONS, reaches }).close();
  t.is(readAll(dir).length, last - 1);
  const damaged = Buffer.from(whole.subarray(0, reaches));
  damaged[reaches - 1]! ^= 1;
  writeFileSync(fileOf(dir, 0), damaged);
  t.throws(() => LogWriter.open(dir, { ...OPTIONS, reaches }), {
    instanceOf: LogDamage,
    message: /^00000000\.log is damaged at byte \d+: it ends before an answered record$/,
  });
  t.true(readFileSync(fileOf(dir, 0)).equals(damaged));
  for (const name of readdirSync(dir)) rmSync(path.join(dir, name));
  t.throws(() => LogWriter.open(dir, { ...OPTIONS, reaches }), {
    message: '00000000.log is missing',
  });
  t.deepEqual(readdirSync(dir), []);
});
