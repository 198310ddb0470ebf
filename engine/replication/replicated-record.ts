/**
 * A record of a shard's log as the cluster stores it, and the head that names the last one. The same
 * bytes pass between a shard's thread and its replicator. Rules N103, N107, N108 (engine/RULES.md).
 */
import { crc32 } from 'node:zlib';
import { invariant } from '../base/invariant.ts';
import type { LogPosition, LogRecord } from '../log/log-format.ts';

/** A record, and where its log has it or shall have it. */
export type RecordToStore = LogRecord & { position: LogPosition };

/** The last fact of a log, and the checksum of its last record's payload; 0 and 0: there is none. */
export type LastRecord = { number: number; checksum: number };

/** The head: the last record of the log, and the epoch of the leader that has written this. */
export type Head = LastRecord & { epoch: number };

export type StoredRecord = RecordToStore & {
  /** Of the leader that stored it. */
  epoch: number;
  /** Of the payload before it. */
  previousChecksum: number;
  checksum: number;
  /** How many parts hold its payload; 0: it is here. */
  parts: number;
};

const VERSION = 1;
const AT = {
  version: 0,
  count: 4,
  firstNumber: 8,
  atMs: 16,
  position: 24,
  epoch: 32,
  previousChecksum: 40,
  checksum: 44,
  parts: 48,
  payload: 56,
} as const;

export const checksumOf = (payload: Uint8Array): number => crc32(payload);

/** The number of a record's last fact. */
export const lastNumberOf = ({ firstNumber, count }: LogRecord): number => firstNumber + count - 1;

export function writeStored(record: StoredRecord): Buffer {
  const { payload } = record;
  const bytes = Buffer.alloc(AT.payload + payload.length);
  bytes.writeUInt32LE(VERSION, AT.version);
  bytes.writeUInt32LE(record.count, AT.count);
  bytes.writeDoubleLE(record.firstNumber, AT.firstNumber);
  bytes.writeDoubleLE(record.atMs, AT.atMs);
  bytes.writeDoubleLE(record.position, AT.position);
  bytes.writeDoubleLE(record.epoch, AT.epoch);
  bytes.writeUInt32LE(record.previousChecksum, AT.previousChecksum);
  bytes.writeUInt32LE(record.checksum, AT.checksum);
  bytes.writeUInt32LE(record.parts, AT.parts);
  bytes.set(payload, AT.payload);
  return bytes;
}

/** Throws for bytes of another version. The payload stays part of `bytes`. */
export function readStored(bytes: Buffer): StoredRecord {
  const version = bytes.length < AT.payload ? 'none' : bytes.readUInt32LE(AT.version);
  if (version !== VERSION) {
    throw new Error(`a record of the cluster has version ${version}, and this is ${VERSION}`);
  }
  return {
    count: bytes.readUInt32LE(AT.count),
    firstNumber: bytes.readDoubleLE(AT.firstNumber),
    atMs: bytes.readDoubleLE(AT.atMs),
    position: bytes.readDoubleLE(AT.position),
    epoch: bytes.readDoubleLE(AT.epoch),
    previousChecksum: bytes.readUInt32LE(AT.previousChecksum),
    checksum: bytes.readUInt32LE(AT.checksum),
    parts: bytes.readUInt32LE(AT.parts),
    payload: bytes.subarray(AT.payload),
  };
}

/** `EPOCH.NUMBER.CHECKSUM` */
export const headText = ({ epoch, number, checksum }: Head): string =>
  `${epoch}.${number}.${checksum}`;

export function readHead(text: string): Head {
  invariant(/^\d+\.\d+\.\d+$/.test(text), 'the head of a shard in the cluster has another form');
  const [epoch, number, checksum] = text.split('.').map(Number) as [number, number, number];
  return { epoch, number, checksum };
}
