/**
 * What a verification keeps for the next one. Of a shard: up to which fact the log was checked, a
 * checksum of those facts, and what the check of later facts needs of them. A file that is damaged,
 * or that another version of the checks wrote, is not used. Rules D97, D98 (engine/RULES.md).
 */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { deserialize, serialize } from 'node:v8';
import { crc32 } from 'node:zlib';
import type { Uuid } from '../base/units.ts';
import { FORMAT_VERSION } from '../format/version.ts';
import type { EntrySums } from '../index/entry.ts';
import type { LogPosition } from '../log/log-format.ts';
import { RECORDS_VERSION } from '../records/store/tables.ts';
import type { TradeCorrectedFact } from '../rules/facts.ts';
import { FINGERPRINT } from '../shard/store/data-format.ts';

/** Of a log: how many facts, and the CRC-32 of their records one after the other. */
export type VerifiedFacts = { facts: number; digest: number };

export type KeptAudit = VerifiedFacts & {
  /** Where the facts end. */
  tail: LogPosition;
  counts: { limitOrders: number; marketOrders: number; closedTrades: number };
  /** Of the entries that lead to these facts, under a seed of key names with this CRC-32. */
  index: Pick<EntrySums, 'entries' | 'one' | 'two'>;
  seedSum: number;
  /** Orders that rested then. */
  resting: number;
  corrected: Map<Uuid, Pick<TradeCorrectedFact, 'to' | 'proceedsCents'>>;
  /** By account row. */
  realizedCents: Float64Array;
  runCents: Float64Array;
  runs: Uint32Array;
  closed: Uint32Array;
  opened: Uint32Array;
};

/** Change it with every change of the checks: what earlier ones found is not enough then. */
const CHECKS_VERSION = 5;
const VERSIONS = [CHECKS_VERSION, FORMAT_VERSION, FINGERPRINT, RECORDS_VERSION];
const CHECKSUM_BYTES = 4;
const HEADER_BYTES = CHECKSUM_BYTES + 4 * VERSIONS.length;

/** Why a file is not used. */
export class KeptMismatch extends Error {
  constructor(file: string, what: string) {
    super(`${file} ${what}`);
    this.name = 'KeptMismatch';
  }
}

/** Null: there is none. Throws `KeptMismatch`. */
export function readKept<T>(file: string): T | null {
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  const isWhole =
    bytes.length > HEADER_BYTES && bytes.readUInt32BE(0) === crc32(bytes.subarray(CHECKSUM_BYTES));
  if (!isWhole) throw new KeptMismatch(file, 'is damaged: it does not have its checksum');
  const isOfThese = VERSIONS.every((version, at) => {
    return bytes.readUInt32BE(CHECKSUM_BYTES + 4 * at) === version;
  });
  if (!isOfThese) throw new KeptMismatch(file, 'is of another version');
  return deserialize(bytes.subarray(HEADER_BYTES)) as T;
}

/** Replaces the file, whole or not at all. */
export function writeKept(file: string, kept: object): void {
  const header = Buffer.alloc(HEADER_BYTES);
  for (const [at, version] of VERSIONS.entries()) {
    header.writeUInt32BE(version, CHECKSUM_BYTES + 4 * at);
  }
  const bytes = Buffer.concat([header, serialize(kept)]);
  bytes.writeUInt32BE(crc32(bytes.subarray(CHECKSUM_BYTES)), 0);
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(`${file}.new`, bytes, { mode: 0o600, flush: true });
  renameSync(`${file}.new`, file);
}
