import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'ava';
import { InvariantError } from '../../../engine/base/invariant.ts';
import {
  LogMismatch,
  offsetOf,
  RECORD_HEADER_BYTES,
  SEGMENT_HEADER_BYTES,
  segmentOf,
} from '../../../engine/log/log-format.ts';
import { LogReader } from '../../../engine/log/log-reader.ts';
import { LogWriter } from '../../../engine/log/log-writer.ts';
import { tempDir } from '../shard/engine-process.ts';
import {
  fileOf,
  fill,
  IDENTITY,
  nextRecord,
  OPTIONS,
  plain,
  randomOf,
  readAll,
} from './log-files.ts';
import { callsOf } from './traced-files.ts';

const logIn = (dir: string) => path.join(dir, 'shard-0', 'log');

test('D19: records come back as they were written, over segments and starts', (t) => {
  const dir = logIn(tempDir(t));
  const random = randomOf(1);
  const written = [];
  for (let start = 0; start < 5; start++) {
    const log = LogWriter.open(dir, OPTIONS);
    t.is(
      log.nextNumber,
      written.reduce((sum, { count }) => sum + count, 1),
    );
    written.push(...fill(log, 20, random));
    log.close();
  }
  t.true(existsSync(fileOf(dir, 5)));
  t.deepEqual(readAll(dir), written.map(plain));
});

for (const bytes of [2 ** 18, 2 ** 20 + 1, 5_000_000]) {
  test(`D19: a record of ${bytes} bytes, more than is read at once, comes back among small ones`, (t) => {
    const dir = logIn(tempDir(t));
    const small = (firstNumber: number) => {
      return { firstNumber, count: 1, atMs: 5, payload: Buffer.alloc(firstNumber * 10, 3) };
    };
    const written = [small(1), { ...small(2), payload: Buffer.alloc(bytes, 7) }, small(3)];
    for (const record of written) {
      const log = LogWriter.open(dir, OPTIONS);
      log.append(record);
      log.close();
    }
    t.deepEqual(readAll(dir), written.map(plain));
  });
}

test('O18: the size of a log is the size of all its records, over segments and starts', (t) => {
  const dir = logIn(tempDir(t));
  const random = randomOf(4);
  let recordBytes = 0;
  const segments = () => readdirSync(dir).filter((name) => name.endsWith('.log')).length;
  for (let start = 0; start < 3; start++) {
    const log = LogWriter.open(dir, OPTIONS);
    for (let at = 0; at < 20; at++) {
      const { payload } = fill(log, 1, random)[0]!;
      recordBytes += RECORD_HEADER_BYTES + payload.length;
      t.is(log.bytes, recordBytes + segments() * SEGMENT_HEADER_BYTES);
    }
    log.close();
  }
  t.true(segments() > 3);
});

test('D19: the place of the next record is known before its size', (t) => {
  const dir = logIn(tempDir(t));
  const log = LogWriter.open(dir, OPTIONS);
  const reader = LogReader.open(dir, IDENTITY);
  const random = randomOf(2);
  const segments = new Set<number>();
  for (let at = 0; at < 60; at++) {
    const { tail } = log;
    const record = nextRecord(log.nextNumber, random, at % 20 === 0 ? 5000 : 200);
    log.append(record);
    log.sync();
    segments.add(segmentOf(tail));
    t.deepEqual(plain(reader.record(tail)), plain(record));
  }
  t.true(segments.size > 4);
  const { tail } = log;
  log.close();
  reader.close();
  const again = LogWriter.open(dir, OPTIONS);
  t.is(again.tail, tail);
  again.close();
});

test('D19: a closed segment ends with its last record, and never changes', (t) => {
  const dir = logIn(tempDir(t));
  const log = LogWriter.open(dir, OPTIONS);
  const random = randomOf(3);
  const seen = new Map<string, number>();
  for (let at = 0; at < 30; at++) {
    fill(log, 2, random);
    for (let segment = 0; segment < segmentOf(log.tail); segment++) {
      const file = fileOf(dir, segment);
      const { size, mtimeMs } = statSync(file);
      if (!existsSync(fileOf(dir, segment + 1))) continue;
      t.true(size >= 2000 && size < 2500);
      t.is(seen.get(file) ?? mtimeMs, mtimeMs);
      seen.set(file, mtimeMs);
    }
  }
  t.true(seen.size > 3);
  log.close();
});

test('D19: an append does not change the size of its file', (t) => {
  const dir = logIn(tempDir(t));
  const log = LogWriter.open(dir, { ...OPTIONS, segmentBytes: 2 ** 26 });
  const random = randomOf(4);
  fill(log, 1, random);
  const { size, blocks } = statSync(fileOf(dir, 0));
  fill(log, 50, random);
  t.is(statSync(fileOf(dir, 0)).size, size);
  t.true(offsetOf(log.tail) < size && size <= 2 ** 20 + 64 && blocks * 512 < size);
  log.close();
});

