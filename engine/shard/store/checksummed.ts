/** Values of LMDB, each after the CRC-32 of its bytes. Rule D24 (engine/RULES.md). */
import { crc32 } from 'node:zlib';

/** A value is missing or damaged; the problem names its table and key. */
export class ValueDamage extends Error {
  constructor(problem: string) {
    super(`data.mdb is damaged: ${problem}`);
    this.name = 'ValueDamage';
  }
}

export const SEAL_BYTES = 4;

/** The parts after a checksum of all of them. */
export function sealed(...parts: readonly Uint8Array[]): Buffer {
  return seal(Buffer.concat([new Uint8Array(SEAL_BYTES), ...parts]));
}

/** Puts the checksum of all following bytes into the first bytes of a value. */
export function seal(value: Buffer): Buffer {
  value.writeUInt32LE(crc32(value.subarray(SEAL_BYTES)), 0);
  return value;
}

/** The bytes after the checksum. Throws `ValueDamage`. */
export function unsealed(value: Buffer, what: string): Buffer {
  const bytes = value.subarray(SEAL_BYTES);
  const isWhole = value.length >= SEAL_BYTES && value.readUInt32LE(0) === crc32(bytes);
  if (!isWhole) throw new ValueDamage(`${what} has changed since it was written`);
  return bytes;
}

/** The bytes after a checksum of them and of their place. */
export function sealedAt(place: number, bytes: Uint8Array): Buffer {
  const value = Buffer.concat([new Uint8Array(SEAL_BYTES), bytes]);
  value.writeUInt32LE(place, 0);
  value.writeUInt32LE(crc32(value), 0);
  return value;
}

/** Whether it is the value that was written there. This removes the checksum from the value. */
export function unsealAt(place: number, value: Buffer): boolean {
  if (value.length < SEAL_BYTES) return false;
  const checksum = value.readUInt32LE(0);
  // In place: a start reads millions of values, and a slice of a buffer costs more than this.
  value.writeUInt32LE(place, 0);
  return crc32(value) === checksum;
}
