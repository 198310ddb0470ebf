/**
 * The composition root: one server from its configuration. What is started here is stopped in
 * reverse, and a start that fails part way leaves nothing behind.
 *
 *   feed thread: venues -> ingest -> ticks -> intake -> engine (shards) <- HTTP
 *                catalog file -> numbers -> engine, feed thread, HTTP
 */
import { availableParallelism } from 'node:os';
import type { MarketNumber } from '../engine/base/units.ts';
import { closingsOf } from '../engine/history/closings.ts';
import type { History } from '../engine/history/history.ts';
import { feedClock, wallClock } from '../engine/shard/callers/clock.ts';
import { Shards } from '../engine/shard/callers/shards.ts';
import type { OpenReport } from '../engine/shard/store/open-report.ts';
import { CleanupStack } from './base/cleanup-stack.ts';
import type { Log } from './base/log.ts';
import { RecentLines } from './base/recent-lines.ts';
import { CatalogView } from './catalog/catalog-view.ts';
import { InstrumentSearch } from './catalog/instrument-search.ts';
import { LiveCatalog } from './catalog/live-catalog.ts';
import type { Config } from './config/config.ts';
import { checkTlsFiles } from './config/tls-files.ts';
import { type DataDir, openDataDir } from './data-dir/data-dir.ts';
import { refuseLostControl, settleDirectoryId } from './data-dir/directory-id.ts';
import { ShardPositions } from './data-dir/shard-positions.ts';
import { createOrganizations } from './identity/create-organizations.ts';
import { OneTimeCodes } from './identity/one-time-codes.ts';
import { ControlStore } from './identity/store.ts';
import { Switches } from './identity/switches.ts';
import { RequestMeter } from './limits/request-meter.ts';
import { ChangedMarkets } from './market-data/changed-markets.ts';
import { LiveFeeds } from './market-data/live-feeds.ts';
import { operatorResults } from './market-data/operator-results.ts';
import { playbackInto } from './market-data/playback.ts';
import { TickIntake } from './market-data/tick-intake.ts';
import { followVoids, VoidedGames } from './market-data/voided-games.ts';
import { ensureAdminToken } from './operations/admin/admin-token.ts';
import type { Deps } from './operations/server-context.ts';
import { rebuilder } from './ops/shard-rebuilder.ts';
import { StartChecks } from './ops/start-checks.ts';
import { createAccountReaders } from './read-side/account-readers.ts';
import type { BacktestSource } from './read-side/backtest-source.ts';
import { createBacktest } from './read-side/create-backtest.ts';
import { createHistory, historyProblems } from './read-side/create-history.ts';
import { createReaders } from './read-side/create-readers.ts';
import { settledRecords } from './read-side/records-source.ts';
import { TrackRecordKeys } from './read-side/track-record-keys.ts';
import { type Server, startServer } from './server.ts';

export type Paperbook = {
  /** `http://127.0.0.1:8080/v1` */
  baseUrl: string;
  adminUrl: string;
  engine: Shards;
  identity: ControlStore;
  oneTimeCodes: OneTimeCodes;
  /** Answers what is under way, writes checkpoints, ends everything. */
  close(): Promise<void>;
};

/** How many requests a shard may hold before callers get 503: less than a second's. */
const QUEUE_DEPTH_MAX = 8000;
const CHECKPOINT_EVERY_FACTS = 300_000;

/** Takes the configured data directory for this process; `startPaperbook` gives it back. */
export function takeDataDir(config: Pick<Config, 'dataDir' | 'shards'>): Promise<DataDir> {
  const byDefault = Math.max(1, availableParallelism() - 1);
  return openDataDir(config.dataDir, { wanted: config.shards, byDefault });
}

/** Opens what callers connect to. */
export type Serve = (deps: Deps) => Promise<Server>;

/**
 * Starts a server on a data directory. Rejects with one clear line for the operator. `serve`: the API
 * and the operator's listener, or these and more.
 */
export async function startPaperbook(
  config: Config,
  dataDir: DataDir,
  log: Log,
  serve: Serve = startServer,
): Promise<Paperbook> {
  const stack = new CleanupStack();
  stack.add(() => dataDir.release());
  try {
    return await start({ config, dataDir, log: new RecentLines(log), stack }, serve);
  } catch (error) {
    // The operator needs the first error.
    await stack.unwind().catch(() => undefined);
    throw error;
  }
}

/** What is started so far, and how it is undone. */
type Startup = { config: Config; dataDir: DataDir; log: RecentLines; stack: CleanupStack };

