/**
 * The composition root: one server from its configuration. What is started here is stopped in
 * reverse, and a start that fails part way leaves nothing behind.
 *
 *   feeds -> ingest -> engine (shards) <- HTTP
 *            catalog file -> numbers -> engine, ingest, HTTP
 */
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import type { Catalog, Tick } from '../engine/core/messages.ts';
import type { MarketNumber, Venue } from '../engine/core/units.ts';
import { feedClock, wallClock } from '../engine/shard/clock.ts';
import { Shards } from '../engine/shard/shards.ts';
import { createAdapter } from '../feeds/adapters/create.ts';
import {
  catalogErrorText,
  listedMarkets,
  loadCatalog,
  marketNumbers,
  watchCatalog,
} from '../feeds/catalog.ts';
import { type Connection, openConnection } from '../feeds/connection.ts';
import { createIngest, type Ingest } from '../feeds/ingest.ts';
import { ensureAdminToken } from './admin-token.ts';
import { CatalogView } from './catalog-view.ts';
import { type Config, ConfigError } from './config.ts';
import { type DataDir, openDataDir } from './data-dir.ts';
import type { Log } from './deps.ts';
import { ControlStore } from './identity/store.ts';
import { RequestMeter } from './limits/request-meter.ts';
import { createOrganizations } from './organizations.ts';
import { startServer } from './server.ts';
import type { FeedConfig } from './settings.ts';
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

/** Requests a shard may hold before callers are told to come back: less than a second's. */
const QUEUE_DEPTH_MAX = 8000;
const CHECKPOINT_EVERY_EVENTS = 100_000;

/** Takes the configured data directory for this process; `startPaperbook` gives it back. */
export function takeDataDir(config: Pick<Config, 'dataDir' | 'shards'>): Promise<DataDir> {
  return openDataDir(config.dataDir, config.shards, Math.max(1, availableParallelism() - 1));
}

/** Starts a server on a data directory. Rejects with one clear line for the operator. */
export async function startPaperbook(
  config: Config,
  dataDir: DataDir,
  log: Log,
): Promise<Paperbook> {
  const stack = new Unwinder();
  stack.add(() => dataDir.release());
  try {
    return await start(config, dataDir, log, stack);
  } catch (error) {
    // What went wrong first is what the operator needs to hear.
    await stack.unwind().catch(() => undefined);
    throw error;
  }
}

