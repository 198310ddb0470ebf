/**
 * The records of unfinished blocks, in the order of their arrival; after a crash they are read from
 * here. The journal is written a piece at a time. Each piece has its checksum, the engine's time
 * and everything needed to read it. So a damaged piece spoils no other. A start reads the journal,
 * and rewrites it without the records that blocks have by now. Rules D52, D53, D81, D82
 * (engine/RULES.md).
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
import { invariant } from '../base/invariant.ts';
import type { EpochMs, MarketNumber } from '../base/units.ts';
import { syncDirectory } from '../log/segment-file.ts';
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
/** The mark of a piece, so that the next piece is found after damage. */
const MARK = Buffer.from('PIEC', 'latin1');
/** The mark; then the fields of `PIECE`, in numbers of four bytes. */
const PIECE_HEADER_BYTES = 60;
const PIECE = {
  checksum: 4,
  size: 8,
  sizeCheck: 12,
  journal: 16,
  number: 20,
  /** In two numbers, the higher part first; the records too. */
  nowMs: 24,
  records: 32,
  part: 40,
  /** In two numbers, too: the series that this piece of the beginning has, if there is one. */
  fromKey: 44,
  toKey: 52,
} as const;
/**
 * The content of a piece: records that arrived, or the unfinished blocks that a journal begins
 * with.
 */
const PARTS = ['came', 'begun', 'last of begun'] as const;
export type JournalPart = (typeof PARTS)[number];
const U32_END = 2 ** 32;
/** After all series. */
export const KEYS_END = 2 ** 51;
/**
 * In place of a series: the first record of the named series gets a number, and packed records
 * follow.
 */
const BEGINS = 0;
/** A piece of the beginning has about this size, so that damage costs only a part of it. */
const BEGUN_BYTES = 2 ** 16;

/** A series as a journal sees it. */
export type Journaled = {
  readonly kind: number;
  readonly market: MarketNumber;
  /** The piece that its last record was written to, and that record. */
  journal: object | null;
  readonly last: number[];
  /** The number that its next record gets. */
  readonly next: number;
  /** How many of its newest records are not written yet, and where in `loose` they begin. */
  unwritten: number;
  readonly unwrittenFrom: number;
  /** Its newest records, value after value. */
  readonly loose: readonly number[];
};

/** Where the kept records of a series begin. */
export type SeriesStart = { number: number; atMs: EpochMs };

/** The first content of a new journal: the unfinished block of a series, maybe empty. */
export type JournalTail = (
  series: Journaled,
  number: number,
  records: Columns,
  start: SeriesStart,
) => void;

/** The head of a whole piece. */
export type PieceFacts = {
  nowMs: EpochMs;
  /** How many records all series ever had at that time. */
  records: number;
};

/** The calls that a reader gets, in the order in which the content was written. */
export type JournalSink = {
  /** The next record of the series has this number. `start`: it is in the journal's beginning. */
  begins(kind: number, market: MarketNumber, number: number, start: SeriesStart | null): void;
  record(kind: number, market: MarketNumber, values: number[]): void;
  /**
   * The entries of a piece follow. `isBehindDamage`: the bytes before it cannot be read. `keys`: of
   * a piece of the beginning.
   */
  piece(facts: PieceFacts, part: JournalPart, keys: Keys, isBehindDamage: boolean): void;
};

/** The place of a series in the journal's beginning. */
export const seriesKey = (kind: number, market: MarketNumber): number =>
  market * KINDS.length + kind + 1;

/** The series that a piece of the beginning has, all of them; `to` exclusive. */
export type Keys = { from: number; to: number };
const NO_KEYS: Keys = { from: 0, to: 0 };

/** Writes consecutive records, each as its difference from the record before in its piece. */
class PieceWriter {
  readonly out = new VarintWriter();
  /** Another object for each piece: a series without a record there begins in it. */
  #piece: object = {};

  next(): void {
    this.#piece = {};
    this.out.begin();
  }

  begins(series: Journaled, number: number, records: Columns, start: SeriesStart | null): void {
    const { kind, market, last } = series;
    const count = records[0]?.length ?? 0;
    for (let at = 0; at < last.length; at++) last[at] = records[at]?.at(-1) ?? 0;
    series.journal = this.#piece;
    this.out.unsigned(BEGINS);
    this.out.unsigned(seriesKey(kind, market));
    this.out.unsigned(number);
    this.out.unsigned(start === null ? 0 : 1);
    if (start === null) return;
    invariant(start.number <= number, 'a series begins after its unfinished block');
    series.unwritten = 0;
    this.out.unsigned(start.number);
    this.out.unsigned(start.atMs);
    this.out.unsigned(count);
    if (count > 0) this.out.blob(compressColumns(records));
  }

