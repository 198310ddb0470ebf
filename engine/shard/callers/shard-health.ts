/**
 * The problems of the shards, and whether they take requests. Rules D6, D9, D10, N115
 * (engine/RULES.md).
 */
import { NotLeader, type Unavailable } from '../../threads/unavailable.ts';
import type { ShardClient } from './shard-client.ts';
import type { ShardStatus } from './shard-status.ts';

type Shown = Pick<ShardStatus, 'state' | 'problem' | 'restartProblem'>;

/** One line per shard: damaged data, no room, repeated failures, or a rebuilt checkpoint. */
export function problemsOf(shards: readonly (Shown & Pick<ShardStatus, 'repaired'>)[]): string[] {
  return shards.flatMap(({ problem, restartProblem, repaired }, shard) => {
    const line = problem ?? repaired;
    if (line !== null) return [`shard ${shard}: ${line}`];
    return restartProblem === null ? [] : [`shard ${shard} ${restartProblem}`];
  });
}

export function stateOf(shards: readonly Shown[]): 'starting' | 'ready' | 'degraded' {
  const hasProblem = ({ state, problem, restartProblem }: Shown) =>
    problem !== null || (restartProblem !== null && state !== 'open');
  if (shards.some(hasProblem)) return 'degraded';
  const isReady = ({ state }: Shown) => state === 'open' || state === 'following';
  return shards.every(isReady) ? 'ready' : 'starting';
}

/** Why no shard accepts a request now; null: at least one does, or each refuses for another node. */
export function refusalOf(clients: readonly Pick<ShardClient, 'refusal'>[]): Unavailable | null {
  let refusal: Unavailable | null = null;
  for (const client of clients) {
    const before = refusal;
    refusal = client.refusal();
    if (refusal === null) return null;
    if (before !== null && leaderIn(before) !== leaderIn(refusal)) return null;
  }
  return refusal;
}

const leaderIn = (refusal: Unavailable): string | null =>
  refusal instanceof NotLeader ? refusal.leader : null;
