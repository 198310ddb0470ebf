/** What a caller's mistake would do to a log on disk stops it instead. */
import test, { type ExecutionContext } from 'ava';
import { checkLmdbFile, metaBuffer, newestMeta } from '../../../engine/lmdb/lmdb-file.ts';
import { freePagesOf } from '../../../engine/lmdb/lmdb-free.ts';
import {
  type LogPosition,
  positionOf,
  RecordFrame,
  SEGMENT_HEADER_BYTES,
  segmentHeaderBytes,
} from '../../../engine/log/log-format.ts';
import { LogReader, RecordCache, Waypoints } from '../../../engine/log/log-reader.ts';
import { LogWriter } from '../../../engine/log/log-writer.ts';
import { SegmentFile } from '../../../engine/log/segment-file.ts';
import { tempDir } from '../shard/engine-process.ts';
import { fill, IDENTITY, nextRecord, OPTIONS, randomOf } from './log-files.ts';

type Log = { writer: LogWriter; reader: LogReader; file: SegmentFile };

/** A log of a few records, with a reader and its first file. */
function openLog(t: ExecutionContext): Log {
  const dir = tempDir(t);
  const writer = LogWriter.open(dir, OPTIONS);
  fill(writer, 3, randomOf(1));
  const log = {
    writer,
    reader: LogReader.open(dir, IDENTITY),
    file: new SegmentFile(dir, 0, IDENTITY, 'r'),
  };
  t.teardown(() => {
    writer.close();
    log.reader.close();
    log.file.close();
  });
  return log;
}

const record = (firstNumber: number) => nextRecord(firstNumber, randomOf(2));
const header = { ...IDENTITY, segment: 1, segmentBytes: 2000, firstNumber: 9, landmark: 0 };

function cachedTwice(): void {
  const cache = new RecordCache();
  cache.put(64, record(1));
  cache.put(64, record(1));
}

function countsBack(): void {
  const waypoints = new Waypoints();
  waypoints.note(0, 64, 10);
  waypoints.note(0, 2 ** 20, 10);
}

const frameOf = (durableBytes: number) =>
  new RecordFrame().fill(0, record(1), { durableBytes, isLandmark: false });

const MISTAKES: [what: string, make: (log: Log) => unknown, message: RegExp][] = [
  [
    'a number is left out',
    ({ writer }) => writer.append(record(99)),
    /a record does not begin with the next number/,
  ],
  [
    'a number comes again',
    ({ writer }) => writer.append(record(1)),
    /a record does not begin with the next number/,
  ],
  ['a payload of a part', ({ writer }) => writer.ensureRoom(0.5), /not in whole bytes/],
  ['a closed log is written', closedAndWritten, /a log is written after a fault or after its end/],
  [
    'less is on disk than was',
    ({ file }) => lessDurable(file),
    /the durable size of a segment became smaller/,
  ],
  [
    'a record in the header',
    ({ file }) => file.recordAt(0, null),
    /a record is looked for before the first one/,
  ],
  [
    'a record at no place',
    ({ file }) => file.lonelyRecordAt(-1),
    /an offset in a file is not valid/,
  ],
  [
    'facts from below zero',
    ({ reader }) => reader.records(-1).next(),
    /records are read after a negative number/,
  ],
  ['a closed reader reads', closedAndRead, /a closed reader reads a log/],
  ['a record before its header', () => frameOf(0), /before the header of its/],
  ['a segment without a fact', () => bytesOf({ firstNumber: 0 }), /before the first fact/],
  [
    'a landmark to come',
    () => bytesOf({ landmark: positionOf(1, 64) }),
    /a segment names a landmark after its own start/,
  ],
  ['a record counted twice', cachedTwice, /a record is added twice to the cache/],
  ['facts that count back', countsBack, /begins with an earlier fact/],
];

const bytesOf = (over: { firstNumber?: number; landmark?: LogPosition }) =>
  segmentHeaderBytes({ ...header, ...over });

function closedAndWritten({ writer }: Log): void {
  writer.append(record(writer.nextNumber));
  writer.close = () => undefined;
  LogWriter.prototype.close.call(writer);
  writer.append(record(writer.nextNumber));
}

function closedAndRead({ reader }: Log): void {
  reader.close();
  reader.record(SEGMENT_HEADER_BYTES);
}

function lessDurable(file: SegmentFile): void {
  file.noteDurable(500);
  file.noteDurable(499);
}

for (const [what, make, message] of MISTAKES) {
  test(`D15: a log is not written or read wrongly: ${what}`, (t) => {
    t.throws(() => make(openLog(t)), { name: 'InvariantError', message });
  });
}

test('D15: an LMDB file is not read by pages that none has', (t) => {
  const throws = (make: () => unknown, message: RegExp) =>
    t.throws(make, { name: 'InvariantError', message });
  throws(() => metaBuffer(0), /a page size is out of range/);
  throws(() => newestMeta(0, 'data.mdb', Buffer.alloc(16)), /too small for two meta pages/);
  throws(() => freePagesOf(0, 1n, 2 ** 20), /a page size is out of range/);
  const free = freePagesOf(0, 0xffff_ffff_ffff_ffffn, 4096);
  throws(() => free?.(-1), /a page number is not valid/);
  t.is(checkLmdbFile(tempDir(t)), null);
});
