/**
 * Reads a shard's log from any thread or process, also while it is written. It returns whole
 * records whose checksum holds, and only once they are on disk. Rules D19 to D22, D100
 * (engine/RULES.md).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { invariant } from '../base/invariant.ts';
import { type EachRecord, logProblems, reserveProblem } from './check-log.ts';
import {
  LogDamage,
  type LogIdentity,
  type LogMismatch,
  type LogPosition,
  type LogRecord,
  offsetOf,
  positionOf,
  SEGMENT_HEADER_BYTES,
  type StoredRecord,
  segmentOf,
} from './log-format.ts';
import { openSegment, type SegmentFile, segmentName, segmentsIn } from './segment-file.ts';

export type LogReaderOptions = LogIdentity & {
  /**
   * Records before this place are returned without a sync, because the log's writer in this thread
   * vouches for them. Without it the reader syncs the records that it returns.
   */
  settledTail?: () => LogPosition;
  /** In milliseconds; `performance.now` when left out. */
  clock?: () => number;
};

export type PlacedRecord = LogRecord & { position: LogPosition; isLandmark: boolean };

export type FollowOptions = {
  signal: AbortSignal;
  from?: LogPosition;
  pollMs?: number;
  /** A process or thread that has nothing else to do may end. */
  isUnref?: boolean;
};

/** A file of the log, and how much of it is whole and on disk. A closed file never changes. */
export type DurableFile = { name: string; bytes: number; isClosed: boolean };

/** A closed segment, by what tells it from a segment of any other log. */
export type ClosedSegment = {
  bytes: number;
  /** The CRC-32 of its header, and of the next one's. */
  seed: number;
  nextSeed: number;
  /** The number of the first fact of the next segment. */
  nextNumber: number;
};

/** Where a record is expected, and the number of its first fact (null: not known). */
type RecordOffset = { segment: number; offset: number; number: number | null };
/** Consecutive records, and the place after them; `isEnd`: the log had no other. */
type Group = { records: PlacedRecord[]; next: RecordOffset; isEnd: boolean };

/** Records are read, made durable and returned in groups of about this size. */
const GROUP_BYTES = 2 ** 20;
const OPEN_FILES_MAX = 64;
const POLL_MS = 20;
/** How often the end of a log is searched for records after one that was lost. */
const SEARCH_EVERY_MS = 1000;

export class LogReader {
  readonly #directory: string;
  readonly #options: LogReaderOptions;
  readonly #files = new Map<number, SegmentFile>();
  readonly #waypoints = new Waypoints();
  readonly #cache = new RecordCache();
  #isClosed = false;
  /** When the rest of a file was last searched for a record that was lost. */
  #searchedMs = Number.NEGATIVE_INFINITY;
  /** The highest segment that was seen. */
  #last: number;

  /** A log that does not exist yet is empty. */
  static open(directory: string, options: LogReaderOptions): LogReader {
    return new LogReader(directory, options);
  }

  private constructor(directory: string, options: LogReaderOptions) {
    this.#directory = directory;
    this.#options = options;
    this.#last = Math.max(0, segmentsIn(directory).at(-1) ?? 0);
  }

  /** The record whose header begins at `at`. Throws `LogDamage` if there is none. */
  record(at: LogPosition): LogRecord {
    invariant(Number.isSafeInteger(at) && at >= 0, 'a place in a log is not a whole number');
    const cached = this.#cache.get(at);
    if (cached !== undefined) return cached;
    const offset = offsetOf(at);
    const file = this.#file(segmentOf(at));
    const stored = file === null ? null : file.lonelyRecordAt(offset);
    if (file === null || stored === null) {
      throw new LogDamage(segmentName(segmentOf(at)), offset, 'there is no whole record');
    }
    this.#makeDurable(file, offset + stored.bytes);
    const record = recordOf(stored);
    this.#cache.put(at, record);
    return record;
  }

