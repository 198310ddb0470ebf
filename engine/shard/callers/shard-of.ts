/** The shard of an account or an instrument, of `shards` shards. Rule D5 (engine/RULES.md). */

import { invariant } from '../../base/invariant.ts';
import type { Uuid } from '../../base/units.ts';
import { uuidWord } from '../../memory/uuid-words.ts';

/** Always the same shard, in every process, because its rows are there. */
export function shardOfAccount(account: Uuid, shards: number): number {
  const shard = uuidWord(account, 3) % shards;
  invariant(shard >= 0 && shard < shards, 'an account belongs to no shard');
  return shard;
}

/**
 * Every shard could answer for an instrument; equal reads go to one shard so that they share an
 * answer.
 */
export function shardOfInstrument(instrumentId: string, shards: number): number {
  let hash = 0;
  for (let at = 0; at < instrumentId.length; at++) {
    hash = (Math.imul(hash, 31) + instrumentId.charCodeAt(at)) >>> 0;
  }
  return hash % shards;
}
