import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, statSync, unlinkSync, writeSync } from 'node:fs';
import { constants } from 'node:os';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { DiskFull } from '../../../engine/log/disk-full.ts';
import { LogWriter } from '../../../engine/log/log-writer.ts';
import { tempDir } from '../shard/engine-process.ts';
import {
  limitFiles,
  mayLimitFiles,
  mayMount,
  mountAt,
  unlimitFiles,
} from '../shard/limited-files.ts';
import { fileOf, fill, nextRecord, OPTIONS, plain, randomOf, readAll } from './log-files.ts';

const WIDE = { ...OPTIONS, segmentBytes: 2 ** 24 };

// Where files cannot be limited these are shown as skipped.
const limited = mayLimitFiles() ? test.serial : test.serial.skip;

limited('D8: a file that may not grow refuses room, and the log goes on where it may', (t) => {
  const dir = tempDir(t);
  const log = LogWriter.open(dir, WIDE);
  const random = randomOf(1);
  const written = fill(log, 5, random);
  const { tail } = log;
  const { size } = statSync(fileOf(dir, 0));
  limitFiles(t, size);
  const next = { ...nextRecord(log.nextNumber, random), payload: Buffer.alloc(2 ** 20) };
  for (const ask of [() => log.ensureRoom(2 ** 20), () => log.append(next)]) {
    const { errno, bytes } = t.throws(ask, { instanceOf: DiskFull });
    t.is(errno, -constants.errno.EFBIG);
    t.is(bytes, 2 ** 20 + 32);
  }
  t.is(log.tail, tail);
  t.is(statSync(fileOf(dir, 0)).size, size);
  written.push(...fill(log, 5, random));
  unlimitFiles();
  log.append({ ...next, firstNumber: log.nextNumber });
  written.push({ ...next, firstNumber: log.nextNumber - next.count });
  log.close();
  t.deepEqual(readAll(dir), written.map(plain));
});

limited('D8: a segment that cannot begin refuses room, and begins later', (t) => {
  const dir = tempDir(t);
  const log = LogWriter.open(dir, OPTIONS);
  const random = randomOf(2);
  const written = [];
  while (log.tail < 2 ** 32) written.push(...fill(log, 1, random));
  limitFiles(t, 32);
  t.throws(() => log.ensureRoom(10), { instanceOf: DiskFull });
  t.throws(() => log.ensureRoom(10), { instanceOf: DiskFull });
  unlimitFiles();
  written.push(...fill(log, 5, random));
  log.close();
  t.deepEqual(readAll(dir), written.map(plain));
});

/** A file system of its own. */
function smallDisk(t: ExecutionContext): string {
  const mount = path.join(tempDir(t), 'mount');
  mkdirSync(mount);
  mountAt(mount, 8);
  t.teardown(() => execFileSync('umount', ['-l', mount]));
  return mount;
}

function fillDisk(file: string): void {
  const fd = openSync(file, 'w');
  const bytes = Buffer.alloc(4096);
  try {
    for (;;) writeSync(fd, bytes);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  } finally {
    closeSync(fd);
  }
}

// Where nothing can be mounted it is shown as skipped.
const withSmallDisk = mayMount() ? test.serial : test.serial.skip;

withSmallDisk(
  'D8: a record for which room was made is written to a disk that is full since',
  (t) => {
    const disk = smallDisk(t);
    const dir = path.join(disk, 'log');
    const log = LogWriter.open(dir, WIDE);
    const random = randomOf(3);
    const written = fill(log, 3, random);
    log.ensureRoom(400_000);
    fillDisk(path.join(disk, 'ballast'));
    const large = { ...nextRecord(log.nextNumber, random), payload: Buffer.alloc(400_000, 5) };
    log.append(large);
    log.sync();
    written.push(large);
    fillDisk(path.join(disk, 'more'));
    const { tail } = log;
    const refused = t.throws(() => log.ensureRoom(100), { instanceOf: DiskFull });
    t.is(refused.errno, -constants.errno.ENOSPC);
    t.is(refused.message, 'the data directory cannot be written: no space left on device');
    t.is(log.tail, tail);
    t.deepEqual(readAll(dir), written.map(plain));
    unlinkSync(path.join(disk, 'ballast'));
    written.push(...fill(log, 20, random));
    log.close();
    t.deepEqual(readAll(dir), written.map(plain));
  },
);
