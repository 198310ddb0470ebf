/**
 * The counts of a key and an account towards the hard trade limits. Rules L5, L7 (engine/RULES.md).
 */

import type { EpochMs, TradeUse, Uuid } from '../../base/units.ts';
import { awayIdOf } from '../../memory/trade-counts.ts';
import type { TradeUses } from '../../rules/decision.ts';
import type { Reply } from '../../rules/messages.ts';
import type { KeyUseQuery } from '../../rules/queries.ts';
import { sumOfUse } from '../../rules/trade-limits.ts';

/** The parts of a shard's client that this uses. */
type Shard = { call(query: KeyUseQuery): Promise<Reply> };
/**
 * The counts in the windows of `atMs`: the key's over all shards, and the personal account's.
 *
 * @param home the shard of `owner`. Rejects with `Unavailable` if a shard cannot answer.
 */
export async function tradeUseOf(
  shards: readonly Shard[],
  home: Shard,
  { owner, keyId, atMs }: { owner: Uuid; keyId: Uuid; atMs: EpochMs },
): Promise<TradeUses> {
  const ofKey = shards.map((shard) => useIn(shard, shard === home ? keyId : awayIdOf(keyId), atMs));
  const [account, ...key] = await Promise.all([useIn(home, owner, atMs), ...ofKey]);
  return { key: sumOfUse(key), account: account! };
}

/** Of a key by its id in that shard, or of an account. */
export async function useIn(shard: Shard, keyId: Uuid, atMs: EpochMs): Promise<TradeUse> {
  const reply = await shard.call({ kind: 'key_use', atMs, keyId });
  if (!reply.ok) throw new Error(reply.message);
  return JSON.parse(reply.body) as TradeUse;
}
