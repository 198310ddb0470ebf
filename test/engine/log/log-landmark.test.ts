/** Landmarks: the record that whoever begins to read in the middle needs. */
import { copyFileSync } from 'node:fs';
import test from 'ava';
import type { LogRecord } from '../../../engine/log/log-format.ts';
import { LogReader } from '../../../engine/log/log-reader.ts';
import { LogWriter } from '../../../engine/log/log-writer.ts';
import { tempDir } from '../shard/engine-process.ts';
import { fileOf, IDENTITY, nextRecord, OPTIONS, plain, randomOf } from './log-files.ts';

const SECTION = 'D30, landmarks';

/** A log of several segments, opened again now and then, and its landmarks. */
function logOf(dir: string, isLandmark: (record: number) => boolean) {
  const random = randomOf(11);
  const landmarks: LogRecord[] = [];
  const ends: number[] = [];
  let log = LogWriter.open(dir, OPTIONS);
  for (let record = 0; record < 60; record++) {
    if (record % 7 === 6) {
      log.close();
      log = LogWriter.open(dir, OPTIONS);
    }
    const next = nextRecord(log.nextNumber, random);
    log.append(next, isLandmark(record));
    log.sync();
    if (isLandmark(record)) landmarks.push(next);
    ends.push(log.nextNumber - 1);
  }
  log.close();
  return { landmarks, ends };
}

test(`${SECTION}: from any number on the newest one before it is found`, (t) => {
  const dir = tempDir(t);
  const { landmarks, ends } = logOf(dir, (record) => record === 2 || record === 31);
  const [first, second] = landmarks as [LogRecord, LogRecord];
  for (let number = 0; number <= ends.at(-1)! + 5; number++) {
    const reader = LogReader.open(dir, IDENTITY);
    const found = reader.landmarkUpTo(number);
    const isUpTo = (record: LogRecord) => record.firstNumber + record.count - 1 <= number;
    const expected = isUpTo(second) ? second : isUpTo(first) ? first : null;
    const [read, wanted] = [found, expected].map((one) => (one === null ? null : plain(one)));
    t.deepEqual(read, wanted, `${number}`);
    reader.close();
  }
});

test(`${SECTION}: a log without one has none, and is whole`, (t) => {
  const dir = tempDir(t);
  const { ends } = logOf(dir, () => false);
  const reader = LogReader.open(dir, IDENTITY);
  t.is(reader.landmarkUpTo(ends.at(-1)!), null);
  t.deepEqual(reader.problems(), []);
  reader.close();
});

test(`${SECTION}: a segment that names another one than the log has is damage`, (t) => {
  const [dir, other] = [tempDir(t), tempDir(t)];
  logOf(dir, (record) => record === 2);
  logOf(other, (record) => record === 1);
  const problems = () => {
    const reader = LogReader.open(dir, IDENTITY);
    t.teardown(() => reader.close());
    return reader.problems().map(({ message }) => message);
  };
  t.deepEqual(problems(), []);
  copyFileSync(fileOf(other, 3), fileOf(dir, 3));
  t.deepEqual(problems(), [
    '00000003.log is damaged at byte 0: it does not follow the segment before',
  ]);
});
