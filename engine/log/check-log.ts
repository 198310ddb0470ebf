/** Reads every byte of a log and names each problem. Rules D16, D21, D106 (engine/RULES.md). */
import { closeSync, openSync, readSync } from 'node:fs';
import path from 'node:path';
import {
  LogDamage,
  type LogIdentity,
  LogMismatch,
  type LogPosition,
  offsetOf,
  positionOf,
  SEGMENT_HEADER_BYTES,
  type StoredRecord,
  segmentOf,
} from './log-format.ts';
import { RESERVE_NAME } from './reserve.ts';
import { SegmentFile, segmentName, segmentsIn } from './segment-file.ts';

/**
 * The first problem of each segment. A running server may lengthen the log during the check; this
 * is no problem.
 *
 * @param reaches the log had everything before this place; 0: nobody knows
 * @param each gets every whole record with its place; all of them are on disk once this returns
 */
export function logProblems(
  directory: string,
  identity: LogIdentity,
  reaches: LogPosition | 0,
  each: EachRecord | null = null,
): (LogDamage | LogMismatch)[] {
  const segments = segmentsIn(directory);
  const there = new Set(segments);
  const problems: (LogDamage | LogMismatch)[] = [];
  let start: Start | null = { number: 1, landmark: 0 };
  const last = Math.max(segments.at(-1) ?? -1, lastBefore(reaches));
  for (let segment = 0; segment <= last; segment++) {
    try {
      if (!there.has(segment)) throw LogDamage.missing(segmentName(segment));
      start = endOf({ directory, segment, identity }, start, there.has(segment + 1), each);
    } catch (error) {
      if (!(error instanceof LogDamage || error instanceof LogMismatch)) throw error;
      problems.push(error);
      start = null;
    }
  }
  return problems;
}

/** The last segment that a log has once it reaches a place; -1: none. */
function lastBefore(reaches: LogPosition | 0): number {
  if (reaches === 0) return -1;
  const segment = segmentOf(reaches);
  // A next segment begins with its first record.
  return segment > 0 && offsetOf(reaches) === SEGMENT_HEADER_BYTES ? segment - 1 : segment;
}

export type EachRecord = (record: StoredRecord, position: LogPosition) => void;
type Place = { directory: string; segment: number; identity: LogIdentity };

/** The start of a segment: the number of its first fact, and the newest landmark before it. */
type Start = { number: number; landmark: LogPosition };

/**
 * Checks a segment that begins with `start` (null: not known). @returns the start of the next one.
 */
function endOf(
  { directory, segment, identity }: Place,
  start: Start | null,
  isClosed: boolean,
  each: EachRecord | null,
): Start {
  const file = new SegmentFile(directory, segment, identity, 'r');
  try {
    let { firstNumber: number, landmark } = file.header;
    if (number !== (start?.number ?? number) || landmark !== (start?.landmark ?? landmark)) {
      throw new LogDamage(file.name, 0, 'it does not follow the segment before');
    }
    let offset = SEGMENT_HEADER_BYTES;
    for (;;) {
      const record = file.recordAt(offset, number);
      if (record === null) break;
      each?.(record, positionOf(segment, offset));
      if (record.isLandmark) landmark = positionOf(segment, offset);
      offset += record.bytes;
      number += record.count;
    }
    const isWhole = isClosed
      ? offset === file.size() && file.isFullAt(offset)
      : !file.hasLostRecordAt(offset, number);
    if (!isWhole)
      throw new LogDamage(file.name, offset, 'a record has changed since it was written');
    if (each !== null && !isClosed) file.sync();
    return { number, landmark };
  } finally {
    file.close();
  }
}

const ZEROS = Buffer.alloc(2 ** 16);

/** The reserved space contains only zeros. Null: it does, or there is none. */
export function reserveProblem(directory: string): LogDamage | null {
  let fd: number;
  try {
    fd = openSync(path.join(directory, RESERVE_NAME), 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  try {
    const bytes = Buffer.alloc(ZEROS.length);
    for (let at = 0; ; ) {
      const read = readSync(fd, bytes, 0, bytes.length, at);
      if (read === 0) return null;
      if (bytes.compare(ZEROS, 0, read, 0, read) !== 0) {
        const wrong = bytes.findIndex((byte) => byte !== 0);
        return new LogDamage(RESERVE_NAME, at + wrong, 'it is not zeros');
      }
      at += read;
    }
  } finally {
    closeSync(fd);
  }
}
