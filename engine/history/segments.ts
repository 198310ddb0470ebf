/**
 * Blocks in files that only grow, `00000001.blocks` and so on. A file is closed once it is large or
 * its UTC day is over, and removed once all in it is older than what is kept. Rules D50 to D53
 * (engine/RULES.md).
 */
import {
  closeSync,
  existsSync,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';
import { syncDirectory } from '../log/segment-file.ts';
import { invariant } from '../rules/invariant.ts';
import { type EpochMs, utcDayOf } from '../rules/units.ts';
import {
  type BlockHead,
  blockAt,
  checkFileHeader,
  FILE_HEADER_BYTES,
  fileHeader,
  HistoryDamage,
  isUnfinished,
  recordsOf,
} from './block-format.ts';

/** A block, and where it lies. */
export type StoredBlock = BlockHead & { segment: number; offset: number; bytes: number };

/** A file is closed at this size. */
const SEGMENT_BYTES = 16 * 2 ** 20;
const NAME = /^(\d{8})\.blocks$/;

export const segmentName = (segment: number) => `${String(segment).padStart(8, '0')}.blocks`;

/** Numbers of the files in a directory, ascending. */
export function segmentsIn(directory: string): number[] {
  const numbers = readdirSync(directory).map((name) => NAME.exec(name)?.[1]);
  return numbers
    .filter((number) => number !== undefined)
    .map(Number)
    .sort((a, b) => a - b);
}

type Segment = {
  fd: number;
  bytes: number;
  lastMs: EpochMs;
};

export class Segments {
  readonly #directory: string;
  readonly #segments = new Map<number, Segment>();
  /** The file that grows; 0: none yet. */
  #current = 0;
  #currentDay = 0;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /**
   * Opens every file and passes its blocks to `found`. An unfinished block at the end of the last
   * file is cut off: its records are in the journal.
   */
  open(found: (block: StoredBlock) => void): void {
    const numbers = segmentsIn(this.#directory);
    for (const number of numbers) this.#open(number, number === numbers.at(-1), found);
  }

  #open(number: number, isLast: boolean, found: (block: StoredBlock) => void): void {
    const file = path.join(this.#directory, segmentName(number));
    const bytes = readFileSync(file);
    // A crash right after it was created leaves it without a header.
    if (isLast && bytes.length < FILE_HEADER_BYTES) return rmSync(file);
    checkFileHeader(bytes, segmentName(number));
    const segment: Segment = { fd: openSync(file, 'r+'), bytes: FILE_HEADER_BYTES, lastMs: 0 };
    this.#segments.set(number, segment);
    for (let at = FILE_HEADER_BYTES; at < bytes.length; ) {
      const block = blockAt(bytes, at);
      if (block === null) {
        if (!isLast) throw new HistoryDamage(segmentName(number), at, 'a block is not whole');
        ftruncateSync(segment.fd, at);
        break;
      }
      found({ ...block.head, segment: number, offset: at, bytes: block.bytes });
      segment.lastMs = Math.max(segment.lastMs, block.head.lastMs);
      at += block.bytes;
      segment.bytes = at;
    }
    if (!isLast) return;
    this.#current = number;
    this.#currentDay = utcDayOf(segment.lastMs);
  }

  append(head: BlockHead, bytes: Buffer, nowMs: EpochMs): StoredBlock {
    const segment = this.#growing(nowMs);
    const offset = segment.bytes;
    for (let at = 0; at < bytes.length; ) {
      at += writeSync(segment.fd, bytes, at, bytes.length - at, offset + at);
    }
    segment.bytes += bytes.length;
    segment.lastMs = Math.max(segment.lastMs, head.lastMs);
    return { ...head, segment: this.#current, offset, bytes: bytes.length };
  }

  #growing(nowMs: EpochMs): Segment {
    const current = this.#segments.get(this.#current);
    const isOpen = current !== undefined && current.bytes < SEGMENT_BYTES;
    if (isOpen && utcDayOf(nowMs) === this.#currentDay) return current;
    if (current !== undefined) fdatasyncSync(current.fd);
    this.#current++;
    this.#currentDay = utcDayOf(nowMs);
    const file = path.join(this.#directory, segmentName(this.#current));
    invariant(!existsSync(file), 'a file of blocks is created twice');
    writeFileSync(file, fileHeader(), { mode: 0o600 });
    const made = { fd: openSync(file, 'r+'), bytes: FILE_HEADER_BYTES, lastMs: 0 };
    this.#segments.set(this.#current, made);
    syncDirectory(this.#directory);
    return made;
  }

  /** What is on disk from here on survives a crash of the machine. */
  sync(): void {
    const current = this.#segments.get(this.#current);
    if (current !== undefined) fdatasyncSync(current.fd);
  }

  /** The records of a block. Throws `HistoryDamage`. */
  read(block: StoredBlock): Float64Array[] {
    const segment = this.#segments.get(block.segment);
    invariant(segment !== undefined, 'a block lies in a file that is gone');
    return readStoredBlock(segment.fd, block);
  }

  /** Removes the files whose last record is older. @returns their numbers */
  dropBefore(beforeMs: EpochMs): ReadonlySet<number> {
    const dropped = new Set<number>();
    for (const [number, { fd, lastMs }] of this.#segments) {
      if (number === this.#current || lastMs >= beforeMs) continue;
      closeSync(fd);
      rmSync(path.join(this.#directory, segmentName(number)));
      this.#segments.delete(number);
      dropped.add(number);
    }
    return dropped;
  }

  close(): void {
    this.sync();
    for (const { fd } of this.#segments.values()) closeSync(fd);
    this.#segments.clear();
  }
}

/** The records of a block in an open file. Throws `HistoryDamage`. */
export function readStoredBlock(fd: number, block: StoredBlock): Float64Array[] {
  const bytes = Buffer.allocUnsafe(block.bytes);
  const read = readSync(fd, bytes, 0, block.bytes, block.offset);
  if (read < block.bytes || blockAt(bytes, 0) === null) {
    throw new HistoryDamage(segmentName(block.segment), block.offset, 'a block was changed');
  }
  return recordsOf(bytes, block);
}

/** What is wrong with a file of blocks, in words. A server may be writing the last one. */
export function segmentProblems(directory: string, number: number, isLast: boolean): string[] {
  const name = segmentName(number);
  try {
    const fd = openSync(path.join(directory, name), 'r');
    try {
      const bytes = Buffer.alloc(fstatSync(fd).size);
      readSync(fd, bytes, 0, bytes.length, 0);
      checkFileHeader(bytes, name);
      for (let at = FILE_HEADER_BYTES; at < bytes.length; ) {
        const block = blockAt(bytes, at);
        if (block === null && isLast && isUnfinished(bytes, at)) break;
        if (block === null) throw new HistoryDamage(name, at, 'a block is not whole');
        recordsOf(bytes.subarray(at, at + block.bytes), block.head);
        at += block.bytes;
      }
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    return [(error as Error).message];
  }
  return [];
}
