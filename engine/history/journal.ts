/**
 * The records of unfinished blocks, as they came: what a crash leaves of them. It is written a
 * piece at a time, each with its checksum and the engine's time; a start reads it, and writes it
 * anew without the records that blocks have by now. Rules D52, D53 (engine/RULES.md).
 */
import {
  closeSync,
  fdatasyncSync,
  fstatSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';
import { crc32, zstdDecompressSync } from 'node:zlib';
import { syncDirectory } from '../log/segment-file.ts';
import { invariant } from '../rules/invariant.ts';
import type { EpochMs, MarketNumber } from '../rules/units.ts';
import {
  checkFileHeader,
  FILE_HEADER_BYTES,
  fileHeader,
  HistoryDamage,
  sizeCheck,
} from './block-format.ts';
import { KINDS, widthOf } from './kinds.ts';
import { type Columns, compressColumns, unpackColumns } from './record-columns.ts';
import { VarintReader, VarintWriter } from './varints.ts';

export const JOURNAL_NAME = 'journal';
/** Checksum of all, that of the size, the size behind it, the engine's time in two parts. */
const PIECE_HEADER_BYTES = 20;
const U32_END = 2 ** 32;
/** In place of a series: the first record of the one named gets a number, and some follow packed. */
const BEGINS = 0;

/** A series as a journal sees it. */
export type Journaled = {
  readonly kind: number;
  readonly market: MarketNumber;
  /** The journal that its last record was written to, and that record. */
  journal: object | null;
  readonly last: number[];
  /** The number that its next record gets. */
  readonly next: number;
  /** How many of its newest records are not written yet, and where in `loose` they begin. */
  unwritten: number;
  readonly unwrittenFrom: number;
  /** Its newest records, value behind value. */
  readonly loose: readonly number[];
};

/** What a new journal begins with: the unfinished block of a series, maybe empty. */
type Tail = (series: Journaled, number: number, records: Columns) => void;

/** What a reader gets, in the order in which it was written. */
export type JournalSink = {
  /** The next record of the series has this number. */
  begins(kind: number, market: MarketNumber, number: number): void;
  record(kind: number, market: MarketNumber, values: number[]): void;
};

const seriesKey = (kind: number, market: MarketNumber) => market * KINDS.length + kind + 1;

/** Writes records behind each other, each as its difference from the one before in its series. */
class RecordWriter {
  readonly out = new VarintWriter();

  begins(series: Journaled, number: number, records: Columns): void {
    const { kind, market, last } = series;
    const count = records[0]?.length ?? 0;
    for (let at = 0; at < last.length; at++) last[at] = records[at]?.at(-1) ?? 0;
    series.journal = this;
    series.unwritten = 0;
    this.out.unsigned(BEGINS);
    this.out.unsigned(seriesKey(kind, market));
    this.out.unsigned(number);
    this.out.unsigned(count);
    if (count > 0) this.out.blob(compressColumns(records));
  }

  /** The newest records of a series that are not written yet. */
  records(series: Journaled): void {
    const { kind, market, last, loose, next, unwritten, unwrittenFrom } = series;
    invariant(unwrittenFrom >= 0, 'records are packed that the journal does not have');
    if (series.journal !== this) this.begins(series, next - unwritten, []);
    const key = seriesKey(kind, market);
    for (let record = 0; record < unwritten; record++) {
      this.out.unsigned(key);
      this.out.differences(loose, unwrittenFrom + record * last.length, last);
    }
    series.unwritten = 0;
  }
}

export class Journal {
  readonly #directory: string;
  #fd: number | null = null;
  #bytes = 0;
  #records = new RecordWriter();

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Of the file. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Writes a new journal in place of the old one, which holds what `write` passes. It is on disk
   * on return.
   */
  begin(nowMs: EpochMs, write: (tail: Tail) => void): void {
    const file = path.join(this.#directory, JOURNAL_NAME);
    const made = `${file}.new`;
    rmSync(made, { force: true });
    if (this.#fd !== null) closeSync(this.#fd);
    this.#fd = openSync(made, 'wx+', 0o600);
    this.#bytes = 0;
    this.#write(fileHeader());
    this.#records = new RecordWriter();
    write((series, number, records) => this.#records.begins(series, number, records));
    this.flush(nowMs);
    fdatasyncSync(this.#fd);
    renameSync(made, file);
    syncDirectory(this.#directory);
  }

  /** Keeps the records of a series that are not written yet for the next `flush`. */
  records(series: Journaled): void {
    if (series.unwritten > 0) this.#records.records(series);
  }

  /** Writes what was kept: from here on it survives a crash of the process. */
  flush(nowMs: EpochMs): void {
    const { out } = this.#records;
    const piece = Buffer.alloc(PIECE_HEADER_BYTES + out.length);
    piece.writeUInt32BE(sizeCheck(out.length), 4);
    piece.writeUInt32BE(out.length, 8);
    piece.writeUInt32BE(Math.floor(nowMs / U32_END), 12);
    piece.writeUInt32BE(nowMs % U32_END, 16);
    piece.set(out.view(), PIECE_HEADER_BYTES);
    piece.writeUInt32BE(crc32(piece.subarray(4)), 0);
    this.#write(piece);
    out.begin();
  }

  /** What was flushed survives a crash of the machine, too. */
  sync(): void {
    invariant(this.#fd !== null, 'a journal is synced before it has begun');
    fdatasyncSync(this.#fd);
  }

  close(): void {
    if (this.#fd !== null) closeSync(this.#fd);
    this.#fd = null;
  }

  #write(bytes: Buffer): void {
    invariant(this.#fd !== null, 'a journal is written before it has begun');
    for (let at = 0; at < bytes.length; ) {
      at += writeSync(this.#fd, bytes, at, bytes.length - at, this.#bytes + at);
    }
    this.#bytes += bytes.length;
  }
}

/** The journal of a directory, and the engine's time of its last piece; null: there is none. */
export function readJournal(directory: string, sink: JournalSink): EpochMs | null {
  const bytes = journalBytes(directory);
  if (bytes === null) return null;
  return readPieces(bytes, sink).lastMs;
}

function journalBytes(directory: string): Buffer | null {
  let fd: number;
  try {
    fd = openSync(path.join(directory, JOURNAL_NAME), 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  try {
    const bytes = Buffer.alloc(fstatSync(fd).size);
    const read = readSync(fd, bytes, 0, bytes.length, 0);
    checkFileHeader(bytes, JOURNAL_NAME);
    return bytes.subarray(0, read);
  } finally {
    closeSync(fd);
  }
}

/** Reads whole pieces. @returns where the first one that is not whole begins. */
function readPieces(bytes: Buffer, sink: JournalSink): { end: number; lastMs: EpochMs } {
  const lastOf = new Map<number, number[]>();
  let lastMs = 0;
  let end = FILE_HEADER_BYTES;
  while (end + PIECE_HEADER_BYTES <= bytes.length) {
    const next = end + PIECE_HEADER_BYTES + bytes.readUInt32BE(end + 8);
    if (next > bytes.length) break;
    if (bytes.readUInt32BE(end) !== crc32(bytes.subarray(end + 4, next))) break;
    lastMs = bytes.readUInt32BE(end + 12) * U32_END + bytes.readUInt32BE(end + 16);
    const reader = new VarintReader(bytes.subarray(end + PIECE_HEADER_BYTES, next));
    while (!reader.isAtEnd) readEntry(reader, lastOf, sink);
    end = next;
  }
  return { end, lastMs };
}

function readEntry(reader: VarintReader, lastOf: Map<number, number[]>, sink: JournalSink): void {
  const named = reader.unsigned();
  const key = named === BEGINS ? reader.unsigned() : named;
  const kind = (key - 1) % KINDS.length;
  const market = (key - 1 - kind) / KINDS.length;
  if (named === BEGINS) {
    sink.begins(kind, market, reader.unsigned());
    lastOf.set(
      key,
      readTail(reader, kind, (values) => sink.record(kind, market, values)),
    );
    return;
  }
  const last = lastOf.get(key);
  invariant(last !== undefined, 'a journal has a record of no series');
  for (let at = 0; at < last.length; at++) last[at]! += reader.signed();
  sink.record(kind, market, [...last]);
}

/** Passes packed records on. @returns what the next one is the difference from */
function readTail(
  reader: VarintReader,
  kind: number,
  record: (values: number[]) => void,
): number[] {
  const count = reader.unsigned();
  let last: number[] = new Array(widthOf(kind)).fill(0);
  if (count === 0) return last;
  const columns = unpackColumns(zstdDecompressSync(reader.blob()), widthOf(kind), count);
  for (let at = 0; at < count; at++) {
    last = columns.map((values) => values[at]!);
    record([...last]);
  }
  return last;
}

/** What is wrong with the journal of a directory, in words; a server may be writing its end. */
export function journalProblems(directory: string): string[] {
  try {
    const bytes = journalBytes(directory);
    if (bytes === null) return [];
    const { end } = readPieces(bytes, { begins() {}, record() {} });
    const isTorn = bytes.length - end < PIECE_HEADER_BYTES;
    const isWhole = end === bytes.length || isTorn || endsBehind(bytes, end);
    if (!isWhole) throw new HistoryDamage(JOURNAL_NAME, end, 'a piece was changed');
  } catch (error) {
    return [(error as Error).message];
  }
  return [];
}

function endsBehind(bytes: Buffer, at: number): boolean {
  const size = bytes.readUInt32BE(at + 8);
  const isSize = sizeCheck(size) === bytes.readUInt32BE(at + 4);
  return isSize && at + PIECE_HEADER_BYTES + size > bytes.length;
}
