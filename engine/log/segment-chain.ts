/**
 * The segments of a log as its writer finds them: whether all exist, and where the last record
 * ends. Rules D19, D21 (engine/RULES.md).
 */
import {
  LogDamage,
  type LogIdentity,
  type LogPosition,
  positionOf,
  SEGMENT_HEADER_BYTES,
} from './log-format.ts';
import { SegmentFile, segmentName, segmentsIn } from './segment-file.ts';

/**
 * Checks that every segment exists, and that each begins after the segment before. @returns the
 * bytes of all but the last.
 */
export function checkChain(
  directory: string,
  segments: readonly number[],
  identity: LogIdentity,
): number {
  let before = 0;
  let closedBytes = 0;
  for (const [at, segment] of segments.entries()) {
    if (segment !== at) throw LogDamage.missing(segmentName(at));
    const file = new SegmentFile(directory, segment, identity, 'r');
    if (at < segments.length - 1) closedBytes += file.size();
    file.close();
    const { firstNumber } = file.header;
    if (firstNumber <= before) throw new LogDamage(file.name, 0, 'it does not follow the last');
    before = firstNumber;
  }
  return closedBytes;
}

/** The place after the last whole record. Throws `LogDamage` if records were lost. */
export function endOf(file: SegmentFile): {
  offset: number;
  number: number;
  landmark: LogPosition;
} {
  let offset = SEGMENT_HEADER_BYTES;
  let { firstNumber: number, landmark } = file.header;
  for (;;) {
    const record = file.recordAt(offset, number);
    if (record === null) break;
    if (record.isLandmark) landmark = positionOf(file.header.segment, offset);
    offset += record.bytes;
    number += record.count;
  }
  if (file.hasLostRecordAt(offset, number)) {
    throw new LogDamage(file.name, offset, 'a record has changed since it was written');
  }
  return { offset, number, landmark };
}

/** The number of the last whole fact of a log that nobody writes; 0: there is none. Throws `LogDamage`. */
export function lastFactOf(directory: string, identity: LogIdentity): number {
  const last = segmentsIn(directory).at(-1);
  if (last === undefined) return 0;
  const file = new SegmentFile(directory, last, identity, 'r');
  try {
    return endOf(file).number - 1;
  } finally {
    file.close();
  }
}
