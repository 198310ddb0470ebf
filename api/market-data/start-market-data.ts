/**
 * The catalog as it changes, the connections to the venues, and the events of both for the engine
 * and every follower of markets. Rules D44, D46, S16 (engine/RULES.md), H5 (api/RULES.md).
 *
 *   feed thread: venues -> ingest -> ticks -> intake -> engine
 *   operator: playback, results -----------> intake -> bus -> states, view, history, feed thread
 *   in a cluster: results -> control log --> engine and bus of every node
 *   catalog file, discovery -> numbers -> engine ------> bus
 */
import { type MarketNumber, type Venue, venueOf } from '../../engine/base/units.ts';
import type { History } from '../../engine/history/history.ts';
import type { MarketResult, ResultTick } from '../../engine/rules/messages.ts';
import type { Shards } from '../../engine/shard/callers/shards.ts';
import type { OpenReport } from '../../engine/shard/store/open-report.ts';
import type { CleanupStack } from '../base/cleanup-stack.ts';
import type { Log } from '../base/logger.ts';
import { CatalogView } from '../catalog/catalog-view.ts';
import { type CatalogFiles, LiveCatalog, type LiveCatalogParts } from '../catalog/live-catalog.ts';
import { MarketBus } from '../catalog/market-bus.ts';
import { MarketStates } from '../catalog/market-states.ts';
import type { Config } from '../config/settings.ts';
import type { FinalResult } from '../identity/control-tables.ts';
import type { ControlStore } from '../identity/store.ts';
import { BookNeeds } from './book-needs.ts';
import { ChangedMarkets } from './changed-markets.ts';
import type { ResultEngine, ResultStore } from './cluster-results.ts';
import { ContradictedResults } from './contradicted-results.ts';
import { followHeldMarkets } from './held-markets.ts';
import { KeptMarketStates } from './kept-market-states.ts';
import { LiveDiscovery } from './live-discovery.ts';
import { LiveFeeds } from './live-feeds.ts';
import { operatorResults, type SettleMarketByName } from './operator-results.ts';
import { type Playback, playbackInto } from './playback.ts';
import { recordHistory } from './record-history.ts';
import { TickIntake } from './tick-intake.ts';
import { VoidedGames } from './voided-games.ts';

export type MarketDataParts = {
  config: Config;
  log: Log;
  stack: CleanupStack;
  identity: LiveCatalogParts['identity'] & Pick<ControlStore, 'followsBooks'> & ResultStore;
  engine: ResultEngine &
    Pick<Shards, 'packedTicks' | 'setCatalog' | 'setFees' | 'settle' | 'drained' | 'held'>;
  catalogFiles: CatalogFiles;
  /** By shard, the report of its start; null: it could not be opened. */
  reports: readonly (OpenReport | null)[];
};

/** The catalog in use, from any source. */
export type CatalogSource = Pick<
  LiveCatalog,
  'current' | 'fees' | 'marketNumber' | 'marketsToWatch' | 'watch' | 'start'
>;

export type MarketData = {
  /** The bus of all events of markets. */
  bus: MarketBus;
  /** Games and instruments, as callers read them. */
  view: CatalogView;
  /** The catalog in use, with its numbers and fees. */
  catalog: Pick<CatalogSource, 'fees' | 'marketNumber'>;
  changed: ChangedMarkets;
  /** Null: nothing is recorded here. */
  history: History | null;
  feeds: Pick<LiveFeeds, 'statuses' | 'problems'>;
  /** What the feeds must tell of books. */
  bookNeeds: Pick<BookNeeds, 'raise'>;
  contradicted: Pick<ContradictedResults, 'count' | 'markets' | 'problems'>;
  discovery: Pick<LiveDiscovery, 'statuses' | 'problems' | 'counts' | 'runNow'>;
  playback: Playback;
  settleMarket: SettleMarketByName;
};

/**
 * Resolves once the catalog is in use and the feeds dial. Rejects with one line for the operator.
 *
 * @param others catalogs in place of the catalog of the settings
 */
