/**
 * The bytes of the history's files: their header, and blocks with headers of their own. Every
 * change here is a new version. Rules D50, D51 (engine/RULES.md).
 */
import { crc32, zstdDecompressSync } from 'node:zlib';
import { invariant } from '../base/invariant.ts';
import type { EpochMs, MarketNumber } from '../base/units.ts';
import { ByteReader, ByteWriter } from '../format/bytes.ts';
import { HISTORY_VERSION, KINDS, widthOf } from './kinds.ts';
import { type Columns, compressColumns, unpackColumns } from './record-columns.ts';

/** A file is damaged from `offset` on. */
export class HistoryDamage extends Error {
  readonly offset: number;

  constructor(file: string, offset: number, problem: string) {
    super(`${file} is damaged at byte ${offset}: ${problem}`);
    this.name = 'HistoryDamage';
    this.offset = offset;
  }
}

/** A block's place in a series, and in time. */
export type BlockHead = {
  kind: number;
  market: MarketNumber;
  /** The number of its first record in the series. */
  first: number;
  records: number;
  firstMs: EpochMs;
  lastMs: EpochMs;
};

const MAGIC = 'PAPERHST';
/** Magic, checksum, version, fingerprint. */
export const FILE_HEADER_BYTES = 20;
/** The checksum of all, the checksum of the size, the size after the header, and the head. */
export const BLOCK_HEADER_BYTES = 41;

/**
 * The fingerprint of the kinds and their columns. A changed column cannot be read as the old one.
 */
const FINGERPRINT = crc32(JSON.stringify(KINDS));

export function fileHeader(): Buffer {
  const bytes = Buffer.alloc(FILE_HEADER_BYTES);
  bytes.write(MAGIC, 'latin1');
  bytes.writeUInt32BE(HISTORY_VERSION, 12);
  bytes.writeUInt32BE(FINGERPRINT, 16);
  bytes.writeUInt32BE(crc32(bytes.subarray(12)), 8);
  return bytes;
}

/** Throws `HistoryDamage`, or an error that names both versions. */
export function checkFileHeader(bytes: Buffer, file: string): void {
  const isWhole = bytes.length >= FILE_HEADER_BYTES && bytes.toString('latin1', 0, 8) === MAGIC;
  if (!isWhole || bytes.readUInt32BE(8) !== crc32(bytes.subarray(12, FILE_HEADER_BYTES))) {
    throw new HistoryDamage(file, 0, 'its header is not of a history');
  }
  const version = bytes.readUInt32BE(12);
  if (version === HISTORY_VERSION && bytes.readUInt32BE(16) === FINGERPRINT) return;
  throw new Error(
    `${file} has version ${version} of the history's format, and this is version ${HISTORY_VERSION}`,
  );
}

const sized = Buffer.alloc(4);

/** A changed size is not mistaken for a block whose end is still to be written. */
export function sizeCheck(size: number): number {
  sized.writeUInt32BE(size);
  return crc32(sized);
}

const writer = new ByteWriter();

/** Header and records of a block. */
export function packBlock(head: BlockHead, columns: Columns): Buffer {
  invariant(columns.length === widthOf(head.kind), 'a block has other columns than its kind');
  invariant(columns[0]!.length === head.records, 'a block has another number of records');
  invariant(head.firstMs <= head.lastMs, 'a block ends before it begins');
  const payload = compressColumns(columns);
  writer.begin();
  writer.u32(0);
  writer.u32(sizeCheck(payload.length));
  writer.u32(payload.length);
  writer.u8(head.kind);
  writer.u32(head.market);
  writer.u48(head.first);
  writer.u48(head.firstMs);
  writer.u48(head.lastMs);
  writer.u48(head.records);
  writer.packed(payload);
  writer.setU32(0, crc32(writer.view(4, writer.length)));
  return writer.copy();
}

/** A whole block at `at`, with its size; null: the bytes there are no block. */
export function blockAt(bytes: Buffer, at: number): { head: BlockHead; bytes: number } | null {
  if (at + BLOCK_HEADER_BYTES > bytes.length) return null;
  const end = at + BLOCK_HEADER_BYTES + bytes.readUInt32BE(at + 8);
  if (end > bytes.length) return null;
  if (bytes.readUInt32BE(at) !== crc32(bytes.subarray(at + 4, end))) return null;
  const from = new ByteReader(bytes);
  from.goTo(at + 12);
  const head = {
    kind: from.u8(),
    market: from.u32(),
    first: from.u48(),
    firstMs: from.u48(),
    lastMs: from.u48(),
    records: from.u48(),
  };
  return { head, bytes: end - at };
}

/** Whether a block may begin at `at`: a test before its checksum is computed. */
export function mayBeBlock(bytes: Buffer, at: number): boolean {
  const size = bytes.readUInt32BE(at + 8);
  return at + BLOCK_HEADER_BYTES + size <= bytes.length && isSizeAt(bytes, at, size);
}

const isSizeAt = (bytes: Buffer, at: number, size: number) =>
  sizeCheck(size) === bytes.readUInt32BE(at + 4);

/** Whether a block would end after the end of its file. */
export function isUnfinished(bytes: Buffer, at: number): boolean {
  const rest = bytes.length - at;
  if (rest < BLOCK_HEADER_BYTES) return true;
  const size = bytes.readUInt32BE(at + 8);
  return size > rest - BLOCK_HEADER_BYTES && isSizeAt(bytes, at, size);
}

/** The records of a block that `blockAt` has found whole at the start of `bytes`. */
export function recordsOf(bytes: Buffer, { kind, records }: BlockHead): Float64Array[] {
  const unpacked = zstdDecompressSync(bytes.subarray(BLOCK_HEADER_BYTES));
  return unpackColumns(unpacked, widthOf(kind), records);
}
