/**
 * The bytes of a shard's log: the header of a segment, the header of a record, and positions in it.
 * Rules D19, D20 (engine/RULES.md). Every change here is a change of the format.
 */
import { crc32 } from 'node:zlib';
import { invariant } from '../base/invariant.ts';
import type { EpochMs, Tagged } from '../base/units.ts';

/** Where a record's header begins: segment x 2^32 + bytes from the start of the segment's file. */
export type LogPosition = Tagged<number, 'LogPosition'>;

const SEGMENT_SPAN = 2 ** 32;
const SEGMENTS_MAX = 2 ** 16;
/** A record's payload has fewer bytes than this. */
export const PAYLOAD_BYTES_LIMIT = 2 ** 30;

export function positionOf(segment: number, offset: number): LogPosition {
  invariant(Number.isInteger(segment) && segment >= 0, 'a segment number is not valid');
  invariant(segment < SEGMENTS_MAX, 'a log has more than 65,536 segments');
  invariant(
    Number.isInteger(offset) && offset >= 0 && offset < SEGMENT_SPAN,
    'a place is outside its segment',
  );
  return segment * SEGMENT_SPAN + offset;
}

export const segmentOf = (at: LogPosition): number => Math.floor(at / SEGMENT_SPAN);
export const offsetOf = (at: LogPosition): number => at % SEGMENT_SPAN;

/** The shard of a log, and the format of its records' payloads. */
export type LogIdentity = {
  shard: number;
  formatVersion: number;
  /** The fingerprint of all layouts of that version, u32. */
  fingerprint: number;
  /**
   * Fingerprints whose layouts are all among the present ones. Rule D87 (engine/RULES.md).
   */
  earlierFingerprints?: readonly number[];
};

/**
 * The log is damaged: `file` is the damaged file and `offset` the start of the damage. Rule D106
 * (engine/RULES.md).
 */
export class LogDamage extends Error {
  readonly file: string;
  readonly offset: number;

  /** `problem`: null if there is no such file. */
  constructor(file: string, offset: number, problem: string | null) {
    super(
      problem === null ? `${file} is missing` : `${file} is damaged at byte ${offset}: ${problem}`,
    );
    this.name = 'LogDamage';
    this.file = file;
    this.offset = offset;
  }

  static missing(file: string): LogDamage {
    return new LogDamage(file, 0, null);
  }
}

/** The log is whole, and of another version of the format or of another shard. */
export class LogMismatch extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'LogMismatch';
  }
}

export type SegmentHeader = LogIdentity & {
  segment: number;
  /** The segment is closed once it has this size. */
  segmentBytes: number;
  /** Of the first fact in it. */
  firstNumber: number;
  /** The newest landmark in the segments before; 0: none. */
  landmark: LogPosition;
};

/**
 * The first 16 bytes mean the same in every version of the format, and the header always has this
 * size.
 */
export const SEGMENT_HEADER_BYTES = 64;
const MAGIC = Buffer.from('PAPERLOG', 'latin1');
const SEGMENT = {
  magic: 0,
  checksum: 8,
  formatVersion: 12,
  fingerprint: 16,
  shard: 20,
  segment: 24,
  segmentBytes: 28,
  firstNumber: 32,
  landmark: 40,
} as const;

export function segmentHeaderBytes(header: SegmentHeader): Buffer {
  invariant(header.firstNumber >= 1, 'a segment begins before the first fact');
  const isBefore = header.landmark < positionOf(header.segment, SEGMENT_HEADER_BYTES);
  invariant(isBefore, 'a segment names a landmark after its own start');
  const bytes = Buffer.alloc(SEGMENT_HEADER_BYTES);
  MAGIC.copy(bytes, SEGMENT.magic);
  bytes.writeUInt32LE(header.formatVersion, SEGMENT.formatVersion);
  bytes.writeUInt32LE(header.fingerprint, SEGMENT.fingerprint);
  bytes.writeUInt32LE(header.shard, SEGMENT.shard);
  bytes.writeUInt32LE(header.segment, SEGMENT.segment);
  bytes.writeUInt32LE(header.segmentBytes, SEGMENT.segmentBytes);
  bytes.writeDoubleLE(header.firstNumber, SEGMENT.firstNumber);
  bytes.writeDoubleLE(header.landmark, SEGMENT.landmark);
  bytes.writeUInt32LE(segmentChecksum(bytes), SEGMENT.checksum);
  return bytes;
}

/** Throws `LogDamage` and `LogMismatch`; `file` is the name that they show. */
export function readSegmentHeader(
  bytes: Buffer,
  file: string,
  segment: number,
  identity: LogIdentity,
): SegmentHeader {
  if (bytes.length < SEGMENT_HEADER_BYTES) throw new LogDamage(file, 0, 'it has no whole header');
  const isOurs = MAGIC.equals(bytes.subarray(0, MAGIC.length));
  if (!isOurs || bytes.readUInt32LE(SEGMENT.checksum) !== segmentChecksum(bytes)) {
    throw new LogDamage(file, 0, 'its header does not have its checksum');
  }
  const header = {
    formatVersion: bytes.readUInt32LE(SEGMENT.formatVersion),
    fingerprint: bytes.readUInt32LE(SEGMENT.fingerprint),
    shard: bytes.readUInt32LE(SEGMENT.shard),
    segment: bytes.readUInt32LE(SEGMENT.segment),
    segmentBytes: bytes.readUInt32LE(SEGMENT.segmentBytes),
    firstNumber: bytes.readDoubleLE(SEGMENT.firstNumber),
    landmark: bytes.readDoubleLE(SEGMENT.landmark),
  };
  checkIdentity(header, file, identity);
  if (header.segment !== segment) {
    throw new LogDamage(file, 0, `its header is that of segment ${header.segment}`);
  }
  return header;
}