test.serial('D1: a batch is one write and one sync, and with commit no sync', (t) => {
  for (const [durability, calls] of [
    ['sync', ['write 00000000.log', 'fdatasync 00000000.log']],
    ['commit', ['write 00000000.log']],
  ] as const) {
    const log = LogWriter.open(tempDir(t), { ...OPTIONS, durability });
    const random = randomOf(9);
    fill(log, 1, random, 50);
    t.deepEqual(
      callsOf(() => fill(log, 1, random, 50)),
      [...calls],
    );
    t.deepEqual(
      callsOf(() => log.sync()),
      [],
    );
    log.close();
  }
});

test.serial('D19: a segment is on disk, with its name, before a record counts on it', (t) => {
  const dir = tempDir(t);
  const log = LogWriter.open(dir, { ...OPTIONS, durability: 'commit' });
  const random = randomOf(10);
  while (log.tail < 2 ** 32) fill(log, 1, random);
  t.deepEqual(
    callsOf(() => fill(log, 1, random)),
    [
      'ftruncate 00000000.log',
      'fdatasync 00000000.log',
      'write 00000001.log.new',
      'fsync 00000001.log.new',
      'rename 00000001.log.new',
      `fsync ${path.basename(dir)}`,
      'ftruncate 00000001.log',
      'write 00000001.log',
    ],
  );
  log.close();
});

test('D19, C1: what a caller would break is refused', (t) => {
  const log = LogWriter.open(logIn(tempDir(t)), OPTIONS);
  const random = randomOf(5);
  fill(log, 3, random);
  const next = nextRecord(log.nextNumber, random);
  const { tail } = log;
  const refused = (over: object, message: RegExp) =>
    t.throws(() => log.append({ ...next, ...over }), { instanceOf: InvariantError, message });
  refused({ firstNumber: next.firstNumber + 1 }, /a record does not begin with the next number/);
  refused({ firstNumber: 1 }, /a record does not begin with the next number/);
  refused({ count: 0 }, /a record has no facts, or too many/);
  refused({ count: 2 ** 32 }, /a record has no facts, or too many/);
  refused({ atMs: 0.5 }, /whole milliseconds/);
  t.throws(() => log.ensureRoom(2 ** 30), { message: /a payload has 1 GiB or more/ });
  t.is(log.tail, tail);
  log.append(next);
  log.close();
  t.throws(() => log.append({ ...next, firstNumber: log.nextNumber }), {
    message: /after a fault/,
  });
  t.throws(() => log.sync(), { message: /after a fault/ });
  t.throws(() => LogWriter.open(logIn(tempDir(t)), { ...OPTIONS, segmentBytes: 2 ** 32 }), {
    message: /a segment has more than 2 GiB/,
  });
});

test('D20: a log of another version, other layouts or another shard is refused, both named', (t) => {
  const dir = logIn(tempDir(t));
  const log = LogWriter.open(dir, OPTIONS);
  fill(log, 20, randomOf(6));
  log.close();
  const cases = [
    { over: { formatVersion: 1 }, says: /has version 2 of the format, and this is version 1/ },
    { over: { formatVersion: 3 }, says: /has version 2 of the format, and this is version 3/ },
    { over: { fingerprint: 1 }, says: /has other layouts than version 2 here/ },
    { over: { shard: 0 }, says: /belongs to shard 3, not to shard 0/ },
  ];
  for (const { over, says } of cases) {
    const expected = { instanceOf: LogMismatch, message: says };
    t.throws(() => LogWriter.open(dir, { ...OPTIONS, ...over }), expected);
    const reader = LogReader.open(dir, { ...IDENTITY, ...over });
    t.throws(() => [...reader.records(0)], expected);
    t.regex(reader.problems()[0]!.message, says);
    reader.close();
  }
});

test("D13: files of the log are their owner's alone", (t) => {
  const dir = logIn(tempDir(t));
  const log = LogWriter.open(dir, OPTIONS);
  fill(log, 20, randomOf(7));
  log.close();
  const modes = readdirSync(dir).map((name) => statSync(path.join(dir, name)).mode & 0o777);
  t.deepEqual(new Set(modes), new Set([0o600]));
  t.is(statSync(dir).mode & 0o777, 0o700);
});

test('D19: other files beside the segments are left alone', (t) => {
  const dir = logIn(tempDir(t));
  LogWriter.open(dir, OPTIONS).close();
  writeFileSync(path.join(dir, 'notes.txt'), 'mine');
  const log = LogWriter.open(dir, OPTIONS);
  fill(log, 20, randomOf(8));
  log.close();
  t.true(existsSync(path.join(dir, 'notes.txt')));
  t.is(readAll(dir).length, 20);
});