export async function startMarketData(
  parts: MarketDataParts,
  others: { catalog?: CatalogSource } = {},
): Promise<MarketData> {
  const { config, log, stack, identity, engine, catalogFiles: files, reports } = parts;
  const bus = new MarketBus();
  const results = identity.isReplicated
    ? new (await import('./cluster-results.ts')).ClusterResults({ identity, engine, bus, log })
    : null;
  if (results !== null) stack.add(async () => results.close());
  const known = resultsIn(reports, results?.rows() ?? []);
  const over = resolvedMarkets(known);
  const openMarkets = reports.flatMap((report) => report?.openMarkets ?? []);
  const nowMs = () => engine.nowMs();

  const states = new MarketStates(over);
  const live = new LiveCatalog({ files, identity, engine, openMarkets, states, bus });
  const catalog = others.catalog ?? live;
  stack.add(async () => live.close());
  const view = new CatalogView(() => catalog.current, states, live.past);
  const changed = new ChangedMarkets();
  const contradicted = new ContradictedResults({
    dataDir: config.dataDir,
    results: known,
    marketName: (market) => view.marketName(market),
    log,
  });
  stack.add(() => contradicted.close());
  const kept = new KeptMarketStates({ dataDir: config.dataDir, states, log });
  stack.add(() => kept.close());
  const voided = (tick: ResultTick) => (results === null ? bus.publish(tick) : results.say(tick));
  const voids = new VoidedGames({ view, states, bus, voided, nowMs });
  const isFeedClock = config.clock === 'feed';
  const intake = new TickIntake({ engine, voids, bus, isFeedClock, results });
  const venues = [...new Set(config.feeds.map(({ venue }) => venue))];
  const markets = (named: number) => catalog.marketsToWatch(venues, named);
  const needs = new BookNeeds(config.fillModel, identity.followsBooks(config.fillModel));
  const closed = () => states.closed();
  const feeds = new LiveFeeds({ config, needs, markets, closed, intake, nowMs, log });
  stack.add(() => feeds.close());

  // They are subscribed in this order: the state of a market before its readers.
  const following = [
    ...[states.follow(bus), view.follow(bus)],
    ...[changed.follow(bus), contradicted.follow(bus), kept.follow(bus)],
  ];
  // It ends before the feeds: their end stops prices because the server stops. Rule H5.
  const history = recordHistory(config, { bus, over, engine, log, stack });

  // Watched first and loaded then, so that no change falls between the two.
  const watch = catalog.watch(log);
  stack.add(async () => watch.close());
  await catalog.start();
  const games = reports.find((report) => report !== null)?.games ?? [];
  for (const { slug, status, over } of games) view.restoreGameStatus(slug, status, over);
  await results?.start(reports);
  const { marketNames } = catalog.current;
  const hasFeed = (market: MarketNumber) => venues.includes(venueOf(marketNames[market] ?? '')!);
  for (const tick of kept.ticks(hasFeed, nowMs())) intake.take(tick);
  following.push(voids.follow(), feeds.follow(bus));
  if (config.feeds.length > 0) {
    const marketNumber = (venue: Venue, name: string) => catalog.marketNumber(venue, name);
    const isOver = (market: MarketNumber) => states.isOver(market);
    following.push(followHeldMarkets({ engine, view, marketNumber, isOver, bus, feeds }));
  }
  stack.add(async () => {
    for (const end of following) end();
  });
  await feeds.start();
  const { discover: entries } = config;
  const { file, discoveredFile } = files;
  const discovery = new LiveDiscovery({ file, discoveredFile, entries, catalog: live, log });
  stack.add(() => discovery.close());
  discovery.start();

  const playback = playbackInto({ config, needs, engine, history, catalog, intake, feeds, log });
  const settleMarket = operatorResults({
    marketNumber: (venue, name) => catalog.marketNumber(venue, name),
    nowMs,
    settle: async (tick, options) => {
      if (results !== null) return await results.settle(tick, options);
      const reply = await engine.settle(tick, options);
      if (reply.ok) intake.follow(tick);
      return reply;
    },
  });
  return {
    bus,
    view,
    catalog,
    changed,
    history,
    feeds,
    bookNeeds: needs,
    contradicted,
    discovery,
    playback,
    settleMarket,
  };
}

/** By the number of the market: the result that the cluster has, else that of any shard. */
function resultsIn(
  reports: readonly (OpenReport | null)[],
  rows: Iterable<FinalResult>,
): (MarketResult | null)[] {
  const all = reports.flatMap((report) => (report === null ? [] : [report.results]));
  const markets = Math.max(0, ...all.map((results) => results.length));
  const found: (MarketResult | null)[] = Array.from({ length: markets }, (_, market) => {
    return all.find((results) => results[market] != null)?.[market] ?? null;
  });
  for (const { market, outcome, yesPayoutCents, noPayoutCents } of rows) {
    while (found.length < market) found.push(null);
    found[market] = { outcome, yesPayoutCents, noPayoutCents };
  }
  return found;
}

/** The markets that have a result. */
function resolvedMarkets(results: readonly unknown[]): MarketNumber[] {
  return results.flatMap((result, market) => (result === null ? [] : [market]));
}
