/** The error for a disk without room, of LMDB files and of logs alike. Rule D8 (engine/RULES.md). */
import { getSystemErrorMap } from 'node:util';
import { Unavailable } from '../threads/unavailable.ts';

/** Nothing can be written now, and nothing was. It ends by itself once there is space. */
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

/** What the system says of a failed write, as an operator and a caller read it. */
export function problemText(errno: number): string {
  const known = getSystemErrorMap().get(errno);
  return `the data directory cannot be written: ${known?.[1] ?? `error ${errno}`}`;
}

/** `error` of a write of `bytes` as `DiskFull`; thrown as it is where the system has no part. */
export function diskFullOf(error: unknown, bytes: number): DiskFull {
  const { errno } = error as NodeJS.ErrnoException;
  if (errno === undefined) throw error;
  return new DiskFull(errno, bytes);
}
