/** The error for a disk without room, of LMDB files and of logs alike. Rule D8 (engine/RULES.md). */
import { getSystemErrorMap } from 'node:util';
import { Unavailable } from '../threads/unavailable.ts';

/** Nothing was written, and nothing can be written now. This ends by itself once there is space. */
export class DiskFull extends Unavailable {
  readonly errno: number;
  readonly bytes: number;

  constructor(errno: number, bytes: number) {
    super(problemText(errno), RETRY_AFTER_SECONDS);
    this.name = 'DiskFull';
    this.errno = errno;
    this.bytes = bytes;
  }
}

const RETRY_AFTER_SECONDS = 5;

/** The system's text for a failed write, for an operator and a caller. */
export function problemText(errno: number): string {
  const known = getSystemErrorMap().get(errno);
  return `the data directory cannot be written: ${known?.[1] ?? `error ${errno}`}`;
}

/**
 * An error of a write of `bytes` as `DiskFull`. Errors that are not the system's are thrown
 * unchanged.
 */
export function diskFullOf(error: unknown, bytes: number): DiskFull {
  const { errno } = error as NodeJS.ErrnoException;
  if (errno === undefined) throw error;
  return new DiskFull(errno, bytes);
}
