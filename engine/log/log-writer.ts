/**
 * Appends a shard's records to its log: one write and one sync each. A log has one writer at a
 * time, and only the writer changes files. Rules D1, D2, D8, D19 to D22 (engine/RULES.md).
 */
import { ftruncateSync, mkdirSync, writeSync } from 'node:fs';
import path from 'node:path';
import { invariant } from '../base/invariant.ts';
import { diskFullOf } from './disk-full.ts';
import {
  FACTS_LIMIT,
  LogDamage,
  type LogIdentity,
  type LogPosition,
  type LogRecord,
  PAYLOAD_BYTES_LIMIT,
  positionOf,
  RECORD_HEADER_BYTES,
  RecordFrame,
  SEGMENT_HEADER_BYTES,
  type SegmentHeader,
} from './log-format.ts';
import { Reserve } from './reserve.ts';
import { checkChain, endOf } from './segment-chain.ts';
import {
  createSegment,
  SegmentFile,
  segmentName,
  segmentsIn,
  syncDirectory,
} from './segment-file.ts';

export type LogWriterOptions = LogIdentity & {
  /** Rule D1: `commit` leaves it to the system when a record reaches the disk. */
  durability: 'sync' | 'commit';
  /** The size at which new segments are closed. */
  segmentBytes?: number;
  /**
   * Everything before this place was answered. If it is not whole, nothing is cut off: the log is
   * damaged.
   */
  reaches?: LogPosition;
};

const SEGMENT_BYTES = 2 ** 26;
/** A file grows in steps of this size, so that an append does not change its size. */
const STEP_BYTES = 2 ** 20;
const NO_SPACE = new Set(['ENOSPC', 'EDQUOT']);

/** The size at which the segments of a log are closed, or those of a new log. Throws as `open`. */
export function segmentBytesOf(directory: string, identity: LogIdentity): number {
  if (segmentsIn(directory).length === 0) return SEGMENT_BYTES;
  const first = new SegmentFile(directory, 0, identity, 'r');
  first.close();
  return first.header.segmentBytes;
}

export class LogWriter {
  readonly #directory: string;
  readonly #options: LogWriterOptions;
  readonly #reserve: Reserve;
  readonly #frame = new RecordFrame();
  #file: SegmentFile;
  /** Bytes of the segments before. */
  #closedBytes: number;
  #size: number;
  #offset: number;
  #nextNumber: number;
  /** The last fact that is on disk for certain. */
  #durableNumber = 0;
  /** The newest landmark; 0: none. */
  #landmark: LogPosition;
  /** After a failed write the content of the file is unknown until `open` reads it. */
  #isBroken = false;

  /**
   * Opens the log of `directory`, or creates one. On return all of it is on disk. A last record
   * that is not whole is cut off. Throws `LogDamage`, `LogMismatch`, and `DiskFull` if a log cannot
   * be created.
   */
  static open(directory: string, options: LogWriterOptions): LogWriter {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const segments = segmentsIn(directory);
    const closedBytes = checkChain(directory, segments, options);
    if (segments.length === 0) {
      if ((options.reaches ?? 0) > 0) throw LogDamage.missing(segmentName(0));
      try {
        startSegment(directory, options, { segment: 0, firstNumber: 1, landmark: 0 });
      } catch (error) {
        throw diskFullOf(error, SEGMENT_HEADER_BYTES);
      }
      syncDirectory(directory);
      syncDirectory(path.dirname(directory));
    }
    return new LogWriter(directory, options, Math.max(0, segments.length - 1), closedBytes);
  }

