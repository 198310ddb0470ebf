/** What is wrong with the shards, and whether they take requests. Rules D6, D9, D10 (engine/RULES.md). */
import type { EngineBusy } from './busy.ts';
import type { ShardClient } from './shard-client.ts';

type Shown = Pick<ShardClient, 'trouble' | 'failing' | 'isOpen'>;

/** A line a shard: damaged data, no room, or repeated failures. */
export function troublesOf(clients: readonly Shown[]): string[] {
  return clients.flatMap(({ trouble, failing }, shard) => {
    if (trouble !== null) return [`shard ${shard}: ${trouble}`];
    return failing === null ? [] : [`shard ${shard} ${failing}`];
  });
}

export function stateOf(clients: readonly Shown[]): 'starting' | 'ready' | 'degraded' {
  const inTrouble = ({ isOpen, trouble, failing }: Shown) =>
    trouble !== null || (failing !== null && !isOpen);
  if (clients.some(inTrouble)) return 'degraded';
  return clients.every((client) => client.isOpen) ? 'ready' : 'starting';
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
