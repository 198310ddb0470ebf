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
import { type OwnCatalog, openCatalogFiles, readOwnCatalog } from './catalog/live-catalog.ts';
import { ConfigError } from './config/config.ts';
import type { Config } from './config/settings.ts';
import { checkTlsFiles } from './config/tls-files.ts';
import { type DataDir, openDataDir } from './data-dir/data-dir.ts';
import type { OneTimeCodes } from './identity/one-time-codes.ts';
import { openData } from './identity/open-data.ts';
import type { ControlStore } from './identity/store.ts';
import { checkFeeds } from './market-data/connect-feed.ts';
import { startMarketData } from './market-data/start-market-data.ts';
import { startShards } from './ops/start-shards.ts';
import { startReaders } from './read-side/start-readers.ts';
import { checkAddresses, listen } from './server.ts';

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

/** A directory, and the catalog that was read before. */
export type TakenDir = DataDir & { ownCatalog: OwnCatalog };

/**
 * Takes the configured data directory for this process; `startPaperbook` gives it back. If a file of
 * the settings cannot be used, no directory is made; if an address cannot, nothing is in it. Rule G8
 * (api/RULES.md).
 */
export async function takeDataDir(config: Config): Promise<TakenDir> {
  const ownCatalog = await readFiles(config);
  const byDefault = Math.max(1, availableParallelism() - 1);
  const shards = { wanted: config.shards, byDefault };
  const dataDir = await openDataDir(config.dataDir, shards, () => checkAddresses(config));
  return { ...dataDir, ownCatalog };
}

/** All files that the settings name. @throws ConfigError for the first one that cannot be used */
async function readFiles({ feeds, tls, cluster, catalogFile }: Config): Promise<OwnCatalog> {
  checkFeeds(feeds);
  checkTlsFiles(tls);
  if (cluster !== null) {
    const { readSecret } = await import('./ops/join-cluster.ts');
    try {
      readSecret(cluster.secretFile);
    } catch (error) {
      throw new ConfigError([`PAPERBOOK_CLUSTER: ${(error as Error).message}`]);
    }
  }
  return await readOwnCatalog(catalogFile);
}

/** Starts a server on a data directory. Rejects with one clear line for the operator. */
export async function startPaperbook(
  config: Config,
  { ownCatalog, ...dataDir }: TakenDir,
  log: Log,
): Promise<Paperbook> {
  const stack = new CleanupStack();
  stack.add(() => dataDir.release());
  const { promise: begins, resolve: begin } = Promise.withResolvers<void>();
  const start = { config, dataDir, log: new RecentLines(log), stack, begins };
  try {
    // A demo makes its catalog in the directory.
    const own =
      ownCatalog.file === config.catalogFile
        ? ownCatalog
        : await readOwnCatalog(config.catalogFile);
    const catalogFiles = openCatalogFiles(own, config.dataDir);
    const data = await openData(start);
    const shards = await startShards({ ...start, ...data, listeners: listenersOf(config) });
    const marketData = await startMarketData({ ...start, ...data, ...shards, catalogFiles });
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
