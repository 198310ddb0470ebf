/**
 * The composition root: one server from its configuration. What is started here is stopped in
 * reverse, and a start that fails part way leaves nothing behind.
 *
 *   feeds -> ingest -> engine (shards) <- HTTP
 *            catalog file -> numbers -> engine, ingest, HTTP
 */
import { availableParallelism } from 'node:os';
import { closingsOf } from '../engine/history/closings.ts';
import type { History } from '../engine/history/history.ts';
import type { Tick } from '../engine/rules/messages.ts';
import type { EpochMs, MarketNumber } from '../engine/rules/units.ts';
import { feedClock, wallClock } from '../engine/shard/clock.ts';
import type { OpenReport } from '../engine/shard/open-report.ts';
import { Shards } from '../engine/shard/shards.ts';
import type { Feed } from '../feeds/feed.ts';
import { feedProblems } from '../feeds/health.ts';
import { createIngest, type Ingest, type IngestOptions } from '../feeds/ingest.ts';
import { ensureAdminToken } from './admin-token.ts';
import { CatalogView } from './catalog-view.ts';
import { CleanupStack } from './cleanup-stack.ts';
import type { Config } from './config.ts';
import { connectFeed } from './connect-feed.ts';
import { createHistory, historyProblems, historySource } from './create-history.ts';
import { createOrganizations } from './create-organizations.ts';
import { type DataDir, openDataDir } from './data-dir.ts';
import type { Deps } from './deps.ts';
import { refuseLostControl, settleDirectoryId } from './directory-id.ts';
import { ownerlessIn } from './identity/ownerless.ts';
import { ControlStore } from './identity/store.ts';
import { InstrumentSearch } from './instrument-search.ts';
import { RequestMeter } from './limits/request-meter.ts';
import { LiveCatalog } from './live-catalog.ts';
import type { Log } from './log.ts';
import { createPlayback } from './playback.ts';
import { type Server, startServer } from './server.ts';
import { Switches } from './switches.ts';
import { checkTlsFiles } from './tls-files.ts';

export type Paperbook = {
  /** `http://127.0.0.1:8080/v1` */
  baseUrl: string;
  adminUrl: string;
  engine: Shards;
  identity: ControlStore;
  /** Answers what is under way, writes checkpoints, ends everything. */
  close(): Promise<void>;
};

/** How many requests a shard may hold before callers get 503: less than a second's. */
const QUEUE_DEPTH_MAX = 8000;
const CHECKPOINT_EVERY_FACTS = 300_000;
/** The last millisecond of the year 9999. */
const LAST_DATE_MS = Date.UTC(10_000, 0) - 1;

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
    return await start({ config, dataDir, log, stack }, serve);
  } catch (error) {
    // The operator needs the first error.
    await stack.unwind().catch(() => undefined);
    throw error;
  }
}

/** What is started so far, and how it is undone. */
type Startup = { config: Config; dataDir: DataDir; log: Log; stack: CleanupStack };

async function start(startup: Startup, serve: Serve): Promise<Paperbook> {
  const { config, dataDir, log, stack } = startup;
  for (const line of dataDir.exposed) log.warn({ dataDir: config.dataDir }, line);
  refuseLostControl(config.dataDir);
  checkTlsFiles(config.tls);
  const adminToken = ensureAdminToken(config.dataDir);
  const identity = await openIdentity(startup);
  const meter = createMeter(startup, identity);
  const engine = createEngine(startup, identity);
  const reports = await engine.open();
  const ownerless = ownerlessIn(config.dataDir, identity, reports);
  for (const line of ownerless) log.error({ dataDir: config.dataDir }, line);
  const history = createHistory(config, engine, log);
  if (history !== null) stack.add(() => history.close());
  const markets = await startMarkets(startup, identity, { engine, history }, reports);
  const { view, catalog, feeds, playback } = markets;
  // Before the feeds: what their end does to prices is the server's stop. Rule H5 (api/RULES.md).
  if (history !== null) stack.add(() => history.close());

  const switches = new Switches(config, identity, engine, log);
  const server = await serve({
    engine,
    catalog: view,
    search: new InstrumentSearch(view),
    feeds,
    playback,
    history: historySource(config, history, catalog, log),
    log,
    config,
    identity,
    organizations: createOrganizations(config, identity, log),
    switches,
    meter,
    problems: () => [
      ...engine.troubles(),
      ...clockProblems(engine),
      ...feedProblems(feeds(), Date.now()),
      ...historyProblems(history),
      ...ownerless,
    ],
    ownerless,
    adminToken,
  });
  stack.add(() => server.close());
  return {
    engine,
    baseUrl: server.baseUrl,
    adminUrl: server.adminUrl,
    identity,
    close: () => stack.unwind(),
  };
}