async function start(startup: Startup, serve: Serve): Promise<Paperbook> {
  const { config, dataDir, log, stack } = startup;
  for (const line of dataDir.exposed) log.warn({ dataDir: config.dataDir }, line);
  refuseLostControl(config.dataDir);
  checkTlsFiles(config.tls);
  const adminToken = ensureAdminToken(config.dataDir);
  const identity = await openIdentity(startup);
  const { engine, positions } = createEngine(startup, identity);
  const opening = engine.open();
  // What fails below ends the start before anyone waits for the shards.
  opening.catch(() => undefined);
  const reports = await opening;
  positions.follow();
  const history = createHistory(config, engine, log);
  if (history !== null) stack.add(() => history.close());
  const changed = new ChangedMarkets();
  const markets = await startMarkets(startup, identity, { engine, history }, reports, changed);
  const { view, fees, catalog, feeds } = markets;
  // Before the feeds: what their end does to prices is the server's stop. Rule H5 (api/RULES.md).
  if (history !== null) stack.add(() => history.close());

  const readers = createReaders({ ...startup, identity, engine, history, catalog });
  const checks = new StartChecks({ dataDir: config.dataDir, identity, reports, log });
  stack.add(() => checks.close());
  const oneTimeCodes = new OneTimeCodes();
  const trackRecordKeys = new TrackRecordKeys(config.dataDir);
  const server = await serve({
    engine,
    catalog: view,
    fees,
    search: new InstrumentSearch(view),
    feeds: () => feeds.statuses(),
    playback: markets.playback,
    settleMarket: markets.settleMarket,
    backtest: startBacktest(startup, history),
    history: readers.history,
    records: settledRecords(readers.records, engine),
    log,
    recentLines: log,
    config,
    identity,
    oneTimeCodes,
    organizations: createOrganizations(config, identity, log),
    switches: new Switches(config, identity, engine, log),
    trackRecordKeys,
    ...accountReaders(startup),
    changed,
    meter: createMeter(startup, identity),
    problems: () => [
      ...[...engine.troubles(), ...clockProblems(engine), ...feeds.problems(Date.now())],
      ...[...checks.problems, ...positions.problems, ...trackRecordKeys.problems],
      ...[...historyProblems(history), ...readers.records.problems()],
    ],
    ownerless: checks.ownerless,
    adminToken,
  });
  stack.add(() => server.close());
  return { ...server, engine, identity, oneTimeCodes, close: () => stack.unwind() };
}

async function openIdentity({ config, stack }: Startup): Promise<ControlStore> {
  const identity = new ControlStore(config.dataDir);
  stack.add(() => identity.close());
  await settleDirectoryId(config.dataDir, identity, Date.now());
  if (config.organizationsUrl !== null) await identity.noteOutsideOrganizations();
  return identity;
}

function startBacktest({ config, log, stack }: Startup, history: History | null): BacktestSource {
  const { source, close } = createBacktest(config, history, log);
  stack.add(close);
  return source;
}

function createMeter({ config, log, stack }: Startup, identity: ControlStore): RequestMeter {
  const meter = new RequestMeter({
    store: identity,
    enforced: config.limitsEnforced,
    nowMs: Date.now,
    log,
  });
  stack.add(() => meter.close());
  return meter;
}

function createEngine(
  { config, dataDir, log, stack }: Startup,
  identity: ControlStore,
): { engine: Shards; positions: ShardPositions } {
  const { durability } = config;
  const statuses = () => engine.statuses();
  const positions = new ShardPositions({ dataDir: config.dataDir, durability, statuses, log });
  // Behind the end of the shards.
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
  return { engine, positions };
}

function accountReaders({ dataDir: { shards }, config: { dataDir }, log, stack }: Startup) {
  return createAccountReaders({ dataDir, shards, log }, stack);
}

/** The catalog as it changes, the connections to the venues, and what both say to the engine. */
async function startMarkets(
  { config, log, stack }: Startup,
  identity: ControlStore,
  { engine, history }: { engine: Shards; history: History | null },
  reports: readonly (OpenReport | null)[],
  changed: ChangedMarkets,
) {
  const openMarkets = reports.flatMap((report) => report?.openMarkets ?? []);
  const catalog = new LiveCatalog(config.catalogFile, identity, engine, openMarkets);
  catalog.onUse = (used) => history?.setClosings(closingsOf(used));
  const resolved = reports.flatMap((report) => resolvedMarkets(report?.results ?? []));
  history?.setResolved(resolved);
  const view = new CatalogView(() => catalog.current);
  const isFeedClock = config.clock === 'feed';
  /** A market has its result: answers show it, and no quote is awaited any more. */
  const settled = (market: MarketNumber) => {
    view.setMarketStatus(market, 'resolved');
    catalog.settled(market);
    feeds.settled(market);
  };
  const voids = new VoidedGames({ view, catalog, voided: (result) => intake.follow(result) });
  const intake = new TickIntake({
    engine,
    view,
    isFeedClock,
    settled,
    voids,
    follow: (tick) => {
      changed.note(tick);
      history?.tick(tick);
    },
  });
  const venues = [...new Set(config.feeds.map(({ venue }) => venue))];
  const markets = () => catalog.marketsToWatch(venues);
  const nowMs = () => engine.nowMs();
  const feeds = new LiveFeeds({ config, markets, intake, nowMs, log });
  stack.add(() => feeds.close());
  // Watched first and loaded then, so that no change falls between the two.
  const watch = catalog.watch(log, () => feeds.marketsChanged());
  stack.add(async () => watch.close());
  await catalog.start();
  const games = reports.find((report) => report !== null)?.games ?? [];
  for (const { slug, status, over } of games) view.restoreGameStatus(slug, status, over);
  for (const market of resolved) settled(market);
  stack.add(followVoids(voids, { engine, catalog }));
  await feeds.start();
  const playback = playbackInto({ config, engine, history, catalog, intake, feeds, log });
  const fees = () => catalog.fees;
  const settleMarket = operatorResults({
    marketNumber: (venue, name) => catalog.marketNumber(venue, name),
    engine,
    settled: (result) => intake.follow(result),
  });
  return { view, catalog, fees, feeds, playback, settleMarket };
}

function clockProblems(engine: Shards): string[] {
  const problem = engine.clockProblem();
  return problem === null ? [] : [problem];
}

/** The markets that have a result. */
function resolvedMarkets(results: readonly unknown[]): MarketNumber[] {
  return results.flatMap((result, market) => (result === null ? [] : [market]));
}
