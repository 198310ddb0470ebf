/**
 * Damage of a shard's files, or another version: no restart helps until an operator has repaired
 * them. Rules D9, D23, D24 (engine/RULES.md).
 */
import { FormatMismatch } from '../format/version.ts';
import { RunDamage } from '../index/pieces.ts';
import { LmdbFileError } from '../lmdb/lmdb-file.ts';
import { LogDamage, LogMismatch } from '../log/log-format.ts';
import { ReplayError } from './replay.ts';
import { ValueDamage } from './sealed.ts';

/** The shard is out of order, and the message says why. */
export class ShardDamage extends Error {}

const KINDS = [LogDamage, LogMismatch, FormatMismatch, RunDamage, ValueDamage, ReplayError];

/** The damage that an error reports, as text; null: none. */
export function damageOf(error: unknown): string | null {
  return KINDS.some((kind) => error instanceof kind) ? (error as Error).message : null;
}

/** Of files: what an operator must put right. */
export function isDamage(error: unknown): error is Error {
  return error instanceof LmdbFileError || error instanceof ShardDamage;
}
