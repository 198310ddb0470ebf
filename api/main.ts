/**
 * The composition root: one server from its configuration, in five stages. Each stage returns the
 * parts that the next needs. A stop ends the stages in reverse. A start that fails part way leaves
 * no lock and no process.
 *
 *   1 open the data        the lock, users and keys
 *   2 start the shards     accounts, orders, money
 *   3 start market data    catalog, feeds, history: venues -> ticks -> shards
 *   4 start the readers    records, events, backtests
 *   5 listen               HTTP, stream, admin
 */
import { availableParallelism } from 'node:os';
import type { Shards } from '../engine/shard/callers/shards.ts';
import { CleanupStack } from './base/cleanup-stack.ts';
import type { Log } from './base/logger.ts';
import { RecentLines } from './base/recent-lines.ts';
import type { Config } from './config/settings.ts';
import { type DataDir, openDataDir } from './data-dir/data-dir.ts';
import type { OneTimeCodes } from './identity/one-time-codes.ts';
import { openData } from './identity/open-data.ts';
import type { ControlStore } from './identity/store.ts';
import { checkFeeds } from './market-data/connect-feed.ts';
import { startMarketData } from './market-data/start-market-data.ts';
import { startShards } from './ops/start-shards.ts';
import { startReaders } from './read-side/start-readers.ts';
import { listen } from './server.ts';

export type Paperbook = {
  /** `http://127.0.0.1:8080/v1` */
  baseUrl: string;
  adminUrl: string;
  engine: Shards;
  identity: ControlStore;
  oneTimeCodes: OneTimeCodes;
  /** Answers the requests in progress, writes checkpoints, ends everything. */
  close(): Promise<void>;
};

/**
 * What no answer needs begins so long after the server listens: clients that a crash has cut off are
 * answered first. Rule D96 (engine/RULES.md).
 */
const REST_AFTER_MS = 1000;

/** So many cores have work beside a thread that answers requests. Rule G13 (api/RULES.md). */
const CORES_A_LISTENER = 4;

/** Further threads do not know who leads a shard. Rule N116 (engine/RULES.md). */
function listenersOf({ listeners, cluster }: Pick<Config, 'listeners' | 'cluster'>): number {
  if (cluster !== null) return 1;
  return listeners ?? Math.max(1, Math.floor(availableParallelism() / CORES_A_LISTENER));
}

/** Takes the configured data directory for this process; `startPaperbook` gives it back. */
export function takeDataDir(config: Pick<Config, 'dataDir' | 'shards'>): Promise<DataDir> {
  const byDefault = Math.max(1, availableParallelism() - 1);
  return openDataDir(config.dataDir, { wanted: config.shards, byDefault });
}

/** Starts a server on a data directory. Rejects with one clear line for the operator. */
export async function startPaperbook(
  config: Config,
  dataDir: DataDir,
  log: Log,
): Promise<Paperbook> {
  const stack = new CleanupStack();
  stack.add(() => dataDir.release());
  const { promise: begins, resolve: begin } = Promise.withResolvers<void>();
  const start = { config, dataDir, log: new RecentLines(log), stack, begins };
  try {
    checkFeeds(config.feeds);
    const data = await openData(start);
    const shards = await startShards({ ...start, ...data, listeners: listenersOf(config) });
    const marketData = await startMarketData({ ...start, ...data, ...shards });
    const readers = startReaders({ ...start, ...data, ...shards, ...marketData });
    const { server, context } = await listen({
      ...{ ...start, ...data, ...shards },
      ...{ marketData, readers },
    });
    setTimeout(begin, REST_AFTER_MS).unref();
    const { engine } = shards;
    const { identity, oneTimeCodes } = context;
    return { ...server, engine, identity, oneTimeCodes, close: () => stack.unwind() };
  } catch (error) {
    // The operator needs the first error.
    await stack.unwind().catch(() => undefined);
    throw error;
  }
}