  /** The newest records of a series that are not written yet. */
  records(series: Journaled): void {
    const { kind, market, last, loose, next, unwritten, unwrittenFrom } = series;
    invariant(unwrittenFrom >= 0, 'records are packed that the journal does not have');
    if (series.journal !== this.#piece) this.begins(series, next - unwritten, [], null);
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
  #number = 0;
  #pieces = 0;
  readonly #writer = new PieceWriter();

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Of the file. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Each new journal has a higher one. */
  get number(): number {
    return this.#number;
  }

  /**
   * Replaces the journal by a new one, which holds the records that `write` passes, in the order of
   * `seriesKey`. It is on disk on return. `vouch` records that where no change of this file can
   * reach, before the old journal is gone.
   */
  begin(
    number: number,
    facts: PieceFacts,
    write: (tail: JournalTail) => void,
    vouch: () => void,
  ): void {
    invariant(number > this.#number, 'the numbers of journals go back');
    const file = path.join(this.#directory, JOURNAL_NAME);
    const made = `${file}.new`;
    rmSync(made, { force: true });
    if (this.#fd !== null) closeSync(this.#fd);
    this.#fd = openSync(made, 'wx+', 0o600);
    this.#bytes = 0;
    this.#number = number;
    this.#pieces = 0;
    this.#write(fileHeader());
    this.#writer.next();
    let fromKey = 0;
    write((series, first, records, start) => {
      const key = seriesKey(series.kind, series.market);
      invariant(key > fromKey, 'a journal begins with its series in another order');
      if (this.#writer.out.length >= BEGUN_BYTES) {
        this.#piece('begun', facts, { from: fromKey, to: key });
        fromKey = key;
      }
      this.#writer.begins(series, first, records, start);
    });
    this.#piece('last of begun', facts, { from: fromKey, to: KEYS_END });
    fdatasyncSync(this.#fd);
    vouch();
    renameSync(made, file);
    syncDirectory(this.#directory);
  }

  /** Keeps the records of a series that are not written yet for the next `flush`. */
  records(series: Journaled): void {
    if (series.unwritten > 0) this.#writer.records(series);
  }

  /** Writes the kept records. From here on they survive a crash of the process. */
  flush(facts: PieceFacts): void {
    this.#piece('came', facts, NO_KEYS);
  }

  #piece(part: JournalPart, { nowMs, records }: PieceFacts, { from, to }: Keys): void {
    const { out } = this.#writer;
    invariant(Number.isSafeInteger(nowMs) && nowMs >= 0, 'the time of a piece is not whole');
    invariant(Number.isSafeInteger(records) && records >= 0, 'records are not counted whole');
    invariant(this.#number > 0, 'a piece is of no journal');
    const piece = Buffer.alloc(PIECE_HEADER_BYTES + out.length);
    MARK.copy(piece);
    piece.writeUInt32BE(out.length, PIECE.size);
    piece.writeUInt32BE(sizeCheck(out.length), PIECE.sizeCheck);
    piece.writeUInt32BE(this.#number, PIECE.journal);
    piece.writeUInt32BE(this.#pieces++, PIECE.number);
    writeLong(piece, nowMs, PIECE.nowMs);
    writeLong(piece, records, PIECE.records);
    piece.writeUInt32BE(PARTS.indexOf(part), PIECE.part);
    writeLong(piece, from, PIECE.fromKey);
    writeLong(piece, to, PIECE.toKey);
    piece.set(out.view(), PIECE_HEADER_BYTES);
    piece.writeUInt32BE(crc32(piece.subarray(PIECE.size)), PIECE.checksum);
    this.#write(piece);
    this.#writer.next();
  }

  /** From here on flushed records also survive a crash of the machine. */
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

function writeLong(bytes: Buffer, value: number, at: number): void {
  bytes.writeUInt32BE(Math.floor(value / U32_END), at);
  bytes.writeUInt32BE(value % U32_END, at + 4);
}

const readLong = (bytes: Buffer, at: number): number =>
  bytes.readUInt32BE(at) * U32_END + bytes.readUInt32BE(at + 4);

/** The bytes of a directory's journal; null: there is none. */
export function journalBytes(directory: string): Buffer | null {
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
    return bytes.subarray(0, read);
  } finally {
    closeSync(fd);
  }
}

/** The result of reading a journal. */
export type ReadJournal = {
  /** Null: no piece of it could be read. */
  number: number | null;
  /** The head of the last piece; null: there is none. */
  last: PieceFacts | null;
  /** Where whole pieces end. */
  end: number;
  /** The damage that is no torn end, in the order of the file. */
  damage: HistoryDamage[];
  /** Whether records are missing after all that can be read. */
  hasLostEnd: boolean;
};

/**
 * Passes on all that can be read. `vouchedOf` says how much of the journal of a number was on disk,
 * however a crash has torn it. It throws `HistoryDamage` if that journal does not belong here.
 * Throws if the file is of another version.
 */
export function readJournal(
  bytes: Buffer,
  vouchedOf: (number: number | null) => number,
  sink: JournalSink,
): ReadJournal {
  const read: ReadJournal = { number: null, last: null, end: 0, damage: [], hasLostEnd: false };
  const lose = (at: number, what: string) => {
    read.damage.push(new HistoryDamage(JOURNAL_NAME, at, what));
  };
  try {
    checkFileHeader(bytes, JOURNAL_NAME);
  } catch (error) {
    if (!(error instanceof HistoryDamage)) throw error;
    read.damage.push(error);
  }
  let pieces = 0;
  read.end = Math.min(FILE_HEADER_BYTES, bytes.length);
  for (;;) {
    const at = nextPiece(bytes, read.end);
    if (at === -1) break;
    const isFirst = read.number === null;
    const number = bytes.readUInt32BE(at + PIECE.number);
    read.number ??= bytes.readUInt32BE(at + PIECE.journal);
    const isBehindDamage = number !== pieces;
    if (at !== read.end) lose(read.end, 'a piece was changed');
    else if (isBehindDamage) lose(at, isFirst ? 'its beginning is missing' : 'a piece is missing');
    pieces = number + 1;
    const part = PARTS[bytes.readUInt32BE(at + PIECE.part)]!;
    const nowMs = readLong(bytes, at + PIECE.nowMs);
    read.last = { nowMs, records: readLong(bytes, at + PIECE.records) };
    read.end = endOfPiece(bytes, at);
    const keys = {
      from: readLong(bytes, at + PIECE.fromKey),
      to: readLong(bytes, at + PIECE.toKey),
    };
    sink.piece(read.last, part, keys, isBehindDamage);
    const reader = new VarintReader(bytes.subarray(at + PIECE_HEADER_BYTES, read.end));
    const lastOf = new Map<number, number[]>();
    while (!reader.isAtEnd) readEntry(reader, lastOf, sink);
  }
  try {
    const vouched = vouchedOf(read.number);
    read.hasLostEnd = read.end < vouched || read.last === null;
    const isCut = bytes.length < vouched;
    if (read.hasLostEnd) lose(read.end, isCut ? `it had ${vouched} bytes` : 'a piece was changed');
  } catch (error) {
    if (!(error instanceof HistoryDamage)) throw error;
    read.damage.push(error);
    read.hasLostEnd = true;
  }
  return read;
}

/** Where the next whole piece begins, from an offset on; -1: there is none. */
function nextPiece(bytes: Buffer, from: number): number {
  for (let at = from; ; at++) {
    at = bytes.indexOf(MARK, at);
    if (at === -1) return -1;
    const end = endOfPiece(bytes, at);
    if (end === -1) continue;
    const checksum = bytes.readUInt32BE(at + PIECE.checksum);
    if (crc32(bytes.subarray(at + PIECE.size, end)) === checksum) return at;
  }
}

/** -1: it would end after the end of the file, or its size was changed. */
function endOfPiece(bytes: Buffer, at: number): number {
  if (at + PIECE_HEADER_BYTES > bytes.length) return -1;
  const size = bytes.readUInt32BE(at + PIECE.size);
  const end = at + PIECE_HEADER_BYTES + size;
  const isSize = sizeCheck(size) === bytes.readUInt32BE(at + PIECE.sizeCheck);
  return isSize && end <= bytes.length ? end : -1;
}

function readEntry(reader: VarintReader, lastOf: Map<number, number[]>, sink: JournalSink): void {
  const named = reader.unsigned();
  const key = named === BEGINS ? reader.unsigned() : named;
  const kind = (key - 1) % KINDS.length;
  const market = (key - 1 - kind) / KINDS.length;
  if (named === BEGINS) {
    const number = reader.unsigned();
    invariant(Number.isSafeInteger(number), 'a journal has an invalid number');
    const isBegun = reader.unsigned() === 1;
    const start = isBegun ? { number: reader.unsigned(), atMs: reader.unsigned() } : null;
    sink.begins(kind, market, number, start);
    const last = isBegun
      ? readTail(reader, kind, (values) => sink.record(kind, market, values))
      : new Array<number>(widthOf(kind)).fill(0);
    lastOf.set(key, last);
    return;
  }
  const last = lastOf.get(key);
  invariant(last !== undefined, 'a journal has a record of no series');
  for (let at = 0; at < last.length; at++) last[at]! += reader.signed();
  sink.record(kind, market, [...last]);
}

/** Passes packed records on. @returns the record that the next one is a difference from */
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
