/**
 * The shards of a data directory, on the clock of the settings. Rules D5, D72, D85, C7, N101
 * (engine/RULES.md).
 */
import type { EpochMs } from '../../engine/base/units.ts';
import type { ClusterWatch } from '../../engine/replication/cluster-watch.ts';
import { type Clock, feedClock, wallClock } from '../../engine/shard/callers/clock.ts';
import { FurtherEnds } from '../../engine/shard/callers/further-ends.ts';
import { Shards } from '../../engine/shard/callers/shards.ts';
import type { OpenReport } from '../../engine/shard/store/open-report.ts';
import type { CleanupStack } from '../base/cleanup-stack.ts';
import type { Log } from '../base/logger.ts';
import type { Config } from '../config/settings.ts';
import type { DataDir } from '../data-dir/data-dir.ts';
import { ShardPositions } from '../data-dir/shard-positions.ts';
import type { ControlStore } from '../identity/store.ts';
import { sharedTime, timeMemory } from '../market-data/shared-time.ts';
import { rebuilder } from './shard-rebuilder.ts';
import type { SharedKeys } from './shared-keys.ts';

/** How many requests a shard may hold before callers get 503: less than a second's. */
const QUEUE_DEPTH_MAX = 8000;
const CHECKPOINT_EVERY_FACTS = 300_000;

type ShardParts = {
  config: Config;
  /** Threads that answer requests: this one, and further ones with rings of their own. */
  listeners: number;
  dataDir: Pick<DataDir, 'shards'>;
  identity: Pick<ControlStore, 'numbers' | 'directoryId' | 'joinCluster'>;
  log: Log;
  stack: CleanupStack;
};

/** How further threads call the shards. Rule D73 (engine/RULES.md). */
export type FurtherThreads = {
  shards: Shards;
  ends: FurtherEnds;
  /** Of `sharedTime`. */
  time: SharedArrayBuffer;
  queueDepthMax: number;
};

export type StartedShards = {
  engine: Shards;
  /** Null: this thread alone answers requests. */
  further: FurtherThreads | null;
  /** By shard, the report of its start; null: it could not be opened. */
  reports: readonly (OpenReport | null)[];
  positions: ShardPositions;
  /** Null: the server is in no cluster. */
  cluster: ClusterWatch | null;
  sharedKeys: SharedKeys | null;
};

/** Resolves once every shard is open, or known to be damaged. */
export async function startShards(parts: ShardParts): Promise<StartedShards> {
  const { config, listeners, dataDir, identity, log, stack } = parts;
  const { durability } = config;
  const statuses = () => engine.statuses();
  const positions = new ShardPositions({ dataDir: config.dataDir, durability, statuses, log });
  // After the end of the shards.
  stack.add(() => positions.close());

  const ownClock =
    config.clock === 'feed' ? feedClock() : wallClock({ jumpMaxMs: config.clockJumpMaxMs, log });
  const ends = new FurtherEnds(listeners - 1);
  const time = timeMemory();
  const joined =
    config.cluster === null
      ? null
      : await (await import('./join-cluster.ts')).joinOf(config.cluster, {
          dataDir: config.dataDir,
          directory: identity.directoryId!,
          shards: dataDir.shards,
          signsTokens: config.outsideAuth === null,
          ...{ identity, log, stack },
        });
  if (joined !== null) stack.add(() => joined.watch.close());
  const engine = new Shards({
    dataDir: config.dataDir,
    shards: dataDir.shards,
    // A start makes every shard, and then the numbers.
    wereMade: identity.numbers() !== null,
    reached: positions.found,
    durability,
    checkpointEveryFacts: CHECKPOINT_EVERY_FACTS,
    queueDepthMax: QUEUE_DEPTH_MAX,
    quoteMaxAgeMs: config.quoteMaxAgeMs,
    routingBandCents: config.routingBandCents,
    fillModel: config.fillModel,
    clock: listeners === 1 ? ownClock : sharing(ownClock, config, time),
    further: ends,
    rebuild: rebuilder(config.dataDir),
    ...(joined === null ? {} : { replicator: joined.replicator, voidsByResult: true }),
    log,
  });
  stack.add(() => engine.close());
  const opening = engine.open();
  const reports = await (joined?.openInTime(opening, statuses) ?? opening);
  positions.follow();
  const further = { shards: engine, ends, time, queueDepthMax: QUEUE_DEPTH_MAX };
  return {
    ...{ engine, further: listeners === 1 ? null : further, reports, positions },
    cluster: joined?.watch ?? null,
    sharedKeys: joined?.sharedKeys ?? null,
  };
}

/** The clock, which shares its time with further threads. Rule A134 (api/RULES.md). */
function sharing(own: Clock, { clock }: Config, memory: SharedArrayBuffer): Clock {
  const { share } = sharedTime(memory, clock === 'feed');
  const shared = (atMs: EpochMs): EpochMs => {
    share(atMs);
    return atMs;
  };
  return {
    nowMs: () => shared(own.nowMs()),
    heartbeat: (atMs) => {
      own.heartbeat(atMs);
      share(own.nowMs());
    },
    startFrom: (atMs) => {
      own.startFrom(atMs);
      share(own.nowMs());
    },
    machineMs: () => own.machineMs(),
    acceptMachine: () => {
      const backMs = own.acceptMachine();
      share(own.nowMs());
      return backMs;
    },
    problem: () => own.problem(),
  };
}
