/**
 * Blocks in files that only grow, `00000001.blocks` and so on. A file is closed once it is large or
 * its UTC day is over. It is removed once all its records are older than the retention. Rules D50
 * to D53, D81 (engine/RULES.md).
 */
import {
  closeSync,
  existsSync,
  fdatasyncSync,
  ftruncateSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';
import { invariant } from '../base/invariant.ts';
import { type EpochMs, utcDayOf } from '../base/units.ts';
import { syncDirectory } from '../log/segment-file.ts';
import {
  BLOCK_HEADER_BYTES,
  type BlockHead,
  blockAt,
  checkFileHeader,
  FILE_HEADER_BYTES,
  fileHeader,
  HistoryDamage,
  isUnfinished,
  mayBeBlock,
  recordsOf,
} from './block-format.ts';

/** A block, and where it lies. */
export type StoredBlock = BlockHead & { segment: number; offset: number; bytes: number };

/** Passes whole blocks on, and the problems of a file. Throws if a file is of another version. */
export type ReadBlocks = (
  found: (block: StoredBlock) => void,
  damaged: (file: string, damage: readonly HistoryDamage[]) => void,
) => void;

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
   * Opens every file and passes its whole blocks to `found`. An unfinished block at the end of the
   * last file is cut off, because its records are in the journal. If a file has other damage,
   * `damaged` keeps a copy of it, and the file is rewritten with its whole blocks.
   */
  open(...[found, damaged]: Parameters<ReadBlocks>): void {
    const numbers = segmentsIn(this.#directory);
    for (const number of numbers) this.#open(number, number === numbers.at(-1), found, damaged);
  }

  #open(number: number, isLast: boolean, ...[found, damaged]: Parameters<ReadBlocks>): void {
    const file = path.join(this.#directory, segmentName(number));
    const bytes = readFileSync(file);
    // A crash right after it was created leaves it without a header.
    if (isLast && bytes.length < FILE_HEADER_BYTES && isZero(bytes)) return rmSync(file);
    const { blocks, end, damage } = readSegment(bytes, number, isLast);
    if (damage.length > 0) damaged(segmentName(number), damage);
    let place = FILE_HEADER_BYTES;
    const places = blocks.map((block) => {
      const offset = place;
      place += block.bytes;
      return damage.length === 0 ? block : { ...block, offset };
    });
    if (damage.length > 0) writeAnew(this.#directory, number, bytes, blocks);
    const fd = openSync(file, 'r+');
    if (damage.length === 0 && end < bytes.length) ftruncateSync(fd, end);
    const lastMs = blocks.reduce((last, block) => Math.max(last, block.lastMs), 0);
    this.#segments.set(number, { fd, bytes: place, lastMs });
    for (const block of places) found(block);
    if (!isLast) return;
    this.#current = number;
    this.#currentDay = utcDayOf(lastMs);
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

  /** From here on all written blocks survive a crash of the machine. */
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

/** The records of a block in an open file. Throws `BlockDamage`. */
export function readStoredBlock(fd: number, block: StoredBlock): Float64Array[] {
  const bytes = Buffer.allocUnsafe(block.bytes);
  const read = readSync(fd, bytes, 0, block.bytes, block.offset);
  const there = read < block.bytes ? null : blockAt(bytes, 0);
  if (there === null || !isSameBlock(there.head, block)) throw new BlockDamage(block);
  return recordsOf(bytes, block);
}

/** A block has changed since its file was read. */
export class BlockDamage extends HistoryDamage {
  readonly block: StoredBlock;

  constructor(block: StoredBlock) {
    super(segmentName(block.segment), block.offset, 'a block was changed');
    this.block = block;
  }
}

function isSameBlock(one: BlockHead, other: BlockHead): boolean {
  return one.kind === other.kind && one.market === other.market && one.first === other.first;
}

/** The content of a file of blocks. */
export type ReadSegment = {
  blocks: StoredBlock[];
  /** Where the last whole block ends. */
  end: number;
  /** The damage that is no torn end. */
  damage: HistoryDamage[];
};

/** Throws if the file is of another version. */
export function readSegment(bytes: Buffer, segment: number, isLast: boolean): ReadSegment {
  const name = segmentName(segment);
  const damage: HistoryDamage[] = [];
  try {
    checkFileHeader(bytes, name);
  } catch (error) {
    if (!(error instanceof HistoryDamage)) throw error;
    damage.push(error);
  }
  const blocks: StoredBlock[] = [];
  let end = Math.min(FILE_HEADER_BYTES, bytes.length);
  while (end < bytes.length) {
    const at = nextBlock(bytes, end);
    if (at === -1) break;
    if (at !== end) damage.push(new HistoryDamage(name, end, 'a block is not whole'));
    const { head, bytes: size } = blockAt(bytes, at)!;
    blocks.push({ ...head, segment, offset: at, bytes: size });
    end = at + size;
  }
  const isTorn = isLast && (isUnfinished(bytes, end) || isZero(bytes.subarray(end)));
  if (end < bytes.length && !isTorn) {
    damage.push(new HistoryDamage(name, end, 'a block is not whole'));
  }
  return { blocks, end, damage };
}

/** Where the next whole block begins, from an offset on; -1: there is none. */
function nextBlock(bytes: Buffer, from: number): number {
  for (let at = from; at + BLOCK_HEADER_BYTES <= bytes.length; at++) {
    if (mayBeBlock(bytes, at) && blockAt(bytes, at) !== null) return at;
  }
  return -1;
}

const isZero = (bytes: Uint8Array) => bytes.every((byte) => byte === 0);

/** On disk on return, in place of the file as it is. */
function writeAnew(
  directory: string,
  segment: number,
  bytes: Buffer,
  blocks: readonly StoredBlock[],
): void {
  const file = path.join(directory, segmentName(segment));
  const made = `${file}.new`;
  invariant(
    blocks.every((block) => block.segment === segment),
    'a block is of another file',
  );
  const parts = blocks.map((block) => bytes.subarray(block.offset, block.offset + block.bytes));
  writeFileSync(made, Buffer.concat([fileHeader(), ...parts]), { mode: 0o600, flush: true });
  renameSync(made, file);
  syncDirectory(directory);
}