  /**
   * Whole records with facts after this number. If the caller knows a place before them, reading
   * begins at `from`. It stops at the current end of the log. Throws `LogDamage`, `LogMismatch`.
   */
  *records(afterNumber: number, from?: LogPosition): Generator<PlacedRecord> {
    invariant(afterNumber >= 0, 'records are read after a negative number');
    let next = this.#offsetOf(afterNumber, from);
    for (;;) {
      const group: Group = this.#group(next);
      for (const record of group.records) if (hasAfter(record, afterNumber)) yield record;
      if (group.isEnd) return;
      next = group.next;
    }
  }

  /**
   * The newest landmark whose facts all have numbers up to this one; null if there is none. It
   * costs as much as finding the place of the number. Throws `LogDamage`, `LogMismatch`.
   */
  landmarkUpTo(number: number): (LogRecord & { position: LogPosition }) | null {
    const segment = this.#segmentOf(number);
    let found: PlacedRecord | null = null;
    for (const record of this.records(0, positionOf(segment, SEGMENT_HEADER_BYTES))) {
      if (hasAfter(record, number)) break;
      if (record.isLandmark) found = record;
    }
    const before = this.#file(segment)?.header.landmark ?? 0;
    return found ?? (before === 0 ? null : { ...this.record(before), position: before });
  }

  /** Yields the records of `records`, then each later record, until `signal`. */
  async *follow(afterNumber: number, options: FollowOptions): AsyncGenerator<PlacedRecord> {
    const { signal, from, pollMs = POLL_MS, isUnref = false } = options;
    let next = this.#offsetOf(afterNumber, from);
    let wasIdle = false;
    while (!signal.aborted) {
      const isIdle = wasIdle && this.#isUntouchedAt(next);
      const group: Group = isIdle ? { records: [], next, isEnd: true } : this.#group(next);
      for (const record of group.records) {
        if (hasAfter(record, afterNumber)) yield record;
        if (signal.aborted) return;
      }
      next = group.next;
      wasIdle = group.records.length === 0;
      if (wasIdle) await sleep(pollMs, undefined, { signal, ref: !isUnref }).catch(ignoreAbort);
    }
  }

