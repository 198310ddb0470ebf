/**
 * What a verification keeps of a shard for the next one: up to which fact the log was checked, a
 * checksum of those facts, and what the check of later facts needs of them. Rules D97, D98
 * (engine/RULES.md).
 */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { deserialize, serialize } from 'node:v8';
import { crc32 } from 'node:zlib';
import type { Uuid } from '../base/units.ts';
import type { LogPosition } from '../log/log-format.ts';
import type { TradeCorrectedFact } from '../rules/facts.ts';

/** Of the log: how many facts, where they end, and the CRC-32 of their records one after the other. */
export type VerifiedFacts = { facts: number; tail: LogPosition; digest: number };

export type KeptAudit = VerifiedFacts & {
  counts: { limitOrders: number; marketOrders: number; closedTrades: number; indexed: number };
  /** Orders that rested then. */
  resting: number;
  corrected: Map<Uuid, Pick<TradeCorrectedFact, 'to' | 'proceedsCents'>>;
  /** By account row. */
  realizedCents: Float64Array;
  runCents: Float64Array;
  runs: Uint32Array;
  closed: Uint32Array;
  opened: Uint32Array;
  /** Four words an id. */
  placed: Uint32Array;
  ended: Uint32Array;
  traded: Uint32Array;
};

/** Another number: what is kept has another form. */
const FORM = 1;
const HEADER_BYTES = 8;

/** Null: there is none, or it is of another version. Throws where it is damaged. */
export function readKeptAudit(file: string): KeptAudit | null {
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  const isWhole = bytes.length > HEADER_BYTES && bytes.readUInt32BE(0) === crc32(bytes.subarray(4));
  if (!isWhole) throw new Error(`${file} is damaged: it does not have its checksum`);
  if (bytes.readUInt32BE(4) !== FORM) return null;
  return deserialize(bytes.subarray(HEADER_BYTES)) as KeptAudit;
}

/** Replaces the file, whole or not at all. */
export function writeKeptAudit(file: string, kept: KeptAudit): void {
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt32BE(FORM, 4);
  const bytes = Buffer.concat([header, serialize(kept)]);
  bytes.writeUInt32BE(crc32(bytes.subarray(4)), 0);
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(`${file}.new`, bytes, { mode: 0o600, flush: true });
  renameSync(`${file}.new`, file);
}
