/**
 * Disk space that a log reserves for its next record. Segments are sparse, so a write may find the
 * disk full. Then this file is emptied, and the write uses its space. Rule D8 (engine/RULES.md).
 */
import { closeSync, fstatSync, fsyncSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import path from 'node:path';
import { invariant } from '../base/invariant.ts';
import { diskFullOf } from './disk-full.ts';

export const RESERVE_NAME = 'reserve';
const STEP_BYTES = 2 ** 20;
/** Space that a file system needs besides the data, for blocks that map the others. */
const SPARE_BYTES = STEP_BYTES / 2;
const ZEROS = Buffer.alloc(STEP_BYTES);
/** The unit of `blocks` in a file's status, on every file system. */
const STATUS_BLOCK_BYTES = 512;

export class Reserve {
  readonly #fd: number;
  #held: number;

  constructor(directory: string) {
    this.#fd = openSync(path.join(directory, RESERVE_NAME), 'a+', 0o600);
    const { size, blocks } = fstatSync(this.#fd);
    this.#held = Math.min(size, blocks * STATUS_BLOCK_BYTES);
  }

  /** Reserves space for a write of `bytes`. Throws `DiskFull`. */
  ensure(bytes: number): void {
    invariant(bytes >= 0, 'space is reserved for less than nothing');
    const wanted = bytes + SPARE_BYTES;
    if (this.#held >= wanted) return;
    const size = Math.ceil(wanted / STEP_BYTES) * STEP_BYTES;
    try {
      ftruncateSync(this.#fd, 0);
      this.#held = 0;
      for (let at = 0; at < size; ) at += writeSync(this.#fd, ZEROS, 0, STEP_BYTES);
      this.#held = size;
    } catch (error) {
      // A part of the space is useless here, and others may need it.
      ftruncateSync(this.#fd, 0);
      throw diskFullOf(error, bytes);
    }
  }

  /** Frees the space for the next write; false if there was none. */
  release(): boolean {
    if (this.#held === 0) return false;
    ftruncateSync(this.#fd, 0);
    fsyncSync(this.#fd);
    this.#held = 0;
    return true;
  }

  close(): void {
    closeSync(this.#fd);
  }
}
