/**
 * Whether an LMDB file can be opened at all. LMDB maps the file into memory and trusts its meta
 * pages. A file that was cut short ends the process at the first read past its end. Rule D9
 * (engine/RULES.md).
 */
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  openSync,
  readSync,
} from 'node:fs';
import path from 'node:path';
import { invariant } from '../base/invariant.ts';
import { freePagesOf, PAGE_BYTES_MAX, PAGE_BYTES_MIN } from './lmdb-free.ts';

/** The file has changed since LMDB last wrote it. The message names the file and the problem. */
export class LmdbFileError extends Error {}

/**
 * A file as its newest meta page describes it. `entries`: the number in its root, which includes
 * its tables.
 */
export type LmdbFile = { entries: number };

/** For `open`, whose types lack it: the mode of the files that it makes. */
export const OWNERS_ALONE = { permissionsMode: 0o600 };

const MAGIC = 0xbeefc0de;
/** Offsets from the start of a meta page: its header, then `MDB_meta` of liblmdb/mdb.c. */
const META = {
  magic: 24,
  pageBytes: 48,
  freeRoot: 88,
  entries: 128,
  lastPage: 144,
  transaction: 152,
  end: 160,
} as const;
/** A running server may change a page during the read. It is tried so often. */
const READS_MAX = 20;

/**
 * Reads the meta pages of the environment in `directory`. Throws `LmdbFileError` if its file is no
 * LMDB file, or lacks pages in use. Null: a missing or empty file, so nothing yet.
 */
export function checkLmdbFile(directory: string): LmdbFile | null {
  const file = shownNameIn(directory);
  let fd: number;
  try {
    fd = openSync(dataFileIn(directory), 'r');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return null;
    throw new LmdbFileError(`${file} cannot be read (${code})`);
  }
  try {
    return checkOpened(fd, file);
  } finally {
    closeSync(fd);
  }
}

/**
 * `checkLmdbFile`, for an environment that is opened for writing. Throws also if its lock file
 * cannot be written, since LMDB would end the process. That is no damage, so nothing is rebuilt.
 * Rule D104 (engine/RULES.md).
 */
export function checkLmdbForWriting(directory: string): LmdbFile | null {
  const file = checkLmdbFile(directory);
  const lock = path.join(directory, 'lock.mdb');
  try {
    if (existsSync(lock)) closeSync(openSync(lock, 'r+'));
    else accessSync(directory, constants.W_OK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const name = path.join(path.basename(directory), 'lock.mdb');
    throw new Error(`${name} cannot be written (${code}): who owns the files there?`);
  }
  return file;
}

/** The error for an environment that existed before and is now missing or empty. */
export function missingFile(directory: string): LmdbFileError {
  return new LmdbFileError(`${shownNameIn(directory)} is missing or empty, and was not before`);
}

/** A name that operators recognize and that clients may see: no full path. */
function shownNameIn(directory: string): string {
  return path.join(path.basename(directory), 'data.mdb');
}

/** The file of an environment. */
export function dataFileIn(directory: string): string {
  return path.join(directory, 'data.mdb');
}

function checkOpened(fd: number, file: string): LmdbFile | null {
  for (let read = 1; ; read++) {
    if (fstatSync(fd).size === 0) return null;
    const meta = newestMeta(fd, file);
    const { lastPage, pageBytes, entries } = meta;
    // Read after the meta pages: the file of a running server grows before they count the new
    // pages.
    const { size } = fstatSync(fd);
    const wanted = (lastPage + 1) * pageBytes;
    if (size >= wanted || areFree(fd, meta, Math.floor(size / pageBytes))) return { entries };
    const isStill = newestMeta(fd, file).transaction === meta.transaction;
    if (!isStill && read < READS_MAX) continue;
    throw new LmdbFileError(`${file} was cut short: it has ${size} bytes, not ${wanted}`);
  }
}

/**
 * LMDB does not write a page that a transaction allocated and released, so the last pages may be
 * missing.
 */
function areFree(fd: number, { freeRoot, pageBytes, lastPage }: LmdbMeta, from: number): boolean {
  const free = freePagesOf(fd, freeRoot, pageBytes);
  if (free === null) return false;
  for (let page = from; page <= lastPage; page++) if (!free(page)) return false;
  return true;
}

export type LmdbMeta = LmdbFile & {
  pageBytes: number;
  freeRoot: bigint;
  lastPage: number;
  transaction: number;
};

/** A buffer for `newestMeta`: two pages of the largest size, or of a known size. */
export function metaBuffer(pageBytes = PAGE_BYTES_MAX): Buffer {
  invariant(
    pageBytes >= PAGE_BYTES_MIN && pageBytes <= PAGE_BYTES_MAX,
    'a page size is out of range',
  );
  return Buffer.alloc(pageBytes + META.end);
}

/** The content of the newest meta page. */
export function newestMeta(fd: number, file: string, bytes = metaBuffer()): LmdbMeta {
  invariant(
    bytes.length >= PAGE_BYTES_MIN + META.end,
    'the buffer is too small for two meta pages',
  );
  const read = bytes.subarray(0, readSync(fd, bytes, 0, bytes.length, 0));
  const first = metaAt(read, 0);
  const second = first === null ? null : metaAt(read, first.pageBytes);
  if (first === null || second === null) {
    throw new LmdbFileError(`${file} is no LMDB file: its meta pages cannot be read`);
  }
  return second.transaction > first.transaction ? second : first;
}

function metaAt(bytes: Buffer, at: number): LmdbMeta | null {
  if (bytes.length < at + META.end || bytes.readUInt32LE(at + META.magic) !== MAGIC) return null;
  const pageBytes = bytes.readUInt32LE(at + META.pageBytes);
  if (pageBytes < PAGE_BYTES_MIN || pageBytes > PAGE_BYTES_MAX) return null;
  return {
    pageBytes,
    freeRoot: bytes.readBigUInt64LE(at + META.freeRoot),
    entries: Number(bytes.readBigUInt64LE(at + META.entries)),
    lastPage: Number(bytes.readBigUInt64LE(at + META.lastPage)),
    transaction: Number(bytes.readBigUInt64LE(at + META.transaction)),
  };
}
