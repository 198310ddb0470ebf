import {
  closeSync,
  existsSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import type { LogRecord } from '../../../engine/log/log-format.ts';
import { LogWriter } from '../../../engine/log/log-writer.ts';
import { tempDir } from '../shard/engine-process.ts';
import {
  copyLog,
  fileOf,
  fill,
  nextRecord,
  OPTIONS,
  plain,
  randomOf,
  readAll,
} from './log-files.ts';

/** Opens what a crash left, finds these records, goes on, and finds all of it again. */
function opensWith(t: ExecutionContext, dir: string, records: LogRecord[], what: string): void {
  const log = LogWriter.open(dir, OPTIONS);
  t.is(
    log.nextNumber,
    records.reduce((sum, { count }) => sum + count, 1),
    what,
  );
  t.false(existsSync(`${fileOf(dir, 0)}.new`), what);
  const more = fill(log, 12, randomOf(99));
  log.close();
  const reopened = LogWriter.open(dir, OPTIONS);
  t.is(reopened.nextNumber, log.nextNumber, what);
  reopened.close();
  t.deepEqual(readAll(dir), [...records, ...more].map(plain), what);
}

test('D2: a record that was written and not synced is there after a crash of the process', (t) => {
  const dir = path.join(tempDir(t), 'log');
  const log = LogWriter.open(dir, OPTIONS);
  const random = randomOf(1);
  const records = fill(log, 4, random);
  const unsynced = nextRecord(log.nextNumber, random);
  log.append(unsynced);
  const crashed = copyLog(dir, path.join(dir, '../crashed'));
  log.close();
  opensWith(t, crashed, [...records, unsynced], 'unsynced');
});

test('D2, D21: a record of which any part reached the disk is cut off', (t) => {
  const dir = path.join(tempDir(t), 'log');
  const log = LogWriter.open(dir, OPTIONS);
  const random = randomOf(2);
  const records = fill(log, 3, random, 100);
  const start = log.tail;
  const before = copyLog(dir, path.join(dir, '../before'));
  log.append({ ...nextRecord(log.nextNumber, random), payload: Buffer.alloc(60, 7) });
  const bytes = readFileSync(fileOf(dir, 0)).subarray(start, log.tail);
  log.close();
  for (let at = 1; at < bytes.length; at += 4) {
    for (const part of ['head', 'tail', 'size'] as const) {
      const crashed = copyLog(before, path.join(dir, `../${part}-${at}`));
      const fd = openSync(fileOf(crashed, 0), 'r+');
      if (part === 'head') writeSync(fd, bytes, 0, at, start);
      else if (part === 'tail') writeSync(fd, bytes, at, bytes.length - at, start + at);
      else ftruncateSync(fd, start + at);
      closeSync(fd);
      opensWith(t, crashed, records, `${part} ${at}`);
    }
  }
});

/** A log whose first segment is full, and whose second has no record yet or is not there. */
function fullSegment(t: ExecutionContext) {
  const dir = path.join(tempDir(t), 'log');
  const log = LogWriter.open(dir, OPTIONS);
  const random = randomOf(3);
  const records: LogRecord[] = [];
  while (log.tail < 2 ** 32) records.push(...fill(log, 1, random));
  const full = copyLog(dir, path.join(dir, '../full'));
  const end = records.reduce((sum, { payload }) => sum + 32 + payload.length, 64);
  log.ensureRoom(0);
  log.close();
  const header = readFileSync(fileOf(dir, 1)).subarray(0, 64);
  t.is(statSync(fileOf(dir, 0)).size, end);
  return { dir, full, end, header, records };
}

test('D21: a crash while a segment closes or the next one begins leaves a log that opens', (t) => {
  const { dir, full, end, header, records } = fullSegment(t);
  const at = (name: string) => copyLog(full, path.join(dir, '..', name));
  opensWith(t, at('full-again'), records, 'full, with room after it');
  const cut = at('cut');
  truncateSync(fileOf(cut, 0), end);
  opensWith(t, copyLog(cut, path.join(dir, '../cut-again')), records, 'cut to its records');
  for (const bytes of [0, 1, 20, 63, 64]) {
    const begun = copyLog(cut, path.join(dir, `../begun-${bytes}`));
    writeFileSync(`${fileOf(begun, 1)}.new`, header.subarray(0, bytes));
    opensWith(t, begun, records, `${bytes} bytes of the next header`);
    t.false(existsSync(`${fileOf(begun, 1)}.new`));
  }
  const named = copyLog(cut, path.join(dir, '../named'));
  writeFileSync(fileOf(named, 1), header);
  opensWith(t, named, records, 'the next one has its name');
  opensWith(t, copyLog(dir, path.join(dir, '../grown')), records, 'the next one has room');
});

test('D21: a crash while the first segment begins leaves a log that opens', (t) => {
  const dir = tempDir(t);
  const { header } = fullSegment(t);
  const empty = path.join(dir, 'empty');
  mkdirSync(empty);
  opensWith(t, empty, [], 'no file');
  for (const bytes of [0, 40, 64]) {
    const begun = path.join(dir, `begun-${bytes}`);
    mkdirSync(begun);
    writeFileSync(`${fileOf(begun, 0)}.new`, header.subarray(0, bytes));
    opensWith(t, begun, [], `${bytes} bytes of the header`);
  }
  const alone = path.join(dir, 'alone');
  LogWriter.open(alone, OPTIONS).close();
  opensWith(t, alone, [], 'a header alone');
});

test('D8: a crash while space is held back leaves a log that opens', (t) => {
  const { dir, full, records } = fullSegment(t);
  for (const bytes of [0, 1000, 2 ** 19, 2 ** 20]) {
    const crashed = copyLog(full, path.join(dir, `../reserve-${bytes}`));
    truncateSync(path.join(crashed, 'reserve'), bytes);
    opensWith(t, crashed, records, `${bytes} bytes held back`);
    t.is(statSync(path.join(crashed, 'reserve')).size, 2 ** 20);
  }
});
