/**
 * Disk space for an LMDB environment to grow into. LMDB (lmdb 3.5.6) may not survive a write that
 * the disk refuses: it prints the fault into a buffer that is too small for it. So zeros are
 * written after the pages in use before LMDB needs the space. A full disk, a quota or a limit of
 * the file's size then fails here, as an ordinary error. Rule D8 (engine/RULES.md).
 */
import { closeSync, constants, fstatSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import type { RootDatabase } from 'lmdb';
import { invariant } from '../../base/invariant.ts';
import { dataFileIn, type LmdbMeta, metaBuffer, newestMeta } from '../../lmdb/lmdb-file.ts';
import { diskFullOf } from '../../log/disk-full.ts';

const MIB = 2 ** 20;
/**
 * Space that transactions need besides their data, for the trees above and the pages that they
 * replace.
 */
const SPARE_BYTES = 2 * MIB;
/** After so many calls, or so many bytes, the file's size is read again. */
const LOOK_EVERY_ASKS = 16;
const LOOK_EVERY_BYTES = MIB;
const LARGE_BYTES = MIB / 4;
const STEP_BYTES = MIB;
const ZEROS = Buffer.alloc(STEP_BYTES);

/** The parts of an open environment that its growth depends on. */
type Environment = Pick<RootDatabase, 'readerCheck'>;

export class DiskReserve {
  readonly #environment: Environment;
  readonly #fd: number;
  readonly #file: string;
  #size: number;
  #asks = 0;
  #askedBytes = 0;
  #meta = metaBuffer();

  /** `environment` is open at `directory`; only its writer may call this. */
  constructor(directory: string, environment: Environment) {
    this.#environment = environment;
    this.#file = dataFileIn(directory);
    // Zeros are appended only at the current end, never over bytes that LMDB writes meanwhile.
    this.#fd = openSync(this.#file, constants.O_RDWR | constants.O_APPEND);
    this.#size = fstatSync(this.#fd).size;
    this.#meta = metaBuffer(this.#newest().pageBytes);
  }

  /**
   * Makes sure that the next transaction can write `bytes`, beside the `bytesUnderWay` at most
   * that another thread is writing. Throws `DiskFull`.
   */
  ensure(bytes: number, bytesUnderWay = 0): void {
    invariant(bytes >= 0 && bytesUnderWay >= 0, 'space is reserved for less than nothing');
    this.#asks--;
    this.#askedBytes += bytes + bytesUnderWay;
    if (this.#asks > 0 && this.#askedBytes < LOOK_EVERY_BYTES) return;
    const wanted = this.#usedBytes() + SPARE_BYTES + LOOK_EVERY_BYTES + bytes + bytesUnderWay;
    if (this.#size < wanted) this.#grow(wanted + STEP_BYTES, bytes, bytesUnderWay === 0);
    this.#asks = LOOK_EVERY_ASKS;
    this.#askedBytes = 0;
  }

  /**
   * For a large value inside a transaction, which has space for everything else. Throws `DiskFull`.
   */
  ensureLarge(bytes: number): void {
    if (bytes > LARGE_BYTES) this.ensure(bytes);
  }

  close(): void {
    closeSync(this.#fd);
  }

  #usedBytes(): number {
    const { lastPage, pageBytes } = this.#newest();
    return (lastPage + 1) * pageBytes;
  }

  #newest(): LmdbMeta {
    return newestMeta(this.#fd, this.#file, this.#meta);
  }

  /**
   * A part of the space is useless here. It is released for smaller needs, unless bytes are being
   * written that may already be in it.
   */
  #grow(size: number, bytes: number, isAlone: boolean): void {
    // A backup that was killed still holds the pages that it saw. This check frees them.
    this.#environment.readerCheck();
    // LMDB may have written past the reserve, if it had no other pages.
    const from = fstatSync(this.#fd).size;
    this.#size = from;
    try {
      for (let at = from; at < size; ) {
        at += writeSync(this.#fd, ZEROS, 0, Math.min(STEP_BYTES, size - at));
      }
      this.#size = Math.max(from, size);
    } catch (error) {
      if (isAlone) ftruncateSync(this.#fd, from);
      throw diskFullOf(error, bytes);
    }
  }
}

/** The state of a shard's disk, in memory that its thread shares with the callers' thread. */
export class DiskStatus {
  readonly memory: SharedArrayBuffer;
  readonly #words: Int32Array;

  constructor(memory = new SharedArrayBuffer(8)) {
    this.memory = memory;
    this.#words = new Int32Array(memory);
  }

  /** The error of the last write; 0: none. */
  get errno(): number {
    return Atomics.load(this.#words, 0);
  }

  /** The bytes that could not be written, so that the next start does not try in vain. */
  get neededBytes(): number {
    return Atomics.load(this.#words, 1) * MIB;
  }

  set(errno: number, neededBytes = 0): void {
    invariant(Number.isInteger(errno) && neededBytes >= 0, 'the state of a disk is not valid');
    Atomics.store(this.#words, 1, Math.ceil(neededBytes / MIB));
    Atomics.store(this.#words, 0, errno);
  }
}
