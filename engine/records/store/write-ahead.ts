/**
 * The file of frames that SQLite has written beside the records and not yet copied into them. A
 * crash leaves it, and the next start reads it up to the first frame that is not whole. If some of
 * the later frames were in the records already, old pages would lie beside new ones. So each
 * copying notes its frames, and a start compares. Rules Y2, Y83 (engine/RULES.md).
 */
import {
  closeSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import type Sqlite from 'better-sqlite3-multiple-ciphers';
import { invariant } from '../../base/invariant.ts';

/** Endings of the files that belong to a database: its own, SQLite's, and the note of a copying. */
export const BESIDE = ['', '-wal', '-shm', '-copying', '-copying.new'] as const;
const WAL = '-wal';
const NOTE = '-copying';

/** The frames are copied once they reach this size. */
const COPIED_FROM_BYTES = 4 * 2 ** 20;
/** How long a transaction waits for another process, which may be reading a crashed database. */
const BUSY_MS = 5000;
const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
const PAGE_BYTES = 4096;
const FRAME_BYTES = FRAME_HEADER_BYTES + PAGE_BYTES;
const FIRST_FRAME_END = HEADER_BYTES + FRAME_BYTES;
/** In both, the checksum is the last two words. */
const SUM_BYTES = 8;
/** SQLite's magic number, whose last bit gives the byte order of the checksum's words. */
const MAGIC = 0x377f0682;

/** SQLite's answer to a copying: frames that exist, and frames that are in the database. */
type Copied = { busy: number; log: number; checkpointed: number };
/** The note of a copying: its bytes from the start, and the header of its last frame. */
type Note = { bytes: number; last: string };

export class WriteAhead {
  readonly #database: Sqlite.Database;
  /** The noted bytes of the last copying, if readers kept it from finishing. */
  #notedBytes = 0;

  /** For a database that only this thread writes. */
  constructor(database: Sqlite.Database) {
    this.#database = database;
  }

  /** Call it between transactions. Copies the written frames once they have grown by so much. */
  copyFrom(bytes = COPIED_FROM_BYTES): void {
    const { inTransaction, name } = this.#database;
    invariant(!inTransaction, 'written frames are copied within a transaction');
    invariant(bytes >= 0, 'less than nothing is copied');
    const size = sizeOf(name + WAL);
    if (size < this.#notedBytes) this.#notedBytes = 0;
    if (size - this.#notedBytes < Math.max(bytes, FIRST_FRAME_END)) return;
    writeNote(name + NOTE, noteOf(name + WAL, size));
    this.#copy();
    this.#notedBytes = sizeOf(name + WAL);
    invariant(this.#notedBytes <= size, 'a copying has written more ahead');
  }

  /**
   * This waits for nobody: a reader of an older moment delays the copying, and not the facts. The
   * note is removed once every frame is in the database, and before the frames are removed.
   */
  #copy(): void {
    this.#database.pragma('busy_timeout = 0');
    try {
      const [copied] = this.#database.pragma('wal_checkpoint(FULL)') as [Copied];
      if (copied.busy !== 0 || copied.checkpointed !== copied.log) return;
      rmSync(this.#database.name + NOTE, { force: true });
      this.#database.pragma('wal_checkpoint(TRUNCATE)');
    } finally {
      this.#database.pragma(`busy_timeout = ${BUSY_MS}`);
    }
  }
}

/** Why a crashed file cannot be continued; null: it can. */
export function writeAheadDamage(file: string): string | null {
  const bytes = readIfThere(file + WAL) ?? Buffer.alloc(0);
  const { wholeBytes, brokenAt } = scanned(bytes);
  if (brokenAt !== null) return `${file}${WAL} is damaged at byte ${brokenAt}`;
  const note = readIfThere(file + NOTE);
  if (note === null) return null;
  const noted = notedIn(note.toString());
  if (noted !== null && wholeBytes >= noted.bytes && lastOf(bytes, noted.bytes) === noted.last) {
    return null;
  }
  return `${file}${WAL} is not the file of the last copying ${file}`;
}

/** A disk without room must leave no half of a note, which would look like damage. */
function writeNote(file: string, note: Note): void {
  writeFileSync(`${file}.new`, JSON.stringify(note), { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

function noteOf(file: string, bytes: number): Note {
  invariant(bytes >= FIRST_FRAME_END, 'a copying has no frame');
  const header = Buffer.alloc(FRAME_HEADER_BYTES);
  const fd = openSync(file, 'r');
  try {
    readSync(fd, header, 0, header.length, bytes - FRAME_BYTES);
  } finally {
    closeSync(fd);
  }
  return { bytes, last: header.toString('hex') };
}

const lastOf = (bytes: Buffer, end: number) =>
  bytes.toString('hex', end - FRAME_BYTES, end - PAGE_BYTES);

function notedIn(text: string): Note | null {
  try {
    return JSON.parse(text) as Note;
  } catch {
    return null;
  }
}

/**
 * How far frames are whole, each by the checksum that continues the one before. `brokenAt`: a frame
 * that is not, if the end of a transaction follows it; no torn write leaves that. A file whose
 * header is not whole has no frames. It is damaged if anything follows the header.
 */
function scanned(bytes: Buffer): { wholeBytes: number; brokenAt: number | null } {
  if (bytes.length <= HEADER_BYTES) return { wholeBytes: 0, brokenAt: null };
  const magic = bytes.readUInt32BE(0);
  const isBigEndian = magic === MAGIC + 1;
  const sums: Sums = [0, 0];
  addTo(sums, bytes.subarray(0, HEADER_BYTES - SUM_BYTES), isBigEndian);
  const isWhole = (magic === MAGIC || isBigEndian) && bytes.readUInt32BE(8) === PAGE_BYTES;
  if (!isWhole || !isSumAt(bytes, HEADER_BYTES - SUM_BYTES, sums)) {
    return { wholeBytes: 0, brokenAt: 0 };
  }
  const salts = bytes.subarray(16, 24);
  let brokenAt: number | null = null;
  let wholeBytes = HEADER_BYTES;
  for (let at = HEADER_BYTES; at + FRAME_BYTES <= bytes.length; at += FRAME_BYTES) {
    const isOfThese = salts.equals(bytes.subarray(at + 8, at + 16));
    if (brokenAt !== null) {
      if (isOfThese && bytes.readUInt32BE(at + 4) !== 0) return { wholeBytes, brokenAt };
      continue;
    }
    addTo(sums, bytes.subarray(at, at + 8), isBigEndian);
    addTo(sums, bytes.subarray(at + FRAME_HEADER_BYTES, at + FRAME_BYTES), isBigEndian);
    if (isOfThese && isSumAt(bytes, at + 16, sums)) wholeBytes = at + FRAME_BYTES;
    else brokenAt = at;
  }
  return { wholeBytes, brokenAt: null };
}

/** SQLite's checksum, which continues from one frame to the next. */
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