async function start(
  config: Config,
  dataDir: DataDir,
  log: Log,
  stack: Unwinder,
): Promise<Paperbook> {
  checkTlsFiles(config.tls);
  const adminToken = ensureAdminToken(config.dataDir);
  const identity = new ControlStore(config.dataDir);
  stack.add(() => identity.close());
  const meter = new RequestMeter({
    store: identity,
    enforced: config.limitsEnforced,
    nowMs: Date.now,
    log,
  });
  stack.add(() => meter.close());

  const engine = new Shards({
    dataDir: config.dataDir,
    shards: dataDir.shards,
    // A start makes every shard, and then the numbers.
    wereMade: identity.numbers() !== null,
    durability: config.durability,
    checkpointEveryEvents: CHECKPOINT_EVERY_EVENTS,
    queueDepthMax: QUEUE_DEPTH_MAX,
    quoteMaxAgeMs: config.quoteMaxAgeMs,
    routingBandCents: config.routingBandCents,
    fillModel: config.fillModel,
    clock: config.clock === 'feed' ? feedClock() : wallClock(),
    log,
  });
  stack.add(() => engine.close());
  const reports = await engine.open();

  const openMarkets = reports.flatMap((report) => report?.openMarkets ?? []);
  const catalog = new LiveCatalog(config.catalogFile, identity, engine, openMarkets);
  const connections: Connection[] = [];
  stack.add(async () => {
    for (const connection of connections) connection.close();
  });
  // Watched first and loaded then, so that no change falls between the two.
  const watch = catalog.watch(log, () => {
    for (const connection of connections) connection.marketsChanged();
  });
  stack.add(async () => watch.close());
  await catalog.start();
  const view = new CatalogView(() => catalog.current);
  const games = reports.find((report) => report !== null)?.games ?? [];
  for (const { slug, status, over } of games) view.restoreGameStatus(slug, status, over);
  const ingest = createIngest({
    marketNumber: (venue, market) => catalog.marketNumber(venue, market),
    sink: (tick: Tick) => {
      if (tick.kind === 'game') view.setGameStatus(tick.game, tick.status);
      if (tick.kind === 'result') catalog.settled(tick.market);
      engine.tick(tick);
    },
    log: ({ reason, detail }) => log.warn({ reason, detail }, 'feed input not used'),
  });
  // On the feed's clock a live frame is what moves time, so it brings the wall's.
  const nowMs = config.clock === 'feed' ? Date.now : () => engine.nowMs();
  const depth = config.fillModel === 'book_depth';
  for (const [source, feed] of config.feeds.entries()) {
    connections.push(connectFeed(feed, source, { ingest, catalog, depth, nowMs, log }));
  }

  const switches = new Switches(config, identity, engine, log);
  const server = await startServer({
    engine,
    catalog: view,
    feeds: () => connections.map((connection) => connection.status()),
    log,
    config,
    identity,
    organizations: createOrganizations(config, identity, log),
    switches,
    meter,
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

/** The catalog in use, its numbers, and the file it comes from. */
class LiveCatalog {
  current: Catalog;
  marketNumber: ReturnType<typeof marketNumbers>;
  readonly #file: string | null;
  readonly #identity: ControlStore;
  readonly #engine: Shards;
  /** Markets to hear of although the catalog may have dropped them: somebody may be in them. */
  readonly #unsettled: Set<MarketNumber>;

  constructor(
    file: string | null,
    identity: ControlStore,
    engine: Shards,
    openMarkets: MarketNumber[],
  ) {
    this.#file = file;
    this.#unsettled = new Set(openMarkets);
    this.#identity = identity;
    this.#engine = engine;
    const numbers = identity.numbers() ?? { marketNames: [], instrumentIds: [] };
    this.current = { games: [], instruments: [], ...numbers };
    this.marketNumber = marketNumbers(this.current);
  }

  /** Loads the file, or starts with an empty catalog; throws when the file has errors. */
  async start(): Promise<void> {
    if (this.#file === null) await this.#use(this.current);
    else await this.#load(this.#file);
  }

  /** Takes the file again whenever it changes; one with errors changes nothing. */
  watch(log: Log, onChange: () => void): { close(): void } {
    const file = this.#file;
    if (file === null) return { close() {} };
    const reload = async () => {
      await this.#load(file);
      log.info({ file, instruments: this.current.instruments.length }, 'catalog loaded');
      onChange();
    };
    return watchCatalog(file, reload, log);
  }

  /** What to subscribe to: what the catalog lists, and what it once listed and has no result. */
  watchedMarkets(venue: Venue): string[] {
    const names = new Set(listedMarkets(this.current, venue));
    for (const number of this.#unsettled) {
      const name = this.current.marketNames[number]!;
      if (name.startsWith(`${venue}/`)) names.add(name.slice(venue.length + 1));
    }
    return [...names];
  }

  /** A market has its result: nobody waits for it any more. */
  settled(market: MarketNumber): void {
    this.#unsettled.delete(market);
  }

  async #load(file: string): Promise<void> {
    const reading = await loadCatalog(file, this.current);
    if (!reading.ok) {
      const lines = catalogErrorText(reading.errors);
      throw new ConfigError([`PAPERBOOK_CATALOG ${file} has errors:`, lines]);
    }
    await this.#use(reading.catalog);
  }

  /** Numbers are on disk before anything is journaled under them. */
  async #use(catalog: Catalog): Promise<void> {
    const { marketNames, instrumentIds } = catalog;
    await this.#identity.putNumbers({ marketNames, instrumentIds });
    this.current = catalog;
    this.marketNumber = marketNumbers(catalog);
    for (const { listings } of catalog.instruments) {
      for (const { venue, venueMarketId } of listings) {
        this.#unsettled.add(this.marketNumber(venue, venueMarketId)!);
      }
    }
    await this.#engine.setCatalog(catalog);
  }
}

type FeedParts = {
  ingest: Ingest;
  catalog: LiveCatalog;
  /** Levels are wanted, and not the top alone. */
  depth: boolean;
  nowMs(): number;
  log: Log;
};

function connectFeed(feed: FeedConfig, source: number, parts: FeedParts): Connection {
  const { venue, url } = feed;
  const adapter = adapterOf(feed, parts.depth);
  if (adapter === null) {
    throw new ConfigError([`PAPERBOOK_FEEDS: there is no adapter ${feed.adapter} yet`]);
  }
  const sink = parts.ingest.connection(venue, adapter, source);
  return openConnection({
    url,
    venue,
    adapter,
    markets: () => parts.catalog.watchedMarkets(venue),
    onFrame: (text, atMs) => sink.frame(text, atMs),
    onHeard: (atMs) => sink.heard(atMs),
    onLost: (atMs) => sink.lost(atMs),
    nowMs: parts.nowMs,
    log: parts.log,
  });
}

function adapterOf(feed: FeedConfig, depth: boolean) {
  const keys = keysOf(feed);
  try {
    return createAdapter(feed.adapter, keys, { depth });
  } catch (error) {
    throw new ConfigError([`PAPERBOOK_FEEDS: ${(error as Error).message}`]);
  }
}

/** `keyId` and `privateKeyFile`, for venues that want a signed handshake. */
function keysOf({ keyId, privateKeyFile }: FeedConfig) {
  if (keyId === undefined && privateKeyFile === undefined) return {};
  if (typeof keyId !== 'string' || typeof privateKeyFile !== 'string') {
    throw new ConfigError(['PAPERBOOK_FEEDS: keyId and privateKeyFile must be set together']);
  }
  try {
    return { keyId, privateKeyPem: readFileSync(privateKeyFile, 'utf8') };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new ConfigError([
      `PAPERBOOK_FEEDS: privateKeyFile ${privateKeyFile} cannot be read (${code})`,
    ]);
  }
}

/** Undoes steps in reverse, each whatever became of the others. */
class Unwinder {
  readonly #steps: (() => Promise<void>)[] = [];

  add(step: () => Promise<void>): void {
    this.#steps.push(step);
  }

  async unwind(): Promise<void> {
    const faults: unknown[] = [];
    for (let step = this.#steps.pop(); step !== undefined; step = this.#steps.pop()) {
      await step().catch((error: unknown) => faults.push(error));
    }
    if (faults.length > 0) throw faults[0];
  }
}