function checkIdentity(header: SegmentHeader, file: string, wanted: LogIdentity): void {
  const { formatVersion, fingerprint, shard } = header;
  if (formatVersion !== wanted.formatVersion) {
    throw new LogMismatch(
      `${file} has version ${formatVersion} of the format, and this is version ` +
        `${wanted.formatVersion}`,
    );
  }
  const { earlierFingerprints = [] } = wanted;
  if (fingerprint !== wanted.fingerprint && !earlierFingerprints.includes(fingerprint)) {
    throw new LogMismatch(`${file} has other layouts than version ${formatVersion} here`);
  }
  if (shard !== wanted.shard) {
    throw new LogMismatch(`${file} belongs to shard ${shard}, not to shard ${wanted.shard}`);
  }
}

/**
 * Checksums of a segment's records begin from this one, so that no record is valid in another
 * segment.
 */
export function seedOf(headerBytes: Buffer): number {
  return headerBytes.readUInt32LE(SEGMENT.checksum);
}

function segmentChecksum(bytes: Buffer): number {
  return crc32(bytes.subarray(SEGMENT.formatVersion, SEGMENT_HEADER_BYTES));
}

/** The facts of one batch: the number of the first, and their count. */
export type LogRecord = {
  firstNumber: number;
  count: number;
  atMs: EpochMs;
  payload: Uint8Array;
};

/** A record has fewer facts than this; the next higher bit marks a landmark. */
export const FACTS_LIMIT = 2 ** 31;
export const RECORD_HEADER_BYTES = 32;
const RECORD = {
  checksum: 0,
  payloadBytes: 4,
  firstNumber: 8,
  atMs: 16,
  count: 24,
  durableBytes: 28,
} as const;
/** The part of the header that the checksum covers: all but the checksum itself. */
const CHECKED_FROM = RECORD.payloadBytes;

/** A reused buffer for one record: header and payload as they are on disk. */
export class RecordFrame {
  bytes = Buffer.alloc(0);
  #checkedHeader = this.bytes;

  /** Writes the record into `bytes`, and returns its size. */
  fill(
    seed: number,
    record: LogRecord,
    { durableBytes, isLandmark }: { durableBytes: number; isLandmark: boolean },
  ): number {
    const { payload, count } = record;
    const size = RECORD_HEADER_BYTES + payload.length;
    invariant(payload.length < PAYLOAD_BYTES_LIMIT, 'a record has 1 GiB or more');
    invariant(
      durableBytes >= SEGMENT_HEADER_BYTES,
      'a record is written before the header of its segment',
    );
    if (this.bytes.length < size) {
      this.bytes = Buffer.alloc(Math.max(size * 2, FRAME_BYTES));
      this.#checkedHeader = this.bytes.subarray(CHECKED_FROM, RECORD_HEADER_BYTES);
    }
    const { bytes } = this;
    bytes.writeUInt32LE(payload.length, RECORD.payloadBytes);
    bytes.writeDoubleLE(record.firstNumber, RECORD.firstNumber);
    bytes.writeDoubleLE(record.atMs, RECORD.atMs);
    bytes.writeUInt32LE(isLandmark ? count + FACTS_LIMIT : count, RECORD.count);
    bytes.writeUInt32LE(durableBytes, RECORD.durableBytes);
    const checksum = crc32(payload, crc32(this.#checkedHeader, seed));
    bytes.writeUInt32LE(checksum, RECORD.checksum);
    bytes.set(payload, RECORD_HEADER_BYTES);
    return size;
  }
}

const FRAME_BYTES = 2 ** 16;

/** A record that was read: `bytes` is its size, `durableBytes` the bytes on disk before it. */
export type StoredRecord = LogRecord & {
  bytes: number;
  durableBytes: number;
  isLandmark: boolean;
};

/**
 * Bytes of the record whose header is at `at`, if there is one; the bytes after it may be missing.
 */
export function recordBytesAt(bytes: Buffer, at: number): number {
  return RECORD_HEADER_BYTES + bytes.readUInt32LE(at + RECORD.payloadBytes);
}

/** The record at `at` of `bytes`; null if it is not whole or its checksum does not hold. */
export function readRecord(bytes: Buffer, at: number, seed: number): StoredRecord | null {
  if (bytes.length - at < RECORD_HEADER_BYTES) return null;
  const size = recordBytesAt(bytes, at);
  if (bytes.length - at < size) return null;
  const checksum = bytes.readUInt32LE(at + RECORD.checksum);
  if (crc32(bytes.subarray(at + CHECKED_FROM, at + size), seed) !== checksum) return null;
  const facts = bytes.readUInt32LE(at + RECORD.count);
  const isLandmark = facts >= FACTS_LIMIT;
  return {
    firstNumber: bytes.readDoubleLE(at + RECORD.firstNumber),
    count: isLandmark ? facts - FACTS_LIMIT : facts,
    isLandmark,
    atMs: bytes.readDoubleLE(at + RECORD.atMs),
    payload: bytes.subarray(at + RECORD_HEADER_BYTES, at + size),
    bytes: size,
    durableBytes: bytes.readUInt32LE(at + RECORD.durableBytes),
  };
}

/** Whether there may be a header at `at`: a test before its checksum is computed. */
export function mayBeRecord(bytes: Buffer, at: number, number: number): boolean {
  const first = bytes.readDoubleLE(at + RECORD.firstNumber);
  return first >= number && first < number + SEGMENT_SPAN && Number.isInteger(first);
}