  private constructor(
    directory: string,
    options: LogWriterOptions,
    last: number,
    closedBytes: number,
  ) {
    this.#directory = directory;
    this.#options = options;
    this.#closedBytes = closedBytes;
    this.#file = new SegmentFile(directory, last, options, 'r+');
    try {
      const end = endOf(this.#file);
      this.#offset = end.offset;
      this.#nextNumber = end.number;
      this.#landmark = end.landmark;
      if (this.tail < (options.reaches ?? 0)) {
        throw new LogDamage(this.#file.name, end.offset, 'it ends before an answered record');
      }
      // A torn record: D21 (engine/RULES.md).
      if (!this.#file.isZeroFrom(end.offset)) ftruncateSync(this.#file.fd, end.offset);
      this.#flush();
      this.#durableNumber = this.#nextNumber - 1;
      this.#size = this.#file.size();
      invariant(this.#size >= end.offset, 'a segment ends before its last record');
      this.#reserve = new Reserve(directory);
    } catch (error) {
      this.#file.close();
      throw error;
    }
  }

  /** The number of the next fact. */
  get nextNumber(): number {
    return this.#nextNumber;
  }

  /** The last fact that is on disk for certain, whatever the durability. */
  get durableNumber(): number {
    return this.#durableNumber;
  }

  /** Of all segments, up to the last record. */
  get bytes(): number {
    return this.#closedBytes + this.#offset;
  }

  /** Where the next record will begin, whatever its size. */
  get tail(): LogPosition {
    const { segment } = this.#file.header;
    if (this.#file.isFullAt(this.#offset)) return positionOf(segment + 1, SEGMENT_HEADER_BYTES);
    return positionOf(segment, this.#offset);
  }

  /**
   * Makes room for one record with a payload of `bytes`, so that its `append` has space. Throws
   * `DiskFull` before any part of a record is written.
   */
  ensureRoom(bytes: number): void {
    this.#checkUsable();
    invariant(Number.isInteger(bytes), 'a payload is not in whole bytes');
    invariant(bytes >= 0 && bytes < PAYLOAD_BYTES_LIMIT, 'a payload has 1 GiB or more');
    const wanted = RECORD_HEADER_BYTES + bytes;
    this.#reserve.ensure(wanted);
    if (this.#file.isFullAt(this.#offset)) this.#startNext(wanted);
    if (this.#offset + wanted > this.#size) this.#grow(wanted);
  }

  /**
   * Writes a record after the last, without a sync. If `ensureRoom` was not called, throws
   * `DiskFull` before it writes. A landmark is a record that a reader of later records needs. So
   * each segment names the newest landmark before it.
   */
  append(record: LogRecord, isLandmark = false): void {
    const { firstNumber, count, atMs, payload } = record;
    invariant(firstNumber === this.#nextNumber, 'a record does not begin with the next number');
    invariant(
      Number.isInteger(count) && count > 0 && count < FACTS_LIMIT,
      'a record has no facts, or too many',
    );
    invariant(Number.isSafeInteger(firstNumber + count), 'the numbers of facts are used up');
    invariant(Number.isSafeInteger(atMs), 'the time of a record is not in whole milliseconds');
    this.ensureRoom(payload.length);
    const { seed, durableBytes } = this.#file;
    const bytes = this.#frame.fill(seed, record, { durableBytes, isLandmark });
    invariant(this.#offset + bytes <= this.#size, 'a record does not fit into its room');
    this.#write(bytes);
    if (isLandmark) {
      invariant(this.tail > this.#landmark, 'a landmark is before the last one');
      this.#landmark = this.tail;
    }
    this.#offset += bytes;
    this.#nextNumber += count;
  }

  /** Makes appended records as safe as `durability` demands. */
  sync(): void {
    this.#checkUsable();
    if (this.#options.durability === 'sync') this.#flush();
  }

  /** The file ends with its last record, as that of a copy does. */
  giveBackRoom(): void {
    this.#checkUsable();
    ftruncateSync(this.#file.fd, this.#offset);
    this.#size = this.#offset;
    this.#file.sync();
  }

  /** Everything is on disk on return. */
  close(): void {
    try {
      if (!this.#isBroken) this.#flush();
    } finally {
      this.#reserve.close();
      this.#file.close();
      this.#isBroken = true;
    }
  }

  #checkUsable(): void {
    invariant(!this.#isBroken, 'a log is written after a fault or after its end');
  }

  #flush(): void {
    if (this.#file.durableBytes === this.#offset) return;
    this.#isBroken = true;
    this.#file.sync();
    this.#isBroken = false;
    this.#file.noteDurable(this.#offset);
    this.#durableNumber = this.#nextNumber - 1;
  }

  #write(bytes: number): void {
    const { fd } = this.#file;
    this.#isBroken = true;
    for (let written = 0; written < bytes; ) {
      try {
        const at = this.#offset + written;
        written += writeSync(fd, this.#frame.bytes, written, bytes - written, at);
      } catch (error) {
        const isFull = NO_SPACE.has((error as NodeJS.ErrnoException).code ?? '');
        if (!isFull || !this.#reserve.release()) throw error;
      }
    }
    this.#isBroken = false;
  }

  /** Bytes not yet on disk stay below one step, with any durability. */
  #grow(bytes: number): void {
    this.#flush();
    const size = this.#offset + Math.max(bytes, STEP_BYTES);
    invariant(size > this.#size, 'a segment grows to a smaller size');
    try {
      ftruncateSync(this.#file.fd, size);
    } catch (error) {
      throw diskFullOf(error, bytes);
    }
    this.#size = size;
  }

  /** A closed segment is on disk, and ends with its last record, before the next one is created. */
  #startNext(bytes: number): void {
    const { header } = this.#file;
    const segment = header.segment + 1;
    invariant(this.#file.isFullAt(this.#offset), 'a segment is closed that has room');
    invariant(this.#nextNumber > header.firstNumber, 'a segment is closed that has no record');
    ftruncateSync(this.#file.fd, this.#offset);
    this.#size = this.#offset;
    this.#isBroken = true;
    this.#file.sync();
    this.#isBroken = false;
    this.#file.noteDurable(this.#offset);
    this.#durableNumber = this.#nextNumber - 1;
    try {
      const firstNumber = this.#nextNumber;
      const next = { segment, firstNumber, landmark: this.#landmark };
      startSegment(this.#directory, this.#options, next);
    } catch (error) {
      throw diskFullOf(error, bytes);
    }
    this.#isBroken = true;
    syncDirectory(this.#directory);
    const file = new SegmentFile(this.#directory, segment, this.#options, 'r+');
    this.#file.close();
    this.#file = file;
    this.#closedBytes += this.#offset;
    this.#file.noteDurable(SEGMENT_HEADER_BYTES);
    this.#offset = SEGMENT_HEADER_BYTES;
    this.#size = SEGMENT_HEADER_BYTES;
    this.#isBroken = false;
  }
}

function startSegment(
  directory: string,
  options: LogWriterOptions,
  next: Pick<SegmentHeader, 'segment' | 'firstNumber' | 'landmark'>,
): void {
  const { shard, formatVersion, fingerprint, segmentBytes = SEGMENT_BYTES } = options;
  invariant(
    segmentBytes >= SEGMENT_HEADER_BYTES && segmentBytes <= 2 ** 31,
    'a segment has more than 2 GiB',
  );
  const identity = { shard, formatVersion, fingerprint };
  createSegment(directory, { ...identity, segmentBytes, ...next });
}
