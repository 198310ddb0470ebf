/**
 * Damage of a shard's files, or another version. No restart helps until an operator has repaired
 * them. Rules D9, D23, D24 (engine/RULES.md).
 */
import { FormatMismatch } from '../../format/version.ts';
import { RunDamage } from '../../index/pieces.ts';
import { LmdbFileError } from '../../lmdb/lmdb-file.ts';
import { LogDamage, LogMismatch } from '../../log/log-format.ts';
import { ValueDamage } from '../store/checksummed.ts';
import { ReplayError } from '../store/replay.ts';

/** The shard is out of order, and the message says why. */
export class ShardDamage extends Error {
  /** Whether it is the checkpoint, which can be rebuilt from the log. */
  readonly isOfCheckpoint: boolean;

  constructor(message: string, isOfCheckpoint: boolean) {
    super(message);
    this.isOfCheckpoint = isOfCheckpoint;
  }
}

const KINDS = [LogDamage, LogMismatch, FormatMismatch, RunDamage, ValueDamage, ReplayError];

/** The damage that an error reports; null: none. */
export function damageOf(error: unknown): ShardDamage | null {
  if (!KINDS.some((kind) => error instanceof kind)) return null;
  const isDerived = error instanceof RunDamage || error instanceof ValueDamage;
  return new ShardDamage((error as Error).message, isDerived);
}

/** Whether it is damage of a checkpoint, or of its file. Rule D72 (engine/RULES.md). */
export function isOfCheckpoint(error: unknown): boolean {
  if (error instanceof ShardDamage) return error.isOfCheckpoint;
  return error instanceof LmdbFileError;
}

/** Whether an error is damage of files, which an operator must repair. */
export function isDamage(error: unknown): error is Error {
  return error instanceof LmdbFileError || error instanceof ShardDamage;
}