  /** Null: the segment is not closed yet. Throws `LogDamage`, `LogMismatch`. */
  closedSegment(segment: number): ClosedSegment | null {
    const [file, next] = [this.#file(segment), this.#file(segment + 1)];
    if (file === null || next === null) return null;
    const { seed: nextSeed, header } = next;
    return { bytes: file.size(), seed: file.seed, nextSeed, nextNumber: header.firstNumber };
  }

  /** The files of the log, and how much of each is whole and on disk. A backup copies these. */
  durableFiles(): DurableFile[] {
    let end = this.#offsetOf(Number.POSITIVE_INFINITY);
    for (;;) {
      const { records, next } = this.#group(end);
      end = next;
      if (records.length === 0) break;
    }
    const files: DurableFile[] = [];
    for (let segment = 0; segment <= end.segment; segment++) {
      const file = this.#file(segment);
      if (file === null) break;
      const isClosed = segment < end.segment;
      const bytes = isClosed ? file.size() : end.offset;
      files.push({ name: file.name, bytes, isClosed });
    }
    return files;
  }

  /**
   * The problems of the log: every header and record is read.
   *
   * @param reaches the log had everything before this place; 0: nobody knows
   * @param each gets every whole record, which is on disk once this returns
   */
  problems(
    reaches: LogPosition | 0 = 0,
    each: EachRecord | null = null,
  ): (LogDamage | LogMismatch)[] {
    return logProblems(this.#directory, this.#options, reaches, each);
  }

  /** That of the space held back, which no record is read from; null: it has none. */
  reserveProblem(): LogDamage | null {
    return reserveProblem(this.#directory);
  }

  close(): void {
    this.#isClosed = true;
    for (const file of this.#files.values()) file.close();
    this.#files.clear();
  }

  /** A group of records from `start`, on disk; none at the end of the log. */
  #group(start: RecordOffset): Group {
    const records: PlacedRecord[] = [];
    let next = start;
    let bytes = 0;
    while (bytes < GROUP_BYTES) {
      const file = this.#file(next.segment);
      if (file === null) break;
      this.#checkStart(file, next);
      const { segment, offset } = next;
      if (file.isFullAt(offset)) {
        if (this.#file(segment + 1) === null) break;
        if (file.size() !== offset) throw new LogDamage(file.name, offset, 'more follows its end');
        next = { ...next, segment: segment + 1, offset: SEGMENT_HEADER_BYTES };
        continue;
      }
      const stored = this.#recordAt(file, next);
      if (stored === null) break;
      const { isLandmark } = stored;
      records.push({ ...recordOf(stored), position: positionOf(segment, offset), isLandmark });
      this.#waypoints.note(segment, offset, stored.firstNumber);
      bytes += stored.bytes;
      next = { segment, offset: offset + stored.bytes, number: numberAfter(stored) };
    }
    const file = records.length === 0 ? null : this.#file(next.segment);
    if (file !== null) this.#makeDurable(file, next.offset);
    return { records, next, isEnd: bytes < GROUP_BYTES };
  }

  /**
   * The record of a place; null at the end of the log. Throws `LogDamage` if damage begins there.
   */
  #recordAt(file: SegmentFile, { segment, offset, number }: RecordOffset): StoredRecord | null {
    const record = file.recordAt(offset, number);
    if (record !== null) return record;
    const isClosed = this.#file(segment + 1) !== null;
    // The writer may have written more since.
    const again = isClosed ? file.recordAt(offset, number) : null;
    if (again === null && (isClosed || this.#hasLostRecordAt(file, offset, number))) {
      throw new LogDamage(file.name, offset, 'a record has changed since it was written');
    }
    return again;
  }

  /**
   * `hasLostRecordAt` of a file, which reads all of its rest. If nothing is written at the offset,
   * this is the usual end of a log, and a follower comes to such an end many times a second. There
   * the rest is read once in a while. Rule D100 (engine/RULES.md).
   */
  #hasLostRecordAt(file: SegmentFile, offset: number, number: number | null): boolean {
    const nowMs = this.#options.clock?.() ?? performance.now();
    if (nowMs - this.#searchedMs < SEARCH_EVERY_MS && file.isUntouchedAt(offset)) return false;
    this.#searchedMs = nowMs;
    return file.hasLostRecordAt(offset, number);
  }

  #checkStart(file: SegmentFile, { offset, number }: RecordOffset): void {
    const isStart = offset === SEGMENT_HEADER_BYTES && number !== null;
    if (isStart && file.header.firstNumber !== number) {
      throw new LogDamage(file.name, 0, 'it does not follow the segment before');
    }
  }

  #isUntouchedAt({ segment, offset }: RecordOffset): boolean {
    const file = this.#file(segment);
    if (file === null) return true;
    return !file.isFullAt(offset) && file.isUntouchedAt(offset);
  }

  /** Closed segments are on disk: their writer syncs them before it begins another. */
  #makeDurable(file: SegmentFile, end: number): void {
    const { segment } = file.header;
    if (segment < this.#last || end <= file.durableBytes) return;
    const settled = this.#options.settledTail?.() ?? 0;
    if (positionOf(segment, end) <= settled) return;
    file.sync();
    file.noteDurable(end);
  }

  /** Where the search for the fact after this number begins. */
  #offsetOf(afterNumber: number, from?: LogPosition): RecordOffset {
    if (from !== undefined) {
      return { segment: segmentOf(from), offset: offsetOf(from), number: null };
    }
    const segment = this.#segmentOf(afterNumber);
    const known = this.#waypoints.before(segment, afterNumber + 1);
    const number = this.#file(segment)?.header.firstNumber ?? null;
    return { segment, offset: SEGMENT_HEADER_BYTES, number, ...known };
  }

  /** The segment that contains, or will contain, the fact after this number. */
  #segmentOf(afterNumber: number): number {
    const isBefore = (segment: number) =>
      (this.#file(segment)?.header.firstNumber ?? Number.POSITIVE_INFINITY) <= afterNumber + 1;
    this.#last = Math.max(this.#last, segmentsIn(this.#directory).at(-1) ?? 0);
    let segment = 0;
    for (let high = this.#last; segment < high; ) {
      const middle = Math.ceil((segment + high) / 2);
      if (isBefore(middle)) segment = middle;
      else high = middle - 1;
    }
    return segment;
  }

  /** Null: the log does not have this segment yet. Throws `LogDamage` if it is missing. */
  #file(segment: number): SegmentFile | null {
    invariant(!this.#isClosed, 'a closed reader reads a log');
    const open = this.#files.get(segment);
    if (open !== undefined) return open;
    let file = openSegment(this.#directory, segment, this.#options);
    if (file === null) {
      if (!segmentsIn(this.#directory).some((other) => other >= segment)) return null;
      // A writer may have begun it since the first look.
      file = openSegment(this.#directory, segment, this.#options);
    }
    if (file === null) throw LogDamage.missing(segmentName(segment));
    if (this.#files.size >= OPEN_FILES_MAX) this.#closeOldest();
    this.#files.set(segment, file);
    this.#last = Math.max(this.#last, segment);
    return file;
  }

  #closeOldest(): void {
    const [segment, file] = this.#files.entries().next().value!;
    file.close();
    this.#files.delete(segment);
  }
}

function recordOf({ firstNumber, count, atMs, payload }: StoredRecord): LogRecord {
  return { firstNumber, count, atMs, payload };
}

function numberAfter({ firstNumber, count }: LogRecord): number {
  return firstNumber + count;
}

function hasAfter(record: LogRecord, number: number): boolean {
  return numberAfter(record) > number + 1;
}

function ignoreAbort(error: Error): void {
  if (error.name !== 'AbortError') throw error;
}

type Waypoint = { offset: number; number: number };

const WAYPOINT_EVERY_BYTES = 2 ** 18;

/** Known places of records, so that a search need not start at the beginning. */
export class Waypoints {
  /** Of each segment, ascending. */
  readonly #known = new Map<number, Waypoint[]>();

  /** The record at `offset` begins with the fact `number`. */
  note(segment: number, offset: number, number: number): void {
    const known = this.#known.get(segment);
    if (known === undefined) {
      this.#known.set(segment, [{ offset, number }]);
      return;
    }
    const last = known.at(-1)!;
    if (offset < last.offset + WAYPOINT_EVERY_BYTES) return;
    invariant(number > last.number, 'a later record of a segment begins with an earlier fact');
    known.push({ offset, number });
  }

  /** The last one of a segment that begins with the fact `number`, or before it. */
  before(segment: number, number: number): Waypoint | undefined {
    return this.#known.get(segment)?.findLast((at) => at.number <= number);
  }
}

const CACHE_BYTES_MAX = 2 ** 23;
/** The size of a record besides its payload. */
const LARGE_BYTES_MAX = 2 ** 26;
/** The size of a record besides its payload. */
const RECORD_BYTES = 256;

/** The most recently used records, with their checksums verified. */
export class RecordCache {
  readonly #records = new Map<LogPosition, LogRecord>();
  #bytes = 0;
  /** A list of settled trades asks for the same one many times over. */
  #large: { at: LogPosition; record: LogRecord } | null = null;

  get(at: LogPosition): LogRecord | undefined {
    if (this.#large?.at === at) return this.#large.record;
    const record = this.#records.get(at);
    if (record === undefined) return undefined;
    this.#records.delete(at);
    this.#records.set(at, record);
    return record;
  }

  /** Of the records that are as large as the cache itself the last one is kept. */
  put(at: LogPosition, record: LogRecord): void {
    invariant(!this.#records.has(at), 'a record is added twice to the cache');
    if (sizeOf(record) > CACHE_BYTES_MAX / 2) {
      if (sizeOf(record) <= LARGE_BYTES_MAX) this.#large = { at, record };
      return;
    }
    this.#records.set(at, record);
    this.#bytes += sizeOf(record);
    for (const [oldest, { payload }] of this.#records) {
      if (this.#bytes <= CACHE_BYTES_MAX) break;
      this.#records.delete(oldest);
      this.#bytes -= payload.length + RECORD_BYTES;
      invariant(this.#bytes >= 0, 'the size of a cache went below zero');
    }
  }
}

const sizeOf = ({ payload }: LogRecord): number => payload.length + RECORD_BYTES;
