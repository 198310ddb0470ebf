/**
 * One file of a log: its name, its creation, and the whole records in it. Rules D19 to D21
 * (engine/RULES.md).
 */
import {
  closeSync,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';
import { invariant } from '../base/invariant.ts';
import {
  type LogIdentity,
  mayBeRecord,
  RECORD_HEADER_BYTES,
  readRecord,
  readSegmentHeader,
  recordBytesAt,
  SEGMENT_HEADER_BYTES,
  type SegmentHeader,
  type StoredRecord,
  seedOf,
  segmentHeaderBytes,
} from './log-format.ts';

const NAME = /^\d{8}\.log$/;
/** Reads from the disk are of this size, or of one record if it is larger. */
const CHUNK_BYTES = 2 ** 18;
const NOTHING = Buffer.alloc(0);

export const segmentName = (segment: number): string => `${String(segment).padStart(8, '0')}.log`;

/** Numbers of the segments that have files, ascending. Without a directory: none. */
export function segmentsIn(directory: string): number[] {
  try {
    const names = readdirSync(directory).filter((name) => NAME.test(name));
    return names.map((name) => Number.parseInt(name, 10)).sort((a, b) => a - b);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/**
 * Creates a segment's file, whole and on disk, or not at all. An unfinished file of a crash is
 * overwritten. The caller must call `syncDirectory` for its name.
 */
export function createSegment(directory: string, header: SegmentHeader): void {
  const file = path.join(directory, segmentName(header.segment));
  const unfinished = `${file}.new`;
  try {
    const fd = openSync(unfinished, 'w', 0o600);
    try {
      const bytes = segmentHeaderBytes(header);
      // A full disk writes a part, and fails with its error at the next write.
      for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    renameSync(unfinished, file);
  } catch (error) {
    rmSync(unfinished, { force: true });
    throw error;
  }
}

/** A file's name survives a crash of the machine only once its directory is synced. */
export function syncDirectory(directory: string): void {
  const fd = openSync(directory, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

export class SegmentFile {
  readonly name: string;
  readonly header: SegmentHeader;
  readonly seed: number;
  readonly fd: number;
  #durableBytes = 0;
  /** A piece of the file as it was read, from `#chunkAt`; records are views into it. */
  #chunk: Buffer = NOTHING;
  #chunkAt = 0;

  /** Throws `LogDamage`, `LogMismatch`, or the system's error if the file cannot be opened. */
  constructor(directory: string, segment: number, identity: LogIdentity, mode: 'r' | 'r+') {
    this.name = segmentName(segment);
    this.fd = openSync(path.join(directory, this.name), mode);
    try {
      const bytes = this.#read(0, SEGMENT_HEADER_BYTES);
      this.header = readSegmentHeader(bytes, this.name, segment, identity);
      this.seed = seedOf(bytes);
    } catch (error) {
      closeSync(this.fd);
      throw error;
    }
  }

  /** Bytes from the start of the file that this process knows to be on disk. */
  get durableBytes(): number {
    return this.#durableBytes;
  }

  /** Notes that this much of the file is on disk. */
  noteDurable(bytes: number): void {
    invariant(bytes >= this.#durableBytes, 'the durable size of a segment became smaller');
    this.#durableBytes = bytes;
  }

  size(): number {
    return fstatSync(this.fd).size;
  }

  /** Whether a record that would begin at `offset` belongs to the next segment. */
  isFullAt(offset: number): boolean {
    return offset >= this.header.segmentBytes;
  }

  /**
   * The whole record at `offset`, whose first fact has this number (null: any); null if there is
   * none. Its payload stays valid.
   */
  recordAt(offset: number, number: number | null): StoredRecord | null {
    const kept = this.#chunk;
    const record = this.#wholeAt(offset);
    if (record !== null && isNext(record, number)) return record;
    // A chunk that was kept may be older than the record.
    if (this.#chunk !== kept || this.isUntouchedAt(offset)) return null;
    this.#chunk = NOTHING;
    const again = this.#wholeAt(offset);
    return again !== null && isNext(again, number) ? again : null;
  }

  /**
   * As `recordAt`, for a single record, which is read into its own buffer without the bytes around
   * it.
   */
  lonelyRecordAt(offset: number): StoredRecord | null {
    if (this.#readInto(SCRATCH, offset) < RECORD_HEADER_BYTES) return null;
    const size = recordBytesAt(SCRATCH, 0);
    if (size > TRUSTED_BYTES && offset + size > this.size()) return null;
    return readRecord(this.#read(offset, size), 0, this.seed);
  }

  /** Whether nothing has been written at `offset`: the space ahead is zeros. */
  isUntouchedAt(offset: number): boolean {
    return this.#read(offset, RECORD_HEADER_BYTES).every((byte) => byte === 0);
  }

  /** Whether every byte from `offset` to the end of the file is zero. */
  isZeroFrom(offset: number): boolean {
    const bytes = Buffer.allocUnsafeSlow(CHUNK_BYTES);
    for (let at = offset; ; ) {
      const read = this.#readInto(bytes, at);
      if (read === 0) return true;
      if (bytes.compare(ZEROS, 0, read, 0, read) !== 0) return false;
      at += read;
    }
  }

  /**
   * Whether the incomplete record at `offset` was once whole. It was, if a whole record after it
   * was written when `offset` was already on disk. Otherwise its batch and all later ones were
   * never safe.
   */
  hasLostRecordAt(offset: number, number: number | null): boolean {
    if (this.isZeroFrom(offset)) return false;
    const bytes = this.#read(offset, Math.max(0, this.size() - offset));
    for (let at = 1; at + RECORD_HEADER_BYTES <= bytes.length; at++) {
      if (!mayBeRecord(bytes, at, number ?? this.header.firstNumber)) continue;
      const record = readRecord(bytes, at, this.seed);
      if (record === null) continue;
      // A writer may have finished the record since.
      if (record.durableBytes > offset) return this.recordAt(offset, number) === null;
      at += record.bytes - 1;
    }
    return false;
  }

  /** Makes all written bytes of the file durable. */
  sync(): void {
    fdatasyncSync(this.fd);
  }

  close(): void {
    closeSync(this.fd);
  }

  #wholeAt(offset: number): StoredRecord | null {
    const start = this.#within(offset, RECORD_HEADER_BYTES);
    if (this.#chunk.length - start < RECORD_HEADER_BYTES) return null;
    const size = recordBytesAt(this.#chunk, start);
    if (this.#chunk.length - start >= size) return readRecord(this.#chunk, start, this.seed);
    if (offset + size > this.size()) return null;
    // Done first, because it may read another chunk.
    const whole = this.#within(offset, size);
    return readRecord(this.#chunk, whole, this.seed);
  }

  /** Where `offset` lies in the chunk, which then has `bytes` from there, if the file has. */
  #within(offset: number, bytes: number): number {
    invariant(offset >= SEGMENT_HEADER_BYTES, 'a record is looked for before the first one');
    const at = offset - this.#chunkAt;
    if (at >= 0 && at + bytes <= this.#chunk.length) return at;
    this.#chunk = this.#read(offset, Math.max(bytes, CHUNK_BYTES));
    this.#chunkAt = offset;
    return 0;
  }

  /** Fewer bytes at the end of the file. */
  #read(offset: number, bytes: number): Buffer {
    const buffer = Buffer.allocUnsafeSlow(bytes);
    return buffer.subarray(0, this.#readInto(buffer, offset));
  }

  #readInto(buffer: Buffer, offset: number): number {
    invariant(Number.isSafeInteger(offset) && offset >= 0, 'an offset in a file is not valid');
    let read = 0;
    while (read < buffer.length) {
      const more = readSync(this.fd, buffer, read, buffer.length - read, offset + read);
      if (more === 0) break;
      read += more;
    }
    return read;
  }
}

const SCRATCH = Buffer.alloc(RECORD_HEADER_BYTES);
/** This many bytes are read without a check of the file's size. */
const TRUSTED_BYTES = 2 ** 18;
const ZEROS = Buffer.alloc(CHUNK_BYTES);

function isNext(record: StoredRecord, number: number | null): boolean {
  return number === null || record.firstNumber === number;
}

/** Opens a segment for reading. Null: there is no such file. Throws `LogDamage`, `LogMismatch`. */
export function openSegment(
  directory: string,
  segment: number,
  identity: LogIdentity,
): SegmentFile | null {
  try {
    return new SegmentFile(directory, segment, identity, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return null;
  }
}
