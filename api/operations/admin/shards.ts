/** The shards, and recent problems, on the operator's listener. Rules O18, O19 (api/RULES.md). */
import { type EpochMs, isoOf } from '../../../engine/base/units.ts';
import type { ShardStatus } from '../../../engine/shard/callers/shard-status.ts';
import { BATCH_MINUTES } from '../../../engine/shard/thread/batch-times.ts';
import { NoQuery } from '../../base/common-schemas.ts';
import { keyed, type Route } from '../../dispatch/route.ts';
import type { Operator } from '../../identity/admin-token.ts';
import { ProblemsAnswer, ShardsAnswer } from '../../schemas/admin.ts';
import type { ServerContext } from '../server-context.ts';

type Context = Pick<ServerContext, 'engine' | 'recentLines' | 'problems'>;

export function shardAdminRoutes({ engine, problems, recentLines }: Context): Route<Operator>[] {
  return [
    keyed({
      method: 'GET',
      path: '/admin/shards',
      query: NoQuery,
      response: ShardsAnswer,
      run: () => {
        const nowMs = engine.nowMs();
        const shards = engine.statuses().map((status, shard) => shardView(shard, status, nowMs));
        return JSON.stringify({ shards });
      },
    }),
    keyed({
      method: 'GET',
      path: '/admin/problems',
      query: NoQuery,
      response: ProblemsAnswer,
      run: () => {
        const log = recentLines.lines().map(({ firstAtMs, lastAtMs, ...line }) => {
          return { at: isoOf(lastAtMs), firstAt: isoOf(firstAtMs), ...line };
        });
        return JSON.stringify({ problems: problems(), log });
      },
    }),
  ];
}

function shardView(shard: number, status: ShardStatus, nowMs: EpochMs) {
  const { state, problem, restartProblem, progress, batches, queued, queuedMax, lastFailure } =
    status;
  const checkpointAtMs = progress?.checkpointNumber ? progress.checkpointAtMs : null;
  return {
    shard,
    state,
    problem: problem ?? restartProblem,
    lastFact: progress?.lastNumber ?? null,
    logBytes: progress?.logBytes ?? null,
    factsSinceCheckpoint:
      progress === null ? null : progress.lastNumber - progress.checkpointNumber,
    checkpointAt: checkpointAtMs === null ? null : isoOf(checkpointAtMs),
    checkpointAgeMs: checkpointAtMs === null ? null : Math.max(0, nowMs - checkpointAtMs),
    batches: {
      minutes: BATCH_MINUTES,
      count: batches.batches,
      p50Ms: batches.p50Ms,
      p99Ms: batches.p99Ms,
    },
    queued,
    queuedMax,
    lastFailure:
      lastFailure === null ? null : { at: isoOf(lastFailure.atMs), reason: lastFailure.reason },
  };
}
