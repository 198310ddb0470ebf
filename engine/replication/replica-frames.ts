/**
 * The frames between a shard's thread and its replicator. Rules N102, N108 (engine/RULES.md).
 */
import { EXTENSION, FRAME_HEADER_BYTES, type Frame } from '../format/frame.ts';
import type { LastRecord } from './replicated-record.ts';

export const FRAME = {
  /** By the shard: the last record of its log. Then it follows. */
  begin: 1,
  /** By the shard as the leader: a record to store; answered by `done` or `deposed`. */
  append: 2,
  /** By the shard as the leader: whether it still leads; answered by `done` or `deposed`. */
  confirm: 3,
  /** By the replicator: the next record of the cluster. */
  record: 4,
  /** By the replicator: the shard leads from here on. */
  lead: 5,
  done: 6,
  /** The shard's thread must end; the body says why. */
  deposed: 7,
  /** This node's log is not the cluster's; the body says why. */
  otherLog: 8,
  /** By the shard as the leader, after its last record; answered by `done` or `deposed`. */
  release: 9,
} as const;

export function frameOf(type: number, body: Uint8Array | string = ''): Buffer {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  const frame = Buffer.allocUnsafe(FRAME_HEADER_BYTES + bytes.length);
  frame[0] = EXTENSION;
  frame.writeUInt32BE(bytes.length, 1);
  frame[FRAME_HEADER_BYTES - 1] = type;
  frame.set(bytes, FRAME_HEADER_BYTES);
  return frame;
}

/** A copy of a frame's body, which outlives the frame. */
export const bodyOf = ({ bytes, at, end }: Frame): Buffer => Buffer.from(bytes.subarray(at, end));

export function lastRecordBytes({ number, checksum }: LastRecord): Buffer {
  const bytes = Buffer.alloc(12);
  bytes.writeDoubleLE(number, 0);
  bytes.writeUInt32LE(checksum, 8);
  return bytes;
}

export function readLastRecord(bytes: Buffer): LastRecord {
  return { number: bytes.readDoubleLE(0), checksum: bytes.readUInt32LE(8) };
}
