/**
 * What SQLite has written beside the file of the records and not copied into it yet. A crash leaves
 * it, and the next start reads it up to the first frame that is not whole. Where some of the frames
 * behind that one are in the file already, old pages would lie beside new ones: so each copying
 * notes what it copies, and a start compares. Rules Y2, Y83 (engine/RULES.md).
 */
import {
  closeSync,
  fstatSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { crc32 } from 'node:zlib';
import { invariant } from '../rules/invariant.ts';
import type { Database } from './database.ts';

/** Endings of the files that belong to a database: its own, SQLite's, and the note of a copying. */
export const BESIDE = ['', '-wal', '-shm', '-copying'] as const;
const WAL = '-wal';
const NOTE = '-copying';

/** The frames are copied once they take so much. */
const COPIED_FROM_BYTES = 4 * 2 ** 20;
/** How long a transaction waits for another process, which may read what a crash has left. */
const BUSY_MS = 5000;
const READ_BYTES = 2 ** 20;
const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
/** In both, the checksum is the last two words. */
const SUM_BYTES = 8;
/** SQLite's magic number, whose last bit says in what order the words of its checksums are. */
const MAGIC = 0x377f0682;

/** A part of the file from its start. */
type Extent = { bytes: number; sum: number };
const NOTHING: Extent = { bytes: 0, sum: 0 };

export class WriteAhead {
  readonly #database: Database;
  /** What the last copying has noted and could not finish, as others were reading. */
  #noted = NOTHING;

  /** Of a database that is written by this thread alone. */
  constructor(database: Database) {
    this.#database = database;
  }

  /** Between transactions: copies what was written, where that has grown by so much. */
  copyFrom(bytes = COPIED_FROM_BYTES): void {
    const { inTransaction, name } = this.#database;
    invariant(!inTransaction, 'what was written is copied within a transaction');
    const size = sizeOf(name + WAL);
    if (size < this.#noted.bytes) this.#noted = NOTHING;
    if (size - this.#noted.bytes < bytes) return;
    this.#noted = extentOf(name + WAL, this.#noted);
    writeFileSync(name + NOTE, JSON.stringify(this.#noted), { mode: 0o600 });
    this.#copy();
    if (sizeOf(name + WAL) > 0) return;
    rmSync(name + NOTE, { force: true });
    this.#noted = NOTHING;
  }

  /** Nobody is waited for: who reads an older moment holds up the copying, and not the facts. */
  #copy(): void {
    this.#database.pragma('busy_timeout = 0');
    this.#database.pragma('wal_checkpoint(TRUNCATE)');
    this.#database.pragma(`busy_timeout = ${BUSY_MS}`);
  }
}

/** Why what a crash has left beside a file cannot be gone on with; null: it can. */
export function writeAheadDamage(file: string): string | null {
  const frames = readIfThere(file + WAL);
  const note = readIfThere(file + NOTE);
  const at = frames === null ? null : brokenFrame(frames);
  if (at !== null) return `${file}${WAL} is damaged at byte ${at}`;
  if (note === null) return null;
  const noted = notedIn(note.toString());
  const isWhole =
    noted !== null &&
    frames !== null &&
    frames.length >= noted.bytes &&
    crc32(frames.subarray(0, noted.bytes)) === noted.sum;
  return isWhole ? null : `${file}${WAL} is not what was being copied into ${file}`;
}

/** Continues the extent to the end of the file. */
function extentOf(file: string, { bytes, sum }: Extent): Extent {
  const fd = openSync(file, 'r');
  try {
    const { size } = fstatSync(fd);
    const buffer = Buffer.alloc(Math.min(READ_BYTES, size - bytes));
    while (bytes < size) {
      const read = readSync(fd, buffer, 0, Math.min(buffer.length, size - bytes), bytes);
      sum = crc32(buffer.subarray(0, read), sum);
      bytes += read;
    }
    return { bytes, sum };
  } finally {
    closeSync(fd);
  }
}

function notedIn(text: string): Extent | null {
  try {
    return JSON.parse(text) as Extent;
  } catch {
    return null;
  }
}

/**
 * Where a frame is not whole, and the end of a transaction follows it: no torn write leaves that.
 * Null: nowhere. A file whose header is not whole has no frames, so that it is damaged where anything follows.
 */
function brokenFrame(bytes: Buffer): number | null {
  if (bytes.length <= HEADER_BYTES) return null;
  const magic = bytes.readUInt32BE(0);
  const isBigEndian = magic === MAGIC + 1;
  const pageBytes = bytes.readUInt32BE(8);
  const sums: Sums = [0, 0];
  addTo(sums, bytes.subarray(0, HEADER_BYTES - SUM_BYTES), isBigEndian);
  if ((magic !== MAGIC && !isBigEndian) || !isSumAt(bytes, HEADER_BYTES - SUM_BYTES, sums))
    return 0;
  const salts = bytes.subarray(16, 24);
  let broken: number | null = null;
  const frameBytes = FRAME_HEADER_BYTES + pageBytes;
  for (let at = HEADER_BYTES; at + frameBytes <= bytes.length; at += frameBytes) {
    const isOfThese = salts.equals(bytes.subarray(at + 8, at + 16));
    if (broken !== null) {
      if (isOfThese && bytes.readUInt32BE(at + 4) !== 0) return broken;
      continue;
    }
    addTo(sums, bytes.subarray(at, at + 8), isBigEndian);
    addTo(sums, bytes.subarray(at + FRAME_HEADER_BYTES, at + frameBytes), isBigEndian);
    if (!isOfThese || !isSumAt(bytes, at + 16, sums)) broken = at;
  }
  return null;
}

/** SQLite's checksum, which goes on from one frame to the next. */
type Sums = [number, number];

function addTo(sums: Sums, bytes: Buffer, isBigEndian: boolean): void {
  let [first, second] = sums;
  for (let at = 0; at < bytes.length; at += 8) {
    const one = isBigEndian ? bytes.readUInt32BE(at) : bytes.readUInt32LE(at);
    const two = isBigEndian ? bytes.readUInt32BE(at + 4) : bytes.readUInt32LE(at + 4);
    first = (first + one + second) >>> 0;
    second = (second + two + first) >>> 0;
  }
  sums[0] = first;
  sums[1] = second;
}

function isSumAt(bytes: Buffer, at: number, [first, second]: Sums): boolean {
  return bytes.readUInt32BE(at) === first && bytes.readUInt32BE(at + 4) === second;
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

function readIfThere(file: string): Buffer | null {
  try {
    return readFileSync(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