async function openIdentity({ config, stack }: Startup): Promise<ControlStore> {
  const identity = new ControlStore(config.dataDir);
  stack.add(() => identity.close());
  await settleDirectoryId(config.dataDir, identity, Date.now());
  if (config.organizationsUrl !== null) await identity.noteOutsideOrganizations();
  return identity;
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

function createEngine({ config, dataDir, log, stack }: Startup, identity: ControlStore): Shards {
  const engine = new Shards({
    dataDir: config.dataDir,
    shards: dataDir.shards,
    // A start makes every shard, and then the numbers.
    wereMade: identity.numbers() !== null,
    durability: config.durability,
    checkpointEveryFacts: CHECKPOINT_EVERY_FACTS,
    queueDepthMax: QUEUE_DEPTH_MAX,
    quoteMaxAgeMs: config.quoteMaxAgeMs,
    routingBandCents: config.routingBandCents,
    fillModel: config.fillModel,
    clock:
      config.clock === 'feed' ? feedClock() : wallClock({ jumpMaxMs: config.clockJumpMaxMs, log }),
    log,
  });
  stack.add(() => engine.close());
  return engine;
}

/** The catalog as it changes, the connections to the venues, and what both say to the engine. */
async function startMarkets(
  { config, log, stack }: Startup,
  identity: ControlStore,
  { engine, history }: { engine: Shards; history: History | null },
  reports: readonly (OpenReport | null)[],
) {
  const openMarkets = reports.flatMap((report) => report?.openMarkets ?? []);
  const catalog = new LiveCatalog(config.catalogFile, identity, engine, openMarkets);
  catalog.onUse = (used) => history?.setClosings(closingsOf(used));
  const resolved = reports.flatMap((report) => resolvedMarkets(report?.results ?? []));
  history?.setResolved(resolved);
  const feeds: Feed[] = [];
  stack.add(async () => {
    for (const feed of feeds) feed.close();
  });
  // Watched first and loaded then, so that no change falls between the two.
  const watch = catalog.watch(log, () => {
    for (const feed of feeds) feed.marketsChanged();
  });
  stack.add(async () => watch.close());
  await catalog.start();
  const view = new CatalogView(() => catalog.current);
  const games = reports.find((report) => report !== null)?.games ?? [];
  for (const { slug, status, over } of games) view.restoreGameStatus(slug, status, over);
  for (const market of resolved) settle({ catalog, view }, market);
  // On the feed's clock a live frame is what moves time, so it brings the wall's, and cannot be late.
  const isFeedClock = config.clock === 'feed';
  const nowMs = () => engine.nowMs();
  const into = { catalog, view, engine, history, log };
  const live = ingestInto(
    into,
    isFeedClock ? { timeOf: feedTime } : { lagMaxMs: config.feedLagMaxMs },
  );
  const depth = config.fillModel === 'book_depth';
  let sources = 0;
  const newSource = () => sources++;
  const parts = { ingest: live, catalog, depth, newSource, nowMs, log };
  for (const [entry, feed] of config.feeds.entries()) feeds.push(connectFeed(feed, entry, parts));
  const playback = createPlayback({
    ingest: ingestInto(into),
    engine: {
      nowMs,
      drained: async () => {
        await Promise.all([engine.drained(), history?.drained()]);
      },
    },
    depth,
    newSource,
    isFeedClock,
  });
  return { view, catalog, feeds: () => feeds.flatMap((feed) => feed.statuses()), playback };
}

/**
 * On the feed's clock a frame is taken at the venue's own time, or at the present where it states
 * none, or an older one. Rule C7 (engine/RULES.md).
 */
function feedTime(venueAtMs: EpochMs | null, nowMs: EpochMs): EpochMs {
  return venueAtMs === null || venueAtMs > LAST_DATE_MS ? nowMs : Math.max(nowMs, venueAtMs);
}

/** What venues say goes to the engine, and what of it answers show to the view. */
function ingestInto(
  to: {
    catalog: LiveCatalog;
    view: CatalogView;
    engine: Shards;
    history: History | null;
    log: Log;
  },
  options: Pick<IngestOptions, 'timeOf' | 'lagMaxMs'> = {},
): Ingest {
  const { catalog, view, engine, history, log } = to;
  return createIngest({
    ...options,
    marketNumber: (venue, market) => catalog.marketNumber(venue, market),
    sink: (tick: Tick) => {
      if (tick.kind === 'game') view.setGameStatus(tick.game, tick.status);
      if (tick.kind === 'status') view.setMarketStatus(tick.market, tick.status);
      if (tick.kind === 'result') settle(to, tick.market);
      engine.tick(tick);
      history?.tick(tick);
    },
    log: ({ reason, detail }) => log.warn({ reason, detail }, 'feed input not used'),
  });
}

function clockProblems(engine: Shards): string[] {
  const problem = engine.clockProblem();
  return problem === null ? [] : [problem];
}

/** A market has its result: answers show it, and no quote is awaited any more. */
function settle(
  { catalog, view }: { catalog: LiveCatalog; view: CatalogView },
  market: MarketNumber,
): void {
  view.setMarketStatus(market, 'resolved');
  catalog.settled(market);
}

/** The markets that have a result. */
function resolvedMarkets(results: readonly unknown[]): MarketNumber[] {
  return results.flatMap((result, market) => (result === null ? [] : [market]));
}
