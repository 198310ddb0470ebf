/** What is wrong with the shards, and whether they take requests. Rules D6, D9, D10 (engine/RULES.md). */
import type { EngineBusy } from '../../threads/unavailable.ts';
import type { ShardClient } from './shard-client.ts';
import type { ShardStatus } from './shard-status.ts';

type Shown = Pick<ShardStatus, 'state' | 'trouble' | 'failing'>;

/** A line a shard: damaged data, no room, repeated failures, or what was rebuilt. */
export function troublesOf(shards: readonly (Shown & Pick<ShardStatus, 'repaired'>)[]): string[] {
  return shards.flatMap(({ trouble, failing, repaired }, shard) => {
    const line = trouble ?? repaired;
    if (line !== null) return [`shard ${shard}: ${line}`];
    return failing === null ? [] : [`shard ${shard} ${failing}`];
  });
}

export function stateOf(shards: readonly Shown[]): 'starting' | 'ready' | 'degraded' {
  const inTrouble = ({ state, trouble, failing }: Shown) =>
    trouble !== null || (failing !== null && state !== 'open');
  if (shards.some(inTrouble)) return 'degraded';
  return shards.every(({ state }) => state === 'open') ? 'ready' : 'starting';
}

/** Why no shard accepts a request now; null: at least one does. */
export function refusalOf(clients: readonly Pick<ShardClient, 'refusal'>[]): EngineBusy | null {
  let refusal: EngineBusy | null = null;
  for (const client of clients) {
    refusal = client.refusal();
    if (refusal === null) return null;
  }
  return refusal;
}
