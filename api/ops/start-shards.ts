/** The shards of a data directory, on the clock of the settings. Rules D5, D72, D85, C7 (engine/RULES.md). */
import { feedClock, wallClock } from '../../engine/shard/callers/clock.ts';
import { Shards } from '../../engine/shard/callers/shards.ts';
import type { OpenReport } from '../../engine/shard/store/open-report.ts';
import type { CleanupStack } from '../base/cleanup-stack.ts';
import type { Log } from '../base/log.ts';
import type { Config } from '../config/settings.ts';
import type { DataDir } from '../data-dir/data-dir.ts';
import { ShardPositions } from '../data-dir/shard-positions.ts';
import type { ControlStore } from '../identity/store.ts';
import { rebuilder } from './shard-rebuilder.ts';

/** How many requests a shard may hold before callers get 503: less than a second's. */
const QUEUE_DEPTH_MAX = 8000;
const CHECKPOINT_EVERY_FACTS = 300_000;

type ShardParts = {
  config: Config;
  dataDir: Pick<DataDir, 'shards'>;
  identity: Pick<ControlStore, 'numbers'>;
  log: Log;
  stack: CleanupStack;
};

export type StartedShards = {
  engine: Shards;
  /** By shard, the report of its start; null: it could not be opened. */
  reports: readonly (OpenReport | null)[];
  positions: ShardPositions;
};

/** Resolves once every shard is open, or known to be damaged. */
export async function startShards(parts: ShardParts): Promise<StartedShards> {
  const { config, dataDir, identity, log, stack } = parts;
  const { durability } = config;
  const statuses = () => engine.statuses();
  const positions = new ShardPositions({ dataDir: config.dataDir, durability, statuses, log });
  // After the end of the shards.
  stack.add(() => positions.close());

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
    clock:
      config.clock === 'feed' ? feedClock() : wallClock({ jumpMaxMs: config.clockJumpMaxMs, log }),
    rebuild: rebuilder(config.dataDir),
    log,
  });
  stack.add(() => engine.close());
  const reports = await engine.open();
  positions.follow();
  return { engine, reports, positions };
}
